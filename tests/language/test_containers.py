"""Arguments and results that are nested tuples, lists, dicts, named tuples and dataclasses of arrays."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.5, 0.25, -0.75])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])


class Layer(NamedTuple):
    """Weights and bias."""

    w: Any
    b: Any


@dataclasses.dataclass
class Model:
    """Two layers and a rate."""

    first: Any
    second: Any
    rate: float


@dataclasses.dataclass(frozen=True)
class Frozen:
    """One array."""

    w: Any


def from_tuple(p: Any) -> Any:
    return np.sum(p[0] * p[1]) * p[2]


def unpacked(p: Any, x: Any) -> Any:
    w, b, k = p
    return np.sum(np.tanh(w * x + b)) * k


def from_list(layers: Any, x: Any) -> Any:
    for w in layers:
        x = np.tanh(w * x)
    return np.sum(x)


def layers_of_pairs(layers: Any, x: Any) -> Any:
    for w, b in layers:
        x = np.tanh(w * x + b)
    return np.sum(x)


def from_dict(p: Any, x: Any) -> Any:
    return np.sum(p["w"] * x + p["b"]) * p["w"][0]


def dict_by_loop(p: Any) -> Any:
    total = 0.0
    for name, value in p.items():
        total = total + np.sum(value * value) * len(name)
    return total


def dict_values(p: Any) -> Any:
    total = 0.0
    for value in p.values():
        total = total * 0.5 + np.sum(value**2)
    return total


def nested(p: Any) -> Any:
    return np.sum(p["layers"][0][1] * p["layers"][1][0]) + p["scale"][0] ** 2


def named_tuple(layer: Any, x: Any) -> Any:
    return np.sum(np.sin(layer.w * x + layer.b)) + layer[0][0]


def named_tuple_unpacked(layer: Any) -> Any:
    w, b = layer
    return np.sum(w * b)


def data_class(model: Any, x: Any) -> Any:
    return np.sum(model.first * x * model.second) * model.rate


def data_class_nested(model: Any) -> Any:
    return np.sum(model.first.w * model.second["k"]) * model.rate


def frozen(model: Any) -> Any:
    return np.sum(model.w**3)


def none_inside(p: Any) -> Any:
    if p[1] is None:
        return np.sum(p[0] ** 2)
    return np.sum(p[0] * p[1])


def partly_unused(p: Any) -> Any:
    return np.sum(p["used"] ** 2)


def same_array_in_two_places(p: Any) -> Any:
    return np.sum(p[0] * p[1])


def passed_to_callee(p: Any, x: Any) -> Any:
    return from_dict(p, x) * from_dict({"w": p["w"] * 2.0, "b": x}, x)


def container_rebuilt(p: Any) -> Any:
    q = (p[1], p[0] * 2.0)
    return from_tuple((q[0], q[1], 3.0))


def length_and_index(p: Any) -> Any:
    return p[-1] * len(p) + p[0] * p[1]


def integers_in_floats(p: Any) -> Any:
    return p[0] * p[1] * p[0]


def pair_of_last_turn(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i > 0:
            s = s + np.sum(p[0] * p[1])  # noqa: F821
        p = (x * x, x + i)  # noqa: F841
    return s


def dict_of_last_turn(x: Any) -> Any:
    s = 0.0
    for i in range(3):
        if i > 0:
            s = s + np.sum(p["a"] * p["b"][1])  # noqa: F821
        p = {"a": x * x, "b": [i, x * i]}  # noqa: F841
    return s


def pair_of_odd_turns(x: Any) -> Any:
    s = 0.0
    for i in range(4):
        if i % 2:
            (a, b), c = p  # noqa: F821
            s = s + np.sum(a * b - c)
        else:
            p = [(x * x, x + i), x * i]  # noqa: F841
    return s


def pair_of_one_turn(x: Any) -> Any:
    for i in range(4):
        if i == 2:
            p = x * x, x + i
    return np.sum(p[0] * p[1])


CASES = [
    *[
        case(f, x, name=f"{f.__name__}_{np.ndim(x)}")
        for f in (pair_of_last_turn, dict_of_last_turn, pair_of_odd_turns, pair_of_one_turn)
        for x in (0.7, V)
    ],
    case(from_tuple, (V, W, 0.7)),
    case(unpacked, (V, W, 0.7), W),
    case(from_list, [V, W, V * W], V),
    case(from_list, [], V, name="from_list_empty"),
    case(from_list, (V, W), 0.4, name="from_list_tuple"),
    case(layers_of_pairs, [(V, W), (W, 0.3)], V),
    case(from_dict, {"w": V, "b": 0.4}, W),
    case(dict_by_loop, {"a": V, "bb": M, "ccc": 0.3}),
    case(dict_values, {"a": V, "b": W}),
    case(nested, {"layers": [(V, W), [V * 2.0, M]], "scale": (0.5,)}),
    case(named_tuple, Layer(V, 0.5), W),
    case(named_tuple_unpacked, Layer(V, W)),
    case(data_class, Model(V, W, 0.5), W),
    case(data_class_nested, Model(Layer(V, 0.1), {"k": W}, 0.5)),
    case(frozen, Frozen(V)),
    case(none_inside, (V, None)),
    case(partly_unused, {"used": V, "unused": M, "number": 2.0}),
    case(same_array_in_two_places, (V, V)),
    case(passed_to_callee, {"w": V, "b": W}, W),
    case(container_rebuilt, (V, W)),
    case(length_and_index, (0.5, 1.5, 2.5)),
    case(length_and_index, V, name="length_and_index_array"),
    case(integers_in_floats, (0.5, 1.5)),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def loss_with_aux(x: Any) -> Any:
    y = np.sin(x)
    return np.sum(y * x), {"y": y, "word": "kept", "n": 3}


def test_auxiliary_results_are_the_functions_own() -> None:
    from s2sad import grad, value_and_grad

    gradient, aux = grad(loss_with_aux, has_aux=True)(V)
    np.testing.assert_allclose(gradient, np.cos(V) * V + np.sin(V), rtol=1e-12)
    assert aux["word"] == "kept"
    assert aux["n"] == 3
    np.testing.assert_array_equal(aux["y"], np.sin(V))
    (value, aux), again = value_and_grad(loss_with_aux, has_aux=True)(V)
    assert value == np.sum(np.sin(V) * V)
    np.testing.assert_array_equal(aux["y"], np.sin(V))
    np.testing.assert_array_equal(again, gradient)


def aux_is_argument(x: Any) -> Any:
    return np.sum(x * 3.0), x


def test_auxiliary_result_may_be_the_argument_and_not_the_gradient() -> None:
    from s2sad import grad

    x = V.copy()
    gradient, aux = grad(aux_is_argument, has_aux=True)(x)
    assert aux is x
    assert not np.shares_memory(gradient, aux)


def test_aliased_leaves_get_separate_gradients() -> None:
    from s2sad import grad

    x = V.copy()
    one, two = grad(same_array_in_two_places)((x, x))
    np.testing.assert_array_equal(one, x)
    np.testing.assert_array_equal(two, x)
    assert not np.shares_memory(one, two)
    assert not np.shares_memory(one, x)
