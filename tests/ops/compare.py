"""Gradients of the functions that JAX and autograd have too, at random points: where theirs are not ours.

    python -m tests.ops.compare            with jax and autograd, which are no dependencies, installed beside s2sad
    python -m tests.ops.compare --only numpy.linalg --verbose

The calls are samples of the operations, with numbers moved at random by up to a tenth.  ``numpy.f`` is compared with
``jax.numpy.f`` and ``autograd.numpy.f``, ``scipy.m.f`` with ``jax.scipy.m.f`` and ``autograd.scipy.m.f``, by the
adjoints of operands for one random adjoint of the result: the largest difference beside the largest of ours.  Where
they differ, differences of the function decide who is right.
"""

from __future__ import annotations

import argparse
import importlib
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tests.operations  # noqa: F401
from s2sad import vjp
from s2sad.errors import S2SADError
from s2sad.ops import spec
from s2sad.ops.spec import Rule, Sample
from tests.oracle import is_inexact, leaves, numeric_gradient, tree_map

Function = Callable[..., Any]
#: The outcomes of a call.
KINDS = ("agree", "differ", "not taken", "refused here")


class Library:
    """Another library that differentiates functions of these names."""

    name = ""

    def counterpart(self, rule: Rule) -> Function | None:
        """Its function for one of NumPy's or SciPy's."""
        path = rule.name.split(".")
        methods = ("reduce", "accumulate", "outer", "__call__")
        if path[0] not in ("numpy", "scipy") or path[1] == "ndarray" or path[-1] in methods:
            return None
        inner = {"numpy": [self.name, "numpy"], "scipy": [self.name, "scipy"]}[path[0]] + path[1:]
        for cut in range(len(inner), 0, -1):
            try:
                found: Any = importlib.import_module(".".join(inner[:cut]))
            except ImportError:
                continue
            for part in inner[cut:]:
                found = getattr(found, part, None)
            return found if callable(found) else None
        return None

    def adjoints(self, f: Function, args: tuple[Any, ...], z_bar: Any) -> tuple[Any, ...]:
        """The adjoints of arguments."""
        raise NotImplementedError


class Jax(Library):
    name = "jax"

    def __init__(self) -> None:
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_enable_x64", True)

    def adjoints(self, f: Function, args: tuple[Any, ...], z_bar: Any) -> tuple[Any, ...]:
        numbers = self.jax.numpy
        z, pull = self.jax.vjp(f, *[tree_map(numbers.asarray, a) for a in args])
        seed = self.jax.tree.unflatten(
            self.jax.tree.structure(z),
            [numbers.asarray(b).astype(v.dtype) for b, v in zip(leaves(z_bar), self.jax.tree.leaves(z), strict=True)],
        )
        return tuple(pull(seed))


class Autograd(Library):
    name = "autograd"

    def __init__(self) -> None:
        self.make = importlib.import_module("autograd").make_vjp

    def adjoints(self, f: Function, args: tuple[Any, ...], z_bar: Any) -> tuple[Any, ...]:
        found = []
        for i in range(len(args)):
            pull, z = self.make(f, i)(*args)
            found.append(pull(np.asarray(z_bar, np.result_type(z)) if isinstance(z_bar, np.ndarray) else z_bar))
        return tuple(found)


# --- the calls


def moved(tree: Any, draw: np.random.Generator) -> Any:
    """The operands, each number by up to a tenth greater or less."""

    def one(x: Any) -> Any:
        if not is_inexact(x):
            return x
        y = np.asarray(x) * draw.uniform(0.9, 1.1, np.shape(x))
        return y.astype(np.result_type(x)) if isinstance(x, (np.ndarray, np.generic)) else y.item()

    return tree_map(one, tree)


