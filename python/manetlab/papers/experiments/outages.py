"""What a route failure does to Reno and to Reno-F: Figs 4.10 to 4.17 of the dissertation.

The figures show one average and one worst scenario, which are not available. Both are chosen here by the
ledger's rule among the scenarios that are run, and the ensemble is shown beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from manetlab.papers import capacity, wording
from manetlab.papers.evidence import Also, Change, Level, Ruled, Single, Values, percent, shown
from manetlab.papers.experiments import chains, ftp
from manetlab.papers.experiments.ftp import ADV, AODV, METRIC, RENO, RENO_F, Cell
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import ROUTINGS, base, tcp, technique
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import Outcome, level
from manetlab.scenario import Scenario
from manetlab.stats import mean_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ALONE, WITH_LOAD, WORST, WORST_ADV = (f"dyer2002/fig-4.{number}" for number in (10, 13, 14, 16))
FIXED_PATH = "dyer2002/fig-4.10/fixed-path"
QUICK = "20 of the 50 scenarios; each as long as the paper's"
SENDERS = [{"label": label, "fields": technique(label)} for label in (RENO, RENO_F)]
REPAIR, LONGEST_REPAIR, GAP = "route_repair_mean_s", "route_repair_max_s", "longest_gap_s"


def campaign(ledger: Ledger, scale: Scale, key: str) -> Campaign:
    """Reno and Reno-F in the set-up of a figure that begins with the simulation."""
    from manetlab.campaign import Campaign

    length_s = wording.number(ledger.assumptions["run-length-when-started-at-0"].text, "s")
    choice = ledger.assumptions["scenario-choice"].text
    return Campaign(
        name=key,
        question="How much of the capacity does TCP use, and what does a route failure cost?",
        base=ftp.square(ledger, cell(ledger, key), AODV, scale.times(0.0, length_s)),
        factors={"technique": SENDERS},
        replications=scale.scenarios(ledger, wording.whole(choice, "scenarios")),
        metrics=[METRIC],
    )


def cell(ledger: Ledger, key: str) -> Cell:
    """One transfer beside the background of a figure."""
    if ledger.experiments[key].setup["background"] == "none":
        return Cell(1, 0.0, 0)
    [found] = ftp.cells(ledger, key)
    return found


def worst_campaign(ledger: Ledger, scale: Scale, key: str, protocol: str) -> Campaign:
    """Reno and Reno-F among which the worst scenario is looked for."""
    from manetlab.campaign import Campaign

    setup = ledger.experiments[key].setup
    times = scale.times(setup["warmup_s"], setup["duration_s"])
    return Campaign(
        name=key,
        question="What does a route failure cost where it costs most?",
        base=ftp.square(ledger, cell(ledger, key), protocol, times),
        factors={"technique": SENDERS},
        replications=scale.scenarios(
            ledger, wording.whole(ledger.assumptions["scenario-choice"].text, "scenarios")
        ),
        metrics=[METRIC],
    )


def fixed_path(ledger: Ledger, scale: Scale) -> Campaign:
    """Chains of the lengths that D4-53 speaks of, over AODV."""
    from manetlab.campaign import Campaign

    claim, experiment = ledger.claim("D4-53"), ledger.experiments[ALONE]
    duration = ledger.assumptions["duration"].text
    spacing_m = chains.spacing_m(ledger, "node-spacing")
    lengths = {label: wording.whole(label, "hops") for label in claim.at}
    fields = base(ledger, experiment, tcp(experiment), {"routing": ROUTINGS[AODV]})
    fields = {name: value for name, value in fields.items() if name not in ("movement", "traffic")}
    times = scale.times(wording.number(duration, "s warm-up"), wording.number(duration, "s measured"))
    senders = _senders(claim)
    return Campaign(
        name=FIXED_PATH,
        question="What does TCP make of a route that does not break?",
        base=fields | times,
        factors={
            "path": [
                chains.level(label, hops, [chains.tcp(0, hops)], spacing_m, **technique(senders[label]))
                for label, hops in lengths.items()
            ]
        },
        replications=scale.seeds(wording.whole(duration, "seeds")),
        metrics=[METRIC],
    )


def _senders(claim: Claim) -> dict[str, str]:
    """Which sender D4-53 speaks of on which path: its statement names Reno-F first, then Reno."""
    wording.require(claim.statement, "three-hop route Reno-F")
    wording.require(claim.statement, "two-hop routes Reno")
    return dict(zip(claim.at, (RENO_F, RENO), strict=True))


def both(samples: Samples, measure: str) -> dict[str, list[float | None]]:
    """A measure of the TCP flow in every scenario, by technique."""
    return {label: samples.flow(measure, technique=label) for label in (RENO, RENO_F)}


def throughput(samples: Samples) -> dict[str, list[float]]:
    """Throughput in Mb/s of every scenario, by technique."""
    return {
        label: [each / 1e6 for each in samples.values(METRIC, technique=label)] for label in (RENO, RENO_F)
    }


def average(values: Values) -> int:
    """The scenario whose value is closest to the mean."""
    mean = sum(values) / len(values)
    return min(range(len(values)), key=lambda index: abs(values[index] - mean))


def worst(values: Values) -> int:
    """The scenario of the lowest value."""
    return min(range(len(values)), key=lambda index: values[index])


def single(
    chosen: int,
    ensemble: Mapping[str, Sequence[float | None]],
    remark: str = "",
    complete: bool | None = None,
) -> Single:
    """One scenario's values with all of them; NaN where it has none."""
    of_chosen = {name: values[chosen] for name, values in ensemble.items()}
    return Single(
        {name: math.nan if value is None else value for name, value in of_chosen.items()},
        {name: present(values) for name, values in ensemble.items()},
        complete=complete,
        remark=remark,
    )


