"""From a Python syntax tree to text, with comments.

``astunparse`` prints the statements.  What its last release gets wrong on
present Pythons is taken from it: every expression goes to ``ast.unparse`` (a
tuple in a subscript, attributes of literals), and so does a statement that it
does not know.  Comments are put in by statement.

With ``S2SAD_CHECK=1`` in the environment, as in the tests, the text is then
parsed, and must give back the very tree that it was printed from.
"""

from __future__ import annotations

import ast
import io
import os
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from astunparse.unparser import Unparser

from s2sad.errors import S2SADError

_COMMENT_COLUMN = 100
#: How long a line may be, and what is too short to be broken.
_WIDTH, _SHORT = 100, 20
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Note:
    """The comments of one statement.

    ``before`` are lines of their own above it, at its indentation (``""`` makes an
    empty line); ``after`` stands at the end of its line, or of its first line where it has
    a body.  The ``#`` is added where it is missing.
    """

    before: tuple[str, ...] = ()
    after: str = ""


class PrinterError(S2SADError):
    """The printed text does not parse back to the tree: a mistake in the tree, not in the user's function.

    Example:
        A tree with ``Constant(-1)``, which Python parses as minus of ``Constant(1)``.

    Remedy:
        Please report it, with the function that was differentiated.
    """


def to_text(body: Sequence[ast.stmt], notes: Mapping[int, Note] | None = None) -> str:
    """Print statements as a module's text, which ends in a line end.

    Args:
        body: The statements.  Trees may lack positions and expression contexts.
        notes: The comments, by the ``id`` of their statement.

    Raises:
        PrinterError: if the tree cannot be printed; with ``S2SAD_CHECK=1`` in the environment, if the text does not
            parse back to the same tree.

    Example:
        >>> body = ast.parse("y = A[:, (0)]").body
        >>> print(to_text(body, {id(body[0]): Note(after="L7")}), end="")
        y = A[:, 0]  # L7
    """
    printer = _Printer(notes or {})
    try:
        printer.dispatch(list(body))
        text = printer.text()
        parsed = ast.parse(text) if os.environ.get("S2SAD_CHECK") == "1" else None
    except (SyntaxError, ValueError, RecursionError) as error:
        raise PrinterError(f"error: the emitted tree cannot be printed as Python: {error}\n{_REPORT}") from error
    difference = None if parsed is None else _first_difference(list(body), parsed.body)
    if difference is not None:
        raise PrinterError(f"error: the emitted text does not say what the tree says: {difference}\n{_REPORT}")
    return text


_REPORT = "This is a mistake of s2sad. Please report it with the function that was differentiated."


