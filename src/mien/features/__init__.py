"""From pictures to vectors."""

__all__: list[str] = []
