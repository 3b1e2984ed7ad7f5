"""Writes the notices of third parties that a wheel carries: python packaging/third_party.py FILE.

They are of the crates that are linked into the extension and the engine of pages, and of Plotly's library,
which reports embed. Licences are read from the sources that Cargo.lock names; a crate without one fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINKED = ("manetlab-py", "manetlab-wasm")
"""The packages that become what a wheel holds."""
NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "UNLICENSE*", "COPYRIGHT*", "license*")
"""How files with licences are called."""


def packages() -> list[dict[str, object]]:
    """All crates that are linked, sorted by name and version; those of this project are left out."""
    asked = ["cargo", "metadata", "--locked", "--format-version", "1"]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    data = json.loads(said)
    known = {each["id"]: each for each in data["packages"]}
    nodes = {each["id"]: each for each in data["resolve"]["nodes"]}
    waiting = [key for key, each in known.items() if each["name"] in LINKED]
    found: set[str] = set()
    while waiting:
        key = waiting.pop()
        if key in found:
            continue
        found.add(key)
        # Neither what builds nor what tests is part of what is built.
        waiting += [
            each["pkg"]
            for each in nodes[key]["deps"]
            if any(kind["kind"] is None for kind in each["dep_kinds"])
        ]
    others = [known[key] for key in found if known[key]["source"] is not None]
    return sorted(others, key=lambda each: (each["name"], each["version"]))


def texts(folder: Path) -> list[str]:
    """The licences in a folder, each once."""
    files = sorted({path for name in NAMES for path in folder.glob(name) if path.is_file()})
    return list(dict.fromkeys(path.read_text(encoding="utf-8", errors="replace").strip() for path in files))


def notices() -> str:
    """All of it; a text that several crates share is printed once, below the names of all."""
    of: dict[str, list[str]] = {}
    for each in packages():
        name = f"{each['name']} {each['version']} ({each['license']})"
        found = texts(Path(str(each["manifest_path"])).parent)
        if not found and not each["license"]:
            raise SystemExit(f"{name} has no licence")
        # A crate that names a licence and brings no text is under the standard text, which ours are.
        for text in found or [(ROOT / f"LICENSE-{kind}").read_text().strip() for kind in standard(each)]:
            of.setdefault(text, []).append(name)
    plotly = distribution("plotly")
    licence = next(path for path in plotly.files or [] if path.name.startswith("LICENSE"))
    of.setdefault(Path(str(plotly.locate_file(licence))).read_text(encoding="utf-8").strip(), []).append(
        f"plotly.js, as plotly {plotly.version} brings it, within reports (MIT)"
    )
    head = "What manetlab is built with and brings along, under their own licences.\n"
    return head + "".join(f"\n{'=' * 78}\n{chr(10).join(names)}\n\n{text}\n" for text, names in of.items())


def standard(package: dict[str, object]) -> list[str]:
    """Which of the licences whose texts are here a crate is under."""
    named = str(package["license"])
    found = [kind for kind, name in (("MIT", "MIT"), ("APACHE", "Apache-2.0")) if name in named]
    if not found:
        raise SystemExit(f"{package['name']} is under {named} and brings no text of it")
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(notices(), encoding="utf-8")
