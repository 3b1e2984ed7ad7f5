"""What tells results of different code apart: every source that may change a result."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import manetlab
from manetlab import _core, provenance
from tests.conftest import ROOT
from tests.rust_modules import sources

PACKAGE = ROOT / "python" / "manetlab"
CRATES = {"": "core", "formats": "formats", "py": "py", "resolver": "resolver"}
"""The crates that have a part in a run, by what is before the names of their modules."""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the sources in Python."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "assets")
    return shutil.copytree(PACKAGE, tmp_path / "manetlab", ignore=ignored)


def test_a_change_of_any_module_in_python_changes_the_identity(package: Path) -> None:
    modules, seen = _core.modules(), set[str]()
    unchanged = provenance.digest_of(modules, package)
    assert unchanged == provenance.source_digest()
    files = sorted([*package.rglob("*.py"), *package.rglob("*.toml")])
    assert len(files) > 100
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        seen.add(provenance.digest_of(modules, package))
        path.write_bytes(content)
    assert provenance.digest_of(modules, package) == unchanged
    assert len(seen) == len(files)
    assert unchanged not in seen


def test_a_change_of_any_module_in_rust_changes_the_identity(package: Path) -> None:
    modules = _core.modules()
    seen = {provenance.digest_of(modules, package)}
    for number, (name, digest) in enumerate(modules):
        changed = [*modules[:number], (name, f"{digest[:-1]}x"), *modules[number + 1 :]]
        seen.add(provenance.digest_of(changed, package))
    assert len(seen) == len(modules) + 1


def test_a_module_that_is_new_gone_or_named_anew_changes_the_identity(package: Path) -> None:
    modules = _core.modules()
    before = provenance.digest_of(modules, package)
    seen = {before}
    (package / "another.py").write_text("", encoding="utf-8")
    seen.add(provenance.digest_of(modules, package))
    (package / "another.py").rename(package / "stats" / "another.py")
    seen.add(provenance.digest_of(modules, package))
    (package / "stats" / "another.py").unlink()
    assert provenance.digest_of(modules, package) == before
    (package / "web.py").unlink()
    seen.add(provenance.digest_of(modules, package))
    assert len(seen) == 4


def test_every_module_in_rust_has_a_digest_and_tests_have_none() -> None:
    digests = dict(_core.modules())
    wanted = {
        "/".join(filter(None, (prefix, *(module or ("lib",)))))
        for prefix, crate in CRATES.items()
        for module in sources(ROOT / "crates" / crate / "src")
    }
    assert set(digests) == wanted | {"dependencies"}
    assert not [name for name in digests if "tests" in name or "testbench" in name]


def identity(monkeypatch: pytest.MonkeyPatch, commit: str | None, root: Path | None) -> str:
    monkeypatch.setattr(provenance, "commit", lambda: commit)
    monkeypatch.setattr(provenance, "repository", lambda: root)
    return provenance.code_identity.__wrapped__()


def test_a_clean_checkout_is_known_by_its_commit_and_anything_else_by_its_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version, digest = manetlab.__version__, provenance.source_digest()
    assert identity(monkeypatch, "abc", ROOT) == f"{version} abc"
    assert identity(monkeypatch, "abc-dirty", ROOT) == f"{version} abc-dirty {digest}"
    assert identity(monkeypatch, None, ROOT) == f"{version} without commit {digest}"
    # A package says what it was made of, but not whether somebody has changed it since.
    assert identity(monkeypatch, "abc", None) == f"{version} abc {digest}"
