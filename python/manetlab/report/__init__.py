"""Reports: from the results of a campaign to a page, figures and tables that can go into a paper.

    >>> import manetlab
    >>> from manetlab.report import answer, write
    >>> transfer = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.0}
    >>> base = {"movement": {"chain": {"nodes": 3}}, "traffic": {"flows": [transfer]}, "duration_s": 5.0}
    >>> factors = {"tcp.sender": ["reno", "cubic"]}
    >>> results = manetlab.Campaign(base=base, factors=factors, replications=3, name="senders").run()
    >>> print(str(answer(results)).splitlines()[-1])
    TCP throughput is the same with cubic and reno in every pair ...; 3 pairs).
    >>> "index.html" in {file.name for file in write(results, "senders-report")}
    True

`study` decides what is compared with what; `outcomes`, `shares`, `losses`, `methods`, `conclusions` and
`plain` turn it into figures, tables and sentences, `brief` into one page; `interactive` and `printed` draw
the figures, `tables` and `page` write the rest. The same results give the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manetlab.report.answers import Answer, answer
    from manetlab.report.writing import write, write_brief

__all__ = ["Answer", "answer", "write", "write_brief"]


def __getattr__(name: str) -> object:
    if name in ("write", "write_brief"):
        from manetlab.report import writing

        return getattr(writing, name)
    if name in ("Answer", "answer"):
        from manetlab.report import answers

        return getattr(answers, name)
    raise AttributeError(f"module 'manetlab.report' has no attribute {name!r}")
