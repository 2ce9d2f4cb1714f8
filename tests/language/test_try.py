"""``try`` in all its forms: the derivative is of the way that the run has taken."""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient
from tests.random_objects import load

V = np.array([0.3, -1.2, 2.5])
INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
DEFINITE = np.array([[3.0, 1.0], [1.0, 2.0]])
TABLE = {"a": 2.0, "b": -1.0}


def overflow(x: Any) -> Any:
    try:
        y = math.exp(x)
    except OverflowError:
        y = 1e100 * x
    return y * x


def returned(x: Any) -> Any:
    try:
        return math.log(x)
    except ValueError:
        return x * x


def division(x: Any) -> Any:
    try:
        r = 1.0 / (x - 2.0)
    except ZeroDivisionError:
        return 7.0 * x
    return r * r


def cholesky(k: Any) -> Any:
    try:
        low = np.linalg.cholesky(k)
    except np.linalg.LinAlgError:
        low = np.linalg.cholesky(k + 3.0 * np.eye(2))
    return np.sum(low * low * low)


def growing_jitter(k: Any, n: int) -> Any:
    jitter = 0.0
    for _ in range(n):
        try:
            low = np.linalg.cholesky(k + jitter * np.eye(2))
            break
        except np.linalg.LinAlgError:
            jitter = 3.0 if jitter == 0.0 else 10.0 * jitter
            if jitter > 1e6:
                raise
    return np.sum(np.log(np.diag(low)))


def growing_forever(k: Any) -> Any:
    jitter = 2e-2
    while True:
        try:
            low = np.linalg.cholesky(k + jitter * np.eye(2))
        except np.linalg.LinAlgError:
            jitter *= 10.0
            continue
        return np.sum(low)


def looked_up(x: Any, key: str) -> Any:
    try:
        w = TABLE[key]
    except KeyError:
        w = 0.5
    return w * x * x


def looked_up_at_once(x: Any, key: str) -> Any:
    def weight(k: str) -> float:
        try:
            return TABLE[k]
        except KeyError:
            return 4.0

    return weight(key) * x * x


def finally_only(x: Any) -> Any:
    y = x
    try:
        y = x * x
    finally:
        print("closed")
    return y * x


def returned_through_finally(x: Any) -> Any:
    try:
        print("open")
        if x > 1.0:
            return x * x
        y = 3.0 * x
    finally:
        print("closed")
    return y


