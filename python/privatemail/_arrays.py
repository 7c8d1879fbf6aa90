"""Arrays in and out: float32 rows without a copy where their layout allows it.

The library reads rows of float32 that lie one after another, or with a stride between them. Such
arrays are passed without a copy, even read-only ones. Other arrays of numbers are converted once;
the logger ``privatemail`` reports it at level INFO, and the copy counts against the memory of the
engine.
"""

from __future__ import annotations

import ctypes
import logging
import operator
import warnings
from typing import Any, Optional, Sequence, Set, Tuple

import numpy as np

from . import _header
from .exceptions import ArgumentError, LabelsError, NonFiniteError, OutOfMemoryError, ShapeError

logger = logging.getLogger("privatemail")
logger.addHandler(logging.NullHandler())

_FLOAT = np.dtype(np.float32)
# The number of values converted at a time, so that the check for overflow takes little memory.
_BLOCK = 1 << 18
# In a column whose numbers lie within this many units in the last place of float32, rows can no
# longer be distinguished.
_UNITS = 256
# The number of rows from which the range of most numbers is taken.
_SAMPLE = 512
# Devices of DLPack whose memory the processor can read.
_DLPACK_CPU = (1, 3)


class Rows:
    """Rows that the library reads, as pm_rows.

    Attributes
    ----------
    array : numpy.ndarray
        The float32 rows, those of the caller if nothing was converted.
    copied : int
        The bytes of the copy, 0 if there is none.
    struct : _header.Rows
    """

    def __init__(self, array: np.ndarray, copied: int):
        self.array = array
        self.copied = copied
        rows, cols = array.shape
        self.struct = _header.Rows(array.ctypes.data, rows, cols, _stride(array))
        # A thread of the library may outlive the frame that holds the array.
        self.struct.array = array

    @property
    def ref(self) -> Any:
        """The argument for ``const pm_rows *``."""
        return ctypes.byref(self.struct)


def as_rows(
    value: Any, name: str, max_memory: Optional[int] = None, collapse: bool = False
) -> Rows:
    """Returns value as rows of float32, without a copy where its layout allows it.

    Parameters
    ----------
    value : array-like of shape (rows, columns)
        An array of numpy, or an object that exports one: by the buffer protocol,
        ``__array_interface__``, ``__array__`` (as pandas does) or DLPack in the memory of the
        processor. Rows are returned unchanged.
    name : str
        Its name in messages.
    max_memory : int, optional
        A conversion that needs more bytes than this is refused before it allocates.
    collapse : bool
        Warns of columns whose numbers float32 cannot distinguish. It is for rows that are all
        compared with each other, and that are not private.
    """
    if isinstance(value, Rows):
        return value
    array = _as_array(value, name)
    if array.ndim != 2:
        raise ShapeError(
            f"Expected 2D array for {name}, got one with ndim={array.ndim}. Reshape your data: "
            f"{name}.reshape(-1, 1) if it has one column, {name}.reshape(1, -1) if it is one row"
        )
    if array.dtype.kind not in "biufO":
        raise TypeError(f"{name} has dtype {array.dtype}, want real numbers")
    if _passes(array):
        return Rows(array, 0)
    size = array.size * _FLOAT.itemsize
    if max_memory is not None and size > max_memory:
        raise OutOfMemoryError(
            f"{name} of dtype {array.dtype} needs {size} bytes to become float32 rows, but the "
            f"engine has {max_memory}: pass C-contiguous float32, which is not copied"
        )
    logger.info(
        "%s: %d x %d of dtype %s converted to float32 rows", name, *array.shape, array.dtype
    )
    rows = _converted(array, name)
    if collapse:
        _warn_of_collapse(array, rows, name)
    return Rows(rows, size)


def joined(above: np.ndarray, below: np.ndarray, max_memory: Optional[int] = None) -> Rows:
    """Returns the float32 rows of two arrays as one array, which is a copy."""
    size = above.nbytes + below.nbytes
    if max_memory is not None and size > max_memory:
        raise OutOfMemoryError(
            f"{len(above)} fitted and {len(below)} new rows need {size} bytes side by side, but "
            f"the engine has {max_memory}"
        )
    return Rows(np.concatenate([above, below]), size)


def refuse_masked(value: Any, name: str) -> None:
    """Refuses an array with masked entries, since the values under a mask would be used as data.

    >>> from privatemail._arrays import refuse_masked
    >>> refuse_masked(np.ma.masked_array([1.0, 2.0], mask=[False, False]), "X")
    """
    if np.ma.is_masked(value):
        raise ArgumentError(f"{name} has masked entries: leave their rows out, or fill them")


