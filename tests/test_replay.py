"""Pages that play runs: what is in them, what is refused, and that they are built from their sources."""

from __future__ import annotations

import base64
import json
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab.replay.page import page
from manetlab.replay.recorded import is_recording, names, parsed
from tests.conftest import ROOT, Cli
from tests.recordings import Recorded

VIEWER = ROOT / "viewer"
BUILT = ROOT / "python" / "manetlab" / "replay" / "assets" / "page.html"


def recording(duration_s: float = 5.0, seed: int = 1) -> bytes:
    made = Recorded(2, duration_s)
    made.flows = [{"id": 0, "kind": "cbr", "src": 0, "dst": 1, "start_s": 1.0}]
    made.point(0, 0, 0.0, 0.0)
    made.point(1, 0, 100.0, 0.0)
    for second in range(1, 4):
        made.frame(second * 10**9, 0, 1, ("data", "data", 100, 10**6), second, [(1, "received")])
    content = made.to_bytes()
    return content if seed == 1 else content.replace(*_heads(content, seed))


def _heads(content: bytes, seed: int) -> tuple[bytes, bytes]:
    """The chunk of the head, and the same with another seed."""
    stored = struct.unpack_from("<I", content, 20)[0]
    head = json.loads(zlib.decompress(content[32 : 32 + stored]))
    new = zlib.compress(json.dumps({**head, "seed": seed}).encode())
    return content[16 : 32 + stored], b"HEAD" + struct.pack("<III", len(new), 0, zlib.crc32(new)) + new


def config(html: str) -> dict[str, Any]:
    found = re.search(r'id="config">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


def test_the_page_holds_the_recording_as_it_is(cli: Cli, tmp_path: Path) -> None:
    content = recording()
    (tmp_path / "run.mlrec").write_bytes(content)
    done = cli("view", "run.mlrec", "-o", "page.html", "--title", "</title><script>alert(1)</script>")
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = re.search(r'id="run-0">(.*?)</script>', html)
    assert found is not None
    assert content.startswith(base64.b64decode(found[1]))
    assert "<script>alert" not in html
    assert "&lt;/title&gt;" in html
    assert config(html)["runs"][0]["summary"] == ["AODV", "2 nodes", "5 s"]
    assert "{{" not in re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)


def test_the_page_names_no_address() -> None:
    html = page([parsed(recording(), "run")], "run")
    allowed = {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"""(?:https?:)?//[\w.-]+\.\w+[^"'\s<)]*""", html)) <= allowed
    assert "default-src 'none'" in html


def test_two_runs_are_named_by_what_differs() -> None:
    first, second = parsed(recording(), "a/x.mlrec"), parsed(recording(seed=2), "b/x.mlrec")
    assert names([first, second]) == ["seed 1", "seed 2"]
    assert names([first, first]) == ["first run", "second run"]
    assert names([first, parsed(recording(), "y.mlrec")]) == ["x", "y"]


def test_runs_of_different_lengths_are_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.mlrec").write_bytes(recording())
    (tmp_path / "b.mlrec").write_bytes(recording(duration_s=6.0))
    done = cli("view", "a.mlrec", "--compare", "b.mlrec")
    assert done.returncode == 2
    assert "the runs cannot be played in step" in done.stderr
    assert "5 s and 6 s" in done.stderr
    assert not (tmp_path / "replay.html").exists()


SMALL = """duration_s = 3
[movement]
chain = {nodes = 3, spacing_m = 200.0}
[[traffic.flows]]
kind = "tcp"
src = 0
dst = 2
start_s = 0.5
"""


def test_a_scenario_is_run_and_a_run_of_a_store_made_again(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "campaign.toml").write_text(
        'name = "c"\nbase = "small.toml"\nreplications = 1\nfirst_seed = 1\n'
        '[factors]\ntcp = ["reno", "reno-f"]\n'
    )
    assert cli("campaign", "run", "campaign.toml", "--store", "c.db").returncode == 0
    for arguments, sender in (
        (["small.toml"], "TCP Reno"),
        (["c.db", "--point", 1, "--replication", 0], "TCP Reno-F"),
    ):
        done = cli("view", *arguments, "-o", "page.html")
        assert done.returncode == 0, done.stderr
        (run,) = config((tmp_path / "page.html").read_text(encoding="utf-8"))["runs"]
        assert run["summary"] == ["AODV", sender, "3 nodes", "3 s"]
        assert run["missing"] == []
        assert run["queueLimit"] == 50
    for wrong in (["c.db"], ["c.db", "--point", 9, "--replication", 0], ["small.toml", "--point", 0]):
        assert cli("view", *wrong).returncode == 2, wrong


def test_a_recording_that_was_cut_short_plays_up_to_there() -> None:
    content = recording()
    assert parsed(content, "run").is_complete
    for length in range(content.index(b"BLCK"), len(content)):
        cut = parsed(content[:length], "run")
        assert not cut.is_complete
        (note,) = config(page([cut], "run"))["runs"]
        assert note["missing"] == [
            "The run was stopped before its end: the recording holds what happened up to then."
        ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\x89MLREC\r\n", "not a recording"),
        (b"\x89MLREC\r\n" + struct.pack("<II", 4, 0), "another version"),
        (b"\x89MLREC\r\n" + struct.pack("<II", 2, 0), "not whole"),
        (recording()[:60], "not whole"),
    ],
)
def test_what_cannot_be_played_is_refused(cli: Cli, tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "run.mlrec").write_bytes(content)
    done = cli("view", "run.mlrec")
    assert done.returncode == 2
    assert message in done.stderr or not is_recording(tmp_path / "run.mlrec")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "replay.html").exists()


def test_a_damaged_head_is_refused() -> None:
    content = recording()
    for bad in (b"[]", b"{", b"\xff"):
        stored = zlib.compress(bad)
        chunk = b"HEAD" + struct.pack("<III", len(stored), 0, zlib.crc32(stored)) + stored
        with pytest.raises(manetlab.InputError, match="head"):
            parsed(content[:16] + chunk + content[content.index(b"MOVE") :], "run")


def test_a_notebook_shows_the_page_in_a_frame(tmp_path: Path) -> None:
    (tmp_path / "run.mlrec").write_bytes(recording())
    replay = manetlab.view(tmp_path / "run.mlrec")
    frame = replay._repr_html_()
    assert frame.startswith("<iframe")
    assert frame.count('"') == 2 * len(re.findall(r'[\w-]+="', frame))
    assert replay.save(tmp_path / "page.html").read_text(encoding="utf-8") == replay.html


def test_the_built_page_is_that_of_its_sources(tmp_path: Path) -> None:
    """What is committed is what `make viewer` builds; without Node its digest of the sources is compared."""
    import hashlib

    digest = hashlib.sha256()
    for path in [*sorted((VIEWER / "src").iterdir()), VIEWER / "build.mjs", VIEWER / "package-lock.json"]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    built = BUILT.read_text(encoding="utf-8")
    assert f'<meta name="sources" content="{digest.hexdigest()}">' in built, "run `make viewer`"
    if shutil.which("node") and (VIEWER / "node_modules" / "esbuild").exists():
        again = tmp_path / "page.html"
        subprocess.run(["node", "build.mjs", str(again)], cwd=VIEWER, check=True, timeout=120)
        assert again.read_bytes() == BUILT.read_bytes(), "run `make viewer`"
