"""The typed ledger says what the ledger said that was handed over, and its rules say what their words say."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from manetlab import parameters
from manetlab.errors import InputError
from manetlab_papers import ledger
from manetlab_papers.functions import load_all
from manetlab_papers.ledger import Claim
from manetlab_papers.rules import KINDS

HANDED_OVER = tomllib.loads((Path(__file__).parent / "ledger.toml").read_text(encoding="utf-8"))
"""The digests of what was handed over."""
LEDGER = ledger.load()
load_all()


def digest(entry: Any) -> str:
    text = json.dumps(entry, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_no_claim_is_lost_weakened_or_worded_anew_and_every_band_is_equal() -> None:
    assert len(HANDED_OVER["claim"]) == 430
    assert {claim.id: digest(claim.quoted) for claim in LEDGER.claims.values()} == HANDED_OVER["claim"]


def test_no_experiment_is_lost_or_worded_anew() -> None:
    experiments = [(entry.id, digest(dict(entry.quoted))) for entry in LEDGER.experiments.values()]
    assert experiments == list(HANDED_OVER["experiment"].items())
    assumptions = {
        name: digest({"parameter": each.parameter, "assume": each.assume, "why": each.why})
        for name, each in LEDGER.assumptions.items()
    }
    assert assumptions == HANDED_OVER["assumption"]
    assert digest(dict(LEDGER.policy)) == HANDED_OVER["policy"]


def test_a_claim_that_is_worded_anew_has_another_digest() -> None:
    quoted = dict(LEDGER.claims["D4-08"].quoted)
    assert digest({**quoted, "statement": quoted["statement"] + " "}) != HANDED_OVER["claim"]["D4-08"]


def test_the_ledger_is_complete() -> None:
    assert LEDGER.papers == ["dyer2002", "dyer2003", "bansal2003", "choi2004", "osipov2007"]
    named = [claim for each in LEDGER.experiments.values() for claim in each.claims]
    assert set(named) == set(LEDGER.claims)
    used = {name for each in LEDGER.experiments.values() for name in each.unstated}
    assert used == set(LEDGER.assumptions)


# What the rules say.


def conditions(rule: Any) -> Iterator[dict[str, Any]]:
    """A rule and all that are part of it."""
    yield rule
    for part in [*rule.get("all", ()), *rule.get("also", ()), *([rule["one"]] if "one" in rule else ())]:
        yield from conditions(part)


def test_every_claim_has_a_rule_of_a_known_kind() -> None:
    for claim in LEDGER.claims.values():
        assert claim.rule, claim.id
        if claim.rule["kind"] == "untested":
            assert claim.rule["why"], claim.id
            continue
        for each in conditions(claim.rule):
            assert each.get("given") or each["kind"] in KINDS, claim.id


def test_a_claim_is_tested_only_where_its_experiment_can_be_run() -> None:
    for claim in LEDGER.claims.values():
        if LEDGER.experiments[claim.experiment].runs is None:
            assert claim.rule["kind"] == "untested", claim.id


SHARED = {
    "Order of ensemble means must agree": {"order", "pairs", "share", "agreed"},
    "Slope sign over the stated range": {"trend", "sign"},
    "Sign of the paired mean change must agree": {"change", "agreed"},
    "No material effect": {"change", "agreed"},
    "Printed as not significant": {"change"},
    "95% CI of the ensemble mean must overlap": {"level", "agreed"},
    "Jain index must lie in": {"agreed"},
    "Each ratio must lie in": {"level"},
    "Single scenario that is not available": {"single"},
}
"""The kinds of rule that a shared wording of the ledger may have, alone or as a condition of several."""


@pytest.mark.parametrize("opening", SHARED)
def test_claims_of_one_wording_have_rules_of_one_kind(opening: str) -> None:
    worded = [claim for claim in LEDGER.claims.values() if claim.tolerance.startswith(opening)]
    assert worded
    for claim in worded:
        kinds = {each["kind"] for each in claim.rule.get("all", [claim.rule])}
        assert kinds & (SHARED[opening] | {"untested", "same as"}), claim.id
        if claim.rule["kind"] == "agreed" and SHARED[opening] > {"agreed"}:
            assert claim.rule["one"]["kind"] in SHARED[opening] - {"agreed"}, claim.id


def said_sign(claim: Claim) -> int:
    """The sign of the printed number, or else that of the band."""
    if claim.value and claim.value[0] != 0:
        return 1 if claim.value[0] > 0 else -1
    low, high = claim.band()
    return 1 if low >= 0 else -1 if high <= 0 else 0


def test_changes_have_the_sign_that_is_printed_or_none_where_it_is_free() -> None:
    for claim in LEDGER.claims.values():
        rule = claim.rule.get("one", claim.rule)
        if rule["kind"] == "change":
            signed = claim.tolerance.startswith("Sign of the paired")
            assert rule.get("sign", 0) == (said_sign(claim) if signed else 0), claim.id


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"\d+(?:\.\d+)?", text)]


def test_bands_of_conditions_are_those_of_the_claims_words() -> None:
    """A band that is not the claim's own is in its words, as it is, in percent or as a share more or less."""
    for claim in LEDGER.claims.values():
        words = [*numbers(claim.tolerance), *numbers(claim.statement), *numbers(LEDGER.policy["tie"])]
        known = {0.0, *claim.lo, *claim.hi, *claim.value, *words}
        for each in conditions(claim.rule):
            bands = [each.get("band"), *(case.get("band") for case in each.get("cases", ()))]
            for end in (value for band in bands if isinstance(band, dict) for value in band.values()):
                forms = (end, abs(end), 100 * abs(end), 100 * abs(end - 1))
                assert any(abs(form - number) < 1e-9 for form in forms for number in known), (claim.id, end)


