"""Where an object comes from, how it gets another name, and what is active: the axes that all writers share."""

from __future__ import annotations

from dataclasses import dataclass

ACTIVE, CONSTANT, STOPPED = "active", "constant", "stopped"
#: Activity of the object, and of the value that is stored into it.
ACTIVITIES = (
    ("active", ACTIVE, False),
    ("active receives active", ACTIVE, True),
    ("constant", CONSTANT, False),
    ("mixed", CONSTANT, True),
    ("stopped", STOPPED, False),
)
#: Expressions of new arrays of three elements.
FRESH = {
    ACTIVE: ("x * x", "np.sin(x)", "x + 2.0 * k"),
    CONSTANT: ("k * 2.0", "np.zeros(3)", "k.copy()", "np.full(3, 0.6)"),
    STOPPED: ("stop_gradient(x * 2.0)", "stop_gradient(x * k)"),
}
#: What is stored.
VALUES = {False: ("0.35", "k[1]", "-0.2"), True: ("x[0]", "x[2] * 1.5", "np.sin(x[1])")}


@dataclass(frozen=True)
class Origin:
    """Statements that name an object `a`, other reads of it, and the parameters that they need beside `x` and `k`."""

    name: str
    group: str
    lines: str = ""
    reads: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    differentiated: bool = False
    activities: tuple[str, ...] = (ACTIVE, CONSTANT, STOPPED)
    simple: bool = False
    #: Arrays that are no parameters: the default of `a`, or what a closure holds as `cell`.
    default: str = ""
    cell: str = ""


_ONLY_CONSTANT = (CONSTANT,)
_MADE = (ACTIVE, CONSTANT, STOPPED)
_ARRAY = "np.array([0.8, -0.4, 1.5])"


def _of_module(name: str, group: str, lines: str, *reads: str) -> Origin:
    return Origin(name, group, lines, reads, activities=_ONLY_CONSTANT)


def _of_argument(name: str, value: str, path: str, active: bool) -> list[Origin]:
    parameters = (("s", value),)
    found = [Origin(name, "argument", f"a = {path}", (path,), parameters, False, _ONLY_CONSTANT, simple=True)]
    if active:
        found.append(Origin(f"{name}, active", "argument", f"a = {path}", (path,), parameters, True, (ACTIVE,)))
    return found


