"""Which webhooks are ours: what they post is no story of a player."""

from __future__ import annotations

from sqlalchemy import delete, insert, select

from bot.store.rows import Topic
from bot.store.tables import webhooks


class WebhookStore(Topic):
    """The webhooks that this bot made."""

    async def own_webhooks(self) -> frozenset[int]:
        """The ids of all of them."""
        async with self._database.read() as connection:
            return frozenset(await connection.scalars(select(webhooks.c.webhook_id)))

    async def add_webhook(self, channel_id: int, webhook_id: int) -> None:
        """Remember a webhook and its channel; known already, it is moved there."""
        async with self._database.write() as connection:
            await connection.execute(delete(webhooks).where(webhooks.c.webhook_id == webhook_id))
            await connection.execute(insert(webhooks).values(webhook_id=webhook_id, channel_id=channel_id))

    async def forget_webhook(self, webhook_id: int) -> None:
        """A webhook is gone; an unknown one is no matter."""
        async with self._database.write() as connection:
            await connection.execute(delete(webhooks).where(webhooks.c.webhook_id == webhook_id))
