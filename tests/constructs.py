"""Constructs of Python, one small program each, with what is said of it: right, or refused.

The README's list is made of this table (`listed`), and ``tests/test_constructs.py`` checks each row.
"""

from __future__ import annotations

import contextlib
import copy
import enum
import functools
import heapq
import itertools
import operator
from collections import defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

X = np.array([0.3, 0.7, -0.4])


@dataclass(frozen=True)
class Row:
    """A construct: its heading and name in the list, a program, and whether it is right."""

    heading: str
    name: str
    program: Callable[..., Any]
    right: bool


ROWS: list[Row] = []


def right(heading: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A construct that is differentiated."""
    return _row(heading, name, True)


def refused(heading: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A construct that is refused."""
    return _row(heading, name, False)


def _row(heading: str, name: str, is_right: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def noted(program: Callable[..., Any]) -> Callable[..., Any]:
        ROWS.append(Row(heading, name, program, is_right))
        return program

    return noted


def listed() -> str:
    """The list of the README."""
    lines = []
    for is_right, title in ((True, "Right"), (False, "Refused")):
        lines.append(f"{title}:\n")
        for heading in dict.fromkeys(row.heading for row in ROWS if row.right is is_right):
            names = [row.name for row in ROWS if row.right is is_right and row.heading == heading]
            lines.append(f"- *{heading}*: {'; '.join(names)}.")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


# --- statements

S = "statements"


@right(S, "`if`, `elif`, `else`, conditional expressions, `and`, `or`, `not`")
def _conditions(x: Any) -> Any:
    if x[0] > 1.0:
        y = x
    elif x[1] > 0.0 and not x[2] > 0.0:
        y = x * x
    else:
        y = -x
    return np.sum(y) if x[0] < 5.0 else 0.0


@right(S, "`for` and `while` with `break`, `continue`, `else`, `return` anywhere")
def _loops(x: Any) -> Any:
    total = 0.0
    for v in x:
        if v < -1.0:
            break
        if v < 0.0:
            continue
        total = total + v**2
    else:
        total = total * 2.0
    while total < 10.0:
        total = total * 3.0
        if total > 9.0:
            return total
    return total


@right(S, "unpacking with `*`, chained assignment, augmented assignment, `del` of names")
def _assignments(x: Any) -> Any:
    a, *rest = (x[0], x[1], x[2])
    b = c = a * 2.0
    c += rest[0]
    del a
    return b * c + rest[1]


@right(S, "assignment expressions")
def _walrus(x: Any) -> Any:
    return (y := np.sum(x * x)) * np.sin(y)


@right(S, "`match` over values")
def _match(x: Any, mode: str = "square") -> Any:
    match mode:
        case "cube":
            y = x**3
        case "square" | "two":
            y = x**2
        case _:
            y = x
    return np.sum(y)


@right(S, "`try`, `except`, `else`, `finally`, `raise`, `assert`")
def _try(x: Any) -> Any:
    assert len(x) == 3
    if len(x) > 9:
        raise ValueError("long")
    try:
        scale = {"a": 1.0}["b"]
    except KeyError:
        scale = 2.0
    else:
        scale = 3.0
    finally:
        n = 3.0
    return np.sum(x * x) * n * scale


@right(S, "`with np.errstate(...)`")
def _with(x: Any) -> Any:
    with np.errstate(divide="ignore"):
        y = 1.0 / (x * x)
    return np.sum(y)


@right(S, "imports inside")
def _imports(x: Any) -> Any:
    import math

    from numpy import tanh

    return math.sin(x[0]) + np.sum(tanh(x))


@right(S, "f-strings and `print` of what is differentiated")
def _shown(x: Any) -> Any:
    y = np.sum(x * x)
    label = f"{y:.3f}"
    print(y, label, end="")
    return y * len(label)


@right(S, "chained comparisons, `is`, `in`, `isinstance`")
def _tests(x: Any, k: Any = None) -> Any:
    y = x if k is None else k
    if isinstance(y, np.ndarray) and -1.0 < y[0] <= 1.0 and len(y) in (3, 4):
        y = y * 2.0
    return np.sum(y * y)


@right(S, "`global` that is only read")
def _global_read(x: Any) -> Any:
    return np.sum(X * x * x)


_STATE: Any = 0.0


@right(S, "`global` that is assigned")
def _global_set(x: Any) -> Any:
    global _STATE
    _STATE = np.sum(x)
    return _STATE * 2.0


@refused(S, "`global` that is deleted")
def _global_deleted(x: Any) -> Any:
    global _STATE
    _STATE = np.sum(x)
    y = _STATE * 2.0
    del _STATE
    return y


@refused(S, "classes defined inside, with other attributes than methods and constants")
def _class_inside_with_arrays(x: Any) -> Any:
    class Pair:
        scale = x[0]

    return np.sum(Pair().scale * x)


# --- functions

F = "functions"


@right(F, "nested functions, lambdas, what they capture and share (`nonlocal`)")
def _closures(x: Any) -> Any:
    total = 0.0

    def add(v: Any) -> None:
        nonlocal total
        total = total + v * x[0]

    for v in x:
        add(v)
    return (lambda t: t * t)(total)


@right(F, "functions as arguments, results and items")
def _first_class(x: Any) -> Any:
    def twice(f: Any) -> Any:
        return lambda v: f(f(v))

    table = {"sin": np.sin, "square": lambda v: v * v}
    return np.sum(twice(table["square"])(x) + table["sin"](x))


@right(F, "functions that write what they are given, in tables, as arguments, one or another by a branch")
def _writing_functions(x: Any, name: str = "double") -> Any:
    def double(u: Any) -> None:
        u *= 2.0

    def bend(u: Any, v: float = 0.3) -> None:
        u[1:] = np.sin(u[:-1]) * v

    u = x * x
    {"double": double, "bend": bend}[name](u)
    (bend if u[0] > 0.0 else double)(u)
    return np.sum(u * u)


@right(F, "recursion")
def _recursion(x: Any, n: int = 3) -> Any:
    return np.sum(x) if n == 0 else _recursion(np.sin(x) * x, n - 1)


@right(F, "recursion of functions defined inside, also where comprehensions call them, and what it sets")
def _nested_recursion(x: Any) -> Any:
    total = 0.0

    def cube(v: Any, n: int = 3) -> Any:
        return v if n == 1 else v * cube(v, n - 1)

    def power(v: Any, n: int) -> Any:
        nonlocal total
        total = total + v
        return v if n == 1 else v * power(v, n - 1)

    return power(x[1], 3) * total + sum(cube(v) * x[0] for v in x)


@right(F, "`*args` and `**kwargs` of the differentiated function")
def _own_stars(*args: Any, **options: Any) -> Any:
    return sum(np.sum(x * x) for x in args) * options.get("scale", 1.0)


@right(F, "default values, keywords, positional-only and keyword-only parameters")
def _parameters(x: Any) -> Any:
    def f(a: Any, /, b: Any = 2.0, *, c: Any) -> Any:
        return a * b + c

    return np.sum(f(x, c=x[0]) + f(x, b=x[1], c=1.0))


@right(F, "`*args` and `**kwargs` of functions that are called")
def _stars(x: Any) -> Any:
    def f(*args: Any, **options: Any) -> Any:
        return sum(args) * options["scale"]

    return np.sum(f(x, x * x, scale=x[0]))


@right(F, "`*` and `**` in calls, of what is known")
def _star_calls(x: Any) -> Any:
    def f(a: Any, b: Any, c: Any = 1.0) -> Any:
        return a * b + c

    return np.sum(f(*(x, x * x), c=x[0]))


@right(F, "`functools.partial`, `wraps`, `reduce`, `operator.*`")
def _tools(x: Any) -> Any:
    square = functools.partial(operator.pow, x)
    return np.sum(square(2)) + functools.reduce(operator.mul, [x[0], x[1], x[2]])


def _scaled(f: Any) -> Any:
    @functools.wraps(f)
    def inner(*args: Any) -> Any:
        return 2.0 * f(*args)

    return inner


@_scaled
def _decorated_inside(x: Any) -> Any:
    return np.sum(x * x)


def _stepped(s: Any, order: int) -> Any:
    if order == 0:
        s += s[0]
    elif order == 1:
        v = s[1]
        s[0] = s[0] + 0.1 * v
    else:
        s = None
    return s


@right(F, "branches of a function that an integer in the call decides")
def _decided(x: Any) -> Any:
    return np.sum(_stepped(_stepped(x * 1.0, 1), 1) ** 2)


_MIXING = np.array([[2.0, 1.0, 0.5], [0.5, -1.0, 0.0], [0.0, 1.0, 3.0]])


@right(F, "methods of constants: `W.dot(x)`, `np.exp(c).clip(x, 1.0)`")
def _methods_of_constants(x: Any) -> Any:
    return np.sum(_MIXING.dot(x) ** 2 + np.exp(_MIXING[0]).clip(x[0], 1.0) * np.linalg.inv(_MIXING).dot(x))


@right(F, "methods that have names: `push = out.append`")
def _named_methods(x: Any) -> Any:
    out: list[Any] = []
    push, dot = out.append, x.dot
    for v in x:
        push(v * v)
    return dot(np.array(out))


@right(F, "decorated functions")
def _decorators(x: Any) -> Any:
    return _decorated_inside(np.sin(x))


@right(F, "generators that are consumed at once")
def _generators(x: Any) -> Any:
    def squares(v: Any) -> Any:
        for item in v:
            yield item * item

    return sum(squares(x)) * x[0]


@right(F, "the first items of generators that may have no end, by `itertools.islice`, `takewhile` or `zip`")
def _generators_in_part(x: Any) -> Any:
    def powers(v: Any) -> Any:
        made = v
        while True:
            yield made
            made = made * v

    return sum(itertools.islice(powers(x[0]), 3)) + sum([a * b for a, b in zip(range(4), powers(x[1]), strict=False)])


@refused(F, "generators of which `next` takes one item after the other")
def _generators_by_next(x: Any) -> Any:
    def squares(v: Any) -> Any:
        for item in v:
            yield item * item

    made = squares(x)
    return next(made) + next(made)


# --- comprehensions and iterators

C = "comprehensions and iterators"


@right(C, "list and dict comprehensions, generator expressions, with conditions and several `for`")
def _comprehensions(x: Any) -> Any:
    rows = [a * b for a in x for b in x if a > 0.0]
    table = {i: v * v for i, v in enumerate(x)}
    return sum(rows) + table[0] + sum(v * v for v in x)


@right(C, "`np.array([... for ...])`")
def _arrays_of(x: Any) -> Any:
    return np.sum(np.array([v * x for v in x]) ** 2)


@right(C, "`sum`, `any`, `all`, `min` and `max` with keys")
def _consumers(x: Any) -> Any:
    return sum(x) * max(x, key=abs) + min(x) if any(v > 0 for v in x) else 0.0


@right(C, "`zip`, `enumerate`, `reversed`, `map`, `filter`")
def _iterators(x: Any) -> Any:
    total = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(x), strict=True)):
        total = total + i * a * b
    return total + sum(map(np.sin, x))


