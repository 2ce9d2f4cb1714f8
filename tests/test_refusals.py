"""What cannot be differentiated is refused with an error that says what, where and what to do; never a wrong number."""

# What is refused has to say why: the assertion is on the exception that may or may not come.
# ruff: noqa: PT017

from __future__ import annotations

import ast
import asyncio
import functools
import math
import operator
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, stop_gradient, value_and_grad, vjp
from s2sad.errors import ArgumentError, NonScalarError, S2SADError, SourceError, UnsupportedError
from tests.oracle import numeric_gradient

V = np.array([0.3, -1.2, 2.5])
M = np.array([[2.0, 0.5], [0.5, 1.0]])

HEAD = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): error: (?P<message>.+)$")


def assert_located(error: S2SADError, f: Callable[..., Any], fragment: str | None = None) -> None:
    """Every paragraph has file, line, column, message, source line, caret and remedy, and they agree with the file."""
    lines = str(error).splitlines()
    starts = [index for index, line in enumerate(lines) if HEAD.match(line)]
    assert starts, f"no located message in {error}"
    assert starts[0] == 0
    own = pathlib.Path(f.__code__.co_filename).read_text(encoding="utf-8").splitlines()
    seen = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        match = HEAD.match(lines[start])
        assert match
        assert match["file"].endswith("test_refusals.py")
        text = own[int(match["line"]) - 1]
        assert lines[start + 1].strip() == text.strip(), "the quoted line is not the line of the file"
        caret = lines[start + 2]
        assert re.fullmatch(r"\s*\^~*", caret), f"no caret in {caret!r}"
        marked = lines[start + 1][caret.index("^") : caret.index("^") + len(caret.strip())]
        assert text[int(match["column"]) - 1 :].startswith(marked), "caret and column disagree"
        remedy = [line for line in lines[start + 3 : end] if line.strip()]
        assert remedy, f"no remedy in {error}"
        assert len(" ".join(remedy)) > 10
        first = f.__code__.co_firstlineno
        assert int(match["line"]) >= first
        seen.append(marked)
    assert "Traceback" not in str(error)
    if fragment is not None:
        assert any(fragment in marked for marked in seen) or fragment in str(error), f"{fragment!r} is not in {error}"


# -- constructs that are refused; each with something that the message must mention -----------------------------------


def generator_expression(v: Any) -> Any:
    return sum(x * x for x in v)


def list_comprehension(v: Any) -> Any:
    return sum([x * x for x in v])


def nested_function(x: Any) -> Any:
    def inner(y: Any) -> Any:
        return y * x

    return inner(x)


def nested_lambda(x: Any) -> Any:
    return (lambda y: y * x)(x)


def with_statement(x: Any) -> Any:
    with np.errstate(all="ignore"):
        y = x * x
    return y


def try_statement(x: Any) -> Any:
    try:
        y = x * x
    except ValueError:
        y = x
    return y


def global_statement(x: Any) -> Any:
    global leaked
    leaked = x * x
    return leaked * x


def attribute_store(x: Any) -> Any:
    box = Box()
    box.value = x * x
    return box.value


class Box:
    """Holds a value."""

    value: Any = 0.0


def list_append(x: Any) -> Any:
    items = []
    items.append(x * x)
    return items[0]


def dict_store(x: Any) -> Any:
    d = {}
    d["a"] = x * x
    return d["a"]


def match_statement(x: Any) -> Any:
    match x:
        case 0.5:
            return x
        case _:
            return x * x


def star_arguments(x: Any) -> Any:
    items = (x, x)
    return np.sum(np.add(*items))


def unknown_method(v: Any) -> Any:
    return np.sum(v.byteswap())


def missing_rule(v: Any) -> Any:
    return np.sum(np.frombuffer(np.outer(v, v)))


def not_differentiable(v: Any) -> Any:
    return np.sum(np.packbits(v > 0.0) * np.union1d(v, v))


def unsupported_form(v: Any) -> Any:
    return np.sum(np.exp(v, where=v > 0.0))


def unsupported_out(v: Any) -> Any:
    out = np.zeros(3)
    return np.sum(np.multiply(v, v, out=out))


def active_into_unknown(v: Any) -> Any:
    return functools.reduce(operator.mul, v)


