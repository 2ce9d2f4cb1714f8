"""Every rule, at every sample, against differences of the function that it claims to be the derivative of."""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.special

from s2sad.errors import UndefinedDerivativeError
from s2sad.ops import spec
from s2sad.ops.spec import Rule, Sample, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.undefined import Undefined
from tests.operations import some_of_distributions
from tests.oracle import is_inexact, leaves, pairing, richardson_jvp, tree_map, widen

RULES = list(spec.rules())
Bound = dict[str, Any]


#: Parameters of which a function fixes some values, so that there are no differences by all: they have own tests.
APART = {
    "scipy.signal.sosfilt": {"sos"},
    "scipy.linalg.solve_continuous_are": {"q", "r"},
    "scipy.linalg.solve_discrete_are": {"q", "r"},
}


class Mismatch(AssertionError):
    """A rule disagrees with the oracle."""


# --- calling a rule as the compiler would ---


def bind(rule: Rule, point: Sample) -> Bound:
    """Map the parameters of ``rule`` to the arguments of ``point``."""
    given: Bound = {}
    if rule.variadic is not None:
        before = rule.parameters.index(rule.variadic)
        given.update(zip(rule.parameters[:before], point.args, strict=False))
        given[rule.variadic] = tuple(point.args[before:])
    else:
        assert len(point.args) <= len(rule.parameters), "a sample has an argument that the rule does not take"
        given.update(zip(rule.parameters, point.args, strict=False))
    given.update(point.kwargs)
    assert set(given) <= set(rule.parameters), "a sample has an argument that the rule does not take"
    return {**rule.defaults, **given}


def active(rule: Rule, bound: Bound, point: Sample) -> list[str]:
    """The parameters by which there is a derivative at ``point``."""
    given = {*rule.parameters[: len(point.args)], *point.kwargs, rule.variadic}
    return [n for n in rule.wrt if n in given and any(is_inexact(x) for x in leaves(bound[n]))]


def differentiable(rule: Rule, z: Any) -> Any:
    """The items of a result that have a derivative."""
    return [item for i, item in enumerate(z) if i not in rule.without] if rule.without else z


def evaluate(rule: Rule, point: Sample, bound: Bound) -> Any:
    """Call the function with the arguments of ``point`` replaced by those in ``bound``."""
    names = list(rule.parameters)
    args: list[Any] = []
    if rule.variadic is not None:
        before = names.index(rule.variadic)
        args = [*(bound[n] for n in names[:before]), *bound[rule.variadic]]
        args = args[: max(len(point.args), before)]
    else:
        args = [bound[n] for n in names[: len(point.args)]]
    kwargs = {k: bound[k] for k in point.kwargs}
    with quiet():
        return rule.function(*args, **kwargs)


