"""README.md and s2sad/COMPILER.md: the blocks that show what the compiler makes are what it makes; the examples run.

A block is marked by a comment over it, ``<!-- source: name -->``, and the blocks are written anew by
``S2SAD_UPDATE_GOLDENS=1 pytest tests/test_readme.py``.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import pathlib
import re
import shlex
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad import S2SADError, grad
from s2sad.api import Tangent
from s2sad.cli import main
from tests.oracle import numeric_gradient

ROOT = pathlib.Path(__file__).resolve().parent.parent
README, COMPILER = ROOT / "README.md", ROOT / "s2sad" / "COMPILER.md"
BLOCK = re.compile(r"<!-- (\w+): (\S+) -->\n```(\w*)\n(.*?)```\n", re.DOTALL)


class Layer:
    """What ``network`` is given, beside an object of another class."""

    def forward(self, x: Any) -> Any:
        return x * x


SCORES = np.array([[1.0, -0.5, 2.0], [0.3, 0.3, -1.0]])
TARGET = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "softmax_loss": (SCORES, TARGET),
    "loop": (1.2, 3),
    "network": (np.ones(3), [Layer(), SimpleNamespace(forward=np.tanh)]),
    "scale": (np.eye(2),),
    "total": (np.array([0.5, 1.2, 0.7]), 0.5),
    "loss": (np.array([0.5, 1.2, 0.7]), 0.5),
}


def written(text: str, folder: pathlib.Path) -> dict[str, ModuleType]:
    """The modules that the blocks ``<!-- file: name.py -->`` of a page hold."""
    modules = {}
    for kind, name, _, body in BLOCK.findall(text):
        if kind == "file":
            path = folder / name
            path.write_text(body, encoding="utf-8")
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None
            assert spec.loader is not None
            modules[path.stem] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(modules[path.stem])
    return modules


def made(kind: str, name: str, modules: dict[str, ModuleType], folder: pathlib.Path) -> str:
    """What a marked block should hold."""
    if kind == "stage":
        return grad(modules["model"].loop).stages()[name]
    function = next(getattr(module, name) for module in modules.values() if hasattr(module, name))
    if kind == "general":
        return grad(function).source
    if kind == "source":
        return grad(function).source_for(*ARGUMENTS[name])
    if kind == "forward":
        return Tangent(function).source
    assert kind == "error"
    with pytest.raises(S2SADError) as caught:
        _ = grad(function).source
    return str(caught.value).replace(f"{folder}{os.sep}", "") + "\n"


@pytest.mark.parametrize("page", [README, COMPILER], ids=lambda page: page.name)
def test_the_blocks_are_what_comes_out(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    text = page.read_text(encoding="utf-8")
    modules = written(text, tmp_path)

    def anew(match: re.Match[str]) -> str:
        kind, name, language, body = match.groups()
        if kind != "file":
            body = made(kind, name, modules, tmp_path)
        return f"<!-- {kind}: {name} -->\n```{language}\n{body}```\n"

    new = BLOCK.sub(anew, text)
    assert len(BLOCK.findall(text)) == len(re.findall(r"^<!-- \w+: ", text, re.MULTILINE)) >= 3
    if os.environ.get("S2SAD_UPDATE_GOLDENS"):
        page.write_text(new, encoding="utf-8")
    assert new == page.read_text(encoding="utf-8")


def test_the_gradient_shown_is_right(tmp_path: pathlib.Path) -> None:
    modules = written(README.read_text(encoding="utf-8"), tmp_path)
    loss = modules["model"].softmax_loss
    p = np.exp(SCORES) / np.sum(np.exp(SCORES), axis=1, keepdims=True)
    np.testing.assert_allclose(grad(loss)(SCORES, TARGET), (p - TARGET) / 2, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(grad(loss)(SCORES, TARGET), numeric_gradient(loss, (SCORES, TARGET)), atol=1e-9)


def test_the_examples_of_readme_run() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, attempted = doctest.testfile(str(README), module_relative=False, optionflags=flags, encoding="utf-8")
    assert failed == 0
    assert attempted > 15


def test_the_commands_of_readme_run(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = README.read_text(encoding="utf-8")
    written(text, tmp_path)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    s2sad (.+)$", text, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        assert main(shlex.split(command)) == 0
    assert "def softmax_loss_grad_z(z, target):" in capsys.readouterr().out


def test_the_surface_in_readme_is_the_surface() -> None:
    text = README.read_text(encoding="utf-8")
    for name in s2sad.__all__:
        assert name in text
    for member in re.findall(r"`df\.(\w+)", text):
        assert hasattr(s2sad.api.Derivative, member)


def test_the_modules_that_the_pages_name_exist() -> None:
    for page in (README, COMPILER):
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"`((?:examples|s2sad|tests)/[\w/.]+)`", text):
            assert (ROOT / path).exists(), path
    page_of_rooms = COMPILER.read_text(encoding="utf-8").partition("## The rooms")[2]
    rooms = re.findall(r"^\| (`[\w/.]+`.*) \| (.*) \|$", page_of_rooms, re.MULTILINE)
    assert len(rooms) > 8
    for room, content in rooms:
        for path in (folders := re.findall(r"`([\w/.]+)`", room)):
            assert (ROOT / "s2sad" / path).exists(), path
        for path in re.findall(r"`(\w+\.py)`", content):
            assert (ROOT / "s2sad" / folders[0] / path).exists(), path


def test_the_shadows_of_a_call_are_right(tmp_path: pathlib.Path) -> None:
    total = written(COMPILER.read_text(encoding="utf-8"), tmp_path)["rows"].total
    x, w = ARGUMENTS["total"]
    for position, gradient in enumerate(grad(total, (0, 1))(x, w)):
        np.testing.assert_allclose(gradient, numeric_gradient(total, (x, w), position), rtol=1e-8)


def test_the_targets_of_make_that_readme_names_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = README.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^    |`)make (\w+)", text, re.MULTILINE)) <= targets
