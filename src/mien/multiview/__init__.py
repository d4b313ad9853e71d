"""Two descriptors of the same thing: shared latent variables and super vectors."""

from mien.multiview.mixture_pcca import MixturePCCA

__all__ = ["MixturePCCA"]