def present(values: Sequence[float | None]) -> list[float]:
    """Values that exist; a scenario whose route never broke has no repair time."""
    return [each for each in values if each is not None]


def pairs(values: dict[str, list[float | None]]) -> tuple[list[float], list[float]]:
    """Reno-F's and Reno's values in the scenarios that have both."""
    listed = [
        (f, r) for f, r in zip(values[RENO_F], values[RENO], strict=True) if f is not None and r is not None
    ]
    return [f for f, _ in listed], [r for _, r in listed]


def capacities(count: int) -> list[float]:
    """The mean capacity between the TCP end points in each of the scenarios, in Mb/s."""
    return [_capacity(number) for number in range(count)]


@cache
def _capacity(replication: int) -> float:
    from manetlab.papers import ledger

    loaded = ledger.load()
    # Movement and end points are the same under every load and technique.
    point = campaign(loaded, Scale(), ALONE).points[0]
    scenario: Scenario = point.scenario(replication)
    flow = scenario.resolve().flows[0]
    series = capacity.over_time(loaded, scenario, flow["src"], flow["dst"])
    return sum(series) / len(series)


def of_figure(samples: Samples, chosen: int, level_claim: str, change_claim: str) -> Found:
    """Levels in the average scenario, and the change from Reno to Reno-F there."""
    values = throughput(samples)
    count = len(values[RENO])
    levels: dict[str, Sequence[float | None]] = {
        "capacity": capacities(count),
        "Reno": values[RENO],
        "Reno-F": values[RENO_F],
    }
    changes = [
        100 * (f / r - 1) if r else float("inf") for f, r in zip(values[RENO_F], values[RENO], strict=True)
    ]
    number = samples.replications(technique=RENO)[chosen]
    remark = f"The average scenario is replication {number}"
    return {
        level_claim: single(chosen, levels, remark),
        change_claim: Single(
            {"": changes[chosen]},
            {"": changes},
            overall=percent(values[RENO_F], values[RENO]),
            remark=remark,
        ),
    }


