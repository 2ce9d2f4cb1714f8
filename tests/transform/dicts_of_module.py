"""Functions that write into a dict of this module, or of a class, and read it in another way."""

import sys
from typing import ClassVar

me = sys.modules[__name__]
D = {"a": 1.5, "b": 2.0}


class C:
    d: ClassVar = {"a": 1.5}


class S(C):
    pass


def attribute_of_module(x):
    D["a"] = x[0] ** 2
    return me.D["a"] * x[1]


def written_by_module(x):
    me.D["a"] = x[0] ** 2
    return D["a"] * x[1]


def written_by_globals(x):
    globals()["D"]["a"] = x[0] ** 2
    return D["a"] * x[1]


def read_by_globals(x):
    D["a"] = x[0] ** 2
    return globals()["D"]["a"] * x[1]


def of_a_subclass(x):
    C.d["a"] = x[0] ** 2
    return S.d["a"] * x[1]


def of_an_object(x):
    C.d["a"] = x[0] ** 2
    return S().d["a"] * x[1]


def of_vars(x):
    C.d["a"] = x[0] ** 2
    return vars(C)["d"]["a"] * x[1]


def of_dict_of_class(x):
    C.d["a"] = x[0] ** 2
    return C.__dict__["d"]["a"] * x[1]


def of_getattr_of_class(x):
    C.d["a"] = x[0] ** 2
    return S.d["a"] * x[1]


def vars_of_module(x):
    D["a"] = x[0] ** 2
    return vars(me)["D"]["a"] * x[1]


def getattr_of_module(x):
    D["a"] = x[0] ** 2
    return me.D["a"] * x[1]


def of_modules(x):
    D["a"] = x[0] ** 2
    return sys.modules[__name__].D["a"] * x[1]


def globals_of_function(x):
    D["a"] = x[0] ** 2
    return attribute_of_module.__globals__["D"]["a"] * x[1]


def of_eval(x):
    D["a"] = x[0] ** 2
    return eval("D['a']") * x[1]


def imported_again(x):
    D["a"] = x[0] ** 2
    from tests.transform import dicts_of_module

    return dicts_of_module.D["a"] * x[1]


def written_by_subclass(x):
    S.d["a"] = x[0] ** 2
    return C.d["a"] * x[1]


def written_by_object(x):
    c = C()
    c.d["a"] = x[0] ** 2
    return C.d["a"] * x[1]


def rebound(x):
    global D
    D["a"] = x[0] ** 2
    D = {"a": D["a"] * 2}
    return D["a"] * x[1]
