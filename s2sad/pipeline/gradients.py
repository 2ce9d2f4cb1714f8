"""Gradients: what the reverse part begins with, and the function that returns the adjoints of arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace

from s2sad.analysis.infer import Facts
from s2sad.differentiate.known import Reversed, Seeds
from s2sad.ir.nodes import Assign, Build, Call, Const, Expr, Function, Op, Stmt, Var
from s2sad.ir.traverse import names_in
from s2sad.ir.types import SCALAR, same_shape
from s2sad.pipeline.analysed import Analysed, Asked
from s2sad.runtime import constant_loss, scalar_seed
from s2sad.runtime.trees import conformed

_SEED = Op("runtime", "scalar_seed", scalar_seed)
# These two raise for what they do not accept; the first is evaluated whether its result is read or not.
_CONSTANT_LOSS = Op("runtime", "constant_loss", constant_loss, pure=False)
_CONFORMED = Op("runtime", "conformed", conformed)


@dataclass(frozen=True)
class GradientForm:
    """What a gradient is called and returns.

    It is ``single`` if it is that of one parameter and no tuple.  One ``with_value`` returns the value before it.  One
    that is ``conformed`` has the structure, shape and dtype of its argument.
    """

    name: str
    title: tuple[str, ...]
    single: bool
    with_value: bool
    conformed: bool


def loss_of(a: Analysed, asked: Asked) -> Expr:
    """The value of which the gradient is taken."""
    return Var("~loss.1") if asked.has_aux else a.function.result


def seeds_of(a: Analysed, loss: Expr) -> tuple[Seeds, tuple[Stmt, ...]]:
    """The adjoint of the value, and the statement that checks it and makes that."""
    if a.activity.active.isdisjoint(names_in(loss)):
        # A result that is no float, and no derivative either, is a mistake.
        check = Assign("~zero.1", Call(_CONSTANT_LOSS, (loss,)))
        return Seeds((), {"~zero.1": SCALAR}), (check,)
    fact = a.facts.get(loss)
    if not isinstance(loss, Var):
        return Seeds((), {}), ()
    if fact.kind == "scalar" and fact.real:
        return Seeds(((loss.name, Const(1.0)),), {}), ()
    bar = "~loss_bar.1"
    return Seeds(((loss.name, Var(bar)),), {bar: SCALAR}), (Assign(bar, Call(_SEED, (loss,))),)


def assembled_gradient(
    a: Analysed, made: Reversed, head: tuple[Stmt, ...], asked: Asked, form: GradientForm
) -> Function:
    """The function that returns the adjoints of the arguments, beside the value where that is wanted."""
    loss, adjoints = loss_of(a, asked), made.adjoints
    if form.conformed:
        params = {p.public: p.name for p in a.function.params}
        look = Facts(made.facts, a.facts.globals)
        pairs = zip(adjoints, asked.wrt, strict=True)
        adjoints = tuple([_conformed(bar, Var(params[name]), a.facts, look) for bar, name in pairs])
    gradients = adjoints[0] if form.single else Build("tuple", adjoints)
    if form.with_value:
        value: Expr = Build("tuple", (loss, Var("~aux.1"))) if asked.has_aux else loss
        result: Expr = Build("tuple", (value, gradients))
    else:
        result = Build("tuple", (gradients, Var("~aux.1"))) if asked.has_aux else gradients
    reverse = (*head, *made.reverse)
    return replace(a.function, name=form.name, body=made.body, reverse=reverse, result=result, title=form.title)


def _conformed(bar: Expr, param: Var, facts: Facts, made: Facts) -> Expr:
    """The adjoint of a parameter in the form of that, as which it may be known already."""
    wanted, found = facts.get(param), made.get(bar)
    alike = wanted.kind == found.kind and wanted.kind in ("array", "scalar") and same_shape(wanted, found)
    if alike and wanted.real and found.real and wanted.precision == found.precision != "":
        return bar
    return Call(_CONFORMED, (bar, param))
