"""A private first step, in a form that may be published."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from typing import Any, Dict, Tuple

import numpy as np

from . import _arrays, _call, _library
from .exceptions import SystemCallError


class Release:
    """The noisy points of a private first step, with the guarantee that was proved for them.

    :meth:`Engine.privatize` makes it. It pickles as its bytes.
    """

    def __init__(self, handle: _call.Handle):
        self._handle = handle

    @classmethod
    def from_bytes(cls, data: Any) -> "Release":
        """Returns the release in the bytes."""
        held = np.frombuffer(data, np.uint8)
        handle = _call.Handle("release")
        _library.check(_library.get().pm_release_read(_arrays.pointer(held), held.size, handle.new))
        return cls(handle)

    @classmethod
    def open(cls, path: Any) -> "Release":
        """Reads a file of :meth:`save`."""
        with open(path, "rb") as file:
            return cls.from_bytes(file.read())

    def to_bytes(self) -> bytes:
        """Returns the bytes of the release."""
        return _call.read(_library.get().pm_release_write, self._handle.value)

    def save(self, path: Any) -> None:
        """Writes the release to a file, completely or not at all.

        An existing file is replaced; if path is a link, its target is. Anything but a regular file,
        such as a device, is refused.
        """
        data = self.to_bytes()
        name = os.path.realpath(os.fsdecode(path))
        if os.path.exists(name) and not os.path.isfile(name):
            raise SystemCallError(f"{name} exists and is not a regular file")
        temporary = f"{name}.{os.getpid()}.{threading.get_ident()}.part"
        with open(temporary, "xb") as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.replace(temporary, name)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        _sync_folder(os.path.dirname(name))

    @property
    def shape(self) -> Tuple[int, int]:
        """Rows and columns of the points."""
        rows, columns = ctypes.c_int64(), ctypes.c_int64()
        _library.check(_library.get().pm_release_size(
            self._handle.value, ctypes.byref(rows), ctypes.byref(columns)
        ))  # fmt: skip
        return rows.value, columns.value

    def points(self) -> np.ndarray:
        """Returns the noisy points, float64."""
        points = np.empty(self.shape, np.float64)
        _library.check(
            _library.get().pm_release_points(self._handle.value, _arrays.pointer(points))
        )
        return points

    def describe(self) -> Dict[str, Any]:
        """Returns a description of the release: the guarantee, the noise, and the data sets they
        hold for."""
        return _call.describe(_library.get().pm_release_describe, self._handle.value)

    def close(self) -> None:
        """Frees the memory of the release."""
        self._handle.close()

    def __enter__(self) -> "Release":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return Release.from_bytes, (self.to_bytes(),)


def _sync_folder(path: str) -> None:
    """Waits until the names in a folder are on the disk, so that a paid release is not lost."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
