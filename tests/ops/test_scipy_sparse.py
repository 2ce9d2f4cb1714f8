"""Sparse matrices of SciPy with entries that are differentiated, in programs of a user's: against differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from s2sad.frontend import summaries, touched
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of, names_of

RNG = np.random.default_rng(3)
ROWS, COLUMNS = np.array([0, 1, 2, 3, 0, 2, 1, 0]), np.array([0, 1, 2, 3, 1, 0, 3, 0])
DATA, V = np.array([4.0, 5.0, 6.0, 7.0, 1.0, -0.5, 0.7, 0.3]), np.array([0.3, 1.2, -0.7, 0.5])
K = sparse.csr_matrix((DATA, (ROWS, COLUMNS)))
INDICES, STARTS = K.indices.copy(), K.indptr.copy()
OPERATOR = linalg.aslinearoperator(K)
EYE = sparse.eye(4, format="csc")
WHOLE = K.toarray()


def agrees(f: Callable[..., Any], x: Any) -> None:
    """Compare the value and both modes with the function and its differences."""
    value, found = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    np.testing.assert_allclose(found, numeric_gradient(f, (x,)), rtol=1e-7, atol=1e-8)
    dot = RNG.normal(size=np.shape(x))
    np.testing.assert_allclose(jvp(f, (x,), (dot,))[1], richardson_jvp(f, [x], [dot]), rtol=1e-7, atol=1e-8)


CLASSES = [
    sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array,
]  # fmt: skip


@pytest.mark.parametrize("cls", CLASSES)
def test_each_class_by_rows_and_columns_and_by_an_array(cls: Any) -> None:
    def product(x: Any) -> Any:
        return np.sum((cls((x, (ROWS, COLUMNS)), shape=(4, 4), dtype=float) @ (V + x[:4])) ** 2)

    def of_array(x: Any) -> Any:
        return np.sum((V @ cls(x)) ** 2)

    agrees(product, DATA)
    agrees(of_array, WHOLE)


def compressed(x: Any) -> Any:
    a = sparse.csr_matrix((x[:7], INDICES, STARTS), shape=(4, 4))
    return np.sum((a @ V) ** 2) + np.sum((a.T @ V) ** 3)


def by_columns(x: Any) -> Any:
    return np.sum((sparse.csc_array((x[1:], INDICES, STARTS)).dot(np.stack([V, V**2], axis=1))) ** 2)


def unsorted(x: Any) -> Any:
    a = sparse.csr_matrix((x[:4], np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    return np.sum(a.toarray() ** 2 + (a @ np.ones(3))[:, None])


def of_list(x: Any) -> Any:
    return np.sum(sparse.csr_matrix(([x[0], 2.0, x[1]], ([0, 1, 1], [0, 0, 1]))) @ [x[2], 2.0])


def bands(x: Any) -> Any:
    a = sparse.diags([x[:4], 2 * x[1:4], x[:3]], [0, 1, -1]) + sparse.diags(x[4:])
    stencil = sparse.diags([x[0], -2 * x[1], x[0]], [-1, 0, 1], shape=(4, 4), format="csr")
    named = sparse.diags_array([x[:4], x[1:4]], offsets=[0, 1])
    spread = sparse.dia_matrix((np.stack([x[:4], x[4:]]), [0, -1]), shape=(4, 4)) @ V
    old = sparse.spdiags(np.stack([x[:4], x[4:]]), [0, 1], 4, 4) @ V
    return np.sum((a @ V) ** 2) + np.sum((stencil @ (named @ V)) ** 2) + np.sum(spread**2 * old)


def arithmetic(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)))
    b = 2.0 * a * x[0] / 3 - a.T.multiply(0.5) + K
    c = EYE - (-b) + sparse.diags(x[:4])
    return np.sum((b @ V) * (c @ V)) + np.sum((K @ (a @ V)) ** 2) + b.sum()


def steps(x: Any) -> Any:
    a, u = 0.1 * sparse.csr_array((x, (ROWS, COLUMNS))), V
    for _ in range(a.shape[0]):
        u = a @ u
    return np.sum(u**2)


def applied(a: Any, v: Any) -> Any:
    return a @ v


class Network:
    def __init__(self, conductances: Any) -> None:
        self.matrix = sparse.csr_matrix((conductances, (ROWS, COLUMNS)))

    def flow(self, v: Any) -> Any:
        return applied(self.matrix, v)


def held(x: Any) -> Any:
    return np.sum(Network(x * x).flow(V) ** 2)


def filled_in_place(x: Any) -> Any:
    data, rows, columns = x.copy(), ROWS.copy(), COLUMNS.copy()
    data[1] = data[0] * 2
    a = sparse.csr_matrix((data, (rows, columns))) - sparse.eye(4) * 0.5
    data[0] = 7 * x[1]
    rows[:] = 0
    y = a @ V
    y *= 2.0
    y[0] = y[1] * data[0]
    return np.sum((a @ y) ** 2)


def shared(x: Any) -> Any:
    data = x[:7] * 1.0
    a = sparse.csr_matrix((data, INDICES, STARTS))
    data[0] = 7 * x[1]
    return np.sum((a @ V) ** 2)


def factored_before(x: Any) -> Any:
    data = x[:7] * 1.0
    lu = linalg.splu(sparse.csc_matrix((data, INDICES, STARTS)))
    data[0] = 7 * x[1]
    return np.sum(lu.solve(V) ** 2) * data[0]


def solved_in_place(x: Any) -> Any:
    y = linalg.spsolve(sparse.csc_matrix((x, (ROWS, COLUMNS))), V)
    y[0] = 3 * y[1]
    return np.sum(y**3)


def direct(x: Any) -> Any:
    a = sparse.csc_matrix((x, (ROWS, COLUMNS)))
    several = linalg.spsolve(a.tocsr(), np.stack([V, x[:4]], axis=1))
    return np.sum(linalg.spsolve(a, x[:4]) ** 2) + np.sum(several**3)


def of_diffusion(x: Any) -> Any:
    rising = sparse.csc_matrix((x[0] * K.data, K.indices, K.indptr), shape=K.shape)
    return np.sum(linalg.spsolve(EYE + 0.1 * rising.T, V) ** 2)


def factored(x: Any) -> Any:
    lu = linalg.splu(sparse.csc_matrix((x, (ROWS, COLUMNS))))
    return np.sum(lu.solve(lu.solve(x[:4]), trans="T") ** 2)


def factored_constant(x: Any) -> Any:
    solve = linalg.factorized(K.tocsc())
    return np.sum(solve(solve(x[:4])) * linalg.splu(EYE + K.tocsc()).solve(x[4:]))


def listed_right_side(x: Any) -> Any:
    return np.sum(linalg.spsolve(K.tocsc(), [x[0], x[1], 1.0, 2.0]) ** 2)


def iterated(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)))
    y, _ = linalg.cg(a + a.T, V, rtol=1e-13)
    z, _ = linalg.gmres(a, x[:4], rtol=1e-13, restart=4)
    w, _ = linalg.bicgstab(a, V, rtol=1e-13)
    return np.sum(y**2) + np.sum(z * w)


def parts(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)), shape=(4, 4))
    other = np.sum(a.T.diagonal(-1) ** 2) * a.tocsc().trace()
    return np.sum(a.diagonal() * V) + a.sum() ** 2 + other + np.sum(a.diagonal(k=1) ** 3)


def data_set(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)), shape=(4, 4))
    a.data = a.data**2
    return np.sum(a @ V)


def data_set_from_elsewhere(x: Any) -> Any:
    a = sparse.csr_matrix((x, INDICES, STARTS), shape=(4, 4))
    a.data = x**2
    return np.sum(a @ V)


def data_set_in_place(x: Any) -> Any:
    a = sparse.csr_matrix((1.0 * x, INDICES, STARTS), shape=(4, 4))
    entries = a.data
    entries[1] = x[0] * x[2]
    return np.sum((a @ V) ** 2)


def data_read(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)), shape=(4, 4))
    made = sparse.csr_array(np.outer(x[:3] - x[0], x[:2]))
    return np.sum(a.data**2 * np.arange(1.0, 8.0)) + np.sum(a.T.tocsr().data ** 3) + np.sum(made.data**2)


def test_data_of_a_matrix() -> None:
    agrees(data_read, DATA)
    agrees(data_set, DATA)
    agrees(data_set_from_elsewhere, DATA[: len(INDICES)])
    agrees(data_set_in_place, DATA[: len(INDICES)])


def data_written(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)), shape=(4, 4))
    entries = a.data
    entries *= 2
    return np.sum(a @ V)


def test_data_that_are_added_up_are_not_written() -> None:
    """SciPy's matrix changes with them, the one that is made of the values would not."""
    for run in (lambda: grad(data_written)(DATA), lambda: jvp(data_written, (DATA,), (DATA,))):
        with pytest.raises((S2SADError, ValueError)):
            run()


