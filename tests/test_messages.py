"""Errors as a new user meets them: the true cause, once, where it is, with the calls that led there and a remedy."""

from __future__ import annotations

import functools
import importlib
import linecache
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from s2sad import grad, stop_gradient
from s2sad.errors import S2SADError, UnsupportedError
from s2sad.frontend.lower import lower
from s2sad.frontend.source import read_source
from tests.language.support import case, check_gradient
from tests.oracle import numeric_gradient
from tests.sources import function_of

X = np.array([0.5, 1.0, 2.0])
WEIGHTS = np.array([1.0, 2.0, 3.0])
LISTED = [np.ones(3), np.zeros(3)]
HISTORY: list[Any] = []


def line_of(f: Callable[..., Any], text: str) -> int:
    """The line of a function's file that has a text, from the function on."""
    lines = Path(f.__code__.co_filename).read_text(encoding="utf-8").splitlines()
    first = f.__code__.co_firstlineno
    return next(n for n, line in enumerate(lines[first - 1 :], first) if text in line)


def refused(f: Callable[..., Any], *args: Any) -> UnsupportedError:
    with pytest.raises(UnsupportedError) as caught:
        grad(f)(*(args or (X,)))
    return caught.value


def only(f: Callable[..., Any], *args: Any) -> Any:
    """The one violation."""
    error = refused(f, *args)
    assert len(error.violations) == 1, str(error)
    return error.violations[0]


# -- methods, objects and classes --------------------------------------------------------------------------------------


class Dense:
    """A layer that also counts its calls in one method."""

    def __init__(self, w: Any, b: Any) -> None:
        self.w = w
        self.b = b
        self.count = 0

    def forward(self, x: Any) -> Any:
        return np.tanh(x @ self.w + self.b)

    def predict(self, x: Any, weights: Any) -> Any:
        self.count += 1
        return x * weights

    def twice(self, x: Any) -> Any:
        return self.forward(x) + self.forward(2.0 * x)

    def __call__(self, x: Any) -> Any:
        return np.tanh(x @ self.w)


LAYER = Dense(np.ones((3, 2)) / 3.0, np.zeros(2))
PARTIAL = functools.partial(np.multiply, 2.0)


def method_of_a_known_class(x: Any) -> Any:
    return np.sum(LAYER.forward(x) ** 2)


def function_of_the_class(x: Any) -> Any:
    return np.sum(Dense.forward(LAYER, x) ** 2)


def forward(w: Any, b: Any, x: Any) -> Any:
    return np.tanh(x @ w + b)


def function_of_its_values(x: Any) -> Any:
    return np.sum(forward(LAYER.w, LAYER.b, x) ** 2)


def twice_of_the_class(x: Any) -> Any:
    return np.sum(LAYER.twice(x))


def method_of_an_argument(x: Any, layer: Any) -> Any:
    return np.sum(layer.forward(x) ** 2)


def method_of_an_attribute(x: Any, network: Any) -> Any:
    return np.sum(network.layer.forward(x))


def method_that_counts(x: Any) -> Any:
    return np.sum(LAYER.predict(x, WEIGHTS) * WEIGHTS)


def object_called(x: Any) -> Any:
    return np.sum(LAYER(x))


def partial_called(x: Any) -> Any:
    return np.sum(PARTIAL(x))


@functools.cache
def behind_a_cache(x: Any) -> Any:
    return x * 2.0


def cache_called(x: Any) -> Any:
    return behind_a_cache(x[0])


def parameter_called(x: Any, f: Any) -> Any:
    return np.sum(f(x))


def test_methods_and_objects_that_are_called() -> None:
    check_gradient(case(method_of_a_known_class, X))
    check_gradient(case(function_of_the_class, X))
    check_gradient(case(function_of_its_values, X))
    check_gradient(case(object_called, X))
    check_gradient(case(partial_called, X))
    for f, last in ((method_of_an_argument, LAYER), (method_of_an_attribute, SimpleNamespace(layer=LAYER))):
        expected = numeric_gradient(lambda x, f=f, last=last: f(x, last), (X,))
        np.testing.assert_allclose(grad(f)(X, last), expected, rtol=1e-7)
    np.testing.assert_allclose(grad(parameter_called)(X, np.sin), np.cos(X))
    np.testing.assert_allclose(numeric_gradient(twice_of_the_class, (X,)), grad(twice_of_the_class)(X), rtol=1e-7)


