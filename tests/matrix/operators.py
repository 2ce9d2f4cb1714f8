"""Writers that are operators of the user's classes: special methods that write their array, or return it."""

from __future__ import annotations

import re

from tests.matrix.classes import indented
from tests.matrix.writers import ALIAS, ARRAY, NUMBER, OTHER, STATEMENT, Writer

#: Operators: the special method, its parameters, the expression, and what kind of result Python wants of it.
_OPERATORS = (
    *(
        (f"__{name}__", "self, other", f"o {sign} 1.0", "any")
        for name, sign in (
            ("add", "+"),
            ("sub", "-"),
            ("mul", "*"),
            ("truediv", "/"),
            ("floordiv", "//"),
            ("mod", "%"),
            ("pow", "**"),
            ("matmul", "@"),
            ("and", "&"),
            ("or", "|"),
            ("xor", "^"),
            ("lshift", "<<"),
            ("rshift", ">>"),
            ("eq", "=="),
            ("ne", "!="),
            ("lt", "<"),
            ("le", "<="),
            ("gt", ">"),
            ("ge", ">="),
        )
    ),
    *(
        (f"__r{name}__", "self, other", f"1.0 {sign} o", "any")
        for name, sign in (
            ("add", "+"),
            ("sub", "-"),
            ("mul", "*"),
            ("truediv", "/"),
            ("matmul", "@"),
            ("pow", "**"),
        )
    ),
    ("__neg__", "self", "-o", "any"),
    ("__pos__", "self", "+o", "any"),
    ("__invert__", "self", "~o", "any"),
    ("__abs__", "self", "abs(o)", "any"),
    ("__round__", "self, n=0", "round(o)", "any"),
    ("__getitem__", "self, i", "o[0]", "any"),
    ("__getitem__", "self, i", "o[1:]", "any"),
    ("__call__", "self, *args", "o()", "any"),
    ("__call__", "self, *args", "o(1.0)", "any"),
    ("__getattr__", "self, name", "o.other", "any"),
    ("__divmod__", "self, other", "divmod(o, 1)", "any"),
    ("__missing__", "self, key", "o[1]", "any"),
    ("__array__", "self, dtype=None, copy=None", "np.sum(o)", "array"),
    ("__array__", "self, dtype=None, copy=None", "np.asarray(o)", "array"),
    ("__iter__", "self", "list(o)", "iterator"),
    ("__iter__", "self", "sum(o)", "iterator"),
    ("__iter__", "self", "[t for t in o]", "iterator"),
    ("__iter__", "self", "for w in o:\n    pass", "iterator"),
    ("__iter__", "self", "w, *_ = o", "iterator"),
    ("__iter__", "self", "1.0 in o", "iterator"),
    ("__iter__", "self", "same(*o)", "iterator"),
    ("__reversed__", "self", "list(reversed(o))", "iterator"),
    ("__next__", "self", "next(o)", "any"),
    ("__len__", "self", "len(o)", "2"),
    ("__len__", "self", "range(len(o))", "2"),
    ("__bool__", "self", "bool(o)", "True"),
    ("__bool__", "self", "not o", "True"),
    ("__bool__", "self", "if o:\n    pass", "True"),
    ("__bool__", "self", "w = 1.0 if o else 2.0", "True"),
    ("__bool__", "self", "o and 1.0", "True"),
    ("__bool__", "self", "assert o", "True"),
    ("__contains__", "self, item", "1.0 in o", "True"),
    ("__contains__", "self, item", "if 1.0 not in o:\n    pass", "True"),
    ("__float__", "self", "float(o)", "0.5"),
    ("__int__", "self", "int(o)", "1"),
    ("__index__", "self", "x[o]", "1"),
    ("__index__", "self", "range(o)", "1"),
    ("__str__", "self", "str(o)", "''"),
    ("__str__", "self", "f'{{o}}'", "''"),
    ("__repr__", "self", "repr(o)", "''"),
    ("__format__", "self, spec", "f'{{o:s}}'", "''"),
    ("__hash__", "self", "hash(o)", "1"),
    ("__hash__", "self", "{{o: 1.0}}", "1"),
    ("__iadd__", "self, other", "o += 1.0", "self"),
    ("__imul__", "self, other", "o *= 2.0", "self"),
    ("__imatmul__", "self, other", "o @= x", "self"),
    ("__setitem__", "self, i, value", "o[0] = 1.0", "nothing"),
    ("__setitem__", "self, i, value", "o[:] = x", "nothing"),
    ("__delitem__", "self, i", "del o[0]", "nothing"),
    ("__enter__", "self", "with o:\n    pass", "any"),
    ("__instancecheck__", "self, other", "isinstance(1.0, o)", "True"),
    ("__copy__", "self", "copy.copy(o)", "any"),
    ("property", "self", "o.other", "any"),
    ("property", "self", "o.other + 1.0", "any"),
    ("setter", "self, value", "o.other = 1.0", "nothing"),
    ("cached_property", "self", "o.other", "any"),
)


