"""Compares two sets of verdicts: ``python -m manetlab_papers.compare OLD NEW``.

Each is a record (``verdicts.json``, which `manetlab papers reproduce` keeps in its folder) or a page of
verdicts in Markdown. Printed are the claims whose outcome changed, with what was found before and after, and
how many there are of each change; with ``--all`` every claim.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from manetlab.errors import InputError
from manetlab.files import read_bytes
from manetlab.tables import Table
from manetlab_papers import record

Found = dict[str, tuple[str, str]]
"""Outcome and what was found, by claim."""
_CELL = re.compile(r"(?<!\\)\|")


def verdicts(path: Path) -> Found:
    """The verdicts of a record or a page; of a claim with several that which counts most.

    Raises:
        InputError: The file cannot be read, or holds no verdicts.
    """
    text = read_bytes(path, "set of verdicts").decode("utf-8")
    found = _of_page(text) if path.suffix == ".md" else _of_record(path, text)
    if not found:
        wanted = "verdicts.json, or a page of verdicts"
        raise InputError("there are no verdicts", "command line", str(path), wanted, "name another file")
    return found


def _of_record(path: Path, text: str) -> Found:
    try:
        kept = [record.Entry(**each) for each in json.loads(text)]
    except (ValueError, TypeError) as error:
        hint = "name the verdicts.json that `manetlab papers reproduce` keeps"
        raise InputError("the verdicts cannot be read", str(path), str(error), "verdicts", hint) from None
    return {name: (each.outcome, each.ours) for name, each in record.best(kept).items()}


def _of_page(text: str) -> Found:
    found: Found = {}
    heads: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            heads = []
            continue
        cells = [cell.strip() for cell in _CELL.split(line)[1:-1]]
        if not heads:
            heads = cells
        elif "verdict" in heads and not set(cells[0]) <= {"-", ":"}:
            row = dict(zip(heads, cells, strict=False))
            outcome = row["verdict"].partition(" (part")[0].removesuffix(", stale")
            found[row["claim"]] = (outcome, row["ours"])
    return found


def compared(old: Found, new: Found, *, everything: bool = False) -> list[Table]:
    """How many claims changed how, and which."""
    names = [name for name in {**old, **new} if everything or _outcome(old, name) != _outcome(new, name)]
    counts = Counter((_outcome(old, name), _outcome(new, name)) for name in {**old, **new})
    summary = Table("Verdicts", ("before", "after", "claims"), text_columns=2)
    for (before, after), count in sorted(counts.items()):
        summary.add(before, after, str(count))
    columns = ("claim", "before", "after", "ours before", "ours after")
    changed = Table("All claims" if everything else "Changed verdicts", columns, text_columns=5)
    for name in names:
        ours = (found.get(name, ("", "–"))[1] for found in (old, new))
        changed.add(name, _outcome(old, name), _outcome(new, name), *ours)
    return [summary, changed]


def _outcome(found: Found, name: str) -> str:
    return found[name][0] if name in found else "not tested"


def main(arguments: Sequence[str]) -> None:
    """Prints the comparison in Markdown."""
    names = [each for each in arguments if each != "--all"]
    if len(names) != 2:
        print("usage: python -m manetlab_papers.compare OLD NEW [--all]", file=sys.stderr)
        raise SystemExit(2)
    try:
        old, new = (verdicts(Path(each)) for each in names)
    except InputError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    for table in compared(old, new, everything="--all" in arguments):
        print(table.to_markdown())


if __name__ == "__main__":
    main(sys.argv[1:])