ORIGINS: tuple[Origin, ...] = (
    Origin("x", "parameter", "a = x", activities=(ACTIVE,), simple=True),
    Origin("k", "parameter", "a = k", activities=_ONLY_CONSTANT, simple=True),
    Origin("fresh", "local", "a = {E}", simple=True),
    *(
        Origin(f"view {view}", "view", f"m = {made}\na = {view}", ("m",))
        for made, view in (
            ("{E}", "m[:]"),
            ("{E}", "m[::-1]"),
            ("np.stack([{E}, k])", "m[0]"),
            ("np.stack([{E}, k])", "m.T[:, 0]"),
            ("np.concatenate([k, {E}])", "m[2:5]"),
            ("{E}", "m.reshape(3, 1)[:, 0]"),
            ("{E}", "np.ravel(m)"),
            ("np.outer({E}, k)", "np.diagonal(m.T)[:]"),
        )
        if "diagonal" not in view
    ),
    *(
        Origin(f"view of {base} {view}", "view", f"a = {base}{view}", (base,), activities=(kind,))
        for base, kind in (("x", ACTIVE), ("k", CONSTANT))
        for view in ("[:]", "[::-1]", ".reshape(3)", ".T", ".view()", "[None][0]", ".ravel()", "[...]")
    ),
    *(
        Origin(f"local {name}", "container", f"c = {made}\na = {path}", (path,), simple=name == "list")
        for name, made, path in (
            ("list", "[{E}, k]", "c[0]"),
            ("tuple", "({E}, 1.0)", "c[0]"),
            ("dict", '{"q": {E}}', 'c["q"]'),
            ("nested", '{"q": [{E}]}', 'c["q"][0]'),
            ("dict()", "dict(q={E})", 'c["q"]'),
            ("named tuple", "Pair({E})", "c.v"),
            ("dataclass", "Data({E})", "c.v"),
            ("object", "Box({E})", "c.v"),
            ("namespace", "types.SimpleNamespace(v={E})", "c.v"),
        )
    ),
    *_of_argument("list argument", f"[{_ARRAY}, {_ARRAY}]", "s[0]", True),
    *_of_argument("tuple argument", f"({_ARRAY}, 2.0)", "s[0]", True),
    *_of_argument("dict argument", f'{{"q": {_ARRAY}}}', 's["q"]', True),
    *_of_argument("nested argument", f'{{"q": [{_ARRAY}]}}', 's["q"][0]', True),
    *_of_argument("object argument", f"Box({_ARRAY})", "s.v", False),
    *_of_argument("dataclass argument", f"Data({_ARRAY})", "s.v", True),
    *_of_argument("named tuple argument", f"Pair({_ARRAY})", "s.v", True),
    *_of_argument("argument array", f"np.stack([{_ARRAY}, {_ARRAY}])", "s[1]", True),
    Origin("object argument, set", "argument", "s.v = {E}\na = s.v", ("s.v",), (("s", "Box(None)"),)),
    Origin("dataclass argument, set", "argument", "s.v = {E}\na = s.v", ("s.v",), (("s", f"Data({_ARRAY})"),)),
    Origin("list argument, set", "argument", "s[0] = {E}\na = s[0]", ("s[0]",), (("s", "[None]"),)),
    Origin("dict argument, set", "argument", 's["q"] = {E}\na = s["q"]', ('s["q"]',), (("s", "{}"),)),
    _of_module("G", "module", "a = G", "G"),
    _of_module("view of G", "module", "a = G[:]", "G"),
    _of_module("module list", "module", "a = L[0]", "L[0]"),
    _of_module("module dict", "module", 'a = D["q"]', 'D["q"]'),
    _of_module("module tuple", "module", "a = T[0]", "T[0]"),
    _of_module("module object", "module", "a = S.v", "S.v"),
    _of_module("class attribute", "module", "a = Holder.v", "Holder.v"),
    _of_module("class attribute of an instance", "module", "a = Holder().v", "Holder.v"),
    *(
        Origin(f"built {name}", "built", f"{made}\na = {path}", (path, "G"), activities=_ONLY_CONSTANT)
        for name, made, path in (
            ("list append", "c = []\nc.append(G)", "c[0]"),
            ("list extend", "c = []\nc.extend([G, k])", "c[0]"),
            ("list insert", "c = [k]\nc.insert(0, G)", "c[0]"),
            ("list +=", "c = []\nc += [G]", "c[0]"),
            ("list store", "c = [None, k]\nc[0] = G", "c[0]"),
            ("list loop", "c = []\nfor g in (G, k):\n    c.append(g)", "c[0]"),
            ("dict store", 'c = {}\nc["q"] = G', 'c["q"]'),
            ("dict setdefault", 'c = {}\nc.setdefault("q", G)', 'c["q"]'),
            ("dict update", 'c = {}\nc.update({"q": G})', 'c["q"]'),
            ("dict update keyword", "c = {}\nc.update(q=G)", 'c["q"]'),
            ("display", "c = [G, k]", "c[0]"),
            ("comprehension", "c = [g for g in (G, k)]", "c[0]"),
            ("dict of list", 'c = {}\nc.setdefault("q", []).append(G)', 'c["q"][0]'),
            ("object", "c = Plain()\nc.v = G", "c.v"),
            ("list of object", "c = []\nc.append(Box(G))", "c[0].v"),
            ("zip", "c = list(zip([G], [k]))", "c[0][0]"),
            ("sum of lists", "c = [G] + [k]", "c[0]"),
            ("copied list", "c = list((G, k)).copy()", "c[0]"),
            ("reversed", "c = list(reversed([k, G]))", "c[0]"),
            ("pop", "d = [G]\nc = [d.pop()]", "c[0]"),
            ("defaultdict", 'c = collections.defaultdict(list)\nc["q"].append(G)', 'c["q"][0]'),
            ("array argument", "c = []\nc.append(k)", "c[0]"),
        )
    ),
    *(
        Origin(f"built {name}", "built", f"{made}\na = {path}", (path,))
        for name, made, path in (
            ("append of local", "c = []\nc.append({E})", "c[0]"),
            ("store of local", 'c = {}\nc["q"] = {E}', 'c["q"]'),
            ("shared by two", "m = {E}\nc = []\nc.append(m)\nd = [c[0]]", "d[0]"),
        )
    ),
    Origin("default argument", "closure", "", activities=_ONLY_CONSTANT, default=_ARRAY),
    Origin(
        "closure cell", "closure", "a = cell", ("cell",), activities=_ONLY_CONSTANT, cell="np.array([0.3, 0.9, -1.1])"
    ),
    Origin(
        "closure list",
        "closure",
        "a = cell[0]",
        ("cell[0]",),
        activities=_ONLY_CONSTANT,
        cell="[np.array([0.3, 0.9, -1.1])]",
    ),
    *(
        Origin(f"helper {name}", "result", f"m = {{E}}\na = {call}", ("m",))
        for name, call in (
            ("same", "same(m)"),
            ("part", "part(m)"),
            ("either", "either(m, k)"),
            ("pair", "pair(m, k)[0]"),
            ("apply", "apply(same, m)"),
            ("lambda", "(lambda q: q)(m)"),
            ("method", "Giver(m).give()"),
            ("method of view", "Giver(m).slice()"),
            ("asarray", "np.asarray(m)"),
            ("atleast_1d", "np.atleast_1d(m)"),
            ("copy.copy of list", "copy.copy([m])[0]"),
            ("reduce", "functools.reduce(lambda p, q: q, [k, m])"),
        )
    ),
    Origin("subclass argument", "subclass", "a = s", ("s",), (("s", f"{_ARRAY}.view(Sub)"),), False, _ONLY_CONSTANT),
    Origin("subclass view", "subclass", "m = {E}\na = m.view(Sub)", ("m",)),
    Origin("k and list", "shared", "a = s[0]", ("k",), (("s", "[k]"),), False, _ONLY_CONSTANT),
    Origin("k and dict", "shared", 'a = s["l"]', ("k",), (("s", '{"l": k}'),), False, _ONLY_CONSTANT),
    Origin("k and object", "shared", "a = s.v", ("k",), (("s", "Box(k)"),), False, _ONLY_CONSTANT),
    Origin("k and dataclass", "shared", "a = s.v", ("k",), (("s", "Data(k)"),), False, _ONLY_CONSTANT),
    Origin("k and itself", "shared", "a = s", ("k",), (("s", "k"),), False, _ONLY_CONSTANT),
    Origin("k and view", "shared", "a = s", ("k",), (("s", "k[::-1]"),), False, _ONLY_CONSTANT),
    Origin("two lists", "shared", "a = s[0]", ("t[0]",), (("s", "[k]"), ("t", "list(s)")), False, _ONLY_CONSTANT),
    Origin("same list", "shared", "a = s[0]", ("t[0]",), (("s", "[k]"), ("t", "s")), False, _ONLY_CONSTANT),
    Origin(
        "list in object", "shared", "a = t.v[0]", ("s[0]", "k"), (("s", "[k]"), ("t", "Box(s)")), False, _ONLY_CONSTANT
    ),
    Origin(
        "appended to shared list",
        "shared",
        'm = {E}\ns.append(m)\na = t["l"][-1]',
        ("m", "s[-1]"),
        (("s", "[k]"), ("t", '{"l": s}')),
    ),
    Origin("set in shared object", "shared", "s.v = {E}\na = t[0].v", ("s.v",), (("s", "Box(k)"), ("t", "[s]"))),
    Origin("set in shared dict", "shared", 's["n"] = {E}\na = t.v["n"]', ('s["n"]',), (("s", "{}"), ("t", "Box(s)"))),
)


