"""Similarities in, numbers with intervals out: metrics, curves, reports."""

__all__: list[str] = []
