"""What the bot says, in one Fluent file per language."""
