"""Reads numbers out of the ledger's words: ``50 Kbps from 10 CBR connections`` has two.

The ledger keeps set-ups as the papers word them. Every number that a scenario takes from there goes through
these functions, and a wording that they do not understand is an error, never a default.
"""

from __future__ import annotations

import re

from manetlab.errors import InputError, shown

_NUMBER = r"(\d[\d,]*\.?\d*)"


def number(text: object, unit: str) -> float:
    """The first number that stands before ``unit``, as in ``200 m`` or ``512-byte packets``.

    Raises:
        InputError: There is none.
    """
    found = re.search(rf"{_NUMBER}[\s-]*{re.escape(unit)}(?!\w)", str(text))
    if found is None:
        raise _unread(text, f"a number of {unit}")
    return _value(found[1])


def whole(text: object, unit: str) -> int:
    """The same, a whole number.

    Raises:
        InputError: There is none.
    """
    value = number(text, unit)
    if value != int(value):
        raise _unread(text, f"a whole number of {unit}")
    return int(value)


def after(text: object, word: str) -> float:
    """The first number that stands after ``word``, as in ``initial 3 s``.

    Raises:
        InputError: There is none.
    """
    found = re.search(rf"(?<!\w){re.escape(word)}[^\d;,]*?{_NUMBER}", str(text))
    if found is None:
        raise _unread(text, f"a number after “{word}”")
    return _value(found[1])


def two(text: object, between: str, unit: str) -> tuple[float, float]:
    """Two numbers with something in between, as in ``1000 m x 1000 m`` or ``0-20 m/s``.

    Raises:
        InputError: There are none.
    """
    found = re.search(rf"{_NUMBER}\s*{between}\s*{_NUMBER}\s*{re.escape(unit)}(?!\w)", str(text))
    if found is None:
        raise _unread(text, f"two numbers of {unit}")
    return _value(found[1]), _value(found[2])


def listed(text: object, before: str) -> list[int]:
    """All whole numbers that stand before a word, as in ``2, 5 or 10 FTP transfers``.

    Raises:
        InputError: There are none.
    """
    found = re.findall(r"\d+", str(text).partition(before)[0])
    if not found or before not in str(text):
        raise _unread(text, f"numbers before “{before}”")
    return list(map(int, found))


def bounds(text: object) -> tuple[float, float]:
    """Two numbers in brackets, as in ``in [1.3, 3.5]``.

    Raises:
        InputError: There are none.
    """
    found = re.search(rf"\[{_NUMBER}, {_NUMBER}\]", str(text))
    if found is None:
        raise _unread(text, "two numbers in brackets")
    return _value(found[1]), _value(found[2])


def says(text: object, word: str) -> bool:
    """Whether the text has this word."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", str(text)) is not None


def require(text: object, words: str) -> None:
    """Checks that the text has these words, on which the code that follows relies.

    Raises:
        InputError: It has not.
    """
    if not says(text, words):
        raise _unread(text, f"“{words}”")


def span(text: object) -> tuple[int, int]:
    """A range of whole numbers as in ``1..8``.

    Raises:
        InputError: There is none.
    """
    found = re.search(r"(\d+)\.\.(\d+)", str(text))
    if found is None:
        raise _unread(text, "a range such as 1..8")
    return int(found[1]), int(found[2])


def _value(digits: str) -> float:
    return float(digits.rstrip(".,").replace(",", ""))


def _unread(text: object, wanted: str) -> InputError:
    hint = "the ledger's wording changed; teach the experiment to read it"
    return InputError("the ledger's words are not understood", "ledger", shown(text), wanted, hint)
