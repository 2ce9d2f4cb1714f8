"""Operators, comparisons, short-circuit evaluation, conditional expressions, builtins and `math`."""

from __future__ import annotations

import math
from math import sqrt as root
from typing import Any

import numpy as np
import numpy as xp
import pytest
from numpy import sin as s

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.5, 0.25, -0.75])
P = np.array([0.3, 1.2, 2.5])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
C = np.array([1.0 + 2.0j, -0.5 + 0.3j])


def arithmetic(x: Any, y: Any) -> Any:
    return np.sum((x + y) * (x - y) / (2.0 + x * x) + (-x) + (+y))


def power_constant(x: Any) -> Any:
    return np.sum(x**3 + x**2.0 + x**1 + x**0)


def power_active(x: Any, y: Any) -> Any:
    return np.sum(x**y)


def power_of_constant(y: Any) -> Any:
    return np.sum(2.0**y)


def reflected(x: Any) -> Any:
    return 1.0 - x + 2.0 / x + 3.0 * x + 2.0**x


def modulo(x: Any) -> Any:
    return x % 0.7 + x * x


def modulo_both(x: Any, y: Any) -> Any:
    return x % y


def floor_division(x: Any) -> Any:
    return x // 0.7 + x * x


def matmul_vector(x: Any, y: Any) -> Any:
    return x @ y


def matmul_matrix(m: Any, y: Any) -> Any:
    return np.sum(np.sin(m @ y))


def comparisons_as_numbers(x: Any, y: Any) -> Any:
    return np.sum((x > y) * x + (x <= y) * y + (x == y) + (x != y) * 2.0 + (x >= 0.0) + (x < 0.0))


def chained_comparison(x: Any) -> Any:
    if 0.0 < x <= 1.0 < 2.0:
        return x * x
    return -x


def identity_tests(x: Any, flag: Any = None) -> Any:
    if flag is None and x is not None and "a" in "abc" and 3 not in (1, 2):
        return x * 3.0
    return x


def boolean_arrays(x: Any) -> Any:
    mask = (x > 0.0) & (x < 2.0) | ~(x > -1.0)
    return np.sum(x * mask)


def bitwise_integers(x: Any) -> Any:
    k = (5 & 3) | (1 << 3) ^ 2
    return x * k * ~1 * (9 >> 1)


def or_value(x: Any, y: Any) -> Any:
    return (x or y) * x + y


def and_value(x: Any, y: Any) -> Any:
    return (x and y) * 2.0 + x


def not_value(x: Any) -> Any:
    return x * 2.0 if not x > 3.0 else x


def and_short_circuits(x: Any) -> Any:
    return x * (x < 0.0 and 1.0 / 0.0)


def or_default(x: Any, y: Any = None) -> Any:
    y = y or x * x
    return y * x


def and_chain(x: Any, y: Any, z: Any) -> Any:
    return x and y and z


def or_with_prints(x: Any) -> Any:
    def_value = loud(x, "first") and loud(x * x, "second") or loud(x, "third")
    return def_value * 2.0


def loud(value: Any, word: str) -> Any:
    print(word)
    return value * 3.0


def conditional(x: Any, y: Any) -> Any:
    return x * y if x > y else x - y


def conditional_nested(x: Any) -> Any:
    return x if x > 2.0 else x * x if x > 1.0 else x * x * x


def conditional_guards(x: Any) -> Any:
    """The other side would fail, and is not evaluated."""
    return math.log(x) if x > 0.0 else math.log(-x)


def conditional_in_call(x: Any) -> Any:
    return np.sum(np.sin(x if x.ndim == 1 else x[0]) * (2.0 if x.size > 2 else 3.0))


def conditional_arrays(x: Any, y: Any) -> Any:
    z = x if np.sum(x) > np.sum(y) else y
    return np.sum(z * x)


def builtin_abs(x: Any) -> Any:
    return abs(x) * x


def builtin_abs_array(x: Any) -> Any:
    return np.sum(abs(x) * x)


def builtin_float(x: Any) -> Any:
    return float(x) * 2.0 + float(np.sum(x * x))


def builtin_sum_list(x: Any) -> Any:
    return sum([x, x * x, 2.0])


def builtin_sum_array(v: Any) -> Any:
    return sum(v) * sum(v * v)


def builtin_sum_rows(m: Any) -> Any:
    return np.sum(np.sin(sum(m)))


def builtin_sum_start(x: Any) -> Any:
    return sum([x, x], x * x)


def builtin_min_max(x: Any, y: Any) -> Any:
    return min(x, y) * max(x, y, 0.1) + max([x, y * y])


def builtin_max_of_array(v: Any) -> Any:
    return max(v) * min(v)


def builtin_len(v: Any) -> Any:
    return np.sum(v) / len(v)


def builtin_round(x: Any) -> Any:
    return round(x) * x + round(x, 1)


def builtin_int(x: Any) -> Any:
    return int(x) * x


def builtin_pow(x: Any) -> Any:
    return pow(x, 3)


