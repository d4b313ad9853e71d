"""Sparse codes and the dictionaries that make them."""

__all__: list[str] = []
