"""An export that broke off can be repeated, and overwrites nothing that no export has written."""

from __future__ import annotations

from pathlib import Path

import pytest

from manetlab import InputError
from manetlab.campaign import export as exports
from manetlab.campaign.results import Results
from tests.campaigns import small


class BrokenOffError(BaseException):
    """What ends an export in these tests, as a kill does."""


def broken_off(results: Results, folder: Path, at: int, *, is_renamed: bool) -> bool:
    """Exports until a file is renamed for the n-th time, before or after that; was there so many?"""
    left, replace = at, Path.replace

    def breaking(path: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if left < 0 and not is_renamed:
            raise BrokenOffError
        made = replace(path, target)
        if left < 0:
            raise BrokenOffError
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "replace", breaking)
        try:
            results.export(folder)
        except BrokenOffError:
            return True
    return False


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder by their names."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("is_renamed", [False, True])
def test_an_export_that_broke_off_at_any_file_can_be_repeated(tmp_path: Path, is_renamed: bool) -> None:
    small(replications=1).run(tmp_path / "c.db", jobs=1)
    earlier = Results.load(tmp_path / "c.db")
    small(replications=2).run(tmp_path / "c.db", jobs=1)
    results = Results.load(tmp_path / "c.db")
    results.export(tmp_path / "whole")
    wanted, out = content(tmp_path / "whole"), tmp_path / "out"
    places = 0
    while broken_off(results, out, places, is_renamed=is_renamed):
        places += 1
        # What others put in the place of a file, be it written yet or not, stays theirs.
        before = content(out)
        (out / "drops.csv").write_text("mine")
        with pytest.raises(InputError, match="would overwrite"):
            results.export(out)
        assert content(out) == {**before, "drops.csv": b"mine"}
        (out / "drops.csv").unlink()
        if "drops.csv" in before:
            (out / "drops.csv").write_bytes(before["drops.csv"])
        if places % 3:
            # Now and then an earlier export is there instead of what just broke off.
            earlier.export(out)
    # Twice a file: the manifest's, and its own; and the manifest when all is done.
    assert places == 2 * (len(wanted) - 1) + 1
    assert content(out) == wanted


def test_an_export_overwrites_no_manifest_of_others(tmp_path: Path) -> None:
    results = small(replications=1).run()
    for manifest in ('{"generator": "somebody else", "files": {}}', '{"name": "app"}', "mine", "[]"):
        (tmp_path / exports.MANIFEST).write_text(manifest)
        with pytest.raises(InputError, match="would overwrite"):
            results.export(tmp_path)
        assert content(tmp_path) == {exports.MANIFEST: manifest.encode()}