def builtin_isinstance(x: Any) -> Any:
    if isinstance(x, float):
        return x * x
    return x


def builtin_any_all(v: Any) -> Any:
    if any(v > 2.0) and all(v > -5.0):
        return np.sum(v * v)
    return np.sum(v)


def math_functions(x: Any) -> Any:
    return math.sin(x) * math.cos(x) + math.exp(x) - math.log(x) + math.sqrt(x) + math.tan(x)


def math_more(x: Any) -> Any:
    return math.tanh(x) + math.sinh(x) + math.cosh(x) + math.atan(x) + math.asin(x / 2) + math.acos(x / 2)


def math_two(x: Any, y: Any) -> Any:
    return math.hypot(x, y) + math.atan2(y, x) + math.pow(x, y) + math.fabs(-x)


def math_logs(x: Any) -> Any:
    return math.log1p(x) + math.expm1(x) + math.log2(x) + math.log10(x) + math.log(x, 3.0)


def math_constants(x: Any) -> Any:
    return x * math.pi + math.e * math.floor(x) + math.ceil(x) * x


def aliased_modules(x: Any) -> Any:
    return np.sum(s(x) * xp.cos(x)) + root(2.0 + x[0])


def local_alias_of_function(x: Any) -> Any:
    g = np.sin
    return np.sum(g(x) * x)


def alias_of_an_alias(x: Any) -> Any:
    library = np
    g = library.sin
    h = g
    return np.sum(h(x) * x)


def broadcasting(x: Any, m: Any) -> Any:
    return np.sum(np.sin(x * m) + x)


def broadcasting_column(m: Any) -> Any:
    return np.sum(m[:, None, :] * m[None, :, :] * np.ones((2, 2, 1)))


def broadcast_scalar(c: Any, v: Any) -> Any:
    return np.sum(c * v * v)


def size_one_axes(a: Any, b: Any) -> Any:
    return np.sum(np.exp(a * b))


def strided_inputs(a: Any) -> Any:
    return np.sum(a * a)


def fortran_inputs(m: Any) -> Any:
    return np.sum(np.sin(m) @ m.T)


def empty_array(v: Any) -> Any:
    return np.sum(v * v)


def zero_dimensional(x: Any) -> Any:
    return x * x + np.sin(x)


def numpy_scalar(x: Any) -> Any:
    return x * x


def integer_argument(x: Any) -> Any:
    return x * x * 0.5