def test_claims_of_no_effect_are_tested_for_equivalence() -> None:
    openings = ("No material effect", "Printed as not significant")
    for claim in LEDGER.claims.values():
        rule = claim.rule.get("one", claim.rule)
        if rule["kind"] == "change":
            assert rule.get("no_effect", False) is claim.tolerance.startswith(openings), claim.id


def test_tests_of_the_core_that_rules_name_are_there() -> None:
    sources = Path(__file__).parents[2] / "crates" / "core" / "src"
    text = "".join(path.read_text(encoding="utf-8") for path in sources.rglob("*.rs"))
    named = [claim.rule["test"] for claim in LEDGER.claims.values() if claim.rule["kind"] == "core test"]
    assert named
    assert all(re.search(rf"#\[test\]\n *fn {name}\(\)", text) for name in named)


def test_no_rule_holds_code() -> None:
    def texts(data: Any) -> Iterator[str]:
        if isinstance(data, str):
            yield data
        elif isinstance(data, dict):
            for value in data.values():
                yield from texts(value)
        elif isinstance(data, list):
            for value in data:
                yield from texts(value)

    for claim in LEDGER.claims.values():
        rule = {key: value for key, value in claim.rule.items() if key not in ("why", "text", "remark")}
        assert not [
            text for text in texts(rule) if re.search(r"lambda|def |import |\w\(\w*\)|==|\[\w", text)
        ], claim.id


# A ledger that does not hold together.


@pytest.mark.parametrize(
    ("file", "old", "new", "found"),
    [
        ("01-foundations.toml", 'experiment = "dyer2002/table-1.1"', 'experiment = "table-1.9"', "table-1.9"),
        ("01-foundations.toml", 'id = "D1-02"', 'id = "D1-01"', "D1-01"),
        ("01-foundations.toml", "lo = [0.44, 0.28]", "lo = [0.44]", "(1, 2)"),
        ("01-foundations.toml", "lo = [0.44, 0.28]", "lo = [0.66, 0.28]", "0.66"),
        ("01-foundations.toml", 'kind = "trend"', 'kind = "tendency"', "tendency"),
        ("01-foundations.toml", 'runs = ["table-1.1", ', 'runs = ["table-1.2", ', "table-1.2"),
        ("02-cbr-by-load.toml", "[quantity.delivery]", "[quantity.chain-mbps]", "quantity"),
        ("ledger.toml", "[assumption.node-spacing]", "[assumption.node-distance]", "node-spacing"),
        ("ledger.toml", "least_scenarios = 20", "least_scenarios = [", "Invalid value"),
    ],
)  # fmt: skip
def test_a_ledger_that_does_not_hold_together_is_refused(
    tmp_path: Path, file: str, old: str, new: str, found: str
) -> None:
    for path in ledger.FOLDER.glob("*.toml"):
        shutil.copy(path, tmp_path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match="ledger") as error:
        ledger.read(tmp_path)
    assert found in str(error.value)


