"""Two descriptors of the same thing: shared latent variables and super vectors."""

__all__: list[str] = []
