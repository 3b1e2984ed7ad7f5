"""Kept runs of earlier code are current again only if runs of every point come out the same."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from manetlab import provenance
from manetlab_papers import ledger, result_files
from manetlab_papers.campaigns import Scale, needed
from manetlab_papers.confirmation import Confirmation
from manetlab_papers.kept_runs import KeptPart, load
from manetlab_papers.reproduce import Keeping, Reproduction
from manetlab_papers.result_files import Kept

LEDGER = ledger.load()
KEY = "dyer2003/fig-8"
SMALL = Scale(replications=3, duration_share=0.05)


def reproduction(folder: Path, scale: Scale = SMALL) -> Reproduction:
    return Reproduction(LEDGER, scale, folder / "out", keeping=Keeping(folder / "kept", renewed=True))


def confirmed(folder: Path, scale: Scale = SMALL) -> list[Confirmation]:
    return list(reproduction(folder, scale).confirm([LEDGER.experiments[KEY]], 2))


def found(folder: Path, scale: Scale = SMALL) -> KeptPart:
    [part] = {each.campaign.name: each for each in needed(LEDGER, LEDGER.experiments[KEY], scale)}.values()
    there = load(folder / "kept", "quick", part)
    assert there is not None
    return there


def file(folder: Path) -> tuple[Path, Kept]:
    [path] = sorted((folder / "kept").rglob("*.parquet"))
    content = result_files.read(path)
    assert content is not None
    return path, content


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the kept runs of one campaign."""
    folder = tmp_path_factory.mktemp("kept")
    reproduction(folder).make(LEDGER.experiments[KEY])
    return folder


@pytest.fixture
def folder(once: Path, tmp_path: Path) -> Path:
    path, _ = file(once)
    (tmp_path / "kept" / "quick").mkdir(parents=True)
    (tmp_path / "kept" / "quick" / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture
def code_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "source_digest", lambda: "changed")


def test_current_results_are_not_run_again(folder: Path) -> None:
    assert confirmed(folder) == []


@pytest.mark.usefixtures("code_changed")
def test_runs_that_come_out_the_same_make_their_points_current(folder: Path) -> None:
    _, before = file(folder)
    points = found(folder).part.campaign.point_count
    assert found(folder).missing == list(range(points))
    [made] = confirmed(folder)
    assert (made.points, made.runs, list(made.differing)) == (points, 2 * points, [])
    assert found(folder).missing == []
    _, after = file(folder)
    unchanged = set(before.columns) - {"made_by"}
    assert set(after.columns) == set(before.columns)
    assert all(repr(list(after.columns[name])) == repr(list(before.columns[name])) for name in unchanged)
    for old, new in zip(before.columns["made_by"], after.columns["made_by"], strict=True):
        assert after.makers[new].code == before.makers[old].code
        assert after.makers[new].confirmed.endswith("2 of 3 runs of each point made again")
    assert all("confirmed by" in text for text in found(folder).cost(range(points)).code)
    assert confirmed(folder) == []


def changed_at(content: Kept, name: str, value: Any) -> Kept:
    """The content with another value in a column, of a run of the second replication."""
    values = list(content.columns[name])
    values[content.columns["replication"].index(1)] = value
    return replace(content, columns={**content.columns, name: values})


def one_ulp_more(content: Kept, name: str) -> Kept:
    old = content.columns[name][content.columns["replication"].index(1)]
    return changed_at(content, name, math.nextafter(old, math.inf))


@pytest.mark.usefixtures("code_changed")
def test_hashes_of_another_form_are_not_compared_but_all_values_are(folder: Path) -> None:
    path, content = file(folder)
    earlier = [replace(each, form="an earlier form") for each in content.makers]
    result_files.write(path, replace(changed_at(content, "result_hash", "0" * 16), makers=earlier))
    [made] = confirmed(folder)
    assert made.kept is not None


@pytest.mark.usefixtures("code_changed")
@pytest.mark.parametrize("column", ["result_hash", "runs"])
def test_one_value_that_differs_confirms_nothing(folder: Path, column: str) -> None:
    path, content = file(folder)
    if column == "runs":
        # The last digit of a measure.
        name = next(each for each in content.columns if each.startswith("runs."))
        result_files.write(path, one_ulp_more(content, name))
        column = name
    else:
        result_files.write(path, changed_at(content, column, "0" * result_files.HASH_DIGITS))
    before = path.read_bytes()
    [made] = confirmed(folder)
    assert made.kept is None
    [differing] = made.differing
    assert differing.endswith(f": {column}")
    assert path.read_bytes() == before
    assert found(folder).missing == list(range(found(folder).part.campaign.point_count))


def test_a_set_up_that_gives_other_runs_is_not_confirmed(folder: Path) -> None:
    longer = replace(SMALL, duration_share=0.06)
    [made] = confirmed(folder, longer)
    assert made.kept is None
    assert len(made.differing) == made.points


def test_a_key_that_is_new_for_the_same_runs_is_confirmed(folder: Path) -> None:
    path, content = file(folder)
    # As after a parameter was added whose default changes nothing.
    points = [replace(each, key=f"of old {number}") for number, each in enumerate(content.points)]
    result_files.write(path, replace(content, points=points))
    assert all(pick is not None and "set-up" in pick.changed for pick in found(folder).picks)
    [made] = confirmed(folder)
    assert made.kept is not None
    _, after = file(folder)
    assert after.points == content.points
    assert found(folder).missing == []
