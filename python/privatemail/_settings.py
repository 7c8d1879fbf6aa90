"""Python keywords to the structs of pm.h.

A field of 0 means the library's default, and None means it here. So a keyword that is 0 is refused
if 0 is not a valid setting: the default would be a surprise.
"""

from __future__ import annotations

import ctypes
import operator
import os
from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from . import _arrays, _header
from .exceptions import SettingError


def text(value: Any, name: str) -> Optional[bytes]:
    """Returns a text for the library, None for None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise SettingError(f"{name} is a {type(value).__name__}, want a text")
    if "\0" in value:  # C would read the part before it
        raise SettingError(f"{name} has a NUL")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise SettingError(f"{name} is not valid Unicode") from None


def path(value: Any) -> bytes:
    """Returns the path of a file for the library."""
    name = os.fsencode(value)
    if b"\0" in name:
        raise SettingError("the path has a NUL")
    return name


def integer(value: Any, name: str) -> int:
    """Returns an integer that fits into 64 bits, 0 for None."""
    if value is None:
        return 0
    try:
        number = operator.index(value)
    except TypeError:
        raise SettingError(f"{name} is a {type(value).__name__}, want an integer") from None
    if not -(2**63) <= number < 2**63:  # ctypes would use its lowest bits
        raise SettingError(f"{name} needs more than 64 bits")
    return number


def number(value: Any, name: str) -> float:
    """Returns a floating-point number, 0 for None."""
    if value is None:
        return 0.0
    if isinstance(value, (str, bytes)):
        raise SettingError(f"{name} is a text, want a number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"{name} is a {type(value).__name__}, want a float64 number") from None


def seed(value: Any, name: str) -> int:
    """Returns the seed of any integer: its lowest 64 bits."""
    try:
        return operator.index(value) & (2**64 - 1)
    except TypeError:
        raise SettingError(f"{name} is a {type(value).__name__}, want an integer") from None


def flag(value: Any, name: str) -> int:
    """Returns 1 or 0."""
    if isinstance(value, (bool, np.bool_)) or value in (0, 1):
        return int(value)
    raise SettingError(f"{name} is neither True nor False")


def _above(convert: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Refuses 0, for which the library would use its default."""

    def converted(value: Any, name: str) -> Any:
        result = convert(value, name)
        if value is not None and result == 0:
            raise SettingError(f"{name} is 0, want a number above 0, or None for the default")
        return result

    return converted


#: For each keyword the field of the struct and the conversion of its value.
Table = Dict[str, Tuple[str, Callable[[Any, str], Any]]]

_GRAPH: Table = {
    "sigma": ("sigma", _above(number)),
    "gamma": ("gamma", _above(number)),
    "mean_neighbours": ("mean_neighbours", _above(number)),
    "n_neighbors": ("neighbours", _above(integer)),
    "radius": ("radius", _above(number)),
    "cutoff_weight": ("cutoff_weight", _above(number)),
    "tolerance": ("tolerance", _above(number)),
    "operator": ("op", text),
    "isolated": ("isolated", text),
    "normalize_rows": ("normalize_rows", flag),
}

#: Keywords of an embedding, without its start.
EMBEDDING: Table = {
    **_GRAPH,
    "allow_unlabelled": ("allow_unlabelled", flag),
    "form": ("form", text),
    "coefficient": ("coefficient", number),
    "table": ("table", text),
    "n_components": ("dim", _above(integer)),
    "steps": ("steps", _above(integer)),
    "sigma_q": ("sigma_q", _above(number)),
    "seed": ("seed", seed),
    "stop": ("stop", number),
    "normalize": ("normalize", text),
}

# A keyword that the library would ignore is refused, since the caller expects an effect.
#: Keywords of eigenvectors.
CONVERGE: Table = {
    name: entry
    for name, entry in EMBEDDING.items()
    if name not in ("steps", "sigma_q", "normalize")
}

#: Keywords of a map.
MAP: Table = {**_GRAPH, **{name: EMBEDDING[name] for name in ("n_components", "seed", "stop")}}

