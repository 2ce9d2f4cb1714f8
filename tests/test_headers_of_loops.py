"""The header of an emitted loop takes its items apart where nothing else reads them."""

from __future__ import annotations

import ast

import pytest

from s2sad.as_syntax import Writer
from s2sad.ir.nodes import NOWHERE, Assign, Block, Call, For, Function, Op, Origin, Param, Unpack, Var
from s2sad.ir.traverse import walk, writes

HERE, BELOW = Origin(2, "for a, b in x"), Origin(3, "a, b = item")
ADD = Op("operator", "+")


def text(body: Block) -> str:
    names = ["x", *dict.fromkeys(n for s in walk(body) for n in writes(s))]
    function = Function("f", (Param("x", "x"),), body, Var("b"), "", ())
    return ast.unparse(
        ast.fix_missing_locations(Writer(dict(zip(names, names, strict=True)), {}, {}, {}).function(function))
    )


def loop(*body: object) -> For:
    return For(("item",), (Var("x"),), tuple(body), None, HERE)  # type: ignore[arg-type]


APART = Unpack(("a", "b"), Var("item"), None, HERE)


@pytest.mark.parametrize(
    ("body", "header"),
    [
        ((loop(APART),), "for a, b in x:"),
        ((loop(Unpack(("a", "b"), Var("item"), None, NOWHERE)),), "for a, b in x:"),
        ((loop(Unpack(("a", "b"), Var("item"), 1, HERE)),), "for a, *b in x:"),
        ((loop(APART, Unpack(("c", "d"), Var("a"), None, HERE)),), "for (c, d), b in x:"),
        # Written on a line of its own, read again in the loop, behind it, or by another one.
        ((loop(Unpack(("a", "b"), Var("item"), None, BELOW)),), "for item in x:"),
        ((loop(APART, Assign("c", Var("item"), HERE)),), "for item in x:"),
        ((loop(APART), Assign("c", Var("item"), HERE)), "for item in x:"),
        ((loop(APART), loop(Assign("c", Call(ADD, (Var("item"), Var("item"))), HERE))), "for a, b in x:"),
        ((loop(APART, Unpack(("c", "d"), Var("a"), None, HERE), Assign("e", Var("a"), HERE)),), "for a, b in x:"),
    ],
)
def test_the_header_of_a_loop(body: Block, header: str) -> None:
    assert next(line for line in text(body).splitlines() if "for " in line).strip() == header