@contextmanager
def quiet() -> Iterator[None]:
    """NumPy warns at NaN and infinities, which some samples hold on purpose."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def call_body(body: Callable[..., Any], available: Bound) -> Any:
    """Call the text of a rule with whichever names it asks for."""
    args: list[Any] = []
    kwargs: Bound = {}
    for p in inspect.signature(body).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            args += available[p.name]
        elif p.kind is p.KEYWORD_ONLY:
            kwargs[p.name] = available[p.name]
        else:
            args.append(available[p.name])
    with quiet():
        return body(*args, **kwargs)


def by_name(rule: Rule, values: Any) -> Bound:
    """Map the names in ``wrt`` to the items that a body returned."""
    return dict(zip(rule.wrt, values if len(rule.wrt) > 1 else (values,), strict=True))


def products(rule: Rule, z: Any, bound: Bound, g: Any) -> Bound:
    """The products of ``g`` with the partial derivatives of an elementwise rule."""
    if rule.multiplied:
        return by_name(rule, call_body(rule.vjp, {**bound, "z": z, "z_bar": g}))
    with quiet():
        return {n: g * d for n, d in by_name(rule, call_body(rule.vjp, {**bound, "z": z})).items()}


def adjoints(rule: Rule, z: Any, z_bar: Any, bound: Bound) -> Bound:
    """The adjoints of all parameters in ``wrt``."""
    if rule.kind == "elementwise":
        full = products(rule, z, bound, z_bar)
        return {n: unbroadcast(g, np.shape(bound[n])) for n, g in full.items() if bound[n] is not None}
    return by_name(rule, call_body(rule.vjp, {**bound, "z": z, "z_bar": z_bar}))


def tangent(rule: Rule, point: Sample, z: Any, bound: Bound, dots: Bound) -> Any:
    """The tangent of the result, derived from the declaration; every other tangent is 0."""

    def zero(x: Any) -> Any:
        if x is None:
            return None if rule.kind == "linear" else 0.0
        return tree_map(lambda v: np.zeros_like(v) if isinstance(v, np.ndarray) else 0.0, x)

    full = {n: dots.get(n, zero(bound[n])) for n in rule.wrt}
    if rule.kind == "elementwise":
        return sum(products(rule, z, bound, dots[n])[n] for n in dots)
    if rule.kind == "linear":
        return evaluate(rule, point, {**bound, **full, **dict.fromkeys(rule.offsets, 0.0)})
    if rule.kind == "bilinear":
        parts = [evaluate(rule, point, {**bound, n: full[n]}) for n in dots]
        return parts[0] if len(parts) == 1 else tree_map(lambda *p: sum(p), *parts)
    assert rule.jvp is not None
    found = call_body(rule.jvp, {**bound, "z": z, **{f"{n}_dot": d for n, d in full.items()}})
    return type(found)([0.0 if i in rule.without else d for i, d in enumerate(found)]) if rule.without else found


def direction(tree: Any, seed: int) -> Any:
    """Random numbers in the shapes and types of ``tree``; zero for integers."""
    generator = np.random.default_rng(seed)

    def draw(x: Any) -> Any:
        if not is_inexact(x):
            return np.zeros_like(x, dtype=float) if isinstance(x, np.ndarray) else 0.0
        d = generator.uniform(0.3, 1.0, np.shape(x)) * generator.choice([-1.0, 1.0], np.shape(x))
        if np.iscomplexobj(x):
            d = d + 1j * generator.uniform(-1.0, 1.0, np.shape(x))
        d = np.asarray(d)
        return d.astype(np.result_type(x)) if isinstance(x, (np.ndarray, np.generic)) else d.item()

    return tree_map(draw, tree)


# --- the checks ---


def close(a: Any, b: Any, tolerance: float, what: str) -> None:
    """Raise `Mismatch` unless two trees agree, up to ``tolerance`` of their size."""
    for x, y in zip(leaves(a), leaves(b), strict=True):
        if not is_inexact(y):
            continue
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape:
            x = np.broadcast_to(x, y.shape)
        scale = 1 + float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
        if not np.allclose(x, y, rtol=0, atol=tolerance * scale, equal_nan=True):
            raise Mismatch(f"{what}: {x} is not {y}")


def single(x: Any) -> bool:
    """Whether ``x`` is in single precision."""
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype in (np.float32, np.complex64)


def check(rule: Rule, point: Sample, seed: int = 0) -> set[str]:
    """Check ``rule`` at ``point`` and return the names of the parameters checked."""
    bound = bind(rule, point)
    names = active(rule, bound, point)
    z = evaluate(rule, point, bound)
    dots = {n: direction(bound[n], seed + i) for i, n in enumerate(names)}
    z_bar = direction(z, seed + 99)
    if rule.without:
        z_bar = type(z)([0.0 if i in rule.without else g for i, g in enumerate(z_bar)])
    low = any(single(x) for n in names for x in leaves(bound[n])) or any(single(x) for x in leaves(z))
    exact, rough = (2e-4, 2e-3) if low else (1e-10, 2e-8)

    z_dot = tangent(rule, point, z, bound, dots)
    expected = richardson_jvp(
        lambda *xs: evaluate(rule, point, {**bound, **dict(zip(names, xs, strict=True))}),
        [bound[n] for n in names],
        [dots[n] for n in names],
    )
    if rule.without:
        expected = tuple([0.0 if i in rule.without else d for i, d in enumerate(expected)])
    close(z_dot, expected, rough, "jvp")

    bars = adjoints(rule, z, z_bar, bound)
    for n in names:
        part = tangent(rule, point, z, bound, {n: dots[n]})
        left = pairing(z_bar, tree_map(lambda d, v: np.broadcast_to(d, np.shape(v)), part, z))
        right = pairing(bars[n], dots[n])
        if not abs(left - right) <= exact * (1 + abs(left) + _size(z_bar) * _size(z_dot)):
            raise Mismatch(f"<z_bar, z_dot> = {left}, but <{n}_bar, {n}_dot> = {right}")
        for x, g in zip(leaves(bound[n]), leaves(bars[n]), strict=True):
            check_form(x, g, [v for m in rule.wrt for v in leaves(bound[m])], z)
    return set(names)


def _size(tree: Any) -> float:
    return float(sum(np.sum(np.abs(x), where=np.isfinite(x)) for x in map(np.asarray, leaves(tree))))


def check_form(x: Any, g: Any, operands: list[Any], z: Any) -> None:
    """Raise `Mismatch` unless the adjoint ``g`` has the shape of ``x``, and no more precision than was there."""
    if not is_inexact(x):
        return
    if np.shape(g) != np.shape(x):
        raise Mismatch(f"adjoint of shape {np.shape(g)} for an argument of shape {np.shape(x)}")
    wide = [v for v in [*operands, *leaves(z)] if isinstance(v, (np.ndarray, np.generic)) and not single(v)]
    if single(x) and not wide and not single(g) and type(g) not in (int, float, complex):
        raise Mismatch(f"adjoint of type {np.asarray(g).dtype} in a program in single precision")


def check_all(rule: Rule) -> None:
    """Check ``rule`` at all its samples."""
    points = rule.samples()
    if not points:
        raise Mismatch("no samples, no rule")
    seen: set[str] = set()
    for i, point in enumerate(points):
        try:
            seen |= check(rule, point, seed=7 * i)
        except Mismatch as error:
            raise Mismatch(f"{rule.name} at {point}: {error}") from None
    if seen | APART.get(rule.name, set()) != set(rule.wrt):
        raise Mismatch(f"{rule.name}: no sample has a derivative by {sorted(set(rule.wrt) - seen)}")


def identity(rule: Rule) -> str:
    return f"{rule.name}-{rule.kind}"


@pytest.mark.parametrize("rule", list(some_of_distributions(RULES, 4)), ids=identity)
def test_rule_agrees_with_differences(rule: Rule) -> None:
    check_all(rule)


# --- complex adjoints of real results ---

#: Their results are known to be real, whatever the operands are, and so are their adjoints.
ALWAYS_REAL = {
    f"{home}.fft.{name}" for home in ("numpy", "scipy") for name in ("irfft", "hfft", "irfft2", "irfftn")
}  # fmt: skip


def real_samples(rule: Rule) -> Iterator[tuple[Sample, Bound, Any]]:
    """The samples of which the operands with a derivative and the result are real, and the adjoint may be complex."""
    if rule.kind != "elementwise" and not rule.without and rule.name not in ALWAYS_REAL:
        for point in rule.samples():
            bound = bind(rule, point)
            z = evaluate(rule, point, bound)
            numbers = [x for n in rule.wrt for x in leaves(bound[n])] + leaves(z)
            if active(rule, bound, point) and not any(map(np.iscomplexobj, numbers)):
                yield point, bound, z


@pytest.mark.parametrize("rule", list(some_of_distributions(RULES, 16)), ids=identity)
def test_what_is_imaginary_in_the_adjoint_of_a_real_result_changes_nothing(rule: Rule) -> None:
    for point, bound, z in real_samples(rule):
        real, imaginary = direction(z, 1), direction(z, 2)
        try:
            bars = adjoints(rule, z, real, bound)
            found = adjoints(rule, z, tree_map(lambda a, b: a + 1j * b, real, imaginary), bound)
        except (TypeError, ValueError, UndefinedDerivativeError):
            continue
        low = any(single(x) for n in rule.wrt for x in leaves(bound[n])) or any(map(single, leaves(z)))
        for n in active(rule, bound, point):
            close(tree_map(np.real, found[n]), tree_map(np.real, bars[n]), 2e-4 if low else 1e-9, f"{rule.name} {n}")


# --- static branches ---


def branches(rule: Rule) -> bool:
    return any(f"if {test}(" in inspect.getsource(rule.vjp) for test in ("real", "literal", "listed", "ndim"))


@pytest.mark.parametrize("rule", [r for r in RULES if branches(r)], ids=identity)
def test_general_text_agrees_with_static_branches(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands after the static branches must be right in every case."""
    home = rule.vjp.__globals__
    cases = []
    for i, point in enumerate(rule.samples()):
        bound = bind(rule, point)
        z = evaluate(rule, point, bound)
        z_bar = direction(z, i)
        cases.append((point, bound, z, z_bar, adjoints(rule, z, z_bar, bound)))
    for test, answer in (("real", False), ("literal", False), ("listed", False), ("ndim", -1)):
        if test in home:
            monkeypatch.setitem(home, test, lambda value, answer=answer: answer)
    for point, bound, z, z_bar, special in cases:
        general = adjoints(rule, z, z_bar, bound)
        for n in active(rule, bound, point):
            tolerance = 1e-4 if any(single(v) for v in leaves(bound[n])) else 1e-11
            for x, a, b in zip(leaves(bound[n]), leaves(special[n]), leaves(general[n]), strict=True):
                real = not np.iscomplexobj(x)  # what is imaginary in the adjoint of a real variable is dropped
                close(np.real(b) if real else b, np.real(a) if real else a, tolerance, f"{rule.name} at {point}")
                assert np.shape(a) == np.shape(b)


