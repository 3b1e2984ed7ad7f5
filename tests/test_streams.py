"""Whatever the output's encoding is and whatever files are called, commands print and no letter ends them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from manetlab.cli.streams import plainly

SCENARIO = "duration_s = 2.0\nmovement.chain = { nodes = 3 }\ntraffic.random = { cbr = 1 }\n"
CAMPAIGN = (
    f'question = "Größer ≥ 1 ½?"\nreplications = 2\nfactors.routing = ["aodv", "dsr"]\n[base]\n{SCENARIO}'
)
COMMANDS = (
    "run b.toml --seeds 3",
    "run --help",
    "run b.toml",
    "shares b.toml",
    "scenario report b.toml",
    "scenario show b.toml",
    "campaign run c.toml",
    "campaign results c.toml",
    "campaign status c.toml",
    "profile diff rfc ns-2.35",
    "list",
    "run missing-ü.toml",
)
ENCODINGS = {
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "utf-8": {"PYTHONIOENCODING": "utf-8"},
}


def call(folder: Path, words: list[str], **more: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "manetlab", *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **more}, capture_output=True, timeout=120, check=False
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_command_prints_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "b.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "c.toml").write_text(CAMPAIGN, encoding="utf-8")
    for words in COMMANDS:
        made = call(tmp_path, words.split(), **ENCODINGS[encoding])
        assert b"Traceback" not in made.stderr, (words, made.stderr)
        assert made.returncode == (2 if "missing" in words else 0), (words, made.stderr)
        if encoding == "ascii" and "--help" not in words:
            made.stdout.decode("ascii")


def test_files_and_folders_may_have_any_name(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path / "b") + b"\xfccher"))
    folder.mkdir()
    odd = os.fsdecode(b"\xfc.toml")
    (folder / odd).write_text(SCENARIO)
    (folder / "c.toml").write_text(CAMPAIGN, encoding="utf-8")
    recorded = os.fsdecode(b"\xfc.mlrec")
    for words in (
        ["run", odd],
        ["run", str(folder / odd), "--record", recorded, "--pcap", os.fsdecode(b"\xfd"), "--ns2-trace", "t"],
        ["recording", "show", recorded],
        ["recording", "export", recorded, "--json-lines"],
        ["view", recorded],
        ["view", odd, "-o", os.fsdecode(b"\xfe.html")],
        ["scenario", "show", odd],
        ["scenario", "report", odd],
        ["campaign", "run", str(folder / "c.toml")],
        ["campaign", "run", "c.toml"],
        ["campaign", "results", "c.toml"],
        ["campaign", "repeat", "c.db", "--point", "0", "--replication", "0"],
        ["campaign", "export", "c.db", "-o", os.fsdecode(b"\xff")],
        ["report", str(folder / "c.db")],
        ["range", odd, "--runs", "2", "--nodes", "3", "--flows", "1"],
    ):
        made = call(folder, words)
        assert b"Traceback" not in made.stderr, (words, made.stderr)
        if words[0] != "range":
            assert made.returncode == 0, (words, made.stderr)
    missing = call(folder, ["run", os.fsdecode(b"\xf0.toml")])
    assert missing.returncode == 2
    assert b"\xf0.toml" in missing.stderr


@pytest.mark.parametrize(
    ("text", "plain"),
    [("0.5 – 0.7", "0.5 - 0.7"), ("± 2 ×", "+/- 2 x"), ("Größe", "Grosse"), ("10⁻³", "10-3"), ("☃", "?")],
)
def test_letters_that_an_encoding_lacks_are_written_plainly(text: str, plain: str) -> None:
    import codecs

    codecs.register_error("test-plain", plainly)
    assert text.encode("ascii", "test-plain").decode() == plain
