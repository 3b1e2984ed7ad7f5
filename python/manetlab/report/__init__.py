"""Reports: from the results of a campaign to a page, figures and tables that can go into a paper.

    >>> from manetlab.campaign import Results                   # doctest: +SKIP
    >>> from manetlab.report import answer, write               # doctest: +SKIP
    >>> write(Results.load("reno-f.db"), "reno-f-report")       # doctest: +SKIP
    >>> print(answer(Results.load("reno-f.db")))                # doctest: +SKIP

`study` decides what is compared with what; `outcomes`, `shares`, `losses`, `methods`, `again` and `words`
turn it into figures, tables and sentences; `interactive` and `printed` draw the figures, `tables` and `page`
write the rest. The same results give the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manetlab.report.answers import Answer, answer
    from manetlab.report.writing import write

__all__ = ["Answer", "answer", "write"]


def __getattr__(name: str) -> object:
    if name == "write":
        from manetlab.report.writing import write

        return write
    if name in ("Answer", "answer"):
        from manetlab.report import answers

        return getattr(answers, name)
    raise AttributeError(f"module 'manetlab.report' has no attribute {name!r}")
