"""Writers that are classes of the user's: methods with the names of built-in ones, operators, constructors, state."""

from __future__ import annotations

import re

from tests.matrix.wholes import forms
from tests.matrix.writers import ALIAS, NONE, NUMBER, OTHER, STATEMENT, Writer

NAMES = (
    "count get mean index sum copy take max min items keys values conj reshape transpose dot append pop update sort "
    "fill item astype all any round join split format random normal uniform choice extend insert remove clear reverse "
    "setdefault ravel flatten squeeze swapaxes trace diagonal repeat cumsum prod std var clip argmax argmin argsort "
    "nonzero searchsorted tolist view upper strip replace encode shuffle integers permutation real T shape tobytes "
    "put partition add discard union tocsr sin exp array zeros __array__ step forward"
).split()

#: What a method of `self` does with its argument `q`: its body and the kind of its value.
_ACTIONS = (
    ("writes", "q[0] = 0.35\nreturn np.sum(q)", NUMBER),
    ("writes quietly", "q[1] = 0.35", NONE),
    ("multiplies", "q *= 0.5\nreturn 1.0", NUMBER),
    ("writes and returns it", "q[0] = 0.35\nreturn q", ALIAS),
    ("returns it", "return q", ALIAS),
    ("returns a view", "return q[:]", ALIAS),
    ("calls a writer", "put(q)\nreturn 2.0", NUMBER),
    ("sorts", "q.sort()\nreturn q", ALIAS),
)
_PARAMETERS = ("q", "q", "q, n=0", "q, *, axis=None", "q, *rest", "q, **more")


def indented(text: str, depth: int = 1) -> str:
    """Lines moved to the right."""
    return "\n".join(" " * 4 * depth + line if line else line for line in text.splitlines())


def _method(name: str, parameters: str, body: str, depth: int = 1) -> str:
    return indented(f"def {name}({parameters}):\n" + indented(body), depth)


#: A receiver: its family, the class around the method, what makes it, and how the method is called.
_RECEIVERS: tuple[tuple[str, str, str, str], ...] = (
    ("plain object", "class Own:\n{method}", "Own()", "o.{name}({b})"),
    ("plain object by keyword", "class Own:\n{method}", "Own()", "o.{name}(q={b})"),
    ("inherited", "class Base:\n{method}\n\nclass Own(Base):\n    pass", "Own()", "o.{name}({b})"),
    ("dataclass", "@dataclass\nclass Own:\n    n: int = 0\n\n{method}", "Own()", "o.{name}({b})"),
    ("list subclass", "class Own(list):\n{method}", "Own()", "o.{name}({b})"),
    ("dict subclass", "class Own(dict):\n{method}", "Own()", "o.{name}({b})"),
    ("str subclass", "class Own(str):\n{method}", "Own()", "o.{name}({b})"),
    ("float subclass", "class Own(float):\n{method}", "Own()", "o.{name}({b})"),
    ("named tuple", "class Own(NamedTuple):\n    n: int = 0\n\n{method}", "Own()", "o.{name}({b})"),
    ("array subclass", "class Own(np.ndarray):\n{method}", "np.ones(3).view(Own)", "o.{name}({b})"),
    ("the array itself", "class Own(np.ndarray):\n{method}", "None", "{b}.view(Own).{name}({b})"),
    ("static method", "class Own:\n    @staticmethod\n{static}", "Own()", "o.{name}({b})"),
    ("class method", "class Own:\n    @classmethod\n{method}", "Own()", "o.{name}({b})"),
    ("of the class", "class Own:\n    @staticmethod\n{static}", "Own", "o.{name}({b})"),
    ("unbound", "class Own:\n{method}", "Own()", "Own.{name}(o, {b})"),
    ("function as attribute", "{function}\n\nclass Own:\n    pass", "Own()", "o.{name}({b})"),
    ("class attribute", "{function}\n\nclass Own:\n    {name} = staticmethod({name}_)", "Own()", "o.{name}({b})"),
    ("namespace", "{function}", "types.SimpleNamespace({name}={name}_)", "o.{name}({b})"),
    ("in map", "class Own:\n{method}", "Own()", "list(map(o.{name}, [{b}]))"),
    ("as value", "class Own:\n{method}", "Own()", "apply(o.{name}, {b})"),
    ("getattr", "class Own:\n{method}", "Own()", 'getattr(o, "{name}")({b})'),
    ("in a list", "class Own:\n{method}", "[Own()]", "o[0].{name}({b})"),
    ("in a dict", "class Own:\n{method}", '{{"o": Own()}}', 'o["o"].{name}({b})'),
    ("attribute of object", "class Own:\n{method}", "Box(Own())", "o.v.{name}({b})"),
    ("made there", "class Own:\n{method}", "None", "Own().{name}({b})"),
    ("helper's result", "class Own:\n{method}", "Own()", "same(o).{name}({b})"),
    ("conditional", "class Own:\n{method}", "Own()", "(o if x[0] > 0.0 else k).{name}({b})"),
    (
        "looked up",
        "class Own:\n    def __getattr__(self, name):\n        return {name}_\n\n{function}",
        "Own()",
        "o.{name}({b})",
    ),
)
_PLACES = ("local", "argument", "module")


