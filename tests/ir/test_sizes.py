"""Sizes of axes as texts: what each text says is what Python counts, and equal sizes are found to be so."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from s2sad import grad
from s2sad.ir import sizes
from s2sad.ir.sizes import Sizes, as_size, computed, is_certain, is_natural, sliced
from s2sad.ir.sums import Dim, literal_size, ranged, renamed
from tests.oracle import numeric_gradient
from tests.size_texts import value_of


class Writer:
    """Random sizes, each beside the number that it is."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        counts = [self.random.randint(0, 14) for _ in range(4)]
        first = Sizes()
        assert [first[n] for n in counts]
        related = first.related()
        self.names = {"k.1": self.random.randint(-3, 9), "m.2": self.random.randint(0, 5)}
        for n in counts:
            for name in re.findall(r"n\d\w*", str(related[n])):
                times = int((re.match(r"(\d+)\*", str(related[n])) or [0, 1])[1])
                self.names[name] = n // times
        self.sizes: list[Dim] = [related[n] for n in counts]

    def number(self, depth: int = 0) -> Dim:
        """A whole number: a size, the value of a name, or what is computed from such."""
        kind = self.random.random()
        if depth > 2 or kind < 0.3:
            return self.random.choice([*self.sizes, "k.1", "m.2", literal_size(self.random.randint(-2, 6))])
        if kind < 0.5:
            lower, upper = self.number(depth + 1), self.number(depth + 1)
            low, high = value_of(lower, self.names), value_of(upper, self.names)
            if high < low:
                return lower
            name = f"i.{len(self.names)}"
            self.names[name] = self.random.randint(low, high)
            return ranged(name, lower, upper)
        made = computed(self.random.choice("+-+-*"), self.number(depth + 1), self.number(depth + 1))
        return self.number(depth + 1) if made is None else made

    def bound(self) -> Dim | None:
        kind = self.random.random()
        return None if kind < 0.2 else self.random.randint(-5, 5) if kind < 0.5 else self.number()


@pytest.mark.parametrize("seed", range(0, 4000, 400))
def test_texts_say_what_python_counts(seed: int) -> None:
    exact = 0
    for number in range(seed, seed + 400):
        w = Writer(number)
        size: Dim | None = w.random.choice(w.sizes)
        count = value_of(size or 0, w.names)
        for _ in range(w.random.randint(1, 3)):
            step = w.random.choice([1, 1, 1, 2, 3, -1, -1, -2])
            bounds = [w.bound(), w.bound()]
            numbers = [None if b is None else b if isinstance(b, int) else value_of(b, w.names) for b in bounds]
            if size is not None:
                size = sliced(size, *bounds, step)
            count = len(range(count)[slice(*numbers, step)])
        other = w.number()
        assert value_of(as_size(other), w.names) == max(0, value_of(other, w.names))
        assert not is_natural(other) or value_of(other, w.names) >= 0
        assert not is_certain(other) or other == 1 or value_of(other, w.names) != 1
        if size is not None:
            assert value_of(size, w.names) == count
            assert value_of(renamed(size, lambda name: name), w.names) == count
            exact += "{s|" not in str(size)
    assert exact > 40


def test_equal_sizes_have_one_text() -> None:
    n, whole = "n0f6r1", "n0f6r1"
    kernel = "n1f3r0"
    index = ranged("i.1", "k0", computed("-", kernel, 1))
    end = computed("+", computed("-", n, kernel), 1)
    window = sliced(whole, index, computed("+", index, end))
    assert window == as_size(end) == end
    assert sliced(n, 1, None) == sliced(n, None, -1) == computed("-", n, 1)
    assert sliced(sliced(n, 1, -1), 1, -1) == sliced(n, 2, -2) == sliced(n, 4, None)
    step = ranged("k.1", 1, computed("-", n, 1))
    assert sliced(n, computed("-", step, 1), None, -1) == sliced(n, None, step) == step
    assert sliced("4*n1", "n1", computed("*", "k2", "n1")) == sliced("4*n1", computed("*", "k3", "n1"), None) == "n1"


