"""How far guesses about LUNAR decide Figs 10 and 11 of Osipov, Tschudin: ``python -m studies.lunar_guesses``.

One guess is changed at a time, in the networks of these figures, and the paper's claims are judged again with
what came out in LUNAR's place. It prints the tables of docs/models/lunar.md from the runs in studies/kept.
With ``--run`` it first runs what is not kept or stale, and keeps it; a study that was stopped goes on.
With ``--confirm`` it repeats some stale runs, and keeps all as current if these come out the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from manetlab.cli import options
from manetlab.stats import Interval, mean_interval, paired_difference
from manetlab.tables import Table
from manetlab_papers import ledger
from manetlab_papers.campaigns import Scale, parts
from manetlab_papers.functions import load_all
from manetlab_papers.kept_runs import KeptPart, load
from manetlab_papers.ledger import Ledger
from manetlab_papers.quantities import Evaluator, average
from manetlab_papers.reproduce import Keeping, Reproduction
from manetlab_papers.rules import judge
from manetlab_papers.samples import Row, Runs, Tables

HERE = Path(__file__).parent
KEPT, STORES = HERE / "kept" / "lunar-guesses", HERE.parent / "out" / "lunar-guesses"
STANDARD, OPPORTUNISTIC = "LUNAR", "opportunistic LUNAR"
OTHERS = ("AODV-LL", "AODV-HELLO")
SIZE = "movement.areas.forwarders"
APART: Mapping[int, str] = {200: "", 150: "-near"}
"""How far apart areas are, in m, and how the ledger's campaigns of them end."""
NEAR = 150
"""Where most networks are admissible."""
SIZES: Mapping[int, list[int]] = {200: [2, 12], 150: [2, 6, 12]}
FLOWS = [2, 4]
SCALE = Scale(replications=12)
UNSMOOTH, TOTAL = "tcp_unsmoothness_max", "tcp_throughput_bps"
FIGURES = ("osipov2007/fig-10", "osipov2007/fig-11")
CAMPAIGNS = ("osipov-flows", "osipov-ranges")
CLAIMS = ("O-26", "O-27", "O-28", "O-29", "O-30", "O-31", "O-32")
"""The claims in which LUNAR is compared."""

GUESSES: Mapping[str, Mapping[str, Any]] = {
    "hop limit 3": {"hop_limit": 3},
    "hop limit 10": {"hop_limit": 10},
    "no jitter": {"jitter_s": 0.0},
    "jitter 50 ms": {"jitter_s": 0.05},
    "dampening by 1 copy": {"dampening_copies": 1},
    "dampening by 2 copies": {"dampening_copies": 2},
    "dampening by 4 copies": {"dampening_copies": 4},
    "requests remembered 1 s": {"memory_s": 1.0},
    "1 try": {"tries": 1},
    "6 tries": {"tries": 6},
    "retry after 0.2 s": {"retry_s": 0.2},
    "retry after 2 s": {"retry_s": 2.0},
    "equal waits": {"retry_backoff": False},
    "buffer of 8": {"buffer_packets": 8},
    "released at once": {"release_spacing_ms": 0.0},
    "half the lengths": {"rreq_bytes": 20, "rrep_bytes": 20, "header_bytes": 8},
    "twice the lengths": {"rreq_bytes": 80, "rrep_bytes": 72, "header_bytes": 24},
}
"""What else could be read into what is known of both variants, as parameters of `lunar`."""
GUESSES_OF_STANDARD: Mapping[str, Mapping[str, Any]] = {
    "lifetime 4 s": {"lifetime_s": 4.0},
    "lifetime 12 s": {"lifetime_s": 12.0},
    "data prolongs": {"data_prolongs": True},
    "unused paths refreshed": {"refresh_unused": True},
}
"""The same of standard LUNAR; of opportunistic LUNAR the paper says these."""
KNOWN: Mapping[str, Mapping[str, Any]] = {
    "refresh every 1 s": {"refresh_s": 1.0},
    "refresh every 6 s": {"refresh_s": 6.0, "lifetime_s": 12.0},
}
"""No guesses, but to compare with."""
ROUTING = {STANDARD: "lunar:standard", OPPORTUNISTIC: "lunar:opportunistic"}


def systems() -> dict[str, tuple[str, str, Mapping[str, Any]]]:
    """All that is run of LUNAR, by label: the variant, the guess (empty: defaults), and its parameters."""
    found: dict[str, tuple[str, str, Mapping[str, Any]]] = {}
    for variant in ROUTING:
        own = {**GUESSES, **GUESSES_OF_STANDARD, **KNOWN} if variant == STANDARD else GUESSES
        for guess, fields in {"": {}, **own}.items():
            found[f"{variant}, {guess}" if guess else variant] = (variant, guess, fields)
    return found


