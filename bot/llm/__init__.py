"""Talking to a model server: the client, its queue, what is known of the server, and the checks of its output."""

from bot.errors import ModelBusy, ModelTimeout, ModelUnavailable, WindowExceeded
from bot.llm.checks import Rejection, check_output, extract_json
from bot.llm.client import ModelClient
from bot.llm.requests import Completion, ModelCall, ModelProfile, ModelRequest, Priority, Purpose, Usage

__all__ = [
    "Completion",
    "ModelBusy",
    "ModelCall",
    "ModelClient",
    "ModelProfile",
    "ModelRequest",
    "ModelTimeout",
    "ModelUnavailable",
    "Priority",
    "Purpose",
    "Rejection",
    "Usage",
    "WindowExceeded",
    "check_output",
    "extract_json",
]
