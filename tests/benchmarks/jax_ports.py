"""Kernels ported to JAX twice: as they stand, every store an update of a new array, and as an expert rewrites them.

Each function returns the loss; it is called when JAX is there. The experts' forms carry as little as the recurrence
needs (a row, a scalar) through a scan, and build arrays in one piece. Their primals and gradients are checked against
the NumPy ones before they are timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Loss = Callable[..., Any]


def jacobi_2d() -> Loss:
    import jax
    import jax.numpy as jnp

    def half(old, new):
        return new.at[1:-1, 1:-1].set(
            0.2 * (old[1:-1, 1:-1] + old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        )

    def step(_, state):
        a, b = state
        b = half(a, b)
        a = half(b, a)
        return a, b

    def loss(a, b, steps, w_a, w_b):
        a, b = jax.lax.fori_loop(0, steps, step, (a, b))
        return jnp.sum(w_a * a) + jnp.sum(w_b * b)

    return loss


def jacobi_2d_expert() -> Loss:
    import jax
    import jax.numpy as jnp

    def around(x):
        """The sum of the four neighbours inside, from nothing outside: slices of a padded array fuse."""
        x = jnp.pad(x, 1)
        return x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]

    def loss(a, b, steps, w_a, w_b):
        # the frames do not change, and neither does what they contribute
        inner_a, inner_b = a[1:-1, 1:-1], b[1:-1, 1:-1]
        frame_a = a.at[1:-1, 1:-1].set(0.0)
        frame_b = b.at[1:-1, 1:-1].set(0.0)
        from_a = around(frame_a)[1:-1, 1:-1]
        from_b = around(frame_b)[1:-1, 1:-1]

        def step(state, _):
            inner_a, _ = state
            inner_b = 0.2 * (inner_a + around(inner_a) + from_a)
            return (0.2 * (inner_b + around(inner_b) + from_b), inner_b), None

        (inner_a, inner_b), _ = jax.lax.scan(step, (inner_a, inner_b), None, length=steps)
        return jnp.sum(w_a * frame_a.at[1:-1, 1:-1].set(inner_a)) + jnp.sum(w_b * frame_b.at[1:-1, 1:-1].set(inner_b))

    return loss


def gauss_seidel() -> Loss:
    import jax
    import jax.numpy as jnp

    def loss(u, f, sweeps, w):
        rows, columns = u.shape

        def sweep(_, u):
            def row(i, u):
                def element(j, u):
                    around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                    return u.at[i, j].set(0.25 * (around - f[i, j]))

                return jax.lax.fori_loop(1, columns - 1, element, u)

            return jax.lax.fori_loop(1, rows - 1, row, u)

        return jnp.sum(w * jax.lax.fori_loop(0, sweeps, sweep, u))

    return loss


def gauss_seidel_expert() -> Loss:
    import jax
    import jax.numpy as jnp

    def element(left, rest):
        new = 0.25 * (left + rest)
        return new, new

    def row(above, rows):
        old, below, f = rows
        _, inner = jax.lax.scan(element, old[0], above[1:-1] + below[1:-1] + old[2:] - f[1:-1])
        new = jnp.concatenate((old[:1], inner, old[-1:]))
        return new, new

    def loss(u, f, sweeps, w):
        def sweep(u, _):
            _, inner = jax.lax.scan(row, u[0], (u[1:-1], u[2:], f[1:-1]))
            return jnp.concatenate((u[:1], inner, u[-1:])), None

        u, _ = jax.lax.scan(sweep, u, None, length=sweeps)
        return jnp.sum(w * u)

    return loss


def cholesky() -> Loss:
    import jax
    import jax.numpy as jnp

    def loss(A, w):
        n = len(A)
        index = jnp.arange(n)

        def column(j, A):
            # slices of a length that changes do not exist: what they leave out is masked
            before = jnp.where(index < j, A[j], 0.0)
            pivot = jnp.sqrt(A[j, j] - before @ before)
            below = (A[:, j] - A @ before) / pivot
            return A.at[:, j].set(jnp.where(index > j, below, jnp.where(index == j, pivot, A[:, j])))

        return jnp.sum(w * jax.lax.fori_loop(0, n, column, A))

    return loss


def cholesky_expert() -> Loss:
    import jax
    import jax.numpy as jnp

    def loss(A, w):
        symmetric = jnp.tril(A) + jnp.tril(A, -1).T
        factor = jax.lax.linalg.cholesky(symmetric, symmetrize_input=False)
        return jnp.sum(w * (jnp.tril(factor) + jnp.triu(A, 1)))

    return loss


def vertical_advection() -> Loss:
    import jax
    import jax.numpy as jnp

    def loss(u, w, dt, dz, w_u):
        levels = u.shape[0]
        factor = 0.25 * dt / dz
        above = factor * (w[1] + w[0])
        upper = jnp.zeros_like(u).at[0].set(above / (1.0 - above))
        right = jnp.zeros_like(u).at[0].set((u[0] - above * (u[1] - u[0])) / (1.0 - above))

        def up(k, state):
            upper, right = state
            below = -factor * (w[k] + w[k - 1])
            above = factor * (w[k + 1] + w[k])
            explicit = u[k] - below * (u[k - 1] - u[k]) - above * (u[k + 1] - u[k])
            divisor = 1.0 / (1.0 - below - above - below * upper[k - 1])
            return upper.at[k].set(above * divisor), right.at[k].set((explicit - below * right[k - 1]) * divisor)

        upper, right = jax.lax.fori_loop(1, levels - 1, up, (upper, right))
        below = -factor * (w[-1] + w[-2])
        explicit = u[-1] - below * (u[-2] - u[-1])
        right = right.at[-1].set((explicit - below * right[-2]) / (1.0 - below - below * upper[-2]))

        def down(i, u):
            k = levels - 2 - i
            return u.at[k].set(right[k] - upper[k] * u[k + 1])

        return jnp.sum(w_u * jax.lax.fori_loop(0, levels - 1, down, u.at[-1].set(right[-1])))

    return loss


def vertical_advection_expert() -> Loss:
    import jax
    import jax.numpy as jnp

    def up(state, level):
        upper, right = state
        below, above, explicit = level
        divisor = 1.0 / (1.0 - below - above - below * upper)
        new = above * divisor, (explicit - below * right) * divisor
        return new, new

    def down(u, level):
        upper, right = level
        new = right - upper * u
        return new, new

    def loss(u, w, dt, dz, w_u):
        faces = 0.25 * dt / dz * (w[1:] + w[:-1])
        nothing = jnp.zeros_like(u[:1])
        below = jnp.concatenate((nothing, -faces))
        above = jnp.concatenate((faces, nothing))
        differences = jnp.diff(u, axis=0)
        explicit = u + below * jnp.concatenate((nothing, differences)) - above * jnp.concatenate((differences, nothing))
        start = (nothing[0], nothing[0])
        _, coefficients = jax.lax.scan(up, start, (below, above, explicit))
        _, new = jax.lax.scan(down, nothing[0], coefficients, reverse=True)
        return jnp.sum(w_u * new)

    return loss


def needleman_wunsch() -> Loss:
    import jax
    import jax.numpy as jnp

    def loss(a, b, substitution, gap, temperature, w):
        rows, columns = len(a) + 1, len(b) + 1
        score = jnp.zeros((rows, columns))
        score = score.at[:, 0].set(-gap * jnp.arange(rows)).at[0, :].set(-gap * jnp.arange(columns))

        def row(i, score):
            def element(j, score):
                match = score[i - 1, j - 1] + substitution[a[i - 1], b[j - 1]]
                moves = jnp.stack((match, score[i - 1, j] - gap, score[i, j - 1] - gap))
                return score.at[i, j].set(temperature * jax.nn.logsumexp(moves / temperature))

            return jax.lax.fori_loop(1, columns, element, score)

        return jnp.sum(w * jax.lax.fori_loop(1, rows, row, score))

    return loss


def needleman_wunsch_expert() -> Loss:
    import jax
    import jax.numpy as jnp

    def loss(a, b, substitution, gap, temperature, w):
        def element(left, others):
            match, delete = others
            moves = jnp.stack((match, delete, left - gap))
            new = temperature * jax.nn.logsumexp(moves / temperature)
            return new, new

        def row(above, costs):
            first = above[0] - gap
            _, inner = jax.lax.scan(element, first, (above[:-1] + costs, above[1:] - gap))
            new = jnp.concatenate((first[None], inner))
            return new, new

        top = -gap * jnp.arange(len(b) + 1)
        _, rest = jax.lax.scan(row, top, substitution[a][:, b])
        return jnp.sum(w[0] * top) + jnp.sum(w[1:] * rest)

    return loss


PORTS: dict[str, tuple[Callable[[], Loss], Callable[[], Loss]]] = {
    "jacobi_2d": (jacobi_2d, jacobi_2d_expert),
    "gauss_seidel": (gauss_seidel, gauss_seidel_expert),
    "cholesky": (cholesky, cholesky_expert),
    "vertical_advection": (vertical_advection, vertical_advection_expert),
    "needleman_wunsch": (needleman_wunsch, needleman_wunsch_expert),
}
