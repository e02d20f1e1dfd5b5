# SPDX-License-Identifier: BSD-3-Clause
"""Say what went wrong, in classes a caller can catch."""

__all__ = ["DiscanError", "InputError", "LimitError", "ModelFileError", "StorageError"]


class DiscanError(Exception):
    """Every error that discan raises on purpose."""


class InputError(DiscanError, ValueError):
    """The data or a setting is wrong; the message says where and what to do."""


class LimitError(DiscanError, ValueError):
    """The data or a setting is larger than discan can handle."""


class ModelFileError(DiscanError, ValueError):
    """A model file is damaged, incomplete or of an unknown version."""


class StorageError(DiscanError, OSError):
    """Reading from or writing to the disk failed."""
