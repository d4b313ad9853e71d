"""From files to pictures of faces: decoding, detection, alignment."""

from mien.faces.images import (
    contact_sheet,
    decode_image,
    read_image,
    resize_images,
    write_image,
)

__all__ = ["contact_sheet", "decode_image", "read_image", "resize_images", "write_image"]