def asked(loaded: Ledger) -> Ledger:
    """The ledger, with all readings of LUNAR in the campaigns of Figs 9 to 11."""
    made = {
        label: {
            "routing": ROUTING[variant],
            "throttle": {"mode": "preset"},
            **({"lunar": fields} if fields else {}),
        }
        for label, (variant, _, fields) in systems().items()
    }
    arms = {**loaded.arms["osipov-routing"], **made}
    campaigns = dict(loaded.campaigns)
    for apart, end in APART.items():
        ranges, flows = campaigns[f"osipov-ranges{end}"], campaigns[f"osipov-flows{end}"]
        factors = {**ranges["factors"], "system": {"arms": "guesses", "labels": [*OTHERS, *made]}}
        quick = {"flows": FLOWS, SIZE: SIZES[apart]}
        campaigns[f"osipov-ranges{end}"] = {**ranges, "factors": factors, "quick": quick}
        campaigns[f"osipov-flows{end}"] = {**flows, "quick": {"flows": [1, *FLOWS]}}
    return replace(loaded, arms={**loaded.arms, "guesses": arms}, campaigns=campaigns)


@click.command()
@click.option("--run", is_flag=True, help="Run what is not kept or stale, and keep it.")
@click.option("--fresh", is_flag=True, help="Run everything.")
@click.option(
    "--confirm", is_flag=True, help="Repeat two runs of each stale point; keep all if they are equal."
)
@options.JOBS
def main(run: bool, fresh: bool, confirm: bool, jobs: int | None) -> None:
    """Change one guess about LUNAR at a time, and print what that does to the paper's figures and claims."""
    loaded = asked(ledger.load())
    if run or fresh or confirm:
        keeping = Keeping(KEPT, taken=not fresh, renewed=True)
        reproduction = Reproduction(loaded, SCALE, STORES, jobs, keeping=keeping)
        figures = [loaded.experiment(figure) for figure in FIGURES]
        for made in reproduction.confirm(figures, 2) if confirm else ():
            outcome = "not confirmed" if made.kept is None else "confirmed"
            click.echo(f"{made.campaign}: {outcome}, {made.runs} runs made again", err=True)
        if run or fresh:
            for figure in figures:
                reproduction.make(figure)
    found = kept(loaded)
    for name, part in found.items():
        for code, changed in part.stale.items():
            click.echo(f"{name}: stale, made by {code}; since then changed: {', '.join(changed)}", err=True)
    for table in tables(loaded, {name: part.tables() for name, part in found.items()}):
        click.echo(table.to_markdown())


def kept(loaded: Ledger) -> dict[str, KeptPart]:
    """What is kept of the campaigns, by their names: flows with static routes, and with routing protocols."""
    found = {}
    for name in (f"{name}{end}" for end in APART.values() for name in CAMPAIGNS):
        for part in parts(loaded, name, SCALE):
            runs = load(KEPT, SCALE.name, part)
            if runs is None or not runs.is_complete:
                raise click.UsageError(f"not all runs of {name} are kept: use --run")
            found[name] = runs
    return found


# What came out.


def evaluator(loaded: Ledger, runs: Mapping[str, Tables], apart: int, chosen: Mapping[str, str]) -> Evaluator:
    """Evaluates the paper's quantities with some systems in LUNAR's place, and areas so far apart.

    The ledger's rules read the campaigns with areas 150 m apart, whose place the others take.

    Args:
        loaded: The ledger.
        runs: The kept runs of each campaign.
        apart: How far apart areas are, in m.
        chosen: The system that stands for each variant.
    """
    load_all()
    found = Runs()
    named = {**{each: each for each in OTHERS}, **{system: variant for variant, system in chosen.items()}}

    def renamed(rows: Sequence[Row]) -> list[Row]:
        return [{**row, "system": named[row["system"]]} for row in rows if row["system"] in named]

    for name in CAMPAIGNS:
        of = runs[f"{name}{APART[apart]}"]
        with_routing = "system" in of.runs[0]
        found.add(
            f"{name}{APART[NEAR]}", Tables({}, renamed(of.runs), renamed(of.flows)) if with_routing else of
        )
    return Evaluator(loaded, found, full=False)


def readings() -> Iterator[tuple[str, dict[str, str]]]:
    """Every guess, and the systems that stand for the variants if it is changed in all that it concerns."""
    made = systems()
    for guess in ["", *GUESSES, *GUESSES_OF_STANDARD, *KNOWN]:
        label = {variant: f"{variant}, {guess}" if guess else variant for variant in ROUTING}
        yield guess or "defaults", {each: label[each] if label[each] in made else each for each in ROUTING}


