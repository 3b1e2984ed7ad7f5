"""The same scenario and seed give the same result, however and wherever they are run."""

import json
import subprocess
import sys

from manetlab import Scenario, run, run_many
from tests.examples import chain, mobile


def measured(scenario: Scenario, record: bool = False) -> tuple[str, dict[str, object]]:
    result = run(scenario, record=record)
    return result.hash, result.totals


def test_again_in_this_process() -> None:
    assert measured(mobile()) == measured(mobile())


def test_in_another_process() -> None:
    program = "from tests.examples import mobile; from manetlab import run; print(run(mobile()).hash)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == measured(mobile())[0]


def test_with_the_recording_on_or_off() -> None:
    assert measured(mobile(), record=True) == measured(mobile(), record=False)


def test_in_threads_in_the_order_of_the_scenarios() -> None:
    scenarios = [mobile(replication=number) for number in range(6)]
    seen: list[int] = []
    results = run_many(scenarios, jobs=3, progress=lambda index, _: seen.append(index))
    assert [result.hash for result in results] == [measured(scenario)[0] for scenario in scenarios]
    assert sorted(seen) == list(range(6))


def test_seeds_and_replications_differ() -> None:
    hashes = {measured(mobile(seed=seed, replication=r))[0] for seed in (1, 2) for r in (0, 1)}
    assert len(hashes) == 4


def test_a_run_is_repeated_from_its_own_provenance() -> None:
    first = run(chain())
    kept = json.loads(first.to_json())["provenance"]["scenario"]
    again = chain(
        duration_s=kept["duration_s"],
        traffic={"flows": [{k: v for k, v in flow.items() if v is not None} for flow in kept["flows"]]},
        routing=kept["routing"],
        profile="rfc",
        **kept["params"],
    )
    assert run(again).hash == first.hash


def test_another_protocol_moves_nobody() -> None:
    a, b = mobile().resolve(), mobile(tcp={"sender": "reno-f"}, routing="static").resolve()
    assert a.movement.digest == b.movement.digest
    assert a.flows == b.flows
    assert a.hash != b.hash