def _as_array(value: Any, name: str) -> np.ndarray:
    """Returns an array over the memory of value, or one made from it."""
    refuse_masked(value, name)
    if isinstance(value, np.ndarray):
        return np.asarray(value)  # also a matrix, or an array with a mask that masks nothing
    if hasattr(value, "toarray") and hasattr(value, "nnz"):
        raise TypeError(
            f"{name} is sparse, want a dense array: use X.toarray() if its "
            f"{' x '.join(map(str, value.shape))} numbers fit in memory"
        )
    if hasattr(value, "__dlpack_device__"):
        if value.__dlpack_device__()[0] not in _DLPACK_CPU:
            raise TypeError(
                f"{name} is in the memory of another device: move it to the processor first"
            )
        if not hasattr(value, "__array_interface__") and hasattr(np, "from_dlpack"):
            return np.from_dlpack(value)
    try:
        return np.asarray(value)
    except ValueError:  # rows of several lengths, about which the text of numpy does not help
        raise ShapeError(f"{name} is not an array: its rows have several lengths") from None


def _passes(array: np.ndarray) -> bool:
    """Returns whether the library can read the array without a copy."""
    rows, cols = array.shape
    size, (down, right) = _FLOAT.itemsize, array.strides
    return (
        array.dtype == _FLOAT  # in the order of bytes of this machine
        and array.flags.aligned
        and (cols <= 1 or right == size)
        and (rows <= 1 or (down % size == 0 and down >= cols * size))
    )


