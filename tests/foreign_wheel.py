"""Wheels for older systems and other processors (``make wheels``): ``python -m tests.foreign_wheel WHEEL…``.

A wheel may need no newer symbol of glibc than its name says. All goldens are run with each core in it, by
this Python, or for aarch64 by Debian's, which is emulated (qemu-user-static). It ends with 1 if a result hash
differs.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

from manetlab import processor
from tests.golden import SCENARIOS, expected_file

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "target" / "tools" / "aarch64"
PACKAGES = (
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libc6", "libgcc-s1"),
    *("libstdc++6", "zlib1g", "libexpat1", "libssl3", "libffi8", "libsqlite3-0", "liblzma5", "libbz2-1.0"),
    *("libuuid1", "libcrypt1"),
)
"""Debian's packages of which the emulated Python is made."""
RUN = """
import sys
from manetlab import Scenario, _core, run
print(_core.__file__)
for name in sys.argv[1:]:
    print(run(Scenario.load(name)).provenance["result_hash"])
"""


def glibc_wanted(library: bytes) -> tuple[int, int]:
    """The newest version of glibc that a library asks symbols of."""
    found = re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", library)
    return 2, max(map(int, found), default=0)


def glibc_promised(name: str) -> tuple[int, int]:
    """The version of glibc that a wheel's name promises to do with."""
    found = re.search(r"manylinux_(\d+)_(\d+)_", name)
    if found is None:
        raise ValueError(f"{name} is for no version of glibc")
    return int(found[1]), int(found[2])


def emulated_python() -> list[str]:
    """The command of Python 3.11 for aarch64, of which packages are fetched once."""
    root = TOOLS / "root"
    python = root / "usr" / "bin" / "python3.11"
    if not python.exists():
        state = TOOLS / "apt"
        (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (state / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        places = {"Dir::State": state, "Dir::State::status": state / "status", "Dir::Cache": state}
        chosen = {"APT::Architecture": "arm64", "APT::Architectures": "arm64", **places}
        options = [word for name, value in chosen.items() for word in ("-o", f"{name}={value}")]
        subprocess.run(["apt-get", "-qq", *options, "update"], check=True)
        subprocess.run(["apt-get", "-qq", *options, "download", *PACKAGES], check=True, cwd=state)
        for package in sorted(state.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        for_it = ["--platform", "manylinux_2_28_aarch64", "--platform", "manylinux_2_17_aarch64"]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        version = ["--only-binary=:all:", "--python-version", "311", "--target", str(TOOLS / "site")]
        subprocess.run([*pip, *for_it, *version, "numpy"], check=True)
    return ["qemu-aarch64-static", "-L", str(root), str(python)]


def checked(wheel: Path) -> bool:
    """Whether a wheel's cores ask of glibc what its name promises, and give goldens their hashes; says it."""
    is_foreign = wheel.stem.endswith("aarch64")
    with tempfile.TemporaryDirectory() as folder, ZipFile(wheel) as archive:
        archive.extractall(folder)
        package = Path(folder, "manetlab")
        cores = [path.parent for path in sorted(package.rglob("_core*.so"))]
        complete = len(cores) == (1 if is_foreign else 2)
        verdicts = [is_as_promised(wheel, core, is_foreign) for core in cores]
        return complete and all(verdicts)


def is_as_promised(wheel: Path, core: Path, is_foreign: bool) -> bool:
    """The same of one core, in its folder."""
    is_second = core.name == processor.FOLDER
    package = core.parent if is_second else core
    [library] = core.glob("_core*.so")
    wanted, promised = glibc_wanted(library.read_bytes()), glibc_promised(wheel.name)
    path = [str(package.parent), *([str(TOOLS / "site")] if is_foreign else [])]
    command = [*(emulated_python() if is_foreign else [sys.executable]), "-c", RUN, *map(str, SCENARIOS)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    environment.pop(processor.VARIABLE, None)
    if not is_second:
        environment[processor.VARIABLE] = "any"
    done = subprocess.run(
        command, check=True, cwd=package.parent, env=environment, stdout=subprocess.PIPE, text=True
    )
    used, *found = done.stdout.split()
    if used != str(library):
        print(f"{wheel.name}: {used} was loaded, not {library}")
        return False
    expected = [json.loads(expected_file(each).read_text())["result_hash"] for each in SCENARIOS]
    same = sum(a == b for a, b in zip(found, expected, strict=True))
    print(
        f"{wheel.name}, {library.relative_to(package.parent)}: glibc {wanted[0]}.{wanted[1]}, "
        f"{same} of {len(expected)} goldens have their hashes"
    )
    return wanted <= promised and same == len(expected)


if __name__ == "__main__":
    verdicts = [checked(Path(each).resolve()) for each in sys.argv[1:]]
    sys.exit(int(not all(verdicts)))
