"""``scipy.signal``, ``ndimage``, ``integrate``, ``sparse`` and ``spatial.distance`` in whole programs, and refusals."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.sparse
from scipy import integrate, ndimage, optimize, signal, spatial, special, stats
from scipy.sparse.linalg import cg, spsolve
from scipy.spatial import distance
from scipy.spatial.distance import cdist, pdist

from s2sad import grad, hvp, jvp, stop_gradient
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.ops.test_as_a_user import agrees
from tests.ops.test_scipy_loading import python
from tests.oracle import numeric_gradient, richardson_jvp

RNG = np.random.default_rng(5)
X, K = RNG.normal(size=12), np.array([0.2, 0.5, -0.3])
IMAGE = RNG.normal(size=(3, 4))
SECOND = np.diag(np.full(12, 2.0)) - np.diag(np.ones(11), 1) - np.diag(np.ones(11), -1)
LAPLACIAN = scipy.sparse.csr_matrix(SECOND)
UPWIND = scipy.sparse.csc_array(np.eye(12) * 2 + np.diag(RNG.normal(size=11), -1))


def deconvolution(x: Any) -> Any:
    return np.sum((signal.fftconvolve(x, K, mode="same") - K[1]) ** 2) + np.sum(np.abs(x))


def matched(x: Any) -> Any:
    return np.sum(signal.convolve(x, x) ** 2) + np.max(signal.correlate(x, K, "valid"))


def autoregression(x: Any) -> Any:
    y = signal.lfilter([1.0, x[0]], np.array([1.0, -0.5, 0.2]), x)
    return np.sum(signal.detrend(y) ** 2)


def coefficients(x: Any) -> Any:
    return np.sum(signal.lfilter(x[:2], np.concatenate([np.ones(1), 0.1 * x[2:4]]), X) ** 2)


def poisson(x: Any) -> Any:
    return 0.5 * x @ (LAPLACIAN @ x) - np.sum(LAPLACIAN.T @ np.sin(x))


def methods_of_matrices(x: Any) -> Any:
    return np.sum(UPWIND.dot(x) ** 2) + np.sum((x @ UPWIND) ** 3)


def several(x: Any) -> Any:
    return np.sum((UPWIND @ np.stack([x, x**2], axis=1)) ** 2)


def by_steps(x: Any) -> Any:
    u = x
    for _ in range(3):
        u = u - 0.1 * (UPWIND @ u)
    return np.sum(u**2)


def solved(x: Any) -> Any:
    return np.sum(spsolve(UPWIND, x) ** 2) + np.sum(cg(LAPLACIAN, x, rtol=1e-12)[0] ** 2)


def blurred(x: Any) -> Any:
    image = x.reshape(3, 4)
    return np.sum((ndimage.gaussian_filter(image, 0.8) - IMAGE) ** 2) + np.sum(ndimage.sobel(image, 0) ** 2)


def length(x: Any) -> Any:
    t = np.linspace(0.0, 1.0, 12)
    return (
        integrate.trapezoid(x**2, t) + integrate.simpson(np.sin(x), x=t) + integrate.cumulative_trapezoid(x, t)[-1] ** 2
    )


def kernel(x: Any) -> Any:
    points = x.reshape(6, 2)
    return np.sum(np.exp(-cdist(points, points[:3] + 1, "sqeuclidean"))) + np.sum(pdist(points))


def spectrum(x: Any) -> Any:
    power = np.abs(scipy.fft.rfft(x)) ** 2
    smooth = scipy.fft.idct(scipy.fft.dct(x, norm="ortho")[:5], n=12, norm="ortho")
    return np.sum(power[1:] ** 2) + np.sum((smooth - x) ** 2) + np.sum(scipy.fft.dst(x, type=1) ** 3)


PROGRAMS: list[Callable[..., Any]] = [
    deconvolution, matched, autoregression, coefficients, poisson, methods_of_matrices, several, by_steps, solved,
    blurred, length, kernel, spectrum,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_of_programs_agree_with_differences(f: Callable[..., Any]) -> None:
    gradient = grad(f)(X)
    for i, unit in enumerate(np.eye(12)):
        np.testing.assert_allclose(gradient[i], richardson_jvp(f, [X], [unit]), rtol=1e-6, atol=1e-7)


def test_a_matrix_may_be_an_argument() -> None:
    def f(x: Any, a: Any) -> Any:
        return np.sum((a @ x) ** 2)

    for matrix in (LAPLACIAN, LAPLACIAN.toarray(), scipy.sparse.linalg.aslinearoperator(LAPLACIAN)):
        np.testing.assert_allclose(grad(f)(X, matrix), 2 * SECOND.T @ (SECOND @ X))


class Turned:
    """Something with a product of its own, from no known library."""

    shape = (12, 12)

    def __matmul__(self, x: Any) -> Any:
        return x[::-1]


def test_a_product_with_any_other_object_is_what_its_class_says() -> None:
    def f(x: Any, a: Any) -> Any:
        return np.sum((a @ x) * x)

    np.testing.assert_allclose(grad(f)(X, Turned()), 2 * X[::-1])


def test_points_that_are_the_same_have_a_zero_derivative_of_their_distance() -> None:
    points = np.array([[0.5, 1.0], [0.5, 1.0], [2.0, 3.0]])
    for metric in ("euclidean", "cityblock", "minkowski", "chebyshev"):
        gradient = grad(lambda x, m: np.sum(cdist(x, x, m)))(points, metric)
        assert np.all(np.isfinite(gradient))
        np.testing.assert_allclose(gradient[0], gradient[1])


def test_a_saved_gradient_stands_alone(tmp_path: pathlib.Path) -> None:
    df = grad(deconvolution)
    expected = df(X)
    df.save(tmp_path / "derivative.py")
    name = df.source_for(X).partition("def ")[2].partition("(")[0]
    out = python(
        f"import numpy as np\nimport derivative\nderivative.K = np.array({K.tolist()})\n"
        f"print(derivative.{name}(np.array({X.tolist()})).tolist())",
        str(tmp_path),
    )
    np.testing.assert_array_equal(eval(out), expected)


def area(x: Any) -> Any:
    return integrate.tanhsinh(lambda t: x[0] * t, 0.0, 1.0).integral


def orbit(x: Any) -> Any:
    return integrate.solve_bvp(lambda t, y: -x[0] * y, lambda a, b: a - 1.0, X[:2], x[:2, None]).y[0, 0]


def bent(x: Any) -> Any:
    return np.sum(ndimage.geometric_transform(x, lambda place: (place[0] * 0.5,)))


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (area, "integrate.tanhsinh.*leggauss"),
        (orbit, "integrate.solve_bvp.*Runge-Kutta"),
        (bent, "ndimage.geometric_transform.*map_coordinates"),
    ],
)
def test_what_has_no_rule_is_refused_by_name_with_a_remedy(f: Callable[..., Any], what: str) -> None:
    with pytest.raises(UnsupportedError, match=f"(?s){what}"):
        grad(f)(X)


def test_what_remedies_say_works() -> None:
    def quadrature(x: Any) -> Any:
        t, w = np.polynomial.legendre.leggauss(20)
        s = 0.5 * (0.0 + x[1]) + 0.5 * (x[1] - 0.0) * t
        return 0.5 * (x[1] - 0.0) * np.sum(w * np.exp(x[0] * s))

    agrees(quadrature, X)


def cubic(x: Any, p: Any) -> Any:
    return x**3 + p * x - 2


def test_the_derivative_of_a_root_is_that_of_a_step_of_newtons_method() -> None:
    def direct(p: Any) -> Any:
        return optimize.brentq(cubic, 0.0, 3.0, args=(p,), xtol=1e-14)

    def stepped(p: Any) -> Any:
        x = float(optimize.brentq(cubic, 0.0, 3.0, args=(stop_gradient(p),)))
        return x - cubic(x, p) / (3 * x**2 + p)

    np.testing.assert_allclose(grad(direct)(1.5), grad(stepped)(1.5), rtol=1e-8)
    x = optimize.brentq(cubic, 0.0, 3.0, args=(1.5,), xtol=1e-14)
    np.testing.assert_allclose(grad(stepped)(1.5), -x / (3 * x**2 + 1.5), rtol=1e-8)


def test_lists_stand_for_arrays() -> None:
    matrix = [[4.0, 1.0], [1.0, 5.0]]
    functions: list[Callable[[Any], Any]] = [
        lambda x: np.sum(scipy.fft.dct([x, 1.0, 2.0]) ** 2),
        lambda x: np.sum(scipy.fft.idst([x, 1.0, 2.0]) ** 2),
        lambda x: np.sum(signal.hilbert([x, 1.0, 2.0]).imag ** 2),
        lambda x: np.sum(cdist([[1, x], [x, 4]], [[1, 2], [3, 5]], "cityblock") ** 2),
        lambda x: np.sum(cdist([[1, x], [x, 4]], [[1, 2], [3, 5]], "chebyshev") ** 2),
        lambda x: np.sum(cdist([[1, x], [x, 4]], [[1, 2], [3, 5]], "cosine") ** 2),
        lambda x: integrate.simpson([x**2, 1.0, x], x=[0, 1, 3]),
        lambda x: integrate.simpson([x**2, 1.0, x], x=np.array([0, 1, 3])),
        lambda x: scipy.linalg.norm([x, 2.0, 3.0]),
        lambda x: np.sum(scipy.linalg.solve_sylvester([[x, 1], [1, 5]], matrix, matrix) ** 2),
        lambda x: np.sum(scipy.linalg.solve_continuous_lyapunov([[x, 1], [1, 5]], matrix) ** 2),
        lambda x: np.sum(scipy.linalg.solve_discrete_lyapunov([[x, 1], [1, 5]], matrix) ** 2),
        lambda x: np.sum(scipy.linalg.solve_banded((1, 1), [[0, x], [5, 6], [1, 0]], [x, 1]) ** 2),
        lambda x: np.sum(scipy.linalg.solveh_banded([[1, x], [7, 5]], [1, x]) ** 2),
    ]
    for f in functions:
        assert grad(f)(0.7) == pytest.approx(richardson_jvp(f, [0.7], [1.0]), rel=1e-7)


def rounded(x: Any) -> Any:
    return np.sum(ndimage.gaussian_filter(x, 1.0, output=int))


def rounded_by_position(x: Any) -> Any:
    return np.sum(ndimage.correlate1d(x, K, 0, np.float32))


def left_vectors(a: Any) -> Any:
    return np.sum(np.abs(scipy.linalg.eig(a, left=True, right=False)[1]))


@pytest.mark.parametrize(("f", "what"), [(rounded, "output"), (rounded_by_position, "output"), (left_vectors, "left")])
def test_options_that_rules_do_not_read_are_refused(f: Callable[..., Any], what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        grad(f)(IMAGE[:, :3])


WHOLE = np.arange(12).reshape(3, 4) * 7 % 5
CORRELATIONS = [ndimage.correlate1d, ndimage.convolve1d, ndimage.correlate, ndimage.convolve]


def weights_of(correlation: Any) -> Any:
    return K if correlation in CORRELATIONS[:2] else IMAGE[:2, :3]


def filtered(correlation: Any, cval: Any = 0.3) -> Any:
    def f(image: Any, weights: Any) -> Any:
        z = correlation(image, weights, mode="constant", cval=cval)
        return np.sum(z.real * 1.3 + z.imag * 0.7 + z.real**2)

    return f


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("image", [WHOLE, WHOLE.astype(np.uint8), WHOLE > 2])
def test_a_filtered_image_of_whole_numbers_is_rounded(correlation: Any, image: Any) -> None:
    f, w = filtered(correlation), weights_of(correlation)
    np.testing.assert_array_equal(grad(f, argnums=1)(image, w), np.zeros(w.shape))
    agrees(f, image.astype(int), w + 0.5j * w**2, argnum=1)


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_complex_weights_of_filters(correlation: Any) -> None:
    w = weights_of(correlation)
    w = w + 0.5j * w**2
    for argnum in range(2):
        agrees(filtered(correlation), IMAGE, w, argnum=argnum)
        agrees(filtered(correlation, 0.5 - 0.2j), IMAGE + 1j * IMAGE[::-1], w, argnum=argnum)


def listed_rows(x: Any, w: Any) -> Any:
    return np.sum(ndimage.correlate1d([x[0], x[1], x[2]], w) ** 2)


def test_filters_of_lists_and_of_nothing() -> None:
    agrees(listed_rows, X, K)
    agrees(listed_rows, X, K, argnum=1)
    for correlation in CORRELATIONS:
        w = weights_of(correlation)
        for argnum in range(2):
            agrees(filtered(correlation), np.zeros((0, 4)), w, argnum=argnum)


def real_loss(z: Any) -> Any:
    return np.sum(np.real(z) * 1.3 + np.imag(z) * 0.7 + np.real(z) ** 2)


def contour(y: Any, x: Any) -> Any:
    return real_loss(integrate.trapezoid(y, x))


def running_contour(y: Any, x: Any) -> Any:
    return real_loss(integrate.cumulative_trapezoid(y, x, initial=0))


def in_steps(y: Any, dx: Any) -> Any:
    return real_loss(integrate.trapezoid(y, dx=dx)) + real_loss(integrate.cumulative_trapezoid(y, dx=dx))


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("y", [X, X + 0.5j * X**2, IMAGE])
def test_integrals_along_complex_points(y: Any) -> None:
    x = np.arange(float(y.shape[-1]))
    for f in contour, running_contour:
        for argnum in range(2):
            agrees(f, y, x + 0.3j * x**2, argnum=argnum)
    for argnum in range(2):
        agrees(in_steps, y, 0.7 + 0.2j, argnum=argnum)


def root_of_list(x: Any) -> Any:
    return real_loss(scipy.linalg.sqrtm([[x[0], 1.0], [0.5, -1.0]]))


def root_of_rotation(x: Any) -> Any:
    return real_loss(scipy.linalg.sqrtm([[x[0], -2.0, 0.0], [2.0, 1.5, 0.3], [x[1], 0.0, 2.0]]))


def logarithm_of_list(x: Any) -> Any:
    return real_loss(scipy.linalg.logm([[2.0, x[0]], [0.5, -1.0]]))


def waves_in_fortran_order(x: Any) -> Any:
    return real_loss(special.hankel1(0, x, order="F")) + real_loss(special.wofz(x, order="C"))


@pytest.mark.parametrize("f", [root_of_list, root_of_rotation, logarithm_of_list, waves_in_fortran_order])
def test_complex_results_of_real_numbers(f: Any) -> None:
    agrees(f, np.array([1.3, 0.4]))


def likelihood(x: Any, loc: Any) -> Any:
    return np.sum(np.real(stats.norm.logpdf(x, loc, 1.2)))


def nearness(x: Any) -> Any:
    return np.sum(pdist(x, "cosine"))


@pytest.mark.filterwarnings("ignore:Casting complex")
def test_complex_numbers_are_refused_where_scipy_drops_imaginary_parts() -> None:
    with pytest.raises(UndefinedDerivativeError, match="real numbers alone"):
        grad(likelihood)(X, 0.3 + 0.5j)
    with pytest.raises(UndefinedDerivativeError, match="real numbers alone"):
        grad(nearness)(IMAGE + 0.5j)
    agrees(likelihood, X, 0.3, argnum=1)
    agrees(nearness, IMAGE)


def blurred_columns(x: Any) -> Any:
    y = ndimage.gaussian_filter(x, 0.8) + ndimage.uniform_filter(x, 3) + ndimage.laplace(x) + ndimage.sobel(x)
    return np.sum(y) + np.sum(x[:1] ** 2)


def overlapping(x: Any, y: Any) -> Any:
    return np.sum(signal.fftconvolve(x, y)) + np.sum(x**2) + np.sum(y**2)


def overlapping_in_part(x: Any, y: Any) -> Any:
    return np.sum(signal.convolve(x, y, "same")) + np.sum(signal.correlate(x, y, "same")) + np.sum(y**2)


def overlapping_images(x: Any, y: Any) -> Any:
    return np.sum(signal.convolve2d(x, y)) + np.sum(signal.correlate2d(x, y)) + np.sum(x**2) + np.sum(y**2)


def matrices_of(c: Any) -> Any:
    return np.sum(scipy.linalg.circulant(c) ** 2) + np.sum(scipy.linalg.toeplitz(c) ** 3)


def test_images_signals_and_rows_of_nothing_or_of_a_number() -> None:
    for shape in (0, 4), (4, 0):
        agrees(blurred_columns, np.zeros(shape))
    for argnum in range(2):
        agrees(overlapping, X[:0], K, argnum=argnum)
        agrees(overlapping, K, X[:0], argnum=argnum)
        agrees(overlapping_in_part, X[:0], K, argnum=argnum)
        agrees(overlapping_images, IMAGE, np.zeros((0, 3)), argnum=argnum)
    for c in X[:0], np.array(1.3), X[:1], X[:4]:
        agrees(matrices_of, c)


@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_points_are_at_distance_zero_from_themselves(p: float) -> None:
    def spread(v: Any) -> Any:
        return np.sum(np.exp(-(spatial.distance_matrix(v, v, p) ** 2)))

    v = np.array([[0.3, 1.2], [-0.7, 0.4], [1.1, -0.2]])
    expected = numeric_gradient(spread, (v,))
    np.testing.assert_allclose(grad(spread)(v), expected, rtol=1e-8, atol=1e-10)
    dot = np.array([[0.3, -0.1], [0.2, 0.5], [-0.4, 0.1]])
    np.testing.assert_allclose(jvp(spread, (v,), (dot,))[1], np.sum(expected * dot), rtol=1e-8)


def test_a_scale_of_the_points_themselves_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="Give the variances as V"):
        grad(lambda v: np.sum(spatial.distance.pdist(v, "seuclidean")))(np.arange(6.0).reshape(3, 2))


def _distances_of_vectors(u: Any) -> Any:
    v = [0.3, u[0] * u[1], -0.4]
    angles = distance.cosine(u, v) + distance.correlation(u, v)
    return distance.euclidean(u, v) * angles + distance.cityblock(u, v) + distance.minkowski(u, v, 3)


def test_distances_of_two_vectors_one_of_them_a_list() -> None:
    u = np.array([1.3, 2.4, -0.7])
    np.testing.assert_allclose(grad(_distances_of_vectors)(u), numeric_gradient(_distances_of_vectors, (u,), 0), 1e-8)


def close_pairs(x: Any, metric: Any) -> Any:
    return np.sum(np.exp(-distance.cdist(x, x, metric))) + np.sum(distance.cdist(x, x[:2] ** 2 + 3, metric) ** 2)


def all_pairs(x: Any, metric: Any) -> Any:
    return np.sum(distance.pdist(x, metric) ** 3)


def two_vectors(x: Any, metric: Any) -> Any:
    return distance.euclidean(x[0], x[1]) ** 3 + distance.cosine(x[2], x[3]) ** 2 + distance.canberra(x[0], x[2]) ** 2


METRICS = (
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra",
    "braycurtis", "jensenshannon",
)  # fmt: skip


@pytest.mark.parametrize(
    ("f", "metric"),
    [
        *((close_pairs, metric) for metric in METRICS[::8]),
        *((all_pairs, metric) for metric in METRICS[1::16]),
        (two_vectors, "euclidean"),
    ],
    ids=lambda f: getattr(f, "__name__", f),
)
def test_second_derivatives_of_distances(f: Any, metric: str) -> None:
    draw = np.random.default_rng(3)
    x, dot = np.abs(draw.normal(size=(4, 3))) + 0.2, draw.normal(size=(4, 3))

    def along(t: Any) -> Any:
        return np.sum(grad(f)(t, metric) * dot)

    expected = numeric_gradient(along, (x,))
    np.testing.assert_allclose(hvp(f, (x, metric), (dot, None)), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(grad(along)(x), expected, rtol=1e-5, atol=1e-6)
