"""Writers that are no classes of the user's: stores, functions of NumPy, helpers, functions as keys, positions."""

from __future__ import annotations

from dataclasses import dataclass

STATEMENT, NONE, NUMBER, ARRAY, ALIAS, OTHER = "statement", "none", "number", "array", "alias", "other"


@dataclass(frozen=True)
class Writer:
    """What writes `{v}` into `{b}`: an expression, or statements; and what the value of the expression is.

    `kind` is `ALIAS` where the value is the array that it got or a view of it.
    """

    name: str
    family: str
    text: str
    kind: str = STATEMENT
    rebinds: bool = False
    #: Definitions of the module.
    top: str = ""
    #: Statements before it, at the place where the origin is.
    before: str = ""
    #: Parameters beside those of the origin.
    parameters: tuple[tuple[str, str], ...] = ()
    #: Arrays that it may write beside the object.
    reads: tuple[str, ...] = ()
    #: What a method is called on, and how.
    receiver: str = ""


def _stores() -> list[Writer]:
    statements = (
        "{b}[0] = {v}",
        "{b}[1:] = {v}",
        "{b}[...] = {v}",
        "{b}[[0, 2]] = {v}",
        "{b}[x > 0.0] = {v}",
        "{b}[0], {b}[1] = {v}, 0.1",
        "{b}[0] += {v}",
        "{b}[:2] *= {v}",
        "{b}.flat[0] = {v}",
        "{b}.real[0] = {v}",
        "{b}.T[0] = {v}",
        "{b}[:][0] = {v}",
        "{b}[None][0, 0] = {v}",
        "for i in range(3):\n    {b}[i] = {b}[i] * 0.5 + {v}",
        "for {b}[0] in [{v}]:\n    pass",
        "{b}[:] = [{v}, 0.1, 0.2]",
        "{b}[2:], _ = [{v}], 1.0",
        "{b}[::2] = {b}[::-2] * {v}",
    )
    rebinding = ("{b} += {v}", "{b} *= {v}", "{b} -= {b} * {v}", "{b} **= 2", "{b} /= 2.0 + {v}")
    return [Writer(text, "stores", text) for text in statements] + [
        Writer(text, "stores", text, rebinds=True) for text in rebinding
    ]


def _functions() -> list[Writer]:
    expressions = (
        ("np.add({b}, {v}, out={b})", ALIAS),
        ("np.multiply({b}, {v}, {b})", ALIAS),
        ("np.sin({b}, out={b})", ALIAS),
        ("np.sin({b}, {b})", ALIAS),
        ("np.add({b}, {v}, out=({b},))", ALIAS),
        ("np.clip({b}, -0.35, 0.45, out={b})", ALIAS),
        ("np.cumsum({b}, out={b})", ALIAS),
        ("np.add(k, {v}, out={b}[:])", ALIAS),
        ("np.dot(np.eye(3), {b} + {v}, out={b})", ALIAS),
        ("{b}.clip(-0.35, 0.45, out={b})", ALIAS),
        ("{b}.cumsum(out={b})", ALIAS),
        ("np.copyto({b}, {v})", NONE),
        ("np.copyto({b}, k * {v}, where=k > 0.0)", NONE),
        ("np.add.at({b}, [0, 0, 1], {v})", NONE),
        ("np.subtract.at({b}, [1], {v})", NONE),
        ("np.put({b}, [0], {v})", NONE),
        ("np.place({b}, {b} > 0.1, [{v}])", NONE),
        ("np.putmask({b}, k > 0.0, {v})", NONE),
        ("np.put_along_axis({b}, np.array([1]), {v}, 0)", NONE),
        ("np.fill_diagonal({b}.reshape(1, 3), {v})", NONE),
        ("{b}.fill({v})", NONE),
        ("{b}.sort()", NONE),
        ("{b}.put([0], {v})", NONE),
        ("{b}.partition(1)", NONE),
        ("{b}.__setitem__(0, {v})", NONE),
        ("{b}.__iadd__({v})", ALIAS),
        ("operator.setitem({b}, 0, {v})", NONE),
        ("operator.iadd({b}, {v})", ALIAS),
        ("np.ndarray.fill({b}, {v})", NONE),
        ("np.ndarray.__setitem__({b}, 0, {v})", NONE),
        ("np.random.default_rng(0).shuffle({b})", NONE),
        ("getattr({b}, 'fill')({v})", NONE),
        ("setattr({b}, 'real', {v})", NONE),
        ("np.nan_to_num({b} , copy=False)", ALIAS),
        ("np.add.accumulate({b}, out={b})", ALIAS),
        ("np.matmul(np.eye(3), {b} * {v}, out={b})", ALIAS),
        ("np.einsum('ij,j->i', np.eye(3), {b} * {v}, out={b})", ALIAS),
        ("functools.partial(np.add, out={b})({b}, {v})", ALIAS),
        ("np.add(*({b}, {v}), **{{'out': {b}}})", ALIAS),
        ("np.concatenate([{b}[:2] + {v}, k[:1]], out={b})", ALIAS),
        ("np.median({b}, overwrite_input=True)", NUMBER),
        # What they are given is a copy of a part.
        ("{b}[..., [0, 2]].fill({v})", NONE),
        ("{b}[..., k > 0.0].sort()", NONE),
        ("np.copyto({b}[..., [0, 2]], {v})", NONE),
        ("np.add({b}[..., [1]], {v}, out={b}[..., [1]])", ARRAY),
        # NumPy reads what it writes.
        ("np.concatenate([{b}[1:], {b}[:1]], out={b})", ALIAS),
    )
    return [Writer(text, "functions", text, kind) for text, kind in expressions]


