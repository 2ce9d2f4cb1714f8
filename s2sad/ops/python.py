"""Python's own functions that have no derivative: containers, iterators, questions, and what writes or calls."""

from __future__ import annotations

import bisect
import builtins
import copy
import heapq
import operator
import struct

from s2sad.ops import infer
from s2sad.ops.spec import constant, operation
from s2sad.runtime import protocols
from s2sad.runtime.dicts import keys_of, largest_key, smallest_key, sorted_keys
from s2sad.runtime.moves import (
    heap_made,
    heap_popped,
    heap_pushed,
    heap_pushpopped,
    heap_replaced,
    in_order,
    moved,
    moved_back,
    put_at,
    put_last,
    turned_round,
)

# --- questions about objects ---

constant(
    builtins.isinstance, builtins.issubclass, signature=lambda obj, class_or_tuple: None, calls=(), dtype="inferred",
    special=protocols.CHECKING, makes=bool,
)  # fmt: skip
constant(builtins.callable, signature=lambda obj: None, calls=(), dtype="truth", special=frozenset(), makes=bool)
constant(builtins.type, signature=lambda obj: None, calls=(), dtype="inferred", special=frozenset())
# A number can be read back from them.
operation(
    builtins.hash, signature=lambda obj: None, calls=(), result="fresh", special=frozenset({"__hash__"}), makes=int
)
operation(builtins.id, signature=lambda obj: None, calls=(), result="fresh", special=frozenset(), makes=int)
constant(builtins.hasattr, dtype="inferred", makes=bool)
constant(builtins.ord, dtype="inferred", makes=int)
constant(
    builtins.len, signature=lambda obj: None, infer=infer.python.length, calls=(), dtype="inferred",
    special=frozenset({"__len__"}), measures=True, makes=int,
)  # fmt: skip

# --- containers and iterators ---

operation(
    builtins.list,
    signature=lambda iterable=None: None,
    infer=infer.python.listed("list"),
    dtype="inferred",
    consumes=("iterable",),
    makes=list,
)
operation(
    builtins.tuple,
    signature=lambda iterable=None: None,
    infer=infer.python.listed("tuple"),
    dtype="inferred",
    consumes=("iterable",),
    makes=tuple,
)
operation(
    builtins.dict,
    signature=lambda iterable=None: None,
    infer=infer.python.of_dict,
    dtype="inferred",
    consumes=("iterable",),
    makes=dict,
)
# The keys of a dict carry no derivative, whatever the dict holds.
constant(keys_of, infer=infer.python.keys, dtype="inferred", makes=list)
constant(sorted_keys, infer=infer.python.keys, dtype="inferred", calls=("key",), makes=list)
constant(largest_key, smallest_key, infer=infer.python.key, dtype="inferred", calls=("key",))
operation(builtins.set, signature=lambda iterable=None: None, consumes=("iterable",), makes=set)
operation(builtins.frozenset, signature=lambda iterable=None: None, consumes=("iterable",), makes=frozenset)
operation(builtins.slice, signature=lambda *args: None, infer=infer.python.of_slice, dtype="inferred")
operation(
    builtins.enumerate,
    signature=lambda iterable, start=0: None,
    infer=infer.python.enumerated,
    dtype="inferred",
    defers="items",
)
operation(
    builtins.zip,
    signature=lambda *iterables, strict=False: None,
    infer=infer.python.zipped,
    dtype="inferred",
    defers="items",
)
operation(builtins.reversed, signature=lambda sequence: None, infer=infer.python.backwards, dtype="inferred")
# What they do classes may say themselves.
operation(copy.copy, signature=lambda x: None, infer=infer.common.first, dtype="inferred", ordered=True)

# --- text ---

operation(builtins.str, calls=(), result="fresh", dtype="inferred", makes=str)
operation(builtins.repr, signature=lambda obj: None, calls=(), result="fresh", makes=str)
operation(builtins.bytes, result="fresh", makes=bytes)
operation(builtins.chr, result="fresh", makes=str)

# --- what is used up, and what is seen outside ---

operation(builtins.iter, signature=lambda object, sentinel=None: None, ordered=True)
# An iterator may give the same array once more, with other contents.
operation(
    builtins.next, signature=lambda iterator, default=None: None, writes=("iterator",), calls=(), result="element",
    special=frozenset(),
)  # fmt: skip
operation(builtins.print, signature=lambda *args: None, ordered=True)

# --- what writes into its first argument ---

operation(builtins.setattr, signature=lambda obj, name, value: None, writes=("obj",), stores=("value",))
operation(builtins.delattr, signature=lambda obj, name: None, writes=("obj",))
operation(operator.setitem, signature=lambda a, b, c: None, writes=("a",), stores=("c",))
operation(operator.delitem, signature=lambda a, b: None, writes=("a",))
operation(
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    operator.imatmul, operator.ilshift, operator.irshift, operator.iand, operator.ior, operator.ixor, operator.iconcat,
    signature=lambda a, b: None, writes=("a",), stores=("b",), result="element",
)  # fmt: skip
operation(struct.pack_into, signature=lambda format, buffer, offset, *v: None, writes=("buffer",))
operation(
    heapq.heappush, heapq.heapreplace, heapq.heappushpop,
    signature=lambda heap, item: None, writes=("heap",), stores=("item",), result="element",
)  # fmt: skip
operation(heapq.heappop, heapq.heapify, signature=lambda heap: None, writes=("heap",), result="element")
operation(moved, signature=lambda items, moves: None, writes=("items",))
constant(heap_made, heap_popped, heap_pushed, heap_pushpopped, heap_replaced)
constant(in_order, moved_back, put_at, put_last, turned_round)
operation(
    bisect.insort, bisect.insort_left,
    signature=lambda a, x, lo=0, hi=None, *, key=None: None, writes=("a",), stores=("x",), calls=("key",),
)  # fmt: skip