ENTRY_BY_ENTRY: dict[str, Callable[[Any], Any]] = {
    "power": lambda a: a.power(3).toarray(),
    "power of a sum": lambda a: (a + sparse.csr_array(WHOLE)).power(2).toarray(),
    "square root": lambda a: a.multiply(a.toarray()).sqrt().toarray(),
    "size": lambda a: abs(a).toarray(),
    "product with an array": lambda a: a.multiply(np.arange(16.0).reshape(4, 4)).toarray(),
    "product with a row": lambda a: a.multiply(a.toarray()[0]).toarray(),
    "product with a number": lambda a: a.multiply(2.5).toarray(),
    "mean": lambda a: a.mean(),
    "norm": lambda a: linalg.norm(a),
    "norm by name": lambda a: linalg.norm(a, "fro") ** 2,
}
OF_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "power by an operator": lambda a: (a**2).toarray(),
    "whole": lambda a: a.todense(),
    "sums of columns": lambda a: a.sum(axis=0),
    "sums of rows": lambda a: a.sum(-1),
    "means": lambda a: a.mean(axis=1),
}


@pytest.mark.parametrize("name", [*ENTRY_BY_ENTRY, *OF_ARRAYS])
@pytest.mark.parametrize("cls", CLASSES[3:])
def test_what_is_made_entry_by_entry(cls: Any, name: str) -> None:
    of = {**ENTRY_BY_ENTRY, **OF_ARRAYS}[name]
    slope = grad(lambda x: np.sum(of(cls((x, (ROWS[:7], COLUMNS[:7])), shape=(4, 4))) ** 2))
    agrees(lambda x: np.sum(of(cls((x, (ROWS[:7], COLUMNS[:7])), shape=(4, 4))) ** 2), DATA[:7])
    found = grad(lambda x: slope(x) @ DATA[:7])(DATA[:7])
    np.testing.assert_allclose(found, richardson_jvp(slope, [DATA[:7]], [DATA[:7]]), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", [*ENTRY_BY_ENTRY, *OF_ARRAYS])
def test_what_gives_a_matrix_of_numpys_is_refused(name: str) -> None:
    of = {**ENTRY_BY_ENTRY, **OF_ARRAYS}[name]

    def f(x: Any) -> Any:
        return np.sum(of(sparse.csr_matrix(x)))

    if name in ENTRY_BY_ENTRY:
        agrees(f, WHOLE)
    else:
        with pytest.raises(UndefinedDerivativeError, match="csr_array"):
            grad(f)(WHOLE)


def test_matrices_are_computed_in_the_precision_of_their_values() -> None:
    """A matrix is kept for values that come again, but not for equal ones of another precision."""
    x = np.ones(3, np.float32)
    value, dot = jvp(lambda x: sparse.coo_matrix((x, ([0, 1, 2], [1, 2, 0]))).sum(), (x,), (x,))
    assert value.dtype == dot.dtype == np.float32


PROGRAMS = [
    parts,
    compressed, by_columns, unsorted, filled_in_place, shared, factored_before, solved_in_place,
    of_list, bands, arithmetic, steps, held, direct, of_diffusion, factored,
    factored_constant, listed_right_side, iterated,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f: Callable[..., Any]) -> None:
    agrees(f, DATA)


def test_iterative_solvers_by_a_whole_matrix() -> None:
    for solver in (linalg.cg, linalg.gmres, linalg.bicgstab):
        agrees(lambda a, f=solver: np.sum(f(a @ a.T + np.eye(4), V, rtol=1e-13)[0] ** 2), WHOLE / 4)


def iterated_beside_list(a: Any) -> Any:
    x, _ = linalg.cg(a @ a.T + np.eye(4), [1.0, 2.0, 3.0, 4.0], rtol=1e-13)
    y, _ = linalg.gmres(a, [a[0, 0], 2.0, 3.0, 4.0], rtol=1e-13, restart=4)
    return np.sum(x**2) + np.sum(x * y)


def solved_beside_list(a: Any) -> Any:
    return np.sum(linalg.spsolve(a, (1.0, 2.0, 3.0, 4.0)) ** 2)


def factored_whole(a: Any) -> Any:
    return np.sum(linalg.splu(a).solve(V) ** 2) + np.sum(linalg.factorized(a)(V * a[0, 0]) ** 3)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("f", [iterated_beside_list, solved_beside_list, factored_whole])
def test_whole_matrices_in_place_of_sparse_ones(f: Callable[..., Any]) -> None:
    agrees(f, WHOLE)


def complex_loss(z: Any) -> Any:
    return np.sum(np.real(z) * 1.3 + np.imag(z) * 0.7 + np.real(z) ** 2)


def complex_products(x: Any) -> Any:
    a = sparse.csc_matrix((x, (ROWS, COLUMNS)))
    return complex_loss(a @ V) + complex_loss(linalg.spsolve(a, V)) + complex_loss(linalg.splu(a).solve(V + 0j))


def test_complex_and_short_entries() -> None:
    x = DATA * (1 + 0.3j)
    np.testing.assert_allclose(grad(complex_products)(x), numeric_gradient(complex_products, (x,)), rtol=1e-6)
    gradient = grad(steps)(DATA.astype(np.float32))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, grad(steps)(DATA), rtol=1e-4)