def _methods() -> list[Writer]:
    found = []
    for number, (receiver, text, made, call) in enumerate(_RECEIVERS):
        for second, name in enumerate(NAMES):
            if name.startswith("__") and "ndarray" in text:
                continue
            if receiver == "named tuple" and name in ("index", "count"):
                continue
            for third in range(2):
                spread = number * 31 + second * 7 + third * 3
                action, body, kind = _ACTIONS[(spread + second // 3) % len(_ACTIONS)]
                parameters = _PARAMETERS[spread % len(_PARAMETERS)]
                parts = {
                    "method": _method(name, f"self, {parameters}", body),
                    "static": _method(name, parameters, body),
                    "function": _method(f"{name}_", parameters, body, 0),
                    "name": name,
                }
                place = _PLACES[spread // 2 % 3]
                top = text.format(**parts)
                new = made.format(name=name)
                before = {"local": f"o = {new}", "argument": "", "module": "o = O"}[place]
                if receiver == "function as attribute":
                    place, before = "local", f"o = {new}\no.{name} = {name}_"
                if new == "None":
                    before, place = "", "local"
                if place == "module":
                    top += f"\n\nO = {new}"
                given = (("o", new),) if place == "argument" else ()
                kind = OTHER if receiver == "in map" else kind
                family = f"methods of {receiver}"
                text_of_call = call.format(name=name, b="{b}")
                label = f"{name} {action}"
                found.append(Writer(label, family, text_of_call, kind, False, top, before, given))
    return found


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


def _operators() -> list[Writer]:
    found = []
    for number, (name, parameters, text, wanted) in enumerate(_OPERATORS):
        for action in ("writes", "returns its array", "both"):
            if action != "writes" and wanted not in ("any", "array"):
                continue
            effect = "" if action == "returns its array" else "self.v[0] = 0.35\n"
            value = {"any": "1.0", "array": "self.v", "self": "self", "nothing": "None", "iterator": "iter([1.0])"}
            result = "self.v" if action != "writes" else value.get(wanted, wanted)
            method = name if name.startswith("__") else "other"
            body = _method(method, parameters, f"{effect}return {result}")
            if name == "property":
                body = "    @property\n" + body
            elif name == "cached_property":
                body = "    @functools.cached_property\n" + body
            elif name == "setter":
                body = f"    @property\n    def other(self):\n        return 1.0\n\n    @other.setter\n{body}"
            base = "(dict)" if name == "__missing__" else ""
            top = f"class Op{base}:\n    def __init__(self, v):\n        self.v = v\n\n{body}"
            if name == "__next__":
                top += "\n\n    def __iter__(self):\n        return self"
            if name == "__enter__":
                top += "\n\n    def __exit__(self, *rest):\n        return None"
            statement = "\n" in text or " = " in text or text.startswith(("del", "assert")) or "= " in text[:5]
            kind = STATEMENT if statement else OTHER
            if not statement and wanted == "any":
                kind = NUMBER if action == "writes" else ALIAS
            if text == "o.other + 1.0":
                kind = NUMBER if action == "writes" else "array"
            if text in ("np.sum(o)", "len(o)", "sum(o)", "float(o)"):
                kind = NUMBER
            whole = f"o = Op({{b}})\n{text}" if statement else text.replace("o", "Op({b})", 1) if text[0] == "o" else ""
            if not whole or number % 2:
                whole = "o = Op({b})\n" + (text if statement else f"w = {text}")
                kind = STATEMENT
            found.append(Writer(f"{name} {text!r} {action}", f"operators: {action}", whole, kind, top=top))
    return found


def _forms() -> list[Writer]:
    """Constructors, functions with state and generators, as they are written out."""
    found = []
    for form in forms("definitions.txt"):
        first = form.body.split(maxsplit=1)[0]
        statement = "\n" in form.body or re.search(r"^[^(]* = ", form.body) or first in ("class", "for", "with")
        kind = STATEMENT if statement else OTHER
        found.append(Writer(form.name, form.family, form.body, kind, top=form.top))
    return found


METHODS: tuple[Writer, ...] = tuple(_methods())
OPERATORS: tuple[Writer, ...] = tuple(_operators())
DEFINITIONS: tuple[Writer, ...] = tuple(_forms())
