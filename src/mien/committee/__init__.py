"""Many small discriminant classifiers, fused, for more pixels than pictures."""

__all__: list[str] = []
