"""What replications of a point share is made once, and changes nothing of what each of them is."""

from __future__ import annotations

from typing import Any

import pytest

from manetlab import InputError, Scenario, _core, resolving
from manetlab.campaign import worker
from manetlab.campaign.plan import Task
from manetlab.campaign.worker import work_of
from manetlab.resolving import Resolved, canonical
from tests.campaigns import BASE, small


def forget() -> None:
    for known in (resolving._PARAMS, resolving._NORMAL, worker._BUILT):
        known.clear()


def everything(resolved: Resolved) -> tuple[Any, ...]:
    return (
        resolved.hash,
        resolved.core_json(),
        list(resolved.core),
        resolved.core,
        resolved.scenario.to_dict(),
    )


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"routing": "aodv:dyer-2002", "warmup_s": 0.25},
        {"tcp": {"window": 4, "sender": "sack"}, "mac": {"data_rate_bps": 1e6}, "radio": {"range_m": 300.0}},
        {"profile": "ns-2.35", "energy": {"battery_j": 5.0}, "queue": {"packets": 3}},
    ],
)
def test_a_scenario_is_the_same_whatever_was_resolved_before(changed: dict[str, Any]) -> None:
    campaign = small(base={**BASE, **changed}, replications=4)
    tasks = [Task(point, replication) for replication in range(4) for point in range(4)]
    alone = []
    for task in tasks:
        forget()
        alone.append(everything(campaign.scenario(task.point, task.replication).resolve()))
    forget()
    together = [everything(worker.resolve(work_of(campaign, task, "code"))) for task in tasks]
    assert together == alone
    assert len(worker._BUILT) == 4, "each point is built once"


def test_the_cores_own_words_are_what_is_hashed() -> None:
    resolved = Scenario.build({**BASE, "seed": 3}).resolve()
    again = Scenario.build({**BASE, "seed": 4}).resolve()
    assert again.params == resolved.params
    assert canonical(again.core) == again.core_json()
    assert _core.normalize(again.core_json(), again.movement, "here").startswith("{")


def test_who_changes_the_parameters_of_one_scenario_changes_no_other() -> None:
    fields = {**BASE, "queue": {"packets": 7}}
    first = Scenario.build(fields).resolve()
    wanted = first.hash, canonical(first.params)
    for params in (first.params, first.core["params"]):
        params["queue"]["packets"] = 1
        params["radio"].clear()
    again = Scenario.build(fields).resolve()
    assert (again.hash, canonical(again.params)) == wanted


def test_parameters_that_are_not_allowed_are_told_each_time() -> None:
    for _ in range(2):
        with pytest.raises(InputError, match="cannot have this value"):
            Scenario.build({**BASE, "tcp": {"window": -1}}).resolve()


def test_no_more_sets_of_parameters_are_kept_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setattr(resolving, "MOST_KNOWN", 3)
    hashes = {Scenario.build({**BASE, "queue": {"packets": n}}).resolve().hash for n in range(2, 12)}
    assert len(hashes) == 10 and len(resolving._PARAMS) <= 3 and len(resolving._NORMAL) <= 3
