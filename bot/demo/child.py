"""Entry of the bot's own process in the demo: the normal bot, with discord.py pointed at a loopback Discord.

    python -m bot.demo.child --api URL --gateway URL --cdn URL

Settings come from the environment, as always. The process stops when its standard input ends.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from bot.demo.loopback import point_at
from bot.demo.process import interrupt_main_thread, when_parent_ends


def run_pointed(arguments: Sequence[str], run: Callable[[], int]) -> int:
    """Point discord.py at the addresses in ``arguments``, call ``run``, and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bot.demo.child", description=__doc__.split("\n\n")[0])
    for name, what in (("api", "REST, with the version"), ("gateway", "WebSocket"), ("cdn", "attachments")):
        parser.add_argument(f"--{name}", required=True, help=f"loopback address: {what}")
    options = parser.parse_args(arguments)
    try:
        point_at(api=options.api, gateway=options.gateway, cdn=options.cdn)
    except ValueError as error:
        parser.error(str(error))
    when_parent_ends(interrupt_main_thread)
    return run()


def _run_bot() -> int:
    from bot.__main__ import main as run

    return run(["run"])


def main() -> int:
    """Run the bot until it is told to stop."""
    return run_pointed(sys.argv[1:], _run_bot)


if __name__ == "__main__":
    sys.exit(main())