def _helpers() -> list[Writer]:
    expressions = (
        ("put({b}, {v})", NONE),
        ("put({b})", NONE),
        ("halve({b})", NUMBER),
        ("touch({b}, {v})", ALIAS),
        ("put_num({b}, {v})", NUMBER),
        ("put(q={b}, v={v})", NONE),
        ('put(**{{"q": {b}, "v": {v}}})', NONE),
        ("put(*[{b}, {v}])", NONE),
        ("put_all({b}, v={v})", NONE),
        ("put_all(k * 2.0, {b}, v={v})", NONE),
        ("put_all({b}, **{{'v': {v}}})", NONE),
        ("put_deep({b}, {v})", ALIAS),
        ("put_down({b}, 2, {v})", NONE),
        ("apply(put, {b}, {v})", NONE),
        ("apply(touch, {b}, {v})", ALIAS),
        ("(lambda q: put(q, {v}))({b})", NONE),
        ("(lambda: put({b}, {v}))()", NONE),
        ("functools.partial(put, {b})({v})", NONE),
        ("functools.partial(put, v={v})({b})", NONE),
        ("(put if x[0] > 0.0 else same)({b})", NONE),
        ("[put][0]({b}, {v})", NONE),
        ('{{"put": put}}["put"]({b}, {v})', NONE),
        ("operator.methodcaller('fill', {v})({b})", NONE),
        ("[put({b}, {v}) for _ in range(2)]", OTHER),
        ("(put({b}, {v}), 1.0)[1]", NUMBER),
        ("globals()['put']({b}, {v})", NONE),
        ("put.__call__({b}, {v})", NONE),
    )
    statements = (
        "w = put\nw({b}, {v})",
        "w = put_num\nw({b}, {v})",
        "w = {b}.fill\nw({v})",
        "w = {b}.__setitem__\nw(0, {v})",
        "w = functools.partial(put, {b})\nw({v})",
        "w = lambda q: put(q, {v})\nw({b})",
        "def w(q):\n    q[0] = {v}\nw({b})",
        "def w(q={b}):\n    q[0] = {v}\nw()",
        "for w in (put, touch):\n    w({b}, {v})",
        "w = [put, touch]\nw[1]({b}, {v})",
        "w = Plain()\nw.do = put\nw.do({b}, {v})",
        "w = Plain()\nw.v = {b}\nput(w.v, {v})",
    )
    return [Writer(text, "helpers", text, kind) for text, kind in expressions] + [
        Writer(text, "helpers", text) for text in statements
    ]