#: Keywords of the steps after a release.
LATER: Table = {
    **{name: entry for name, entry in _GRAPH.items() if name != "normalize_rows"},
    **{name: EMBEDDING[name] for name in ("coefficient", "steps", "stop", "normalize")},
}

_PRIVATE: Table = {
    "epsilon": ("epsilon", number),
    "delta": ("delta", number),
    "relation": ("relation", text),
    "label_mode": ("label_mode", text),
    "label_epsilon": ("label_epsilon", number),
    "unit": ("unit", text),
    "unit_kind": ("unit_kind", text),
    "new_unit": ("new_unit", flag),
    "other_relation": ("other_relation", flag),
    "normalize_rows": ("normalize_rows", flag),
    "rest_public": ("rest_public", flag),
    "uncounted": ("uncounted", flag),
    "records": ("records", _above(integer)),
    "rule": ("rule", text),
    "sigma": ("sigma", _above(number)),
    "gamma": ("gamma", _above(number)),
    "alpha": ("alpha", number),
    "table": ("table", text),
    "classes": ("classes", integer),
    "n_components": ("dim", _above(integer)),
    "sigma_q": ("sigma_q", _above(number)),
    "seed": ("seed", seed),
    "operator": ("op", text),
    "radius": ("radius", _above(number)),
}


def _fill(struct: Any, table: Table, keywords: Dict[str, Any]) -> None:
    struct.struct_size = ctypes.sizeof(struct)
    for name, value in keywords.items():
        if name not in table:
            raise TypeError(f"unexpected keyword argument {name!r}")
        field, convert = table[name]
        setattr(struct, field, convert(value, name))


class Settings:
    """pm_settings with the start that it points to.

    Parameters
    ----------
    keywords : dict
    max_memory : int, optional
        As for as_rows, which converts the start.
    table : dict
        The valid keywords. Only those of an embedding have a start.
    """

    def __init__(
        self, keywords: Dict[str, Any], max_memory: Optional[int] = None, table: Table = EMBEDDING
    ):
        keywords = dict(keywords)
        start = keywords.pop("start", None) if table is EMBEDDING else None
        self.struct = _header.Settings(seed=1)
        _fill(self.struct, table, keywords)
        self.start: Optional[_arrays.Rows] = None
        if start is not None:
            self.start = _arrays.as_rows(start, "start", max_memory)
            self.struct.start = ctypes.pointer(self.start.struct)

    @property
    def ref(self) -> Any:
        """The argument for ``const pm_settings *``."""
        return ctypes.byref(self.struct)

    @property
    def copied(self) -> int:
        """The bytes of a copy of the start."""
        return 0 if self.start is None else self.start.copied

    def columns(self, features: int, reduces: bool) -> int:
        """Returns the columns of the result.

        Parameters
        ----------
        features : int
            The columns of X.
        reduces : bool
            The result has n_components columns in every form, as for eigenvectors and maps.
        """
        if not reduces:
            if self.start is not None:
                return self.start.array.shape[1]
            if self.struct.form == b"attract":
                return features
        return self.struct.dim or 2


class Private:
    """pm_private_settings with the rows that it points to."""

    def __init__(self, keywords: Dict[str, Any]):
        keywords = dict(keywords)
        rows = keywords.pop("private_rows", None)
        keywords.setdefault("seed", 1)
        self.struct = _header.PrivateSettings()
        _fill(self.struct, _PRIVATE, keywords)
        if rows is not None:
            numbers = _row_numbers(rows)
            self.struct.private_rows = numbers.ctypes.data
            self.struct.private_count = len(numbers)
            self.struct.array = numbers  # kept

    @property
    def ref(self) -> Any:
        """The argument for ``const pm_private_settings *``."""
        return ctypes.byref(self.struct)


def _row_numbers(value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise SettingError("private_rows is not a list of row numbers")
    if (array > np.iinfo(np.int64).max).any():
        raise SettingError("private_rows has a number beyond 64 bits")
    return np.ascontiguousarray(array, dtype=np.int64)
