"""The wheel, installed far from the checkout: its content, README's commands, the code that results name."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from email import message_from_string
from email.message import Message
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

import manetlab
from manetlab import provenance
from tests.conftest import NS2, ROOT
from tests.engine import ENGINE
from tests.test_docs import blocks, write_named_blocks

EXTRA = "report"
"""What README installs."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [str(ROOT / "packaging/wheel.sh"), str(folder), "--profile", "developer"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_string(archive.read(name).decode())


@pytest.fixture(scope="module")
def folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment as ``pip install "manetlab[report] @ …"`` makes it, but without a network.

    What the wheel's metadata requires, and nothing else, is taken from the environment of the tests.
    """
    place = tmp_path_factory.mktemp("user")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / ".venv"], check=True)
    python = place / ".venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    [site] = (place / ".venv/lib").glob("python3.*/site-packages")
    [installed] = site.glob("manetlab-*.dist-info")
    for name in required(Distribution.at(installed), {EXTRA}):
        link(distribution(name), site)
    return place


def test_the_wheel_brings_the_licences_of_all_that_is_linked(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/third-party.txt")]
        notices = archive.read(name).decode()
    tree = ["cargo", "tree", "--locked", "--prefix", "none", "--edges", "normal", "--format", "{p}"]
    for package in ("manetlab-py", "manetlab-wasm"):
        said = subprocess.run(
            [*tree, "-p", package], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        linked = {tuple(line.split()[:2]) for line in said.splitlines() if line and "(/" not in line}
        assert len(linked) > 10
        for crate, version in linked:
            assert f"\n{crate} {version.removeprefix('v')} (" in notices, crate
    assert "plotly.js" in notices
    assert notices.count("Permission is hereby granted") > 5


def promised() -> list[str]:
    """The versions of Python that the classifiers promise, the oldest first."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    found = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in listed]
    return sorted((each[1] for each in found if each), key=lambda version: int(version[2:]))


