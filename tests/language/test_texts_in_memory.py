"""Numbers that are written or printed into a buffer in memory, recorded warnings, and what is constant there."""

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.sources import function_of

HEAD = """
import contextlib
import csv
import io
import os
import sys
import tempfile
import warnings
import numpy as np
from s2sad import stop_gradient

class Log:
    def __init__(self):
        self.buffer = io.StringIO()

    def note(self, v):
        self.buffer.write(f"{v} ")

BUFFER = io.StringIO()

def shown(stream, x):
    with contextlib.redirect_stdout(stream):
        print(x)

def warned(x):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        y = np.log(-x)
    return len(w)

def f(x):
"""
READ_AGAIN = [
    "b = io.StringIO(); b.write(str(x)); return float(b.getvalue()) * x",
    "b = io.StringIO(); b.write('%r' % x); b.seek(0); return float(b.readline()) * x",
    "b = io.BytesIO(); b.write(np.float64(x).tobytes()); return np.frombuffer(b.getvalue())[0] * x",
    "b = io.StringIO(); b.writelines([f'{x}', '0']); return float(b.getvalue()) * x",
    "b = io.StringIO(); csv.writer(b).writerow([str(x)]); return float(b.getvalue()) * x",
    "b = io.BytesIO(); w = io.TextIOWrapper(b); w.write(str(x)); w.flush(); return float(b.getvalue()) * x",
    "b = tempfile.TemporaryFile('w+'); b.write(str(x)); b.seek(0); return float(b.read()) * x",
    "log = Log(); log.note(x); return float(log.buffer.getvalue()) * x",
    "b = io.StringIO()\n    with contextlib.redirect_stdout(b): print(x)\n    return float(b.getvalue()) * x",
    "with contextlib.redirect_stdout(io.StringIO()) as b: print(x)\n    return float(b.getvalue()) * x",
    "b = io.StringIO(); shown(b, x); return float(b.getvalue()) * x",
    "with contextlib.redirect_stdout(BUFFER): print(x)\n    return float(BUFFER.getvalue().split()[-1]) * x",
    "b = io.StringIO(); r = contextlib.redirect_stdout(b)\n    with r: print(x)\n    return float(b.getvalue()) * x",
    "return warned(x) * x * x",
]
CONSTANT = [
    "b = io.StringIO(); b.write(str(stop_gradient(x))); return x * x",
    "b = io.StringIO(); b.write(stop_gradient(str(x))); return x * x",
    "b = io.StringIO(); b.write('x'); return x * x * len(b.getvalue())",
    "with open('/dev/null', 'w') as b: b.write(f'{x}')\n    return x * x",
    "with open('/dev/null', 'w') as b: b.write(f'{stop_gradient(x)}')\n    return x * x",
    "s = f'{stop_gradient(x)}'\n    with open('/dev/null', 'w') as b: b.write(s)\n    return x * x",
    "b = io.StringIO()\n    with contextlib.redirect_stdout(b): print(x)\n    return x * x",
    "with contextlib.redirect_stdout(sys.stderr): print(x)\n    return x * x",
    "with contextlib.redirect_stdout(io.StringIO()): print(x)\n    return x * x",
    "with open(os.devnull, 'w') as b, contextlib.redirect_stdout(b): print(x)\n    return x * x",
    "return warned(stop_gradient(x)) * x * x",
]


@pytest.mark.parametrize("body", READ_AGAIN)
def test_what_is_read_again_is_refused(body):
    f = function_of(HEAD + "    " + body)
    for ask in (lambda: grad(f)(1.3), lambda: jvp(f, (1.3,), (1.0,))):
        with pytest.raises(S2SADError):
            ask()


@pytest.mark.parametrize("body", CONSTANT)
def test_what_is_constant_is_written(body):
    f = function_of(HEAD + "    " + body)
    np.testing.assert_allclose(grad(f)(1.3), 2.6, rtol=1e-15)
    np.testing.assert_allclose(jvp(f, (1.3,), (1.0,))[1], 2.6, rtol=1e-15)
