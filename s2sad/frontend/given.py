"""What a call is of, as far as the table of operations knows it, and what it is given for each parameter."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.resolve import Member
from s2sad.ir.nodes import Op
from s2sad.ops.binding import places, positions, spelled
from s2sad.ops.spec import OpSpec
from s2sad.runtime.classes import MEMBERS, defines_itself, is_changing_class, module_of, package_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]


def is_numpy(function: object) -> bool:
    """Whether a function is NumPy's own, or an operation of SciPy's, and free of side effects.

    ``np.random`` and vectorized functions are not.
    """
    if isinstance(function, (np.ufunc, np.vectorize)):
        return isinstance(function, np.ufunc)
    if _is_of(function, "scipy"):
        known = ops.spec_of(function)
        return known is not None and known.pure and not (known.calls or known.stores)
    return _is_of(function, "numpy") and not module_of(function).startswith("numpy.random")


def _is_of(function: object, package: str) -> bool:
    return package_of(function) == package


def is_own(function: object) -> bool:
    """Whether a function is the user's, so that the names of its parameters mean what they mean there."""
    return isinstance(function, types.FunctionType) and not is_numpy(function)


def is_built_in(func: Node, lookup: Lookup) -> bool:
    """Whether what is called is a method, and that of a built-in class if the class of the object has it at all."""
    found, function = lookup(func)
    is_method = not found and isinstance(func, gast.Attribute) and not isinstance(function, Member)
    return is_method and not (is_class(func.value, lookup) or _is_of_package(func, lookup))


def _is_of_package(func: Node, lookup: Lookup) -> bool:
    """Whether a member is one of an object that is known, and defined by a class of an installed package."""
    found, owner = lookup(func.value)
    cls: type = type(owner)
    return found and defines_itself(cls, func.attr)


def is_class(node: Node, lookup: Lookup) -> bool:
    """Whether an expression surely is a class whose methods change what they are given."""
    if isinstance(node, gast.Call):
        return lookup(node.func)[1] is type
    if isinstance(node, gast.Attribute) and node.attr == "__class__":
        return True
    found, value = lookup(node)
    return found and is_changing_class(value)


def is_member(name: str) -> bool:
    """Whether the built-in classes have a method of this name, of which the result holds what the object holds or what
    is given, and no more."""
    return name in MEMBERS or ops.method(name) is not None


def is_none(node: Node) -> bool:
    """Whether ``node`` is ``None`` as it is written."""
    return isinstance(node, gast.Constant) and node.value is None


@dataclass(frozen=True, slots=True)
class Given:
    """What a call is given.

    ``function`` is what is called, or what a method applies, and ``spec`` what is known of it, if anything; ``names``
    are those of the arguments that stand by position, ``named`` all arguments and the object of a method by the names
    of their parameters (empty where that is not known), ``starred`` what stands behind ``*`` and ``**``.
    """

    function: Any
    spec: OpSpec | None
    names: tuple[str, ...]
    named: tuple[tuple[str, Node], ...]
    starred: tuple[Node, ...]

    def of(self, names: Iterable[str]) -> list[Node]:
        """What is given for some parameters."""
        return [node for name, node in self.named if name in names]

    def changed(self) -> list[Node]:
        """What is changed because that is the purpose of the function or method."""
        writes = () if self.spec is None else self.spec.writes
        found = self.of(writes)
        return found if len(found) == len(writes) else [*found, *self.starred]

    def as_keys(self) -> list[Node]:
        """What is no more than a key in what is changed."""
        return [] if self.spec is None else self.of(self.spec.keys)

    def finished(self) -> list[Node]:
        """What has been called and run through when the call returns."""
        spec = self.spec
        return [] if spec is None or spec.defers else self.of((*spec.consumes, *(spec.calls or ())))

    def outs(self) -> list[Node]:
        """What a result is written into, or that serves as working space."""
        found = [out for out in self.of(("out",)) if not is_none(out)]
        found = [part for o in found for part in (o.elts if isinstance(o, (gast.Tuple, gast.List)) else [o])]
        if self.starred and ("out" in self.names or is_numpy(self.function)):
            among = [s for s in self.starred if isinstance(s, gast.Starred)] if _gathers(self.function) else []
            found += [s for s in self.starred if not any(s is one for one in among)]
        option, harmless = (self.spec.overwrites if self.spec is not None else None) or ("", False)
        for asked in self.of((option,)) if option else ():
            if not (isinstance(asked, gast.Constant) and asked.value is harmless):
                found.append(self.named[0][1])
        return [*found, *self.overwritten()]

    def overwritten(self) -> list[Node]:
        """What a function of SciPy may use as working space: ``a`` where a call says ``overwrite_a=True``."""
        if not _is_of(self.function, "scipy"):
            return []
        asked = [(name, value) for name, value in self.named if name.startswith("overwrite_")]
        asked = [(n, v) for n, v in asked if not (isinstance(v, gast.Constant) and v.value is False)]
        return [v for n, _ in asked for name, v in self.named if name.lower() == n.removeprefix("overwrite_")]

    def written(self) -> list[Node]:
        """All that is written into."""
        return [*self.outs(), *self.changed()]


