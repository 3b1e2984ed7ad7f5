"""Makes ns-2.35.txt anew: python traces.py > ns-2.35.txt. It needs `ns`.

One line a transfer: sender, lost packets, marked ones with an m before them, then TIME:NUMBER:CWND for each
segment sent, in ms and segments.
"""

import subprocess
from pathlib import Path

AGENTS = {
    "reno": ("TCP/Reno", "TCPSink"),
    "newreno": ("TCP/Newreno", "TCPSink"),
    "sack": ("TCP/Sack1", "TCPSink/Sack1"),
    "tahoe": ("TCP", "TCPSink"),
    "vegas": ("TCP/Vegas", "TCPSink"),
}
LOSSES = ([], [0], [0, 1], [1], [1, 2], [20], [20, 22], [20, 22, 24], [20, 21, 22, 23], [20, 36])
# Lost and marked packets of transfers with ECN.
MARKS = (
    ([], [1]),
    ([], [1, 2, 3, 4, 5]),
    ([], [3]),
    ([], [20]),
    ([], [20, 22]),
    ([], [20, 40, 60]),
    ([21], [20]),
    ([36], [20]),
    ([80], [20]),
)


def trace(sender: str, lost: list[int], marked: list[int]) -> str:
    """The segments of one transfer."""
    agent, sink = AGENTS[sender]
    script = Path(__file__).with_name("traces.tcl")
    command = ["ns", str(script), agent, sink, " ".join(map(str, lost)), " ".join(map(str, marked))]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    sent, cwnd = [], 1.0
    for line in lines:
        words = line.split()
        if words[0] == "+":
            sent.append(f"{float(words[1]) * 1000:.0f}:{words[10]}:{cwnd:.3f}")
        elif len(words) > 6 and words[5] == "cwnd_":
            cwnd = float(words[6])
    packets = [*map(str, lost), *(f"m{number}" for number in marked)]
    return " ".join([sender, ",".join(packets) or "-", *sent])


if __name__ == "__main__":
    for name in AGENTS:
        for packets in LOSSES:
            print(trace(name, packets, []))
    # ns-2's Vegas has no ECN.
    for name in ("reno", "newreno", "sack", "tahoe"):
        for packets, marks in MARKS:
            print(trace(name, packets, marks))
