"""The command line against a stand-in for the compiler, and the real one from end to end."""

import importlib.util
import io
import os
import re
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from s2sad import cli
from s2sad.errors import ArgumentError, GradientMismatch, Place, UnsupportedError, Violation


@dataclass
class Report:
    ok: bool

    def __str__(self):
        return "argument  error\nx         " + ("0.0" if self.ok else "1.0")


class Derivative:
    """What ``grad`` returns, as far as the command line knows it."""

    def __init__(self, function, argnums=0, argnames=None):
        self.__wrapped__ = function
        self.argnums, self.argnames = argnums, argnames

    def __call__(self, *args):
        return self.__wrapped__(*args)

    @property
    def source(self):
        return (
            f"# gradient of {self.__wrapped__.__name__} by {self.argnames or self.argnums}\ndef df():\n    return 1\n"
        )

    def stages(self):
        return {"ir": "the ir", "activity": "x: active", "source": self.source}


Derivative.__module__ = "s2sad.api"


@pytest.fixture
def calls(monkeypatch):
    """Put a stand-in for s2sad.api in place; return what check_grads is called with."""
    seen = []

    def check_grads(f, args, order=1, modes=("fwd", "rev"), argnums=0):
        seen.append((f.__name__, args, modes, argnums))
        print("what the function prints")
        value = f(*args)
        return Report(ok=bool(np.all(np.isfinite(value))))

    api = types.ModuleType("s2sad.api")
    api.grad = Derivative
    monkeypatch.setitem(sys.modules, "s2sad.api", api)
    checking = types.ModuleType("s2sad.checking")
    checking.check_grads = check_grads
    monkeypatch.setitem(sys.modules, "s2sad.checking", checking)
    return seen


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    """Leave the path and the modules as they were."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and "pytest-of-" in str(sys.modules[name].__file__):
            del sys.modules[name]


MODEL = '''
import numpy as np
from neighbour import SCALE

print("importing the model")
WEIGHT = 7.0

def loss(x, w=2.0):
    """Loss."""
    return np.sum(x) * w * SCALE

def fails(x):
    raise RuntimeError("not today")

def nan(x):
    return x * np.nan

def keyword_only(x, *, k=1.0):
    return x * k

class Model:
    def value(self, x):
        return x

if __name__ == "__main__":
    raise SystemExit(7)
'''


@pytest.fixture
def model(tmp_path):
    (tmp_path / "neighbour.py").write_text("SCALE = 3.0\n")
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return str(path)


def run(capsys, *arguments):
    status = cli.main(arguments)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return status, out, err


def test_defaults_may_be_differentiated(capsys, model):
    status, out, _ = run(capsys, "check", f"{model}:loss", "--at", "x=np.ones(3)", "--wrt", "x,w")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["x", "w"]


@pytest.mark.usefixtures("calls")
class TestShow:
    def test_source_alone_goes_to_standard_output(self, capsys, model):
        status, out, err = run(capsys, "show", f"{model}:loss")
        assert (status, out) == (0, "# gradient of loss by 0\ndef df():\n    return 1\n")
        assert err == "importing the model\n"

    @pytest.mark.parametrize(
        ("wrt", "by"),
        [("x", "0"), ("w", "1"), ("w,x", "(1, 0)"), (" x , w ", "(0, 1)")],
        ids=["x", "w", "wx", "spaces"],
    )
    def test_wrt(self, capsys, model, wrt, by):
        assert f"by {by}\n" in run(capsys, "show", f"{model}:loss", "--wrt", wrt)[1]

    def test_wrt_a_keyword_only_argument(self, capsys, model):
        assert "by k\n" in run(capsys, "show", f"{model}:keyword_only", "--wrt", "k")[1]

    def test_stage(self, capsys, model):
        assert run(capsys, "show", f"{model}:loss", "--stage", "ir")[:2] == (0, "the ir\n")
        status, out, err = run(capsys, "show", f"{model}:loss", "--stage", "adjoint")
        assert (status, out) == (2, "")
        assert "no stage adjoint" in err

    def test_output_file(self, capsys, model, tmp_path):
        target = tmp_path / "out.py"
        assert run(capsys, "show", f"{model}:loss", "-o", str(target))[:2] == (0, "")
        assert target.read_text().startswith("# gradient of loss")

    def test_output_over_the_function_itself_is_refused(self, capsys, model):
        status, _, err = run(capsys, "show", f"{model}:loss", "-o", model)
        assert status == 2
        assert re.search(r"is the file of the module model_*, which is loaded", err)
        assert Path(model).read_text() == MODEL

    def test_output_where_nothing_can_be_written(self, capsys, model, tmp_path):
        status, _, err = run(capsys, "show", f"{model}:loss", "-o", str(tmp_path / "no" / "out.py"))
        assert status == 2
        assert "cannot be written: No such file" in err

    def test_method(self, capsys, model):
        assert "gradient of value" in run(capsys, "show", f"{model}:Model.value")[1]

    def test_package(self, capsys, tmp_path, monkeypatch):
        (tmp_path / "pack").mkdir()
        (tmp_path / "pack" / "__init__.py").write_text("")
        (tmp_path / "pack" / "part.py").write_text("def f(x): return x\n")
        monkeypatch.chdir(tmp_path)
        assert "gradient of f" in run(capsys, "show", "pack.part:f")[1]

    def test_decorated_function(self, capsys, tmp_path):
        path = tmp_path / "decorated.py"
        path.write_text("from s2sad.api import grad\ndef f(x, y): return x\ndf = grad(f, argnums=1)\n")
        assert "by 1\n" in run(capsys, "show", f"{path}:df")[1]
        assert "by 0\n" in run(capsys, "show", f"{path}:df", "--wrt", "x")[1]

    def test_file_called_as_a_library(self, capsys, tmp_path):
        path = tmp_path / "types.py"
        path.write_text("import dataclasses, pickle\ndef f(x): return x\nassert pickle.loads(pickle.dumps(f)) is f\n")
        assert run(capsys, "show", f"{path}:f")[0] == 0
        assert sys.modules["types"] is types

    def test_nothing_is_left_in_the_folder(self, capsys, model, tmp_path):
        before = sys.dont_write_bytecode
        sys.dont_write_bytecode = True  # the imports of the model are Python's business
        try:
            run(capsys, "show", f"{model}:loss")
        finally:
            sys.dont_write_bytecode = before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["model.py", "neighbour.py"]

    def test_colour_only_on_a_terminal(self, capsys, model, monkeypatch):
        pytest.importorskip("pygments")
        plain = run(capsys, "show", f"{model}:loss")[1]
        assert "\x1b[" not in plain
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert "\x1b[" in run(capsys, "show", f"{model}:loss")[1]
        assert "\x1b[" not in run(capsys, "show", f"{model}:loss", "--stage", "ir")[1]
        monkeypatch.setenv("NO_COLOR", "1")
        assert run(capsys, "show", f"{model}:loss")[1] == plain


BAD_FILES = {
    "syntax": ("def f(x:\n    return x\n", ["is not Python", "line 1", "SyntaxError"]),
    "null": ("x = 1\0\n", ["is not Python"]),
    "raises": ("def g():\n    return 1 / 0\ng()\n", ["cannot be imported", "line 2, in g", "ZeroDivisionError"]),
    "imports": ("import no_such_module_xyz\n", ["cannot be imported", "line 1", "No module named"]),
    "exits": ("import sys\nsys.exit(0)\n", ["ends the process", "line 2"]),
}


@pytest.mark.usefixtures("calls")
class TestBadTargets:
    @pytest.mark.parametrize(("text", "words"), BAD_FILES.values(), ids=BAD_FILES.keys())
    def test_files(self, capsys, tmp_path, text, words):
        path = tmp_path / "bad.py"
        path.write_text(text)
        status, out, err = cli.main(["show", f"{path}:f"]), *capsys.readouterr()
        assert (status, out) == (2, "")
        assert all(word in err for word in words), err
        assert os.path.join("s2sad", "cli.py") not in err
        assert "importlib" not in err

    @pytest.mark.parametrize(
        ("target", "words"),
        [
            ("{folder}/modle.py:loss", ["modle.py does not exist", "Did you mean", "model.py"]),
            ("{folder}:loss", ["is a folder"]),
            ("{model}:los", ["no function 'los'", "Did you mean loss?"]),
            ("{model}:zzz", ["no function 'zzz'", "loss, fails, nan, keyword_only"]),
            ("{model}:Model.valu", ["Model has no function 'valu'", "Did you mean value?"]),
            ("{model}:WEIGHT", ["WEIGHT", "is no function", "float"]),
            ("{model}", ["names no function", "FILE.py:FUNCTION"]),
            ("{model}:", ["names no function"]),
            (":loss", ["names no function"]),
            ("no_such_package_xyz.part:f", ["cannot be imported", "No module named"]),
            ("a..b:f", ["cannot be imported"]),
        ],
    )
    def test_targets(self, capsys, model, tmp_path, target, words):
        status, out, err = run(capsys, "show", target.format(model=model, folder=tmp_path))
        assert (status, out) == (2, "")
        assert all(word in err for word in words), err
        assert err.replace("importing the model\n", "").startswith("error: ")

    def test_wrt_that_does_not_exist(self, capsys, model):
        status, _, err = run(capsys, "show", f"{model}:loss", "--wrt", "x,ww")
        assert status == 2
        assert "no argument 'ww' (--wrt)" in err
        assert "Did you mean w?" in err

    @pytest.mark.parametrize(
        "arguments", [[], ["show"], ["frobnicate"], ["show", "a:b", "--stage", "x"], ["check", "a:b"]]
    )
    def test_usage(self, capsys, arguments):
        assert cli.main(arguments) == 2
        assert "usage: s2sad" in capsys.readouterr().err

    def test_refused_function(self, capsys, model, monkeypatch):
        place = Place("model.py", 3, 4, 7, "    eig(x)")
        error = UnsupportedError([Violation(place, "no rule", "Declare one.")])

        def grad(*_, **__):
            raise error

        monkeypatch.setattr(sys.modules["s2sad.api"], "grad", grad)
        status, _, err = run(capsys, "show", f"{model}:loss")
        assert status == 2
        assert err.endswith("model.py:3:5: error: no rule\n    eig(x)\n    ^~~\nDeclare one.\n")

    def test_mistake_of_the_compiler_is_no_wrong_gradient(self, capsys, model, monkeypatch):
        monkeypatch.setattr(sys.modules["s2sad.api"], "grad", lambda *_, **__: 1 / 0)
        assert cli.main(["show", f"{model}:loss"]) == 2
        assert "mistake of s2sad itself" in capsys.readouterr().err


class TestCheck:
    def test_arguments_are_evaluated_in_the_module(self, capsys, model, calls):
        status, out, err = run(capsys, "check", f"{model}:loss", "--at", "x=np.ones(3), w=WEIGHT")
        assert status == 0
        assert out == "argument  error\nx         0.0\n"
        assert "what the function prints" in err
        name, args, modes, argnums = calls[0]
        assert (name, modes, argnums) == ("loss", ("rev",), 0)
        np.testing.assert_array_equal(args[0], np.ones(3))
        assert args[1] == 7.0

    def test_forms_of_arguments(self, capsys, model, calls):
        for text in ("1.0, 2.0", "*[1.0, 2.0]", "**{'x': 1.0, 'w': 2.0}", "w=2.0,\n x=1.0", "1.0, w=2.0  # so"):
            assert run(capsys, "check", f"{model}:loss", "--at", text, "--wrt", "w")[0] == 0
            assert calls.pop() == ("loss", (1.0, 2.0), ("rev",), 1)

    @pytest.mark.usefixtures("calls")
    def test_wrong_gradient(self, capsys, model, monkeypatch):
        status, out, _ = run(capsys, "check", f"{model}:nan", "--at", "1.0")
        assert (status, out) == (1, "argument  error\nx         1.0\n")

        def mismatch(*_, **__):
            raise GradientMismatch("x is wrong")

        monkeypatch.setattr(sys.modules["s2sad.checking"], "check_grads", mismatch)
        assert run(capsys, "check", f"{model}:loss", "--at", "1.0")[:2] == (1, "x is wrong\n")

    @pytest.mark.usefixtures("calls")
    @pytest.mark.parametrize(
        ("function", "at", "words"),
        [
            ("loss", "x=np.ones(3", ["--at:1:", "no arguments of a call", "--at "]),
            ("loss", "x=1) + (2", ["no arguments of a call"]),
            ("loss", "x=1)(w=2", ["no arguments of a call"]),
            ("loss", "x=np.onse(3)", ["--at:1:3: error: AttributeError", "onse", "  ^~~~~~~~~~"]),
            ("loss", "x=1/0", ["ZeroDivisionError"]),
            ("loss", "x=undefined", ["NameError: name 'undefined'"]),
            ("loss", "*3", ["--at:1:1: error: TypeError"]),
            ("loss", "**3", ["TypeError"]),
            ("loss", "x=1, **{'x': 2}", ["gives x twice"]),
            ("loss", "w=1.0", ["missing a required argument: 'x'"]),
            ("loss", "x=1.0, vv=1.0", ["unexpected keyword argument 'vv'", "x, w"]),
            ("loss", "1, 2, 3", ["too many positional arguments"]),
            ("loss", "x=1.0, x=2.0", ["no arguments of a call", "repeated"]),
            ("fails", "1.0", ["fails at 1.0", "RuntimeError: not today", "in fails"]),
            ("keyword_only", "1.0, k=2.0", ["k is keyword-only"]),
        ],
    )
    def test_bad_points(self, capsys, model, function, at, words):
        status, out, err = cli.main(["check", f"{model}:{function}", "--at", at]), *capsys.readouterr()
        assert (status, out) == (2, "")
        assert all(word in err for word in words), err
        assert os.path.join("s2sad", "cli.py") not in err

    @pytest.mark.usefixtures("calls")
    def test_refused_argument(self, capsys, model, monkeypatch):
        def refuse(*_, **__):
            raise ArgumentError("x is an array of integers")

        monkeypatch.setattr(sys.modules["s2sad.checking"], "check_grads", refuse)
        status, _, err = run(capsys, "check", f"{model}:loss", "--at", "np.arange(3)")
        assert status == 2
        assert err.endswith("error: x is an array of integers\n")


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("s2sad ")


def test_output_that_the_terminal_cannot_write(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    cli._print("µ = 1\n")
    assert raw.getvalue() == b"\\xb5 = 1\n"


# --- the real compiler -------------------------------------------------------

real = pytest.mark.skipif(importlib.util.find_spec("s2sad.api") is None, reason="needs the compiler")


def command(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(cli.__file__)), "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, "-m", "s2sad", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **options,
    )


@real
def test_end_to_end(model, tmp_path):
    shown = command("show", f"{model}:loss", "--wrt", "w", cwd=tmp_path.parent)
    assert shown.returncode == 0, shown.stderr
    compile(shown.stdout, "shown", "exec")
    for stage in cli.STAGES:
        assert command("show", f"{model}:loss", "--stage", stage).returncode == 0
    checked = command("check", f"{model}:loss", "--at", "x=np.ones(3), w=2.0", "--wrt", "x,w")
    assert checked.returncode == 0, checked.stderr
    refused = command("check", f"{model}:loss", "--at", "x=np.arange(3)")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr


@real
def test_reader_that_goes_away(model):
    script = f'"{sys.executable}" -m s2sad show "{model}:loss"; echo "status $?" >&2'
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(cli.__file__))}
    ended = subprocess.run(
        f"({script}) | true", shell=True, capture_output=True, text=True, check=False, env=environment
    )
    assert "status 0" in ended.stderr
    assert "BrokenPipe" not in ended.stderr


@pytest.fixture
def project(tmp_path):
    """A folder outside of this project, with a package and a module of its own."""
    folder = tmp_path / "elsewhere"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "__init__.py").write_text("from .layers import dense\n")
    (folder / "parts" / "layers.py").write_text("import numpy as np\n\ndef dense(x, w):\n    return np.tanh(x @ w)\n")
    (folder / "helpers.py").write_text("def square(x):\n    return x * x\n")
    (folder / "train.py").write_text(
        "import numpy as np\n"
        "from helpers import square\n"
        "import parts.layers as layers\n"
        "from s2sad import grad\n"
        "print('imported')\n"
        "START = np.array([0.5, -1.0])\n"
        "\n"
        "def loss(x, w, *, scale=2.0):\n"
        "    return np.sum(square(layers.dense(x, w))) * scale\n"
        "\n"
        "def refused(x):\n"
        "    return np.sum(np.union1d(x, x))\n"
        "\n"
        "@grad(argnums=1)\n"
        "def decorated(x, w):\n"
        "    return np.sum(x @ w)\n"
        "\n"
        "class Model:\n"
        "    @staticmethod\n"
        "    def loss(x):\n"
        "        return np.sum(x * x)\n"
    )
    return folder


@real
def test_project_elsewhere(project, tmp_path):
    file = str(project / "train.py")
    for arguments in (
        (file + ":loss",),
        (file + ":loss", "--wrt", "x,w"),
        (file + ":loss", "--wrt", "scale"),
        (file + ":decorated",),
        (file + ":Model.loss",),
    ):
        shown = command("show", *arguments, cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "imported" not in shown.stdout
        compile(shown.stdout, "shown", "exec")
    check_loss(file, project)
    general = command("show", file + ":loss").stdout
    called = command("show", file + ":loss", "--at", "START, w=np.eye(2)")
    assert called.returncode == 0, called.stderr
    compile(called.stdout, "called", "exec")
    assert called.stdout != general
    assert command("show", file + ":loss", "--at", "START, v=1.0").returncode == 2
    out = tmp_path / "out.py"
    assert command("show", file + ":loss", "-o", str(out)).returncode == 0
    assert "def loss_grad_x(x, w" in out.read_text()
    assert not list(project.rglob("__pycache__/train*"))
    # A module that is imported by its name is compiled as Python does it.
    check_loss("train", project)


def check_loss(where, project):
    checked = command("check", f"{where}:loss", "--at", "START, w=np.eye(2)", "--wrt", "x,w", cwd=project)
    assert checked.returncode == 0, checked.stderr
    assert "WRONG" not in checked.stdout


@real
@pytest.mark.parametrize("stage", cli.STAGES)
def test_every_stage(project, stage):
    shown = command("show", f"{project / 'train.py'}:loss", "--stage", stage)
    assert shown.returncode == 0, shown.stderr
    assert "dense" in shown.stdout or "square" in shown.stdout


@real
def test_what_goes_wrong_elsewhere(project):
    file = str(project / "train.py")
    for arguments, mention in (
        (("show", file + ":los"), "Did you mean loss?"),
        (("show", file + ":START"), "no function"),
        (("show", str(project / "trian.py") + ":loss"), "Did you mean"),
        (("show", file + ":loss", "--wrt", "y"), "no argument 'y'"),
        (("show", file + ":refused"), "train.py:12:19: error: np.union1d has no derivative rule"),
        (("check", file + ":loss", "--at", "np.ones(2), np.eye(3)"), "fails at"),
        (("check", file + ":loss", "--at", "np.ones(2), undefined"), "NameError"),
        (("check", file + ":loss", "--at", "np.ones(2)"), "missing"),
        (("check", file + ":loss", "--at", "np.arange(2), np.eye(2)"), "integers"),
        (("check", file + ":loss", "--at", "np.ones((2), w="), "--at:1:"),
    ):
        result = command(*arguments)
        assert result.returncode == 2, (arguments, result.stdout, result.stderr)
        assert mention in result.stderr, result.stderr
        if "fails at" not in mention:
            assert "Traceback" not in result.stderr
        assert not result.stdout


@real
def test_a_wrong_rule_is_status_1(project, monkeypatch, capsys):
    import dataclasses

    from s2sad.ops import load_all, spec

    load_all()
    right = spec.find(np.tanh)

    def tanh(z, x):
        return 1.01 - z * z

    monkeypatch.setitem(spec._specs, id(np.tanh), dataclasses.replace(right, vjp=tanh))
    status, out, _ = run(capsys, "check", f"{project / 'train.py'}:loss", "--at", "START, w=np.eye(2)")
    assert status == 1
    assert "WRONG" in out


def test_forward_mode(capsys, tmp_path):
    path = tmp_path / "smooth.py"
    path.write_text("import numpy as np\ndef loss(x, w):\n    return np.sum(np.sin(x) * w)\n")
    status, text, _ = run(capsys, "show", f"{path}:loss", "--mode", "forward", "--wrt", "x,w")
    assert status == 0
    assert "def loss_jvp(x, w, *, x_dot, w_dot):" in text
    assert "_bar" not in text
    status, text, _ = run(capsys, "show", f"{path}:loss", "--mode", "forward", "--at", "x=1.0, w=2.0", "--stage", "ir")
    assert (status, text.splitlines()[0]) == (0, "function loss(x.1, w.1)")