def by_class(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)))
    return np.sum(a @ V) if isinstance(a, sparse.csr_matrix) else x[0]


def compared(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)))
    return np.sum(a @ V) * (a == a.T).nnz


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (by_class, "csr_matrix"),
        (compared, "csr_matrix"),
    ],
)
def test_what_is_refused(f: Callable[..., Any], what: str) -> None:
    for derivative in (lambda: grad(f)(DATA), lambda: jvp(f, (DATA,), (DATA,))):
        with pytest.raises((UnsupportedError, UndefinedDerivativeError, S2SADError), match=what):
            derivative()


def _as_matrix(x: Any) -> Any:
    return np.sum(np.asarray(np.asmatrix(np.ones((2, 2))) * x))


def _masked(x: Any) -> Any:
    return np.sum(np.ma.masked_array([1.0, 2.0], [0, 1]) * x)


@pytest.mark.parametrize("function", [_as_matrix, _masked])
def test_operators_of_library_classes_are_not_those_of_arrays(function: Any) -> None:
    """What the class of an operand is shows when it runs: ``*`` of matrices is no product of elements."""
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    for derivative in (lambda: grad(function)(0.3), lambda: jvp(function, (0.3,), (1.0,))):
        with pytest.raises(UndefinedDerivativeError, match="not those of arrays"):
            derivative()


