"""Reports: from the results of a campaign to a page, figures and tables that can go into a paper.

    >>> from manetlab.campaign import Results                   # doctest: +SKIP
    >>> from manetlab.report import write                       # doctest: +SKIP
    >>> write(Results.load("reno-f.db"), "reno-f-report")       # doctest: +SKIP

`study` decides what is compared with what; `outcomes`, `shares`, `losses`, `methods`, `again` and `words`
turn it into figures, tables and sentences; `interactive` and `printed` draw the figures, `tables` and `page`
write the rest. The same results give the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manetlab.report.writing import write

__all__ = ["write"]


def __getattr__(name: str) -> object:
    if name == "write":
        from manetlab.report.writing import write

        return write
    raise AttributeError(f"module 'manetlab.report' has no attribute {name!r}")
