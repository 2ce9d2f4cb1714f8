"""All kernels by name, module by module."""

from __future__ import annotations

from tests.kernels import algebra, factorisations, flows, probabilistic, stencils
from tests.kernels.kernel import Kernel

KERNELS: dict[str, Kernel] = {
    **stencils.KERNELS,
    **factorisations.KERNELS,
    **algebra.KERNELS,
    **flows.KERNELS,
    **probabilistic.KERNELS,
}
