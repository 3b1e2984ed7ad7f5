"""Puts a second compiled core into a wheel: ``packaging/second_core.py WHEEL OTHER``.

OTHER is the same wheel, whose core was compiled for processors of the level x86-64-v3. It is put beside the
first, where `manetlab.processor` finds it.
"""

import base64
import csv
import hashlib
import io
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from manetlab.processor import FOLDER

CORE = "manetlab/_core.abi3.so"


def record_line(name: str, content: bytes) -> tuple[str, str, str]:
    """The line of a wheel's RECORD for a file (PEP 376 and 427)."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return name, f"sha256={digest}", str(len(content))


def with_second(wheel: Path, second: bytes) -> bytes:
    """The content of a wheel to which a second core is added."""
    name = f"manetlab/{FOLDER}/{CORE.rpartition('/')[2]}"
    made = io.BytesIO()
    with ZipFile(wheel) as before, ZipFile(made, "w", ZIP_DEFLATED) as after:
        entries = before.infolist()
        if name in before.namelist():
            raise SystemExit(f"{wheel} has a second core already: {name}")
        [record] = [entry for entry in entries if entry.filename.endswith(".dist-info/RECORD")]
        for entry in entries:
            if entry is not record:
                after.writestr(entry, before.read(entry))
        lines = list(csv.reader(before.read(record).decode().splitlines()))
        # RECORD's own line, without a digest, stays the last.
        lines.insert(-1, list(record_line(name, second)))
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(lines)
        after.writestr(name, second)
        after.writestr(record, written.getvalue())
    return made.getvalue()


def main(wheel: Path, other: Path) -> None:
    """Changes the first wheel."""
    with ZipFile(other) as archive:
        second = archive.read(CORE)
    wheel.write_bytes(with_second(wheel, second))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