def _keys() -> list[Writer]:
    """Functions that call what they are given."""
    expressions = (
        ("sorted([{b}], key=halve)", OTHER),
        ("sorted([{b}, k], key=halve)[0]", ALIAS),
        ("max([{b}, k], key=halve)", ALIAS),
        ("max({b}, k * 0.5, key=halve)", OTHER),
        ("min([{b}, k], key=lambda q: put_num(q, {v}))", ALIAS),
        ("[{b}].sort(key=halve)", NONE),
        ("list(map(halve, [{b}]))", OTHER),
        ("list(map(put, [{b}], [{v}]))", OTHER),
        ("any(map(halve, [{b}]))", OTHER),
        ("sum(map(halve, [{b}]))", NUMBER),
        ("tuple(filter(halve, [{b}]))", OTHER),
        ("functools.reduce(fold, [k, {b}])", ARRAY),
        ("np.apply_along_axis(halve, 0, {b})", NUMBER),
        ("np.apply_along_axis(lambda q: put_num(q, {v}), 0, {b})", NUMBER),
        ("np.vectorize(lambda i: put_num({b}, {v}))(np.arange(2))", ARRAY),
        ("np.frompyfunc(lambda i: put_num({b}, {v}), 1, 1)(np.arange(2))", OTHER),
        ("np.fromfunction(lambda i: put_num({b}, {v}) * i, (2,))", ARRAY),
        ("np.piecewise(k, [k > 0.0], [lambda q: put_num({b}, {v}), 0.0])", ARRAY),
        ("np.fromiter((halve({b}) for _ in range(1)), float)", ARRAY),
        ("functools.cache(lambda: put_num({b}, {v}))()", NUMBER),
        ("[halve(t) for t in [{b}]]", OTHER),
        ("{{halve(t) for t in [{b}]}}", OTHER),
        ("{{1: put(t, {v}) for t in [{b}]}}", OTHER),
        ("sum(halve(t) for t in [{b}])", NUMBER),
        ("any(halve(t) > 9.0 for t in [{b}])", OTHER),
        ("next(halve(t) for t in [{b}])", NUMBER),
        ("next(map(halve, [{b}]))", NUMBER),
        ("list(zip(map(halve, [{b}]), [1]))", OTHER),
        ("list(enumerate(map(halve, [{b}])))", OTHER),
        ("dict(zip([1], map(halve, [{b}])))", OTHER),
        ("list(itertools.starmap(put, [({b}, {v})]))", OTHER),
        ("list(itertools.accumulate([k, {b}], fold))", OTHER),
        ("list(itertools.takewhile(halve, [{b}]))", OTHER),
        ("list(itertools.chain(map(halve, [{b}])))", OTHER),
        ("heapq.nsmallest(1, [{b}, k], key=halve)", OTHER),
        ("collections.deque(map(halve, [{b}]), maxlen=0)", OTHER),
        ("collections.defaultdict(lambda: put_num({b}, {v}))['q']", NUMBER),
        ("{{1: 2.0}}.setdefault(3, put_num({b}, {v}))", NUMBER),
        ("list(iter(lambda: put_zero({b}, {v}), 0))", OTHER),
        ("apply(lambda q: put_num(q, {v}), {b})", NUMBER),
        ("apply(apply, halve, {b})", NUMBER),
        ("np.array([halve({b}), 1.0])", ARRAY),
        ("np.sum([halve({b}), 1.0])", NUMBER),
        ("np.stack([touch({b}, {v}), k])", ARRAY),
        ("''.join(map(lambda q: put_str(q, {v}), [{b}]))", OTHER),
    )
    statements = (
        "for w in map(halve, [{b}]):\n    pass",
        "for w in filter(halve, [{b}]):\n    pass",
        "for w in sorted([{b}], key=halve):\n    pass",
        "for w in (halve(t) for t in [{b}]):\n    pass",
        "for w in zip([1], map(halve, [{b}])):\n    pass",
        "w = map(halve, [{b}])\nw = list(w)",
        "w = (halve(t) for t in [{b}])\nnext(w)",
        "w, *_ = map(halve, [{b}])",
        "w = [*map(halve, [{b}])]",
        "assert any(map(halve, [{b}])) or True",
        "if any(map(put_true, [{b}])):\n    pass",
        "w = [k, {b}]\nw.sort(key=halve)",
    )
    return [Writer(text, "keys", text, kind) for text, kind in expressions] + [
        Writer(text, "keys", text) for text in statements
    ]


