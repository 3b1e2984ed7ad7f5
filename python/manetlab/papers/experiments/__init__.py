"""The experiments of the ledger that can be run here, by id.

A module makes one experiment or a family. docs/papers-how-to.md says how to add one.
"""

from __future__ import annotations

from functools import cache

from manetlab.papers.study import Study


@cache
def studies() -> dict[str, Study]:
    """Every experiment that can be run, in the ledger's order."""
    from manetlab.papers import ledger
    from manetlab.papers.experiments import (
        buffer_times,
        cached_replies,
        connections,
        crowds,
        datagrams,
        fairness,
        fixed_topologies,
        http,
        http_paper,
        mixes,
        one_tcp,
        one_udp,
        outages,
        quoted,
        random_topology,
        ranks,
        rectangles,
        several_tcp,
        state_diagrams,
        table_1_1,
        table_5_1,
        transient,
        tuning,
        video_costs,
        video_figures,
    )

    modules = (
        *(quoted, table_1_1, connections, rectangles, transient, tuning, one_tcp, several_tcp),
        *(state_diagrams, outages, cached_replies),
        *(buffer_times, ranks, table_5_1, one_udp, datagrams, video_figures, video_costs),
        *(http, mixes, http_paper, fixed_topologies, fairness, random_topology, crowds),
    )
    known = {study.id: study for module in modules for study in module.STUDIES}
    return {key: known[key] for key in ledger.load().experiments if key in known}
