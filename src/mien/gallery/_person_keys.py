"""A data key for each person of a sealed gallery: without it, what was theirs is unreadable.

The key of a person is random and stored sealed ("wrapped") with the gallery's key. Deleting the
wrapped key makes every copy of the person's values unreadable that was made without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from mien.errors import GalleryDamagedError
from mien.gallery._sealing import Cipher, Sealer

__all__ = ["PersonKeys"]

# Keys that are held in memory: some 300 bytes each.
_MOST_HELD = 200_000


class PersonKeys:
    """Data keys by number of the person, read when they are needed.

    Parameters
    ----------
    sealer : Sealer
        Of the gallery.
    own : bytes
        The gallery's identity.
    read : callable
        Gives the wrapped keys of numbers, of those who have one.
    where : str
        What to call the gallery in errors.
    """

    def __init__(
        self,
        sealer: Sealer,
        own: bytes,
        read: Callable[[list[int]], dict[int, bytes]],
        where: str,
    ) -> None:
        self._wrapping = sealer.wrapping
        self._own = own
        self._read = read
        self._where = where
        self._held: dict[int, Cipher] = {}

    def _identity(self, number: int) -> bytes:
        return self._own + b"data key\x00%d" % number

    def make(self, number: int) -> bytes:
        """A new key for a person; gives it wrapped, to be stored."""
        key = os.urandom(32)
        self._held[number] = Cipher(key)
        return self.wrap(number, key)

    def load(self, numbers: Iterable[int]) -> None:
        """Read the keys of several people at once."""
        missing = [number for number in numbers if number not in self._held]
        if not missing:
            return
        if len(self._held) + len(missing) > _MOST_HELD:
            self._held.clear()
        for number, wrapped in self._read(missing).items():
            self._held[number] = Cipher(self.unwrap(number, wrapped))

    def unwrap(self, number: int, wrapped: bytes) -> bytes:
        """The key itself."""
        what = f"{self._where}: the key of person {number}"
        return self._wrapping.unseal(wrapped, self._identity(number), what)

    def wrap(self, number: int, key: bytes) -> bytes:
        """A key that is known, wrapped, as for a gallery whose own key was exchanged."""
        return self._wrapping.seal(key, self._identity(number))

    def cipher(self, number: int) -> Cipher:
        """The cipher of one person."""
        held = self._held.get(number)
        if held is None:
            self.load([number])
            held = self._held.get(number)
        if held is None:
            raise GalleryDamagedError(
                f"{self._where} is corrupted: person {number} has no key any more"
            )
        return held

    def clear(self) -> None:
        """Hold no key: somebody was deleted, or a change did not come to be."""
        self._held.clear()