def test_a_method_that_changes_its_object_is_followed() -> None:
    before = LAYER.count
    gradient = grad(method_that_counts)(X)
    assert LAYER.count == before + 1
    np.testing.assert_allclose(gradient, numeric_gradient(method_that_counts, (X,)), rtol=1e-7)


def test_a_cache_takes_what_is_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        grad(lambda x: np.sum(behind_a_cache(x)))(X)
    np.testing.assert_array_equal(grad(cache_called)(X), [2.0, 0.0, 0.0])


def method_of_arrays(x: Any) -> Any:
    return np.sum(x.tobytes())


def test_a_method_of_arrays_is_said_to_have_no_rule() -> None:
    assert only(method_of_arrays).message == "the method x.tobytes(...) has no derivative rule"


# -- constants of the module beside what is not understood -------------------------------------------------------------


def constant_given_to_a_method(x: Any) -> Any:
    return np.sum(LAYER.predict(2.0, WEIGHTS) * x)


def copy_given_to_a_method(x: Any) -> Any:
    return np.sum(LAYER.predict(2.0, np.copy(WEIGHTS)) * x)


def test_a_constant_that_a_call_may_write_is_not_said_to_be_written() -> None:
    found = only(constant_given_to_a_method)
    assert found.message == "WEIGHTS is the module's, and LAYER.predict(...) may write into it"
    assert found.remedy == "Give it a copy: np.copy(WEIGHTS)."
    check_gradient(case(copy_given_to_a_method, X))


def writes_a_constant(x: Any) -> Any:
    np.copyto(LISTED[len(x) % 2], 0.0)
    return np.sum(x * LISTED[0])


def test_a_constant_that_is_written_is_said_to_be() -> None:
    assert only(writes_a_constant).message == "LISTED is the module's, and is written in place"


def keeps_in_the_module(x: Any) -> Any:
    HISTORY.append(np.sum(x))
    return np.sum(x * x) * HISTORY[-1]


def keeps_a_constant_in_the_module(x: Any) -> Any:
    HISTORY.append(stop_gradient(np.sum(x)))
    return np.sum(x * x)


def keeps_the_object_in_the_module(x: Any) -> Any:
    y = x * x
    HISTORY.append(stop_gradient(y))
    HISTORY.pop()[0] = 3.0
    return np.sum(y)


def test_a_list_of_the_module_that_keeps_what_is_differentiated() -> None:
    HISTORY.clear()
    found = only(keeps_the_object_in_the_module)
    assert found.message == ("HISTORY.append(...) puts what is differentiated into HISTORY, which is the module's")
    assert found.remedy == ("Return it as well (has_aux=True), or put a constant there: stop_gradient(np.copy(...)).")
    assert HISTORY == []
    np.testing.assert_allclose(grad(keeps_in_the_module)(X), 2.0 * X * np.sum(X) + X @ X)
    assert HISTORY.pop() == np.sum(X)
    np.testing.assert_array_equal(grad(keeps_a_constant_in_the_module)(X), 2.0 * X)
    assert HISTORY == [3.5]


# -- once, at the innermost line, with the calls -----------------------------------------------------------------------


class Solver:
    """An object that is not taken apart, so that its methods are met at run time."""

    __slots__ = ()

    def solve_it(self, a: Any, v: Any) -> Any:
        return np.union1d(a * v, a * v)


def bottom(v: Any, solver: Any) -> Any:
    return np.union1d(WEIGHTS * v, WEIGHTS * v)


def met(v: Any, solver: Any) -> Any:
    return solver.solve_it(WEIGHTS, v)


def through(v: Any, solver: Any) -> Any:
    w = met(v, solver) * WEIGHTS
    return np.sum(w)


def middle(v: Any, solver: Any) -> Any:
    w = bottom(v, solver) * WEIGHTS
    return w + 1.0


def top(v: Any, solver: Any) -> Any:
    return np.sum(middle(v, solver) * middle(2.0 * v, solver))


