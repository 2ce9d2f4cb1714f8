"""Objects of subclasses of arrays: what NumPy and Python make of them, and their gradients."""

from __future__ import annotations

import ast
import linecache
import math
from typing import Any, ClassVar

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import S2SADError
from s2sad.ops.subclasses import OUTCOMES, UNSEEN, outcome_of
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.7, 1.2])
Q = np.array([0.3, -0.7, 1.2, 0.5])
PLAIN = np.array([1.0, 2.0, 0.5])


class Counted(np.ndarray):
    """Knows of how many objects of the class it was made one after the other, and the label of the first."""

    def __new__(cls, data: Any, label: Any) -> Any:
        made = np.asarray(data).view(cls)
        made.label = label
        return made

    def __array_finalize__(self, source: Any) -> None:
        if source is None:
            return
        self.label = getattr(source, "label", 1.0)
        self.made = getattr(source, "made", 0) + 1


class Finer(Counted):
    pass


class Observed(np.ndarray):
    """Notes each object that NumPy makes of the class."""

    made: ClassVar[list[Any]] = []

    def __array_finalize__(self, source: Any) -> None:
        if isinstance(source, Observed):
            self.made.append(source)


#: Arguments of the functions that take more or others than an object.
ARGUMENTS: dict[Any, str] = {
    np.cross: "a, b", np.outer: "a, b", np.concatenate: "[a, b]", np.hstack: "[a, b]",
    np.einsum: "'i,i', a, b", np.tensordot: "a, b, 1", np.interp: "a, b.cumsum(), b", np.convolve: "a, b",
    np.array_equal: "a, b", np.triu: "M", np.tril: "M", np.linalg.det: "M", float: "a[:1].reshape(())",
    int: "a[:1].reshape(())", bool: "a[:1]", np.ndarray.item: "a[:1]", np.reshape: "a, (3, 1)",
    np.ndarray.reshape: "a, 3, 1", np.clip: "a, 0.0, 1.0", np.ndarray.clip: "a, 0.0, 1.0", np.take: "a, [0]",
    np.ndarray.take: "a, [0]", np.repeat: "a, 2", np.ndarray.repeat: "a, 2", np.swapaxes: "M, 0, 1",
    np.ndarray.swapaxes: "M, 0, 1", np.dot: "M, b", np.ndarray.dot: "M, a",
    **dict.fromkeys((np.linalg.eigvalsh, np.linalg.matrix_rank, np.linalg.inv, np.linalg.cholesky), "M"),
    **dict.fromkeys((np.diagonal, np.ndarray.diagonal, np.trace, np.ndarray.trace, np.fliplr), "M"),
    **dict.fromkeys((np.vstack, np.column_stack, np.stack, np.dstack), "[a, b]"), np.where: "a > 1.0, a, b",
    **dict.fromkeys((np.inner, np.vdot, np.append, np.allclose, np.isclose, np.searchsorted), "a, b"),
    np.full_like: "a, 1.0", np.squeeze: "M[:1]", np.ndarray.squeeze: "M[:1]", np.expand_dims: "a, 0",
    np.moveaxis: "M, 0, 1", np.roll: "a, 1", np.pad: "a, 1", np.isin: "a, b", np.broadcast_to: "a, (2, 3)",
    **{f: "a[:1].reshape(())" for f in OUTCOMES if getattr(f, "__module__", "") == "math"}, math.atan2: "a[0], a[1]",
}  # fmt: skip


@pytest.mark.parametrize("function", OUTCOMES, ids=lambda f: getattr(f, "__qualname__", str(f)))
def test_the_class_of_results(function: Any) -> None:
    a, b = np.array([0.5, 1.0, 2.0]).view(Observed), np.array([1.0, 2.0, 0.5]).view(Observed)
    args = eval(ARGUMENTS.get(function, "a"), {"a": a, "b": b, "M": np.eye(3).view(Observed)})
    args = args if isinstance(args, tuple) else (args,)
    Observed.made.clear()
    result = function(*args)
    outcome = outcome_of(function)
    assert isinstance(result, Observed) == (outcome != "plain")
    assert function in UNSEEN or len(Observed.made) == (outcome != "plain")
    assert outcome == "plain" or Observed.made[0] is args[0]


