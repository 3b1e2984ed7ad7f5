"""How large the repository is: what is made again is not stored, and nothing grows unseen.

A limit is raised only with a reason, in the message of the commit that needs it.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.conftest import ROOT

LIMITS = {
    "": (1_600, 19_045_000),
    "crates": (623, 4_998_000),
    "docs": (74, 1_757_000),
    "papers": (199, 7_120_000),
    "papers/kept": (5, 4_030_000),
    "python": (208, 1_783_500),
    "tests": (163, 1_500_000),
    "validation": (56, 420_000),
    "viewer": (70, 460_000),
}
"""The most files and bytes of a folder; of the whole repository under no name."""


def sizes() -> dict[str, int]:
    """The bytes of each file that git knows."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return {name: (ROOT / name).stat().st_size for name in listed if name and (ROOT / name).is_file()}


@pytest.mark.parametrize("folder", LIMITS, ids=lambda each: each or "all")
def test_no_folder_is_larger_than_its_limit(folder: str) -> None:
    of = [size for name, size in sizes().items() if not folder or name.startswith(f"{folder}/")]
    files, size = LIMITS[folder]
    where = folder or "the repository"
    what = f"{where} has {{}}: change its entry in LIMITS, and say why in the commit's message"
    assert 0.8 * files < len(of) <= files, what.format(f"{len(of)} files")
    assert 0.8 * size < sum(of) <= size, what.format(f"{sum(of)} bytes")


def test_what_is_made_from_kept_results_is_not_stored() -> None:
    names = [name for name in sizes() if name.startswith("papers/")]
    charts = [name for name in names if name.endswith(".svg")]
    assert len(charts) <= 10
    assert not [name for name in names if name.startswith("papers/kept/") and not name.endswith(".zip")]


NETWORK = 1_499
"""The most lines of `crates/core/src/network` without its tests: a packet's way through the layers."""


def test_the_network_is_no_more_than_a_packets_way_through_the_layers() -> None:
    folder = ROOT / "crates" / "core" / "src" / "network"
    files = [file for file in folder.rglob("*.rs") if file.name != "tests.rs"]
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    assert NETWORK - 100 <= lines <= NETWORK, f"{lines} lines: what belongs in another folder?"
