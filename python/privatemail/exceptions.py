"""Exceptions of the package, one for each status of the library.

All of them are an :class:`Error`, and most are also an exception of Python: code that catches
``ValueError``, ``MemoryError`` or ``OSError`` catches them. Their texts name rows, fields and
options, and count rows and columns from 1. They contain no values of features or labels.

>>> from privatemail.exceptions import Error, ShapeError
>>> issubclass(ShapeError, Error) and issubclass(ShapeError, ValueError)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Optional, Type

if TYPE_CHECKING:
    from .release import Release

__all__ = [
    "ArgumentError",
    "BudgetError",
    "BusyError",
    "CancelledError",
    "DivergedError",
    "Error",
    "FileError",
    "ForkedError",
    "HandleError",
    "InternalError",
    "LabelsError",
    "LibraryError",
    "NonFiniteError",
    "OutOfMemoryError",
    "PrivacyError",
    "ReentrantError",
    "SettingError",
    "ShapeError",
    "SpentError",
    "SystemCallError",
    "ToleranceError",
    "ZeroRowError",
]


class Error(Exception):
    """Base of all exceptions of the package.

    Attributes
    ----------
    status : int
        The library's status for this kind of error, 0 if there is none.
    """

    status: int = 0


class LibraryError(Error, ImportError):
    """The shared library is missing, or this machine cannot load it."""


class ArgumentError(Error, ValueError):
    """The library got an argument that it cannot read, such as text that is not UTF-8."""

    status = 1


class HandleError(Error, ValueError):
    """The object was closed."""

    status = 2


class SettingError(Error, ValueError):
    """A setting is outside its range, or two settings exclude each other."""

    status = 3


class ShapeError(Error, ValueError):
    """Sizes do not fit each other."""

    status = 4


class NonFiniteError(Error, ValueError):
    """A row has a NaN, an infinity or a number beyond the range of float32."""

    status = 5


class ZeroRowError(Error, ValueError):
    """A row of zeros cannot be divided by its norm."""

    status = 6


class LabelsError(Error, ValueError):
    """Labels cannot be used."""

    status = 7


class ToleranceError(Error, ValueError):
    """No operator meets the tolerance, or rows are isolated."""

    status = 8


class DivergedError(Error, ArithmeticError):
    """The iterate grows without bound."""

    status = 9


class OutOfMemoryError(Error, MemoryError):
    """The memory of the engine, or of the machine, is too small."""

    status = 10


class CancelledError(Error, RuntimeError):
    """The call was cancelled."""

    status = 11


class BusyError(Error, RuntimeError):
    """Another process uses the ledger."""

    status = 12


class ReentrantError(Error, RuntimeError):
    """A progress function has called the engine that it reports about."""

    status = 13


class FileError(Error, OSError):
    """A file, or bytes, are of the wrong kind or damaged."""

    status = 15


class SystemCallError(Error, OSError):
    """The system has refused: no such file, no permission, or a full disk."""

    status = 16


class PrivacyError(Error, ValueError):
    """There is no proof of privacy for such a release, or it lacks a setting."""

    status = 17


class BudgetError(Error, ValueError):
    """The ledger has too little left. Nothing was spent."""

    status = 18


class SpentError(Error, RuntimeError):
    """The call failed after the ledger had paid: the budget is spent.

    Attributes
    ----------
    release : Release or None
        The release, if there is one in spite of the error.
    """

    status = 19
    release: Optional["Release"] = None


class ForkedError(Error, RuntimeError):
    """This process was forked after the library was loaded.

    The library cannot work here. Start processes with spawn, as
    ``multiprocessing.get_context("spawn")`` does, or use the library only after the fork.
    """

    status = 20


class InternalError(Error, RuntimeError):
    """A fault of the library. Please report it."""

    status = 21


BY_STATUS: Dict[int, Type[Error]] = {
    kind.status: kind
    for kind in (
        ArgumentError,
        HandleError,
        SettingError,
        ShapeError,
        NonFiniteError,
        ZeroRowError,
        LabelsError,
        ToleranceError,
        DivergedError,
        OutOfMemoryError,
        CancelledError,
        BusyError,
        ReentrantError,
        FileError,
        SystemCallError,
        PrivacyError,
        BudgetError,
        SpentError,
        ForkedError,
        InternalError,
    )
}
