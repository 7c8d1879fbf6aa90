"""What the estimators share: validation, seeds, names of columns and tags."""

from __future__ import annotations

import numbers
from typing import Any, Optional, Union

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._arrays import as_rows
from .engine import Engine, default_engine

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:

    def _validate_data(estimator: BaseEstimator, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


RandomState = Union[None, int, np.random.RandomState, np.random.Generator]


class Estimator(TransformerMixin, BaseEstimator):
    """Base of the estimators.

    A subclass has the parameters ``n_jobs``, ``memory`` and ``verbose``, and the attribute
    ``_n_features_out`` once it is fitted.
    """

    def _engine(self) -> Engine:
        return default_engine(n_jobs=self.n_jobs, memory=self.memory, verbose=self.verbose)

    def _checked(self, X: Any, *, fitting: bool) -> np.ndarray:
        """Return X as a 2-D array of float32 or float64, two rows at least while fitting."""
        if not fitting:
            check_is_fitted(self)
        return _validate_data(
            self,
            X,
            dtype=[np.float32, np.float64],
            reset=fitting,
            ensure_min_samples=2 if fitting else 1,
        )

    def _float32(self, X: np.ndarray) -> np.ndarray:
        """Return rows that the estimator keeps, converted once where they are not float32."""
        return as_rows(X, "X", self._engine().memory).array

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of ``transform``.

        Parameters
        ----------
        input_features : ignored
            Every column of the result depends on all features.

        Returns
        -------
        ndarray of str objects
            The name of the class in lower case with the number of the column.
        """
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self._n_features_out)], dtype=object)

    # Rows of float32 give columns of float32; everything else is computed in float32, too.
    def _more_tags(self) -> dict:
        return {"preserves_dtype": [np.float32]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def seed_of(random_state: RandomState) -> int:
    """Return the seed that a ``random_state`` stands for.

    None stands for 1: a result that nobody asked to vary does not vary.

    >>> seed_of(None), seed_of(7)
    (1, 7)
    >>> seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    True
    """
    if random_state is None:
        return 1
    if isinstance(random_state, (numbers.Integral, np.integer)):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise ValueError("random_state is None, a number, a RandomState or a Generator of numpy")


def neighbours_within(wanted: Optional[int], rows: int, name: str) -> int:
    """Return a number of neighbours that so many rows can have.

    None stands for 10, or for all other rows where they are fewer. A number that is given
    and too large is an error.
    """
    if wanted is None:
        return min(10, rows - 1)
    if isinstance(wanted, bool) or not isinstance(wanted, (numbers.Integral, np.integer)):
        raise ValueError(f"{name} is a whole number")
    if not 1 <= wanted < rows:
        raise ValueError(f"{name} is at least 1 and below the number of rows, n_samples = {rows}")
    return int(wanted)