def alone_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.10."""
    path = {
        label: mean_interval([each / 1e3 for each in runs[FIXED_PATH].values(METRIC, path=label)])
        for label in ledger.claim("D4-53").at
    }
    return {
        **of_figure(runs[ALONE], average(throughput(runs[ALONE])[RENO]), "D4-47", "D4-48"),
        "D4-53": Level(path),
    }


def reno_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.11."""
    repairs, gaps = both(runs[ALONE], REPAIR)[RENO], both(runs[ALONE], GAP)
    return {
        "D4-49": _repair(runs[ALONE], {"": repairs}),
        "D4-52": stalls(ledger.claim("D4-52"), present(gaps[RENO]), present(gaps[RENO_F])),
    }


def _repair(alone: Samples, repairs: Mapping[str, list[float | None]]) -> Single:
    """Repair times in the average scenario, which is that of the runs without background."""
    return single(average(throughput(alone)[RENO]), repairs)


def repair_change(values: dict[str, list[float | None]], *also: Also) -> Change | Ruled:
    """The paired change of repair times from Reno to Reno-F, in percent."""
    of = pairs(values)
    if len(of[0]) < 2:
        return Ruled(
            "fewer than two scenarios in which the route broke with both", satisfied=None, broken=False
        )
    return Change({"": percent(*of)}, also=also)


def stalls(claim: Claim, reno: Values, reno_f: Values) -> Ruled:
    """Is there a scenario in which Reno stands still that long and Reno-F less than half of it?"""
    least = claim.band()[0]
    wanted = wording.number(claim.tolerance, "scenarios")
    found = [(r, f) for r, f in zip(reno, reno_f, strict=True) if r >= least and f < r / 2]
    text = f"{len(found)} of {len(reno)} scenarios"
    if found:
        longest = max(found)
        text += f", the longest {longest[0]:.0f} s with Reno and {longest[1]:.0f} s with Reno-F"
    return Ruled(text, satisfied=bool(found), broken=not found and len(reno) >= wanted)


def reno_f_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.12."""
    repairs = both(runs[ALONE], REPAIR)
    return {
        "D4-50": _repair(runs[ALONE], {"": repairs[RENO_F]}),
        "D4-51": repair_change(repairs),
    }


def load_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.13."""
    repairs = both(runs[WITH_LOAD], REPAIR)
    # The claims speak of the same scenario as without background.
    chosen = average(throughput(runs[ALONE])[RENO])
    levels = {"Reno": repairs[RENO], "Reno-F": repairs[RENO_F]}
    return {
        **of_figure(runs[WITH_LOAD], chosen, "D4-54", "D4-55"),
        "D4-56": _repair(runs[ALONE], levels),
        "D4-57": repair_change(repairs, _smaller(repairs, both(runs[ALONE], REPAIR))),
    }


def _smaller(repairs: dict[str, list[float | None]], alone: dict[str, list[float | None]]) -> Also:
    """Is the change of repair times smaller in size than without background?"""
    listed = [pairs(repairs), pairs(alone)]
    if min(len(each[0]) for each in listed) < 2:
        return Also("smaller in size than without background", None)
    with_load, without = (percent(*each) for each in listed)
    text = f"smaller in size than without background, {shown(without)}"
    return Also(text, abs(with_load.mean) < abs(without.mean))


def _worst_levels(ledger: Ledger, runs: Runs, label: str, claim: str, of: str = WORST) -> Single:
    """The scenario that is worst with AODV and Reno."""
    values, repairs = throughput(runs[of]), both(runs[of], REPAIR)
    lowest = throughput(runs[WORST])[RENO]
    chosen = worst(lowest)
    number = runs[WORST].replications(technique=RENO)[chosen]
    measures: tuple[Sequence[float | None], ...] = (repairs[label], values[label])
    ensemble = dict(zip(ledger.claim(claim).at, measures, strict=True))
    wanted = wording.number(ledger.assumptions["scenario-choice"].text, "scenarios")
    complete = len(lowest) >= wanted
    return single(chosen, ensemble, f"The worst scenario is replication {number}", complete)


