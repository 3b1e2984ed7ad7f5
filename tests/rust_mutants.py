"""Mutants of the core's MAC, routing and transport, as cargo-mutants lists them, all in one test program.

To compile each mutant by itself takes longer than its tests. Here a copy of the sources has, for each changed
function, the body as it is and once more with each change, and an environment variable says which one runs. A
mutant has to stand up to all tests that reach its function, the fastest ones first.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "mutants"
TREE = OUT / "tree"
"""The copy; only files that differ are written again, so that Cargo compiles little."""
FOLDERS = ["mac", "routing", "transport"]
"""The folders of the core that are changed."""
PACKAGE = "manetlab-core"
SLOWEST = 10
"""A mutant is stopped, and counts as noticed, after this many times what the tests take, at least 20 s."""
MOST_BYTES = 4 << 30
"""So much memory may the tests of a mutant have."""
SWITCH = """//! Which body of a changed function runs.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static REACHED: [AtomicBool; FUNCTIONS] = [const { AtomicBool::new(false) }; FUNCTIONS];

/// The mutant that runs, 0 if none; then the function is noted as reached.
pub fn chosen(function: usize) -> usize {
    static CHOSEN: OnceLock<usize> = OnceLock::new();
    let read = || std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let chosen = *CHOSEN.get_or_init(read);
    if chosen == 0 && !REACHED[function].swap(true, Ordering::Relaxed) {
        if let Ok(file) = std::env::var("MUTANT_REACHED") {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
            writeln!(file, "{function}").unwrap();
        }
    }
    chosen
}
"""


class Place(NamedTuple):
    """A part of a text: line and column of its first character and of the one after its last, from 0."""

    first: tuple[int, int]
    last: tuple[int, int]


class RustMutant(NamedTuple):
    """A change of a function.

    Attributes:
        file: The file, from the root.
        name: The line's text, and what becomes of it; it stays the same when lines move.
        function: Where the function is.
        place: Where the change is.
        by: What is there instead.
    """

    file: str
    name: str
    function: Place
    place: Place
    by: str


def mutants(listed: Sequence[dict[str, Any]], texts: dict[str, str]) -> list[RustMutant]:
    """The changes inside functions among those that cargo-mutants lists, given the texts of their files."""
    found: list[RustMutant] = []
    for each in listed:
        if each["function"] is None:
            continue
        place = _place(each["span"])
        line = texts[each["file"]].split("\n")[place.first[0]]
        what = each["name"].split(": ", 1)[1]
        column = place.first[1]
        before = line[column : place.last[1]] if place.first[0] == place.last[0] else line[column:]
        again = line.count(before, 0, column)
        name = f"{line.strip()} | {what}" + (f", number {again + 1} in the line" if again else "")
        function = _place(each["function"]["span"])
        found.append(RustMutant(each["file"], name, function, place, each["replacement"]))
    return found


def changed(
    text: str, chosen: dict[int, RustMutant], numbers: dict[Place, int]
) -> tuple[str, dict[int, int]]:
    """A file's text with the bodies of mutants beside its own, and which lines belong to which mutant.

    Args:
        text: The file.
        chosen: Its mutants by their numbers.
        numbers: The numbers of its functions.
    """
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    at = {place: _offsets(place, offsets) for place in numbers}
    pieces: list[tuple[int, str]] = []
    end = 0
    for function in sorted(numbers):
        first, last = at[function]
        opens = _body(text, first)
        body = text[opens:last]
        pieces.append((0, f"{text[end:opens]}{{ match crate::switch::chosen({numbers[function]}) {{\n"))
        for number, mutant in chosen.items():
            if mutant.function == function:
                begins, ends = (offset - opens for offset in _offsets(mutant.place, offsets))
                pieces.append((number, f"{number} => {body[:begins]}{mutant.by}{body[ends:]}\n"))
        pieces.append((0, f"_ => {body}\n}} }}"))
        end = last
    pieces.append((0, text[end:]))
    owners: dict[int, int] = {}
    row = 1
    for number, part in pieces:
        lines = part.count("\n")
        if number:
            owners.update(dict.fromkeys(range(row, row + lines), number))
        row += lines
    return "".join(part for _, part in pieces), owners


def outermost(places: Sequence[Place]) -> dict[Place, Place]:
    """For each place the widest one of them that holds it."""
    return {
        place: min(
            (other for other in places if other.first <= place.first and place.last <= other.last),
            key=lambda other: (other.first, tuple(-each for each in other.last)),
        )
        for place in places
    }


def _place(span: dict[str, dict[str, int]]) -> Place:
    first, last = span["start"], span["end"]
    return Place((first["line"] - 1, first["column"] - 1), (last["line"] - 1, last["column"] - 1))


def _offsets(place: Place, offsets: Sequence[int]) -> tuple[int, int]:
    return offsets[place.first[0]] + place.first[1], offsets[place.last[0]] + place.last[1]


def _body(text: str, function: int) -> int:
    """Where the body of a function begins: the first brace outside of brackets after `fn`."""
    depth = 0
    at = function
    while True:
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif text[at] in "([":
            depth += 1
        elif text[at] in ")]":
            depth -= 1
        elif text[at] == "{" and depth == 0:
            return at
        at += 1


def drawn(every: Sequence[RustMutant], sample: int, seed: int) -> list[RustMutant]:
    """So many of the mutants, or all if it is 0: largely the same ones when others come and go."""

    def lot(mutant: RustMutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.file} {mutant.name}".encode()).digest()

    return sorted(every, key=lot)[: sample or len(every)]


class Program:
    """The test program with mutants."""

    def __init__(self, chosen: Sequence[RustMutant]) -> None:
        self.mutants = dict(enumerate(chosen, 1))
        self.unviable: set[int] = set()
        self.owners: dict[str, dict[int, int]] = {}
        self.functions: dict[tuple[str, Place], int] = {}
        self.copies: dict[int, RustMutant] = {}
        self.program = ""
        self.seconds: dict[str, float] = {}
        self.reached: dict[int, list[str]] = defaultdict(list)
        environment = dict(os.environ)
        environment.pop("MUTANT", None)
        environment.setdefault("CARGO_TARGET_DIR", str(OUT / "target"))
        self.environment = environment

    def write(self) -> None:
        """Writes the copy of the sources with all mutants that compile."""
        by_file: dict[str, dict[int, RustMutant]] = defaultdict(dict)
        for number, mutant in self.mutants.items():
            if number not in self.unviable:
                by_file[mutant.file][number] = mutant
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
            "\0"
        )
        self.functions = {}
        for file in files:
            source = ROOT / file
            if not source.is_file():
                continue
            content = source.read_bytes()
            if file in by_file:
                here = by_file[file]
                widest = outermost(sorted({mutant.function for mutant in here.values()}))
                here = {
                    number: each._replace(function=widest[each.function]) for number, each in here.items()
                }
                for mutant in here.values():
                    self.functions.setdefault((file, mutant.function), len(self.functions))
                numbers = {place: number for (of, place), number in self.functions.items() if of == file}
                text, self.owners[file] = changed(content.decode(), here, numbers)
                by_file[file] = here
                content = text.encode()
            elif file == "crates/core/src/lib.rs":
                content += b"\n/// Which body of a changed function runs.\npub mod switch;\n"
            _renew(TREE / file, content)
        self.copies = {number: mutant for here in by_file.values() for number, mutant in here.items()}
        # Of an earlier copy: what is gone since.
        for path in (TREE / "crates").rglob("*.rs"):
            if not (ROOT / path.relative_to(TREE)).is_file():
                path.unlink()
        count = str(max(1, len(self.functions)))
        _renew(TREE / "crates/core/src/switch.rs", SWITCH.replace("FUNCTIONS", count).encode())

    def leave_out_what_does_not_compile(self) -> None:
        """Checks the copy and leaves mutants out, until it compiles."""
        while True:
            self.write()
            errors = list(self._messages("check"))
            if not errors:
                return
            # The body as it is may be called wrong because another one is of another type.
            wrong = self._owners(errors, only_primary=True) or self._owners(errors, only_primary=False)
            if not wrong:
                raise SystemExit("\n".join(error["rendered"] for error in errors))
            self.unviable |= wrong
            for number in sorted(wrong):
                mutant = self.mutants[number]
                print(f"does not compile: {mutant.file}: {mutant.name}", flush=True)

    def _owners(self, errors: Sequence[dict[str, Any]], only_primary: bool) -> set[int]:
        """The mutants whose lines the errors name."""
        return {
            self.owners.get(span["file_name"], {}).get(line, 0)
            for error in errors
            for span in error["spans"]
            if span["is_primary"] or not only_primary
            for line in range(span["line_start"], span["line_end"] + 1)
        } - {0}

    def _messages(self, *command: str) -> Iterator[dict[str, Any]]:
        """The errors of a command of Cargo for the library of the core."""
        run = ["cargo", *command, "--locked", "--package", PACKAGE, "--lib", "--message-format", "json"]
        ran = subprocess.run(
            run, cwd=TREE, env=self.environment, stdout=subprocess.PIPE, text=True, check=False
        )
        for line in ran.stdout.splitlines():
            told = json.loads(line)
            if told["reason"] == "compiler-message" and told["message"]["level"] == "error":
                yield told["message"]
            if told["reason"] == "compiler-artifact" and told["executable"]:
                self.program = told["executable"]

    def build(self) -> None:
        """Compiles the test program."""
        errors = list(self._messages("test", "--no-run"))
        if errors:
            raise SystemExit("\n".join(error["rendered"] for error in errors))

    def learn(self) -> None:
        """Runs each test by itself without a mutant: what it takes, and which functions it reaches."""
        listed = subprocess.run(
            [self.program, "--list", "--format", "terse"], capture_output=True, text=True, check=True
        ).stdout
        tests = [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]
        note = OUT / "reached"
        for test in tests:
            note.unlink(missing_ok=True)
            begun = time.monotonic()
            if not self._pass([test], 3600.0, {"MUTANT_REACHED": str(note)}):
                raise SystemExit(f"{test} fails without a mutant")
            self.seconds[test] = time.monotonic() - begun
            if note.exists():
                for number in {int(line) for line in note.read_text(encoding="utf-8").split()}:
                    self.reached[number].append(test)

    def _pass(self, tests: Sequence[str], seconds: float, variables: dict[str, str]) -> bool:
        """Do the tests pass in this time?"""
        seed = {"PROPTEST_RNG_SEED": os.environ.get("PROPTEST_RNG_SEED", "20261125")}
        try:
            ran = subprocess.run(
                [self.program, "--exact", *tests],
                cwd=TREE / "crates" / "core",
                env={**self.environment, **seed, "PROPTEST_FAILURE_PERSISTENCE": "off", **variables},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
                preexec_fn=_bound,
            )
        except subprocess.TimeoutExpired:
            return False
        return ran.returncode == 0

    def survives(self, number: int) -> bool:
        """Do all tests that reach the mutant's function pass with it?"""
        mutant = self.copies[number]
        function = self.functions[mutant.file, mutant.function]
        tests = sorted(self.reached[function], key=lambda test: self.seconds[test])
        while tests:
            # Groups that take a second, or one test: a process has a start, too.
            group = [tests.pop(0)]
            usual = self.seconds[group[0]]
            while tests and usual + self.seconds[tests[0]] < 1.0:
                usual += self.seconds[tests[0]]
                group.append(tests.pop(0))
            if not self._pass(group, max(20.0, SLOWEST * usual), {"MUTANT": str(number)}):
                return False
        return True


def _bound() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def _renew(file: Path, content: bytes) -> None:
    """Writes a file, unless it is the same already."""
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def survivors(sample: int, seed: int, ends: float) -> tuple[int, list[RustMutant]]:
    """How many mutants of a sample were tried until a time, and those that survived."""
    command = ["cargo", "mutants", "--package", PACKAGE, "--no-shuffle", "--list", "--json"]
    for folder in FOLDERS:
        command += ["--file", f"crates/core/src/{folder}/**/*.rs"]
    listed = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in {each["file"] for each in listed}}
    every = mutants(listed, texts)
    chosen = drawn(every, sample, seed)
    program = Program(chosen)
    program.leave_out_what_does_not_compile()
    program.build()
    program.learn()
    print(
        f"{len(chosen)} of {len(every)} mutants of {', '.join(FOLDERS)}, "
        f"of which {len(program.unviable)} do not compile",
        flush=True,
    )
    tried, found = 0, []
    for number, mutant in program.mutants.items():
        if time.monotonic() > ends:
            break
        if number in program.unviable:
            continue
        tried += 1
        if program.survives(number):
            found.append(mutant)
            print(f"survives: {mutant.file}: {mutant.name}", flush=True)
    return tried, found
