"""What the command line makes of its surroundings: the encoding of its output."""

from __future__ import annotations

import codecs
import sys
import unicodedata

PLAIN = {
    **dict.fromkeys("–—−‐‑⁻─━╸╺", "-"),
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("·•", "*"),
    **dict.fromkeys("µμ", "u"),
    **dict(zip("±×≤≥≠≈→∞√", ("+/-", "x", "<=", ">=", "!=", "~", "->", "inf", "sqrt"), strict=True)),
    **dict(zip("Δασßø", ("delta", "alpha", "sigma", "ss", "o"), strict=True)),
}
"""How letters are written where the output's encoding does not have them."""
HANDLER = "manetlab-plain"
"""The name under which codecs know `plainly`."""


def plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    """Stands in for a letter that an encoding lacks: what is most like it in ASCII, or a question mark.

    A byte of a file's name that is no letter is written as it is, so that the name can be used again.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter, after = error.object[error.start], error.start + 1
    if "\udc80" <= letter <= "\udcff":
        return bytes([ord(letter) - 0xDC00]), after
    parts = PLAIN.get(letter) or unicodedata.normalize("NFKD", letter)
    return "".join(part for part in parts if part.isascii()) or "?", after


def write_what_can_be_written() -> None:
    """Lets no letter end the program that standard output or standard error cannot show."""
    codecs.register_error(HANDLER, plainly)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=HANDLER)
