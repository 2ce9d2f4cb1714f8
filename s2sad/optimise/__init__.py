"""Passes that make a differentiated function as short as a person would have written it."""

from s2sad.optimise.aliases import with_one_name
from s2sad.optimise.begun import begin_with_contributions
from s2sad.optimise.common import share, with_indices
from s2sad.optimise.constant_seeds import with_constant_seeds
from s2sad.optimise.contributions import collect
from s2sad.optimise.dead import remove_dead
from s2sad.optimise.decided import take_decided
from s2sad.optimise.fold import fold
from s2sad.optimise.handed import handed_back
from s2sad.optimise.joins import remove_trivial_joins
from s2sad.optimise.loops import tidy_loops
from s2sad.optimise.masks import with_joint_masks
from s2sad.optimise.memory import Memory
from s2sad.optimise.outside import read_in_place
from s2sad.optimise.placed import with_single_items
from s2sad.optimise.repeated import name_repeated
from s2sad.optimise.sink import sunk, sunk_in_loops
from s2sad.optimise.stores import shorten_stores
from s2sad.optimise.unread_zeros import without_unread_zeros

__all__ = [
    "Memory",
    "begin_with_contributions",
    "collect",
    "fold",
    "handed_back",
    "name_repeated",
    "read_in_place",
    "remove_dead",
    "remove_trivial_joins",
    "share",
    "shorten_stores",
    "sunk",
    "sunk_in_loops",
    "take_decided",
    "tidy_loops",
    "with_constant_seeds",
    "with_indices",
    "with_joint_masks",
    "with_one_name",
    "with_single_items",
    "without_unread_zeros",
]
