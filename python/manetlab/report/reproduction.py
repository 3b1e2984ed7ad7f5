"""Where the results come from, and what to do to get them again."""

from __future__ import annotations

import shlex
from pathlib import Path

from manetlab.report import replays
from manetlab.report.page import Part, Section
from manetlab.report.replays import AllPlayed
from manetlab.report.study import Study
from manetlab.report.tables import Cell, Column, DataTable


def section(study: Study, played: AllPlayed | None) -> Section:
    """Provenance, the campaign as a file, and the commands that run it and write this report."""
    text = (
        "Save the campaign below under the name in the command, beside the files that it names. Check out "
        "the commit and run these commands. The results are bit-identical on every machine."
    )
    parts = [
        Part(commands=commands(study)),
        Part("The campaign", commands=[definition(study)]),
        Part("Provenance", tables=[table(study)]),
    ]
    if (single := replays.part(study, played)) is not None:
        parts.insert(1, single)
    return Section("again", "Reproduce the results", parts, [text], folded=True)


def commands(study: Study) -> list[str]:
    """The commands that reproduce the results and this report."""
    name = file_name(study)
    store = study.results.store
    kept = Path(store).name if store is not None else f"{Path(name).stem}.db"
    report = ["manetlab", "report", kept]
    # The campaign says what is compared; only a mere mean has no place in it for its confidence.
    if study.family is None and study.confidence != 0.95:
        report += ["--confidence", f"{study.confidence:g}"]
    return [f"{shlex.join(['manetlab', 'campaign', 'run', name, '--store', kept])}\n{shlex.join(report)}"]


def file_name(study: Study) -> str:
    """A file name for the campaign."""
    from manetlab.report.tables import slug

    return f"{slug(study.campaign.name)}.toml"


def definition(study: Study) -> str:
    """The campaign as TOML."""
    import tomli_w

    return tomli_w.dumps(study.campaign.to_dict()).strip()


def table(study: Study) -> DataTable:
    """What made the results: code, machines, dependencies, scenarios, times."""
    known = study.results.provenance_in_short
    columns = (Column("what", "what", is_text=True), Column("value", "value", is_text=True, is_long=True))
    data_table = DataTable("provenance", "Provenance", columns)
    rows = [
        ("code", "; ".join(known["code"])),
        ("platforms", "; ".join(known["platforms"])),
        ("dependencies, SHA-256", str(known["dependencies_hash"] or "–")),
        ("runs made from", str(known["started"] or "–")),
        ("to", str(known["ended"] or "–")),
        ("events simulated", str(known["events"])),
        ("CPU time of the runs", f"{known['cpu_time_s']:.1f} s"),
        ("scenarios", f"{study.results.scenario_count} different resolved scenarios"),
    ]
    for what, value in rows:
        data_table.add(what, Cell(value, value, is_code="SHA" in what))
    return data_table
