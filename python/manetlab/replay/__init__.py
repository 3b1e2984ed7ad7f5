"""Replays: one page that plays a run, or two runs in step. It opens offline and can be sent by mail.

The page is built from the TypeScript in ``viewer``, and holds the recording as it is.
"""

from __future__ import annotations

from manetlab.replay.page import Replay, view

__all__ = ["Replay", "view"]
