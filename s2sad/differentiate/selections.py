"""Adjoints that are zero by selection: where `np.where`, a maximum or a clip did not take an element.

The adjoint of such an operand is ``np.where(c, g, 0)``.  What an operation before it makes of an element that was not
taken may have no finite derivative (``np.where(x > 0, np.log(x), 0)``), and zero times that is NaN.  So operations that
work element by element are differentiated with ``g``, and the selection comes last: ``np.where(c, g / x, 0)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from s2sad.ir import algebra
from s2sad.ir.nodes import Call, Const, Expr, Op, Var
from s2sad.ir.traverse import names_in, rename

_WHOLE = Var("~whole")
_SUM = Var("~sum")
_NONE = Const(0)
_HALF = Call(algebra.DIVIDE, (_WHOLE, Const(2)))
_WHERE = Op("runtime", "np.where", np.where)
#: How many choices are written out.
_FEW = 6
_NOT_EQUAL = Op("compare", "!=")


@dataclass(frozen=True)
class Selection:
    """An adjoint as a selection among the elements of the adjoint ``whole``, a name or a constant.

    ``form`` is the selection, with a variable in place of ``whole``; ``name`` what it is called where it has a name.
    What stands at the constant indices ``places`` is zero as well, and is to be set to zero again where a product with
    it may not be.  What is selected ``rarely`` is so again only then.
    """

    form: Expr
    whole: Expr
    name: Var | None = None
    places: tuple[Expr, ...] = ()
    rarely: bool = False

    @property
    def is_all(self) -> bool:
        """Whether all elements are taken."""
        return self.form == _WHOLE

    def __call__(self, whole: Expr) -> Expr:
        """The same selection among the elements of another adjoint."""
        form = self.form
        while isinstance(form, Call) and form.args == (Call(_NOT_EQUAL, (whole, _NONE)), form.args[1], _NONE):
            form = form.args[1]  # whatever else is selected of zero is zero
        return _filled(form, whole)

    def within(self, outer: Selection) -> Selection:
        """This selection, where ``outer`` has taken an element first."""
        return Selection(outer(self.form), outer.whole, None, outer.places)

    @property
    def is_own(self) -> bool:
        """Whether the elements are selected of an adjoint that is zero where they are not taken already."""
        return self.name is not None and self.name == self.whole

    def owned(self) -> Selection | None:
        """What is selected of what has been selected, by its name; None where that has none.

        What has been halved, as a tie is, is not halved again.
        """
        return None if self.name is None else replace(self.masked(), whole=self.name)

    def masked(self) -> Selection:
        """The selection that takes whole what this one takes at all."""
        return replace(self, form=_as_mask(self.form))

    def named(self, name: Var) -> Selection:
        """The selection that is called ``name``."""
        form = self.form if self.name is None else rename(self.form, {self.name.name: name})
        return replace(self, form=form, whole=name if self.is_own else self.whole, name=name)

    @property
    def is_picked(self) -> bool:
        """Whether it is of elements that have been picked: those of which the adjoint itself is not zero."""
        return self.name is not None and self.form == picked(self.name, self.rarely).form

    @property
    def is_mask(self) -> bool:
        """Whether each element is taken whole or not at all."""
        return _is_mask(self.form)

    def plus(self, other: Selection, add: Callable[[Expr, Expr], Expr]) -> tuple[Expr, Expr] | None:
        """The sum with another selection as one selection: its form, and the expression of what it selects from.

        They have to select alike, or where they differ one has to take the elements that the other does not take.  The
        form is that variable alone if all elements are taken.  ``add`` gives the sum of two adjoints.
        """
        form: Expr = _WHOLE
        a, b = self.form, other.form
        if self.places != other.places:
            return None
        while a != b and isinstance(a, Call) and isinstance(b, Call) and a.args[0] == b.args[0]:
            condition, (a_1, a_2), (b_1, b_2) = a.args[0], a.args[1:], b.args[1:]
            choices: tuple[Expr, Expr]
            if (a_2, b_1) == (_NONE, _NONE):
                choices = _filled(a_1, self.whole), _filled(b_2, other.whole)
                return form, Call(_WHERE, (condition, *choices))
            if (a_1, b_2) == (_NONE, _NONE):
                choices = _filled(b_1, other.whole), _filled(a_2, self.whole)
                return form, Call(_WHERE, (condition, *choices))
            if a_2 == b_2 == _NONE:
                choices, a, b = (_WHOLE, _NONE), a_1, b_1
            elif a_1 == b_1 == _NONE:
                choices, a, b = (_NONE, _WHOLE), a_2, b_2
            else:
                return None
            form = _filled(form, Call(_WHERE, (condition, *choices)))
        return (_filled(form, a), add(self.whole, other.whole)) if a == b else None


def selection_of(g: Expr, whole: Expr, number: Expr) -> Selection | None:
    """The selection among the elements of ``whole`` that an adjoint is; None where it is none.

    The adjoint may be written with the ``number`` of which all elements of ``whole`` are, if that is not ``whole``.
    """
    form = _form(g, (whole, number))
    return Selection(form, whole) if isinstance(form, Call) and _NONE in _leaves(form) else None


def of_sum(a: Selection | None, b: Selection | None) -> Selection | None:
    """What is selected of the sum of two adjoints that are selections: it is zero where both leave elements out.

    The masks of both say where that is, or the sum itself where they are many; None where that is not known.
    """
    if a is None or b is None or a.is_all or b.is_all:
        return None
    if a.is_own and b.is_own and (a.form, a.places) == (b.form, b.places):
        return b
    first, second = _as_mask(a.form), _as_mask(b.form)
    if not {*_leaves(first), *_leaves(second)} <= {_WHOLE, _NONE}:
        return None
    names = {name for form in (first, second) for name in names_in(form)}
    of_masks = names.isdisjoint({s.name.name for s in (a, b) if s.name is not None})
    form = _united(first, second) if of_masks else first
    if not of_masks or len(_leaves(form)) > _FEW:
        return picked(_SUM, True)
    return Selection(form, _SUM, _SUM, (), True)


def _united(first: Expr, second: Expr) -> Expr:
    """The mask that takes what one of two masks takes."""
    if isinstance(first, Call):
        return replace(first, args=(first.args[0], *[_united(choice, second) for choice in first.args[1:]]))
    return second if first == _NONE else first


def choice_of(g: Expr) -> tuple[Expr, Expr] | None:
    """The form of a selection that an adjoint is, and what it selects from; None unless one choice is zero."""
    if not isinstance(g, Call) or g.op.function is not np.where or len(g.args) != 3 or g.kwargs:
        return None
    condition, a, b = g.args
    if (a == _NONE) is (b == _NONE):
        return None
    return (Call(_WHERE, (condition, a, _WHOLE)), b) if a == _NONE else (Call(_WHERE, (condition, _WHOLE, b)), a)


def taken(bar: Var, mask: Expr) -> Selection:
    """What is selected of an adjoint that is zero but where a mask is true."""
    return Selection(Call(_WHERE, (mask, _WHOLE, _NONE)), bar, bar)


def picked(bar: Var, rarely: bool) -> Selection:
    """What is selected of an adjoint that is zero but for elements that have been picked."""
    return Selection(Call(_WHERE, (Call(_NOT_EQUAL, (bar, _NONE)), _WHOLE, _NONE)), bar, bar, (), rarely)


def of_select(conditions: Sequence[Expr], whole: Expr) -> list[Selection]:
    """What `np.select` takes of each of its choices, and of the default: where no condition before is true."""
    found = []
    for last in range(len(conditions) + 1):
        form: Expr = _WHOLE if last == len(conditions) else Call(_WHERE, (conditions[last], _WHOLE, _NONE))
        for condition in reversed(conditions[:last]):
            form = Call(_WHERE, (condition, _NONE, form))
        found.append(Selection(form, whole))
    return found


def in_arm(bar: Var, test: Expr, first: bool) -> Selection:
    """What is selected of an adjoint that is zero unless the first arm of a branch has run, or the second."""
    choices = (_WHOLE, Const(0.0)) if first else (Const(0.0), _WHOLE)
    return Selection(Call(algebra.IF, (test, *choices)), bar, bar, (), True)


def left(bar: Var, masks: Sequence[Expr], places: tuple[Expr, ...]) -> Selection:
    """What is selected of an adjoint that is zero where one of some masks is true, and at constant indices."""
    form: Expr = _WHOLE
    for mask in masks:
        form = Call(_WHERE, (mask, _NONE, form))
    return Selection(form, bar, bar, places)


def _form(g: Expr, wholes: tuple[Expr, ...]) -> Expr | None:
    """An adjoint with a variable in place of a whole; None unless its elements are that, half of it, or zero."""
    if g == _NONE:
        return g
    if g in wholes:
        return _WHOLE
    if isinstance(g, Call) and g.op == algebra.DIVIDE and g.args[0] in wholes and g.args[1] == Const(2):
        return _HALF
    if not isinstance(g, Call) or g.op.function is not np.where or len(g.args) != 3 or g.kwargs:
        return None
    condition, *choices = g.args
    forms = [_form(choice, wholes) for choice in choices]
    used = {name for whole in wholes for name in names_in(whole)}
    if None in forms or not used.isdisjoint(names_in(condition)):
        return None
    return Call(_WHERE, (condition, *[form for form in forms if form is not None]))


def _filled(form: Expr, whole: Expr) -> Expr:
    return rename(form, {_WHOLE.name: whole})


def _as_mask(form: Expr) -> Expr:
    """The form that takes whole what another takes at all."""
    if isinstance(form, Call) and form.op == algebra.DIVIDE:
        return _as_mask(form.args[0])
    if isinstance(form, Call) and form.op in (_WHERE, algebra.IF):
        return replace(form, args=(form.args[0], *map(_as_mask, form.args[1:])))
    return form


def _is_mask(form: Expr) -> bool:
    if isinstance(form, Call) and form.op in (_WHERE, algebra.IF):
        return all(map(_is_mask, form.args[1:]))
    return form in (_WHOLE, _NONE)


def _leaves(form: Expr) -> list[Expr]:
    """What the elements of a selection are."""
    if isinstance(form, Call) and form.op == _WHERE:
        return [leaf for choice in form.args[1:] for leaf in _leaves(choice)]
    return [form]