def interpreter(version: str) -> str | None:
    """A Python of a version: of the path, or of pyenv; None if there is none that works."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]
    for candidate in filter(None, candidates):
        asked = [str(candidate), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        if said == version:
            return str(candidate)
    return None


@pytest.mark.parametrize("version", [promised()[0], promised()[-1]])
def test_the_wheel_runs_on_the_oldest_and_on_the_newest_python_promised(
    wheel: Path, version: str, tmp_path: Path
) -> None:
    """With the standard library alone: a run, and its result by the command line, need nothing else."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    subprocess.run([python, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    [site] = (tmp_path / "env/lib").glob("python3.*/site-packages")
    with ZipFile(wheel) as archive:
        archive.extractall(site)
    (tmp_path / "run.py").write_text(
        "import sys, manetlab\n"
        "flow = {'kind': 'cbr', 'src': 0, 'dst': 2, 'start_s': 0.5, 'bytes': 512, 'interval_s': 0.5}\n"
        "made = manetlab.run(movement={'chain': {'nodes': 3}}, traffic={'flows': [flow]}, duration_s=4.0)\n"
        "print('%d.%d' % sys.version_info[:2], made.totals['cbr_received'], made.hash)\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [tmp_path / "env/bin/python", "run.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    flow = {"kind": "cbr", "src": 0, "dst": 2, "start_s": 0.5, "bytes": 512, "interval_s": 0.5}
    here = manetlab.run(movement={"chain": {"nodes": 3}}, traffic={"flows": [flow]}, duration_s=4.0)
    assert done.stdout.split() == [version, str(here.totals["cbr_received"]), here.hash]
    assert here.totals["cbr_received"] > 5


def required(of: Distribution, extras: set[str]) -> set[str]:
    """The names of the distributions that one needs, directly or not."""
    names: set[str] = set()
    waiting = [(of, extras)]
    while waiting:
        current, asked = waiting.pop()
        for requirement in map(Requirement, current.requires or []):
            marker = requirement.marker
            wanted = marker is None or any(marker.evaluate({"extra": extra}) for extra in asked or {""})
            if wanted and requirement.name not in names:
                names.add(requirement.name)
                found = distribution(requirement.name)
                assert requirement.specifier.contains(found.version), requirement
                waiting.append((found, requirement.extras))
    return names


def link(of: Distribution, site: Path) -> None:
    """Makes a distribution importable from another environment."""
    source = Path(sysconfig.get_path("purelib"))
    for top in {path.parts[0] for path in of.files or []} - {"..", "__pycache__"}:
        (site / top).symlink_to(source / top)


def typed(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """What a user types in the folder, with or without ``.venv/bin``."""
    path = f"{folder / '.venv/bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": "", "COLUMNS": "120"}
    return subprocess.run(
        line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def identity(folder: Path) -> str:
    """What its stores call the code of the installed package."""
    line = "python -c 'from manetlab import provenance; print(provenance.code_identity())'"
    return typed(folder, line).stdout.strip()


def test_the_wheel_is_for_every_python_and_most_of_linux(wheel: Path, metadata: Message) -> None:
    assert re.fullmatch(r"manetlab-[\d.]+-cp311-abi3-manylinux_2_\d+_x86_64\.whl", wheel.name)
    for field in (
        "Summary",
        "Keywords",
        "Author",
        "License-Expression",
        "Requires-Python",
        "Description-Content-Type",
    ):
        assert metadata[field], field
    assert metadata.get_payload().rstrip() == (ROOT / "README.md").read_text(encoding="utf-8").rstrip()
    assert {"LICENSE-APACHE", "LICENSE-MIT"} == set(metadata.get_all("License-File") or [])
    assert "Typing :: Typed" in (metadata.get_all("Classifier") or [])
    assert {"all", "cluster", "notebook", EXTRA} <= set(metadata.get_all("Provides-Extra") or [])


def test_the_wheel_contains_the_package_and_nothing_that_was_left_about(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = ROOT / "python/manetlab"
    needless = {"__pycache__", ".mypy_cache", ".ruff_cache"}
    wanted = {
        f"manetlab/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file() and not needless & set(path.parts)
    }
    assert {name for name in names if name.startswith("manetlab/")} == {*wanted, "manetlab/_build.json"}
    assert not (package / "_build.json").exists()
    assert any(name.endswith("/share/man/man1/manetlab-run.1") for name in names)
    assert not [name for name in names if "manetlab-papers" in name]


def test_the_first_example_of_readme_prints_what_readme_shows(folder: Path) -> None:
    [shown] = [block for block in blocks(ROOT / "README.md", "text") if "moving nodes" in block]
    done = typed(folder, "manetlab demo")
    assert done.returncode == 0, done.stderr
    printed = {" ".join(line.split()) for line in done.stdout.splitlines()}
    lines = {" ".join(line.split()) for line in shown.splitlines() if line.strip() and set(line) - set(" ─…")}
    assert len(lines) > 8
    assert sorted(lines - printed) == []


def test_a_campaign_and_its_report(folder: Path) -> None:
    write_named_blocks(ROOT / "README.md", folder)
    [lines] = [block for block in blocks(ROOT / "README.md", "sh") if "campaign run" in block]
    for line in lines.splitlines():
        done = typed(folder, line)
        assert done.returncode == 0, done.stderr
    page = (folder / "reno-f-report/index.html").read_text(encoding="utf-8")
    assert "Does Reno-F beat Reno over AODV?" in page
    commit = provenance.commit()
    assert commit is not None and commit in page


def test_results_name_the_commit_and_stores_the_digest(folder: Path) -> None:
    (folder / "short.toml").write_text(
        'replications = 2\nmetrics = ["tcp_throughput_bps"]\n[factors]\ntcp = ["reno", "tahoe"]\n'
        "[base]\nduration_s = 2.0\nmovement.chain = { nodes = 2 }\n"
        'traffic.flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 0.0 }]\n'
    )
    assert typed(folder, "manetlab campaign run short.toml").returncode == 0
    files = f"--movement {NS2}/chain1.tcl --traffic {NS2}/chain1.traffic.tcl"
    named = json.loads(typed(folder, f"manetlab run {files} --duration 11 --json").stdout)["provenance"]
    assert named["commit"] == provenance.commit()
    before = identity(folder)
    assert re.fullmatch(rf"{named['version']} {named['commit']} [0-9a-f]{{12}}", before)

    # A package of the same version and commit in which somebody has changed what a run is.
    [module] = (folder / ".venv/lib").glob("python3.*/site-packages/manetlab/traffic.py")
    shutil.copy(module, folder / "kept.py")
    try:
        with module.open("a") as file:
            file.write("\nCHANGED = True\n")
        assert identity(folder) != before
        refused = typed(folder, "manetlab campaign run short.toml")
        assert refused.returncode == 2
        assert "the store has runs of another version of the code" in refused.stderr
        assert before in refused.stderr
    finally:
        shutil.copy(folder / "kept.py", module)
    again = typed(folder, "manetlab campaign run short.toml")
    assert again.returncode == 0, again.stderr


def test_a_page_that_makes_runs_is_written_where_there_is_an_engine(folder: Path) -> None:
    (folder / "two.toml").write_text(
        "duration_s = 2.0\nmovement.chain = { nodes = 2 }\n"
        'traffic.flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 0.0 }]\n'
    )
    done = typed(folder, "manetlab view two.toml --live --output two.html")
    assert done.returncode == 0, done.stderr
    is_live = 'id="engine"' in (folder / "two.html").read_text(encoding="utf-8")
    assert is_live == ENGINE.exists() == ("without the engine" not in done.stderr)


def test_man_finds_the_pages(folder: Path) -> None:
    done = typed(folder, "man -M .venv/share/man -w manetlab-campaign-run")
    assert done.stdout.strip().endswith(".venv/share/man/man1/manetlab-campaign-run.1")
