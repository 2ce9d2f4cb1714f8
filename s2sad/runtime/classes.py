"""Which classes implement in Python what is otherwise known of Python's and NumPy's own classes.

That a method is called ``count`` or an operator is ``+`` says what it does only where the object is of a built-in
class.  A class of the user's that defines one itself may write into what it is given, or return it.
"""

from __future__ import annotations

import abc
import builtins
import collections
import dis
import enum
import functools
import os
import sys
import types
from typing import Any

import numpy as np

from s2sad.runtime import protocols
from s2sad.runtime.contents import attributes_of

#: Methods of random generators, which make new numbers.
DRAWING_METHODS = frozenset(
    "random rand randn randint integers uniform normal standard_normal gauss exponential standard_exponential gamma "
    "standard_gamma beta poisson binomial multinomial lognormal multivariate_normal laplace logistic triangular "
    "geometric dirichlet chisquare standard_t vonmises gumbel rayleigh weibull pareto power".split()
)
#: The members of Python's and NumPy's own classes.
MEMBERS = frozenset(name for t in (str, tuple, list, dict, set, float, complex, np.ndarray) for name in dir(t))
#: The names of members whose meaning is taken from the built-in classes.
BUILT_IN_NAMES = (
    MEMBERS | DRAWING_METHODS | {"choice", "permutation", "permuted", "shuffle"} | protocols.OTHERS
) - protocols.ADMINISTRATIVE
#: The methods of the built-in classes and of random generators.
METHODS = (
    frozenset(
        n for t in (str, tuple, list, dict, set, float, complex, np.ndarray) for n in dir(t) if callable(getattr(t, n))
    )
    | DRAWING_METHODS
    | {"choice", "permutation", "permuted", "shuffle"}
)
#: Those of them that are not special methods.
METHOD_NAMES = frozenset(name for name in BUILT_IN_NAMES if name[:2] != "__")
#: The instructions that store into other things than local variables and attributes.
_STORES = frozenset("STORE_SUBSCR STORE_SLICE DELETE_SUBSCR STORE_GLOBAL STORE_DEREF".split())
#: The attributes under which a static or class method, property or wrapper has its function.
_AROUND = ("__func__", "fget", "func", "__wrapped__")
#: The classes whose objects have what members their maker has given them.
OPEN_CLASSES = (types.SimpleNamespace, types.ModuleType)
#: The operators by which classes of libraries are told from arrays.
_PRODUCTS = ("__mul__", "__rmul__", "__truediv__")
#: What stands for classes of libraries as if the user had written it.
MODELS = tuple(
    f"s2sad.ops.{name}"
    for name in (
        "scipy.models.",
        "power_models",
        "series_grids",
        "series_models",
        "statistics_models",
        "iterator_models",
    )
)
#: The classes of the objects of NumPy that make arrays of an index, and of all that make something of one.
ARRAY_MAKERS = tuple(type(maker) for maker in (np.r_, np.c_, np.mgrid, np.ogrid))
INDEX_MAKERS = (*ARRAY_MAKERS, type(np.s_))
#: The classes of values that hold no objects, and of functions, which are not looked into.
#: Nothing but the class of such a value tells its kind.
LEAVES = frozenset((float, int, bool, complex, str, bytes, type(None), types.ModuleType, types.FunctionType, range))
#: The flag of classes that are made by a class statement (``Py_TPFLAGS_HEAPTYPE``).
HEAP_TYPE = 1 << 9
#: Where Python's own modules are, and the folders of installed packages.
_LIBRARY, _PACKAGES = os.path.dirname(os.__file__), frozenset(("site-packages", "dist-packages"))


def module_of(thing: object) -> str:
    """The name of the module where a function or class is defined; empty where it does not say.

    The class of Cython's functions and those with a property of this name have something else there.

    Example:
        >>> module_of(np.linalg.norm), module_of(type("Odd", (), {"__module__": property(id)}))
        ('numpy.linalg', '')
    """
    name = getattr(thing, "__module__", None)
    return name if isinstance(name, str) else ""


def package_of(thing: object) -> str:
    """The package of the module where a function or class is defined; empty where it does not say."""
    return module_of(thing).partition(".")[0]