def tables(loaded: Ledger, runs: Mapping[str, Tables]) -> Iterator[Table]:
    """The tables of docs/models/lunar.md."""
    for apart in APART:
        yield verdicts(loaded, runs, apart)
    for variant in ROUTING:
        yield effects(loaded, runs, variant)


def judged(
    loaded: Ledger, runs: Mapping[str, Tables], apart: int, chosen: Mapping[str, str]
) -> dict[str, str]:
    """The verdict on each claim, with these systems in LUNAR's place."""
    with_these = evaluator(loaded, runs, apart, chosen)
    return {claim: judge(loaded.claims[claim], with_these).outcome.value for claim in CLAIMS}


def verdicts(loaded: Ledger, runs: Mapping[str, Tables], apart: int) -> Table:
    """The verdicts with the defaults, and those that another reading changes."""
    table = Table(f"Verdicts with areas {apart} m apart", ("guess", *CLAIMS), text_columns=1 + len(CLAIMS))
    before: dict[str, str] | None = None
    for guess, chosen in readings():
        found = judged(loaded, runs, apart, chosen)
        if before is None:
            before = found
            table.add(guess, *found.values())
        elif found != before:
            table.add(guess, *(new if new != before[claim] else "" for claim, new in found.items()))
    same = [guess for guess, chosen in readings() if judged(loaded, runs, apart, chosen) == before]
    table.notes.append(f"All other readings change no verdict: {', '.join(same[1:])}.")
    return table


def effects(loaded: Ledger, runs: Mapping[str, Tables], variant: str) -> Table:
    """What each guess does to the right borders (Fig. 10) and routing loads (Fig. 11) of a variant."""
    nodes = " / ".join(str(8 + size) for size in SIZES[NEAR])
    heads = (
        "guess",
        *(f"right border, {apart} m, nodes" for apart in APART),
        *(f"routing load, {apart} m, %" for apart in APART),
        f"unsmoothness, {NEAR} m, {nodes} nodes",
        f"total, {NEAR} m, {8 + SIZES[NEAR][-1]} nodes, kb/s",
    )
    table = Table(f"What changes {variant}", heads, text_columns=1)
    before: list[float] = []
    for label, (of, guess, _) in systems().items():
        if of != variant:
            continue
        at = {apart: evaluator(loaded, runs, apart, {variant: label}) for apart in APART}
        smooth = [at[NEAR].values({**_four(variant, size), "measure": UNSMOOTH}) for size in SIZES[NEAR]]
        total = at[NEAR].values({**_four(variant, SIZES[NEAR][-1]), "measure": TOTAL, "times": 1e-3})
        before = before or total
        change = show(paired_difference(total, before).difference, 0, "+")
        table.add(
            guess or "defaults",
            *(_borders(each, variant, SIZES[apart][-1]) for apart, each in at.items()),
            *(_loads(each, variant) for each in at.values()),
            " / ".join(map(_smooth, smooth)),
            change if guess else show(mean_interval(total), 0),
        )
    table.notes.append(
        "Right borders and routing loads are those of 2 / 4 flows, unsmoothness and totals those of 4. "
        "Below the first row totals are paired differences from the defaults."
    )
    return table


def _four(variant: str, size: int) -> dict[str, Any]:
    """A network with four flows."""
    return {"runs": f"osipov-ranges{APART[NEAR]}", "system": variant, "flows": 4, SIZE: size}


def _borders(evaluated: Evaluator, variant: str, most: int) -> str:
    """The right borders; the largest network that was run may not be one."""
    found = []
    for flows in FLOWS:
        border = evaluated.computed({"quantity": "osipov-border", "system": variant, "flows": flows})
        assert isinstance(border, float)
        found.append(f"{'≥ ' if border == 2 * flows + most else ''}{border:.0f}" if border else "none")
    return " / ".join(found)


def _loads(evaluated: Evaluator, variant: str) -> str:
    """The equivalent routing loads."""
    quantity = {"quantity": "osipov-load", "system": variant}
    found = [evaluated.values({**quantity, "flows": flows}) for flows in FLOWS]
    return " / ".join(show(mean_interval(each), 1) for each in found)


def _smooth(values: list[float]) -> str:
    """The mean of the runs in which every flow got something, marked if there are others."""
    lacking = sum(map(math.isnan, values))
    return f"{average(values):.2f}{f' (not {lacking} runs)' if lacking else ''}"


def show(interval: Interval, digits: int, sign: str = "") -> str:
    """An interval; what rounds to nothing has no sign."""
    mean = round(interval.mean, digits) or 0.0
    return f"{mean:{sign if mean else ''}.{digits}f} ± {interval.half_width:.{digits}f}".replace("-", "−")


if __name__ == "__main__":
    main()
