"""What is said of a result before the run, against the result: NumPy itself is the measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tests.operations  # noqa: F401
from s2sad.analysis.evaluate import evaluate
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, Var
from s2sad.ir.sizes import Sizes
from s2sad.ir.types import Fact, describe
from s2sad.ops import spec
from s2sad.ops.spec import sample
from tests.size_texts import value_of

A, B, V, S = np.arange(1.0, 7).reshape(2, 3), np.ones((3, 3)), np.arange(1.0, 4), np.ones((2, 1, 4))
Z = V + 1j


class Operands:
    """Turns arguments into expressions: literals as such, arrays as names of which the facts are known."""

    def __init__(self) -> None:
        self.sizes = Sizes()
        self.of: dict[str, Fact] = {}

    def __call__(self, value: Any) -> Expr:
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return Build("list" if isinstance(value, list) else "tuple", tuple([self(v) for v in value]))
        if isinstance(value, (np.ndarray, np.generic, complex)):
            name = f"x{len(self.of)}.1"
            self.of[name] = describe(value, name, self.sizes)
            return Var(name)
        return Const(value)

    def has_array_without_axes(self) -> bool:
        return any(f.kind == "array" and f.ndim == 0 for f in self.of.values())

    def size(self, dim: Any) -> int:
        return max(0, value_of(dim, {str(symbol): size for size, symbol in self.sizes.items()}))


def differences(fact: Fact, value: Any, operands: Operands, where: str = "result") -> list[str]:
    """In what the fact is not true of the value."""
    found = []
    if fact.items is not None:
        for (_, item), part in zip(fact.items, value, strict=True):
            found += differences(item, part, operands, f"{where} item")
        return found
    if isinstance(value, (list, tuple)):
        return [f"{where} is no {fact.kind}"] if fact.numeric else []
    # A number in an array without axes is as good as a number.
    if fact.kind == "scalar" and isinstance(value, np.ndarray) and not operands.has_array_without_axes():
        found.append(f"{where} is no scalar")
    if fact.kind == "array" and fact.ndim != 0 and not isinstance(value, np.ndarray):
        found.append(f"{where} is no array")
    if fact.ndim is not None and fact.ndim != np.ndim(value):
        found.append(f"{where} has {np.ndim(value)} axes, not {fact.ndim}")
    if fact.dims is not None and tuple(map(operands.size, fact.dims)) != np.shape(value):
        found.append(f"{where} has shape {np.shape(value)}, not {fact.dims}")
    if fact.real and np.iscomplexobj(value):
        found.append(f"{where} is complex")
    if fact.size is not None and operands.size(fact.size) != value:
        found.append(f"{where} is {value}, not {fact.size}")
    return found


def fact_of(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Fact, Operands]:
    operands = Operands()
    call = Call(
        Op("function", f"np.{function.__name__}", function),
        tuple([operands(a) for a in args]),
        tuple([(k, operands(v)) for k, v in kwargs.items()]),
    )
    return evaluate(call, operands.of, {}), operands


RULES = [r for r in spec.rules() if r.function not in (max, min)]


@pytest.mark.parametrize("rule", RULES, ids=[r.name for r in RULES])
def test_facts_are_true_of_every_sample(rule: spec.Rule) -> None:
    for point in rule.samples():
        fact, operands = fact_of(rule.function, *point.args, **point.kwargs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = rule.function(*point.args, **point.kwargs)
        assert not differences(fact, value, operands), (point, fact)


MORE = [
    (np.stack, sample([V, V], axis=-1), "array"),
    (np.stack, sample([V]), "array"),
    (np.concatenate, sample([A, A[:1]]), "array"),
    (np.concatenate, sample([A, A], axis=None), "array"),
    (np.concatenate, sample([A, B], axis=-2), "array"),
    (np.array, sample([[1.5, 2.5], [3.5, 4.5]]), "array"),
    (np.array, sample(2.5), "array"),
    (np.array, sample([V, V, V]), "array"),
    (np.array, sample(V, ndmin=2), None),
    (np.asarray, sample([1.5, 2.5j]), "array"),
    (np.einsum, sample("ij,j->i", A, V), "array"),
    (np.einsum, sample("ij,ij->", A, A), "scalar"),
    (np.einsum, sample("...ij,...jk", S, np.ones((4, 3))), "array"),
    (np.einsum, sample("ij,kj->ik", A, np.ones((3, 1))), "array"),
    (np.einsum, sample("ii->i", B), "array"),
    (np.reshape, sample(A, -1), "array"),
    (np.reshape, sample(A, (3, -1)), "array"),
    (np.reshape, sample(A, (6, 1)), "array"),
    (np.reshape, sample(np.ones(1), ()), "array"),
    (np.ravel, sample(S), "array"),
    (np.ravel, sample(1.5), "array"),
    (np.transpose, sample(S, (2, 0, -2)), "array"),
    (np.swapaxes, sample(S, 0, -1), "array"),
    (np.moveaxis, sample(S, 0, -1), "array"),
    (np.moveaxis, sample(S, -1, 0), "array"),
    (np.expand_dims, sample(V, -1), "array"),
    (np.expand_dims, sample(1.5, 0), "array"),
    (np.squeeze, sample(S), "array"),
    (np.squeeze, sample(S, 1), "array"),
    (np.squeeze, sample(np.ones((1, 1))), None),
    (np.diff, sample(A, 2), "array"),
    (np.diff, sample(V, 5), "array"),
    (np.cumsum, sample(A), "array"),
    (np.cumsum, sample(Z), "array"),
    (np.sort, sample(A, None), "array"),
    (np.argsort, sample(Z), "array"),
    (np.argmax, sample(A), "scalar"),
    (np.argmax, sample(V, 0), "scalar"),
    (np.argmin, sample(A, axis=0), None),
    (np.arange, sample(3), "array"),
    (np.arange, sample(1.5, 4), "array"),
    (np.eye, sample(3), "array"),
    (np.eye, sample(3, 4), None),
    (np.identity, sample(1), "array"),
    (np.full, sample((2, 3), 1.5j), "array"),
    (np.full, sample(3, 1.5), "array"),
    (np.linspace, sample(0.5, 1.5, 4), "array"),
    (np.linspace, sample(0.5, 1.5j), "array"),
    (np.shape, sample(A), "tuple"),
    (np.size, sample(A), "scalar"),
    (np.matmul, sample(S, np.ones((2, 4, 2))), "array"),
    (np.matmul, sample(S, np.ones((4, 2))), "array"),
    (np.matmul, sample(V, np.ones((5, 3, 2))), "array"),
    (np.dot, sample(S, np.ones((5, 4, 2))), "array"),
    (np.vstack, sample([Z, V]), None),
    (np.tensordot, sample(A, B, 0), "array"),
    (np.tensordot, sample(A, A), None),
    (np.inner, sample(V, V), "scalar"),
    (np.inner, sample(A, V), "array"),
    (np.broadcast_to, sample(V, (2, 3)), "array"),
    (np.linalg.slogdet, sample(np.stack([B, 2 * B])), "record"),
    (np.linalg.eigh, sample(B + 1j * np.zeros((3, 3))), "record"),
    (np.diag, sample(B, 1), "array"),
    (np.diag, sample(A), "array"),
    (np.triu, sample(V), None),
]


@pytest.mark.parametrize(
    ("function", "point", "kind"), MORE, ids=[f"{f.__name__}-{i}" for i, (f, _, _) in enumerate(MORE)]
)
def test_facts_are_true_and_known(function: Callable[..., Any], point: spec.Sample, kind: str | None) -> None:
    fact, operands = fact_of(function, *point.args, **point.kwargs)
    assert not differences(fact, function(*point.args, **point.kwargs), operands), fact
    assert kind is None or fact.kind == kind


def test_a_wrong_fact_is_found() -> None:
    fact, operands = fact_of(np.cumsum, A)
    assert differences(fact, A, operands)
    assert differences(Fact("scalar"), A, operands)
    assert differences(Fact("array", real=True), Z, operands)
