"""What one benchmark case consists of, and how its program is moved to another library."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_counter = itertools.count()


@dataclass(frozen=True)
class Case:
    """A program, its gradient written by hand (kernels may be without), and its input.

    `primal` is plain NumPy as a user writes it, `hand` the gradient that a careful person writes: same arguments, same
    kind of functions (`np.*` or `math.*`) as the primal, nothing saved or computed that is not read. `expert` is an
    optional second one that uses a global rewriting (say, one matrix product for all time steps); it is shown beside,
    never as the baseline. `jax_primal` returns a port for JAX where the primal's own text, run on `jax.numpy`, would
    not do JAX justice.
    """

    name: str
    primal: Callable[..., Any]
    hand: Callable[..., Any] | None
    make_args: Callable[[], tuple[Any, ...]]
    argnums: int | tuple[int, ...] = 0
    expert: Callable[..., Any] | None = None
    jax_primal: Callable[[], Callable[..., Any]] | None = None
    in_place: bool = False  # the primal writes into its arguments: a timed call gets copies
    make_small_args: Callable[[], tuple[Any, ...]] | None = (
        None  # for the build time, where a call takes longer than that
    )


def port(function: Callable[..., Any], **names: Any) -> Callable[..., Any]:
    """The same code with some of its global names bound to other objects: `port(f, np=jax.numpy)`."""
    assert isinstance(function, types.FunctionType)
    names = {**function.__globals__, **names}
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def autograd_primal(case: Case) -> Callable[..., Any]:
    """The primal on HIPS autograd's NumPy. Raises ImportError where autograd is not installed."""
    import autograd.numpy as anp
    from autograd.tracer import getval

    return port(case.primal, np=anp, math=anp, stop_gradient=getval)


def jax_primal(case: Case) -> Callable[..., Any]:
    """The primal on JAX, in double precision. Raises ImportError where JAX is not installed."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    if case.jax_primal is not None:
        return case.jax_primal()
    return port(case.primal, np=jnp, math=jnp, stop_gradient=jax.lax.stop_gradient)


def load_fresh(path: str, package: str | None = None) -> types.ModuleType:
    """The module at `path`, executed anew under a name that none had before: no cache can know its functions."""
    name = f"_fresh_{next(_counter)}"
    if package:
        name = f"{package}.{name}"  # relative imports inside the module keep working
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def fresh_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` from a fresh copy of the module that defines it."""
    module = sys.modules[function.__module__]
    assert module.__file__ is not None
    result: Callable[..., Any] = getattr(load_fresh(module.__file__, module.__package__), function.__name__)
    return result
