"""The store, on real files with the real migrations."""