def worst_reno_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.14."""
    claim = ledger.claim("D4-64")
    gaps = present(both(runs[WORST], GAP)[RENO])
    rows = present(both(runs[WORST], "timeouts_in_row")[RENO])
    least, needed = claim.band()[0], wording.number(claim.tolerance, "consecutive timeouts")
    found = [gap for gap, row in zip(gaps, rows, strict=True) if row >= needed and gap >= least]
    text = f"{len(found)} of {len(gaps)} scenarios; most timeouts in a row {max(rows):.0f}, "
    text += f"longest gap {max(gaps):.0f} s"
    wanted = wording.number(ledger.assumptions["scenario-choice"].text, "scenarios")
    broken = not found and len(gaps) >= wanted
    return {
        "D4-58": _worst_levels(ledger, runs, RENO, "D4-58"),
        "D4-64": Ruled(text, satisfied=bool(found), broken=broken),
    }


def decile(values: Values) -> list[int]:
    """The tenth of the scenarios with the lowest values; two at least, so that there is an interval."""
    count = max(2, round(len(values) / 10))
    return sorted(range(len(values)), key=lambda index: values[index])[:count]


def worst_reno_f_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.15."""
    samples = runs[WORST]
    values = throughput(samples)
    lowest = decile(values[RENO])
    mean, longest = both(samples, REPAIR), both(samples, LONGEST_REPAIR)
    of = [pairs(_only(each, lowest)) for each in (mean, longest)]
    if min(len(each[0]) for each in of) < 2:
        return {
            "D4-59": _worst_levels(ledger, runs, RENO_F, "D4-59"),
            **dict.fromkeys(("D4-62", "D4-63"), _NO_REPAIRS),
        }
    changes = [percent(*each) for each in of]
    low, high = ledger.claim("D4-62").band()
    outcomes = [level(change, low, high)[0] for change in changes]
    inside = all(low <= change.mean <= high for change in changes)
    ratio = paired_ratio([values[RENO_F][i] for i in lowest], [values[RENO][i] for i in lowest])
    outcome = level(ratio, *ledger.claim("D4-63").band())[0]
    text = f"{len(lowest)} scenarios of the lowest throughput"
    return {
        "D4-59": _worst_levels(ledger, runs, RENO_F, "D4-59"),
        "D4-62": Ruled(
            f"mean {shown(changes[0], ' %')}, maximum {shown(changes[1], ' %')}, {text}",
            satisfied=inside,
            broken=Outcome.CONTRADICTED in outcomes,
        ),
        "D4-63": Ruled(
            f"{shown(ratio)}, {text}",
            satisfied=outcome is Outcome.REPRODUCED,
            broken=outcome is Outcome.CONTRADICTED,
        ),
    }


def adv_reno_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.16: ADV where AODV fares worst."""
    lowest = decile(throughput(runs[WORST])[RENO])
    repairs = {p: both(runs[key], REPAIR)[RENO] for p, key in ((ADV, WORST_ADV), (AODV, WORST))}
    listed = [(repairs[ADV][i], repairs[AODV][i]) for i in lowest]
    paired = [(own, other) for own, other in listed if own is not None and other is not None]
    levels = {"D4-60": _worst_levels(ledger, runs, RENO, "D4-60", WORST_ADV)}
    if len(paired) < 2:
        return {**levels, "D4-65": _NO_REPAIRS}
    ratio = paired_ratio([own for own, _ in paired], [other for _, other in paired])
    return {
        **levels,
        "D4-65": Level({"": ratio}, also=[Also(f"{len(paired)} scenarios, the lowest decile", True)]),
    }


def adv_reno_f_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.17: what Reno-F changes for ADV, over all scenarios."""
    values, repaired = throughput(runs[WORST_ADV]), pairs(both(runs[WORST_ADV], REPAIR))
    changes = {"throughput": percent(values[RENO_F], values[RENO])}
    if len(repaired[0]) > 1:
        changes["repair"] = percent(*repaired)
    return {"D4-61": _worst_levels(ledger, runs, RENO_F, "D4-61", WORST_ADV), "D4-66": Change(changes)}


