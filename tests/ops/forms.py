"""Calls of every operation in the forms that NumPy takes, as programs whose derivatives are compared with differences.

    python -m tests.ops.forms --count 20000 --jobs 2        so many calls, chosen at random
    python -m tests.ops.forms --only numpy.sum --show 3     those of one operation; the text of the third

A form is made of a sample of the operation by one or more changes: other dtypes (single precision, complex), shapes
(0-d, empty, one element), kinds (lists, numbers of Python and NumPy, layouts), options (axes of every sort,
``keepdims``, ``dtype``, ``where``, ``initial``, ``out``, ``order``, ``casting``, ``ddof``, ``mode`` and others),
arguments by name, and methods for functions; its constants are literals, or variables of the module.  What NumPy does
not take is no form.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import linecache
import multiprocessing
import random
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import tests.operations  # noqa: F401
from s2sad import grad, jvp
from s2sad.errors import S2SADError
from s2sad.ops import spec
from s2sad.ops.spec import Rule, Sample
from tests.oracle import is_inexact, leaves, pairing, richardson_jvp, tree_map, widen

#: What became of a call.
KINDS = ("right", "refused", "wrong", "form", "crash", "undecided")
FAILURES = ("wrong", "form", "crash")
Function = Callable[..., Any]


@dataclass(frozen=True)
class Form:
    """One call: its arguments in order, those given by name, and how it was made."""

    rule: Rule
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    method: str = ""
    #: Whether the result goes into an array that the program makes.
    out: bool = False


# --- the changes


def _arrays(tree: Any) -> list[Any]:
    return [x for x in leaves(tree) if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc"]


def _of_operands(form: Form, change: Callable[[Any], Any], only: int | None = None) -> Form:
    """The form with other operands: all of them, or the array of one number."""
    count = iter(range(10**6))

    def one(x: Any) -> Any:
        if not (is_inexact(x) and not isinstance(x, np.dtype)):
            return x
        return change(x) if only in (None, next(count)) else x

    names = set(form.rule.wrt)
    params = form.rule.parameters
    variadic = form.rule.variadic
    place = params.index(variadic) if variadic else 10**6
    args = tuple(
        [
            tree_map(one, a) if i >= place or (i < len(params) and params[i] in names) else a
            for i, a in enumerate(form.args)
        ]
    )
    kwargs = {k: tree_map(one, v) if k in names else v for k, v in form.kwargs.items()}
    return replace(form, args=args, kwargs=kwargs)


def _cast(dtype: Any) -> Callable[[Any], Any]:
    def change(x: Any) -> Any:
        y = np.asarray(x)
        if np.dtype(dtype).kind == "c" and y.dtype.kind == "f":
            y = y + 0.3j * np.cos(3 * y + np.arange(y.size).reshape(y.shape))
        if np.dtype(dtype).kind == "f":
            y = y.real
        return y.astype(dtype) if isinstance(x, np.ndarray) else np.dtype(dtype).type(y)

    return change


def _cut(axis: int, length: int) -> Callable[[Any], Any]:
    def change(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or x.ndim == 0:
            return x
        return np.array(x[(slice(None),) * (axis % x.ndim) + (slice(0, length),)])

    return change


def _item(x: Any) -> Any:
    return np.array(x.flat[0]) if isinstance(x, np.ndarray) and x.size else x


def _number(kind: str) -> Callable[[Any], Any]:
    def change(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or not x.size:
            return x
        first = x.flat[0]
        return first.item() if kind == "python" else first

    return change


def _listed(x: Any) -> Any:
    return x.tolist() if isinstance(x, np.ndarray) and x.ndim and x.dtype.kind in "fc" else x


def _rows(x: Any) -> Any:
    return list(x) if isinstance(x, np.ndarray) and x.ndim else x


def _fortran(x: Any) -> Any:
    return np.array(x, order="F") if isinstance(x, np.ndarray) else x


def _backwards(x: Any) -> Any:
    return x[..., ::-1].copy()[..., ::-1] if isinstance(x, np.ndarray) and x.ndim else x


def _read_only(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        x = x.copy()
        x.setflags(write=False)
    return x


def _stretched(x: Any) -> Any:
    return np.broadcast_to(x, (2, *x.shape)) if isinstance(x, np.ndarray) else x


def _new_axis(x: Any) -> Any:
    return np.array(x[None]) if isinstance(x, np.ndarray) else x


_OPERANDS: dict[str, Callable[[Any], Any]] = {
    "float32": _cast(np.float32),
    "complex": _cast(complex),
    "complex64": _cast(np.complex64),
    "float64": _cast(float),
    "size 1 first": _cut(0, 1),
    "size 1 last": _cut(-1, 1),
    "two": _cut(0, 2),
    "empty first": _cut(0, 0),
    "empty last": _cut(-1, 0),
    "0-d": _item,
    "number": _number("python"),
    "scalar": _number("numpy"),
    "list": _listed,
    "rows": _rows,
    "Fortran": _fortran,
    "backwards": _backwards,
    "read only": _read_only,
    "stretched": _stretched,
    "new axis": _new_axis,
}

_AXES = (None, 0, 1, -1, -2, 2, (0,), (-1,), (0, 1), (1, 0), (-1, 0), (0, 2), (), (0, 1, 2))
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "axis": _AXES,
    "axes": ((0, 1), (-1, 0), (0,), (1, 2), None),
    "keepdims": (True, False),
    "dtype": (np.float32, np.float64, complex, "float32", np.longdouble),
    "initial": (0.3, -5.0, 2),
    "order": ("F", "A", "K", "C"),
    "casting": ("same_kind", "unsafe"),
    "ddof": (1, 0, 2),
    "bias": (True,),
    "rowvar": (False,),
    "mode": ("full", "valid", "same", "wrap", "clip", "reflect", "edge", "constant"),
    "norm": ("ortho", "forward", "backward"),
    "method": ("linear", "lower", "midpoint", "hazen", "weibull", "median_unbiased", "nearest"),
    "side": ("left", "right"),
    "n": (1, 2, 3, 6),
    "k": (1, -1, 0),
    "offset": (1, -1),
    "copy": (True, False),
    "subok": (True,),
    "returned": (True,),
    "optimize": (True, "greedy"),
    "hermitian": (True,),
    "full_matrices": (True, False),
    "compute_uv": (True, False),
    "upper": (True,),
    "UPLO": ("U",),
    "increasing": (True,),
    "endpoint": (False,),
    "density": (True,),
    "equal_nan": (False,),
    "lower": (True, False),
    "trans": (1, 2, "T"),
    "weights": (),
}


def _masks(form: Form) -> Iterator[Any]:
    shapes = [np.shape(x) for x in _arrays(form.args)]
    shape = np.broadcast_shapes(*shapes) if shapes else ()
    yield np.arange(int(np.prod(shape))).reshape(shape) % 3 != 1
    if shape:
        yield np.arange(shape[-1]) % 2 == 0
    yield True


def changed(form: Form, draw: random.Random) -> Form | None:
    """The form with one thing changed at random; None if that is no change."""
    rule = form.rule
    free = [p for p in (*_OPTIONS, "where", "out") if p in rule.parameters or _takes(rule.function, p)]
    sort = draw.choices(("operand", "all", "option", "given"), (3, 3, 5 if free else 0, 2))[0]
    if sort in ("operand", "all"):
        name = draw.choice(list(_OPERANDS))
        which = draw.randrange(3) if sort == "operand" else None
        made = _of_operands(form, _OPERANDS[name], which)
        return replace(made, made=(*form.made, name if which is None else f"{name} of {which}"))
    if sort == "option":
        name = draw.choice(free)
        if name == "out":
            return replace(form, out=True, made=(*form.made, "out"))
        try:
            values = list(_masks(form)) if name == "where" else list(_OPTIONS[name])
        except ValueError:
            return None
        value = draw.choice(values) if values else None
        made = _with_option(form, name, value) if values else None
        return made and replace(made, made=(*form.made, f"{name}={value!r}".replace("\n", " ")))
    return _given_otherwise(form, draw)


@functools.cache
def _takes(function: Function, name: str) -> bool:
    if isinstance(function, np.ufunc):
        # SciPy's own functions crash with a mask.
        masked = name != "where" or getattr(np, function.__name__, None) is function
        return masked and name in ("where", "out", "dtype", "casting", "order") and function.signature is None
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _with_option(form: Form, name: str, value: Any) -> Form:
    params = form.rule.parameters
    if name in params[: len(form.args)] and form.rule.variadic is None:
        i = params.index(name)
        return replace(form, args=(*form.args[:i], value, *form.args[i + 1 :]))
    return replace(form, kwargs={**form.kwargs, name: value})


def _given_otherwise(form: Form, draw: random.Random) -> Form | None:
    """As a method, or with the last arguments by name."""
    rule = form.rule
    if form.args and isinstance(form.args[0], np.ndarray) and draw.random() < 0.5:
        name = getattr(rule.function, "__name__", "")
        if callable(getattr(np.ndarray, name, None)):
            return replace(form, method=name, made=(*form.made, "method"))
        return None
    if rule.variadic is not None or len(form.args) < 2 or len(form.args) > len(rule.parameters):
        return None
    keep = draw.randrange(1, len(form.args))
    named = dict(zip(rule.parameters[keep:], form.args[keep:], strict=False))
    return replace(form, args=form.args[:keep], kwargs={**named, **form.kwargs}, made=(*form.made, "by name"))


# --- the program


@dataclass
class Program:
    """A function of the active arguments that returns one real number, and their values."""

    text: str
    function: Function
    args: tuple[Any, ...]
    #: Whether something in it is in single precision.
    low: bool = False


_made = iter(range(10**9))


def _is_literal(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_literal, value))
    return value is None or (
        type(value) in (bool, int, float, str) and (not isinstance(value, float) or np.isfinite(value))
    )


def program(form: Form, literal: bool = False, square: bool = False) -> Program | None:
    """The call as a program, whose constants are literals or variables of its module.

    It returns a weighted sum of the result, or of its square.  None if NumPy refuses it, or nothing in it has a
    derivative.
    """
    rule = form.rule
    names: list[str] = []
    values: list[Any] = []
    env: dict[str, Any] = {"np": np, "fn": rule.function}

    def put(value: Any, parameter: str | None) -> str:
        active = parameter in rule.wrt and any(is_inexact(x) for x in leaves(value))
        name = f"{'x' if active else 'k'}{len(env) + len(names)}"
        if active:
            names.append(name)
            values.append(value)
        elif literal and _is_literal(value):
            return repr(value)
        else:
            env[name] = value
        return name

    place = rule.parameters.index(rule.variadic) if rule.variadic else 10**6
    given = []
    for i, value in enumerate(form.args):
        parameter = rule.variadic if i >= place else rule.parameters[i] if i < len(rule.parameters) else None
        given.append(put(value, parameter))
    by_name = [f"{key}={put(value, key)}" for key, value in form.kwargs.items()]
    if not names:
        return None
    if form.method:
        call = f"{given[0]}.{form.method}({', '.join([*given[1:], *by_name])})"
    else:
        call = f"fn({', '.join([*given, *by_name])})"
    everything = {**env, **dict(zip(names, values, strict=True))}
    with quiet():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            z = eval(call, everything)
        except Exception:  # NumPy refuses it, or takes the real part, and warns
            return None
        lines = [f"def f({', '.join(names)}):"]
        if form.out:
            if not isinstance(z, np.ndarray):
                return None
            env["like"] = np.empty(z.shape, z.dtype)
            lines.append("    o = np.zeros(like.shape, like.dtype)")
            call = call[:-1] + ", out=o)"
            try:
                eval(call, {**everything, "o": np.zeros(z.shape, z.dtype)})
            except Exception:
                return None
        lines.append(f"    z = {call}")
        total = _total(z, "o" if form.out else "z", rule, env, square)
    if total is None:
        return None
    lines.append(f"    return {total}")
    text = "\n".join(lines) + "\n"
    file = f"<form {next(_made)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), env)
    low = [np.float16, np.float32, np.complex64, "float32"]
    return Program(text, env["f"], tuple(values), any(_low(x) or any(x is t for t in low) for x in (z, *env.values())))


def _low(x: Any) -> bool:
    return any(y.dtype.itemsize <= (8 if y.dtype.kind == "c" else 4) for y in _arrays(x))


def _total(z: Any, name: str, rule: Rule, env: dict[str, Any], square: bool) -> str | None:
    """The text of a weighted sum of all real numbers in a result."""
    terms = []
    if isinstance(z, (tuple, list)):
        for i, item in enumerate(z):
            term = None if i in rule.without else _total(item, f"{name}[{i}]", rule, env, square)
            if term is not None:
                terms.append(term)
    elif is_inexact(z) and not isinstance(z, np.timedelta64):
        weight = f"w{len(env)}"
        draw = np.random.default_rng(len(env))
        w = draw.uniform(0.4, 1.2, np.shape(z))
        if np.iscomplexobj(z):
            w = w + 1j * draw.uniform(0.4, 1.2, np.shape(z))
        env[weight] = w
        terms.append(
            f"np.sum(np.real({name} * {name} * {weight}))" if square else f"np.sum(np.real({name} * {weight}))"
        )
    return " + ".join(terms) or None


class quiet(warnings.catch_warnings):
    def __enter__(self) -> Any:
        out = super().__enter__()
        warnings.simplefilter("ignore")
        self._errors = np.errstate(all="ignore")
        self._errors.__enter__()
        return out

    def __exit__(self, *info: Any) -> None:
        self._errors.__exit__(*info)
        super().__exit__(*info)


# --- the verdict


def direction(tree: Any, seed: int) -> Any:
    draw = np.random.default_rng(seed)

    def one(x: Any) -> Any:
        if not is_inexact(x):
            return np.zeros(np.shape(x)) if isinstance(x, np.ndarray) else 0.0
        d = draw.uniform(0.3, 1.0, np.shape(x)) * draw.choice([-1.0, 1.0], np.shape(x))
        if np.iscomplexobj(x):
            d = d + 1j * draw.uniform(-1.0, 1.0, np.shape(x))
        d = np.asarray(d)
        return d.astype(np.result_type(x)) if isinstance(x, (np.ndarray, np.generic)) else d.item()

    return tree_map(one, tree)


def _form_of(x: Any, g: Any) -> str:
    """What is wrong with the form of a gradient; empty if it is that of its argument."""
    if isinstance(x, (list, tuple)):
        if not isinstance(g, (list, tuple)) or len(g) != len(x):
            return f"gradient {type(g).__name__} for a {type(x).__name__} of {len(x)}"
        return next((w for w in map(_form_of, x, g) if w), "")
    if isinstance(x, np.ndarray) and is_inexact(x):
        if not isinstance(g, np.ndarray) or g.shape != x.shape or g.dtype != x.dtype:
            return f"gradient {type(g).__name__} {getattr(g, 'dtype', '')}{np.shape(g)} for {x.dtype}{x.shape}"
    elif is_inexact(x) and np.ndim(g):
        return f"gradient of shape {np.shape(g)} for a number"
    elif isinstance(x, np.floating) and np.asarray(g).dtype != x.dtype:
        return f"gradient {np.asarray(g).dtype} for {x.dtype}"
    return ""


#: What depends on a choice of vectors that LAPACK makes: those that complete a basis.
CHOSEN = ("numpy.linalg.svd", "scipy.linalg.svd")


def judge(form: Form, literal: bool = False) -> tuple[str, str]:
    """What became of a call, and more about it; the verdict is empty if it is none."""
    try:
        made = program(form, literal)
    except Exception as error:
        return "", f"no program: {error!r}"
    if made is None:
        return "", ""
    with quiet():
        try:
            return _judge(made)
        except Exception as error:
            return "undecided", f"{made.text}{error!r}"


def _judge(made: Program) -> tuple[str, str]:
    dots = [direction(x, 7 + i) for i, x in enumerate(made.args)]
    low = made.low or _low(made.args)
    try:
        value = made.function(*made.args)
        slopes = [float(np.real(richardson_jvp(made.function, made.args, dots, h))) for h in (2e-3, 5e-4)]
    except Exception as error:
        return "undecided", f"{made.text}{error!r}"
    if np.ndim(value):
        return "", ""
    decided = np.isfinite(value) and np.all(np.isfinite(slopes))
    size = 1 + abs(slopes[0]) + abs(float(np.real(value)))
    rough = 3e-3 if low else 2e-6
    noisy = not decided or abs(slopes[0] - slopes[1]) > rough * size * 0.3 or _has_kink(made, dots)
    texts = []
    many = tuple(range(len(made.args)))
    try:
        found = grad(made.function, argnums=many)(*made.args)
        slope = sum(pairing(g, d) for g, d in zip(found, dots, strict=True))
        for x, g in zip(made.args, found, strict=True):
            wrong = _form_of(x, g)
            if wrong:
                return "form", f"{made.text}{wrong}"
        if not noisy and not abs(slope - slopes[0]) <= rough * size:
            return "wrong", f"{made.text}reverse: {slope} is not {slopes[0]} at {made.args}"
    except S2SADError as error:
        texts.append(f"reverse: {error}")
    except Exception as error:
        return "crash", f"{made.text}reverse: {error!r} at {made.args}"
    try:
        of_jvp, slope = jvp(made.function, made.args, tuple(dots))
        if np.asarray(slope).dtype != np.asarray(of_jvp).dtype and isinstance(of_jvp, (np.ndarray, np.generic)):
            return "form", f"{made.text}forward: a tangent of {np.asarray(slope).dtype} for {np.asarray(of_jvp).dtype}"
        if not noisy and not abs(float(np.real(slope)) - slopes[0]) <= rough * size:
            return "wrong", f"{made.text}forward: {slope} is not {slopes[0]} at {made.args}"
        if np.ndim(slope):
            return "form", f"{made.text}forward: a tangent of shape {np.shape(slope)}"
    except S2SADError as error:
        texts.append(f"forward: {error}")
    except Exception as error:
        return "crash", f"{made.text}forward: {error!r} at {made.args}"
    if texts:
        return "refused", made.text + "\n".join(texts)
    return ("undecided", f"{made.text}{slopes}") if noisy else ("right", "")


def _has_kink(made: Program, dots: list[Any]) -> bool:
    """Whether the slopes to both sides differ, where those between do not."""
    sides = []
    wide = [tree_map(widen, x) for x in made.args]
    middle = float(np.real(made.function(*wide)))
    for step in (1e-5, -1e-5):
        moved = tree_map(lambda x, d, h=step: x + h * d if is_inexact(x) else x, wide, dots)
        sides.append((float(np.real(made.function(*moved))) - middle) / step)
    return not abs(sides[0] - sides[1]) <= 1e-2 * (1 + max(map(abs, sides)))


# --- many of them


def rules(only: str = "") -> list[Rule]:
    """The rules of functions that users call."""
    found = [r for r in spec.rules() if not r.name.startswith("s2sad") and r.samples()]
    return [r for r in found if only in r.name]


def form(index: int, only: str = "") -> Form:
    """The form of a number: a sample with up to three changes."""
    some = rules_once(only)
    rule, samples = some[index % len(some)]
    draw = random.Random(zlib.crc32(rule.name.encode()) + index // len(some))
    base: Sample = samples[draw.randrange(len(samples))]
    made = Form(rule, base.args, dict(base.kwargs))
    for _ in range(draw.choice((1, 1, 2, 2, 3))):
        made = changed(made, draw) or made
    return made


@functools.cache
def rules_once(only: str) -> list[tuple[Rule, Any]]:
    return [(r, list(r.samples())) for r in rules(only)]


def verdict(index: int, only: str = "") -> tuple[int, str, str, str]:
    """The verdict about the form of a number."""
    try:
        made = form(index, only)
    except Exception as error:  # what cannot be made is no form
        return index, "", "", repr(error)
    found, more = judge(made, bool(index % 3))
    if found == "wrong" and made.rule.name in CHOSEN and more.count("forward:"):
        found = "undecided"
    return index, found, f"{made.rule.name} {', '.join(made.made)}", more


def main() -> int:
    """The exit status is 1 if a call has failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.ops.forms", description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--refused", action="store_true", help="say what was refused too")
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    if options.show is not None:
        print(*verdict(options.show, options.only), sep="\n")
        return 0
    tally: Counter[str] = Counter()
    decided = functools.partial(verdict, only=options.only)
    indices = range(options.start, options.start + options.count)
    pool = multiprocessing.get_context("spawn").Pool(options.jobs) if options.jobs > 1 else None
    for index, found, what, more in pool.imap_unordered(decided, indices, 20) if pool else map(decided, indices):
        tally[found] += 1
        if found in FAILURES or (options.refused and found == "refused"):
            print(f"--- {index} {found}: {what}\n{more[:700]}", flush=True)
    print(", ".join(f"{kind}: {tally[kind]}" for kind in KINDS), f"no form: {tally['']}")
    return int(any(tally[kind] for kind in FAILURES))


if __name__ == "__main__":
    raise SystemExit(main())
