"""What is asked of expressions, and kept with them."""

from __future__ import annotations

from s2sad.analysis.summaries import constant_calls, user_calls, written_unseen
from s2sad.ir.nodes import Assign, Build, Call, Const, Expr, Op, Opaque, Slice, Var
from s2sad.ir.traverse import running, subexpressions


def call(kind: str, *args: Expr) -> Call:
    return Call(Op(kind, kind), args)  # type: ignore[arg-type]


def opaque(name: str, inner: Call | None = None, writes: tuple[str, ...] = ()) -> Opaque:
    return Opaque(None, ((name, f"{name}.1"),), call=inner, writes=writes)


def test_the_parts_that_run_functions_are_found_at_all_depths_in_order() -> None:
    kept = opaque("k", call("user", Var("z.1")))
    inner = call("user", Var("x.1"))
    outer = call("user", Build("tuple", (inner, Slice(Const(0), opaque("s", writes=("w.1",)), None))))
    whole = call("operator", outer, call("function", kept, inner))
    naive = [p for p in subexpressions(whole) if isinstance(p, Opaque) or (isinstance(p, Call) and p.op.kind == "user")]
    for _ in range(2):
        assert list(running(whole)) == naive == [outer, inner, naive[2], kept, inner]
    stmt = Assign("y.1", whole)
    assert list(user_calls(stmt)) == [outer, inner, inner]
    assert list(constant_calls(stmt)) == [kept.call]
    assert list(written_unseen(stmt)) == ["w.1"]
    assert running(Var("x.1")) == running(Const(1.0)) == ()
    assert running(kept) == (kept,)
