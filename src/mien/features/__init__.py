"""From pictures to vectors."""

from mien.features.colour import block_dct, colour_texture, luv_histogram
from mien.features.warp import mean_shape, warp_faces

__all__ = ["block_dct", "colour_texture", "luv_histogram", "mean_shape", "warp_faces"]
