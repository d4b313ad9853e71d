from ._colour import block_dct, colour_texture, luv_histogram
from ._dense import PairedDescriptors, colour_statistics, gradient_histograms, lbp_histograms
from ._lbp import GridLBP, LandmarkLBP
from ._light import LightNormalizer
from ._pixels import PixelFeatures, local_vectors, normalise_locally
from ._video import motion_descriptors
from ._warp import mean_shape, warp_faces

__all__ = [
    "GridLBP",
    "LandmarkLBP",
    "LightNormalizer",
    "PairedDescriptors",
    "PixelFeatures",
    "block_dct",
    "colour_statistics",
    "colour_texture",
    "gradient_histograms",
    "lbp_histograms",
    "local_vectors",
    "luv_histogram",
    "mean_shape",
    "motion_descriptors",
    "normalise_locally",
    "warp_faces",
]
