"""Which of a wheel's two cores is taken, and how the second comes into the wheel."""

import base64
import hashlib
import runpy
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path
from zipfile import ZipFile

import pytest

from manetlab import processor
from tests.conftest import ROOT

NEW = "processor\t: 0\nmodel name\t: made up\nflags\t\t: fpu abm sse4_2 popcnt " + " ".join(processor.FLAGS)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The folder of a package with two cores."""
    for folder in (tmp_path, tmp_path / processor.FOLDER):
        folder.mkdir(exist_ok=True)
        (folder / f"_core{EXTENSION_SUFFIXES[-1]}").touch()
    return tmp_path


def core_of(package: Path) -> str:
    """The folder of the core that is imported."""
    found = PathFinder.find_spec("_core", [*processor.folders(str(package)), str(package)])
    assert found is not None and found.origin is not None
    return Path(found.origin).parent.name


def test_the_second_core_is_for_processors_that_have_all_it_needs(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(processor.VARIABLE, raising=False)
    monkeypatch.setattr(processor, "cpuinfo", lambda: NEW)
    assert core_of(package) == processor.FOLDER
    for missing in (processor.LZCNT, *processor.FLAGS):
        monkeypatch.setattr(processor, "cpuinfo", lambda without=missing: NEW.replace(f" {without}", " -"))
        assert core_of(package) == package.name, missing
    # aarch64, and a system that says nothing.
    for described in ("processor\t: 0\nFeatures\t: fp asimd evtstrm\n", "", "flags\t\t:\n"):
        monkeypatch.setattr(processor, "cpuinfo", lambda described=described: described)
        assert core_of(package) == package.name


def test_the_first_core_can_be_asked_for(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "cpuinfo", lambda: NEW)
    monkeypatch.setenv(processor.VARIABLE, "any")
    assert core_of(package) == package.name


def test_a_package_with_one_core_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "cpuinfo", lambda: pytest.fail("the processor was looked at"))
    assert processor.folders(str(tmp_path)) == []


def test_a_wheel_knows_its_second_core(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "packaging" / "second_core.py"))
    core, record = script["CORE"], "manetlab-0.1.0.dist-info/RECORD"
    wheels = [tmp_path / name for name in ("first.whl", "second.whl")]
    for wheel in wheels:
        with ZipFile(wheel, "w") as archive:
            lines = ["manetlab/__init__.py,sha256=x,0", f'"{core}",sha256=y,5', f"{record},,"]
            archive.writestr("manetlab/__init__.py", "")
            archive.writestr(core, wheel.stem)
            archive.writestr(record, "\n".join(lines) + "\n")
    script["main"](*wheels)
    added = f"manetlab/{processor.FOLDER}/_core.abi3.so"
    with ZipFile(wheels[0]) as archive:
        assert archive.namelist() == ["manetlab/__init__.py", core, added, record]
        assert (archive.read(core), archive.read(added)) == (b"first", b"second")
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"second").digest()).decode().rstrip("=")
        assert archive.read(record).decode().splitlines() == [
            "manetlab/__init__.py,sha256=x,0",
            f"{core},sha256=y,5",
            f"{added},sha256={digest},6",
            f"{record},,",
        ]
    with pytest.raises(SystemExit, match="has a second core already"):
        script["main"](*wheels)