@right(C, "`next` of a generator expression or of a new iterator")
def _first_elements(x: Any) -> Any:
    return next(v for v in x if v > x[0]) * next((v for v in x if v > 100.0), x[1]) + next(iter([x[2], x[0]]))


class _Powers:
    def __init__(self, v: Any) -> None:
        self.v, self.n = v, 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.n == 3:
            raise StopIteration
        self.n += 1
        return self.v**self.n


@right(
    C,
    "iterators of classes (`__next__`, `__getitem__`), `iter` of arrays, of which `next` takes one item after another",
)
def _iterators_of_classes(x: Any) -> Any:
    powers, items = _Powers(x[0]), iter(x)
    return next(powers) + sum([v * x[1] for v in powers]) + next(items) * next(items)


@right(C, "`itertools.pairwise`, `combinations`")
def _itertools(x: Any) -> Any:
    total = sum(a * b for a, b in itertools.pairwise(x))
    return total + sum(a * b for a, b in itertools.combinations([x[0], x[1], x[2]], 2))


@right(C, "`sorted` by keys that are computed")
def _sorted(x: Any) -> Any:
    return sorted([x[0], x[1], x[2]], key=lambda v: -v)[0] * x[1]


@refused(C, "set comprehensions")
def _sets(x: Any) -> Any:
    return sum({v * v for v in x})


