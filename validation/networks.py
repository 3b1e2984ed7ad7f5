"""The networks that ns-2 was measured on, as files: fifteen that move, from an archive, and eight chains.

`ns2/networks.tar.xz` packs what `setdest` and `cbrgen.tcl` wrote; chains differ in their length only, and
higher loads in the intervals between packets.
"""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "ns2"
ARCHIVE = FOLDER / "networks.tar.xz"
CHAINS = range(1, 9)
"""The numbers of hops."""

INTERVALS = {"L300": "0.341333", "L400": "0.256000"}
"""Seconds between packets with which 25 CBR flows offer 300 and 400 kb/s, by the end of the load's name."""
USUAL_INTERVAL = "0.512000"
"""Those that offer 200 kb/s."""
LOADED = range(1, 5)
"""The numbers of the networks that carry these loads."""


@cache
def unpacked() -> Path:
    """The folder with all files, out/ns2-DIGEST, which is made if it is not there."""
    made_of = ARCHIVE.read_bytes() + Path(__file__).read_bytes()
    digest = hashlib.sha256(made_of).hexdigest()[:12]
    folder = FOLDER.parents[1] / "out" / f"ns2-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        # Whole or not at all, whoever else does the same.
        filling = Path(tempfile.mkdtemp(dir=folder.parent))
        fill(filling)
        try:
            filling.rename(folder)
        except OSError:
            shutil.rmtree(filling)
    return folder


def fill(folder: Path) -> None:
    """Puts all files into a folder."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    for number in LOADED:
        usual = (folder / f"p{number:02}-cbr25.traffic.tcl").read_text(encoding="utf-8")
        for load, interval in INTERVALS.items():
            text = usual.replace(f"interval_ {USUAL_INTERVAL}", f"interval_ {interval}")
            (folder / f"p{number:02}-cbr25{load}.traffic.tcl").write_text(text, encoding="utf-8")
    for hops in CHAINS:
        for name, text in chain(hops).items():
            (folder / name).write_text(text, encoding="utf-8")


def chain(hops: int) -> dict[str, str]:
    """The files of a chain: nodes 200 m apart, and a TCP flow from the first to the last from 10 s on."""
    places = "".join(
        f"$node_({node}) set {axis}_ {value}\n"
        for node in range(hops + 1)
        for axis, value in (("X", 10 + 200 * node), ("Y", 50), ("Z", 0.0))
    )
    traffic = f"""#
# 0 connecting to {hops} at time 10.0
#
set tcp_(0) [$ns_ create-connection TCP $node_(0) TCPSink $node_({hops}) 0]
$tcp_(0) set window_ 8
$tcp_(0) set packetSize_ 1460
set ftp_(0) [$tcp_(0) attach-source FTP]
$ns_ at 10.0 "$ftp_(0) start"
#
#Total sources/connections: 1/1
#
"""
    return {f"chain{hops}.tcl": places, f"chain{hops}.traffic.tcl": traffic}
