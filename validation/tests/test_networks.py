"""The files of ns-2's networks that are written are those that ns-2 was measured on."""

from pathlib import Path

import pytest

from validation import networks


def test_chains_are_written_as_those_that_are_stored() -> None:
    for hops in (1, 2, 3):
        for name, text in networks.chain(hops).items():
            assert (networks.FOLDER / name).read_text(encoding="utf-8") == text


def test_the_archive_has_all_networks_and_those_that_are_stored_beside_it(tmp_path: Path) -> None:
    networks.fill(tmp_path)
    moving = {f"p{number:02}{end}" for number in range(1, 16) for end in ENDS}
    loaded = {f"p{number:02}-cbr25{load}.traffic.tcl" for number in range(1, 5) for load in ("L300", "L400")}
    chains = {f"chain{hops}{end}" for hops in range(1, 9) for end in (".tcl", ".traffic.tcl")}
    assert {path.name for path in tmp_path.iterdir()} == moving | loaded | chains
    for path in networks.FOLDER.glob("p*"):
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_a_higher_load_sends_the_same_packets_more_often(tmp_path: Path) -> None:
    networks.fill(tmp_path)
    flows = {
        load: (tmp_path / f"p01-cbr25{load}.traffic.tcl").read_text(encoding="utf-8").splitlines()
        for load in ("", "L300", "L400")
    }
    for load, share in (("L300", 2 / 3), ("L400", 1 / 2)):
        changed = [pair for pair in zip(flows[""], flows[load], strict=True) if pair[0] != pair[1]]
        assert len(changed) == 25
        for usual, more_often in changed:
            assert float(more_often.split()[-1]) == pytest.approx(float(usual.split()[-1]) * share, abs=1e-6)


ENDS = (".mov", "-1tcp.traffic.tcl", "-10tcp.traffic.tcl", "-cbr25.traffic.tcl")
"""Movement, and the traffic that it is run with."""


def test_the_files_are_unpacked_once() -> None:
    folder = networks.unpacked()
    assert folder == networks.unpacked()
    assert (folder / "p15.mov").is_file()
