"""The methods of built-in classes for which there is no function.  Where the class of an object is not known, a name
means the same for all classes that have it."""

from __future__ import annotations

import numpy as np

from s2sad.ops.forms import MEMBER
from s2sad.ops.spec import constant, operation
from s2sad.runtime import protocols

_CLASSES: tuple[type, ...] = (np.ndarray, list, dict, set)

# --- lists, dicts and sets ---

operation(list.append, signature=lambda self, object: None, writes=("self",), stores=("object",), forms=MEMBER)
operation(
    list.extend, signature=lambda self, iterable: None, writes=("self",), stores=("iterable",), consumes=("iterable",),
    forms=MEMBER,
)  # fmt: skip
operation(list.insert, signature=lambda self, index, object: None, writes=("self",), stores=("object",), forms=MEMBER)
operation(
    list.pop, dict.pop, set.pop,
    signature=lambda self, key=-1, default=None: None, writes=("self",), result="element", forms=MEMBER,
)  # fmt: skip
operation(
    list.remove, set.remove, set.discard,
    signature=lambda self, value: None, writes=("self",), keys=("value",), forms=MEMBER,
)  # fmt: skip
operation(list.clear, dict.clear, set.clear, list.reverse, signature=lambda self: None, writes=("self",), forms=MEMBER)
operation(dict.popitem, signature=lambda self: None, writes=("self",), result="element", forms=MEMBER)
operation(
    dict.update, set.update, set.difference_update, set.intersection_update, set.symmetric_difference_update,
    signature=lambda self, *others: None, writes=("self",), stores=("others",), consumes=("others",), forms=MEMBER,
)  # fmt: skip
operation(
    dict.setdefault, signature=lambda self, key, default=None: None, writes=("self",), stores=("default",),
    result="element", forms=MEMBER,
)  # fmt: skip
operation(
    set.add, signature=lambda self, object: None, writes=("self",), stores=("object",), keys=("object",), forms=MEMBER
)
constant(list.index, tuple.index, str.index, list.count, tuple.count, str.count, dict.keys, forms=MEMBER)
constant(list.__len__, tuple.__len__, dict.__len__, set.__len__, str.__len__, np.ndarray.__len__, forms=MEMBER)

operation(str.join, signature=lambda self, iterable: None, consumes=("iterable",), result="fresh", forms=MEMBER)

# --- arrays ---

operation(
    np.ndarray.sort, list.sort,
    signature=lambda self, axis=-1, kind=None, order=None, *, key=None: None, writes=("self",), calls=("key",),
    forms=MEMBER,
)  # fmt: skip
operation(np.ndarray.fill, signature=lambda self, value: None, writes=("self",), forms=MEMBER)
operation(
    np.ndarray.partition, signature=lambda self, kth, axis=-1, kind="introselect", order=None: None, writes=("self",),
    forms=MEMBER,
)  # fmt: skip
operation(np.ndarray.resize, signature=lambda self, *new_shape: None, writes=("self",), forms=MEMBER)
operation(np.ndarray.setfield, signature=lambda self, val, dtype, offset=0: None, writes=("self",), forms=MEMBER)
operation(np.ndarray.setflags, signature=lambda self: None, writes=("self",), forms=MEMBER)
operation(np.ndarray.byteswap, signature=lambda self, inplace=False: None, overwrites=("inplace", False), forms=MEMBER)

# --- universal functions ---

operation(np.ufunc.at, signature=lambda self, a, indices, b=None: None, writes=("a",))
operation(
    np.ufunc.reduce,
    signature=lambda self, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True: None,
)
operation(np.ufunc.accumulate, signature=lambda self, array, axis=0, dtype=None, out=None: None)
operation(np.ufunc.outer, signature=lambda self, A, B: None)
operation(np.ufunc.reduceat, signature=lambda self, array, indices, axis=0, dtype=None, out=None: None)

# --- stores and operators by their names ---

operation(
    list.__setitem__, dict.__setitem__, np.ndarray.__setitem__,
    signature=lambda self, key, value: None, writes=("self",), stores=("value",), forms=MEMBER,
)  # fmt: skip
operation(list.__delitem__, dict.__delitem__, signature=lambda self, key: None, writes=("self",), forms=MEMBER)
operation(
    object.__setattr__, signature=lambda self, name, value: None, writes=("self",), stores=("value",), forms=MEMBER
)
for _name in protocols.ASSIGNED:
    for _cls in _CLASSES:
        if (_method := getattr(_cls, f"__i{_name}__", None)) is not None:
            operation(
                _method, signature=lambda self, value: None, writes=("self",), stores=("value",), result="element",
                forms=MEMBER,
            )  # fmt: skip