def _positions() -> list[Writer]:
    """Calls that write, in every position of a statement of which the result is not needed."""
    expressions = (
        "range(put_zero({b}, {v}))",
        "x[put_zero({b}, {v})]",
        "x[put_zero({b}, {v}):]",
        "(1.0, 2.0)[put_zero({b}, {v})]",
        "[0.0] * put_zero({b}, {v})",
        "np.zeros(1 + put_zero({b}, {v}))",
        "np.sum(x, axis=put_zero({b}, {v}))",
        "x.sum(axis=put_zero({b}, {v}))",
        "f'{{put_num({b}, {v})}}'",
        "f'{{1.0:{{put_str({b}, {v})}}}}'",
        "put_num({b}, {v}) if x[0] > 0.0 else 1.0",
        "1.0 if put_true({b}, {v}) else 2.0",
        "put_true({b}, {v}) and 1.0",
        "False or put_true({b}, {v})",
        "put_true({b}, {v}) or put(k)",
        "(lambda q=put_num({b}, {v}): q)",
        "not put_true({b}, {v})",
        "-put_num({b}, {v})",
        "put_num({b}, {v}) < 1",
        "0.0 < put_num({b}, {v}) < 1.0",
        "(put_num({b}, {v}), 1)",
        "[put_num({b}, {v})]",
        "{{put_num({b}, {v}): 1}}",
        "{{'q': put_num({b}, {v})}}",
        "{{put_num({b}, {v})}}",
        "[t for t in put_list({b}, {v})]",
        "[1 for t in range(2) if put_true({b}, {v})]",
        "np.sum(put_list({b}, {v}))",
        "np.zeros(2, dtype=put_type({b}, {v}))",
        "x.astype(put_type({b}, {v}))",
        "isinstance(put_num({b}, {v}), float)",
        "stop_gradient(put_num({b}, {v}))",
        "stop_gradient(touch({b}, {v}))",
        "len(put_list({b}, {v}))",
        "max(put_num({b}, {v}), 0.0)",
        "np.where(put_true({b}, {v}), x, k)",
        "{{**put_dict({b}, {v})}}",
        "[*put_list({b}, {v})]",
        "same(*put_list({b}, {v}))",
        "same(**put_dict({b}, {v}))",
        "same(put_num({b}, {v}))",
        "put_num({b}, {v}) * 0.0",
        "slice(put_zero({b}, {v}))",
        "getattr(k, 'shape' + put_str({b}, {v}))",
        "str(put_num({b}, {v}))",
        "print(put_str({b}, {v}), end='')",
        "type(put_num({b}, {v}))",
        "np.shape(put_list({b}, {v}))",
        "np.zeros_like(touch({b}, {v}))",
        "touch({b}, {v}).shape",
        "touch({b}, {v}).copy()",
        "touch({b}, {v})[0]",
        "touch({b}, {v}) is {b}",
        "touch({b}, {v}) > 0.0",
        "np.argmax(touch({b}, {v}))",
        "callable(put_num({b}, {v}))",
        "id(touch({b}, {v}))",
        "complex(put_num({b}, {v}))",
        "float(put_num({b}, {v}))",
        "np.array(put_list({b}, {v}))",
        "np.ones(3)[put_zero({b}, {v})]",
    )
    statements = (
        "for w in put_list({b}, {v}):\n    pass",
        "for w in put_list({b}, {v}):\n    break",
        "for w in range(put_zero({b}, {v})):\n    pass",
        "for w in range(1, 1 + put_zero({b}, {v})):\n    pass",
        "for w in [t for t in put_list({b}, {v})]:\n    pass",
        "for w in enumerate(put_list({b}, {v})):\n    pass",
        "for w in put_dict({b}, {v}).items():\n    pass",
        "for w in range(2):\n    put({b}, {v})",
        "assert put_true({b}, {v})",
        "assert put_true({b}, {v}), 'never'",
        "assert True, put_str({b}, {v})",
        "if put_true({b}, {v}):\n    pass",
        "if not put_true({b}, {v}):\n    w = 1.0",
        "while not put_true({b}, {v}):\n    pass",
        "w: float = put_num({b}, {v})",
        "w = w2 = put_num({b}, {v})",
        "w, w2 = put_num({b}, {v}), 2.0",
        "[w] = put_list({b}, {v})",
        "w, *w2 = put_list({b}, {v})",
        "(w := put_num({b}, {v}))",
        "w = np.ones(3)\nw[put_zero({b}, {v})] = 2.0",
        "w = np.ones(3)\nw[0] = put_num({b}, {v})",
        "w = [0.0]\nw[put_zero({b}, {v})] = 2.0",
        "w = []\nw.append(put_num({b}, {v}))",
        "w = {{}}\nw[put_num({b}, {v})] = 1.0",
        "w = 1.0\nw += put_num({b}, {v})",
        "w = [1.0, 2.0]\ndel w[put_zero({b}, {v})]",
        "def w(q=put_num({b}, {v})):\n    return q",
        "match put_num({b}, {v}):\n    case _:\n        pass",
        "with contextlib.nullcontext(put_num({b}, {v})):\n    pass",
        "try:\n    put({b}, {v})\nfinally:\n    pass",
        "w = Box(put_num({b}, {v}))",
        "w = [put_num({b}, {v})] and []",
        "import math as w\nput({b}, {v})",
        "if x[0] < 0.0 and put_true({b}, {v}):\n    pass",
        "if x[0] > 0.0 and put_true({b}, {v}):\n    pass",
        "w = put_num({b}, {v})\nw = 1.0",
        "w = put_num({b}, {v})\ndel w",
    )
    return [Writer(text, "positions", text, OTHER) for text in expressions] + [
        Writer(text, "positions", text) for text in statements
    ]


PLAIN: tuple[Writer, ...] = (*_stores(), *_functions(), *_helpers())
CALLS: tuple[Writer, ...] = (*_keys(), *_positions())
