"""Text that others wrote, made fit to be looked at: nothing invisible, nothing unbounded."""

import json
import unicodedata
from typing import Any, Final

#: What of a text is shown; more helps nobody who reads it in a browser.
TEXT_BYTES_MAX: Final = 16 * 1024
_HEX_BYTES_A_LINE: Final = 16
_PRINTABLE: Final = range(0x20, 0x7F)
_KEPT_CONTROLS: Final = frozenset("\n\t")
# Control, format (right-to-left override, zero width ..), surrogate, private, line separators.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def visible(text: str) -> str:
    """The text with every character that would hide or reorder others spelled out: ``[U+202E]``."""
    return "".join(
        f"[U+{ord(letter):04X}]"
        if unicodedata.category(letter) in _INVISIBLE and letter not in _KEPT_CONTROLS
        else letter
        for letter in text
    )


def bounded(text: str) -> tuple[str, bool]:
    """The first TEXT_BYTES_MAX characters, made visible, and whether that is not all."""
    return visible(text[:TEXT_BYTES_MAX]), len(text) > TEXT_BYTES_MAX


def pretty_json(value: Any) -> str:
    """JSON for reading: indented, in its own order, letters as they are."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def from_bytes(raw: bytes) -> tuple[str, str]:
    """The first TEXT_BYTES_MAX bytes as text if they are text, else as a hex dump; and which.

    Text is UTF-8 without NUL and other controls, apart from the end of a line and the tab.
    """
    shown = raw[:TEXT_BYTES_MAX]
    try:
        # The cut may fall within a character, which then takes up to three bytes more.
        text = _whole_characters(shown) if len(raw) > len(shown) else shown.decode()
    except UnicodeDecodeError:
        return hex_dump(shown), "hex"
    text = text.replace("\r\n", "\n")
    if any(unicodedata.category(letter) == "Cc" and letter not in "\n\t\r" for letter in text):
        return hex_dump(shown), "hex"
    return visible(text), "text"


def hex_dump(raw: bytes) -> str:
    """Offset, sixteen bytes in hex, and the ASCII among them, line by line."""
    lines = []
    for start in range(0, len(raw), _HEX_BYTES_A_LINE):
        part = raw[start : start + _HEX_BYTES_A_LINE]
        letters = "".join(chr(byte) if byte in _PRINTABLE else "." for byte in part)
        lines.append(f"{start:08x}  {part.hex(' '):<47}  {letters}")
    return "\n".join(lines)


def _whole_characters(cut: bytes) -> str:
    for missing in range(3):
        try:
            return cut[: len(cut) - missing].decode()
        except UnicodeDecodeError:
            continue
    return cut[: len(cut) - 3].decode()