@functools.lru_cache(maxsize=4096)
def own_members(cls: type) -> types.MappingProxyType[str, Any]:
    """The members that a class of the user's defines under names of `BUILT_IN_NAMES`.

    Members that a library defines are taken to do as the built-in ones.  So are those that ``dataclasses`` generates,
    and those of built-in classes under their own names, as enumerations of whole numbers have them.

    Example:
        >>> class Box:
        ...     __module__ = "model"
        ...     def count(self, a):
        ...         a[0] = 5.0
        >>> list(own_members(Box)), list(own_members(dict))
        (['count'], [])
    """
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        names = BUILT_IN_NAMES & vars(base).keys()
        if is_class_of_library(base):
            for name in names:
                found.pop(name, None)
        else:
            for name in names:
                member = vars(base)[name]
                if _is_built_in(name, member):
                    found.pop(name, None)
                elif not (_is_generated(name, member) or _only_copies(name, member)):
                    found[name] = member
    return types.MappingProxyType(found)


def own_class(value: object) -> type | None:
    """The class of an object, if what the names of its members mean is for the user to say; a class stands for itself.

    Example:
        >>> own_class([1.0]), own_class(types)
        (None, <class 'module'>)
    """
    cls: Any = value if issubclass(type(value), type) else type(value)
    return cls if cls in OPEN_CLASSES or not is_class_of_library(cls) else None


#: The built-in classes whose methods change the object that they are given.
_CHANGING = (list, dict, set, bytearray, collections.deque, np.ndarray)


def is_changing_class(value: object) -> bool:
    """Whether a value is a class whose methods change what they are given: ``type(a).fill(a, 0.0)``.

    Example:
        >>> is_changing_class(dict), is_changing_class(float), is_changing_class({})
        (True, False, False)
    """
    return isinstance(value, type) and issubclass(value, _CHANGING)


def initialises(function: object) -> bool:
    """Whether a function is the ``__init__`` that ``dataclasses`` has made: it has no source, and sets attributes."""
    code = function.__code__ if type(function) is types.FunctionType else None
    return code is not None and code.co_filename == "<string>" and code.co_name == "__init__"


def initialises_exception(function: object) -> bool:
    """Whether a function is the ``__init__`` of one of Python's own exceptions, which keeps what it is given.

    Example:
        >>> initialises_exception(ValueError.__init__), initialises_exception(object.__init__)
        (True, False)
    """
    is_init = type(function) is types.WrapperDescriptorType and function.__name__ == "__init__"
    return is_init and issubclass(function.__objclass__, BaseException)  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=4096)
def differs(cls: type) -> bool:
    """Whether a class of NumPy or SciPy has operators of its own: those of matrices, masked arrays, polynomials.

    Example:
        >>> differs(np.matrix), differs(np.memmap)
        (True, False)
    """
    owners = [next((base for base in cls.__mro__ if name in vars(base)), object) for name in _PRODUCTS]
    return any(
        package_of(owner) in ("numpy", "scipy") and owner is not np.ndarray and not issubclass(owner, np.generic)
        for owner in owners
    )


def member(cls: type, name: str) -> tuple[bool, Any]:
    """Whether a member of `own_class` surely is the one of a built-in class, and if not, what is known to stand there.

    The second item is None for an attribute of the object itself, of a module, or one that is made when asked for.
    """
    own = own_members(cls)
    if name in own or "__getattr__" in own:
        return False, own.get(name)
    inherited = cls not in OPEN_CLASSES and any(name in vars(base) for base in cls.__mro__)
    return inherited, None


@functools.lru_cache(maxsize=4096)
def members_that_vary(cls: type) -> frozenset[str]:
    """The names of `METHOD_NAMES` of which `member` does not know what stands there for objects of a class.

    Example:
        >>> ["copy" in members_that_vary(cls) for cls in (types.SimpleNamespace, list)]
        [True, False]
    """
    return frozenset(name for name in METHOD_NAMES if member(cls, name) == (False, None))


@functools.lru_cache(maxsize=4096)
def is_class_of_library(cls: type) -> bool:
    """Whether a class is Python's, NumPy's, SciPy's or this package's."""
    return not cls.__flags__ & HEAP_TYPE or is_taken_at_its_word(module_of(cls))


def is_taken_at_its_word(name: str) -> bool:
    """Whether a module is of Python's own library, NumPy, SciPy or this package: the table says what their members do.

    Example:
        >>> is_taken_at_its_word("scipy.linalg"), is_taken_at_its_word("model")
        (True, False)
    """
    package = name.partition(".")[0]
    if package == __package__.partition(".")[0]:
        return not name.startswith(MODELS)
    return package in ("numpy", "scipy") or (package in sys.stdlib_module_names and is_of_library(name))


