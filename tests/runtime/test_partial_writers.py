"""Functions with some arguments given that write, or keep, and are known only at run time: refused, or right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient
from tests.sources import names_of

X = np.array([0.3, 0.5, -1.2])
#: What writes into a list, array or dict that is an argument, and what it is given.
WRITERS = {
    "append": ("p.append", "s"),
    "insert": ("p.insert", "0, s"),
    "extend": ("p.extend", "[s]"),
    "fill": ("a.fill", "s"),
    "put": ("a.put", "0, s"),
    "item": ("a.__setitem__", "0, s"),
    "key": ("d.__setitem__", "'k', s"),
    "update": ("d.update", "{'k': s}"),
    "given the list": ("functools.partial(list.append, p)", "s"),
    "given the array": ("functools.partial(operator.setitem, a, 0)", "s"),
}
#: How it is called.
CALLS = {
    "once": "w = functools.partial({w})\n    w({v})",
    "twice": "w = functools.partial(functools.partial({w}))\n    w({v})",
    "star": "w = functools.partial({w})\n    u = ({v},)\n    w(*u)",
    "chosen": "w = functools.partial({w}) if x[0] > 0 else {w}\n    w({v})",
    "loop": "for n in range(2):\n        w = functools.partial({w})\n        w({v})",
}


def arguments() -> tuple[Any, ...]:
    return [0.3, 0.8], np.array([1.0, 2.0, 3.0]), {"k": 0.7}


@pytest.mark.parametrize("call", CALLS)
def test_what_is_written_is_seen(call: str) -> None:
    for name, (writer, values) in WRITERS.items():
        f = names_of(
            "import functools, operator\nimport numpy as np\ndef f(x, p, a, d):\n    s = x[0] * x[1]\n    "
            + CALLS[call].format(w=writer, v=values)
            + "\n    return (sum(q * q for q in p) + np.sum(a * a) + d['k'] ** 2) * x[2]"
        )["f"]
        given = arguments()
        try:
            found = grad(f)(X, *given)
        except UnsupportedError:
            pass
        else:
            np.testing.assert_allclose(found, numeric_gradient(lambda x, f=f: f(x, *arguments()), (X,)), err_msg=name)
        for before, after in zip(arguments(), given, strict=True):
            np.testing.assert_equal(after, before, err_msg=name)