# --- containers

K = "containers"


@right(K, "lists that grow in a loop, items that are assigned, `pop`")
def _lists(x: Any) -> Any:
    items = []
    for v in x:
        if v < 5.0:
            items.append(v * v)
        else:
            break
    items[0] = items[1] * 2.0
    last = items.pop()
    return sum(items) * last


@right(K, "dicts, `get`, `items`, `defaultdict`, `deque`")
def _dicts(x: Any) -> Any:
    table = {"a": x[0], "b": x[1] * x[2]}
    counts = defaultdict(float)
    for key, value in table.items():
        counts[key] = counts[key] + value * value
    queue = deque([x[0]])
    queue.append(x[1])
    return counts["a"] + counts["b"] * table.get("c", 2.0) + queue[0]


Point = namedtuple("Point", "a b")


class Pose(NamedTuple):
    x: Any
    y: Any


@right(K, "lists of numbers in lists and dicts, into which numbers are put, under whatever name")
def _lists_in_lists(x: Any) -> Any:
    n = len(x)
    best = [[0.0] * (n + 1) for _ in range(n + 1)]
    log: dict[str, Any] = {"sum": [], "last": [0.0]}
    for i in range(1, n + 1):
        row = best[i]
        for j in range(1, n + 1):
            row[j] = best[i - 1][j] * 0.5 + x[i - 1] * x[j - 1]
        log["sum"].append(sum(row))
        log["last"][0] = row[-1]
    return best[n][n] + log["sum"][1] * log["sum"][-1] + log["last"][0]


