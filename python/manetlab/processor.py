"""Which of a wheel's two compiled cores runs here.

A wheel for x86-64 has the core twice: for any such processor, and, in a folder of its own, for those of the
level x86-64-v3 (AVX2 and more; most that were made since 2015). It is the same code, and gives the same
results to the last bit; the second takes less time (docs/performance.md). A checkout has only the first.
"""

from __future__ import annotations

import os

FOLDER = "x86_64_v3"
"""Where in the package the second one is."""
VARIABLE = "MANETLAB_PROCESSOR"
"""``MANETLAB_PROCESSOR=any`` takes the first one wherever it is set."""
FLAGS = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
"""What x86-64-v3 has beyond older levels (System V ABI for x86-64, 3.1.1), as Linux names it."""
LZCNT = "abm"
"""And this, whose name is another there."""


def folders(package: str) -> list[str]:
    """The folders in which the core is looked for before the package's own.

    Args:
        package: The folder of the package.
    """
    folder = os.path.join(package, FOLDER)  # noqa: PTH118 (pathlib would be half of the time)
    if not os.path.isdir(folder) or os.environ.get(VARIABLE) == "any":  # noqa: PTH112
        return []
    return [folder] if has_v3(cpuinfo()) else []


def has_v3(described: str) -> bool:
    """Whether a processor is of the level x86-64-v3, by the text of Linux' ``/proc/cpuinfo``."""
    for line in described.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return {*value.split()} >= {*FLAGS, LZCNT}
    return False


def cpuinfo() -> str:
    """What Linux says of the first processor; nothing elsewhere."""
    try:
        # All of it would take long with hundreds of processors; each has some 1,500 characters.
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            return file.read(8192)
    except OSError:
        return ""