def left_through_finally(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        try:
            if i == 1:
                continue
            if i == 4:
                break
            total = total + x**i
        finally:
            print(i)
            total = total * 1.5
    return total


def everything(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        try:
            if i % 4 == 1:
                raise KeyError(i)
            if i % 4 == 2:
                raise IndexError(i)
            term = math.sqrt(x - i)
        except KeyError:
            total = total + x
        except (IndexError, ValueError) as error:
            print(type(error).__name__)
            total = total * x
        else:
            total = total + term * x
        finally:
            total = total + 0.1 * x
    return total


def nested(x: Any) -> Any:
    try:
        try:
            y = math.log(x)
        except ZeroDivisionError:
            y = x
        z = y * math.sqrt(x + 5.0)
    except ValueError:
        z = 2.0 * x * x
    return z


def raised_in_handler(x: Any) -> Any:
    try:
        try:
            y = math.log(x)
        except ValueError as error:
            raise OverflowError("outer") from error
    except OverflowError:
        y = x * x * x
    return y


def raised_by_callee(x: Any) -> Any:
    try:
        y = checked_root(x)
    except ArithmeticError:
        y = -x * x
    return y


def checked_root(x: Any) -> Any:
    if x < 0.0:
        raise ArithmeticError("negative")
    s = x
    for _ in range(3):
        s = 0.5 * (s + x / s)
    return s


def loop_that_raises(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        try:
            s = x
            for k in range(4):
                s = s * math.sin(s)
                if i % 2 == 1 and k == 2:
                    raise ValueError("half way")
            total = total + s * s
        except ValueError:
            total = total * x
    return total


def loop_that_raises_once(v: Any, limit: float) -> Any:
    s = 0.0
    try:
        for value in v:
            s = math.exp(value) * value + s
            if s > limit:
                raise OverflowError
    except OverflowError:
        return v[0] * v[1]
    return s


def counted(v: Any) -> Any:
    """The handler reads a variable that is no number to differentiate, as of when the body raises."""
    i = -1
    try:
        for i in range(len(v)):
            if v[i] < 0.0:
                raise ValueError
        scale = 1.0
    except ValueError:
        scale = 10.0 * (i + 1)
    return scale * np.sum(v * v)


def assigned_before_it_raises(x: Any) -> Any:
    y = x
    try:
        y = x * x
        z = math.log(y - 4.0)
    except ValueError:
        z = 5.0 * y
    return z * y


def written_before_it_raises(v: Any, i: int) -> Any:
    a = v * 2.0
    try:
        a[0] = a[1] * a[2]
        a[1] = a[i] * a[0]
        a[2] = 3.0 * a[1]
    except IndexError:
        a[2] = a[0] * a[0]
    return np.sum(a * a)


def appended_before_it_raises(x: Any, n: int) -> Any:
    items = []
    for i in range(n):
        try:
            items.append(x * i)
            items.append(math.sqrt(x - i))
        except ValueError:
            items.append(x * x)
    return sum(items)


def with_message(x: Any) -> Any:
    try:
        y = math.log(x)
    except ValueError as error:
        raise RuntimeError(f"no logarithm of {x}: {error}") from error
    return y * x


def progress(v: Any) -> Any:
    total = 0.0
    try:
        for i, value in enumerate(v):
            total = total + value * i
    except ZeroDivisionError as error:
        raise RuntimeError(f"at {i}") from error
    return total * total


def passing(x: Any) -> Any:
    y = 2.0 * x
    try:
        y = math.acos(x)
    except ValueError:
        pass
    return y * y


def suppressed(x: Any) -> Any:
    y = 2.0 * x
    with contextlib.suppress(ValueError, ZeroDivisionError):
        y = math.acos(x)
    return y * y


def bare(x: Any) -> Any:
    try:
        y = x / (x - 1.0)
    except:  # noqa: E722
        y = x
    return y * x


def _unused_logarithm(x: Any) -> Any:
    y = math.log(x)  # noqa: F841
    return 2.0 * x


def raised_by_what_nobody_reads(x: Any) -> Any:
    try:
        y = _unused_logarithm(x)
    except ValueError:
        y = x * x
    return y


def _with_logarithm(f: Any, x: Any) -> Any:
    try:
        y = f(x)
    except ValueError:
        y = x * x
    return y


def raised_by_what_is_met(x: Any, functions: Any) -> Any:
    return _with_logarithm(functions["f"], x)


def any_exception(x: Any) -> Any:
    try:
        y = checked_root(x) * x
    except Exception:
        y = x * x
    return y


def imported(x: Any) -> Any:
    try:
        import nowhere_to_be_found as backend
    except ImportError:
        backend = None
    return x * x if backend is None else x


def both_ways_in_a_loop(v: Any) -> Any:
    out = np.zeros(3)
    for i in range(3):
        try:
            out[i] = math.log(v[i]) * v[i]
        except ValueError:
            out[i] = v[i] * v[i]
    return np.sum(out * out)


def type_test(x: Any) -> Any:
    try:
        n = len(x)
    except TypeError:
        n = 1
    return np.sum(x * x) / n


def left_before_else(x: Any) -> Any:
    y = x
    try:
        if y > 1.0:
            return y * y
    except ValueError:
        y = 3.0
    else:
        y = y * 5.0
    return y


def left_before_else_at_the_end(x: Any) -> Any:
    try:
        if x > 1.0:
            return x * x
        y = math.log(x)
    except ValueError:
        return 3.0 * x
    else:
        return y * 5.0


def left_before_else_in_a_loop(x: Any) -> Any:
    total = x
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                break
        except ValueError:
            total = total + 1.0
        else:
            total = total * x
        finally:
            total = total * 1.5
    return total


def handlers_in_a_handler(x: Any, n: int) -> Any:
    try:
        y = math.log(x)
    except ZeroDivisionError:
        y = 1.0
    except ValueError:
        try:
            y = (x, 2.0 * x)[n]
        except KeyError:
            y = 5.0 * x
        except IndexError:
            y = x * x * x
    return y * x


def generator_of_defaults(x: Any, options: dict[str, float]) -> Any:
    try:
        a, b = options["a"], options["b"]
    except KeyError as missing:
        print("missing", missing)
        a, b = 1.0, 2.0
    return a * x * x + b * x


def only_tested(x: Any) -> Any:
    y = x
    try:
        if y > 0.5:
            pass
    except ValueError:
        y = x * x
    return np.sum(y)


def only_tested_in_a_loop(x: Any) -> Any:
    y, z = x, 2.0 * x
    try:
        for i in range(3):
            if y[i] > 0.5:
                continue
    except (IndexError, TypeError):
        y = x * x
    return np.sum(y * z)


def only_run_through(x: Any, items: Any) -> Any:
    y = x
    try:
        for _ in items:
            pass
    except TypeError:
        y = x * x
    return np.sum(y)


def nothing_is_tried(x: Any) -> Any:
    y = x
    try:
        z = 3.0
    except ValueError:
        y = x * x
    return y * z


CASES = [
    case(overflow, 1.5),
    case(overflow, 800.0, rtol=1e-5),
    case(returned, 2.0),
    case(returned, -2.0),
    case(division, 3.0),
    case(division, 2.0, expected=(7.0,)),
    case(cholesky, DEFINITE),
    case(cholesky, INDEFINITE),
    case(growing_jitter, DEFINITE, 5, wrt=0),
    case(growing_jitter, INDEFINITE, 5, wrt=0),
    case(growing_forever, DEFINITE),
    case(growing_forever, INDEFINITE),
    case(looked_up, 1.5, "a", wrt=0),
    case(looked_up, 1.5, "z", wrt=0),
    case(looked_up_at_once, 1.5, "b", wrt=0),
    case(looked_up_at_once, 1.5, "z", wrt=0),
    case(finally_only, 1.5),
    case(returned_through_finally, 1.5),
    case(returned_through_finally, 0.5),
    case(left_through_finally, 1.3, 3, wrt=0),
    case(left_through_finally, 1.3, 7, wrt=0),
    case(everything, 2.5, 9, wrt=0),
    case(nested, 2.0),
    case(nested, -2.0),
    case(raised_in_handler, 2.0),
    case(raised_in_handler, -2.0),
    case(raised_by_callee, 2.0),
    case(raised_by_callee, -2.0),
    case(loop_that_raises, 1.1, 6, wrt=0),
    case(loop_that_raises_once, V, 100.0, wrt=0),
    case(loop_that_raises_once, V, 1.0, wrt=0),
    case(counted, V),
    case(counted, np.abs(V), name="counted_to_the_end"),
    case(assigned_before_it_raises, 3.0),
    case(assigned_before_it_raises, 1.5),
    case(written_before_it_raises, V, 2, wrt=0),
    case(written_before_it_raises, V, 7, wrt=0),
    case(appended_before_it_raises, 2.5, 5, wrt=0),
    case(with_message, 2.0),
    case(progress, V),
    case(passing, 0.5),
    case(passing, 2.0),
    case(suppressed, 0.5),
    case(suppressed, 2.0),
    case(bare, 3.0),
    case(bare, 1.0, expected=(2.0,)),
    case(raised_by_what_nobody_reads, -2.0),
    case(raised_by_what_nobody_reads, 2.0),
    case(raised_by_what_is_met, -2.0, {"f": _unused_logarithm}, wrt=0),
    case(any_exception, 2.0),
    case(any_exception, -2.0),
    case(both_ways_in_a_loop, V),
    case(type_test, V),
    case(type_test, 1.5),
    case(left_before_else, 1.5),
    case(left_before_else, 0.5),
    *[case(left_before_else_at_the_end, x) for x in (1.5, 0.5, -0.5)],
    case(left_before_else_in_a_loop, 1.5),
    *[case(handlers_in_a_handler, x, n, wrt=0) for x, n in ((1.5, 0), (-1.5, 1), (-1.5, 2))],
    case(generator_of_defaults, 1.5, {"a": 3.0, "b": 1.0}, wrt=0),
    case(generator_of_defaults, 1.5, {"a": 3.0}, wrt=0),
    case(only_tested, V),
    case(only_tested, 1.5),
    case(only_tested_in_a_loop, V),
    case(only_tested_in_a_loop, V[:2]),
    case(only_tested_in_a_loop, 1.5),
    case(only_run_through, V, 3, wrt=0),
    case(only_run_through, V, [3], wrt=0),
    case(nothing_is_tried, 1.5),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


@pytest.mark.parametrize(
    ("f", "x", "error"),
    [(with_message, -1.0, RuntimeError), (growing_jitter, -np.eye(2) * 1e9, np.linalg.LinAlgError)],
    ids=["with_message", "growing_jitter"],
)
def test_what_is_raised(f: Callable[..., Any], x: Any, error: type[Exception]) -> None:
    """The exception, its cause and its context are those of the function."""
    args = (x, 20) if f is growing_jitter else (x,)
    with pytest.raises(error) as own:
        f(*args)
    with pytest.raises(error) as found:
        grad(f)(*args)
    assert str(found.value) == str(own.value)
    assert type(found.value.__cause__) is type(own.value.__cause__)
    assert type(found.value.__context__) is type(own.value.__context__)


def test_what_is_printed_before_it_raises() -> None:
    def f(x: Any) -> Any:
        try:
            return math.log(x)
        finally:
            seen.append("closed")

    seen: list[str] = []
    with pytest.raises(ValueError, match="math domain error|expected a positive"):
        grad(f)(-1.0)
    assert seen == ["closed"]
    assert value_and_grad(f)(2.0) == (math.log(2.0), 0.5)
    assert seen == ["closed", "closed"]


class Keeper:
    """An object whose method keeps what it is given."""

    kept: Any = None

    def keep(self, x: Any) -> Any:
        self.kept = x
        return x


KEEPER = Keeper()


def test_our_own_errors_are_not_caught() -> None:
    """What is refused as it runs is said, although the function catches any exception."""

    def f(x: Any, keep: Any) -> Any:
        try:
            y = keep(x) * x
        except Exception:
            y = x
        return y

    with pytest.raises(S2SADError):
        grad(f)(2.0, KEEPER.keep)


def test_what_is_not_known_of_a_loop() -> None:
    def f(v: Any) -> Any:
        s = 1.0
        try:
            for value in v:
                s = s * math.log(value)
        except ValueError:
            pass
        return s

    assert np.allclose(grad(f)(abs(V)), numeric_gradient(f, (abs(V),)), rtol=1e-7)
    raising = np.array([-1.0, 0.5, 2.0])
    assert value_and_grad(f)(raising)[0] == 1.0  # nothing has been assigned yet
    assert np.array_equal(grad(f)(raising), np.zeros(3))
    with pytest.raises(UndefinedDerivativeError, match="ValueError is caught, .* when s may have been assigned"):
        grad(f)(raising[::-1])


def _halve(a: Any) -> None:
    a[0] = a[0] / 2.0
    a[5] = 1.0


def half_written(v: Any) -> Any:
    a = v * 1.0
    with contextlib.suppress(IndexError):
        _halve(a)
    return np.sum(a * a)


def half_stored(v: Any) -> Any:
    a = v * 1.0
    with contextlib.suppress(IndexError):
        a[0], a[7] = a[1], a[2]
    return np.sum(a * a)


def taken_before(v: Any) -> Any:
    items = [v[0], v[1], v[2]]
    y = 0.0
    with contextlib.suppress(ValueError):
        y = math.log(items.pop())
    return y + sum(items)


@pytest.mark.parametrize("f", [half_written, half_stored, taken_before])
def test_what_may_be_done_by_halves(f: Callable[..., Any]) -> None:
    """That an exception has come when a part had been done is said as it comes."""
    with pytest.raises(UndefinedDerivativeError, match="may have been assigned or written already"):
        grad(f)(V if f is not taken_before else -V)


#: What a handler of `held` makes of the exception; the last ones are constants.
HELD = {
    "y = error.args[0]": False,
    "y = float(str(error))": False,
    "y = float(f'{error}')": False,
    "y, = error.args": False,
    "kept = error\ny = kept.args[0]": False,
    "y = getattr(error, 'args')[0]": False,
    "q, w = error.args[0], 2.0\nq[...] = w\ny = x": False,
    "kept = error\nkept.args[0][...] = 2.0\ny = x": False,
    "y = x * len(str(error)[:1])": True,
    "print(error)\ny = x if '7' in str(error) else x**2": True,
    "y = x * isinstance(error, ValueError)": True,
}


@pytest.mark.parametrize("number", range(len(HELD)))
def test_what_an_exception_holds(number: int) -> None:
    handler = textwrap.indent(list(HELD)[number], " " * 8)
    head = "def f(x):\n    try:\n        raise ValueError(x * x)\n    except ValueError as error:\n"
    text = f"{head}{handler}\n    return y\n"
    f = load(f"held_{number}", text)["f"]
    if list(HELD.values())[number]:
        assert grad(f)(2.0) == jvp(f, (2.0,), (1.0,))[1] == pytest.approx(numeric_gradient(f, (2.0,)))
        return
    for derivative in (grad(f), lambda x: jvp(f, (x,), (1.0,))):
        with pytest.raises(UnsupportedError, match="exception holds"):
            derivative(2.0)


def test_what_an_exception_of_a_call_says() -> None:
    def squared(x: Any) -> Any:
        raise ValueError(x * x)

    def f(x: Any) -> Any:
        try:
            y = squared(x)
        except ValueError as error:
            y = float(str(error))
        return y

    with pytest.raises(UnsupportedError, match="exception holds"):
        grad(f)(2.0)