def defined(text: str) -> Any:
    """The function ``f`` of a text."""
    name = f"<array_subclasses_{len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {**globals()}
    exec(compile(text, name, "exec"), space)
    return space["f"]


MADE = {
    "a": "Counted(x, 2.0)",
    "b": "Counted(x * x, x[0])",
    "p": "PLAIN * x",
    "F": "Finer(x, 5.0)",
    "M": "Counted(np.array([[x[0], x[1], 1.0], [0.5, 2.0, x[2]], [x[1], 0.1, 3.0]]), 3.0)",
}


def program(expressions: str) -> Any:
    """A function of an array that makes objects, with the elements of results, and what is known of these."""
    names = {n.id for n in ast.walk(ast.parse(expressions)) if isinstance(n, ast.Name)}
    made = "".join([f"    {name} = {text}\n" for name, text in MADE.items() if name in names])
    text = f"def f(x: np.ndarray):\n{made}    total = 0.0\n"
    for expression in expressions.split("; "):
        text += f"    r = {expression}\n"
        objects = {n: eval(made_as, globals(), {"x": X}) for n, made_as in MADE.items()}
        is_object = isinstance(eval(expression, {**globals(), **objects}), Counted)
        told = "10.0 * r.made + r.label + isinstance(r, Finer)" if is_object else "2.5"
        text += f"    total = total * 1.5 + ({told}) * np.sum(np.asarray(r) * 1.0)\n"
    return defined(text + "    return total\n")


@pytest.mark.parametrize(
    "expressions",
    [
        "PLAIN * a; abs(a); a @ p; a > 0.1",
        "a.sum(); a.copy(); a.reshape(3, 1); a[1:]; a[a > 0.2]",
        "M[0, 1]; M.T @ PLAIN",
        "np.where(a > 0.1, a, a); np.flip(a); np.round(a, 2); np.expand_dims(a, 0)",
        "a.view(Finer) * a; F - a; [v * v for v in a][1]",
    ],
)  # fmt: skip
def test_what_numpy_makes_of_objects(expressions: str) -> None:
    check(program(expressions), X)


def check(f: Any, x: Any) -> None:
    value, gradient = value_and_grad(f)(x)
    assert value == f(x)
    assert type(value) is type(f(x))
    np.testing.assert_allclose(gradient, numeric_gradient(f, (x,)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "expression",
    ["np.var(a)", "np.diff(a)", "np.trace(M)", "np.vstack([a, a])", "a.real"],
)
def test_refused_where_numpy_makes_more(expression: str) -> None:
    with pytest.raises(S2SADError):
        grad(program(expression))(X)


class Unlabelled(np.ndarray):
    """Is told of no object that NumPy makes."""

    def doubled(self) -> Any:
        return self * 2.0


def of_many_objects(x: Any) -> Any:
    a = (x * 2.0).view(Unlabelled)
    m = np.outer(x, x + 1.0).view(Unlabelled)
    total = np.trace(m) + np.inner(a, a) + np.sum(np.vstack([a, x])) * m[0, 1] + m.trace()
    spread = np.diff(a).doubled()
    return total + np.sum(spread**2) + np.sum(np.linalg.inv(m + 3.0 * np.eye(3)).doubled()) + a[np.argmax(a)]


def test_functions_that_make_objects_on_the_way() -> None:
    check(of_many_objects, X)


# --- classes as people write them


class Signal(np.ndarray):
    """Samples with a rate."""

    def __new__(cls, data: Any, rate: Any) -> Any:
        obj = np.asarray(data).view(cls)
        obj.rate = rate
        return obj

    def __array_finalize__(self, obj: Any) -> None:
        if obj is None:
            return
        self.rate = getattr(obj, "rate", None)

    @property
    def duration(self) -> Any:
        return self.shape[-1] / self.rate

    def energy(self) -> Any:
        return np.sum(self * self) / self.rate

    def normalized(self) -> Any:
        return self / np.sqrt(np.mean(self**2))

    def amplify(self, db: float) -> None:
        self *= 10.0 ** (db / 20.0)


class Vector(np.ndarray):
    """A point of space."""

    def __new__(cls, x: Any, y: Any, z: Any) -> Any:
        return np.array([x, y, z]).view(cls)

    x = property(lambda self: self[0])
    y = property(lambda self: self[1])
    z = property(lambda self: self[2])

    def cross(self, o: Any) -> Any:
        return Vector(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)

    @property
    def length(self) -> Any:
        return np.sqrt(np.sum(self**2))

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index)


