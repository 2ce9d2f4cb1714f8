"""Writers that are methods of the user's classes with the names of built-in ones, constructors and state."""

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
_RECEIVERS: tuple[tuple[str, str, str, str, str], ...] = (
    ("objects", "plain object", "class Own:\n{method}", "Own()", "o.{name}({b})"),
    ("objects", "plain object by keyword", "class Own:\n{method}", "Own()", "o.{name}(q={b})"),
    ("objects", "inherited", "class Base:\n{method}\n\nclass Own(Base):\n    pass", "Own()", "o.{name}({b})"),
    ("objects", "dataclass", "@dataclass\nclass Own:\n    n: int = 0\n\n{method}", "Own()", "o.{name}({b})"),
    ("subclasses", "list subclass", "class Own(list):\n{method}", "Own()", "o.{name}({b})"),
    ("subclasses", "dict subclass", "class Own(dict):\n{method}", "Own()", "o.{name}({b})"),
    ("subclasses", "str subclass", "class Own(str):\n{method}", "Own()", "o.{name}({b})"),
    ("subclasses", "float subclass", "class Own(float):\n{method}", "Own()", "o.{name}({b})"),
    ("subclasses", "named tuple", "class Own(NamedTuple):\n    n: int = 0\n\n{method}", "Own()", "o.{name}({b})"),
    ("subclasses", "array subclass", "class Own(np.ndarray):\n{method}", "np.ones(3).view(Own)", "o.{name}({b})"),
    ("subclasses", "the array itself", "class Own(np.ndarray):\n{method}", "None", "{b}.view(Own).{name}({b})"),
    ("classes", "static method", "class Own:\n    @staticmethod\n{static}", "Own()", "o.{name}({b})"),
    ("classes", "class method", "class Own:\n    @classmethod\n{method}", "Own()", "o.{name}({b})"),
    ("classes", "of the class", "class Own:\n    @staticmethod\n{static}", "Own", "o.{name}({b})"),
    ("classes", "unbound", "class Own:\n{method}", "Own()", "Own.{name}(o, {b})"),
    ("other ways", "function as attribute", "{function}\n\nclass Own:\n    pass", "Own()", "o.{name}({b})"),
    (
        "classes",
        "class attribute",
        "{function}\n\nclass Own:\n    {name} = staticmethod({name}_)",
        "Own()",
        "o.{name}({b})",
    ),
    ("other ways", "namespace", "{function}", "types.SimpleNamespace({name}={name}_)", "o.{name}({b})"),
    ("other ways", "in map", "class Own:\n{method}", "Own()", "list(map(o.{name}, [{b}]))"),
    ("other ways", "as value", "class Own:\n{method}", "Own()", "apply(o.{name}, {b})"),
    ("other ways", "getattr", "class Own:\n{method}", "Own()", 'getattr(o, "{name}")({b})'),
    ("objects", "in a list", "class Own:\n{method}", "[Own()]", "o[0].{name}({b})"),
    ("objects", "in a dict", "class Own:\n{method}", '{{"o": Own()}}', 'o["o"].{name}({b})'),
    ("objects", "attribute of object", "class Own:\n{method}", "Box(Own())", "o.v.{name}({b})"),
    ("objects", "made there", "class Own:\n{method}", "None", "Own().{name}({b})"),
    ("objects", "helper's result", "class Own:\n{method}", "Own()", "same(o).{name}({b})"),
    ("objects", "conditional", "class Own:\n{method}", "Own()", "(o if x[0] > 0.0 else k).{name}({b})"),
    (
        "other ways",
        "looked up",
        "class Own:\n    def __getattr__(self, name):\n        return {name}_\n\n{function}",
        "Own()",
        "o.{name}({b})",
    ),
)
_PLACES = ("local", "argument", "module")


def _methods() -> list[Writer]:
    found = []
    for number, (group, receiver, text, made, call) in enumerate(_RECEIVERS):
        for second, name in enumerate(NAMES):
            if name.startswith("__") and "ndarray" in text:
                continue
            if receiver == "named tuple" and name in ("index", "count"):
                continue
            for third in range(3):
                spread = number * 31 + second * 7 + third * 3
                action, body, kind = _ACTIONS[(spread + second // 3) % len(_ACTIONS)]
                parameters = _PARAMETERS[spread % len(_PARAMETERS)]
                stores = third == 2 and "0.35" in body and receiver != "in map"
                if stores:
                    body, parameters = body.replace("0.35", "v"), "q, v"
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
                family = f"methods: {group}"
                text_of_call = call.format(name=name, b="{b}")
                if stores:
                    given_value = "{b}, {v})" if receiver == "as value" else "{b}, v={v})"
                    text_of_call = text_of_call.replace("{b})", given_value)
                label = f"{name} {action}" + " what it is given" * stores
                found.append(Writer(label, family, text_of_call, kind, False, top, before, given, receiver=receiver))
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
DEFINITIONS: tuple[Writer, ...] = tuple(_forms())