def test_a_linear_operator_is_constant() -> None:
    double = linalg.LinearOperator((3, 3), matvec=lambda x: 2 * x, rmatvec=lambda x: 2 * x)
    for f in (
        lambda b: np.sum(linalg.gmres(double, b)[0] ** 2),
        lambda b: np.sum(linalg.cg(linalg.aslinearoperator(2 * np.eye(3)), b)[0] ** 2),
    ):
        np.testing.assert_allclose(grad(f)(np.ones(3)), np.full(3, 0.5))
    f = lambda b: np.sum(linalg.gmres(double, b)[0] ** 2)  # noqa: E731
    np.testing.assert_allclose(jvp(f, (np.ones(3),), (np.ones(3),))[1], 1.5)


def normal_equations(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS, COLUMNS)))
    return np.sum((a.T @ a).toarray() ** 2)


def weighted(x: Any) -> Any:
    a = sparse.csc_array((x, (ROWS, COLUMNS)))
    return np.sum(linalg.spsolve((a @ sparse.diags(x[:4]) @ a.T).tocsc(), V) ** 2)


def chained(x: Any) -> Any:
    a = sparse.coo_matrix((x, (ROWS, COLUMNS))) + sparse.diags(x[4:])
    return np.sum((a @ a @ a) @ V) + (a.dot(a)).trace() + (a @ a.T).sum()