@dataclass(frozen=True)
class Route:
    """Statements that name `a` as `b`, or what stands around the block that writes."""

    name: str
    lines: str = ""
    target: str = "b"
    #: A line that opens a block around the writing, and one that follows it.
    opening: str = ""
    closing: str = ""


ROUTES: tuple[Route, ...] = (
    Route("none", target="a"),
    Route("alias", "b = a"),
    Route("unpacked", "b, _ = a, 1.0"),
    Route("starred", "b, *_ = [a, k]"),
    Route("nested unpacking", "(_, (b, _)) = (1.0, (a, k))"),
    Route("chained", "b = c1 = a"),
    Route("list display", "q = [a, k]", "q[0]"),
    Route("dict display", 'q = {"b": a}', 'q["b"]'),
    Route("tuple display", "q = (k, a)", "q[1]"),
    Route("attribute", "q = Box(a)", "q.v"),
    Route("set attribute", "q = Plain()\nq.b = a", "q.b"),
    Route("list append", "q = []\nq.append(a)", "q[0]"),
    Route("dict store", 'q = {}\nq["b"] = a', 'q["b"]'),
    Route("named tuple", "q = Pair(a)", "q.v"),
    Route("dataclass", "q = Data(a)", "q.v"),
    Route("getattr", 'q = Box(a)\nb = getattr(q, "v")'),
    Route("vars", 'q = Box(a)\nb = vars(q)["v"]'),
    Route("dict get", 'b = {"b": a}.get("b")'),
    Route("pop", "b = [k, a].pop()"),
    Route("helper", "b = same(a)"),
    Route("helper part", "b = part(a)"),
    Route("helper either", "b = either(x, a) if x[0] < 0.0 else a"),
    Route("helper pair", "_, b = pair(k, a)"),
    Route("helper nested", "(b, _), _ = nested(a, k)"),
    Route("helper nested view", "_, [_, (b, _)] = nested(a, k)"),
    Route("item of nested", "q = nested(a, k)", "q[0][0]"),
    Route("view in nested", "q = nested(a, k)", "q[1][1][0]"),
    Route("stored in nested", "q = nested(k, k)\nq[1][0] = a", "q[1][0]"),
    Route("view stored in nested", "q = nested(a, k)\nq[1][0] = q[1][1][0]", "q[1][0]"),
    Route("imaginary part", "z = a + 1j * k\nb, v1 = pair(z.imag, z.real)\na = v1"),
    Route("tried", opening="try:", closing="except IndexError:\n    pass"),
    Route("tried in nested", "q = nested(k, a)", "q[1][0]", opening="try:", closing="except IndexError:\n    pass"),
    Route("conditional", "b = a if x[0] > 0.0 else k"),
    Route("branch", "if x[0] > 0.0:\n    b = a\nelse:\n    b = k"),
    Route("or", "b = None or a"),
    Route("and", "b = 1.0 and a"),
    Route("loop variable", opening="for b in [a]:"),
    Route("loop variable after", "for b in (k, a):\n    pass"),
    Route("enumerate", opening="for _, b in enumerate([a]):"),
    Route("zip", opening="for b, _ in zip([a], [1.0]):"),
    Route("dict values", opening='for b in {"b": a}.values():'),
    Route("dict items", opening='for _, b in {"b": a}.items():'),
    Route("reversed", opening="for b in reversed([a]):"),
    Route("comprehension", "b = [t for t in (a, k)][0]"),
    Route("next", "b = next(iter([a]))"),
    Route("max", "b = max([a], key=len)"),
    Route("walrus", "if (b := a) is None:\n    return np.sum(x)"),
    Route("closure parameter", opening="def act(b):", closing="act(a)"),
    Route("closure", target="a", opening="def act():", closing="act()"),
    Route("stored closure", target="a", opening="def act():", closing="q = [act]\nq[0]()"),
    Route("slice", "b = a[:]"),
    Route("reversed view", "b = a[::-1]"),
    Route("reshape", "b = a.reshape(3, 1)[:, 0]"),
    Route("asarray", "b = np.asarray(a)"),
    Route("view", "b = a.view()"),
    Route("real", "b = a.real"),
    Route("row of", "b = a[None, :][0]"),
    Route("shallow copy", "b = copy.copy([a])[0]"),
    Route("list()", "b = list((a,))[0]"),
    Route("sum of lists", "b = ([k] + [a])[1]"),
    Route("times", "b = ([a] * 2)[1]"),
    Route("kept in a list", "q = []\nkeep(q, a)", "q[0]"),
    Route("kept in a dict", "q = {}\nkeep_as(q, a)", 'q["q"]'),
    Route("kept in an object", "q = Box(None)\nkeep_in(q, a)", "q.v"),
    Route("kept by a method", "q = Keeper()\nq.keep(a)", "q.v"),
    Route("kept by a method in a list", "q = Keeper()\nq.push(a)", "q.all[0]"),
    Route("kept by the module", "keep(KEPT, a)", "KEPT[-1]"),
    Route("kept twice", "q = []\nkeep(q, a)\nd2 = {}\nkeep_as(d2, q[0])", 'd2["q"]'),
    Route("kept by a lambda", "q = []\nw1 = lambda t: q.append(t)\nw1(a)", "q[0]"),
    Route("kept by map", "q = []\nlist(map(q.append, [a]))", "q[0]"),
    Route("kept by a stored method", "q = []\nw1 = q.append\nw1(a)", "q[0]"),
    Route("kept as an item", "q = [None]\noperator.setitem(q, 0, a)", "q[0]"),
    Route("kept by setattr", 'q = Plain()\nsetattr(q, "v", a)', "q.v"),
    Route("iterator unpacked", "(b,) = (t for t in [a])"),
    Route("entered", opening="with contextlib.nullcontext(a) as b:"),
    Route("expression ravel", target="np.ravel(a)"),
    Route("expression reshape", target="a.reshape(3)"),
    Route("expression conditional", target="(a if x[0] > 0.0 else k)"),
    Route("expression list", target="[a, k][0]"),
    Route("expression dict", target='{"b": a}["b"]'),
    Route("expression same", target="same(a)"),
    Route("expression pair", target="pair(a, k)[0]"),
    *(
        Route(view, f"b = {view}")
        for view in (
            "a[...]",
            "a.T",
            "a.squeeze()",
            "a.ravel()",
            "a.swapaxes(0, 0)",
            "a.astype(float, copy=False)",
            "a.reshape((1, 3)).T[:, 0]",
            "np.ravel(a)",
            "np.squeeze(a[None])",
            "np.expand_dims(a, 0)[0]",
            "np.split(a, 1)[0]",
            "np.array_split(a, 1)[0]",
            "np.atleast_2d(a)[0]",
            "np.ascontiguousarray(a)",
            "np.asfortranarray(a)",
            "np.asanyarray(a)",
            "np.array(a, copy=None)",
            "np.require(a)",
            "np.moveaxis(a[None], 0, 1)[:, 0]",
            "np.flip(a)",
            "np.real(a)",
            "np.lib.stride_tricks.as_strided(a)",
            "np.asarray(memoryview(a))",
            "np.nan_to_num(a, copy=False)",
            # These are copies.
            "a.copy()",
            "+a",
            "a[[0, 1, 2]]",
            "np.array(a)",
            "np.concatenate([a])",
        )
    ),
)

SIMPLE_ROUTES = tuple(r for r in ROUTES if r.name in ("none", "alias", "list display", "slice", "helper", "unpacked"))
SIMPLE_ORIGINS = tuple(o for o in ORIGINS if o.simple)