def single_precision(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def single_precision_with_python_constants(x: Any) -> Any:
    return np.sum(2.0 * x * x + 1.0)


def mixed_precision(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def abs_at_zero(x: Any) -> Any:
    return np.sum(np.abs(x))


def maximum_tie(x: Any, y: Any) -> Any:
    return np.sum(np.maximum(x, y))


def minimum_tie(x: Any, y: Any) -> Any:
    return np.sum(np.minimum(x, y))


def max_tie(x: Any) -> Any:
    return np.max(x)


def sign_and_floor(x: Any) -> Any:
    return np.sum(np.sign(x) * x + np.floor(x) + np.ceil(x) * x)


def negative_zero(x: Any) -> Any:
    return np.sum(np.where(np.signbit(x), 2.0 * x, 3.0 * x))


def complex_norm(z: Any) -> Any:
    return np.sum(np.real(z * np.conj(z)))


def complex_real_part(z: Any) -> Any:
    return np.sum((z * z * (1.0 + 2.0j)).real)


def complex_imag_part(z: Any) -> Any:
    return np.sum(np.imag(z**2))


def complex_from_real(x: Any) -> Any:
    z = x * (1.0 + 1.0j)
    return np.sum(np.abs(z) ** 2)


def square_root_chain(x: Any) -> Any:
    return np.sum(np.sqrt(np.exp(x) + 1.0))


def where_masks_domain_error(x: Any) -> Any:
    safe = np.where(x > 0.0, x, 1.0)
    return np.sum(np.where(x > 0.0, np.log(safe), 0.0))


def double_negative(x: Any) -> Any:
    return -(-x) - (-(-(-x)))


def deep_expression(x: Any) -> Any:
    return (((((((x + 1) * x) + 1) * x) + 1) * x) + 1) * x + np.sin(np.cos(np.sin(np.cos(np.sin(x)))))


def string_formatting(x: Any) -> Any:
    print(f"{x:.3f}", "%d" % 3, "a" + "b" * 2)
    return x * x


CASES = [
    case(arithmetic, V, W),
    case(arithmetic, V, 0.5, name="arithmetic_array_number"),
    case(arithmetic, 1.5, 0.5, name="arithmetic_numbers"),
    case(power_constant, P),
    case(power_constant, V, name="power_constant_negative_base"),
    case(power_constant, 0.0, name="power_constant_zero"),
    case(power_active, P, W),
    case(power_active, 1.3, W, name="power_active_number"),
    case(power_of_constant, V),
    case(reflected, 1.3),
    case(modulo, 1.3),
    case(modulo_both, 3.3, 0.9),
    case(floor_division, 1.3),
    case(matmul_vector, V, W),
    case(matmul_matrix, M, V),
    case(comparisons_as_numbers, V, W),
    case(chained_comparison, 0.5),
    case(chained_comparison, 1.5, name="chained_comparison_false"),
    case(identity_tests, 1.5),
    case(boolean_arrays, V),
    case(bitwise_integers, 0.3),
    case(or_value, 0.4, 1.3),
    case(or_value, 0.0, 1.3, expected=(1.3, 1.0), name="or_value_zero"),
    case(and_value, 0.4, 1.3),
    case(and_value, 0.0, 1.3, expected=(3.0, 0.0), name="and_value_zero"),
    case(not_value, 0.4),
    case(and_short_circuits, 0.4),
    case(or_default, 0.4),
    case(or_default, 0.4, 2.0, name="or_default_given"),
    case(and_chain, 0.4, 1.3, 0.7),
    case(or_with_prints, 0.4),
    case(conditional, 0.4, 0.2),
    case(conditional, 0.2, 0.4, name="conditional_else"),
    case(conditional_nested, 0.5),
    case(conditional_nested, 1.5, name="conditional_nested_middle"),
    case(conditional_guards, -0.5),
    case(conditional_in_call, V),
    case(conditional_arrays, V, W),
    case(conditional_arrays, W, V, name="conditional_arrays_else"),
    case(builtin_abs, -1.4),
    case(builtin_abs_array, V),
    case(builtin_float, 0.7),
    case(builtin_sum_list, 0.7),
    case(builtin_sum_array, V),
    case(builtin_sum_rows, M),
    case(builtin_sum_start, 0.7),
    case(builtin_min_max, 0.7, 0.9),
    case(builtin_max_of_array, V),
    case(builtin_len, V),
    case(builtin_round, 1.37),
    case(builtin_int, 2.37),
    case(builtin_pow, 1.37),
    case(builtin_isinstance, 1.37),
    case(builtin_any_all, V),
    case(math_functions, 0.7),
    case(math_more, 0.7),
    case(math_two, 0.7, 1.3),
    case(math_logs, 0.7),
    case(math_constants, 0.7),
    case(aliased_modules, V),
    case(local_alias_of_function, V),
    case(alias_of_an_alias, V),
    case(broadcasting, V, M),
    case(broadcasting_column, M),
    case(broadcast_scalar, 0.7, V),
    case(broadcast_scalar, np.array(0.7), V, name="broadcast_zero_dimensional"),
    case(size_one_axes, M[:, :1] * 0.3, M[:1] * 0.3),
    case(size_one_axes, np.ones((1, 1)), M * 0.2, name="size_one_axes_both"),
    case(strided_inputs, np.arange(12.0)[::-3]),
    case(strided_inputs, np.arange(12.0).reshape(3, 4).T[1:], name="transposed_inputs"),
    case(strided_inputs, np.broadcast_to(np.arange(3.0), (2, 3)), name="broadcast_inputs"),
    case(fortran_inputs, np.asfortranarray(M)),
    case(empty_array, np.zeros(0)),
    case(empty_array, np.zeros((3, 0)), name="empty_matrix"),
    case(zero_dimensional, np.array(0.7)),
    case(numpy_scalar, np.float64(0.7)),
    case(integer_argument, 3),
    case(single_precision, V.astype(np.float32), expected=((np.cos(V) * V + np.sin(V)).astype(np.float32),), rtol=1e-5),
    case(
        single_precision_with_python_constants,
        V.astype(np.float32),
        expected=((4.0 * V).astype(np.float32),),
        rtol=1e-6,
    ),
    case(mixed_precision, V.astype(np.float32), W, expected=(W.astype(np.float32), V.astype(np.float32)), rtol=1e-6),
    case(abs_at_zero, np.array([0.0, -0.0, 2.0]), expected=(np.array([0.0, 0.0, 1.0]),)),
    case(
        maximum_tie, np.array([1.0, 2.0]), np.array([1.0, 1.0]), expected=(np.array([0.5, 1.0]), np.array([0.5, 0.0]))
    ),
    case(
        minimum_tie, np.array([1.0, 2.0]), np.array([1.0, 1.0]), expected=(np.array([0.5, 0.0]), np.array([0.5, 1.0]))
    ),
    case(max_tie, np.array([1.0, 3.0, 3.0]), expected=(np.array([0.0, 0.5, 0.5]),)),
    case(sign_and_floor, V),
    case(negative_zero, np.array([-0.0, 0.0]), expected=(np.array([2.0, 3.0]),)),
    case(complex_norm, C, expected=(2.0 * np.conj(C),)),
    case(complex_real_part, C, expected=(2.0 * C * (1.0 + 2.0j),)),
    case(complex_imag_part, C, expected=(-2.0j * C,)),
    case(complex_from_real, V),
    case(square_root_chain, V),
    case(where_masks_domain_error, V),
    case(double_negative, 0.4),
    case(deep_expression, 0.4),
    case(string_formatting, 0.4),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
