"""Texts that users meet are plain English: phrases that were foreign do not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FOREIGN = {
    r"\b(this|which|that) is no (scenario|store|error|share|option|value|level|session|file)\b": "is not a",
    r"\btable is none\b": "the table is empty",
    r"\bneeded value\b": "missing key",
    r"\bthere is no such\b": "no such",
    r"\bas often as (it|they) may\b": "up to N times, at the maximum rate",
    r"\b(hops|packets|bytes|s|kb/s) in the mean\b": "on average",
    r"\b(not|nothing is|is) decided (at|in|by)\b": "significant",
    r"\bthe same figures\b": "the results, the same values",
    r"\bmended\b": "fixed",
    r"\bwhich ns-2 has not\b": "which ns-2 lacks",
    r"\b(least|greatest) (RTO|speed|value|time|length|number|distance)\b": "minimum, maximum",
    r"\bnothing is supposed\b": "distribution-free",
    r"\bforetells?\b": "estimates",
    r"\bwhere are the rims\b": "tails",
    r"\bwhile which runs\b": "while it runs",
    r"\b[Oo]f what a loss leaves\b": "at a loss",
    r"\bstands? in \[": "is in, see",
    r"\bbe careful\b": "caveats",
    r"\badjusted for 1 comparisons\b": "1 comparison",
    r"\bas the system\b": "system",
    r"\b(is|are) no random sample\b": "is not a",
    r"\b(who talks to whom|who moves where)\b": "the flows between nodes, the movement",
    r"\bwhere (all|the) nodes (are and )?go\b": "the nodes' tracks",
    r"\b(run|one|network) as made\b": "original",
    r"\bno protocol escapes\b": "count everything",
    r"\bwhere the metric can be\b": "within the metric's bounds",
    r"\bnot shown to be\b": "these runs cannot confirm it",
    r"\bnone is shown to be\b": "no significant difference",
    r"\b(call it in|typed? along)\b": "run it in",
    r"\b(comparisons|intervals) hold together\b": "family-wise confidence",
    r"\bquestion (was |is )?tested\b": "a fair test",
    r"\bbetter high nor low\b": "neither higher nor lower is better",
    r"\bin no time\b": "without delay",
    r"\bthings otherwise\b": "differently",
    r"\bsay (their|its) (first )?hello\b": "send",
    r"\b(is|are|was|were) told (of|to|nothing|about)\b": "notified of, reported to",
    r"\brefused in words\b": "with a reason",
    r"[.:] Who (makes|changes|has)\b|\bwhoever (makes|changes)\b": "if you make",
    r"\bso many\b": "N, the number of",
    r"\blists? of packets\b": "packet traces",
    r"\bmust be searched for\b": "found by searching",
    r"\bwith significance\b": "significantly",
    r"\bgiven to nobody\b": "not redistributed",
    r"\bfield is flat\b": "a plane",
    r"\b(draws?|movements?|instants?|runs|experiments) ((that )?(are|is|were) )?looked at\b": "examined",
    r"\bwhich is if\b": "exactly when",
}
"""What is not to be written, as regular expressions without regard to case, and what is written instead."""

QUOTING = {
    "papers.md",
}
"""Pages that quote papers."""


def pages() -> list[Path]:
    """README, the pages of docs, and the other pages at the top."""
    found = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "docs" / "tutorial.ipynb"])
    return [page for page in found if page.name not in QUOTING and page.parent.name != "papers"]


def modules() -> list[Path]:
    """The package's modules, without the papers', whose texts are quotations."""
    package = ROOT / "python" / "manetlab"
    return sorted(path for path in package.rglob("*.py") if "papers" not in path.parts)


def literals(module: Path) -> Iterator[str]:
    """The string literals of a module but for docstrings of functions that are no command."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and not getattr(node, "decorator_list", []) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                skipped.add(id(first.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def foreign(text: str) -> list[str]:
    """The phrases of the list that a text has."""
    joined = " ".join(text.split())
    return [found[0] for phrase in FOREIGN for found in re.finditer(phrase, joined, re.IGNORECASE)]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_have_no_foreign_phrase(page: Path) -> None:
    assert foreign(page.read_text(encoding="utf-8")) == []


def test_messages_and_help_have_no_foreign_phrase() -> None:
    told = {
        str(module.relative_to(ROOT)): found
        for module in modules()
        if (found := [phrase for text in literals(module) for phrase in foreign(text)])
    }
    assert told == {}


def test_messages_of_the_binding_and_the_readers_have_no_foreign_phrase() -> None:
    told = {}
    for source in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        strings = re.findall(r'"((?:[^"\\\n]|\\.)*)"', source.read_text(encoding="utf-8"))
        if "tests" not in source.parts and (found := [each for text in strings for each in foreign(text)]):
            told[str(source.relative_to(ROOT))] = found
    assert told == {}


def test_the_list_finds_its_own_phrases() -> None:
    assert foreign("this is no\nscenario") == ["this is no scenario"]
    assert foreign("Every so many seconds, 3 hops in the mean, found and mended.") == [
        "hops in the mean",
        "mended",
        "so many",
    ]
    assert foreign("There is no error here, and nothing to fix.") == []
