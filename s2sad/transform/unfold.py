"""Comprehensions, and what consumes iterables at once, as statements and loops where a varied value goes through them.

The order of evaluation stays.  A generator expression is unfolded where the call that consumes it is the next thing
that happens: a list is made first and the call gets that, so that ``sum`` rounds as it does; ``any`` and ``all`` become
loops that end early.  Set comprehensions, generator expressions that are consumed later, and comprehensions in a loop
whose variables are seen by functions that are made in them stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection

from s2sad.ir.code import Code
from s2sad.transform.conditions import conditional
from s2sad.transform.consumers import call
from s2sad.transform.displays import dict_display, repeated, unpack
from s2sad.transform.for_loops import for_loop
from s2sad.transform.objects_read import Lookup
from s2sad.transform.rename import renamed
from s2sad.transform.replace import replaced_in_code
from s2sad.transform.rounds import comprehension
from s2sad.transform.unfolding import Handler, Unfolding
from s2sad.transform.varied import Node

_HANDLERS: dict[str, Handler] = {
    "comprehension": comprehension,
    "call": call,
    "dict": dict_display,
    "binary": repeated,
    "unpack": unpack,
    "for": for_loop,
    "choose": conditional,
    "and": conditional,
    "or": conditional,
    "chain": conditional,
}


def unfolded(code: Code, varied: Collection[Node], lookup: Lookup) -> Code:
    """A code in which comprehensions and generator expressions that varied values go through are loops.

    So are ``map``, ``filter``, ``functools.reduce`` and functions of `itertools` that are consumed at once; what these
    are given is gone through before the first element is used.  ``max`` and ``min`` with a key, those of `operator`,
    ``dict`` of pairs, ``extend`` of lists and displays with ``**`` become statements and operators too.
    Conditional expressions, ``and``, ``or`` and chained comparisons with such a thing inside are ``if`` statements; so
    are those into which another pass has put statements.

    Args:
        code: The code of a function.
        varied: The values and variables for which it is worth it.
        lookup: The object behind a global name; None if it isn't known.

    Returns:
        The same object if there is nothing to do.

    Raises:
        NameClashError: see `renamed`.

    Example:
        >>> import ast, builtins, gast
        >>> from s2sad.backend.python.fold import function
        >>> from s2sad.frontend.lower_statements import lower_function
        >>> from s2sad.transform.varied import varied
        >>> source = "def f(x):\\n    return sum(v * v for v in x if v > 0)"
        >>> code = lower_function(gast.parse(source).body[0])
        >>> print(ast.unparse(function(unfolded(code, varied(code, ["x"]), vars(builtins).get))))
        def f(x):
            t = []
            for v in x:
                if v > 0:
                    t.append(v * v)
            return sum(t)
    """
    whole = Unfolding(code, varied, lookup, _HANDLERS)
    made = whole.code(code)
    return code if made is code else renamed(replaced_in_code(made, whole.standing()))
