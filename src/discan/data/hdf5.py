# SPDX-License-Identifier: BSD-3-Clause
"""Members of HDF5 files, through h5py; a link to another file is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from discan.errors import InputError, shown

__all__ = ["Group"]

_MOST_LINKS = 16  # soft links on the way to a member


class Group:
    """A group of a file whose members lie in the file itself.

    h5py would open the other file already to tell whether a member exists, and a pipe never ends.

    Parameters
    ----------
    path : file that holds it, for messages
    inner : h5py.Group
    """

    def __init__(self, path: str | os.PathLike[str], inner: Any) -> None:
        self._path, self.inner = path, inner

    @property
    def attrs(self) -> Any:
        """Attributes, as h5py gives them."""
        return self.inner.attrs

    def keys(self) -> list[str]:
        """Return the names of the members."""
        return list(self.inner)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the members."""
        return iter(self.keys())

    def __contains__(self, place: str) -> bool:
        """Tell whether the group has a member."""
        return self.get(place) is not None

    def __getitem__(self, place: str) -> Any:
        """Return a member, which must be there."""
        found = self.get(place)
        if found is None:
            use = {"layer": ..., "raw": True}
            raise InputError(f"{self._path}: has no {shown(place)}", use=use)
        return found

    def get(self, place: str) -> Any:
        """Return a member: a group of this kind, or a dataset of h5py; None if there is none."""
        from h5py import Group as Inner  # type: ignore[import-not-found, unused-ignore]
        from h5py import h5l

        found, parts, n_links = self.inner, place.split("/"), 0
        while parts:
            name = parts.pop(0).encode("utf-8", "surrogateescape")
            if name in (b"", b"."):
                continue
            links = found.id.links if isinstance(found, Inner) else None
            if links is None or not links.exists(name):
                return None
            kind = links.get_info(name).type
            if kind == h5l.TYPE_HARD:
                found = found[name]
                continue
            n_links += 1
            if kind != h5l.TYPE_SOFT or n_links > _MOST_LINKS:
                problem = "is a link to another file, or in a circle; not followed"
                raise InputError(f"{self._path}: {shown(place)} {problem}")
            target = links.get_val(name)
            found = found.file["/"] if target.startswith(b"/") else found
            parts = [*target.decode("utf-8", "surrogateescape").split("/"), *parts]
        return Group(self._path, found) if isinstance(found, Inner) else found
