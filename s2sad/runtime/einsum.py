"""Adjoints of ``np.einsum``.

The adjoint of an operand is again an ``einsum``: of the adjoint of the result and
the other operands, with the operand's own indices as output.  What that leaves
out is put right afterwards: indices that only this operand has (their sum is
spread out again), indices it repeats (the result goes on the diagonal) and axes
of length one that were broadcast (summed).

Source: S. Laue, M. Mitterreiter, J. Giesen, "A simple and efficient tensor
calculus", AAAI 2020, section 3, for the product rule of contractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast

#: In alphabetical order, as NumPy sorts them.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum_adjoint(g: Any, index: int, subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    """Adjoint of ``operands[index]`` where ``g`` is that of ``np.einsum(subscripts, *operands)``.

    Raises:
        UndefinedDerivativeError: the call is in NumPy's other form, with lists of axes instead of ``subscripts``.

    Example:
        >>> einsum_adjoint(1.0, 0, "i,i->", np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        array([3., 4.])
    """
    terms, output = parse_einsum(subscripts, [np.ndim(operand) for operand in operands])
    own = terms[index]
    shape = np.shape(operands[index])
    others = [term for i, term in enumerate(terms) if i != index]
    available = set(output).union(*others)
    distinct = "".join(dict.fromkeys(own))
    found = "".join(letter for letter in distinct if letter in available)
    g_bar = np.einsum(
        ",".join([output, *others]) + "->" + found,
        g,
        *(operand for i, operand in enumerate(operands) if i != index),
        # A path was found for the operands of the call; it does not fit these.
        optimize=optimize if isinstance(optimize, (bool, str)) else True,
    )
    # Spread out what was summed over, add up what was broadcast.
    g_bar = np.expand_dims(g_bar, tuple(i for i, letter in enumerate(distinct) if letter not in available))
    g_bar = unbroadcast(g_bar, tuple(shape[own.index(letter)] for letter in distinct))
    if len(distinct) == len(own):
        return g_bar
    diagonal = np.zeros_like(g_bar, order="C", shape=shape)
    np.einsum(f"{own}->{distinct}", diagonal)[...] = g_bar
    return diagonal


def einsum_view(a: Any, subscripts: str) -> Any:
    """The view ``np.einsum(subscripts, a)`` of an array of which nothing is summed.

    Example:
        >>> einsum_view(np.array([[1.0, 2.0], [3.0, 4.0]]), "ii->i")
        array([1., 4.])
    """
    return np.einsum(subscripts, a)


def einsum_tangent(operands_dot: Sequence[Any], subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    """Tangent of ``np.einsum(subscripts, *operands)``: the product rule."""
    terms = [
        np.einsum(subscripts, *operands[:i], operand_dot, *operands[i + 1 :], optimize=optimize)
        for i, operand_dot in enumerate(operands_dot)
    ]
    return sum(terms[1:], terms[0])


def einsum_of_others(h: Any, index: int, subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    """``np.einsum(subscripts, *operands)`` with ``h`` for the operand of a number."""
    return np.einsum(subscripts, *operands[:index], h, *operands[index + 1 :], optimize=optimize)


def einsum_adjoint_adjoint(
    h: Any, g: Any, index: int, other: int, subscripts: str, *operands: Any, optimize: Any = False
) -> Any:
    """Adjoint of ``operands[other]`` where ``h`` is that of ``einsum_adjoint(g, index, subscripts, *operands)``."""
    if other == index:
        return np.zeros_like(operands[index])
    replaced = (*operands[:index], h, *operands[index + 1 :])
    return einsum_adjoint(g, other, subscripts, *replaced, optimize=optimize)


def einsum_adjoint_tangent(
    g_dot: Any,
    operands_dot: Sequence[Any],
    g: Any,
    index: int,
    subscripts: str,
    *operands: Any,
    optimize: Any = False,
) -> Any:
    """Tangent of ``einsum_adjoint(g, index, subscripts, *operands)``: the product rule."""
    total = einsum_adjoint(g_dot, index, subscripts, *operands, optimize=optimize)
    for i, operand_dot in enumerate(operands_dot):
        if i != index:
            replaced = (*operands[:i], operand_dot, *operands[i + 1 :])
            total = total + einsum_adjoint(g, index, subscripts, *replaced, optimize=optimize)
    return total


def parse_einsum(subscripts: Any, ndims: Sequence[int]) -> tuple[list[str], str]:
    """Return one string of letters for each operand and one for the result, without ellipsis and explicit.

    Example:
        >>> parse_einsum("...ij,jk", [3, 2])
        (['Aij', 'jk'], 'Aik')
    """
    if not isinstance(subscripts, str):
        raise UndefinedDerivativeError("np.einsum with lists of axes has no derivative", "Write the axes as a string.")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    free = [letter for letter in LETTERS if letter not in subscripts]
    broadcast = max(
        (ndim - len(term.replace("...", "")) for term, ndim in zip(terms, ndims, strict=True) if "..." in term),
        default=0,
    )
    letters = "".join(free[:broadcast])
    if not arrow:
        flat = inputs.replace(",", "").replace("...", "")
        once = sorted(letter for letter in set(flat) if flat.count(letter) == 1)
        output = ("..." if "..." in inputs else "") + "".join(once)
    terms = [
        term.replace("...", letters[broadcast - (ndim - len(term.replace("...", ""))) :])
        for term, ndim in zip(terms, ndims, strict=True)
    ]
    return terms, output.replace("...", letters)
