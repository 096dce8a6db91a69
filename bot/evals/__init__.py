"""Evaluation and benchmarks: figures that anyone can repeat."""
