"""From files to pictures of faces: decoding, detection, alignment."""

__all__: list[str] = []
