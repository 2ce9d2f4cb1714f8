"""Adjoints that are zero by selection: where `np.where`, a maximum or a clip did not take an element.

The adjoint of such an operand is ``np.where(c, g, 0)``.  What an operation before it makes of an element that was not
taken may have no finite derivative (``np.where(x > 0, np.log(x), 0)``), and zero times that is NaN.  So operations that
work element by element are differentiated with ``g``, and the selection comes last: ``np.where(c, g / x, 0)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2sad.ir import algebra
from s2sad.ir.nodes import Call, Const, Expr, Op, Var
from s2sad.ir.traverse import names_in, rename

_WHOLE = Var("~whole")
_HALF = Call(algebra.DIVIDE, (_WHOLE, Const(2)))
_WHERE = Op("runtime", "np.where", np.where)


@dataclass(frozen=True)
class Selection:
    """An adjoint as a selection among the elements of the adjoint ``whole``, a name or a constant.

    ``form`` is the selection, with a variable in place of ``whole``; ``name`` what it is called where it has a name.
    """

    form: Expr
    whole: Expr
    name: Var | None = None

    def __call__(self, whole: Expr) -> Expr:
        """The same selection among the elements of another adjoint."""
        return rename(self.form, {_WHOLE.name: whole})

    def within(self, outer: Selection) -> Selection:
        """This selection, where ``outer`` has taken an element first."""
        return Selection(outer(self.form), outer.whole)

    @property
    def is_mask(self) -> bool:
        """Whether each element is taken whole or not at all."""
        return _HALF not in _leaves(self.form)

    def rest(self, other: Selection) -> Expr | None:
        """The sum with a selection that takes the elements that this one does not take."""
        a, b = self.form, other.form
        if not (isinstance(a, Call) and isinstance(b, Call) and a.args[0] == b.args[0]):
            return None
        if a.args[1:] == (_WHOLE, Const(0)) and b.args[1:] == (Const(0), _WHOLE):
            return Call(_WHERE, (a.args[0], self.whole, other.whole))
        if b.args[1:] == (_WHOLE, Const(0)) and a.args[1:] == (Const(0), _WHOLE):
            return other.rest(self)
        return None


def selection_of(g: Expr, whole: Expr) -> Selection | None:
    """The selection among the elements of ``whole`` that an adjoint is; None where it is none."""
    form = _form(g, whole)
    return Selection(form, whole) if isinstance(form, Call) and Const(0) in _leaves(form) else None


def masked(bar: Var, masks: Sequence[Expr]) -> Selection:
    """What is selected of an adjoint that is zero where one of some masks is true."""
    form: Expr = _WHOLE
    for mask in masks:
        form = Call(_WHERE, (mask, Const(0), form))
    return Selection(form, bar, bar)


def _form(g: Expr, whole: Expr) -> Expr | None:
    """An adjoint with a variable in place of ``whole``; None unless its elements are ``whole``, half of it, or zero."""
    if g == whole:
        return _WHOLE
    if g == Const(0):
        return g
    if g == Call(algebra.DIVIDE, (whole, Const(2))):
        return _HALF
    if not isinstance(g, Call) or g.op.function is not np.where or len(g.args) != 3 or g.kwargs:
        return None
    condition, *choices = g.args
    forms = [_form(choice, whole) for choice in choices]
    if None in forms or not set(names_in(whole)).isdisjoint(names_in(condition)):
        return None
    return Call(_WHERE, (condition, *[form for form in forms if form is not None]))


def _leaves(form: Expr) -> list[Expr]:
    """What the elements of a selection are."""
    if isinstance(form, Call) and form.op == _WHERE:
        return [leaf for choice in form.args[1:] for leaf in _leaves(choice)]
    return [form]