class _Printer(Unparser):  # type: ignore[misc]
    """astunparse's printer, writing lines and comments of ours.

    Its methods for statements call ``fill`` to begin a line, ``write`` to go on with it,
    ``enter`` and ``leave`` around a body, and ``dispatch`` for what is inside.
    """

    def __init__(self, notes: Mapping[int, Note]) -> None:
        # The parent's would print at once, to a file.
        self.notes = notes
        self.lines: list[str] = []
        self.comments: dict[int, str] = {}
        self.future_imports: list[str] = []
        self._indent = 0
        self._pending = ""
        self._whole = True

    # --- what the parent's methods call ---

    def fill(self, text: str = "") -> None:
        self.lines.append("    " * self._indent + text)
        self._whole = False

    def write(self, text: str) -> None:
        self.lines[-1] += text

    def enter(self) -> None:
        self.write(":")
        self._attach()
        self._indent += 1

    def _attach(self) -> None:
        """Break the line that has just been written, if it is long, and put the statement's comment at its end."""
        position = len(self.lines) - 1
        if not self._whole:
            self.lines[position:] = wrapped(self.lines[position])
            self._whole = True
        if self._pending and position < len(self.lines) - 1:
            self.lines[position] += f"  {self._pending}"
        elif self._pending:
            self.comments[position] = self._pending
        self._pending = ""

    def dispatch(self, tree: ast.AST | Sequence[ast.AST]) -> None:
        if isinstance(tree, ast.expr):
            self.write(_expression(tree))
        elif isinstance(tree, ast.stmt):
            self._statement(tree)
        elif isinstance(tree, list):
            self._block(tree)
        else:  # a handler, a withitem, an alias: the parent knows them
            super().dispatch(tree)

    # --- statements ---

    def _block(self, body: list[ast.stmt]) -> None:
        after_definition = False
        for index, statement in enumerate(body):
            definition = isinstance(statement, _Definition)
            if index and (definition or after_definition):
                self.lines.extend([""] * (1 if self._indent else 2))
            after_definition = definition
            if index == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                self._docstring(statement)
            else:
                self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        self._comments_of(statement)
        method = getattr(self, "_" + type(statement).__name__, None)
        if method is not None:
            method(statement)
        else:
            self.fill(ast.unparse(statement))
        self._attach()

    def _comments_of(self, statement: ast.stmt) -> None:
        note = self.notes.get(id(statement))
        if note is not None:
            for line in note.before:
                self.lines.append("    " * self._indent + _comment(line) if line else "")
            self._pending = _comment(note.after) if note.after else ""

    def _docstring(self, statement: ast.Expr) -> None:
        """Print a string that is a statement over several lines, as ``ast.unparse`` does for docstrings."""
        self._comments_of(statement)
        self.fill(ast.unparse(ast.Module([statement], [])))
        self._attach()

    def _Assign(self, t: ast.Assign) -> None:
        parts = [_bare(part) for part in (*t.targets, t.value)]
        if self._is_long(*parts):
            nodes = (*t.targets, t.value)
            parts = [_expression(n) if len(p) > _WIDTH // 2 else p for n, p in zip(nodes, parts, strict=True)]
        self.fill(" = ".join(parts))

    def _Return(self, t: ast.Return) -> None:
        value = "" if t.value is None else _bare(t.value)
        if t.value is not None and self._is_long("return", value):
            value = _expression(t.value)
        self.fill(f"return {value}".rstrip())

    def _For(self, t: ast.For | ast.AsyncFor) -> None:
        keyword = "for" if isinstance(t, ast.For) else "async for"
        target, iterable = _bare(t.target), _expression(t.iter)
        if self._is_long(keyword, target, iterable):
            target = _expression(t.target)
        self.fill(f"{keyword} {target} in {iterable}")
        self._bodies(t.body, "else", t.orelse)

    _AsyncFor = _For

    def _If(self, t: ast.If) -> None:
        self.fill(f"if {_expression(t.test)}")
        self._bodies(t.body)
        while len(t.orelse) == 1 and isinstance(t.orelse[0], ast.If):
            t = t.orelse[0]
            self._comments_of(t)
            self.fill(f"elif {_expression(t.test)}")
            self._bodies(t.body)
        if t.orelse:
            self.fill("else")
            self._bodies(t.orelse)

    def _is_long(self, *parts: str) -> bool:
        return 4 * self._indent + sum(len(part) + 3 for part in parts) > _WIDTH

    def _bodies(self, body: list[ast.stmt], keyword: str = "", other: Iterable[ast.stmt] = ()) -> None:
        self.enter()
        self.dispatch(body)
        self.leave()
        if other:
            self.fill(keyword)
            self._bodies(list(other))

    def _FunctionDef(self, t: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in t.decorator_list:
            self.fill("@" + _expression(decorator))
        keyword = "def" if isinstance(t, ast.FunctionDef) else "async def"
        result = f" -> {_expression(t.returns)}" if t.returns is not None else ""
        self.fill(f"{keyword} {t.name}{_type_parameters(t)}({ast.unparse(t.args)}){result}")
        self._bodies(t.body)

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, t: ast.ClassDef) -> None:
        for decorator in t.decorator_list:
            self.fill("@" + _expression(decorator))
        bases = [ast.unparse(base) for base in [*t.bases, *t.keywords]]
        self.fill(f"class {t.name}{_type_parameters(t)}" + (f"({', '.join(bases)})" if bases else ""))
        self._bodies(t.body)

    def _Match(self, t: ast.Match) -> None:
        self.fill(f"match {_expression(t.subject)}")
        self.enter()
        for case in t.cases:
            guard = f" if {_expression(case.guard)}" if case.guard is not None else ""
            self.fill(f"case {ast.unparse(case.pattern)}{guard}")
            self._bodies(case.body)
        self.leave()

    def _TryStar(self, t: ast.TryStar) -> None:
        self.fill("try")
        self._bodies(t.body)
        for handler in t.handlers:
            assert handler.type is not None
            name = f" as {handler.name}" if handler.name else ""
            self.fill(f"except* {_expression(handler.type)}{name}")
            self._bodies(handler.body)
        for keyword, body in (("else", t.orelse), ("finally", t.finalbody)):
            if body:
                self.fill(keyword)
                self._bodies(body)

    # --- text ---

    def text(self) -> str:
        """Join the lines, the trailing comments of lines that follow each other in one column."""
        lines = self.lines
        run: list[int] = []
        for index in [*sorted(self.comments), len(lines) + 1]:  # the last closes the last run
            if run and run[-1] != index - 1:
                self._align(run)
                run = []
            run.append(index)
        return "".join([line + "\n" for line in lines])

    def _align(self, run: list[int]) -> None:
        # A comment may follow a string of several lines: its last line counts.
        widths = [len(self.lines[index].rpartition("\n")[2]) + 2 for index in run]
        column = max((width for width in widths if width <= _COMMENT_COLUMN), default=0)
        for index, width in zip(run, widths, strict=True):
            self.lines[index] += "  " + " " * (column - width) + self.comments[index]


def wrapped(line: str) -> list[str]:
    """A line of code in several lines, broken inside of its brackets, if it is long.

    Example:
        >>> print("\\n".join(wrapped("    " + "result = combine(" + ", ".join(["argument"] * 12) + ")")))
            result = combine(
                argument, argument, argument, argument, argument, argument, argument, argument, argument,
                argument, argument, argument
            )
    """
    if len(line) <= _WIDTH or "\n" in line:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    pairs, commas = _brackets(line)
    outer = [(a, b) for a, b in pairs if not any(c < a and b < d for c, d in pairs)]
    if not outer:
        return [line]
    first, last = max(outer, key=lambda pair: pair[1] - pair[0])
    while (first + 1, last - 1) in pairs:
        first, last = first + 1, last - 1
    if last - first < _SHORT:
        return [line]
    cuts = [c for c in commas if first < c < last and not any(first < a < c < b < last for a, b in pairs)]
    parts = [line[a + 1 : b].strip() for a, b in zip([first, *cuts], [*cuts, last], strict=True)]
    out = wrapped(line[: first + 1])
    row = ""
    for i, part in enumerate(parts):
        piece = part + ("," if i < len(cuts) else "")
        if row and len(indent) + 5 + len(row) + len(piece) > _WIDTH:
            out += wrapped(f"{indent}    {row}")
            row = ""
        row = f"{row} {piece}" if row and piece else row or piece
    out += wrapped(f"{indent}    {row}") if row else []
    return [*out, *wrapped(indent + line[last:])]


def _brackets(line: str) -> tuple[set[tuple[int, int]], list[int]]:
    """Where the pairs of brackets in a line begin and end, and where its commas are."""
    pairs: set[tuple[int, int]] = set()
    commas: list[int] = []
    open_: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
            place = token.start[1] + len(line) - len(line.lstrip())
            if token.type == tokenize.OP and token.string in "([{":
                open_.append(place)
            elif token.type == tokenize.OP and token.string in ")]}" and open_:
                pairs.add((open_.pop(), place))
            elif token.type == tokenize.OP and token.string == ",":
                commas.append(place)
    except (tokenize.TokenError, SyntaxError):
        pass  # part of a statement: what was found so far will do
    return pairs, commas


def _comment(text: str) -> str:
    text = " ".join(text.splitlines())
    return text if text.startswith("#") else f"# {text}"


def _expression(node: ast.expr) -> str:
    """Print one expression; names, which are most of them, without the cost of a printer."""
    return node.id if type(node) is ast.Name else ast.unparse(node)


def _bare(node: ast.expr) -> str:
    """Print an expression, a tuple without its parentheses."""
    if not isinstance(node, ast.Tuple) or not node.elts:
        return _expression(node)
    items = ", ".join([_expression(item) for item in node.elts])
    return items + "," if len(node.elts) == 1 else items


def _type_parameters(node: ast.AST) -> str:
    parameters = getattr(node, "type_params", None)
    return f"[{', '.join([ast.unparse(parameter) for parameter in parameters])}]" if parameters else ""


# --- the check ---------------------------------------------------------------

_IGNORED = {"ctx", "kind", "type_comment", "type_ignores"}
_FIELDS: dict[type, tuple[str, ...]] = {}


def _first_difference(given: object, parsed: object) -> str | None:
    """Compare two trees as ``ast.dump`` would, without its recursion, and say where they part."""
    pending = [(given, parsed, "the module")]
    while pending:
        a, b, where = pending.pop()
        if isinstance(a, ast.AST):
            if type(a) is not type(b):
                return f"{type(a).__name__} was read back as {type(b).__name__} in {where}"
            fields = _FIELDS.get(type(a))
            if fields is None:
                fields = _FIELDS[type(a)] = tuple(field for field in a._fields if field not in _IGNORED)
            where = type(a).__name__
            for field in fields:
                left, right = getattr(a, field, None), getattr(b, field, None)
                if left is not right:
                    pending.append((left, right, where))
        elif isinstance(a, (list, tuple)) and isinstance(b, list):
            if len(a) != len(b):
                return f"{len(a)} parts were read back as {len(b)} in {where}"
            pending.extend([(left, right, where) for left, right in zip(a, b, strict=True)])
        elif (a is None and b == []) or (type(a) is type(b) and (a == b or repr(a) == repr(b)) and repr(a) == repr(b)):
            continue
        else:
            return f"{a!r} was read back as {b!r} in {where}"
    return None
