"""Every remedy for TCP over breaking routes on the same networks: ``python -m studies.remedies``.

It makes the page of remedies and its figures from the kept results in papers/studies/kept, in out/pages
(``--pages``). With ``--store`` it first runs what is not kept, and keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import pandas as pd

from manetlab.campaign import Campaign
from manetlab.cli import options
from manetlab.files import write_text
from manetlab.tables import Table, with_minus
from studies import PAGES_OPTION
from studies.drawing import svg
from studies.outage import Outage, outage
from studies.pages import words
from studies.ranking import PLAIN, Standing, can_be_best, standings
from studies.runs import with_code, write_kept

HERE = Path(__file__).parent
CAMPAIGN, WORDS, KEPT = HERE / "remedies.toml", HERE / "remedies-words.md", HERE / "kept" / "remedies.parquet"
PAGE, FIGURES = Path("remedies.md"), Path("figures/remedies")
"""The page and its figures, in the folder of the studies' pages."""
SESSIONS, SPEEDS = (1, 10), (2, 5, 10, 20, 30)
PLACES = ["sessions", "speed", "system", "replication"]
COLUMNS = [*PLACES, "seed", "tcp_throughput_bps", "tcp_timeouts", "result_hash", "code", "cpu_time_s"]


@click.command()
@click.option("--store", type=options.PATH, help="Run what is not kept, with this store, and keep it.")
@click.option("--fresh", is_flag=True, help="With --store: run everything.")
@PAGES_OPTION
@options.JOBS
def main(store: Path | None, fresh: bool, pages: Path, jobs: int | None) -> None:
    """Run the campaign of remedies, and write its page and figures."""
    runs = None if fresh or not KEPT.exists() else pd.read_parquet(KEPT)
    if store is not None:
        runs = completed(runs, store, jobs)
        KEPT.parent.mkdir(exist_ok=True)
        write_kept(runs, KEPT)
    if runs is None:
        raise click.UsageError("nothing is kept: run the campaign with --store FILE")
    shown = outages()
    (pages / FIGURES).mkdir(parents=True, exist_ok=True)
    for name, made in shown.items():
        (pages / FIGURES / f"{slug(name)}.svg").write_text(svg(made.timeline), encoding="utf-8")
    write_text(pages / PAGE, page(runs, shown))


def completed(runs: pd.DataFrame | None, store: Path, jobs: int | None) -> pd.DataFrame:
    """The kept runs and those of systems of which none are kept, or fewer replications than are wanted."""
    campaign = Campaign.load(CAMPAIGN)
    missing = [each for each in campaign.factors["system"] if not _is_kept(runs, campaign, each["label"])]
    if not missing:
        assert runs is not None
        return runs
    made = campaign.changed(factors={**campaign.factors, "system": missing}).run(store, jobs=jobs)
    new = with_code(made).rename(columns={"traffic.random.tcp": "sessions"})
    labels = {each["label"] for each in missing}
    kept = [] if runs is None else [runs[~runs["system"].isin(labels)]]
    both = pd.concat([*kept, new[COLUMNS]])
    order = {each["label"]: place for place, each in enumerate(campaign.factors["system"])}
    both["place"] = both["system"].map(order)
    return both.sort_values(["sessions", "speed", "place", "replication"])[COLUMNS].reset_index(drop=True)


def _is_kept(runs: pd.DataFrame | None, campaign: Campaign, system: str) -> bool:
    if runs is None:
        return False
    wanted = len(SESSIONS) * len(SPEEDS) * campaign.replications
    return len(runs[runs["system"] == system]) == wanted


def outages() -> dict[str, Outage]:
    """The outage under every remedy over DSR, by the remedy's name."""
    campaign = Campaign.load(CAMPAIGN)
    made = {}
    for level in campaign.factors["system"]:
        routing, _, remedy = level["label"].partition(", ")
        if routing == "DSR":
            made[remedy] = outage(f"{remedy} over {level['fields']['routing']}", level["fields"])
    return made


def slug(name: str) -> str:
    """A name as the name of a file."""
    return "-".join(name.lower().replace("–", "-").replace("+", "and").split())


def page(runs: pd.DataFrame, shown: dict[str, Outage]) -> str:
    """The page, in Markdown."""
    systems = list(dict.fromkeys(runs["system"]))
    listed_by = ranked(runs)
    said = words(WORDS)
    lines = [
        said["head"].format(
            systems=len(systems),
            runs=len(runs),
            minutes=f"{runs['cpu_time_s'].sum() / 60:.0f}",
            replications=runs["replication"].nunique(),
            code=", ".join(sorted(set(runs["code"]))),
            pairs=len(SESSIONS) * len(systems) * (len(systems) - 1) // 2,
            gains=gains_of(systems),
        ),
        "",
        *(sentence(sessions, listed) for sessions, listed in listed_by.items()),
        "",
        said["reading"],
        "",
        *(ranking(sessions, listed).to_markdown() for sessions, listed in listed_by.items()),
        by_speed(runs, len(systems)).to_markdown(),
        said["elsewhere"],
        "",
        said["outage"],
        "",
        in_outage(shown).to_markdown(),
    ]
    for name, made in shown.items():
        lines += [f"### {name}", "", said[name], "", _figure(name, made), ""]
    return "\n".join(lines).rstrip() + "\n"


