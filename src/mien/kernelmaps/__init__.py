"""Random features that stand for a kernel, and the way back."""

__all__: list[str] = []
