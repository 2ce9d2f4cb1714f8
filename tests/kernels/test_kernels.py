"""The gradient of every kernel in every floating-point input, and the value, at a size for central differences."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from tests.kernels.catalogue import KERNELS
from tests.kernels.kernel import Kernel
from tests.language.support import Case, assert_close, check_gradient
from tests.trees import same_bits


def small_case(kernel: Kernel) -> Case:
    return Case(kernel.loss, kernel.make_args(*kernel.small), kernel.argnums, name=kernel.name)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_primal(kernel: Kernel) -> None:
    """The same number each time, at either size: nothing is read that nobody has written."""
    for sizes in (kernel.small, kernel.large):
        first, second = (kernel.loss(*kernel.make_args(*sizes)) for _ in range(2))
        assert np.shape(first) == ()
        assert np.isfinite(first)
        assert same_bits(first, second)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_gradient(kernel: Kernel) -> None:
    check_gradient(small_case(kernel))


@pytest.mark.parametrize("kernel", [k for k in KERNELS.values() if len(k.argnums) > 1][::2], ids=str)
def test_one_argument_at_a_time(kernel: Kernel) -> None:
    """What is active differs, and so do the emitted texts; the gradients are those of all arguments together."""
    args = kernel.make_args(*kernel.small)
    together = grad(kernel.loss, kernel.argnums)(*args)
    alone = tuple(grad(kernel.loss, position)(*args) for position in kernel.argnums[::2])
    assert_close(alone, together[::2], 1e-12)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_float_inputs_are_differentiated(kernel: Kernel) -> None:
    """The arguments that are left out are the weights, which come last, and whole numbers."""
    code = kernel.loss.__code__
    for position, name in enumerate(code.co_varnames[: code.co_argcount]):
        argument = kernel.make_args(*kernel.small)[position]
        if np.issubdtype(np.result_type(argument), np.inexact) and position not in kernel.argnums:
            assert name.startswith(("w", "noise", "log_uniforms", "tolerance")), name


def test_wrong_gradient_is_noticed() -> None:
    kernel = KERNELS["jacobi_1d"]
    args = kernel.make_args(*kernel.small)
    wrong = Case(kernel.loss, args, (0,), expected=(np.ones_like(args[0]),))
    with pytest.raises(AssertionError):
        check_gradient(wrong)
