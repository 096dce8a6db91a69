"""Every exception of ours, and which of them a person may see.

::

    KataribeError
    ├── UserError                 code and fields; `cogs/` turns them into words
    │   ├── ModelUnavailable      no usable answer from the model server
    │   │   ├── ModelBusy         the queue of replies is full
    │   │   ├── ModelTimeout      the answer was not complete within the one timeout
    │   │   ├── GaveWay           replies needed the model again and again; only background work gets it
    │   │   └── WindowExceeded    the prompt is longer than the model's window
    │   ├── NotFound              a character, session or memory that is not there
    │   ├── NotAllowed            the person may not do this
    │   └── Refused               the request makes no sense as things are
    ├── WorkFailed                a fold or judgement came to nothing; nobody is shown it
    ├── SettingsError             one readable line per wrong setting
    └── DatabaseTooNew            the file was written by a newer version
"""

from __future__ import annotations


class KataribeError(Exception):
    """The root of our own exceptions."""


class UserError(KataribeError):
    """Something a person can act on.

    ``code`` is a message id of the catalogues in ``bot/locales``; ``fields`` are its variables. The text of the
    exception itself is for the operator's log only.
    """

    def __init__(self, code: str, **fields: str | int) -> None:
        super().__init__(code, fields)
        self.code = code
        self.fields = fields

    def __str__(self) -> str:
        return f"{self.code} {self.fields}" if self.fields else self.code


class ModelUnavailable(UserError):
    """The model server gave no usable answer. ``detail`` is for the log: a status or a kind, never a prompt."""

    def __init__(self, code: str = "model-unavailable", *, detail: str = "", **fields: str | int) -> None:
        super().__init__(code, **fields)
        self.detail = detail

    def __str__(self) -> str:
        return f"{super().__str__()} ({self.detail})" if self.detail else super().__str__()


class ModelBusy(ModelUnavailable):
    """More replies are waiting than the queue holds."""

    def __init__(self, *, waiting: int) -> None:
        super().__init__("model-busy", waiting=waiting)


class ModelTimeout(ModelUnavailable):
    """The server did not finish within the timeout, in seconds."""

    def __init__(self, *, seconds: int) -> None:
        super().__init__("model-timeout", seconds=seconds)


class GaveWay(ModelUnavailable):
    """Work in the background was interrupted by replies as often as it may be."""

    def __init__(self, *, times: int) -> None:
        super().__init__(
            "model-gave-way", detail=f"interrupted {times} times; the server needs more slots, or more speed"
        )


class WindowExceeded(ModelUnavailable):
    """The prompt does not fit the model's window. Both numbers are tokens, and None where the server did not say."""

    def __init__(self, *, needed: int | None = None, window: int | None = None) -> None:
        super().__init__("model-window", detail=f"needed {needed or 'unknown'}, window {window or 'unknown'}")
        self.needed = needed
        self.window = window


class NotFound(UserError):
    """What was named does not exist here."""


class NotAllowed(UserError):
    """The person lacks the right to do this."""


class Refused(UserError):
    """The request cannot be carried out as things stand."""


class WorkFailed(KataribeError):
    """Nothing usable came of work in the background; ``code`` is short, for the row and the log, and holds no player's text."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class SettingsError(KataribeError):
    """Wrong settings: one line each in ``lines``."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class DatabaseTooNew(KataribeError):
    """The database was migrated by a newer version of Kataribe than this one."""
