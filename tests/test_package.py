"""What is imported when, and what the package offers."""

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

import manetlab
from manetlab import InputError
from manetlab.files import read_bytes, write_text
from tests.conftest import NS2


def test_everything_offered_is_there() -> None:
    assert all(getattr(manetlab, name) is not None for name in manetlab.__all__)
    with pytest.raises(AttributeError):
        _ = manetlab.nothing


FOR_STUDIES = {
    "dask", "distributed", "jinja2", "matplotlib", "numpy", "pandas", "plotly", "pyarrow", "scipy", "xarray"
}  # fmt: skip
"""What takes long to import and no single run needs."""
RUN = ["run", "--movement", "chain1.tcl", "--traffic", "chain1.traffic.tcl", "--duration", "11"]
CHANGED = ["--profile", "ns-2.35", "--routing", "dsr", "--tcp", "sack", "--set", "queue.packets=20"]


@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        (None, {*FOR_STUDIES, "rich", "click", "tomllib", "json", "concurrent.futures"}),
        (["--help"], {*FOR_STUDIES, "rich", "tomllib", "concurrent.futures", "manetlab._core"}),
        (
            ["--version"],
            {*FOR_STUDIES, "rich", "tomllib", "concurrent.futures", "manetlab._core"},
        ),
        ([*RUN, "--json"], {*FOR_STUDIES, "rich", "tomllib", "concurrent.futures", "csv"}),
        ([*RUN, *CHANGED, "--json"], {*FOR_STUDIES, "rich", "concurrent.futures"}),
        (
            ["run", "../../golden/chain3-tcp.toml", "--json"],
            {*FOR_STUDIES, "rich", "concurrent.futures", "csv"},
        ),
        (RUN, FOR_STUDIES),
    ],
)
def test_heavy_modules_are_not_imported_before_they_are_needed(
    words: list[str] | None, unwanted: set[str]
) -> None:
    program = f"""
import sys
import manetlab
try:
    if {words} is not None:
        from manetlab.cli import main
        sys.argv = ["manetlab", *{words}]
        main()
except SystemExit as ended:
    assert not ended.code, ended.code
print(sorted({unwanted} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=NS2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests may run as root, who may read everything.
    def denied(*_: object) -> IO[bytes]:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "secret").write_text("x")
    monkeypatch.setattr(Path, "open", denied)
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