@right(K, "dicts that are added to by computed keys; their values as a list, their keys in order")
def _counted(x: Any) -> Any:
    found: dict[Any, Any] = {}
    for i, v in enumerate(x):
        found[i % 2] = found.get(i % 2, 0.0) + v * v
    largest = found[max(found, key=found.get)]  # type: ignore[arg-type]
    return found[0] * found[1] + largest * sum(found.values()) + sum(found[k] * k for k in sorted(found))


@right(K, "tuples and named tuples")
def _tuples(x: Any) -> Any:
    p, q = Point(x[0], x[1]), Pose(x[1], x[2])
    return p.a * p._replace(b=3.0).b * q.y


@right(K, "`copy.deepcopy`")
def _copies(x: Any) -> Any:
    rows = copy.deepcopy([x, x * 2.0])
    rows[0][0] = 1.0
    return np.sum(rows[0] * rows[1] * x)


@right(K, "lists that are sorted or reversed, heaps of `heapq`, sets that are asked")
def _orders(x: Any) -> Any:
    rows = [(v * v, i) for i, v in enumerate(x)]
    rows.sort(reverse=True)
    queue, seen, total = [x[2], x[0], x[1]], set(), rows[0][0] * rows[2][0]
    heapq.heapify(queue)
    while queue:
        v = heapq.heappop(queue)
        if v not in seen:
            seen.add(v)
            total = total * 2.0 + v
    return total


@right(K, "lists and dicts of the module that grow, and are read again")
def _module_list(x: Any) -> Any:
    _LOG.append(np.sum(x))
    return np.sum(x * x) * _LOG[-1]


