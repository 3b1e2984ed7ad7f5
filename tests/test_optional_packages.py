"""The base installation runs scenarios, campaigns and statistics; what else is asked for names its extra."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from manetlab.optional_packages import EXTRAS
from tests.conftest import NS2, ROOT

WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
from manetlab.cli import main
sys.argv = ["manetlab", *{words}]
main()
"""
CAMPAIGN = """
replications = 2
metrics = ["tcp_throughput_bps"]
[base]
movement = {{ chain = {{ nodes = 2 }} }}
traffic = {{ flows = [{{ kind = "tcp", src = 0, dst = 1, start_s = 0 }}] }}
duration_s = 2.0
[factors]
tcp = ["reno", "tahoe"]
"""
FILES = [
    "--movement",
    str(NS2 / "chain1.tcl"),
    "--traffic",
    str(NS2 / "chain1.traffic.tcl"),
    "--duration",
    "11",
]


def without_extras(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command where no package of any extra is installed."""
    blocked = {module for modules in EXTRAS.values() for module in modules}
    program = WITHOUT.format(blocked=blocked, words=list(words))
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "question.toml").write_text(CAMPAIGN.format())
    done = without_extras(tmp_path, "campaign", "run", "question.toml", "--store", "s.db")
    assert done.returncode == 0, done.stderr
    return tmp_path / "s.db"


@pytest.mark.parametrize(
    "words",
    [
        ["run", *FILES],
        ["run", *FILES, "--seeds", "2"],
        ["run", *FILES, "--series", "1", "--series-output", "s.csv"],
        ["profile", "list"],
        ["scenario", "check", str(ROOT / "golden" / "chain3-tcp.toml")],
        ["scenario", "report", *FILES],
        ["campaign", "results", "s.db"],
        ["campaign", "export", "s.db", "-o", "out", "--format", "csv"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_the_base_installation_suffices(words: list[str], store: Path) -> None:
    done = without_extras(store.parent, *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["report", "s.db"], "report"),
        (
            ["campaign", "run", "question.toml", "--store", "t.db", "--scheduler", "tcp://127.0.0.1:1"],
            "cluster",
        ),
        (["campaign", "export", "s.db", "-o", "out", "--format", "parquet"], "notebook"),
        (["run", *FILES, "--series", "1", "--series-output", "s.parquet"], "notebook"),
    ],
    ids=lambda given: given if isinstance(given, str) else " ".join(given[:2]),
)
def test_what_needs_an_extra_names_it(words: list[str], extra: str, store: Path) -> None:
    done = without_extras(store.parent, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert f'hint:   pip install "manetlab[{extra}]"' in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in store.parent.iterdir()} == {"s.db", "question.toml"}


def test_the_distribution_has_these_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra, modules in EXTRAS.items():
        named = {each.partition(">")[0].replace("-", "_") for each in project["optional-dependencies"][extra]}
        assert named == set(modules)
