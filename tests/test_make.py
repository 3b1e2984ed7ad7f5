"""The Makefile in a bare copy: what is missing is said before anything is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

NEEDED = ("bash", "make", "find", "sed", "cut", "sort", "head", "dirname", "python3", "env")
"""Programs that checking for Rust, and the making of a virtual environment after it, would use."""


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A copy of what ``make build`` looks at first, with a folder of programs that has no cargo."""
    copy = tmp_path / "copy"
    for name in ("Makefile", "Cargo.toml", "requirements.lock", "packaging/rust.sh"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    (tmp_path / "bin").mkdir()
    for name in NEEDED:
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    return copy


def make(copy: Path, target: str) -> subprocess.CompletedProcess[str]:
    """What ``make`` does there; python3 is one that says when it is called."""
    programs = copy.parent / "bin"
    (programs / "python3").unlink()
    (programs / "python3").write_text('#!/bin/sh\necho "python3 was called" >&2\nexit 1\n')
    (programs / "python3").chmod(0o755)
    return subprocess.run(
        [str(programs / "make"), target],
        cwd=copy,
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def put(copy: Path, name: str, text: str) -> None:
    program = copy.parent / "bin" / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


@pytest.mark.parametrize("target", ["demo", "build"])
def test_a_missing_compiler_is_said_before_anything_is_installed(bare: Path, target: str) -> None:
    done = make(bare, target)
    assert done.returncode != 0
    assert "manetlab needs Rust 1.95 or newer: https://rustup.rs" in done.stderr
    assert "python3 was called" not in done.stderr
    assert not (bare / ".venv").exists()


@pytest.mark.parametrize(
    ("version", "is_enough"),
    [
        ("rustc 1.94.1 (e408947bf 2026-01-01)", False),
        ("rustc 1.9.0 (18d2d7fb5 2016-05-23)", False),
        ("rustc 1.95.0 (59807616e 2026-04-14)", True),
        ("rustc 1.100.0-nightly (0123456 2027-01-01)", True),
        ("rustc 2.0.0 (0123456 2030-01-01)", True),
    ],
)
def test_an_old_compiler_is_said_before_anything_is_installed(
    bare: Path, version: str, is_enough: bool
) -> None:
    put(bare, "cargo", "exit 0")
    put(bare, "rustc", f"echo '{version}'")
    done = make(bare, "build")
    assert done.returncode != 0
    assert (
        f"manetlab needs Rust 1.95 or newer: https://rustup.rs (rustc is {version.split()[1]})" in done.stderr
    ) == (not is_enough)
    # The next check is that of Python.
    assert ("python3 was called" in done.stderr) == is_enough
    assert not (bare / ".venv").exists()


def test_a_toolchain_that_is_not_set_up_is_said(bare: Path) -> None:
    put(bare, "cargo", "exit 1")
    put(bare, "rustc", "echo 'no default toolchain' >&2; exit 1")
    done = make(bare, "demo")
    assert "manetlab needs Rust 1.95 or newer: https://rustup.rs" in done.stderr
    assert "python3 was called" not in done.stderr


def test_the_viewers_tests_are_skipped_by_name_where_node_is_missing(bare: Path) -> None:
    done = make(bare, "viewer-tests")
    assert done.returncode == 0, done.stderr
    assert "Skipped: the tests of viewer (viewer/test); they need Node 20 and npm." in done.stderr