def test_the_calls_that_led_there_are_said_and_nothing_that_follows() -> None:
    found = only(top, X, Solver())
    assert found.message == "np.union1d has no derivative rule"
    assert found.place.line == line_of(bottom, "np.union1d")
    assert [p.line for p in found.calls] == [line_of(middle, "w = bottom"), line_of(top, "np.sum(middle")]
    lines = str(found).splitlines()
    assert lines[3].startswith("called from ")
    assert lines[3].endswith(f":{line_of(middle, 'w = bottom')}:9: w = bottom(v, solver) * WEIGHTS")
    assert lines[4].endswith("return np.sum(middle(v, solver) * middle(2.0 * v, solver))")
    assert lines[5] == found.remedy


def test_what_is_found_at_run_time_is_said_with_the_calls_that_led_there() -> None:
    found = only(through, X, Solver())
    assert found.message == "np.union1d has no derivative rule"
    assert found.place.line == line_of(Solver.solve_it, "np.union1d")
    assert line_of(met, "solver.solve_it") in [p.line for p in found.calls]


def puts_into_the_module(v: Any) -> Any:
    LISTED[len(v) % 2][0] = v[0]
    return v * 2.0


def hands_on(v: Any) -> Any:
    return puts_into_the_module(v) * 3.0


def writes_far_below(x: Any) -> Any:
    y = hands_on(x)
    return np.sum(y)


def test_a_write_into_the_module_is_refused_where_it_is() -> None:
    found = only(writes_far_below)
    assert found.message == "LISTED is the module's, and what is differentiated is written into it"
    assert found.place.line == line_of(puts_into_the_module, "LISTED[")
    assert [p.line for p in found.calls] == [line_of(hands_on, "puts_into"), line_of(writes_far_below, "y = hands")]


def test_many_ways_lead_to_a_write_into_the_module() -> None:
    """Each function calls the next one twice, so that 2 ** 30 ways lead to the write; and one calls itself."""
    lines = ["def f0(v):", "    WEIGHTS[int(v[0] > 0.5)][0] = v[0]", "    return v * 2.0"]
    for i in range(1, 31):
        lines += [f"def f{i}(v):", f"    return f{i - 1}(v) + f{i - 1}(v * 2.0)"]
    lines += ["def f31(v, n):", "    if n == 0:", "        return f30(v)", "    return f31(v[1:], n - 1)"]
    lines += ["def whole(v):", "    return np.sum(f31(v, 2))"]
    space: dict[str, Any] = {"np": np, "WEIGHTS": [np.ones(3), np.ones(3)]}
    linecache.cache["<ways>"] = (0, None, [f"{line}\n" for line in lines], "<ways>")
    exec(compile("\n".join(lines), "<ways>", "exec"), space)
    found = only(space["whole"])
    assert found.message == "WEIGHTS is the module's, and what is differentiated is written into it"
    assert found.place.line == 2
    # The shortest way, and of those the one that comes first in the order of the lines.
    assert [p.line for p in found.calls] == [*range(5, 64, 2), 66, 69]


def with_class(v: Any) -> Any:
    class Local(Any): ...

    v[0] = 1.0
    return v * WEIGHTS


def calls_what_cannot_be_read(x: Any) -> Any:
    y = x * x
    z = with_class(y)
    y[1] = 2.0
    return np.sum(z * y)


def test_what_cannot_be_read_is_the_cause() -> None:
    found = only(calls_what_cannot_be_read)
    assert found.message == CLASS_INSIDE
    assert found.place.line == line_of(with_class, "class Local")
    assert [p.line for p in found.calls] == [line_of(calls_what_cannot_be_read, "z = with_class")]


def three_faults(x: Any) -> Any:
    a = np.union1d(x, x)
    return np.sum(a) + np.sum(np.setdiff1d(x, x)) + np.sum(bottom(x, LAYER))


def test_several_causes_are_all_said() -> None:
    assert [v.place.line for v in refused(three_faults).violations] == sorted(
        [
            line_of(bottom, "np.union1d"),
            line_of(three_faults, "np.union1d"),
            line_of(three_faults, "np.setdiff1d"),
        ]
    )


def test_a_callee_without_source_is_refused_at_its_call() -> None:
    space: dict[str, Any] = {}
    exec("def made(v):\n    return v * 2.0\n", space)
    made = space["made"]

    def f(x: Any) -> Any:
        return np.sum(made(x))

    found = only(f)
    assert "made (<string>:1) has no source text" in found.message
    assert found.place.line == line_of(f, "made(x)")