def gains_of(systems: Sequence[str]) -> int:
    """How many gains over Reno the tables have."""
    return len(SESSIONS) * sum(not system.endswith(f", {PLAIN}") for system in systems)


def ranked(runs: pd.DataFrame) -> dict[int, list[Standing]]:
    """The systems at each number of sessions, over all speeds."""
    gains = gains_of(list(dict.fromkeys(runs["system"])))
    return {sessions: standings(runs, sessions, SPEEDS, len(SESSIONS), gains) for sessions in SESSIONS}


def _figure(name: str, made: Outage) -> str:
    timeouts = "1 timeout" if made.timeouts == 1 else f"{made.timeouts} timeouts"
    text = f"{name}: {made.segments} segments in order after 60 s, {timeouts}"
    return f"![{text}]({FIGURES}/{slug(name)}.svg)"


def sentence(sessions: int, listed: list[Standing]) -> str:
    """Which systems can be the best."""
    names = can_be_best(listed)
    what = "one session" if sessions == 1 else f"{sessions} sessions"
    if len(names) == 1:
        return f"- **With {what}, {names[0]} is the best.** Every other system is significantly worse."
    first, *others = names
    return (
        f"- **With {what}, {first} has the greatest mean.** Not distinguishable from it: "
        f"{'; '.join(others)}. The other {len(listed) - len(names)} systems are significantly worse."
    )


def ranking(sessions: int, listed: list[Standing]) -> Table:
    """All systems by throughput."""
    what = "One session" if sessions == 1 else f"{sessions} sessions together"
    columns = (
        "routing, remedy",
        "throughput, kb/s",
        "more than Reno, kb/s",
        "adjusted p",
        "behind the best other, kb/s",
        "can be the best",
    )
    table = Table(f"{what}, mean over all speeds", columns)
    for each in listed:
        gain = "–"
        if each.gain is not None:
            ends = f"{each.gain.low:+.0f} to {each.gain.high:+.0f}"
            gain = f"{each.gain.mean:+.0f} ({ends}), {each.percent:+.0f} %"
        p = "–" if each.p is None else "< 0.001" if each.p < 0.001 else f"{each.p:.2g}"
        behind = each.best.difference
        table.add(
            each.system,
            f"{each.kbps.mean:.0f} ± {each.kbps.half_width:.0f}",
            with_minus(gain),
            p,
            f"{max(0.0, -behind.high):.0f} to {-behind.low:.0f}",
            {"worse": "no"}.get(each.verdict, "yes"),
        )
    return table


def by_speed(runs: pd.DataFrame, count: int) -> Table:
    """At each speed the greatest mean, what it gains, and how many systems can be the best."""
    cells = len(SESSIONS) * len(SPEEDS)
    columns = (
        "sessions, speed",
        "greatest mean",
        "kb/s",
        "Reno over DSR, AODV, ADV, kb/s",
        "can be the best",
    )
    table = Table("At each speed", columns, text_columns=2)
    for sessions in SESSIONS:
        for speed in SPEEDS:
            listed = standings(runs, sessions, [speed], cells, 1)
            means = {each.system: each.kbps.mean for each in listed}
            plain = ", ".join(f"{means[f'{routing}, Reno']:.0f}" for routing in ("DSR", "AODV", "ADV"))
            names = can_be_best(listed)
            shown = "; ".join(names) if len(names) < 5 else f"{len(names)} of {count}"
            best = listed[0]
            kbps = f"{best.kbps.mean:.0f} ± {best.kbps.half_width:.0f}"
            table.add(f"{sessions}, {speed} m/s", best.system, kbps, plain, shown)
    return table


def in_outage(shown: dict[str, Outage]) -> Table:
    """What each remedy makes of the outage."""
    columns = (
        "remedy",
        "silent after the first break, s",
        "new data after the path is back, s",
        "timeouts",
        "segments in 60 s",
    )
    table = Table("The outage under each remedy", columns)
    for name, made in shown.items():
        resumed = "not before the end" if made.resumed_s is None else f"{made.resumed_s:.1f}"
        table.add(name, f"{made.first_gap_s:.1f}", resumed, str(made.timeouts), str(made.segments))
    return table


if __name__ == "__main__":
    main()