# --- the test itself can fail ---


def scaled(body: Callable[..., Any], item: int | None = None) -> Callable[..., Any]:
    """The same rule, 1% wrong in one item of what it returns, or in all of it."""

    def larger(v: Any) -> Any:
        return v if v is None or isinstance(v, Undefined) else 1.01 * v

    def wrong(*args: Any, **kwargs: Any) -> Any:
        values = body(*args, **kwargs)
        if item is None:
            return tree_map(larger, values)
        return type(values)([tree_map(larger, v) if i == item else v for i, v in enumerate(values)])

    wrong.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
    wrong.__annotations__ = body.__annotations__
    return wrong


def wrong_copies(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """Copies of a rule, each wrong in the derivative by one operand, or in its tangent."""
    for i, name in enumerate(rule.wrt):
        body = scaled(rule.vjp, i if len(rule.wrt) > 1 else None)
        yield name, dataclasses.replace(rule, vjp=body)
    if rule.jvp is not None:
        yield "tangent", dataclasses.replace(rule, jvp=scaled(rule.jvp))


#: Derivatives that are zero wherever they are, so that a copy that is 1% larger is the same.
ZERO = {(f"scipy.stats.uniform.{method}", name) for method in ("pdf", "logpdf") for name in ("x", "loc")}
ZERO |= {
    (f"scipy.stats.{law}.{method}", "scale") for law in ("loguniform", "reciprocal") for method in ("pdf", "logpdf")
}
# The points are under the flat part of the trapezoid.
ZERO |= {(f"scipy.stats.trapezoid.{method}", name) for method in ("pdf", "logpdf") for name in ("x", "loc")}
# A spline that goes through all points is the same for all weights.
ZERO |= {("s2sad.runtime.scipy.interpolants.fitted_coefficients", "w")}


@pytest.mark.parametrize("rule", list(some_of_distributions(RULES, 8)), ids=identity)
def test_copies_that_are_one_percent_wrong_fail(rule: Rule) -> None:
    passing = []
    for name, copy in wrong_copies(rule):
        try:
            check_all(copy)
        except Mismatch:
            continue
        passing.append((rule.name, name))
    assert set(passing) <= ZERO | {(name, p) for name, parameters in APART.items() for p in parameters}


def find(function: Callable[..., Any]) -> Rule:
    found = spec.find(function)
    assert found is not None
    return found


@pytest.mark.parametrize("rule", [r for r in RULES if r.integers], ids=identity)
def test_items_that_are_said_to_be_integers_are(rule: Rule) -> None:
    seen = set()
    for point in rule.samples():
        z = evaluate(rule, point, bind(rule, point))
        for item in rule.integers:
            if isinstance(item, str) or (isinstance(z, tuple) and item < len(z)):
                seen.add(item)
                assert np.asarray(getattr(z, item) if isinstance(item, str) else z[item]).dtype.kind == "i"
    assert seen & set(rule.integers)


def test_no_samples_no_rule() -> None:
    with pytest.raises(Mismatch, match="no samples"):
        check_all(dataclasses.replace(find(np.sin), samples=list))


def test_every_parameter_needs_a_sample() -> None:
    with pytest.raises(Mismatch, match="no sample has a derivative by"):
        check_all(dataclasses.replace(find(np.multiply), samples=lambda: [sample(np.ones(2), 3)]))


def test_an_adjoint_of_the_wrong_shape_or_type_fails() -> None:
    total = dataclasses.replace(find(np.sum), wrt=("a",))
    assert total.kind == "linear"
    point = [sample(np.ones((2, 1)))]
    with pytest.raises(Mismatch):
        check_all(dataclasses.replace(total, vjp=lambda z_bar, a: z_bar * np.ones(2), samples=lambda: point))
    point = [sample(np.ones(3, np.float32))]
    with pytest.raises(Mismatch, match="single precision"):
        check_all(dataclasses.replace(total, vjp=lambda z_bar, a: z_bar * np.ones(3), samples=lambda: point))


def test_a_function_has_one_rule() -> None:
    with pytest.raises(ValueError, match="already has a rule"):
        spec.elementwise(np.sin, samples=list)(lambda x: x)
    with pytest.raises(ValueError, match="already has a rule"):
        spec.elementwise(np.floor, samples=list)(lambda x: x)


def test_no_function_is_both_constant_and_has_a_rule() -> None:
    assert not [f for f in spec.constants() if spec.find(f)]


def test_samples_are_the_same_at_each_call() -> None:
    for r in RULES:
        for a, b in zip(r.samples(), r.samples(), strict=True):
            for x, y in zip(leaves(a.args), leaves(b.args), strict=True):
                assert type(x) is type(y)
                assert not is_inexact(x) or np.array_equal(widen(x), widen(y), equal_nan=True)


# --- step functions ---


def moved(value: Any, by: float) -> Any:
    """All numbers in an argument, those that are no truth values, with something added."""

    def plus(x: Any) -> Any:
        number = isinstance(x, (int, float, complex, np.ndarray, np.generic))
        truth = isinstance(x, (bool, np.bool_)) or (isinstance(x, np.ndarray) and x.dtype.kind not in "iufc")
        return x + by if number and not truth else x

    return tree_map(plus, value)


def is_step(rule: Rule, name: str) -> bool:
    """Whether the result of an operation stays what it is where one of its parameters is moved, at all samples.

    Near what is given, not there, as it may jump there. To refuse such an argument is no change; to give NaN is one.
    """
    for point in rule.samples():
        bound = bind(rule, point)
        if name not in (*rule.parameters[: len(point.args)], *point.kwargs):
            continue
        values = []
        for by in (1e-3, 1e-3 + 1e-5):
            try:
                values.append(differentiable(rule, evaluate(rule, point, {**bound, name: moved(bound[name], by)})))
            except (TypeError, ValueError, IndexError, AttributeError, AssertionError):
                break
        if len(values) < 2:
            continue
        given = differentiable(rule, evaluate(rule, point, bound))
        if any(np.isnan(x).any() for x in leaves(values[0])) and not any(np.isnan(x).any() for x in leaves(given)):
            return False
        for a, b in zip(*map(leaves, values), strict=True):
            # What is solved by iteration depends on its start as far as it is not solved.
            if not np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True):
                return False
    return True


STEPS = [(rule, name) for rule in RULES for name in sorted(rule.steps)]


@pytest.mark.parametrize(("rule", "name"), STEPS, ids=[f"{rule.name} {name}" for rule, name in STEPS])
def test_parameters_without_derivative(rule: Rule, name: str) -> None:
    assert is_step(rule, name)


NO_STEPS = [
    (np.hypot, "x"), (np.where, "x"), (np.ldexp, "x"), (np.roll, "a"), (np.interp, "x"), (np.full, "fill_value"),
    (np.heaviside, "y"), (np.linspace, "stop"), (np.quantile, "q"), (np.matmul, "x2"), (np.insert, "values"),
    (np.kaiser, "M"), (scipy.special.polygamma, "n"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "name"), NO_STEPS, ids=[f"{f.__name__} {n}" for f, n in NO_STEPS])
def test_a_parameter_that_is_none_of_them_fails(function: Callable[..., Any], name: str) -> None:
    rule = spec.find(function)
    assert rule is not None
    assert name not in rule.steps
    assert not is_step(rule, name)
