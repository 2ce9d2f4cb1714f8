"""The oracle of a place is the text itself: what stands there in the file must be what the node says."""

import ast
import functools
import importlib.util
import itertools
import linecache
import math
import os
import subprocess
import sys
import textwrap
import time
import types
import unicodedata
import warnings

import gast
import numpy as np
import pytest

from s2sad.errors import Place, SourceError
from s2sad.frontend.source import read_source

_counter = itertools.count()


@pytest.fixture
def module(tmp_path):
    """Return a function that writes a module, imports it, and takes it away in the end."""
    made = []

    def make(text, name=None):
        name = name or f"source_case_{next(_counter)}"
        path = tmp_path / f"{name}.py"
        path.write_text(text if text.startswith(("#", "\t")) else textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[name] = loaded
        made.append((name, str(path)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spec.loader.exec_module(loaded)
        return loaded

    yield make
    for name, path in made:
        sys.modules.pop(name, None)
        linecache.cache.pop(path, None)


def text_at(place: Place) -> str:
    """Cut out of the *file* what a place means."""
    with open(place.file, encoding="utf-8") as file:
        line = file.read().split("\n")[place.line - 1]
    assert line == place.text
    return line.encode()[place.column : place.end_column].decode()


def assert_positions(source):
    """Every name, attribute and number of the tree stands in the file where the tree says."""
    count = 0
    for node in gast.walk(source.node):
        if isinstance(node, gast.Name):
            # Python normalises names: the micro sign is the Greek letter.
            assert unicodedata.normalize("NFKC", text_at(source.place(node))).startswith(node.id)
            count += 1
        elif isinstance(node, gast.Constant) and type(node.value) in (int, float):
            assert ast.literal_eval(text_at(source.place(node))) == node.value
            count += 1
    assert count


def test_plain_function(module):
    m = module("""
        import numpy as np

        # a comment
        def loss(x, w=2.0):
            y = np.sin(x)

            return np.sum(y * w)  # the end
        after = 1
    """)
    source = read_source(m.loss)
    assert (source.name, source.first_line, len(source.lines)) == ("loss", 5, 4)
    assert source.file == m.__file__
    assert source.lines[-1] == "    return np.sum(y * w)  # the end"
    assert source.function is m.loss
    assert isinstance(source.node, gast.FunctionDef)
    call = source.node.body[0].value
    assert source.place(call) == Place(m.__file__, 6, 8, 17, "    y = np.sin(x)")
    assert_positions(source)


STRANGE = {
    "decorated": """
        def deco(*args):
            return lambda f: f
        @deco(
        1, "def f(x):"
        )
        @deco()
        def f(x):
            return 3 * x
    """,
    "comments further left": """#
def f(x):
    y = 2 * x
# here
     # and here
    return y + 1
g = 1
""",
    "string further left": '''#
def f(x):
    s = """
def f(x):
    return 7
"""
    return x + len(s)
z = 3
''',
    "continuation further left": """#
def f(x):
    y = x + \\
1
    return (y +
    2)
""",
    "header of several lines": """
        def f(
            x,
            scale=(
        1.0
        ),
        ):
            return x * 5
    """,
    "one line": """
        def f(x): return x * 5
        def g(x): return x * 6
    """,
    "unicode": """
        def f(größe):
            µ = "日本語"; ψ = größe * 3 + len(µ); return ψ * 4
    """,
    "annotations and type comments": """
        from __future__ import annotations
        def f(x: Unknown[int], y: "str" = 1) -> Undefined:
            z: float = x * 2  # type: ignore
            return z
    """,
    "asserts": """
        def f(x):
            assert x > 0, "positive"
            return x * 2
    """,
    "inner functions": """
        def f(x):
            def inner(y):
                return y * x
            h = lambda z: inner(z) + 1
            return h(x) + sum([x * i for i in range(3)])
    """,
    "recursive": """
        def f(n):
            return 1 if n < 2 else n * f(n - 1)
    """,
    "a long chain of decorators and blank lines": """
        import functools



        def f(x):

            if x:

                return 1

            # last comment
            return x * 2

    """,
    "imported names, in every form": """
        import math as m
        from collections import OrderedDict
        try:
            import json
        except ImportError:
            json = None
        copy = json
        def f(x):
            return m.sin(x) + len(OrderedDict.fromkeys([1])) + len(json.dumps(1)) + len(copy.dumps(2)) + x.real
    """,
    "super, and an imported name": """
        from collections import Counter
        class A(dict):
            def f(self, x):
                super().__init__({"a": Counter.fromkeys([])})
                return x + len(self)
        f = A.f
    """,
    "a module that mentions super": """
        other = super
        class A(dict):
            def f(self, x, *rest):
                super().update(*rest)
                return x + len(self)
        f = A.f
    """,
    "what Python warns of": """
        def f(x):
            y = "\\d" if x is 1 else "\\."
            return x * 2
    """,
    "constants that compare equal": """
        def f(x):
            return x * 1 + x * 1.0 + x * True + 0.0 * x - -0.0 * x + (1, 1.0).count(x) + (x in {1, 2, 3})
    """,
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE.keys())
def test_layouts(module, text):
    m = module(text)
    source = read_source(m.f)
    assert source.node.name == source.name == "f"
    assert_positions(source)
    # The oracle for the tree: the whole file, parsed by Python.
    with open(m.__file__, encoding="utf-8") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = gast.parse(file.read())
    expected = next(node for node in gast.walk(whole) if isinstance(node, gast.FunctionDef) and node.name == "f")
    assert gast.dump(source.node, include_attributes=True) == gast.dump(expected, include_attributes=True)


def test_tabs_and_form_feeds(module):
    m = module(
        "#\nclass A:\n\tdef f(self, x):\n\t\tif x:\n\t\t\treturn x\n\t\treturn 2*x\n\x0c\ndef g(x):\n\treturn 3*x\n"
    )
    assert_positions(read_source(m.A.f))
    assert_positions(read_source(m.g))


def test_methods_and_closures(module):
    m = module("""
        class Base:
            def f(self, x):
                return x

        class Model(Base):
            __w = 2.0
            def f(self, x):
                return super().f(x) * self.__w + len([Model])
            @staticmethod
            def s(x):
                return 2 * x
            class Inner:
                def f(self, x):
                    return 3 * x + self.__y

        def outer(scale):
            class Local:
                def f(self, x):
                    return Local, x * scale
            def f(x):
                def g(y):
                    return f, y * scale * x
                return g(x)
            return f, Local.f
    """)
    for function in (m.Model.f, m.Model.s, m.Model.Inner.f, *m.outer(2.0)):
        assert_positions(read_source(function))
    assert read_source(m.Model.Inner.f).first_line == 14


def test_lambdas_on_one_line_are_told_apart(module):
    m = module("""
        fs = [lambda x: x * 1, lambda x: x * 2, (lambda y: (lambda x: x * 3))(0), lambda: (((5)))]
        same = [lambda x: x * 9, lambda x: x * 9]
        ü = "ü"; g = lambda x=(1, 2), *, k=[lambda: 0]: (x,
            k)
        table = dict(a=1, f=lambda x: (
            x + 1
        ) * 4, b=2)
        h = (lambda x:
             x if x else
             (x + 6))
        s = f"{(lambda x: x + 8)(1)}", lambda x: x[1:2] + 7
        def make(c):
            return lambda x: x * c, [lambda x: -x for _ in range(2)]
    """)
    numbers = []
    for function in (*m.fs, m.table["f"], m.h, m.s[1]):
        source = read_source(function)
        assert_positions(source)
        assert (source.name, source.node.name) == ("lambda_", "lambda_")
        assert isinstance(source.node.body[0], gast.Return)
        numbers.append(text_at(source.place(source.node.body[0])).strip("()")[-1:])
    assert numbers[:4] == ["1", "2", "3", "5"]
    first, second = map(read_source, m.same)
    assert (first.node.col_offset, second.node.col_offset) == (8, 25)
    assert len(read_source(m.table["f"]).lines) == 3
    assert text_at(read_source(m.g).place(read_source(m.g).node)) == "lambda x=(1, 2), *, k=[lambda: 0]: (x,"
    product, negatives = m.make(2)
    assert isinstance(read_source(product).node.body[0].value, gast.BinOp)
    assert isinstance(read_source(negatives[1]).node.body[0].value, gast.UnaryOp)


def test_lambdas_without_column_information(tmp_path):
    path = tmp_path / "f.py"
    path.write_text(
        "f, g = lambda x: x * 1, lambda x: x * 2\nfrom s2sad.frontend.source import read_source\n"
        "print(read_source(f).node.body[0].value.right.value, read_source(g).node.body[0].value.right.value)\n"
    )
    run = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.stdout.split() == ["1", "2"], run.stderr


def test_notebook_cell():
    name = "<ipython-input-7-abc>"
    text = "def f(x):\n    return x * 2\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        space = {}
        exec(compile(text, name, "exec"), space)
        source = read_source(space["f"])
        assert source.file == name
        assert str(source.place(source.node.body[0])) == f"{name}:2:5"
    finally:
        del linecache.cache[name]


def test_rewritten_asserts_do_not_hide_an_edit():
    def f(x):
        assert x > 0
        return x * 3

    def g(x):
        assert x > 0
        return x * 4

    assert read_source(f).name == "f"
    swapped = types.FunctionType(f.__code__.replace(co_firstlineno=g.__code__.co_firstlineno, co_name="g"), globals())
    with pytest.raises(SourceError, match="not the code that is running"):
        read_source(swapped)


# --- refusals ----------------------------------------------------------------


class _Callable:
    def __call__(self, x):
        return x


class _Method:
    def method(self, x):
        return x


def _generator(x):
    yield x


async def _coroutine(x):
    return x


async def _async_generator(x):
    yield x


@functools.lru_cache
def _cached(x):
    return x


def _plain(x):
    return x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (math.sin, ["math.sin", "built-in"]),
        (len, ["len", "built-in"]),
        (np.sin, ["sin", "built-in"]),
        (str.upper, ["upper", "built-in"]),
        (np.linalg.norm.__call__, ["built-in"]),
        (functools.partial(_plain, 1), ["an object of class partial"]),
        (_Callable, ["_Callable", "a class"]),
        (_Callable(), ["an object of class _Callable"]),
        (_Method().method, ["an object of class method"]),
        (_cached, ["an object of class _lru_cache_wrapper"]),
        (classmethod(_plain), ["classmethod", "__func__"]),
        (_generator, ["generator function", "returns its result", "test_source.py:"]),
        (_coroutine, ["async function"]),
        (_async_generator, ["async generator"]),
        (3, ["not callable", "int"]),
        (None, ["not callable"]),
    ],
    ids=lambda value: None if isinstance(value, list) else type(value).__name__,
)
def test_what_has_no_source_is_explained(function, words):
    with pytest.raises(SourceError) as caught:
        read_source(function)
    for word in words:
        assert word in str(caught.value)


def test_wrapper_is_read_itself_and_not_what_it_wraps():
    def decorator(f):
        @functools.wraps(f)
        def wrapper(*args):
            return 2 * f(*args)

        return wrapper

    assert read_source(decorator(_plain)).name == "wrapper"


def test_exec_without_source():
    space = {}
    # Not as "<string>": from 3.13 on, that is the text that `python -c` runs.
    exec(compile("def f(x): return x", "<made here>", "exec"), space)
    with pytest.raises(SourceError, match=r"exec.*\n.*file"):
        read_source(space["f"])


EDITS = [
    ("return 2 * x", "return 3 * x"),
    ("return 2 * x", "return 2.0 * x"),
    ("return 2 * x", "return 2 + x"),
    ("return 2 * x", "return 2 * c"),
    ("return 2 * x", "nonlocal c; return 2 * x"),
    ("def f(x)", "def g(x)"),
    ("def f(x)", "def f(x, y)"),
    ("def f(x)", "import math\n\ndef f(x)"),
    ("def f(x):\n    return 2 * x", "def f(x:\n    return 2 * x"),
    ("def f(x):\n    return 2 * x", ""),
]


@pytest.mark.parametrize(("old", "new"), EDITS, ids=[new or "removed" for _, new in EDITS])
def test_edited_file_is_never_read(module, old, new):
    m = module("#\nc = 1\ndef f(x):\n    return 2 * x\n")
    with open(m.__file__, encoding="utf-8") as file:
        text = file.read()
    with open(m.__file__, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new) + "#" * 10)
    with pytest.raises(SourceError, match="not the code that is running"):
        read_source(m.f)