def is_of_library(name: str) -> bool:
    """Whether a module is Python's, NumPy's, this package's or of another installed one."""
    package = name.partition(".")[0]
    if package == __package__.partition(".")[0]:
        return not name.startswith(MODELS)
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        # Of Python's own modules some are in the interpreter; others without a file were made when the program ran.
        return package in sys.builtin_module_names and package != "builtins"
    return str(file).startswith(_LIBRARY + os.sep) or not _PACKAGES.isdisjoint(str(file).split(os.sep))


def _is_generated(name: str, member: Any) -> bool:
    """Whether ``dataclasses`` or ``typing`` has made a special method, or left it out: they compare and show fields."""
    if name[:2] != "__" or not isinstance(member, types.FunctionType):
        return member is None
    file = member.__code__.co_filename
    return file == "<string>" or file.startswith(_LIBRARY + os.sep)


def _is_built_in(name: str, member: Any) -> bool:
    """Whether a member is that of a built-in class under the same name."""
    owner = getattr(member, "__objclass__", None)
    return isinstance(owner, type) and is_class_of_library(owner) and vars(owner).get(name) is member


def _only_copies(name: str, member: Any) -> bool:
    """Whether what runs where NumPy makes an array of a subclass does no more than set attributes of that array.

    It calls functions of Python alone, no method of an array, and stores into nothing else.
    """
    if name not in protocols.MAKING or not isinstance(member, types.FunctionType):
        return False
    for step in dis.get_instructions(member):
        if step.opname in _STORES or (step.opname == "BINARY_OP" and step.argrepr.endswith("=")):
            return False
        if step.opname == "LOAD_DEREF" and step.argval != "__class__":
            return False
        if step.opname == "LOAD_GLOBAL" and (step.argval in member.__globals__ or not hasattr(builtins, step.argval)):
            return False
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and step.argval in METHOD_NAMES:
            return False
    return True


