"""What the command line makes of its surroundings: the encoding of its output, and Ctrl-C."""

from __future__ import annotations

import _thread
import codecs
import sys
import time
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
PAUSE_S = 0.01
"""How long after Python has dropped Ctrl-C it is brought back, in s."""
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


def keep_interrupts() -> None:
    """Brings Ctrl-C back where Python drops it.

    Its handler runs wherever the program just is. If that is a callback whose exceptions cannot be passed on,
    such as that of a weak reference, Python prints the exception and goes on as if nothing had happened.
    """
    told = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            # Not here: it would be raised in this function, and be dropped once more.
            _thread.start_new_thread(_interrupt_soon, ())
        else:
            told(unraisable)

    sys.unraisablehook = hook


def _interrupt_soon() -> None:
    time.sleep(PAUSE_S)
    _thread.interrupt_main()
