"""The hidden part of a face from the visible one."""

__all__: list[str] = []
