"""Weights with a separate bandwidth for every row, for new rows."""

from __future__ import annotations

import numpy as np

from .engine import Engine

# The same as in the library for fitted rows (Zelnik-Manor and Perona 2004): the neighbour whose
# distance is the scale of a row, and the least weight of two neighbours.
TUNING_NEIGHBOUR = 7
LEAST_TUNED = 1e-3


def tuned_weights(
    engine: Engine, fitted: np.ndarray, distances: np.ndarray, ids: np.ndarray
) -> np.ndarray:
    """Return the weights of new rows with their nearest fitted rows.

    Parameters
    ----------
    engine : Engine
    fitted : ndarray of float32, shape (n, d)
    distances, ids : ndarray, shape (q, k)
        The nearest fitted rows of each new row. None of them equals it.

    Returns
    -------
    ndarray of float32, shape (q, k)
    """
    if len(ids) == 0:
        return np.empty(ids.shape, dtype=np.float32)
    k = ids.shape[1]
    needed, place = np.unique(ids, return_inverse=True)
    among, _ = engine.nearest(fitted, fitted[needed], k=k + 1)
    own = scales(distances)[:, None]
    theirs = scales(among[:, 1:])[place].reshape(ids.shape)  # the first is the row itself
    theirs = np.where(theirs == 0, own, theirs)
    d = distances.astype(np.float64)
    return np.maximum(np.exp(-(d * d) / (own * theirs)), LEAST_TUNED).astype(np.float32)


def scales(distances: np.ndarray) -> np.ndarray:
    """Return the scale of each row from the distances of its neighbours, nearest first.

    It is the distance of the 7th, or of the last if there are fewer. If that is 0 it is the next
    distance that is not 0, and 0 if all are.

    >>> scales(np.array([[1.0, 2.0], [0.0, 0.0]], dtype=np.float32))
    array([2., 0.])
    """
    later = distances[:, min(TUNING_NEIGHBOUR, distances.shape[1]) - 1 :]
    first = np.argmax(later > 0, axis=1)
    return later[np.arange(len(later)), first].astype(np.float64)
