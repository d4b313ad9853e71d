"""Whole faces from a part of them: hallucination, inpainting, super-resolution."""

from mien.reconstruction._completer import Completer, Completion
from mien.reconstruction.colour import refine_cover, restore_colour
from mien.reconstruction.hallucinator import FaceHallucinator, Reconstruction
from mien.reconstruction.masks import MASK_NAMES, make_mask
from mien.reconstruction.methods import METHODS, register_method

__all__ = [
    "MASK_NAMES",
    "METHODS",
    "Completer",
    "Completion",
    "FaceHallucinator",
    "Reconstruction",
    "make_mask",
    "refine_cover",
    "register_method",
    "restore_colour",
]
