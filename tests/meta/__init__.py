"""Rules about the project's own files, kept by tests."""
