"""The end of a whole gallery."""

from __future__ import annotations

from pathlib import Path

from mien.errors import MissingDataError
from mien.gallery._addresses import parse_address
from mien.gallery._gallery import Gallery
from mien.gallery._making import beside, wipe_file
from mien.gallery._picture_index import PictureIndex

__all__ = ["remove_gallery"]


def remove_gallery(path: str | Path, *, key: bytes | str | None = None) -> None:
    """Delete a gallery with everybody in it: its files are overwritten, then removed.

    Parameters
    ----------
    path : str or Path
        A gallery that nobody has open.
    key : bytes, str or None
        Of a sealed gallery. What is not a gallery, or cannot be opened, is left alone.
    """
    address = parse_address(path)
    if address is not None:
        from mien.gallery._postgres_store import PostgresStore

        Gallery.open(path, key=key).close()
        PostgresStore.remove(address)
        return
    place = Path(path)
    if not place.exists():
        raise MissingDataError(f"no gallery is at {str(path)!r}")
    Gallery.open(place, key=key).close()
    PictureIndex.forget(place)
    for suffix in ("-index", "-wal", "-shm", ""):
        wipe_file(beside(place, suffix))