@refused(K, "lists and dicts of the module that are cleared, and hold what is differentiated")
def _module_list_cleared(x: Any) -> Any:
    _CLEARED.clear()
    _CLEARED.append(x[0])
    return _CLEARED[-1] ** 2


_LOG: list[Any] = []
_CLEARED: list[Any] = []

# --- objects

B = "objects"


class Body:
    """Something with attributes, methods, a property and operators."""

    scale = 2.0

    def __init__(self, v: Any) -> None:
        self.v = v
        self.steps = 0

    @property
    def energy(self) -> Any:
        return np.sum(self.v**2) * self.scale

    def step(self, dt: Any) -> Body:
        self.v = self.v - dt * self.v**3
        self.steps += 1
        return self

    def __call__(self, t: Any) -> Any:
        return self.v * t

    def __add__(self, other: Body) -> Body:
        return type(self)(self.v + other.v)

    @staticmethod
    def half(v: Any) -> Any:
        return v / 2.0

    @classmethod
    def at_rest(cls, v: Any) -> Body:
        return cls(v * 0.0)


class Heavy(Body):
    def __init__(self, v: Any, m: Any) -> None:
        super().__init__(v)
        self.m = m

    def weight(self) -> Any:
        return self.m * np.sum(super().__call__(2.0))


@right(B, "objects that the program makes, their methods, properties, static and class methods")
def _made(x: Any) -> Any:
    body = Body(x).step(0.1).step(x[0])
    return body.energy + np.sum(Body.half(x)) + Body.at_rest(x).energy


@right(B, "operators, `__call__`")
def _operators(x: Any) -> Any:
    return np.sum((Body(x) + Body(x * x))(2.0) ** 2)


@right(B, "classes defined inside, of methods and constants")
def _class_inside(x: Any) -> Any:
    class Pair(Body):
        def sum_with(self, other: Any) -> Any:
            return np.sum((self + Pair(other * x[0])).v)

    return Pair(x).sum_with(x)


@right(B, "inheritance and `super()`")
def _inheritance(x: Any) -> Any:
    return Heavy(x, x[0]).weight() * np.sum(Heavy(x, x[1]).v)


@dataclass
class Params:
    m: Any
    k: Any = 2.0
    parts: list[Any] = field(default_factory=list)


class Pair:
    def __init__(self, u: Any, v: Any) -> None:
        self.u, self.v = u, v

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.u + other.u, self.v * other.v)


@right(B, "objects that a loop or a branch replaces by others of their class")
def _replaced_objects(x: Any) -> Any:
    p, step = Pair(x[0], x[1]), Pair(x[1], x[2])
    for i in range(int(x[0] * 0) + 70):
        if i % 3 == 0:
            p = p + step
    return p.u * p.v


@right(B, "dataclasses, `replace`")
def _dataclasses(x: Any) -> Any:
    p = Params(x[0])
    q = replace(p, k=x[1])
    q.parts.append(x[2])
    return p.m * q.k + q.parts[0] * p.k


class Mode(enum.Enum):
    LINEAR = 1
    SQUARE = 2


@right(B, "enums, also as the keys of dicts")
def _enums(x: Any, mode: Mode = Mode.SQUARE) -> Any:
    rules = {Mode.LINEAR: lambda v: v, Mode.SQUARE: lambda v: v * v}
    parts = {Mode.LINEAR: x[0], Mode.SQUARE: x[1]}
    parts[mode] += x[2]
    return np.sum(x if mode is Mode.LINEAR else x * x) + rules[mode](parts[Mode.SQUARE])


@right(B, "objects that a loop makes, as many as the sizes of the arguments say")
def objects_of_a_loop(x: Any) -> Any:
    bodies = [Body(v * (1.0 + i)) for i, v in enumerate(x)]
    for body in bodies:
        body.step(0.1)
    return sum(body.energy for body in bodies)


class _Point:
    def __init__(self, v: Any) -> None:
        self.v = v


@right(B, "attributes and variables that are an object or None")
def _objects_or_none(x: Any) -> Any:
    best = None if x[0] > 10.0 else _Point(x[0])
    return x[1] if best is None else best.v * x[2]