def _stride(array: np.ndarray) -> int:
    """Returns the distance of rows in numbers."""
    rows, cols = array.shape
    return cols if rows <= 1 else max(cols, array.strides[0] // _FLOAT.itemsize)


def _converted(array: np.ndarray, name: str) -> np.ndarray:
    """Returns a copy in float32 rows, all of them finite."""
    rows, cols = array.shape
    out = np.empty((rows, cols), _FLOAT)
    step = max(1, _BLOCK // max(1, cols))
    for first in range(0, rows, step):
        block = out[first : first + step]
        try:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                block[...] = array[first : first + step]
        except OverflowError:  # an integer of Python
            raise NonFiniteError(
                f"{name} has a number beyond the range of float32, "
                f"in rows {first + 1} to {first + len(block)}"
            ) from None
        except (TypeError, ValueError):  # objects; the text of numpy would show one of them
            raise TypeError(
                f"{name} has a value that is not a number, "
                f"in rows {first + 1} to {first + len(block)}"
            ) from None
        bad = ~np.isfinite(block).all(axis=1)
        if bad.any():
            row = first + int(bad.argmax())
            whole = np.isfinite(np.asarray(array[row], dtype=np.float64)).all()
            what = "a number beyond the range of float32" if whole else "a NaN or an infinity"
            raise NonFiniteError(f"row {row + 1} of {name} has {what}")
    return out


def _warn_of_collapse(array: np.ndarray, rows: np.ndarray, name: str) -> None:
    """Warns if different rows have become nearly or entirely equal, such as times since 1970."""
    if array.dtype.kind not in "iuf" or array.dtype.itemsize < 4 or len(rows) < 2:
        return  # objects, and types that fit into float32
    # Most rows count: a few that lie elsewhere, such as a time of 0, do not help the others.
    some = slice(None, None, max(1, len(rows) // _SAMPLE))
    sample = np.sort(rows[some], axis=0)
    tenth = len(sample) // 10
    lost = _narrow_and_rounded(array, rows, rows.min(axis=0), rows.max(axis=0))
    lost |= _narrow_and_rounded(array[some], rows[some], sample[tenth], sample[-1 - tenth])
    if lost:
        which = ", ".join(str(column + 1) for column in sorted(lost)[:5])
        which += f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        warnings.warn(
            f"{name} becomes float32, which cannot tell the numbers of its columns {which} "
            "apart: they are large compared with their differences, or nearly 0. Subtract "
            "the mean of each column first, or scale it",
            stacklevel=4,
        )


def _narrow_and_rounded(
    array: np.ndarray, rows: np.ndarray, least: np.ndarray, most: np.ndarray
) -> Set[int]:
    """Returns the columns whose numbers from least to most are too close to each other for
    float32."""
    largest = np.maximum(np.abs(least), np.abs(most))
    with np.errstate(over="ignore"):
        narrow = np.flatnonzero(most - least < _UNITS * np.spacing(largest))
    lost = set()
    for column in narrow:  # few: most columns are wide
        inner = (rows[:, column] >= least[column]) & (rows[:, column] <= most[column])
        given, rounded = array[inner, column], rows[inner, column]
        if (given != given[0]).any() and (given != rounded).any():
            lost.add(int(column))
    return lost


def is_missing(value: Any) -> bool:
    """Returns whether an object stands for a missing value: None, a NaN, or the NA or NaT of
    pandas."""
    if value is None:
        return True
    try:
        return not bool(value == value)
    except TypeError:  # the NA of pandas is neither true nor false
        return True


def _integers(array: np.ndarray, name: str) -> np.ndarray:
    """Returns labels that are objects, such as nullable integers of pandas, as int64."""
    out = np.empty(len(array), np.int64)
    for row, value in enumerate(array):
        if is_missing(value):
            out[row] = -1
            continue
        try:
            out[row] = operator.index(value)
        except (TypeError, OverflowError):
            raise LabelsError(
                f"row {row + 1} of {name} has neither a 64-bit integer nor None or NA: "
                "numpy.unique(y, return_inverse=True) makes integers from any labels"
            ) from None
    return out


def as_labels(value: Any, rows: int, name: str = "y") -> np.ndarray:
    """Returns value as int32 labels, one for each row: -1, None or NA for a row without a class.

    >>> from privatemail._arrays import as_labels
    >>> as_labels([0, 1, -1], 3), as_labels([0, None], 2)
    (array([ 0,  1, -1], dtype=int32), array([ 0, -1], dtype=int32))
    """
    refuse_masked(value, name)
    array = np.asarray(value)
    if array.ndim != 1 or len(array) != rows:
        raise ShapeError(f"{name} has shape {array.shape}, want one label for each of {rows} rows")
    if array.dtype.kind == "O":
        array = _integers(array, name)
    if array.dtype.kind not in "biu":
        row = int(np.isnan(array).argmax()) if array.dtype.kind == "f" and len(array) else 0
        gap = f", and row {row + 1} has a NaN" if len(array) and array[row] != array[row] else ""
        raise LabelsError(
            f"{name} has dtype {array.dtype}{gap}, want integers of 0 or more, or -1 for no label: "
            "numpy.unique(y, return_inverse=True) makes them from any labels"
        )
    array = array.astype(np.int8) if array.dtype.kind == "b" else array
    wide = (array < -1) | (array > np.iinfo(np.int32).max)
    if wide.any():
        raise LabelsError(
            f"row {int(wide.argmax()) + 1} of {name} has a label below -1 or beyond 32 bits"
        )
    return np.ascontiguousarray(array, dtype=np.int32)


class Out:
    """A matrix that the library writes, as pm_matrix."""

    def __init__(self, array: np.ndarray):
        self.array = array
        rows, cols = array.shape
        self.struct = _header.Matrix(array.ctypes.data, rows, cols, _stride(array))
        self.struct.array = array  # as for Rows

    @property
    def ref(self) -> Any:
        """The argument for ``const pm_matrix *``."""
        return ctypes.byref(self.struct)


def as_out(out: Optional[np.ndarray], rows: int, cols: int) -> Out:
    """Returns where to write rows x cols numbers: out, after checks, or a new array."""
    if out is None:
        return Out(np.empty((rows, cols), _FLOAT))
    if not isinstance(out, np.ndarray):
        raise TypeError("out is not a numpy array")
    if out.shape != (rows, cols):
        raise ShapeError(f"out has shape {out.shape}, want ({rows}, {cols})")
    if not _passes(out) or not out.flags.writeable:
        raise TypeError("out is not writable rows of float32 without gaps between columns")
    return Out(out)


def filled(
    out: Optional[np.ndarray], shape: Tuple[int, int], types: Sequence[type], name: str
) -> np.ndarray:
    """Returns the array that the library fills: out, after checks, or a new one.

    A new one has the first of the types, and out may have any of them.
    """
    if out is None:
        return np.empty(shape, types[0])
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name} is not a numpy array")
    if out.shape != shape:
        raise ShapeError(f"{name} has shape {out.shape}, want {shape}")
    if out.dtype not in types or not out.flags.carray:
        names = " or ".join(np.dtype(each).name for each in types)
        raise TypeError(f"{name} is not writable contiguous memory of {names}")
    return out


def pointer(array: Optional[np.ndarray]) -> Optional[ctypes.c_void_p]:
    """Returns the address of an array's memory, which keeps the array alive; None for no array."""
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)