def static_member(cls: type, name: str) -> Any:
    """The member of a class of this name as it stands there, or None; nothing is run for it."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


#: Descriptors of Python's own; what decides what they do: their methods, and where they have their functions.
_DESCRIPTORS = (staticmethod, classmethod, property, functools.cached_property, functools.partialmethod)
_DOING = ("__get__", "__set__", "__delete__", "__getattribute__", "fget", "fset", "func", "__func__")


def does_as(member: object, *kinds: type) -> bool:
    """Whether a member is a descriptor of one of Python's classes, or of a class that inherits all that this does.

    Example:
        >>> class Doubled(property):
        ...     def __get__(self, instance, owner=None):
        ...         return 2 * super().__get__(instance, owner)
        >>> does_as(property(len), property), does_as(Doubled(len), property)
        (True, False)
    """
    cls = type(member)
    found = [kind for kind in kinds if issubclass(cls, kind)]
    return any(all(static_member(cls, n) is static_member(kind, n) for n in _DOING) for kind in found)


#: What answers ``isinstance`` and ``issubclass``, and runs nothing of the user's.
_ANSWERING = tuple(vars(meta)[f"__{name}check__"] for meta in (type, abc.ABCMeta) for name in ("instance", "subclass"))


def decides_plainly(cls: Any) -> bool:
    """Whether the instances of a class are those of classes that inherit from it or are registered with it.

    Nothing of the user's runs where it is asked for them.

    Example:
        >>> import typing
        >>> decides_plainly(abc.ABC), decides_plainly(typing.SupportsFloat)
        (True, False)
    """
    if not isinstance(cls, type):
        return False
    hook = inside(static_member(cls, "__subclasshook__"), "__func__")
    asks = isinstance(hook, types.FunctionType) and not is_of_library(hook.__module__)
    checks = [static_member(type(cls), f"__{name}check__") for name in ("instance", "subclass")]
    return not asks and all(any(check is one for one in _ANSWERING) for check in checks)


@functools.cache
def defines_itself(cls: type, name: str) -> bool:
    """Whether a member of a class is defined in an installed package that is not NumPy, and so by no built-in class.

    Example:
        >>> defines_itself(list, "count"), defines_itself(np.ma.MaskedArray, "mean")
        (False, False)
    """
    owner = next((base for base in cls.__mro__ if name in vars(base)), object)
    module = module_of(owner)
    return is_of_library(module) and package_of(owner) not in ("builtins", "numpy", *sys.stdlib_module_names)


def makes_attribute(cls: type, name: str, own: bool = False) -> bool:
    """Whether an attribute of an object, which may have it as its ``own``, is of its class or made when it is read.

    Example:
        >>> makes_attribute(types.SimpleNamespace, "v"), makes_attribute(list, "count")
        (False, True)
    """
    if not is_class_of_library(cls) and static_member(cls, "__getattribute__") is not object.__getattribute__:
        return True
    member = static_member(cls, name)
    if own:
        return hasattr(type(member), "__set__") and not isinstance(member, types.MemberDescriptorType)
    return member is not None or static_member(cls, "__getattr__") is not None


def runs_python(descriptor: Any) -> bool:
    """Whether what makes an attribute when it is read runs a function of Python, as a property does."""
    return bool(functions_in(descriptor)) or own_class(descriptor) is not None


def inside(member: Any, name: str) -> Any:
    """What a wrapper, method or property has under a name; None for what an object makes when it is asked for it.

    Example:
        >>> inside(staticmethod(len), "__func__"), inside(3.0, "__func__")
        (<built-in function len>, None)
    """
    cls = type(member)
    if getattr(cls, "__dictoffset__", 0) and not issubclass(cls, type):
        # A class may make what is asked of its objects, `__dict__` included.
        held = object.__getattribute__(member, "__dict__")
        if name in held:
            return held[name]
    return getattr(member, name, None) if static_member(cls, name) is not None else None


def functions_in(member: Any) -> list[types.FunctionType] | None:
    """The Python functions that run when a member of a class is called or read; None where that is not known."""
    while not isinstance(member, types.FunctionType):
        if isinstance(member, _DESCRIPTORS) and not does_as(member, *_DESCRIPTORS):
            return None
        inner = next((v for n in _AROUND if (v := inside(member, n)) is not None), None)
        if inner is None:
            return None
        member = inner
    return [member]


@functools.cache
def acts(cls: type) -> bool:
    """Whether an operator, a subscript, a loop, a condition or reading an attribute may run what the user has written.

    Example:
        >>> class Table:
        ...     __module__ = "model"
        ...     def __getitem__(self, i):
        ...         return i
        >>> acts(Table), acts(list)
        (True, False)
    """
    if any(name[:2] == "__" for name in own_members(cls)):
        return True
    own = [m for base in cls.__mro__ if not is_class_of_library(base) for m in vars(base).values()]
    return any(hasattr(type(m), "__get__") and not callable(m) and runs_python(m) for m in own)


_OF_ARRAYS = protocols.OPERATORS - protocols.MAKING - {"__invert__", "__array__"} | {
    "__getitem__",
    "__setitem__",
    "__iter__",
}


def has_array_operators(t: type) -> bool:
    """Whether a subclass of arrays has operators of its own."""
    own = any(not _OF_ARRAYS.isdisjoint(vars(base)) for base in t.__mro__[: t.__mro__.index(np.ndarray)])
    return own or not protocols.MAKING.isdisjoint(own_members(t))


def names_of_own(value: Any) -> tuple[str, ...]:
    """The names of the attributes that an object itself has, slots among them.

    Example:
        >>> names_of_own(types.SimpleNamespace(v=1.0))
        ('v',)
    """
    cls: Any = type(value)
    return (*attributes_of(value), *_slots_of(cls))


@functools.lru_cache(maxsize=4096)
def _slots_of(cls: type) -> tuple[str, ...]:
    """The names of the slots that the classes of the user's among the bases of one have."""
    members = [member for base in cls.__mro__ if own_class(base) is not None for member in vars(base).items()]
    return tuple([n for n, m in members if isinstance(m, types.MemberDescriptorType) and n[:2] != "__"])


def is_unchanging_member(value: object) -> bool:
    """Whether a value is a member of an enumeration which holds nothing but numbers and texts.

    Example:
        >>> import enum
        >>> is_unchanging_member(enum.Enum("Mode", "IDLE HEAT").IDLE)
        True
    """
    if not isinstance(value, enum.Enum):
        return False
    held = [part for name, part in vars(value).items() if name != "__objclass__"]
    parts = [part for whole in held for part in (whole if type(whole) is tuple else (whole,))]
    return all(type(part) in (int, float, complex, bool, str, type(None)) for part in parts)
