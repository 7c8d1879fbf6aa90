"""The file that records how much privacy each unit has spent."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional

from . import _call, _header, _library, _settings


class Ledger:
    """An open ledger. Only one process can have it open at a time.

    Examples
    --------
    >>> import os, tempfile
    >>> from privatemail.ledger import Ledger
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "budget")
    ...     with Ledger.create(path, epsilon=1.0, delta=1e-6, kind="gdp") as ledger:
    ...         head = ledger.describe()["head"]
    ...     Ledger.open(path, head=head).close()
    """

    def __init__(self, handle: _call.Handle):
        self._handle = handle

    @classmethod
    def create(
        cls,
        path: Any,
        *,
        epsilon: float,
        delta: float,
        kind: str = "mixed",
        pure_epsilon: Optional[float] = None,
    ) -> "Ledger":
        """Creates the file of a ledger and opens it. An existing file is never replaced.

        Parameters
        ----------
        path : path-like
        epsilon, delta : float
            The total that every unit may spend.
        kind : {"mixed", "gdp", "zcdp", "pure"}
            How releases add up.
        pure_epsilon : float, optional
            The part of it that is reserved for randomised labels and requests, in a mixed ledger.
        """
        total = _header.Total(
            struct_size=ctypes.sizeof(_header.Total),
            kind=_settings.text(kind, "kind"),
            epsilon=_settings.number(epsilon, "epsilon"),
            delta=_settings.number(delta, "delta"),
            pure_epsilon=_settings.number(pure_epsilon, "pure_epsilon"),
        )
        _library.check(_library.get().pm_ledger_create(_settings.path(path), ctypes.byref(total)))
        return cls.open(path)

    @classmethod
    def open(cls, path: Any, head: Optional[str] = None) -> "Ledger":
        """Opens a ledger.

        Parameters
        ----------
        path : path-like
        head : str, optional
            The head from an earlier :meth:`describe`. A ledger that has not passed through that
            state, such as an older copy, is refused. A later state is accepted.
        """
        name, seen = _settings.path(path), _settings.text(head, "head")
        handle = _call.Handle("ledger")
        _library.check(_library.get().pm_ledger_open(name, seen, handle.new))
        return cls(handle)

    def describe(
        self, unit: Optional[str] = None, unit_kind: Optional[str] = None
    ) -> Dict[str, Any]:
        """Returns the total, the head and, with unit, what the unit has spent and has left.

        The entry "protects" of a unit says for which data sets its numbers hold: those that every
        release of the unit protects. It is "none" if they protect nothing in common, and "unknown"
        if the ledger has not recorded it. A unit that has spent nothing is a PrivacyError.
        """
        return _call.describe(
            _library.get().pm_ledger_describe,
            self._handle.value,
            _settings.text(unit, "unit"),
            _settings.text(unit_kind, "unit_kind"),
        )

    def close(self) -> None:
        """Closes the file. Then another process may open it."""
        self._handle.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a Ledger cannot be pickled: a copy could spend the budget twice")