def calls(rule: Rule, most: int) -> Iterator[tuple[tuple[Any, ...], list[Any], list[Any], dict[str, Any]]]:
    """The positions of the operands of each sample, the operands, all arguments in order, and those by name."""
    points = list(rule.samples())
    for number, point in enumerate(points[:: -(-len(points) // most)]):
        draw = np.random.default_rng(number)
        args = list(point.args)
        names = _names(rule, point)
        places = [i for i, name in enumerate(names) if name in rule.wrt and _varies(args[i])]
        if not places or any(k in rule.wrt for k in point.kwargs):
            continue
        for i in places:
            args[i] = moved(args[i], draw)
        yield tuple(places), [args[i] for i in places], args, point.kwargs


def _varies(operand: Any) -> bool:
    """Whether there is a derivative by an operand, and by all that it holds."""
    found = leaves(operand)
    return bool(found) and all(is_inexact(x) for x in found)


def _names(rule: Rule, point: Sample) -> list[str]:
    if rule.variadic is None:
        return list(rule.parameters[: len(point.args)])
    before = rule.parameters.index(rule.variadic)
    return [*rule.parameters[:before], *[rule.variadic] * (len(point.args) - before)]


def applied(function: Function, places: tuple[int, ...], args: list[Any], kwargs: dict[str, Any]) -> Function:
    """The function of the operands alone, with one result of floats or a tuple of them."""

    def call(*operands: Any) -> Any:
        given = list(args)
        for place, operand in zip(places, operands, strict=True):
            given[place] = operand
        z = function(*given, **kwargs)
        return tuple(z) if isinstance(z, (tuple, list)) else z

    return call


def ours(rule: Rule, places: tuple[int, ...], args: list[Any], kwargs: dict[str, Any]) -> Function:
    """The same as a program that s2sad reads."""
    env: dict[str, Any] = {"fn": rule.function, **{f"k{i}": a for i, a in enumerate(args)}}
    env.update({f"o_{k}": v for k, v in kwargs.items()})
    names = [f"x{i}" if i in places else f"k{i}" for i in range(len(args))]
    text = f"def f({', '.join(n for n in names if n[0] == 'x')}):\n    return fn("
    text += ", ".join([*names, *[f"{k}=o_{k}" for k in kwargs]]) + ")\n"
    importlib.import_module("linecache").cache["<compare>"] = (len(text), None, text.splitlines(True), "<compare>")
    exec(compile(text, "<compare>", "exec"), env)
    found: Function = env["f"]
    return found


def seed_of(z: Any) -> Any:
    """A random adjoint of a result."""
    draw = np.random.default_rng(5)

    def one(x: Any) -> Any:
        if not is_inexact(x):
            return np.zeros(np.shape(x)) if isinstance(x, np.ndarray) else 0.0
        g = draw.uniform(0.4, 1.2, np.shape(x))
        if np.iscomplexobj(x):
            g = g + 1j * draw.uniform(0.4, 1.2, np.shape(x))
        return g.astype(np.result_type(x)) if isinstance(x, np.ndarray) else g

    return tree_map(one, tuple(z) if isinstance(z, (tuple, list)) else z)


def largest(a: Any, b: Any) -> float:
    """The largest difference of two adjoints beside the largest number in the second."""
    worst = 0.0
    for x, y in zip(leaves(a), leaves(b), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        if y.size and y.dtype.kind in "fc":
            x = np.broadcast_to(x, y.shape) if x.size == 1 else x.reshape(y.shape)
            x = np.real(x) if y.dtype.kind == "f" else x
            both = ~((x == y) | (np.isnan(x) & np.isnan(y)))
            if both.any():
                gap = np.max(np.abs(x - y)[both])
                worst = max(worst, float(gap / (1e-300 + max(np.max(np.abs(y)), 1e-3))) if np.isfinite(gap) else np.inf)
    return worst


def compare(rule: Rule, library: Library, theirs: Function, most: int = 5) -> Iterator[tuple[str, str]]:
    """What became of each call."""
    for places, operands, args, kwargs in calls(rule, most):
        try:
            program = ours(rule, places, args, kwargs)
            z, pull = vjp(program, *operands)
            z_bar = seed_of(z)
            found = pull(type(z)(z_bar) if isinstance(z, list) else z_bar)
        except S2SADError as error:
            yield "refused here", str(error).splitlines()[0]
            continue
        except Exception as error:
            yield "refused here", repr(error)
            continue
        try:
            given = library.adjoints(applied(theirs, places, args, kwargs), tuple(operands), z_bar)
            gap = largest(given, found if len(operands) > 1 or isinstance(found, tuple) else (found,))
        except Exception as error:
            yield "not taken", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            continue
        low = any(np.finfo(np.result_type(x)).bits <= 32 for x in leaves(operands) if is_inexact(x))
        if gap <= (2e-3 if low else 1e-7):
            yield "agree", ""
        else:
            right = _right(program, operands, z_bar, found)
            yield "differ", f"{right}: {_shown(args, kwargs)}: theirs {given}, ours {found}"


def _right(program: Function, operands: list[Any], z_bar: Any, found: Any) -> str:
    """Whether differences of the function agree with ours."""

    def total(*xs: Any) -> Any:
        z = program(*xs)
        pairs = zip(leaves(tuple(z) if isinstance(z, (tuple, list)) else z), leaves(z_bar), strict=True)
        return sum(float(np.real(np.sum(np.multiply(v, b)))) for v, b in pairs if is_inexact(v))

    try:
        expected = tuple(numeric_gradient(total, tuple(operands), i) for i in range(len(operands)))
        gap = largest(found if isinstance(found, tuple) else (found,), expected)
    except Exception as error:
        return f"differences: {error!r}"
    return "differences agree with ours" if gap < 1e-4 else f"DIFFERENCES {expected}"


def _shown(args: list[Any], kwargs: dict[str, Any]) -> str:
    return " ".join(f"{args} {kwargs or ''}".split())[:300]


def main() -> int:
    """The exit status is 1 if differences of a function agree with another library and not with us."""
    parser = argparse.ArgumentParser(prog="python -m tests.ops.compare", description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=5, help="calls of each function")
    parser.add_argument("--library", default="", choices=("", "jax", "autograd"))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wrong = 0
    for kind in (Jax, Autograd):
        if options.library not in ("", kind.name):
            continue
        try:
            library = kind()
        except ImportError:
            print(f"{kind.name} is not installed")
            continue
        tally: Counter[str] = Counter()
        functions: dict[str, set[str]] = defaultdict(set)
        for rule in spec.rules():
            theirs = library.counterpart(rule) if options.only in rule.name else None
            if theirs is None:
                continue
            with np.errstate(all="ignore"):
                for found, more in compare(rule, library, theirs, options.most):
                    tally[found] += 1
                    functions[found].add(rule.name)
                    if found == "differ" or options.verbose:
                        print(f"{library.name} {found} {rule.name} {more[:1000]}".replace("\n", " "), flush=True)
                    wrong += "DIFFERENCES" in more
        both = set().union(*functions.values())
        print(
            f"{library.name}: {len(both)} functions, {sum(tally.values())} calls: "
            + ", ".join(f"{tally[k]} {k}" for k in KINDS)
            + f"; {len(functions['agree'])} functions agree somewhere, {len(functions['differ'])} differ somewhere"
        )
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
