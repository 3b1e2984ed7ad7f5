"""The ledger holds together, and what does not is refused; numbers are read out of its words."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from manetlab.errors import InputError
from manetlab.papers import assumptions, ledger, setup, verdicts, wording
from manetlab.papers.evidence import Change, Level, Order, Single, Trend
from manetlab.papers.experiments import studies


def test_the_ledger_is_complete() -> None:
    loaded = ledger.load()
    assert loaded.papers == ["dyer2002", "dyer2003", "bansal2003", "choi2004", "osipov2007"]
    named = [claim for each in loaded.experiments.values() for claim in each.claims]
    assert set(named) == set(loaded.claims)
    used = {name for each in loaded.experiments.values() for name in each.unstated}
    assert used == set(loaded.assumptions)


@pytest.mark.parametrize(
    ("file", "old", "new", "found"),
    [
        (
            "claims.toml",
            'experiment = "dyer2002/table-1.1"',
            'experiment = "dyer2002/table-1.9"',
            "table-1.9",
        ),
        ("claims.toml", 'id = "D1-02"', 'id = "D1-01"', "D1-01"),
        ("claims.toml", "lo = [0.44, 0.28]", "lo = [0.44]", "(1, 2)"),
        ("claims.toml", "lo = [0.44, 0.28]", "lo = [0.66, 0.28]", "0.66"),
        ("claims.toml", 'kind = "trend"', 'kind = "tendency"', "tendency"),
        ("claims.toml", "count = 430", "count = 431", "431"),
        ("claims.toml", 'schema = "claims-ledger/1"', 'schema = "claims-ledger/2"', "claims-ledger/2"),
        ("experiments.toml", "[assumption.node-spacing]", "[assumption.node-distance]", "node-spacing"),
        ("experiments.toml", "count = 173", "count = [", "found:  Invalid value"),
    ],
)
def test_a_ledger_that_does_not_hold_together_is_refused(
    tmp_path: Path, file: str, old: str, new: str, found: str
) -> None:
    for name in ("claims.toml", "experiments.toml"):
        shutil.copy(ledger.FOLDER / name, tmp_path / name)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match="ledger") as error:
        ledger.read(tmp_path / "experiments.toml", tmp_path / "claims.toml")
    assert found in str(error.value)


def test_an_experiment_is_found_by_the_end_of_its_id() -> None:
    loaded = ledger.load()
    assert loaded.experiment("table-5.1").id == "dyer2002/table-5.1"
    with pytest.raises(InputError, match="several papers"):
        loaded.experiment("table-1")
    with pytest.raises(InputError, match=r"do you mean table-4\.2"):
        loaded.experiment("tabel-4.2")
    with pytest.raises(InputError, match="no such claim"):
        loaded.claim("D9-99")


def test_numbers_are_read_out_of_words() -> None:
    text = "1,460-byte packets, 50.5 Kbps from 10 CBR connections; tick 0.1 s, 1000 m x 600 m"
    assert wording.whole(text, "byte") == 1460
    assert wording.number(text, "Kbps") == 50.5
    assert wording.whole(text, "CBR connections") == 10
    assert wording.after(text, "tick") == 0.1
    assert wording.two(text, "m x", "m") == (1000.0, 600.0)
    assert wording.span("1..8") == (1, 8)


@pytest.mark.parametrize(
    "read",
    [
        lambda: wording.number("200 metres", "m"),
        lambda: wording.whole("1.5 packets", "packets"),
        lambda: wording.after("pause; 3 s", "pause"),
        lambda: wording.two("1000 m", "x", "m"),
        lambda: wording.span("1 to 8"),
        lambda: wording.require("bounces", "bounce"),
    ],
)
def test_words_that_are_not_understood_are_an_error(read: object) -> None:
    with pytest.raises(InputError, match="not understood"):
        read()  # type: ignore[operator]


def test_assumptions_enter_the_scenario_as_the_ledger_words_them() -> None:
    loaded = ledger.load()
    fields = assumptions.fields(loaded, loaded.experiments["dyer2002/table-4.2"])
    assert fields == {
        "profile": "cmu-1998",
        "movement.waypoint.speed_min": 0.001,
        "movement.waypoint.boundary": "wrap",
        "movement.waypoint.start": "uniform",
        "traffic.random.cbr_ends": "distinct-pairs",
        "traffic.random.cbr_start_within_s": 10.0,
        "tcp.tick_ms": 100.0,
        "tcp.rto_min_s": 0.2,
        "tcp.rto_initial_s": 3.0,
        "tcp.rto_backoff_cap": 64,
        "tcp.delayed_ack_segments": 2,
        "tcp.delayed_ack_timeout_s": 0.1,
        "tcp.connection_setup": True,
    }


def test_an_assumption_that_nobody_met_is_an_error() -> None:
    loaded = ledger.load()
    with pytest.raises(InputError, match="nobody has said"):
        assumptions.applied(loaded, loaded.experiments["osipov2007/fig-4"])


def test_the_profile_has_the_radio_and_mac_that_the_ledger_assumes() -> None:
    loaded = ledger.load()
    params = _profile("cmu-1998")
    text = loaded.assumptions["carrier-sense-range-capture-threshold"].text
    # Beyond the crossover power falls with the fourth power of distance, from 250 m on.
    ratio = params["radio"]["receive_threshold_w"] / params["radio"]["carrier_sense_threshold_w"]
    assert 250 * ratio**0.25 == pytest.approx(wording.number(text, "m"), rel=0.002)
    assert params["radio"]["capture_ratio"] == 10 ** (wording.number(text, "dB") / 10)
    mac = loaded.assumptions["slot-sifs-cw-retries"].text
    assert params["mac"]["cw_min"] == wording.after(mac, "CWmin")
    assert params["mac"]["cw_max"] == wording.after(mac, "CWmax")
    assert params["mac"]["short_retry_limit"] == wording.after(mac, "short retry")
    assert params["mac"]["long_retry_limit"] == wording.after(mac, "long retry")


def test_the_aodv_of_the_dissertation_is_that_of_its_set_ups() -> None:
    from manetlab import parameters

    text = ledger.load().experiments["dyer2002/table-4.2"].setup["routing"]
    aodv = text[text.index("AODV:") :]
    protocol, _, name = setup.ROUTINGS["AODV"].partition(":")
    params = parameters.apply_routing_set(_profile("cmu-1998"), protocol, name, "test")
    assert params["aodv"]["active_route_timeout_s"] == wording.after(aodv, "route timeout")
    assert params["aodv"]["rreq_retries"] == wording.number(aodv, "request retries")
    assert params["aodv"]["ttl_start"] == wording.after(aodv, "TTL")
    assert params["aodv"]["ttl_increment"] == wording.after(aodv, "step")
    assert params["aodv"]["ttl_threshold"] == wording.after(aodv, "threshold")


def _profile(name: str) -> dict[str, dict[str, float]]:
    from manetlab import parameters

    return parameters.profile(name, "test")


def test_shared_rules_cover_most_tolerances_and_nothing_by_accident() -> None:
    for claim in ledger.load().claims.values():
        kinds = [kind for kind in (Level, Change, Single, Order, Trend) if _rule_opens(claim, kind)]
        # One wording means the same for levels and changes; no other is ambiguous.
        assert kinds in ([], [Level], [Change], [Single], [Order], [Trend], [Level, Change]), claim.id


def _rule_opens(claim: ledger.Claim, kind: type) -> bool:
    import re

    return re.match(verdicts.RULES[kind], claim.tolerance) is not None


def test_every_experiment_that_can_be_run_is_in_the_ledger_with_its_assumptions_met() -> None:
    loaded = ledger.load()
    assert len(studies()) >= 20
    for key, study in studies().items():
        assert key in loaded.experiments
        assert set(assumptions.applied(loaded, study.experiment(loaded))) == set(
            loaded.experiments[key].unstated
        )
        assert study.quick
        assert set(study.untested) <= set(loaded.claims)
