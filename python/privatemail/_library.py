"""Finds and loads the shared library, at its first use, and turns statuses into exceptions."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from typing import Any, Optional

from . import _header
from .exceptions import BY_STATUS, Error, ForkedError, InternalError, LibraryError

#: The environment variable with the path of a shared library to use instead of the bundled one.
VARIABLE = "PRIVATEMAIL_LIBRARY"

NAME = "libprivatemail.so.1"

_BUILD = (
    "build it from the source tree with `go run ./capi/build -out DIR -only shared` and set "
    f"{VARIABLE} to the path of the library in DIR/lib"
)

_lock = threading.Lock()
_library: Optional[Any] = None
_begun = False  # loading has begun: a child forked after that cannot use the library
_forked = False


def get() -> Any:
    """Returns the library with the types of its functions, and loads it first if necessary."""
    if _forked:
        raise ForkedError(
            "this process was forked after the library was loaded, and the library cannot work "
            "here: start processes with multiprocessing.get_context('spawn'), or use privatemail "
            "only after the fork"
        )
    library = _library
    return library if library is not None else _load()


def _load() -> Any:
    global _library, _begun
    with _lock:
        if _library is None:
            path = _path()
            _begun = True
            _library = _bind(_open(path), path)
        return _library


def _after_fork() -> None:
    """In the child of a fork: the library, if it was loaded, has lost its threads."""
    global _forked, _lock
    _lock = threading.Lock()  # its owner may be a thread that does not exist here
    _forked = _forked or _begun


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def alive() -> bool:
    """Returns whether handles of the library can still be freed in this process."""
    return not _forked and not sys.is_finalizing()


def _path() -> str:
    """Returns the path of the library to load, or raises an error that says why there is none."""
    given = os.environ.get(VARIABLE)
    path = given or os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME)
    if sys.platform.startswith("linux") and _libc() is None:
        raise LibraryError(
            "the library of privatemail needs glibc. This Python runs on another C library, such "
            "as the musl of Alpine Linux, which cannot load shared libraries of Go: use an image "
            "with glibc, such as Debian's"
        )
    if os.path.isfile(path):
        return path
    if given:
        raise LibraryError(f"{VARIABLE} names {path}, which is not a file")
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise LibraryError(
            f"the wheel of privatemail is for Linux on x86_64, but this is {sys.platform} on "
            f"{platform.machine()}: {_BUILD}"
        )
    raise LibraryError(f"the shared library {path} is missing: install the wheel, or {_BUILD}")


def _libc() -> Optional[str]:
    """Returns the version of glibc, None if the C library is another one."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or None
    except (AttributeError, OSError, ValueError):
        return None


def _open(path: str) -> Any:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        bits = 8 * ctypes.sizeof(ctypes.c_void_p)
        raise LibraryError(
            f"this Python ({bits} bits, {sys.platform} on {platform.machine()}) cannot load the "
            f"shared library {path} ({error}): {_BUILD}"
        ) from error


def _bind(library: Any, path: str) -> Any:
    """Checks the version of the interface, and sets the types of all functions."""
    try:
        library.pm_abi.restype = ctypes.c_int32
        major, minor = divmod(library.pm_abi(), 1000)
        if major != _header.ABI_MAJOR or minor < _header.ABI_MINOR:
            raise LibraryError(
                f"the shared library {path} has the interface {major}.{minor}, but this package "
                f"needs {_header.ABI_MAJOR}.{_header.ABI_MINOR}: install both from one version"
            )
        for name, (result, arguments) in _header.FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise LibraryError(
            f"{path} is not a library of privatemail, or an old one: {error}"
        ) from None
    return library


def error(status: int) -> Error:
    """Returns the exception of a status other than OK, with the last error of this thread."""
    library = get()
    text = library.pm_last_error().decode("utf-8", "replace")
    kind = BY_STATUS.get(status)
    if kind is None:
        name = library.pm_status_name(status) or b"unknown status"
        return InternalError(f"{name.decode()} ({status}): {text}")
    return kind(text or library.pm_status_name(status).decode())


def check(status: int) -> None:
    """Raises the exception of a status, unless it is OK."""
    if status != _header.OK:
        raise error(status)


def version() -> str:
    """Returns the version of the library.

    >>> from privatemail import version
    >>> version().count(".") >= 1
    True
    """
    return get().pm_version().decode()


def simd_level() -> str:
    """Returns the highest level of instructions that the library uses on this machine."""
    return get().pm_simd_level().decode()
