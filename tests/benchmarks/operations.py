"""Single operations: the time of a gradient over that of the function: linear algebra, transforms, common others."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .case import port
from .timing import interleave

RNG = np.random.default_rng(8)
N = 100
A = RNG.normal(size=(N, N)) + 10 * np.eye(N)
SPD = A @ A.T
TALL, ROWS = RNG.normal(size=(200, 50)), RNG.normal(size=(N, 256))
B, V, W = RNG.normal(size=(N, 20)), RNG.normal(size=N), RNG.normal(size=10_000)
POSITIVE, WAVE = np.abs(W) + 0.1, RNG.normal(size=4096)
SPECTRUM = np.fft.rfft(WAVE)
PLACES, TRIPLES = RNG.integers(0, N, 10_000), RNG.normal(size=(2000, 3))

#: Functions of the first argument, and the arguments.
OPERATIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "linalg.solve": (lambda a, b: np.sum(np.linalg.solve(a, b)), (A, B)),
    "linalg.inv": (lambda a: np.sum(np.linalg.inv(a)), (A,)),
    "linalg.pinv": (lambda a: np.sum(np.linalg.pinv(a)), (TALL,)),
    "linalg.lstsq": (lambda a, b: np.sum(np.linalg.lstsq(a, b)[0]), (TALL, RNG.normal(size=200))),
    "linalg.det": (lambda a: np.linalg.det(a), (A / 10,)),
    "linalg.slogdet": (lambda a: np.linalg.slogdet(a)[1], (A,)),
    "linalg.cholesky": (lambda a: np.sum(np.linalg.cholesky(a)), (SPD,)),
    "linalg.qr": (lambda a: np.sum(np.linalg.qr(a)[1]), (TALL,)),
    "linalg.eigh": (lambda a: np.sum(np.linalg.eigh(a)[1] ** 2 * V), (SPD,)),
    "linalg.eigvalsh": (lambda a: np.sum(np.linalg.eigvalsh(a)), (SPD,)),
    "linalg.eig": (lambda a: np.sum(np.abs(np.linalg.eig(a)[1]) ** 2 * V), (A,)),
    "linalg.eigvals": (lambda a: np.sum(np.real(np.linalg.eigvals(a))), (A,)),
    "linalg.svd": (lambda a: np.sum(np.linalg.svd(a, full_matrices=False)[0]), (TALL,)),
    "linalg.svdvals": (lambda a: np.sum(np.linalg.svd(a, compute_uv=False)), (TALL,)),
    "linalg.norm": (lambda a: np.linalg.norm(a), (A,)),
    "linalg.norm nuclear": (lambda a: np.linalg.norm(a, "nuc"), (TALL,)),
    "linalg.cond": (lambda a: np.linalg.cond(a), (A,)),
    "linalg.matrix_power": (lambda a: np.sum(np.linalg.matrix_power(a, 5)), (A / 10,)),
    "linalg.multi_dot": (lambda a, b: np.sum(np.linalg.multi_dot([a, b, b.T, a])), (A, B)),
    "linalg.tensorsolve": (lambda a, b: np.sum(np.linalg.tensorsolve(a, b)), (A.reshape(10, 10, 10, 10), B[:10, :10])),
    "linalg.tensorinv": (lambda a: np.sum(np.linalg.tensorinv(a)), (A.reshape(10, 10, 10, 10),)),
    "linalg.svdvals (array API)": (lambda a: np.sum(np.linalg.svdvals(a)), (TALL,)),
    "linalg.matrix_norm": (lambda a: np.linalg.matrix_norm(a), (A,)),
    "linalg.vector_norm": (lambda a: np.sum(np.linalg.vector_norm(a, axis=1)), (ROWS,)),
    "linalg.cross": (lambda a, b: np.sum(np.linalg.cross(a, b) ** 2), (TRIPLES, TRIPLES[::-1])),
    "linalg.diagonal": (lambda a: np.sum(np.linalg.diagonal(a) ** 2), (A,)),
    "linalg.trace": (lambda a: np.linalg.trace(a) ** 2, (A,)),
    "linalg.outer": (lambda x, y: np.sum(np.linalg.outer(x, y) ** 2), (V, V[::-1])),
    "linalg.matmul": (lambda a, b: np.sum(np.linalg.matmul(a, b) ** 2), (A, B)),
    "linalg.matrix_transpose": (lambda a: np.sum(np.linalg.matrix_transpose(a) ** 2), (ROWS,)),
    "linalg.tensordot": (lambda a, b: np.sum(np.linalg.tensordot(a, b, axes=1) ** 2), (A, B)),
    "linalg.vecdot": (lambda a, b: np.sum(np.linalg.vecdot(a, b) ** 2), (ROWS, ROWS[::-1])),
    "fft.fft": (lambda x: np.sum(np.real(np.fft.fft(x)) ** 2), (ROWS,)),
    "fft.ifft": (lambda x: np.sum(np.real(np.fft.ifft(x)) ** 2), (ROWS,)),
    "fft.rfft": (lambda x: np.sum(np.real(np.fft.rfft(x)) ** 2), (ROWS,)),
    "fft.irfft": (lambda x: np.sum(np.fft.irfft(x) ** 2), (ROWS,)),
    "fft.hfft": (lambda x: np.sum(np.fft.hfft(x) ** 2), (ROWS,)),
    "fft.ihfft": (lambda x: np.sum(np.real(np.fft.ihfft(x)) ** 2), (ROWS,)),
    "fft.fft2": (lambda x: np.sum(np.real(np.fft.fft2(x)) ** 2), (ROWS,)),
    "fft.ifft2": (lambda x: np.sum(np.real(np.fft.ifft2(x)) ** 2), (ROWS,)),
    "fft.rfft2": (lambda x: np.sum(np.real(np.fft.rfft2(x)) ** 2), (ROWS,)),
    "fft.irfft2": (lambda x: np.sum(np.fft.irfft2(x) ** 2), (ROWS,)),
    "fft.fftn": (lambda x: np.sum(np.real(np.fft.fftn(x)) ** 2), (ROWS,)),
    "fft.ifftn": (lambda x: np.sum(np.real(np.fft.ifftn(x)) ** 2), (ROWS,)),
    "fft.rfftn": (lambda x: np.sum(np.real(np.fft.rfftn(x)) ** 2), (ROWS,)),
    "fft.irfftn": (lambda x: np.sum(np.fft.irfftn(x) ** 2), (ROWS,)),
    "fft.fftn axes": (lambda x: np.sum(np.real(np.fft.fftn(x, axes=(0,))) ** 2), (ROWS,)),
    "fft.fftshift": (lambda x: np.sum(np.fft.fftshift(x) ** 2), (ROWS,)),
    "fft.ifftshift": (lambda x: np.sum(np.fft.ifftshift(x) ** 2), (ROWS,)),
    "matmul": (lambda a, b: np.sum(a @ b), (A, B)),
    "dot": (lambda x, y: np.dot(x, y), (W, POSITIVE)),
    "einsum": (lambda a, b: np.sum(np.einsum("ij,jk->ik", a, b) ** 2), (A, B)),
    "sum": (lambda x: np.sum(x), (W,)),
    "mean": (lambda a: np.sum(np.mean(a, axis=0) ** 2), (ROWS,)),
    "var": (lambda a: np.sum(np.var(a, axis=1)), (ROWS,)),
    "max": (lambda a: np.sum(np.max(a, axis=1)), (ROWS,)),
    "exp": (lambda x: np.sum(np.exp(x)), (W,)),
    "log": (lambda x: np.sum(np.log(x)), (POSITIVE,)),
    "sqrt": (lambda x: np.sum(np.sqrt(x)), (POSITIVE,)),
    "tanh": (lambda x: np.sum(np.tanh(x)), (W,)),
    "where": (lambda x: np.sum(np.where(x > 0, x, 0.1 * x)), (W,)),
    "maximum": (lambda x: np.sum(np.maximum(x, 0.0)), (W,)),
    "concatenate": (lambda x: np.sum(np.concatenate([x, x**2])), (W,)),
    "indexing": (lambda x: np.sum(x[PLACES] ** 2), (V,)),
    "cumsum": (lambda x: np.sum(np.cumsum(x) ** 2), (W,)),
    "sort": (lambda x: np.sum(np.sort(x) * POSITIVE), (W,)),
    "convolve": (lambda x, y: np.sum(np.convolve(x, y) ** 2), (WAVE, V)),
    "interp": (lambda y: np.sum(np.interp(POSITIVE, np.linspace(0.0, 6.0, 100), y) ** 2), (V,)),
    "prod": (lambda a: np.sum(np.prod(a, axis=0)), (ROWS[:10],)),
    "std": (lambda a: np.sum(np.std(a, axis=0)), (ROWS,)),
    "min": (lambda a: np.sum(np.min(a, axis=0)), (ROWS,)),
    "median": (lambda a: np.sum(np.median(a, axis=1)), (ROWS,)),
    "quantile": (lambda x: np.sum(np.quantile(x, np.array([0.1, 0.5]))), (W,)),
    "power": (lambda x, y: np.sum(x**y), (POSITIVE, W)),
    "divide": (lambda x, y: np.sum(x / y), (W, POSITIVE)),
    "multiply, broadcast": (lambda a, x: np.sum(a * x), (ROWS, WAVE[:256])),
    "abs": (lambda x: np.sum(np.abs(x)), (W,)),
    "clip": (lambda x: np.sum(np.clip(x, -1.0, 1.0) ** 2), (W,)),
    "arctan2": (lambda x, y: np.sum(np.arctan2(x, y)), (W, POSITIVE)),
    "logaddexp": (lambda x, y: np.sum(np.logaddexp(x, y)), (W, POSITIVE)),
    "outer": (lambda x, y: np.sum(np.outer(x, y) ** 2), (V, V[::-1])),
    "kron": (lambda a, b: np.sum(np.kron(a, b) ** 2), (A[:20, :20], B[:10, :10])),
    "transpose, reshape": (lambda a: np.sum(np.reshape(a.T, (-1, 2)) ** 2), (ROWS,)),
    "stack": (lambda x: np.sum(np.stack([x, x**2], axis=1)), (W,)),
    "take": (lambda a: np.sum(np.take(a, PLACES[:500], axis=1) ** 2), (A,)),
    "repeat": (lambda x: np.sum(np.repeat(x, 3) ** 2), (W,)),
    "roll": (lambda x: np.sum(np.roll(x, 3) * x), (W,)),
    "diff": (lambda x: np.sum(np.diff(x) ** 2), (W,)),
    "cumprod": (lambda x: np.sum(np.cumprod(x)), (1 + V / 100,)),
    "trapezoid": (lambda x: np.trapezoid(x**2, dx=0.1), (W,)),
    "pad": (lambda a: np.sum(np.pad(a, 2, "reflect") ** 2), (ROWS,)),
}


def operations(rounds: int, others: list[str]) -> tuple[list[list[str]], dict[str, Any]]:
    """The rows of the table, and the figures: microseconds a call, and gradients over functions."""
    from s2sad import grad

    rows = [["operation", "primal us", "s2sad us", "s2sad/primal", *[f"{name}/primal" for name in others]]]
    figures: dict[str, Any] = {}
    for name, (function, args) in OPERATIONS.items():
        thunks = {"primal": lambda f=function, a=args: f(*a), "s2sad": lambda f=grad(function), a=args: f(*a)}
        for other in others:
            made = _of(other, function)
            try:
                made(*args)
                start = time.process_time()
                made(*args)
            except Exception:  # what it has no rule for is left out
                continue
            if time.process_time() - start > 1.0:
                continue
            thunks[other] = lambda f=made, a=args: f(*a)
        thunks["s2sad"]()
        # The least of all rounds: what else runs on the machine only adds to it.
        times = {key: min(found) for key, found in interleave(thunks, rounds, 1e-3).items()}
        figures[name] = {key: seconds * 1e6 for key, seconds in times.items()}
        ratios = [f"{times[k] / times['primal']:.2f}" if k in times else "-" for k in ("s2sad", *others)]
        rows.append([name, f"{times['primal'] * 1e6:.1f}", f"{times['s2sad'] * 1e6:.1f}", *ratios])
    return rows, figures


def _of(library: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of a function by another library."""
    if library == "autograd":
        import autograd
        import autograd.numpy as anp

        return autograd.grad(port(function, np=anp))
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(jax.grad(port(function, np=jnp)))
    return lambda *args: jax.block_until_ready(compiled(*args))
