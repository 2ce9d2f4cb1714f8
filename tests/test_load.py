import gc
import inspect
import linecache
import threading
import traceback
import types
import weakref

import pytest

from s2sad.errors import Place
from s2sad.load import LoadError, _marked, load, origin


def test_globals_are_live_and_nothing_is_written():
    namespace = {"scale": 2.0}
    before = dict(namespace)
    f = load("import numpy as np\ndef f(x): return x * scale", "<s2sad live>", namespace, {}, {})["f"]
    assert f(3.0) == 6.0
    namespace["scale"] = 5.0
    assert f(3.0) == 15.0
    assert f.__globals__ is namespace
    namespace["scale"] = 2.0
    assert namespace == before


def test_the_users_cells_are_the_same_cells():
    def make():
        w = 1.0

        def user(x):
            nonlocal w
            w += 1.0
            return x * w

        return user

    user = make()
    cells = dict(zip(user.__code__.co_freevars, user.__closure__, strict=True))
    f = load("def f(x):\n    return x * w\n", "<s2sad cells>", {}, cells, {})["f"]
    assert f(10.0) == 10.0
    user(0.0)
    assert f(10.0) == 20.0
    assert f.__closure__[0] is user.__closure__[0]


def test_helpers_do_not_clash_with_the_users_names():
    namespace = {"helper": "the user's", "g": "also"}
    bindings = {"_helper": types.CellType(lambda x: x + 1)}
    text = "def f(x):\n    return _helper(x), helper, g\n\ndef g(x):\n    return g\n"
    functions = load(text, "<s2sad clash>", namespace, {}, bindings)
    assert list(functions) == ["f", "g"]
    assert functions["f"](1) == (2, "the user's", "also")
    assert functions["g"](1) == "also"  # the name is the module's, unless a cell is given


def test_forward_reference_is_filled_in_later():
    cell = types.CellType()
    f = load("def f(n):\n    return n if n < 1 else f(n - 1)\n", "<s2sad later>", {}, {}, {"f": cell})["f"]
    with pytest.raises(NameError):
        f(3)
    cell.cell_contents = f
    assert f(3) == 0


def test_inner_functions_see_the_cells():
    text = "def f(x):\n    def inner(y):\n        return [y * a for _ in range(2)]\n    return inner(x)\n"
    assert load(text, "<s2sad inner>", {}, {}, {"a": types.CellType(3)})["f"](2) == [6, 6]


def test_what_python_warns_of_is_not_warned_of_again():
    assert load("def f(x):\n    return x is 1\n", "<s2sad warn>", {}, {}, {})["f"](2) is False


def test_signature():
    f = load("def f(a, b=-1.5, /, c=(1, 'x'), *d, e, g=None, **h): return b, c, g", "<s2sad sig>", {}, {}, {})["f"]
    assert str(inspect.signature(f)) == "(a, b=-1.5, /, c=(1, 'x'), *d, e, g=None, **h)"
    assert f(0, e=1) == (-1.5, (1, "x"), None)
    assert (f.__name__, f.__qualname__) == ("f", "f")


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "def f(x=g()): pass",
        "def f(*, x=g): pass",
        "@d\ndef f(): pass",
        "def f(:",
        "def f():\n    break",
        "class A: pass",
    ],
)
def test_what_would_have_to_run_is_an_error(text):
    with pytest.raises(LoadError):
        load(text, "<s2sad wrong>", {}, {}, {})
    assert "<s2sad wrong>" not in linecache.cache


def test_traceback_and_inspect_show_the_emitted_lines():
    text = "# header\ndef f(x):\n    y = x\n    return y / 0  # L7\n"
    f = load(text, "<s2sad f 1>", {}, {}, {})["f"]
    linecache.checkcache()
    try:
        f(1.0)
    except ZeroDivisionError:
        shown = traceback.format_exc()
    assert '"<s2sad f 1>", line 4, in f\n    return y / 0  # L7' in shown
    assert inspect.getsource(f) == text[len("# header\n") :]


def test_text_is_forgotten_with_the_last_function():
    functions = load("def f(): pass\ndef g(): pass", "<s2sad gone>", {}, {}, {})
    f = functions["f"]
    watch = weakref.ref(functions["g"])
    del functions
    gc.collect()
    assert watch() is None
    assert "<s2sad gone>" in linecache.cache
    del f
    gc.collect()
    # The collector may run while `linecache.checkcache` does, which expects to find what it has listed.
    assert "<s2sad gone>" in linecache.cache
    load("def f(): pass", "<s2sad next>", {}, {}, {})
    assert "<s2sad gone>" not in linecache.cache


def test_a_later_text_of_the_same_name_stays():
    first = load("def f(): return 1", "<s2sad again>", {}, {}, {})
    second = load("def f(): return 2", "<s2sad again>", {}, {}, {})
    del first
    gc.collect()
    load("def f(): pass", "<s2sad next>", {}, {}, {})
    assert linecache.getline("<s2sad again>", 1) == "def f(): return 2"
    assert second["f"]() == 2


def test_threads():
    failures = []

    def work(number):
        try:
            for step in range(50):
                name = f"<s2sad thread {number} {step}>"
                f = load(f"def f(x):\n    return x + {number}\n", name, {}, {}, {})["f"]
                assert f(1) == number + 1
                assert linecache.getline(name, 2) == f"    return x + {number}\n"
                del f
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    load("def f(): pass", "<s2sad next>", {}, {}, {})
    assert not failures
    assert not [name for name in linecache.cache if name.startswith("<s2sad thread")]


TEXT = """def f(x):
    y = "# L99"  # L4
    # L5: for i in range(3)
    for i in x:
        # L6: y = g(i)
        y = i
        y = i
    y = 1
    if y:
        # L4: y = 2
        y = 2
    return y
"""


@pytest.mark.parametrize(("line", "place"), [(2, 4), (4, 5), (6, 6), (7, 6), (8, 5), (9, 5), (11, 4), (12, 5), (1, 0)])
def test_a_line_belongs_to_the_statement_that_the_comments_name(line, place):
    assert _marked(TEXT, line) == place


def test_the_place_of_a_failure_is_in_the_users_file(tmp_path):
    home = tmp_path / "home.py"
    home.write_text("def f(x):\n    return x + \\\n        [0]\n")
    text = "def g(x):\n    # L2: return x + [0]\n    return fail(x)\n"
    g = load(text, "<s2sad place>", {}, {}, {"fail": types.CellType(int)}, str(home))["g"]
    with pytest.raises(ValueError, match="invalid") as caught:
        g("x")
    assert origin(caught.value.__traceback__) == Place(str(home), 2, 4, 16, "    return x + \\")
    assert origin(None) is None


def test_the_mark_of_a_statement_of_several_lines():
    text = (
        "def f(x):\n    y = g(  # L3\n        x,\n        x\n    )\n    z = (\n        y\n    )\n"
        "    # L5: return z\n    w = g(\n        z\n    )\n    for i in g(  # L6\n        z\n    ):\n        y = 1\n"
    )
    assert [_marked(text, number) for number in range(2, 17)] == [3, 3, 3, 3, 0, 0, 0, 5, 5, 5, 5, 6, 6, 6, 5]