def active_in_string(x: Any) -> Any:
    return float(str(x)) * 2.0


def active_in_object(x: Any) -> Any:
    return abs(complex(x, x).real)


def class_call(x: Any) -> Any:
    return Wrapper(x).value


class Wrapper:
    """Wraps a value."""

    def __init__(self, value: Any) -> None:
        self.value = value * value


def yield_in_callee(x: Any) -> Any:
    return sum(yields(x))


def yields(x: Any) -> Any:
    yield x
    yield x * x


REFUSED_OR_RIGHT = [
    (generator_expression, V),
    (list_comprehension, V),
    (nested_function, 0.7),
    (nested_lambda, 0.7),
    (with_statement, 0.7),
    (try_statement, 0.7),
    (global_statement, 0.7),
    (attribute_store, 0.7),
    (list_append, 0.7),
    (dict_store, 0.7),
    (match_statement, 0.7),
    (star_arguments, V),
    (unsupported_form, V),
    (unsupported_out, V),
    (active_into_unknown, V),
    (active_in_object, 0.7),
    (class_call, 0.7),
    (yield_in_callee, 0.7),
]


@pytest.mark.parametrize(("f", "x"), REFUSED_OR_RIGHT, ids=lambda value: getattr(value, "__name__", ""))
def test_refused_with_a_place_or_right(f: Callable[[Any], Any], x: Any) -> None:
    """A step of the project may accept one of these; then it has to be exact."""
    from tests.oracle import numeric_gradient

    try:
        gradient = grad(f)(x)
    except S2SADError as error:
        assert isinstance(error, UnsupportedError)
        assert_located(error, f)
    else:
        np.testing.assert_allclose(gradient, numeric_gradient(f, (x,), 0), rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "fragment"),
    [
        (missing_rule, "np.frombuffer"),
        (unknown_method, "byteswap"),
        (not_differentiable, "union1d"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_has_no_rule_is_refused_by_name(f: Callable[[Any], Any], fragment: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        grad(f)(V)
    assert_located(raised.value, f, fragment)


def test_an_unsupported_argument_form_is_named() -> None:
    try:
        gradient = grad(unsupported_form)(V)
    except UnsupportedError as error:
        assert_located(error, unsupported_form, "where")
    else:
        np.testing.assert_array_equal(gradient, V > 0.0)


def test_a_value_made_of_text_is_refused_or_constant() -> None:
    """The way over text cuts the derivative silently, so it must not be followed silently."""
    with pytest.raises(S2SADError) as raised:
        grad(active_in_string)(0.7)
    assert isinstance(raised.value, UnsupportedError)
    assert_located(raised.value, active_in_string)


def three_faults(v: Any) -> Any:
    a = np.frombuffer(np.outer(v, v))
    b = np.union1d(v, v)
    c = v.byteswap()
    return np.sum(a) + np.sum(b) + np.sum(c)


def test_all_violations_of_a_function_at_once() -> None:
    with pytest.raises(UnsupportedError) as raised:
        grad(three_faults)(V)
    assert_located(raised.value, three_faults)
    heads = [line for line in str(raised.value).splitlines() if HEAD.match(line)]
    assert len(heads) == 3
    places = [int(HEAD.match(head)["line"]) for head in heads]  # type: ignore[index]
    assert places == sorted(places)


def callee_with_fault(v: Any) -> Any:
    return np.union1d(v, v)


def calls_faulty(v: Any) -> Any:
    return np.sum(callee_with_fault(v))


def test_the_place_is_in_the_callee() -> None:
    with pytest.raises(UnsupportedError) as raised:
        grad(calls_faulty)(V)
    assert_located(raised.value, callee_with_fault, "np.union1d")


ran: list[str] = []


def effect_before_fault(v: Any) -> Any:
    ran.append("ran")
    return np.sum(np.union1d(v, v))


def test_nothing_is_run_before_a_refusal() -> None:
    ran.clear()
    with pytest.raises(UnsupportedError):
        grad(effect_before_fault)(V)
    assert ran == []


def inactive_anything(x: Any) -> Any:
    labels = [str(n) for n in range(3)]
    lengths = {word: len(word) for word in labels}
    total = sum(value for value in lengths.values())
    scale = (lambda n: n * 2)(total)
    return x * x * scale


def test_any_python_is_welcome_where_nothing_is_active() -> None:
    assert grad(inactive_anything)(0.5) == pytest.approx(6.0)


# -- things that are no functions with a source ----------------------------------------------------------------------


def coroutine_function() -> Any:
    async def f(x: Any) -> Any:
        await asyncio.sleep(0)
        return x * x

    return f


def generator_function() -> Any:
    def f(x: Any) -> Any:
        yield x * x

    return f


def async_generator_function() -> Any:
    async def f(x: Any) -> Any:
        yield x * x

    return f


def made_by_exec() -> Any:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x * x\n", space)
    return space["f"]


def made_by_exec_at_a_console() -> Any:
    space: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x * x\n", "<stdin>", "exec"), space)
    return space["f"]


def made_by_compile_of_tree() -> Any:
    space: dict[str, Any] = {}
    exec(compile(ast.parse("f = lambda x: x * x"), "missing_file.py", "exec"), space)
    return space["f"]


@pytest.mark.parametrize(
    "make",
    [
        *(generator_function, coroutine_function, async_generator_function),
        *(made_by_exec, made_by_exec_at_a_console, made_by_compile_of_tree),
        lambda: sys.getsizeof,
        lambda: len,
        lambda: [1].append,
        lambda: operator.itemgetter(0),
        lambda: Wrapper,
        lambda: int,
    ],
    ids=[
        *("generator", "async", "async generator", "exec", "stdin", "tree", "C function", "builtin", "C method"),
        *("C callable", "class", "builtin class"),
    ],
)
def test_functions_that_cannot_be_read_are_refused(make: Callable[[], Any]) -> None:
    f = make()
    with pytest.raises(S2SADError) as raised:
        grad(f)(0.7)
    message = str(raised.value)
    assert len(message) > 30
    assert "Traceback" not in message
    name = getattr(f, "__name__", type(f).__name__)
    assert name in message or "<lambda>" in name


@pytest.mark.parametrize("thing", [3, None, "f", V, [], object(), np], ids=lambda thing: type(thing).__name__)
def test_what_is_not_callable_is_refused(thing: Any) -> None:
    with pytest.raises(S2SADError, match=r"callable|function"):
        grad(thing)(0.7)


def test_numpy_functions_themselves_work_or_are_refused() -> None:
    try:
        assert grad(np.sum)(V).shape == (3,)
    except S2SADError as error:
        assert "sum" in str(error)


def test_source_error_is_raised_for_missing_source() -> None:
    with pytest.raises(SourceError, match="f"):
        grad(made_by_exec())(0.7)


def edited(tmp_path: Any, name: str) -> Any:
    import importlib.util
    import sys

    path = tmp_path / f"{name}.py"
    path.write_text("def f(x):\n    return x * x\n")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return path, module


def test_a_file_that_changed_after_import_is_never_differentiated_as_it_is_now(tmp_path: Any) -> None:
    path, module = edited(tmp_path, "edited_after_import")
    path.write_text("def f(x):\n    return x * x * x * 1000\n")
    try:
        assert grad(module.f)(3.0) == 6.0
    except SourceError as error:
        assert "edited_after_import" in str(error)


def test_a_file_that_was_removed_after_import(tmp_path: Any) -> None:
    path, module = edited(tmp_path, "removed_after_import")
    path.unlink()
    try:
        assert grad(module.f)(3.0) == 6.0
    except SourceError as error:
        assert "f" in str(error)


# -- losses and arguments --------------------------------------------------------------------------------------------


def square(x: Any) -> Any:
    return x * x


def gives_tuple(x: Any) -> Any:
    return x, x


def gives_none(x: Any) -> Any:
    x * x


def gives_text(x: Any) -> Any:
    return "loss"


def gives_complex(x: Any) -> Any:
    return x * 1j


def gives_one_element(x: Any) -> Any:
    return np.sum(x, keepdims=True)


def gives_integer(x: Any) -> Any:
    return 3


def gives_bool(x: Any) -> Any:
    return bool(x > 0.0)


@pytest.mark.parametrize(
    ("f", "x", "mention"),
    [
        (square, V, "(3,)"),
        (square, M, "(2, 2)"),
        (gives_tuple, 0.7, "tuple"),
        (gives_none, 0.7, "None"),
        (gives_text, 0.7, "str"),
        (gives_one_element, V, "(1,)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_loss_that_is_no_scalar_names_what_it_is(f: Any, x: Any, mention: str) -> None:
    for transform in (grad, value_and_grad):
        with pytest.raises(NonScalarError) as raised:
            transform(f)(x)
        assert mention in str(raised.value)
        assert "vjp" in str(raised.value) or mention in ("tuple", "None", "str")


def test_a_complex_loss_is_refused() -> None:
    with pytest.raises(S2SADError, match="complex"):
        grad(gives_complex)(0.7)


@pytest.mark.parametrize("f", [gives_integer, gives_bool], ids=lambda f: f.__name__)
def test_a_constant_integer_loss_is_zero_or_refused(f: Any) -> None:
    try:
        assert grad(f)(0.7) == 0.0
    except ArgumentError as error:
        assert str(error)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(3),
        np.array([True, False, True]),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array(3),
        np.int64(3),
        np.bool_(True),
        True,
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}",
)
def test_integers_and_booleans_have_no_gradient(x: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(x * 2.0)

    with pytest.raises(ArgumentError, match=r"astype|float|convert"):
        grad(f)(x)
    with pytest.raises(TypeError):
        value_and_grad(f)(x)


@pytest.mark.parametrize(
    "x",
    ["text", None, object(), np.array(["a"]), np.array([None, 1.0], dtype=object), {1.0}, len],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}",
)
def test_arguments_of_other_types_have_no_gradient(x: Any) -> None:
    def f(x: Any) -> Any:
        return 3.0

    try:
        gradient = grad(f)(x)
    except ArgumentError as error:
        assert type(x).__name__ in str(error) or "dtype" in str(error)
    else:
        assert x is None
        assert gradient is None


def test_an_integer_leaf_in_a_container_is_refused_with_its_path() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["w"] * 2.0)

    with pytest.raises(ArgumentError) as raised:
        grad(f)({"w": np.arange(3)})
    assert "w" in str(raised.value)


def test_integers_as_other_arguments_are_fine() -> None:
    def f(x: Any, index: Any, flag: Any, word: Any) -> Any:
        return x[index] * len(word) if flag else x[0]

    np.testing.assert_array_equal(grad(f)(V, 1, True, "abc"), [0.0, 3.0, 0.0])
    np.testing.assert_array_equal(grad(lambda v, k: np.sum(v[k]))(V, np.array([0, 0])), [2.0, 0.0, 0.0])


def two(x: Any, y: Any) -> Any:
    return x * y


@pytest.mark.parametrize("argnums", [2, -3, (0, 2), 17, "x", 1.0, None, (0, "y"), [[0]]], ids=repr)
def test_unknown_argnums(argnums: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        grad(two, argnums=argnums)(1.0, 2.0)
    assert "argnums" in str(raised.value)


def test_no_argument_at_all() -> None:
    try:
        assert grad(two, argnums=())(2.0, 3.0) == ()
    except ArgumentError as error:
        assert "argument" in str(error)


@pytest.mark.parametrize("argnames", ["z", ("x", "z"), 3, ""], ids=repr)
def test_unknown_argnames(argnames: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        grad(two, argnames=argnames)(1.0, 2.0)
    assert "argnames" in str(raised.value) or "has no parameter" in str(raised.value)


def test_duplicate_argnums_are_refused_or_repeated() -> None:
    try:
        assert grad(two, argnums=(0, 0))(2.0, 3.0) == (3.0, 3.0)
    except ArgumentError as error:
        assert "twice" in str(error) or "argnums" in str(error)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1.0,), {}), ((1.0, 2.0, 3.0), {}), ((1.0, 2.0), {"z": 1.0}), ((1.0, 2.0), {"x": 1.0})],
)
def test_a_call_that_does_not_fit_the_signature_is_a_type_error(args: Any, kwargs: Any) -> None:
    with pytest.raises(TypeError) as raised:
        grad(two)(*args, **kwargs)
    assert not isinstance(raised.value, AttributeError)
    assert "two" in str(raised.value) or "argument" in str(raised.value)


def test_a_pullback_of_the_wrong_shape_is_refused() -> None:
    _, pullback = vjp(square, V)
    for wrong in (np.ones(4), np.ones((3, 3)), "x", None, (V,)):
        with pytest.raises(ArgumentError):
            pullback(wrong)


def test_refusals_are_repeated_at_every_call() -> None:
    df = grad(missing_rule)
    messages = []
    for _ in range(2):
        with pytest.raises(UnsupportedError) as raised:
            df(V)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_has_aux_needs_a_pair() -> None:
    with pytest.raises(ArgumentError, match=r"has_aux|pair|aux"):
        grad(square, has_aux=True)(0.7)


def writes_element(x: Any) -> Any:
    x[0] = 0.0
    return np.sum(x * x)


def writes_augmented(x: Any) -> Any:
    x *= 2.0
    return np.sum(x * x)


@pytest.mark.parametrize(("f", "factor"), [(writes_element, [0.0, 2.0, 2.0]), (writes_augmented, [8.0, 8.0, 8.0])])
def test_writing_into_an_argument_is_exact_or_refused(f: Any, factor: Any) -> None:
    x = V.copy()
    try:
        gradient = grad(f)(x)
    except S2SADError as error:
        assert isinstance(error, UnsupportedError)
        assert_located(error, f)
    else:
        np.testing.assert_allclose(gradient, np.multiply(factor, V))
    np.testing.assert_array_equal(x, V)


def into_integers(x: Any) -> Any:
    a = np.zeros(3, dtype=int)
    a[0] = x
    return np.sum(a) * 1.0


def test_writing_an_active_value_into_integers_is_refused() -> None:
    with pytest.raises(S2SADError):
        grad(into_integers)(1.7)


def casts_to_integers(x: Any) -> Any:
    return np.sum(x.astype(int) * 2.0) + np.sum(x)


def test_a_cast_to_integers_is_constant_or_refused() -> None:
    try:
        np.testing.assert_array_equal(grad(casts_to_integers)(V), np.ones(3))
    except UnsupportedError as error:
        assert_located(error, casts_to_integers)


def stops_what_has_no_rule(v: Any) -> Any:
    return np.sum(stop_gradient(np.union1d(v, v)) * v)


def test_the_remedy_works() -> None:
    with pytest.raises(UnsupportedError, match="stop_gradient"):
        grad(missing_rule)(V)
    np.testing.assert_array_equal(grad(stops_what_has_no_rule)(V), np.union1d(V, V))


def many_mistakes(x: Any) -> Any:
    import random

    with open("file") as stream:
        y = np.setdiff1d(x, x) * len(stream.read())

    def inner(v: Any) -> Any:
        return v * random.random()

    for i in range(3):
        try:
            y = y + np.union1d(x[i], x[i])
        except ValueError:
            y = np.union1d(x, x)[0]
    return inner(y)


def test_what_is_inside_of_a_refused_statement_is_said_as_well() -> None:
    with pytest.raises(UnsupportedError) as caught:
        grad(many_mistakes)(V)
    said = [violation.message for violation in caught.value.violations]
    assert said == [
        "np.setdiff1d has no derivative rule",
        "np.union1d has no derivative rule",
        "np.union1d has no derivative rule",
    ]


def list_of_last_turn(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i > 0:
            s = s + p[0] * p[-1]  # noqa: F821
        p = [x * x] * (i + 2)  # noqa: F841
    return s


def test_a_container_without_a_value_before_its_loop_has_an_adjoint_from_the_turn_that_reads_it() -> None:
    assert grad(list_of_last_turn)(0.7) == pytest.approx(numeric_gradient(list_of_last_turn, (0.7,)))


def assigned_in_a_comprehension(x: Any) -> Any:
    both = [(last := v) for v in (x[0], x[1])]
    return last * len(both)


def test_a_name_that_a_comprehension_assigns() -> None:
    np.testing.assert_array_equal(grad(assigned_in_a_comprehension)(V), [0.0, 2.0, *np.zeros(V.size - 2)])


def starred(x: Any) -> Any:
    return math.hypot(*x[:2])


def test_an_unknown_call_is_what_is_refused_and_not_what_it_may_write() -> None:
    with pytest.raises(UnsupportedError) as caught:
        grad(starred)(V)
    assert [violation.message for violation in caught.value.violations] == ["math.hypot(...) is called with * or **"]
    assert_located(caught.value, starred)