def with_factors(x: Any) -> Any:
    lu = linalg.splu(sparse.csc_matrix((x, (ROWS, COLUMNS))))
    return np.sum(lu.solve(x[:4]) ** 2) + np.sum(lu.solve(V, "T") ** 3)


def of_an_operator(x: Any) -> Any:
    return np.sum(linalg.gmres(OPERATOR, x[:4] ** 2, rtol=1e-13)[0] ** 2)


def of_a_constant(x: Any) -> Any:
    return np.sum(linalg.spsolve(K.tocsc(), x[:4] ** 2) ** 2) + np.sum((K @ x[4:]) ** 3)


@pytest.mark.parametrize(
    "f",
    [normal_equations, weighted, chained, with_factors, of_a_constant, direct, arithmetic, bands],
    ids=lambda f: f.__name__,
)
def test_second_derivatives(f: Callable[..., Any]) -> None:
    agrees(f, DATA)
    twice(f, DATA)


def test_products_with_the_hessian_through_a_system_with_an_operator() -> None:
    dot = RNG.normal(size=8)
    expected = numeric_gradient(lambda t: np.sum(grad(of_an_operator)(t) * dot), (DATA,))
    np.testing.assert_allclose(hvp(of_an_operator, (DATA,), (dot,)), expected, rtol=1e-5, atol=1e-6)


