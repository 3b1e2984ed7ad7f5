"""Where the command ``manetlab`` begins: Ctrl-C ends it without a traceback even during imports."""

from __future__ import annotations

import sys


def main() -> None:
    """What the command ``manetlab`` calls."""
    try:
        from manetlab.cli import main as run

        run()
    except KeyboardInterrupt:
        # Commands tell what they kept, see `manetlab.cli.groups.Group.invoke`; none had begun.
        print("stopped; nothing was written", file=sys.stderr)
        sys.exit(130)