def test_an_experiment_is_found_by_the_end_of_its_id() -> None:
    assert LEDGER.experiment("table-5.1").id == "dyer2002/table-5.1"
    with pytest.raises(InputError, match="several papers"):
        LEDGER.experiment("table-1")
    with pytest.raises(InputError, match=r"do you mean table-4\.2"):
        LEDGER.experiment("tabel-4.2")
    with pytest.raises(InputError, match="no such claim"):
        LEDGER.claim("D9-99")


# What is assumed.


def test_every_assumption_of_an_experiment_that_is_run_says_how_it_enters() -> None:
    for experiment in LEDGER.runnable.values():
        assert experiment.quick, experiment.id
        for name in experiment.unstated:
            assert LEDGER.assumptions[name].how, (experiment.id, name)


def test_the_profile_has_the_radio_and_mac_that_the_ledger_assumes() -> None:
    params = parameters.profile("cmu-1998", "test")
    # "550 m; 10 dB": beyond the crossover power falls with the fourth power of distance, from 250 m on.
    ratio = params["radio"]["receive_threshold_w"] / params["radio"]["carrier_sense_threshold_w"]
    assert 250 * ratio**0.25 == pytest.approx(550, rel=0.002)
    assert params["radio"]["capture_ratio"] == 10
    # "CWmin 31, CWmax 1023, short retry 7, long retry 4".
    keys = ("cw_min", "cw_max", "short_retry_limit", "long_retry_limit")
    assert [params["mac"][key] for key in keys] == [31, 1023, 7, 4]


def test_aodv_and_dsr_of_the_dissertation_are_those_of_its_set_ups() -> None:
    profile = parameters.profile("cmu-1998", "test")
    aodv = parameters.apply_routing_set(profile, "aodv", "dyer-2002", "test")["aodv"]
    # "active route timeout 50 s, 3 request retries, … TTL 1 step 2 threshold 7".
    keys = ("active_route_timeout_s", "rreq_retries", "ttl_start", "ttl_increment", "ttl_threshold")
    assert [aodv[key] for key in keys] == [50, 3, 1, 2, 7]
    dsr = parameters.apply_routing_set(profile, "dsr", "broch-1998", "test")["dsr"]
    # "0.5 s between repeated requests, … primary/secondary caches 30/34".
    assert [dsr[key] for key in ("request_period_s", "primary_paths", "secondary_paths")] == [0.5, 30, 34]


def test_values_and_bands_of_a_claim_have_the_unit_of_its_quantity() -> None:
    claims = LEDGER.claims
    # Percent, rates as the pages write them, a quantity without a unit, and one with two.
    assert [claims[each].unit for each in ("D4-08", "D4-60", "B-06", "D5-37")] == [" %", "", " %", " %"]
    assert {claims[each].unit for each in ("D3-22", "D3-11")} == {" kb/s"}
    change = claims["D4-08"]
    assert change.unit_of(change.rule) == " %"
    # A rule with a band of its own may compare something else.
    assert change.unit_of({**change.rule, "band": {"lo": 0}}) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("D3-26", "-30 to -5 %"),
        ("D4-28", "2 to 15"),
        ("D5-39", "280 to 560 kb/s; 0.85 to 1.08"),
        ("D6-32", "210 to 460 kb/s; 0.42 to 0.68"),
    ],
)
def test_a_change_is_in_per_cent_and_a_ratio_has_no_unit_whatever_is_compared(name: str, text: str) -> None:
    assert LEDGER.claims[name].band_text_in_unit == text


def test_the_change_of_a_rate_is_in_per_cent() -> None:
    claim = LEDGER.claims["D3-26"]
    assert [claim.unit_of(each) for each in claim.rule["all"]] == [" %"]


def test_a_band_of_no_width_is_one_number() -> None:
    assert LEDGER.claims["O-03"].band_text == "0.25; 0.25; 0.25; 0.25; 0.375; 0.375"