def http_paper_reno_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3 of Dyer and Boppana, which is Fig. 4.14."""
    return {"H-01": _worst_levels(ledger, runs, RENO, "H-01")}


def http_paper_reno_f_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4 of Dyer and Boppana, which is Fig. 4.15."""
    same = worst_reno_f_evidence(ledger, runs)
    return {"H-02": _worst_levels(ledger, runs, RENO_F, "H-02"), "H-03": same["D4-62"]}


_NO_REPAIRS = Ruled("fewer than two of the scenarios had repairs with both", satisfied=None, broken=False)


def _only(values: dict[str, list[float | None]], places: list[int]) -> dict[str, list[float | None]]:
    return {label: [each[index] for index in places] for label, each in values.items()}


def table(title: str, samples: Samples) -> Table:
    """Throughput, repairs and gaps by technique."""
    columns = (
        "sender",
        "throughput, kb/s",
        "repairs",
        "mean repair, s",
        "longest repair, s",
        "longest gap, s",
    )
    made = Table(f"{title}: mean and 95 % interval over scenarios", columns)
    for label in (RENO, RENO_F):
        cells = [shown(mean_interval(samples.values(METRIC, technique=label)).scaled(1e-3))]
        for measure in ("route_repairs", REPAIR, LONGEST_REPAIR, GAP):
            values = present(samples.flow(measure, technique=label))
            cells.append(shown(mean_interval(values)) if values else "–")
        made.add("Reno" if label == RENO else "Reno-F", *cells)
    return made


def _study(key: str, campaigns: object, evidence: object, title: str, of: str) -> Study:
    return Study(
        key,
        campaigns,  # type: ignore[arg-type]
        evidence,  # type: ignore[arg-type]
        lambda _ledger, runs: [table(title, runs[of])],
        quick=QUICK,
    )


def _alone(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [campaign(ledger, scale, ALONE)]


def _with_path(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [campaign(ledger, scale, ALONE), fixed_path(ledger, scale)]


def _with_load(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [campaign(ledger, scale, ALONE), campaign(ledger, scale, WITH_LOAD)]


def _worst(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [worst_campaign(ledger, scale, WORST, AODV)]


def _worst_both(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [*_worst(ledger, scale), worst_campaign(ledger, scale, WORST_ADV, ADV)]


_LOADED, _LOADED_ADV = "One TCP with 40 CBR flows over AODV", "One TCP with 40 CBR flows over ADV"
STUDIES = (
    _study(ALONE, _with_path, alone_evidence, "One TCP alone", ALONE),
    _study("dyer2002/fig-4.11", _alone, reno_evidence, "One TCP alone", ALONE),
    _study("dyer2002/fig-4.12", _alone, reno_f_evidence, "One TCP alone", ALONE),
    _study(WITH_LOAD, _with_load, load_evidence, "One TCP with background", WITH_LOAD),
    _study(WORST, _worst, worst_reno_evidence, _LOADED, WORST),
    _study("dyer2002/fig-4.15", _worst, worst_reno_f_evidence, _LOADED, WORST),
    _study(WORST_ADV, _worst_both, adv_reno_evidence, _LOADED_ADV, WORST_ADV),
    _study("dyer2002/fig-4.17", _worst_both, adv_reno_f_evidence, _LOADED_ADV, WORST_ADV),
    _study("dyer2003/fig-3", _worst, http_paper_reno_evidence, _LOADED, WORST),
    _study("dyer2003/fig-4", _worst, http_paper_reno_f_evidence, _LOADED, WORST),
)
