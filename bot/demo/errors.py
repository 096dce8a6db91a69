"""What can go wrong with the demo, each in one readable line."""

from __future__ import annotations

from bot.errors import KataribeError


class DemoError(KataribeError):
    """The demo cannot start or go on; the text is one line that says what to do."""


class ModelFileError(DemoError):
    """The small model's file could not be had."""


class EmbeddedModelError(DemoError):
    """The embedded model server cannot run here, or stopped."""