def _gathers(function: Any) -> bool:
    """Whether a parameter takes all arguments that stand by position behind a star, so that none of them is ``out``."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.kind is p.VAR_POSITIONAL for p in parameters)


def given(call: Node, lookup: Lookup) -> Given:
    """What a call is of, and what it is given."""
    func = call.func
    while isinstance(func, gast.Attribute) and func.attr == "__call__" and lookup(func.value)[0]:
        func = func.value
    found, function = lookup(func)
    args: list[Node] = call.args
    spec: OpSpec | None = None
    names: tuple[str, ...] = ()
    if found:
        spec = ops.callee(function)
        names = _names_of(spec, function)
    elif isinstance(call.func, gast.Attribute) and not isinstance(function, Member):
        spec = ops.method(call.func.attr)
        function, names = (None, ()) if spec is None else (spec.function, places(spec))
        args = args if is_class(call.func.value, lookup) else [call.func.value, *args]
    starred: list[Node] = [a for a in args if isinstance(a, gast.Starred)]
    placed = args[: args.index(starred[0])] if starred else args
    rest = "" if spec is None else spec.variadic or ""
    named = [(names[i] if i < len(names) else rest, node) for i, node in enumerate(placed)]
    aliases = {} if spec is None else spec.aliases
    for keyword in call.keywords:
        if keyword.arg is None:
            starred.append(keyword.value)
        else:
            named.append((aliases.get(keyword.arg, keyword.arg), keyword.value))
    if args is not call.args:
        names = names[1:]
    if spec is not None and (own := spelled(spec, "out")) != "out":
        # An array, or a dtype for the result.
        named = [(own if name == "out" and _is_dtype(node, lookup) else name, node) for name, node in named]
    return Given(function if found or spec is not None else None, spec, names, tuple(named), tuple(starred))


def _is_dtype(node: Node, lookup: Lookup) -> bool:
    """Whether an expression surely is a dtype, or what NumPy takes for one."""
    if isinstance(node, gast.Constant):
        return isinstance(node.value, str)
    found, value = lookup(node)
    return found and isinstance(value, (type, np.dtype))


def _names_of(spec: OpSpec | None, function: Any) -> tuple[str, ...]:
    """The names of what stands by position in a call of a function."""
    if spec is None:
        known = is_numpy(function) or _is_of(function, "scipy")
        # An object that can be called, as a polynomial, may have no hash.
        return (positions(function) if known and type(function).__hash__ is not None else None) or ()
    bound = getattr(function, "__self__", None) is not None and not hasattr(spec.function, "__self__")
    return places(spec)[1:] if bound else places(spec)


def method_op(func: Node, depends: Callable[[Node], bool], lookup: Callable[[Node], tuple[bool, Any]]) -> Op | None:
    """The operation that the method ``func`` is, if it is known; what a generator draws is a function of it.

    Args:
        func: The method, as it is written.
        depends: Whether a node depends on what is differentiated.
        lookup: What a node means, if it is known.
    """
    function = ops.function_of("method", func.attr)
    if function is None or not is_built_in(func, lookup):
        return None
    drawn = ops.find(function) is not None and ops.is_ordered(function)
    if drawn and not depends(func.value):
        return Op("runtime", func.attr, function, pure=False)
    return Op("method", func.attr, function)
