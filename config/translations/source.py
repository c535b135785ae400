"""Find every sentence that is marked for translation, and those that look as if they should be."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.utils.text import unescape_string_literal
from django.utils.translation import trim_whitespace

#: A sentence, or its singular and its plural.
Message = str | tuple[str, str]

_SINGULAR: Final = frozenset({"_", "gettext", "gettext_lazy", "gettext_noop"})
_WITH_PLURAL: Final = frozenset({"ngettext", "ngettext_lazy"})

_LITERAL: Final = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_TAG: Final = re.compile(rf"{{%-?\s*trans(?:late)?\s+{_LITERAL}")
_FILTERED: Final = re.compile(rf"\b_\({_LITERAL}\)")
_BLOCK: Final = re.compile(
    r"{%\s*blocktrans(?:late)?\b(?P<options>[^%]*)%}(?P<one>.*?)"
    r"(?:{%\s*plural\s*%}(?P<many>.*?))?{%\s*endblocktrans(?:late)?\s*%}",
    re.DOTALL,
)
_VARIABLE: Final = re.compile(r"{{\s*(\w+)\s*}}")
_COMMENT: Final = re.compile(r"{%\s*comment\s*%}.*?{%\s*endcomment\s*%}|{#.*?#}", re.DOTALL)


def in_python(source: str, *, is_ours: bool = True) -> Iterator[Message]:
    """The sentences of a module. Raises ValueError where one of ours is no whole one."""
    for call in _calls(ast.parse(source)):
        plural = _called(call) in _WITH_PLURAL
        texts = [_text(argument) for argument in call.args[: 2 if plural else 1]]
        if (None in texts or not texts) and not is_ours:
            continue
        if None in texts or not texts:
            raise ValueError(f"line {call.lineno}: only whole sentences can be translated")
        found = [text for text in texts if text is not None]
        yield (found[0], found[1]) if plural else found[0]


def in_template(source: str) -> Iterator[Message]:
    """The sentences of a template."""
    text = _COMMENT.sub("", source)
    for pattern in (_TAG, _FILTERED):
        yield from (unescape_string_literal(found) for found in pattern.findall(text))
    for block in _BLOCK.finditer(text):
        is_trimmed = "trimmed" in block["options"]
        one = _block_text(block["one"], is_trimmed=is_trimmed)
        many = block["many"]
        yield one if many is None else (one, _block_text(many, is_trimmed=is_trimmed))


def left_in_python(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of what a person might read and no translator sees: a guess, for people."""
    tree = ast.parse(source)
    marked = {id(node) for call in _calls(tree) for node in ast.walk(call)}
    documented = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    named = {id(word.value) for word in ast.walk(tree) if _is_name(word)}  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        text = _text(node)
        is_read = text and (id(node) in named or _reads_like_words(text))
        if text and is_read and id(node) not in marked | documented:
            yield node.lineno, text  # type: ignore[attr-defined]  # constants have lines


def left_in_template(source: str) -> Iterator[tuple[int, str]]:
    """The same of a template: text between tags, and attributes that are read aloud or shown."""
    plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source)
    plain = _BLOCK.sub(lambda found: "\n" * found[0].count("\n"), plain)
    plain = re.sub(r"{%.*?%}|{{.*?}}", "", plain)
    for number, line in enumerate(plain.splitlines(), start=1):
        shown = re.findall(r'(?:title|aria-label|placeholder|alt)="([^"]+)"', line)
        shown += re.split(r"<[^>]*>?", line)
        yield from ((number, text.strip()) for text in shown if re.search(r"[A-Za-z]{2}", text))


def modules(folder: Path) -> Iterator[tuple[Path, str]]:
    """The Python modules below a folder that are not migrations."""
    for path in sorted(folder.rglob("*.py")):
        if "migrations" not in path.parts:
            yield path, path.read_text()


def templates(folder: Path) -> Iterator[tuple[Path, str]]:
    """The templates below a folder."""
    for path in sorted(folder.rglob("*.html")):
        yield path, path.read_text()


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in _SINGULAR | _WITH_PLURAL:
            yield node


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.AST) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[attr-defined]  # just looked at


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg in {"description", "label", "help_text"}


def _reads_like_words(text: str) -> bool:
    return bool(re.search(r"[A-Za-z]{2,},? [a-z]{2,}", text) or re.fullmatch(r"[A-Z][a-z]+", text))


def _block_text(text: str, *, is_trimmed: bool) -> str:
    shown = _VARIABLE.sub(r"%(\1)s", text.replace("%", "%%"))
    return trim_whitespace(shown) if is_trimmed else shown
