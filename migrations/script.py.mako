"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """Towards the newer schema."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Back to the older schema."""
    ${downgrades if downgrades else "pass"}