def test_what_is_not_known_is_not_equal() -> None:
    assert sliced("n0", "k.1", None) != sliced("n0", None, computed("-", "n0", "k.1"))
    assert sliced("n0", 5, None) != computed("-", "n0", "k5")
    assert not is_certain(sliced("n0f3", 2, None))
    assert is_certain(sliced("n0f4", 2, None))


def test_symbols_tell_sizes_apart_for_which_less_holds() -> None:
    def symbols(*counts: int) -> list[Dim]:
        first = Sizes()
        assert [first[n] for n in counts]
        return [first.related()[n] for n in counts]

    assert symbols(11) == symbols(10) != symbols(9)
    assert symbols(17, 10) == symbols(20, 11) != symbols(10, 17)
    assert symbols(12, 3, 12) == ["4*n0f3", "n0f3", "4*n0f3"]
    assert symbols(12, 3, 7) == ["4*n0f3r0x4r2", "n0f3r0x4r2", "n1f7r1"]
    more, base, other = symbols(12, 3, 7)
    assert is_natural(computed("-", computed("-", more, other), 1))
    assert not is_natural(computed("-", computed("*", "k2", base), other))
    assert not is_natural(computed("-", other, computed("*", "k2", base)))
    assert symbols(0, 1, 2) == [sizes.NOTHING, 1, "n0"]


W, B, X = (np.random.default_rng(3).standard_normal(shape) for shape in ((12, 3), 12, (7, 3)))


def gates(w, b, x):
    n, total, h = x.shape[1], 0.0, np.zeros(x.shape[1])
    for row in x:
        z = 0.3 * (w @ row + b + np.tile(h, 4))
        i, f, o = np.tanh(z[:n]), z[n : 2 * n], np.sin(z[3 * n :])
        h = i * f + o * z[2 * n : 3 * n]
        total += 0.1 * np.sum(h**2)
    return total


def windows(w, b, x):
    n, k = len(b), x.shape[0]
    out = np.zeros(n - k + 1)
    for i in range(k):
        out += x[i, 0] * b[i : n - k + 1 + i]
    for i in range(len(out)):
        out[: i + 1] += w[i, 0] * out[i::-1]
    return np.sum(out**2) + np.sum(np.diff(b) * b[1:] * b[:-1])


def parts(w, b, x):
    inner = slice(1, -1), slice(1, -1)
    a, c = x[inner] * x[2:, 1:2], np.hstack([x[:, 2:3], x[:, :2]])
    d = np.vstack([x, w[:1]]) * np.vstack([w[1:2], x])
    return np.sum(a[:, 0] * c[1:-1, 1]) + np.sum(d**2) + np.sum(b)


def filtered(w, b, x):
    """What begins with numbers for sizes, and goes on with those of arguments."""
    f, state, spread = w[:3], np.zeros(3), np.eye(3)
    for row in x:
        spread = f @ spread @ f.T + 0.1 * np.eye(3)
        gain = spread @ row / (1.0 + row @ spread @ row)
        state = 0.2 * f @ state + gain * (b[0] - row @ state)
        spread = (np.eye(3) - np.outer(gain, row)) @ spread
    return np.sum(state**2)


@pytest.mark.parametrize("f", [gates, windows, parts, filtered], ids=lambda f: f.__name__)
def test_nothing_is_summed_that_was_not_broadcast(f) -> None:
    for args in ((W, B, X), (W[:8, :2], B[:8], X[:4, :3] if f is not gates else X[:4, :2]), (W, B, X[:5])):
        if f in (parts, filtered) and args[0].shape[1] != 3:
            continue
        found = grad(f, (0, 1, 2))(*args)
        for position in range(3):
            expected = numeric_gradient(f, args, position)
            np.testing.assert_allclose(found[position], expected, rtol=1e-7, atol=1e-8)
    assert "unbroadcast" not in grad(f, (0, 1, 2)).source_for(W, B, X)
