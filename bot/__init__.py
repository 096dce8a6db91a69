"""Kataribe (語り部): a Discord roleplay bot that remembers, and knows who said it."""
