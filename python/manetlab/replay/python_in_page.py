"""Python for pages: Pyodide, and the package's modules as an archive for it.

Pyodide is CPython as a WebAssembly module. It is not part of the package: it is downloaded once, from npm's
registry, checked, and kept in the user's cache. `make site` and the tests get it in the same place.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tarfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

from manetlab.errors import InputError
from manetlab.files import write_bytes

VERSION = "314.0.7"
URL = f"https://registry.npmjs.org/pyodide/-/pyodide-{VERSION}.tgz"
SHA512 = (
    "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc"
    "8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
)
SOURCE = "MPL-2.0, https://github.com/pyodide/pyodide"
CPYTHON = "PSF-2.0, https://www.python.org"
MOST_BYTES = 20 * 2**20
TIMEOUT_S = 60.0
DATE = (1980, 1, 1, 0, 0, 0)
"""That of all files in the archive, so that it depends on nothing but their content."""
DATA = ("*.py", "*.toml")
"""The files of the package, without its packages, that resolving may need."""

FOLDER = "/scenarios/a/b/c/d"
"""Where the text is in the page: deep enough for names of files that begin with ``..``."""

PACKAGE = Path(__file__).parents[1]
IN_PAGE = Path(__file__).parent / "in_page"


def cached() -> Path:
    """Where Pyodide is kept: in ``$XDG_CACHE_HOME/manetlab``, by default ``~/.cache/manetlab``."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "manetlab" / f"pyodide-{VERSION}.tgz"


def archive() -> bytes:
    """Pyodide as npm has it: from the cache, or downloaded into it.

    Raises:
        InputError: It is not in the cache and cannot be downloaded.
    """
    path = cached()
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    if _is_right(content):
        return content
    content = _downloaded(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content)
    return content


def _is_right(content: bytes) -> bool:
    return hashlib.sha512(content).hexdigest() == SHA512


def _downloaded(path: Path) -> bytes:
    hint = f"or put it there yourself: `npm pack pyodide@{VERSION}`, and move the file to {path}"
    try:
        with urllib.request.urlopen(URL, timeout=TIMEOUT_S) as answer:
            content: bytes = answer.read(MOST_BYTES)
    except OSError as error:
        reason = str(getattr(error, "reason", error))
        wanted = "a connection to npm's registry, once"
        raise InputError("Python for pages cannot be downloaded", URL, reason, wanted, hint) from None
    if not _is_right(content):
        found = f"{len(content)} bytes with another SHA-512"
        raise InputError("this is not Pyodide", URL, found, f"the one that begins with {SHA512[:12]}", hint)
    return content


def elements(files: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """What a page holds of Python, by the names of its elements; see viewer/src/resolver.ts.

    Args:
        files: What the scenario reads, by the names that it has for them.

    Raises:
        InputError: Python for pages is not there.
    """
    with tarfile.open(fileobj=io.BytesIO(archive())) as packed:

        def part(name: str) -> bytes:
            member = packed.extractfile(f"package/{name}")
            assert member is not None
            return member.read()

        modules = (part("pyodide.asm.mjs").decode(), part("pyodide.mjs").decode())
        yield "python-script", script(*modules, json.loads(part("pyodide-lock.json"))["info"]).encode()
        yield "python-wasm", part("pyodide.asm.wasm")
        yield "python-library", part("python_stdlib.zip")
    yield "python-package", package()
    # An archive has no names that lead out of it.
    placed = {os.path.normpath(f"{FOLDER}/{name}").lstrip("/"): content for name, content in files.items()}
    yield "python-files", _zipped(sorted(placed.items()))


def script(asm: str, loader: str, about: dict[str, str]) -> str:
    """Pyodide's two modules as one classic script: in a page from disk, no worker is a module."""
    # Pyodide refuses classic workers, which it knows by this function; it needs nothing that they lack.
    head = f"// Pyodide {VERSION} ({SOURCE}), with CPython ({CPYTHON})\nself.importScripts = undefined;\n"
    # No packages but the standard library.
    lock = json.dumps(json.dumps({"info": about, "packages": {}}))
    asm = asm.replace("export default _createPyodideModule;", "").replace("import.meta.url", '""')
    loader = re.sub(r"export\{(\w+) as loadPyodide,\w+ as version\};", r"const loadPyodide=\1;", loader)
    return f"{head}{asm}\n{loader}\nconst noPackages = {lock};\n"


def package() -> bytes:
    """The modules that resolve scenarios, as an archive, with this Python's reader of TOML.

    The words of its errors differ between versions of Python.
    """
    files = {f"manetlab/{path.name}": path.read_bytes() for end in DATA for path in PACKAGE.glob(end)}
    files["manetlab/_core.py"] = (IN_PAGE / "core.py").read_bytes()
    files["manetlab_answers.py"] = (IN_PAGE / "answers.py").read_bytes()
    reader = Path(tomllib.__file__).parent
    files |= {f"tomllib/{path.name}": path.read_bytes() for path in reader.glob("*.py")}
    return _zipped(sorted(files.items()))


def _zipped(files: list[tuple[str, bytes]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in files:
            # The page compresses all of it.
            packed.writestr(zipfile.ZipInfo(name, DATE), content)
    return made.getvalue()