CLASS_INSIDE = "a class defined inside a differentiated function is not supported"

# -- libraries ---------------------------------------------------------------------------------------------------------

LIBRARY = """
import functools
import numpy as np
class Helper:
    def __getattribute__(self, name): return object.__getattribute__(self, name)
    def logpdf(self, v): return -v * v
helper = Helper()
def plain(x):
    return np.sum(inner(x))
def inner(x):
    return x * x
def strange(x, *, scale=1.0):
    y = x * scale
    class Local(Exception): pass
    y = np.union1d(y, y)
    return np.sum(y)
def deep(x):
    return strange(x) + np.sum(np.union1d(x, x))
def writing(a, b):
    class Local(Exception): pass
    a[0] = 0.0
    return a * b
def calling(f, x):
    class Inner(Exception): pass
    return f(x)
def checked(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x)
    return wrapper
@checked
def decorated(x):
    class Local(Exception): pass
    return np.sum(x)
"""

PROGRAM = """
import numpy as np
from s2sad import stop_gradient
import library
from library import strange, writing
A = np.array([1.0, 2.0, 3.0])
def plain(x):
    return library.plain(x)
def one(x):
    return strange(x)
def two(x):
    return library.deep(x) * library.strange(x, scale=2.0)
def write(x):
    return np.sum(writing(A, x))
def wrong(x):
    return library.strange(x, 3.0)
def call(x):
    return library.calling(lambda t: t * x[0], 1.0)
def method(x):
    return np.sum(library.helper.logpdf(x))
def decorated(x):
    return library.decorated(x)
def through(x):
    return one(x) + 1.0
def copied(x):
    return np.sum(x) * strange(stop_gradient(np.copy(x)))
def copied_too(x):
    return np.sum(writing(A, stop_gradient(np.copy(x))) * x)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """A program that uses an installed package."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "library.py").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("program")
    for name in ("program", "library"):
        sys.modules.pop(name, None)


def test_a_library_function_that_can_be_followed_is(program: Any) -> None:
    np.testing.assert_array_equal(grad(program.plain)(X), 2.0 * X)


@pytest.mark.parametrize(
    ("name", "called", "where"),
    [
        ("one", "strange", "library.py:14"),
        ("write", "writing", "library.py:20"),
        ("call", "library.calling", "library.py:24"),
        ("decorated", "library.decorated", "library.py:33"),
    ],
)
def test_a_library_function_is_refused_as_a_whole(program: Any, name: str, called: str, where: str) -> None:
    f = getattr(program, name)
    found = only(f)
    assert found.message == f"{called} has no derivative rule, and its source cannot be followed as a whole ({where})"
    assert found.place.file == program.__file__
    assert found.place.line == line_of(f, called)
    assert found.remedy == (
        "Write it with operations of NumPy; or, if no derivative should pass, give it a constant copy of each array: "
        "stop_gradient(np.copy(x))."
    )


def test_arguments_that_a_library_function_does_not_take(program: Any) -> None:
    found = only(program.wrong)
    assert found.message == "library.strange cannot be called so: too many positional arguments"


def test_each_library_function_is_refused_once(program: Any) -> None:
    error = refused(program.two)
    assert [v.message.partition(" has ")[0] for v in error.violations] == ["library.deep", "library.strange"]


def test_a_library_function_below_a_function_of_the_users(program: Any) -> None:
    found = only(program.through)
    assert found.place.line == line_of(program.one, "strange(x)")
    assert [p.line for p in found.calls] == [line_of(program.through, "one(x)")]


def test_a_method_of_a_librarys_object(program: Any) -> None:
    found = only(program.method)
    assert found.message.startswith("library.helper.logpdf(...) is a method of the class Helper")
    assert found.remedy.startswith("Write it with operations of NumPy")


def test_the_remedy_for_libraries_works(program: Any) -> None:
    np.testing.assert_allclose(grad(program.copied)(X), program.strange(X))