class Quaternion(np.ndarray):
    """Of which the elements are in an attribute as well, in the same memory."""

    def __new__(subtype, q: Any, versor: bool = True) -> Any:
        q = np.array(q, dtype=float)
        if q.ndim != 1 or q.shape[-1] not in [3, 4]:
            raise ValueError(f"shape {q.shape}")
        if versor:
            q /= np.linalg.norm(q)
        obj = super().__new__(subtype, q.shape, float, q)
        obj.A = q
        return obj

    def __array_finalize__(self, obj: Any) -> None:
        if obj is None:
            return
        self.A = getattr(obj, "A", np.array([1.0, 0.0, 0.0, 0.0]))

    def __mul__(self, other: Any) -> Any:
        a, b = self.A, np.asarray(other)
        vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
        return Quaternion(np.array([a[0] * b[0] - a[1:] @ b[1:], *vector]), False)

    def __rmul__(self, other: Any) -> Any:
        return Quaternion(other * self.A, versor=False)

    def conj(self) -> Any:
        return Quaternion(self.A * np.array([1.0, -1.0, -1.0, -1.0]), versor=False)


def of_signal(x: Any) -> Any:
    y = x * 2.0
    s = Signal(y, x[0])
    s.amplify(2.0)
    t = s.normalized()
    if np.sum(t) > 0:
        t = t * s
    else:
        t = t + 1.0
    t[0] = s[1] * t[2]
    for _ in range(2):
        t = t + s * t
    return np.sum(y**2) + t.energy() * t.duration + t[:2].rate


def of_vectors(x: Any) -> Any:
    a, b = Vector(x[0], x[1], x[2]), Vector(1.0, 2.0, x[0] * x[1])
    c = a.cross(b)
    return c.x + 2 * c.y * c.z + np.dot(a, c) + (a + b).length


def of_quaternions(x: Any) -> Any:
    q, p = Quaternion(x), Quaternion([1.0, 0.2, 0.3, 0.4])
    r = q * p * q.conj()
    q += 1.0
    a = x * 1.0
    a *= p
    return np.sum(np.asarray(r) ** 2 * Q) + np.sum(q.A * a) + (q - p).A[2] * q[1] + np.sum((2.0 * q).A) + (a * q).A[3]


def of_rows(x: Any) -> Any:
    total = 0.0
    for row in (x * 1.0, x[1:] * 2.0):
        w, i, j, k = Quaternion(np.append(row[:3], 1.0)) * Quaternion(np.append(row[-3:], 2.0))
        total = total + w * i - j * k
    return total


@pytest.mark.parametrize(
    ("f", "x"), [(of_signal, X), (of_signal, -X), (of_vectors, X), (of_quaternions, Q), (of_rows, Q)]
)
def test_classes_as_people_write_them(f: Any, x: Any) -> None:
    check(f, x)


def of_tests(x: Any) -> Any:
    s = Signal(x, 2.0)
    t = s * 2.0 if np.sum(s) > 0 and not np.any(s > 5.0) else s
    if x[0] > 1.0 or np.sum(t) > 0.0:
        t = t * s
    return np.sum(t * t)


@pytest.mark.parametrize("x", [X, -X])
def test_objects_of_one_truth_value(x: Any) -> None:
    check(of_tests, x)


def of_numbers_of_numpy(x: Any) -> Any:
    return np.sum(np.asarray(x[0] * Quaternion(Q)))


def test_a_reflected_operator_is_not_asked_by_numbers_of_numpy() -> None:
    # A number of Python's asks ``__rmul__``, one of NumPy's does not.
    assert type(np.float64(2.0) * Quaternion(Q)) is Quaternion
    with pytest.raises(S2SADError):
        grad(of_numbers_of_numpy)(Q)


class Followed(np.ndarray):
    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return 2.0


class Kept(np.ndarray):
    elements = 3.0


@pytest.mark.parametrize("cls", [Followed, Kept])
def test_classes_that_change_what_numpy_does(cls: Any) -> None:
    def f(x: Any) -> Any:
        v = (x * 2).view(cls)
        return np.sum(np.asarray(v * v)) * getattr(v, "elements", 1.0)

    with pytest.raises(S2SADError):
        grad(f)(X)
