"""Projections learned from groups without names."""

__all__: list[str] = []
