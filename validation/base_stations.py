"""What base stations do about the losses of their radio: the table of docs/models/wired-links.md.

    python -m validation.base_stations

One transfer from a host over a wire and a base station to a mobile, at several bit error rates, with each
mechanism of Balakrishnan and others (1997), and with AIRMAIL.
"""

from __future__ import annotations

from manetlab import Result, Scenario, run_many
from manetlab.stats import mean_interval

SEEDS = range(1, 7)
BIT_ERROR_RATES = (0.0, 1.9e-6, 5e-6, 1e-5)
ARMS = {
    "Reno": ("reno", "none"),
    "SACK": ("sack", "none"),
    "SMART": ("smart", "none"),
    "ELN": ("eln", "eln"),
    "repeats at the link layer (`arq`)": ("reno", "arq"),
    "AIRMAIL": ("reno", "airmail"),
    "snoop": ("reno", "snoop"),
    "snoop, SACK": ("sack", "snoop"),
}
"""The sender and what the base station does, by the column's title."""


def scenario(sender: str, base_station: str, bit_error_rate: float, seed: int) -> Scenario:
    """A host behind a base station, and a mobile 100 m from it, with a card from before 802.11."""
    return Scenario.build(
        {
            "duration_s": 125.0,
            "warmup_s": 5.0,
            "routing": "static",
            "seed": seed,
            "wired": [{"nodes": [0, 1], "rate_bps": 10e6, "delay_s": 0.01, "queue_packets": 50}],
            "movement": {"positions": [[-10000, 0], [0, 0], [100, 0]]},
            "radio": {"bit_error_rate": bit_error_rate},
            "mac": {"repeats_damaged": False},
            "traffic": {"flows": [{"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.0, "window": 20}]},
            "tcp": {"sender": sender, "base_station": base_station},
        }
    )


def cell(results: list[Result]) -> str:
    """Mean throughput in kb/s with its 95 % interval, and mean timeouts."""
    rates = mean_interval([result.totals["tcp_throughput_bps"] / 1e3 for result in results])
    timeouts = sum(result.flows[0]["timeouts"] for result in results) / len(results)
    return f"{rates.mean:.0f} ± {rates.half_width:.0f} ({timeouts:.0f})"


def main() -> None:
    """Prints the table."""
    print(f"| bit error rate | {' | '.join(ARMS)} |\n|{'---|' * (len(ARMS) + 1)}")
    for rate in BIT_ERROR_RATES:
        cells = [cell(run_many(scenario(*arm, rate, seed) for seed in SEEDS)) for arm in ARMS.values()]
        print(f"| {rate:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