@right(B, "`__getattr__`, `partialmethod` and `singledispatchmethod` of objects that the program makes")
def _odd(x: Any) -> Any:
    return np.sum(_Odd(x).anything)


class _Odd:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __getattr__(self, name: str) -> Any:
        return self.v * 2.0


class _Doubled:
    def __init__(self, point: Any) -> None:
        self.point = point

    def __enter__(self) -> Any:
        self.kept = self.point.v
        self.point.v = self.kept * 2.0
        return self.point

    def __exit__(self, *exception: Any) -> None:
        self.point.v = self.kept


@contextlib.contextmanager
def _shifted(point: Any, by: Any) -> Any:
    point.v = point.v + by
    try:
        yield point
    finally:
        point.v = point.v - by


@right(B, "`with` of context managers that the program makes, by methods and by generators")
def _managers(x: Any) -> Any:
    point = _Point(x[0])
    with _Doubled(point) as p, _shifted(p, x[1]):
        y = p.v * x[2]
    return y + point.v


@right(B, "lists of objects whose members depend on the run: left out, taken away, added, replaced, sorted")
def _coming_and_going(x: Any) -> Any:
    points = [_Point(v) for v in x]
    if x[0] > 0.5:
        points.pop(0)
    points = [p for p in points if p.v > 0.1] + [_Point(x[1] * 2.0)]
    points.sort(key=lambda p: p.v)
    return sum(p.v * (k + 1) for k, p in enumerate(points))


class _Wall:
    def __init__(self, height: Any) -> None:
        self.height = height

    def met(self, t: Any) -> Any:
        return self.height * t

    def then(self, v: Any, walls: Any) -> Any:
        return walls[1] if v > 1.0 else self


class _Door(_Wall):
    def met(self, t: Any) -> Any:
        return np.sin(t) + self.height

    def then(self, v: Any, walls: Any) -> Any:
        return walls[0] if v > 2.0 else self


@right(
    B, "lists of objects of several classes that the run fills, and pairs with them: the nearest, those that are left"
)
def _several_classes(x: Any) -> Any:
    hits = [(o.met(0.5), o) for o in (_Wall(x[0]), _Door(x[1]), _Wall(x[2] * 0.1))]
    hits = [(t, o) for t, o in hits if t > 0.2]
    t, nearest = min(hits, key=lambda hit: hit[0])
    return nearest.met(t) * len(hits) + sum(o.met(0.1) for _, o in hits)


@right(B, "variables of loops that are one object and then another, as the states of machines, and None at first")
def _states(x: Any) -> Any:
    walls = [_Wall(x[0]), _Door(x[1])]
    state, last, total = walls[0], None, 0.0
    for k in range(int(x[0] * 0) + 9):
        total += state.met(0.2 * k)
        if last is not None:
            total += last.met(0.1) * x[2]
        last, state = state, state.then(total, walls)
    return total


# --- arrays in place

A = "arrays in place"


@right(A, "stores and augmented stores through any index, `a.flat[...]`, views, `out=`")
def _stores(x: Any) -> Any:
    y = np.zeros(4)
    y[1:] = x
    y[y > 0.5] *= 2.0
    row = y[::2]
    row += x[0]
    y.flat[::3] += x[2]
    np.multiply(y, x[1], out=y)
    return np.sum(y * y)


def _fill(out: Any, v: Any) -> None:
    for i in range(len(out)):
        out[i] = v * out[i]


@right(A, "functions that write into what they are given")
def _written(x: Any) -> Any:
    y = x * 1.0
    _fill(y, x[0])
    return np.sum(y)


BUFFER = np.zeros(3)


@right(A, "arrays of the module, of closures and of objects of the module, as one variable or attribute has them")
def _of_the_module(x: Any) -> Any:
    BUFFER[:] = x
    _fill(BUFFER, x[0])
    return np.sum(BUFFER * x)


from tests import constructs_of_module  # noqa: E402, F401
