"""Products with the full kernel of some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

import numpy as np

from . import _arrays, _call

if TYPE_CHECKING:
    from ._base import EngineBase


class KernelProduct:
    """Products with the n x n matrix exp(-|x_i - x_j|**2 / (2 sigma**2)), ones on its diagonal.

    :meth:`Engine.operator` makes it.

    Attributes
    ----------
    shape : tuple of int
        (n, n).
    report : dict
        The library's report about it, with the certificate of its error.
    """

    def __init__(
        self,
        engine: "EngineBase",
        handle: _call.Handle,
        shape: Tuple[int, int],
        report: Dict[str, Any],
    ):
        self._engine = engine  # kept: its workers compute the products
        self._handle = handle
        rows, self._features = shape
        self.shape: Tuple[int, int] = (rows, rows)
        self.report = report

    def apply(self, V: Any, out: Optional[np.ndarray] = None) -> np.ndarray:
        """Returns the product of the kernel with the columns of V.

        Parameters
        ----------
        V : array-like of shape (n, m)
        out : float32 array of shape (n, m), optional

        Returns
        -------
        numpy.ndarray of shape (n, m), float32
        """
        rows = _arrays.as_rows(V, "V", self._engine.max_memory)
        result = _arrays.as_out(out, *rows.array.shape)
        n, columns = rows.array.shape
        # The most work of any operator: each weight is computed and multiplied.
        call = self._engine._call(rows.copied, work=n * n * (self._features + columns))
        call.run("pm_operator_apply", self._handle.value, rows.ref, result.ref)
        return result.array

    def close(self) -> None:
        """Frees the memory of the operator."""
        self._handle.close()

    def __enter__(self) -> "KernelProduct":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