def test_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    integrate = pytest.importorskip("scipy.integrate")
    sparse = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    stats = pytest.importorskip("scipy.stats")
    matrix = sparse.csr_matrix(np.diag([1.0, 2.0, 3.0]))

    def bessel(x: Any) -> Any:
        return np.sum(special.lmbda(1, x[0])[0])

    def slope_of_bessel(x: Any) -> Any:
        return np.sum(special.jvp(1, x))

    def spsolve(x: Any) -> Any:
        return np.sum(linalg.spsolve(matrix, x) ** 2)

    def quad(x: Any) -> Any:
        return integrate.tanhsinh(lambda t: t * x[0], 0.0, 1.0).integral

    def support(x: Any) -> Any:
        return np.sum(stats.norm.support(x[0]))

    found = only(bessel)
    assert "lmbda has no derivative rule, and its source cannot be followed as a whole (" in found.message
    assert found.place.line == bessel.__code__.co_firstlineno + 1
    np.testing.assert_allclose(grad(slope_of_bessel)(X), special.jvp(1, X, 2), atol=1e-14)
    found = only(quad)
    assert found.message == "integrate.tanhsinh has no derivative rule"
    assert "leggauss" in found.remedy
    np.testing.assert_allclose(grad(spsolve)(X), 2 * X / np.array([1.0, 4.0, 9.0]))
    assert only(support).message.startswith("stats.norm.support(...) is a method of the class")

    def copied_bessel(x: Any) -> Any:
        return np.sum(x * special.lmbda(1, stop_gradient(np.copy(x))[0])[0][1])

    def copied_spsolve(x: Any) -> Any:
        return np.sum(x * linalg.spsolve(matrix, stop_gradient(np.copy(x))))

    def copied_quad(x: Any) -> Any:
        y = stop_gradient(np.copy(x))
        return np.sum(x) * integrate.quad(lambda t: t * y[0], 0.0, 1.0)[0]

    np.testing.assert_allclose(grad(copied_bessel)(X), np.full(3, special.lmbda(1, X[0])[0][1]))
    np.testing.assert_allclose(grad(copied_spsolve)(X), X / [1.0, 2.0, 3.0])
    np.testing.assert_allclose(grad(copied_quad)(X), 0.5 * X[0])


def test_scipy_that_can_be_followed() -> None:
    integrate = pytest.importorskip("scipy.integrate")

    def simpson(x: Any) -> Any:
        return integrate.simpson(x)

    # Another version of SciPy may write it otherwise; then it is refused as a whole.
    try:
        gradient = grad(simpson)(X)
    except S2SADError as refusal:
        message = str(refusal)
    else:
        message = "integrate.simpson has no derivative rule"
        np.testing.assert_allclose(gradient, [1.0 / 3.0, 4.0 / 3.0, 1.0 / 3.0])
    assert "integrate.simpson has no derivative rule" in message


def test_a_remedy_for_a_function_of_scipy() -> None:
    optimize = pytest.importorskip("scipy.optimize")

    def fitted(x: Any) -> Any:
        return optimize.linprog(x, [[1.0, 1.0]], [1.0])

    assert "np.linalg.solve" in only(fitted).remedy


def test_compiled_functions_that_are_called_for_their_effects() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    module = pytest.importorskip("scipy.ndimage._nd_image")

    def followed(x: Any) -> Any:
        return ndimage.generic_filter(x, np.median, 3)[0]

    def called(x: Any) -> Any:
        out = np.zeros_like(x)
        module.uniform_filter1d(x, 3, 0, out, 2, 0.0, 0)
        return out[0]

    def constant(x: Any) -> Any:
        out = np.zeros_like(x)
        module.uniform_filter1d(stop_gradient(np.copy(x)), 3, 0, out, 2, 0.0, 0)
        return np.sum(out * x)

    with pytest.raises(UnsupportedError, match=r"ndimage\.generic_filter"):
        grad(followed)(X)
    assert only(called).message == "module.uniform_filter1d(...) has no source, and may write into what it is given"
    np.testing.assert_allclose(grad(constant)(X), ndimage.uniform_filter(X, 3))


@pytest.mark.parametrize("stars", ["*", "**"])
def test_a_parameter_with_stars_is_named_as_it_is_written(stars: str) -> None:
    source = read_source(function_of(f"def f(x, {stars}more): return x"))
    with pytest.raises(UnsupportedError, match=re.escape(f"the parameter {stars}more is not supported")):
        lower(source, ["x"])
