"""Private first steps, what they cost, and what is computed from them."""

from __future__ import annotations

from typing import Any, Dict, Optional

from ._embedding import Result
from .engine import default_engine
from .ledger import Ledger
from .release import Release


def sensitivity(
    n: int, d: int, *, epsilon: float, delta: float, relation: str, **settings: Any
) -> Dict[str, Any]:
    """Say what a private first step of n rows of d features would cost. It reads no rows.

    Parameters
    ----------
    n, d : int
        Rows and features, public numbers.
    epsilon, delta, relation
        As for :func:`privatize`.
    **settings
        Other keywords of :func:`privatize`. One of sigma and gamma is needed. Those of labels,
        units and ledgers are not looked at.

    Returns
    -------
    dict
        How far one record can move the step, the noise for epsilon and delta, and the size of a
        typical entry of the step beside it.

    Examples
    --------
    >>> from privatemail import sensitivity
    >>> assessment = sensitivity(
    ...     1000, 64, epsilon=1, delta=1e-6, relation="features-replace", sigma=1
    ... )
    >>> assessment["operator"]
    'dense'
    """
    return default_engine().sensitivity(
        n, d, epsilon=epsilon, delta=delta, relation=relation, **settings
    )


def privatize(
    X: Any,
    y: Any = None,
    *,
    epsilon: float,
    delta: float,
    relation: str,
    label_mode: str,
    unit: Optional[str],
    ledger: Optional[Ledger],
    n_jobs: Optional[int] = None,
    memory: Optional[int] = None,
    **settings: Any,
) -> Release:
    """Take the first step of the iteration on private rows, and add noise to it.

    Take two data sets that differ in one row; the relation says how. Let P[S] be the
    probability that the release falls into a set S of outcomes with one of them, P'[S] with the
    other. Then P[S] <= e^epsilon P'[S] + delta for every S. With ``records`` it is so many rows
    that differ, and where labels are randomised, ``label_epsilon`` times that number is added to
    epsilon. That is proved for ideal noise; ours comes from ChaCha8, which is assumed to be a good
    generator. The numbers of rows, columns and classes, the bandwidth, alpha and the seed are public:
    choose them without looking at private rows. docs/privacy.md of the project has the whole
    promise, and what is not promised.

    What the promise is about has no default, so none is made by accident.

    Parameters
    ----------
    X : array of shape (n, n_features)
        The rows, each of norm 1; or with ``normalize_rows=True`` rows that are divided by their
        norm first.
    y : array of n integers, default=None
        Labels from 0 to ``classes - 1``. They are not renumbered: which labels occur is private
        where labels are.
    epsilon, delta : float
        What is promised of the noise. Above 10, or with a delta above 1e-3, there is no
        meaningful formal protection.
    relation : {"replace-one", "null", "features-replace", "features-null"}
        Which data sets are neighbours: one row is replaced, or is a row of zeros, with its label
        or, for those that begin with "features-", with a label that is public and stays.
    label_mode : {"public", "dropped", "randomised"}
        What becomes of labels after the release. "public" needs a relation that takes labels to be
        public. "dropped" leaves labels out of all that comes later. "randomised" replaces each
        label at random, for ``label_epsilon`` on top of epsilon.
    unit : str or None
        The name whose budget pays. Rows that are released together share one name, in every
        release with them. None is for releases that nobody counts.
    ledger : Ledger or None
        Who counts. None needs ``uncounted=True``: nobody counts, and what several releases of
        the same rows disclose together adds up unseen.
    n_jobs, memory
        As for :class:`SupervisedEmbedding`.
    **settings
        Other keywords of :meth:`Engine.privatize`. One of sigma and gamma is needed, and
        ``classes`` wherever labels are used.

    Returns
    -------
    Release
        It may be published as far as the promise goes. What is computed from it and from public
        numbers keeps the promise.

    Raises
    ------
    PrivacyError
        Nothing is proved for these settings, or one is missing.
    BudgetError
        The ledger has too little left. Nothing was spent.
    SpentError
        The call failed after the ledger had paid. Its attribute ``release`` has the release
        where there is one: keep it. So has KeyboardInterrupt, where Ctrl-C came after the
        payment; where there is no release, its cause is this error.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from privatemail import Ledger, continue_, privatize
    >>> X = np.random.default_rng(0).standard_normal((200, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "ledger")
    ...     with Ledger.create(path, epsilon=2, delta=1e-5, kind="gdp") as ledger:
    ...         release = privatize(
    ...             X, epsilon=1, delta=1e-6, relation="features-replace", label_mode="dropped",
    ...             unit="patients", new_unit=True, ledger=ledger, normalize_rows=True, sigma=1,
    ...         )
    >>> release.points().shape
    (200, 2)
    >>> continue_(release, mean_neighbours=20, steps=2).points.shape
    (200, 2)
    """
    return default_engine(n_jobs=n_jobs, memory=memory).privatize(
        X,
        y,
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        label_mode=label_mode,
        unit=unit,
        ledger=ledger,
        **settings,
    )


def continue_(
    release: Release,
    y: Any = None,
    *,
    n_jobs: Optional[int] = None,
    memory: Optional[int] = None,
    **settings: Any,
) -> Result:
    """Take later steps from a release and public labels alone.

    It reads no private rows. So the promise of the release holds for the result too, as long as
    labels and settings are public, and nothing is spent.

    Parameters
    ----------
    release : Release
    y : array of n integers, default=None
        Labels that are public. Labels that are private must not be given here.
    n_jobs, memory
        As for :class:`SupervisedEmbedding`.
    **settings
        Keywords of :meth:`Engine.continue_`: ``coefficient`` for another alpha than the
        release has, and sigma, gamma, mean_neighbours, cutoff_weight, tolerance, operator,
        isolated, steps, stop and normalize as :meth:`Engine.embed` has them.

    Returns
    -------
    Result
        ``points`` and ``report``.
    """
    return default_engine(n_jobs=n_jobs, memory=memory).continue_(release, y, **settings)
