"""Where the command ``manetlab`` begins: Ctrl-C ends it without a traceback even during imports."""

from __future__ import annotations

import atexit
import gc
import sys

NEW_OBJECTS = 50_000
"""How many objects are new before Python looks through them for cycles. With its own 700 it looks through
what imports make, which stays, again and again: a tenth of the time of a short run."""


def main() -> None:
    """What the command ``manetlab`` calls."""
    gc.set_threshold(NEW_OBJECTS, 20, 20)
    # Nor when all of it is given back to the system anyway.
    atexit.register(gc.freeze)
    try:
        from manetlab.cli import main as run

        run()
    except KeyboardInterrupt:
        # Commands tell what they kept, see `manetlab.cli.groups.Group.invoke`; none had begun.
        print("stopped; nothing was written", file=sys.stderr)
        sys.exit(130)