def twice(f: Callable[..., Any], x: Any) -> None:
    """Compare second derivatives, forward and reverse over reverse, with differences of the gradient."""
    dot = RNG.normal(size=np.shape(x))

    def along(t: Any) -> Any:
        return np.sum(grad(f)(t) * dot)

    expected = numeric_gradient(along, (x,))
    np.testing.assert_allclose(hvp(f, (x,), (dot,)), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(grad(along)(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:spsolve requires A be CSC")
@pytest.mark.parametrize("side", [(4,), (4, 1), (4, 3)])
def test_a_system_with_an_array_for_its_matrix(side: tuple[int, ...]) -> None:
    b = RNG.normal(size=side)

    def solved(a: Any) -> Any:
        return np.sum(linalg.spsolve(a, b) ** 2)

    def of_side(b: Any) -> Any:
        return np.sum(linalg.spsolve(WHOLE, b**2) ** 2)

    for f, x in ((solved, WHOLE), (of_side, b)):
        agrees(f, x)
        twice(f, x)


# --- factors, operators and solvers that are constants of the module

FACTORS = linalg.splu(K.tocsc())
SOLVE = linalg.factorized(K.tocsc())
OF_FUNCTIONS = linalg.LinearOperator((4, 4), matvec=lambda v: K @ v, rmatvec=lambda v: K.T @ v)
ONE_WAY = linalg.LinearOperator((4, 4), matvec=lambda v: K @ v)
TALL = sparse.vstack([K, sparse.csr_matrix(np.ones((2, 4)))]).tocsr()
SYMMETRIC = (K + K.T).tocsr()
SCALE = linalg.aslinearoperator(np.diag([0.3, 0.2, 0.15, 0.1]))


def by_constant_factors(x: Any) -> Any:
    return np.sum(FACTORS.solve(x) ** 3) + np.sum(FACTORS.solve(x, "T") * SOLVE(x * x))


def by_constant_operators(x: Any) -> Any:
    columns = np.stack([x, x**2], axis=1)
    lines = np.sum(OF_FUNCTIONS.matvec(x) ** 2) + np.sum(OPERATOR.rmatvec(x) ** 3)
    return lines + np.sum(OPERATOR.matmat(columns) ** 2) + np.sum(OPERATOR.dot(columns) ** 3) + np.sum(OPERATOR(x))


def by_solvers(x: Any) -> Any:
    found = linalg.minres(SYMMETRIC, x, rtol=1e-13)[0] + linalg.cgs(K, x, rtol=1e-13)[0]
    found = found + linalg.lgmres(K, x, rtol=1e-13)[0] + linalg.tfqmr(K, x, rtol=1e-13)[0]
    return np.sum(found**2) + np.sum(linalg.cg(SYMMETRIC, x, rtol=1e-13, M=SCALE)[0] ** 3)


def by_least_squares(x: Any) -> Any:
    sides = np.append(x, x[:2] ** 2)
    found = linalg.lsqr(TALL, sides, atol=1e-15, btol=1e-15)[0]
    return np.sum(found**2) + np.sum(linalg.lsmr(TALL, sides, 0.3, atol=1e-15, btol=1e-15)[0] ** 3)


def by_exponential(x: Any) -> Any:
    return np.sum(linalg.expm_multiply(-0.2 * K, x) ** 2)


@pytest.mark.parametrize(
    "f", [by_constant_factors, by_constant_operators, by_solvers, by_least_squares, by_exponential]
)
def test_constants_of_the_module(f: Callable[..., Any]) -> None:
    found = grad(f)(V)
    np.testing.assert_allclose(found, numeric_gradient(f, (V,)), rtol=1e-7, atol=1e-8)
    dot = RNG.normal(size=4)
    np.testing.assert_allclose(jvp(f, (V,), (dot,))[1], found @ dot, rtol=1e-7, atol=1e-8)


def scaled(c: Any) -> Any:
    part = np.sum((c[0] * K @ V) ** 2) + np.sum((K.T / c[1] @ V) ** 3) + (np.exp(c[1]) * K).trace()
    half = K / 2
    middle = K.multiply(c[0]) - 2.0 * EYE * c[1] + c[0] * half
    part = part + np.sum(sparse.eye(4).tocsr() * c[0] @ V) + np.sum(K.real * 2.0 * c[1] @ V)
    return part + np.sum(middle.toarray() ** 2) + V @ (sparse.csr_array(EYE) * c[0] @ V) + (2 * K * c[1]).sum()


def in_systems(c: Any) -> Any:
    u = linalg.spsolve(EYE + 0.1 * c[0] * SYMMETRIC, V)
    factors = linalg.splu(sparse.identity(4, format="csc") + (c[1] * K.T).tocsc())
    for i in range(2):
        u = factors.solve(u) + linalg.spsolve(EYE - 0.1 * i * c[0] * K, u)
    return np.sum(u**2) + np.sum(linalg.gmres(c[0] * K + c[1] * EYE, V, rtol=1e-13)[0] ** 2)


def in_products(c: Any) -> Any:
    return np.sum((sparse.diags(c[0] * V) @ K @ V) ** 2) + np.sum(K @ sparse.diags(c[1] * V) @ (c[0] * EYE) @ V)


class Bar:
    def __init__(self) -> None:
        self.stiffness = K

    def bent(self, c: Any) -> Any:
        return np.sum((c[0] * self.stiffness @ V) ** 2) * stretched(c[1], self.stiffness)


def stretched(c: Any, matrix: Any) -> Any:
    return np.sum(linalg.spsolve(c * matrix + EYE, V))


BAR = Bar()


@pytest.mark.parametrize("f", [scaled, in_systems, in_products, BAR.bent, lambda c: BAR.bent(c) * 2.0])
def test_constants_that_are_multiplied(f: Callable[..., Any]) -> None:
    c = np.array([0.7, 1.3])
    agrees(f, c)
    if f is in_systems:
        np.testing.assert_allclose(hvp(f, (c,), (c,)), richardson_jvp(grad(f), (c,), (c,)), rtol=1e-6)


@pytest.mark.parametrize("matrix", [K, EYE, sparse.csr_array(K), K.tocoo()])
def test_arguments_that_are_multiplied(matrix: Any) -> None:
    f = lambda c, a: np.sum((c * a @ V) ** 2) + c * stretched(c, a)  # noqa: E731
    np.testing.assert_allclose(grad(f)(0.7, matrix), numeric_gradient(f, (0.7, matrix)), rtol=1e-7)


def test_constants_that_multiply_constants_stay_what_they_are() -> None:
    """Those of SciPy's matrices are multiplied by arrays with ``*`` as well."""
    f = lambda x, a: np.sum((K * a @ x) ** 2) + np.sum((K * K @ x) ** 2) + np.sum(K.multiply(K) @ x)  # noqa: E731
    np.testing.assert_allclose(grad(f)(V, WHOLE), numeric_gradient(f, (V, WHOLE)), rtol=1e-7)


def test_what_a_solver_returns_is_not_taken_for_its_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the methods of SciPy's matrices would be read to find what they write, which takes seconds."""
    read = []

    def code_of(function: Any) -> Any:
        read.append(function.__module__)
        return summaries.code_of(function)

    monkeypatch.setattr(touched, "code_of", code_of)
    f = lambda x: np.sum(linalg.cg(SYMMETRIC, x, rtol=1e-12)[0] ** 2)  # noqa: E731
    np.testing.assert_allclose(grad(f)(V), numeric_gradient(f, (V,)), rtol=1e-7)
    assert read
    assert not [name for name in read if name.startswith("scipy")]


@pytest.mark.parametrize("applied", [lambda x: ONE_WAY.matvec(x), lambda x: ONE_WAY @ x], ids=["method", "product"])
def test_an_operator_that_does_not_know_its_adjoint_is_refused(applied: Any) -> None:
    with pytest.raises(UndefinedDerivativeError, match="rmatvec"):
        grad(lambda x: np.sum(applied(x) ** 2))(V)


def test_the_norms_that_a_solver_reports_have_no_derivative() -> None:
    f = lambda x: 2.0 * linalg.lsqr(TALL, np.append(x, x[:2]))[3]  # noqa: E731
    with pytest.raises(UndefinedDerivativeError, match="reports"):
        grad(f)(V)
    with pytest.raises(UndefinedDerivativeError, match="reports"):
        jvp(f, (V,), (V,))


def extreme(x: Any) -> Any:
    a = K + K.T + sparse.diags(x)
    values, vectors = linalg.eigsh(a, k=2, which="LA", v0=V)
    return np.sum(values**2) + np.sum(vectors**4)


def of_whole_matrix(x: Any) -> Any:
    return np.sum(linalg.eigsh(np.outer(x, x) + WHOLE + WHOLE.T, k=2, return_eigenvectors=False, v0=V) ** 2)


def singular(x: Any) -> Any:
    a = sparse.csr_matrix((x, (ROWS[:4], COLUMNS[:4])), shape=(4, 4)) + K
    _, s, _ = linalg.svds(a, k=2, v0=V)
    return np.sum(s**3) + np.sum(linalg.svds(WHOLE * x, k=2, return_singular_vectors=False, v0=V))


@pytest.mark.parametrize("f", [extreme, of_whole_matrix, singular])
def test_some_eigenvalues_and_singular_values(f: Callable[..., Any]) -> None:
    found, dot = grad(f)(V), RNG.normal(size=4)
    np.testing.assert_allclose(found, numeric_gradient(f, (V,)), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (V,), (dot,))[1], found @ dot, rtol=1e-7, atol=1e-7)


def test_singular_vectors_are_refused_in_both_modes() -> None:
    f = lambda x: np.sum(linalg.svds(WHOLE * x, k=2, v0=V)[0] ** 4)  # noqa: E731
    with pytest.raises(UndefinedDerivativeError, match="singular vectors"):
        grad(f)(V)
    with pytest.raises(UndefinedDerivativeError, match="singular vectors"):
        jvp(f, (V,), (V,))


def its_size(c: Any) -> Any:
    return np.sum((np.abs(K) * c) @ np.ones(K.shape[1]))


def test_what_is_made_of_a_constant_matrix_is_no_array() -> None:
    """Its product with a number is of matrices, and was taken for one of arrays, with a wrong gradient."""
    for derivative in (lambda: grad(its_size)(1.3), lambda: jvp(its_size, (1.3,), (1.0,))):
        with pytest.raises(UndefinedDerivativeError, match="whose operators are not those of arrays"):
            derivative()


def test_products_with_the_transpose_of_a_constant_matrix() -> None:
    x = np.linspace(0.3, 1.2, K.shape[0])
    for f in (lambda x: np.sum((K.T @ x) ** 2), lambda x: np.sum((K.T * 2.0) @ x) ** 2):
        np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-6)


FREE, INSIDE, HALF = np.array([3, 1, 2]), np.array([False, True, True, True]), np.array([2.0, -0.5])
#: Parts of a matrix of four rows, each with what it is multiplied by; one row is taken twice, some are turned round.
PARTS: dict[str, Callable[[Any], Any]] = {
    "slices": lambda a: a[1:, 1:] @ V[1:],
    "rows, then columns": lambda a: a[FREE][:, FREE] @ V[1:],
    "a mask": lambda a: a[INSIDE][:, INSIDE] @ V[1:],
    "a grid": lambda a: a[np.ix_(FREE, [0, 2])] @ HALF,
    "a grid of columns": lambda a: a[FREE[:, None], FREE] @ V[1:],
    "rows twice": lambda a: a[[0, 0, 2]] @ V,
    "backwards": lambda a: a[::-1, ::2] @ HALF,
    "its transpose": lambda a: a[1:3].T @ HALF,
    "elements": lambda a: a[0, 0] ** 2 * a[1, -3] + a[2, 0] - a[3, 0],
    "a system": lambda a: linalg.spsolve(a[1:, 1:].tocsc(), V[1:]),
}
BESIDE = sparse.csr_matrix(np.arange(8.0).reshape(2, 4))
BLOCKS: dict[str, Callable[[Any], Any]] = {
    "hstack": lambda a: sparse.hstack([a, 2.0 * a]) @ DATA,
    "vstack": lambda a: sparse.vstack((a, BESIDE), format="csr") @ V,
    "block_diag": lambda a: sparse.block_diag([a, a.T], format="csc") @ DATA,
    "bmat": lambda a: linalg.spsolve(sparse.bmat([[a, BESIDE.T], [BESIDE, None]], format="csc"), DATA[:6]),
    "block_array": lambda a: sparse.block_array([[a, np.ones((4, 2))], [None, sparse.eye(2)]]) @ DATA[:6],
    "kron": lambda a: sparse.kron(a, HALF[None], "csr") @ (sparse.kron(sparse.eye(2), a) @ DATA),
    "kron of both": lambda a: sparse.kron(a, a.T) @ np.arange(16.0),
}


@pytest.mark.parametrize("of", (PARTS | BLOCKS).values(), ids=PARTS | BLOCKS)
def test_parts_and_blocks(of: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        return np.sum(of(sparse.coo_matrix((x, (ROWS, COLUMNS)), shape=(4, 4)).tocsr()) ** 2)

    agrees(f, DATA)


@pytest.mark.parametrize("taken", [np.array([1, 2, 3]), [1, 2, 3], np.array([False, True, True, True])], ids=type)
def test_an_index_may_change_later(taken: Any) -> None:
    def f(x: Any) -> Any:
        index = taken.copy()
        part = sparse.csr_matrix((x, (ROWS, COLUMNS)))[index]
        index[1] = 0
        return np.sum((part @ V) ** 2)

    agrees(f, DATA)


def row_of(x: Any) -> Any:
    return np.sum(sparse.csr_array((x, (ROWS, COLUMNS)))[1] @ V)


def elements_one_by_one(x: Any) -> Any:
    return np.sum(sparse.csr_array((x, (ROWS, COLUMNS)))[FREE, FREE] @ V[1:])


@pytest.mark.parametrize("f", [row_of, elements_one_by_one])
def test_parts_that_are_no_matrix_are_refused_with_a_remedy(f: Any) -> None:
    with pytest.raises(UndefinedDerivativeError, match=r"A\[rows\]\[:, columns\], A\[i:i \+ 1\]"):
        grad(f)(DATA)


def test_a_matrix_that_a_function_of_another_module_makes() -> None:
    helper = names_of(
        "def assembled(x):\n    return sparse.coo_matrix((x, (ROWS, COLUMNS)), shape=(4, 4)).tocsc()\n",
        {"sparse": sparse, "ROWS": ROWS, "COLUMNS": COLUMNS, "__name__": "one"},
    )["assembled"]
    text = "def f(x):\n    a = helper(x)\n    return np.sum((a @ V) ** 2) + a[0, 0]\n"
    agrees(function_of(text, {"helper": helper, "V": V, "__name__": "two"}), DATA)
