"""The kernels of `tests.kernels` as cases of the benchmark, some of them beside an adjoint written by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.kernels.catalogue import KERNELS as ALL
from tests.kernels.kernel import Kernel

from . import adjoints
from .case import Case

HANDS: dict[str, Callable[..., Any]] = {
    "jacobi_1d": adjoints.jacobi_1d,
    "jacobi_2d": adjoints.jacobi_2d,
    "diffusion_steps": adjoints.diffusion_steps,
    "gauss_seidel": adjoints.gauss_seidel,
    "heat_3d": adjoints.heat_3d,
    "lu": adjoints.lu,
    "cholesky": adjoints.cholesky,
    "forward_substitution": adjoints.forward_substitution,
}
EXPERTS: dict[str, Callable[..., Any]] = {
    "gauss_seidel": adjoints.gauss_seidel_expert,
    "forward_substitution": adjoints.forward_substitution_expert,
}

# What one differentiates for, where the tests differentiate in the sizes of steps and cells as well.
FIELDS: dict[str, tuple[int, ...]] = {
    "heat_3d": (0, 1),
    "heat_3d_turns": (0, 1),
    "cavity_flow": (0, 1, 2, 3, 5),
    "channel_flow": (0, 1, 2, 3, 5),
}


def _case(name: str, kernel: Kernel, sizes: tuple[int, ...]) -> Case:
    argnums = FIELDS.get(name, kernel.argnums)
    return Case(
        name,
        kernel.loss,
        HANDS.get(name),
        lambda: kernel.make_args(*sizes),
        argnums[0] if len(argnums) == 1 else argnums,
        expert=EXPERTS.get(name),
        in_place=True,
    )


SMALL = {name: _case(name, kernel, kernel.small) for name, kernel in ALL.items()}
KERNELS = {
    name: replace(_case(name, kernel, kernel.large), make_small_args=SMALL[name].make_args)
    for name, kernel in ALL.items()
}
