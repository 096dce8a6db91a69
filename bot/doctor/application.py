"""The Discord application: its token, its intents, and what it may do in each guild."""

from __future__ import annotations

from typing import Final

import aiohttp
import discord

from bot.doctor.findings import Finding, Findings, Mark
from bot.settings import Settings

_GUILDS_LOOKED_AT: Final = 25
_PERMISSIONS: Final = {
    "view_channel": "View Channels",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "manage_webhooks": "Manage Webhooks",
    "read_message_history": "Read Message History",
    "embed_links": "Embed Links",
}


async def application(settings: Settings) -> Findings:
    """Log in by REST, without the gateway, and look what the application may do."""
    if settings.discord_token is None:
        yield Finding(Mark.NOTE, "Discord: not looked at without a token")
        return
    try:
        async with discord.Client(intents=discord.Intents.none()) as client:
            await client.login(settings.discord_token.get_secret_value())
            async for finding in _logged_in(client):
                yield finding
    except discord.LoginFailure:
        advice = "copy it again from the Bot page of https://discord.com/developers/applications"
        yield Finding(Mark.BAD, "Discord: refuses DISCORD_TOKEN", advice)
    except discord.HTTPException as error:
        yield Finding(Mark.BAD, f"Discord: answers with status {error.status}", "try again in a while")
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        advice = "is this machine online, and may it speak to discord.com?"
        yield Finding(Mark.BAD, f"Discord: cannot be reached ({type(error).__name__})", advice)


async def _logged_in(client: discord.Client) -> Findings:
    user, app = client.user, client.application
    if user is None or app is None:
        return
    yield Finding(Mark.GOOD, f"Discord: logged in as {user} ({user.id})")
    if app.flags.gateway_message_content or app.flags.gateway_message_content_limited:
        yield Finding(Mark.GOOD, "Discord: the Message Content Intent is on")
    else:
        advice = f"switch it on at https://discord.com/developers/applications/{app.id}/bot"
        yield Finding(
            Mark.BAD, "Discord: the Message Content Intent is off; the bot could not read what players write", advice
        )
    guilds = [guild async for guild in client.fetch_guilds(limit=None, with_counts=False)]
    invite = discord.utils.oauth_url(app.id, permissions=_wanted(), scopes=("bot", "applications.commands"))
    if not guilds:
        yield Finding(Mark.NOTE, "Discord: the bot is in no guild", f"invite it: {invite}")
        return
    for guild in guilds[:_GUILDS_LOOKED_AT]:
        yield await _in_guild(client, guild, user.id)
    if len(guilds) > _GUILDS_LOOKED_AT:
        yield Finding(Mark.GOOD, f"Discord: and in {len(guilds) - _GUILDS_LOOKED_AT} more guilds, not looked at")
    yield Finding(Mark.GOOD, f"Discord: the link to invite it with all rights is {invite}")


async def _in_guild(client: discord.Client, partial: discord.Guild, user_id: int) -> Finding:
    where = f"Discord: guild {partial.name} ({partial.id})"
    try:
        guild = await client.fetch_guild(partial.id, with_counts=False)
        held = (await guild.fetch_member(user_id)).guild_permissions
    except (discord.Forbidden, discord.NotFound) as error:
        return Finding(Mark.NOTE, f"{where}: cannot be looked at (status {error.status})", "invite the bot again")
    missing = [label for name, label in _PERMISSIONS.items() if not getattr(held, name)]
    if not missing:
        return Finding(Mark.GOOD, f"{where}: has all permissions that it needs")
    advice = "give them to the bot's role, or in each channel where stories are played"
    return Finding(Mark.NOTE, f"{where}: its role lacks {', '.join(missing)}", advice)


def _wanted() -> discord.Permissions:
    return discord.Permissions(**dict.fromkeys(_PERMISSIONS, True))
