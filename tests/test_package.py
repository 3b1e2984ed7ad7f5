"""What is imported when, and what the package offers."""

import subprocess
import sys
from pathlib import Path

import pytest

import manetlab
from manetlab import InputError
from manetlab.files import read_bytes, write_text


def test_everything_offered_is_there() -> None:
    assert all(getattr(manetlab, name) is not None for name in manetlab.__all__)
    with pytest.raises(AttributeError):
        _ = manetlab.nothing


@pytest.mark.parametrize("module", ["manetlab", "manetlab.cli"])
def test_heavy_modules_are_not_imported_before_they_are_needed(module: str) -> None:
    program = f"import sys, {module}; print([m for m in ('numpy', 'scipy', 'pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests may run as root, who may read everything.
    def denied(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "secret").write_text("x")
    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(InputError, match="cannot be read") as caught:
        read_bytes(tmp_path / "secret", "movement file")
    assert caught.value.found == "Permission denied"


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    write_text(target, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