#: How an object is reached that another one holds: what makes the other one, statements before, the expression.
_WAYS = (
    ("attribute", "Box(Op(k))", "", "h.v"),
    ("attribute's attribute", "Box(Box(Op(k)))", "", "h.v.v"),
    ("bound attribute", "Box(Op(k))", "o = h.v", "o"),
    ("bound owner", "Box(Box(Op(k)))", "o = h.v", "o.v"),
    ("attribute's list", "Box([Op(k)])", "", "h.v[0]"),
    ("attribute's dict", "Box({'o': Op(k)})", "", 'h.v["o"]'),
    ("attribute's dict by get", "Box({'o': Op(k)})", "", 'h.v.get("o")'),
    ("loop over attribute", "Box([Op(k)])", "for o in h.v:", "o"),
    ("unpacked attribute", "Box((Op(k), 1.0))", "o, _ = h.v", "o"),
    ("namespace", "types.SimpleNamespace(v=Op(k))", "", "h.v"),
    ("field", "Data(Op(k))", "", "h.v"),
    ("getattr", "Box(Op(k))", "", 'getattr(h, "v")'),
    ("method's result", "Giver(Op(k))", "", "h.give()"),
    ("helper's result", "Box(Op(k))", "", "same(h).v"),
    ("chosen", "Box(Op(k))", "", "(h.v if x[0] > 0.0 else k)"),
    ("module's attribute", "Box(Op(k))", "", "M.v"),
    ("item's attribute", "[Box(Op(k))]", "", "h[0].v"),
    ("in a deque", "collections.deque([Op(k)])", "", "h[0]"),
    ("in a set", "Box({Op(k)})", "for o in h.v:", "o"),
    ("in an array", "np.array([Op(k), None], dtype=object)", "", "h[0]"),
)
#: What a special method returns that has nothing else to return.
_RESULTS = {"any": "1.0", "array": "self.v", "self": "self", "nothing": "None", "iterator": "iter([1.0])"}
_NUMBERS = ("np.sum(o)", "len(o)", "sum(o)", "float(o)")


def _definition(name: str, parameters: str, action: str, wanted: str) -> str:
    """The class with the special method."""
    effect = "" if action == "returns its array" else "self.v[0] = 0.35\n"
    result = "self.v" if action != "writes" else _RESULTS.get(wanted, wanted)
    method = name if name.startswith("__") else "other"
    body = indented(f"def {method}({parameters}):\n" + indented(f"{effect}return {result}"))
    if name in ("property", "cached_property"):
        body = f"    @{name.replace('cached', 'functools.cached')}\n{body}"
    elif name == "setter":
        body = f"    @property\n    def other(self):\n        return 1.0\n\n    @other.setter\n{body}"
    base = "(dict)" if name == "__missing__" else ""
    more = {
        "__next__": "\n\n    def __iter__(self):\n        return self",
        "__enter__": "\n\n    def __exit__(self, *rest):\n        return None",
    }
    return f"class Op{base}:\n    def __init__(self, v):\n        self.v = v\n\n{body}{more.get(name, '')}"


def _kind(text: str, wanted: str, action: str) -> str:
    """What the value of an expression is."""
    if "\n" in text or "= " in text[:5] or " = " in text or text.startswith(("del", "assert")):
        return STATEMENT
    if text == "o.other + 1.0":
        return NUMBER if action == "writes" else ARRAY
    if text in _NUMBERS:
        return NUMBER
    return OTHER if wanted != "any" else NUMBER if action == "writes" else ALIAS


def _reached(way: tuple[str, str, str, str], label: str, statement: str, top: str) -> Writer:
    """An operator on an object that another argument, or one of the module, holds."""
    name, made, before, text = way
    parameters: tuple[tuple[str, str], ...] = (("h", made),)
    reads: tuple[str, ...] = ("k",)
    if name == "module's attribute":
        top, parameters, reads = f"{top}\n\nM = {made.replace('(k)', '(H)')}", (), ("H",)
    if text.endswith(")") and re.match(r"o \S+= ", statement):  # a call is no target of an assignment
        before, text = f"o = {text}", "o"
    statement = re.sub(r"\bo\b", text, statement)
    if before.endswith(":"):
        before, statement = "", f"{before}\n{indented(statement)}"
    return Writer(
        f"{label}, {name}",
        "operators: reached",
        "\n".join(filter(None, (before, statement))),
        top=top,
        parameters=parameters,
        reads=reads,
    )


def _operators() -> list[Writer]:
    """Each operator in a statement, on an object that is made there, and on ones that are or hold an argument's."""
    found = []
    for name, parameters, text, wanted in _OPERATORS:
        for action in ("writes", "returns its array", "both")[: 3 if wanted in ("any", "array") else 1]:
            top = _definition(name, parameters, action, wanted)
            kind = _kind(text, wanted, action)
            label = f"{name} {text!r} {action}"
            family = f"operators: {action}"
            statement = text if kind == STATEMENT else f"w = {text}"
            if kind == ALIAS:
                statement += "\nw[1] = {v}"
            found.append(Writer(label, family, f"o = Op({{b}})\n{statement}", top=top))
            held = Writer(
                f"{label}, argument", family, statement, top=top, parameters=(("o", "Op(k)"),), reads=("o.v",)
            )
            found.append(held)
            if "other" in parameters and "1.0" in text and action != "returns its array":
                stores = top.replace("self.v[0] = 0.35", "self.v[0] = other")
                with_value = statement.replace("1.0", "{v}", 1)
                found.append(Writer(f"{label}, operand", family, f"o = Op({{b}})\n{with_value}", top=stores))
            found += [_reached(way, label, statement, top) for way in _WAYS]
            if kind != STATEMENT:
                there = re.sub(r"\bo\b", "Op({b})", text)
                found.append(Writer(f"{label}, made there", family, there, kind, top=top))
    return found


_ALL = _operators()
OPERATORS: tuple[Writer, ...] = tuple(w for w in _ALL if w.family != "operators: reached")
REACHED: tuple[Writer, ...] = tuple(w for w in _ALL if w.family == "operators: reached")
