"""Is it the same person? Likelihood ratios that carry over to your own domain."""

__all__: list[str] = []
