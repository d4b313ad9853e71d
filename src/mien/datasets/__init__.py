"""Rendered people, real sets, splits and protocols."""

__all__: list[str] = []
