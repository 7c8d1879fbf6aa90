"""Products with the full Gaussian kernel matrix without forming it."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .engine import default_engine


class GaussianOperator(LinearOperator):
    """The matrix K with K_ij = exp(-|x_i - x_j|^2 / (2 sigma^2)), for products with vectors.

    It is a ``scipy.sparse.linalg.LinearOperator``: ``K @ v``, ``cg``, ``eigsh`` and ``lobpcg``
    accept it as a matrix. The matrix is not formed. The library chooses the cheapest method for the
    tolerance: only the large weights, a polynomial, a grid, or all pairs block by block.

    Parameters
    ----------
    X : array of shape (n, n_features)
        The rows. They are not used after the operator is made.
    sigma : float
        The bandwidth. One of sigma and gamma is needed.
    gamma : float
        The bandwidth of exp(-gamma d^2), as in scikit-learn's ``rbf_kernel``.
    tolerance : float, default=1e-4
        The allowed error of a row: the sum of the errors of its weights, relative to the sum of its
        weights without its own. Isolated rows get the weights they need to meet it, except for rows
        so far out that float32 cannot hold these; the certificate says how many.
    operator : str, default=None
        "csr", "pairs", "dense", "poly" or "grid" in place of the cheapest.
    n_jobs, max_memory, verbose
        As for :class:`SupervisedEmbedding`.

    Attributes
    ----------
    shape : (int, int)
    dtype : float64
    report_ : dict
        Which operator it is, its cost, and its certificate. ``eta_max`` bounds the error of every
        row, in the sense of ``tolerance``, and ``eta_p99`` that of 99 in 100 rows. A bound is None
        if it would include a row of which all weights but its own were left out. ``isolated`` is
        the number of such rows.

    Notes
    -----
    Vectors are float64 and products are computed in float32, so a product has about six digits for
    any small tolerance. Each vector is scaled first, so that large and small ones do not overflow.
    Do not ask a solver for a smaller residual.

    Examples
    --------
    >>> import numpy as np
    >>> from privatemail import GaussianOperator
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> K = GaussianOperator(X, sigma=1)
    >>> (K @ np.array([1.0, 0.0, 0.0])).round(4)
    array([1.    , 0.6065, 0.1353])
    """

    def __init__(
        self,
        X: Any,
        *,
        sigma: Optional[float] = None,
        gamma: Optional[float] = None,
        tolerance: Optional[float] = 1e-4,
        operator: Optional[str] = None,
        n_jobs: Optional[int] = None,
        max_memory: Optional[int] = None,
        verbose: bool = False,
    ) -> None:
        engine = default_engine(n_jobs=n_jobs, max_memory=max_memory, verbose=verbose)
        self._product = engine.operator(
            X,
            sigma=sigma,
            gamma=gamma,
            tolerance=tolerance,
            operator=operator,
            isolated="repair",
        )
        self.report_ = self._product.report["graph"]
        super().__init__(dtype=np.dtype(np.float64), shape=self._product.shape)

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._matmat(x.reshape(-1, 1)).reshape(x.shape)

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(X):
            return self._matmat(X.real) + 1j * self._matmat(X.imag)
        X = np.asarray(X, dtype=np.float64)
        if not np.isfinite(X).all():
            raise ValueError("the vectors have a NaN or an infinity")
        _, exponents = np.frexp(np.abs(X).max(axis=0, initial=0))
        scaled = np.ldexp(X, -exponents).astype(np.float32)
        return np.ldexp(self._product.apply(scaled).astype(np.float64), exponents)

    def _adjoint(self) -> "GaussianOperator":
        return self

    _transpose = _adjoint

    def __reduce__(self) -> Any:
        raise TypeError("a GaussianOperator cannot be pickled: make it again from its rows")

    def close(self) -> None:
        """Free the memory of the operator. It is not usable afterwards."""
        self._product.close()
