"""The shared parts of the estimators: validation, seeds, names of columns and tags."""

from __future__ import annotations

import numbers
from typing import Any, Optional, Union

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._arrays import Rows, as_rows, refuse_masked
from .engine import Engine, default_engine

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:

    def _validate_data(estimator: BaseEstimator, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


RandomState = Union[None, int, np.random.RandomState, np.random.Generator]


class Estimator(TransformerMixin, BaseEstimator):
    """Base of the estimators.

    A subclass has the parameters ``n_jobs``, ``max_memory`` and ``verbose``, and the attribute
    ``_n_features_out`` once it is fitted.
    """

    def _engine(self) -> Engine:
        return default_engine(n_jobs=self.n_jobs, max_memory=self.max_memory, verbose=self.verbose)

    def _rows(self, X: Any, *, fitting: bool) -> Rows:
        """Return X as rows of float32, at least two of them while fitting.

        The rows keep the bytes of a conversion, so that calls of the engine count them.
        """
        if not fitting:
            check_is_fitted(self)
        refuse_masked(X, "X")
        try:
            X = _validate_data(
                self,
                X,
                dtype="numeric",
                reset=fitting,
                ensure_min_samples=2 if fitting else 1,
            )
        except ValueError as error:
            text = without_values(str(error))
            if text is None:
                raise
        else:
            return as_rows(X, "X", self._engine().max_memory, collapse=fitting)
        raise ValueError(text)  # outside of the handler, so that the first error is not its context

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

    # Rows of float32 give columns of float32; other rows are also computed in float32.
    def _more_tags(self) -> dict:
        return {"preserves_dtype": [np.float32]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def without_values(text: str) -> Optional[str]:
    """Return an error of scikit-learn without the values of X, None if it shows none.

    >>> without_values("could not convert string to float: 'Smith'")
    'X has a value that is not a number'
    """
    if text.startswith("could not convert"):
        return "X has a value that is not a number"
    first = text.split("\n", 1)[0].rstrip(":")  # values follow in later lines
    if first.startswith("Complex data"):
        return first
    if first.startswith("Expected 2D"):
        return (
            f"{first}. Reshape your data: X.reshape(-1, 1) if it has one column, "
            "X.reshape(1, -1) if it is one row"
        )
    return None


def seed_of(random_state: RandomState) -> int:
    """Return the seed that a ``random_state`` stands for.

    None stands for 1: results only vary on request.

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
    raise ValueError("random_state must be None, a number, a RandomState or a Generator of numpy")


def neighbours_within(wanted: Optional[int], rows: int, name: str) -> int:
    """Return a number of neighbours that is possible with the given number of rows.

    None stands for 10, or for all other rows if there are fewer. A given number that is too large
    is an error.
    """
    if wanted is None:
        return min(10, rows - 1)
    if isinstance(wanted, bool) or not isinstance(wanted, (numbers.Integral, np.integer)):
        raise ValueError(f"{name} must be a whole number")
    if not 1 <= wanted < rows:
        raise ValueError(
            f"{name} must be at least 1 and below the number of rows, n_samples = {rows}"
        )
    return int(wanted)
