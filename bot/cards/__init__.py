"""Character cards: files in and out. Pure functions on bytes; no address in a card is ever fetched."""
