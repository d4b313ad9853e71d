"""Moving a whole gallery between a file and a database."""

from __future__ import annotations

from pathlib import Path

from mien.errors import InputError
from mien.gallery._gallery import Gallery
from mien.gallery._remove import remove_gallery

__all__ = ["move_gallery"]


def move_gallery(
    source: str | Path,
    target: str | Path,
    *,
    key: bytes | str | None = None,
    target_key: bytes | str | None = None,
    seal_names: bool = True,
) -> int:
    """Copy a gallery to a place where there is none, and compare every row; gives how many.

    People keep their numbers; the history, constraints, thumbnails, consents and the audit trail
    come along. The copy of a gallery with a secret rotation gets another one if it is sealed. The
    source is left as it is: delete it with :func:`remove_gallery` when the copy
    is in use.

    Parameters
    ----------
    source, target : str or Path
        A file, or the address of a database: ``postgresql://user@host/database?gallery=NAME``.
    key : bytes, str or None
        Of a sealed source.
    target_key : bytes, str or None
        With which the copy is sealed; None does not seal it.
    seal_names : bool
        With a key: whether names and sources are sealed as well.
    """
    from mien.gallery._row_copy import copy_rows
    from mien.gallery._row_store import RowStore

    with Gallery.open(source, key=key, read_only=True) as old:
        new = Gallery.create(target, old.model, key=target_key, seal_names=seal_names)
        try:
            with new:
                if not (isinstance(old._store, RowStore) and isinstance(new._store, RowStore)):
                    raise InputError("galleries of this kind cannot be moved")
                if old.rotated and target_key is not None:
                    new.rotate()  # by a secret of its own
                return copy_rows(old._store, new._store)
        except BaseException:
            remove_gallery(target, key=target_key)
            raise