def test_text_that_was_read_before_the_edit_still_serves(module):
    m = module("#\ndef f(x):\n    return 2 * x\n")
    read_source(m.f)
    with open(m.__file__, "w", encoding="utf-8") as file:
        file.write("# something\n# else altogether\n# and longer than before\n")
    assert read_source(m.f).lines[-1] == "    return 2 * x"


def test_reload_after_an_edit(module):
    m = module("#\ndef f(x):\n    return 2 * x\n")
    old = m.f
    read_source(old)
    with open(m.__file__, "w", encoding="utf-8") as file:
        file.write("#\ndef f(x):\n    return 33 * x\n")
    m.__spec__.loader.exec_module(m)
    assert read_source(m.f).lines[-1] == "    return 33 * x"


def test_deep_expression_is_refused_with_a_place(module):
    m = module("#\ndef f(x):\n    return " + " + ".join(["x"] * 1500) + "\n")
    with pytest.raises(SourceError, match=r":2:1: error: f nests expressions"):
        read_source(m.f)


def test_long_file_is_not_parsed_whole(module):
    filler = "".join(f"def f{i}(x):\n    y = x + {i}\n    return [y, y]\n" for i in range(700))
    body = "".join(f"    x{i} = np.sin(x) * {i} + x[{i}]\n" for i in range(20))
    m = module(f"#\nimport numpy as np\n{filler}def f(x):\n{body}    return x\n{filler.replace('def f', 'def g')}")
    read_source(m.f)

    def fastest(action):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            action()
            times.append(time.perf_counter() - start)
        return min(times)

    with open(m.__file__, encoding="utf-8") as file:
        text = file.read()
    # Only a ratio: the file is some 200 times as long as the function.
    assert fastest(lambda: read_source(m.f)) < 0.5 * fastest(lambda: ast.parse(text))
