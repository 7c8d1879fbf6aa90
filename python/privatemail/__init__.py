"""PrivateMail: embeddings, graphs and kernels of many rows, and private releases of them.

Estimators in scikit-learn's manner:

* :class:`SupervisedEmbedding` learns a map from labelled rows that brings rows of a class together,
  and places new rows without labels.
* :class:`KernelEmbedding` makes a map of rows without labels, and places new rows in it.
* :class:`GaussianGraph` returns the graph of neighbouring rows as a sparse matrix, by a radius, by
  a mean number of neighbours or by nearest neighbours.
* :class:`GaussianOperator` multiplies the full Gaussian kernel matrix with vectors without
  forming it, for the solvers of scipy.

>>> from sklearn.datasets import load_digits
>>> from sklearn.model_selection import cross_val_score
>>> from sklearn.neighbors import KNeighborsClassifier
>>> from sklearn.pipeline import make_pipeline
>>> from privatemail import SupervisedEmbedding
>>> X, y = load_digits(return_X_y=True)
>>> pipeline = make_pipeline(SupervisedEmbedding("discriminate"), KNeighborsClassifier(1))
>>> bool(cross_val_score(pipeline, X, y, cv=3).mean() > 0.9)
True

Privacy: :func:`privatize` makes a release of private rows, :class:`Ledger` counts what releases
have spent, :func:`continue_` computes further from a :class:`Release` without the rows, and
:func:`sensitivity` returns the cost of a release in advance.

:class:`Engine` does the work for all of them and has every setting. :class:`Model` is the map that
a SupervisedEmbedding has learned, in memory or in a file.

**Numbers.** Rows are computed in float32. A C-contiguous array of float32 is not copied; others
are converted once. Results are float32.

**Threads and bits.** ``n_jobs=None`` and -1 use all processors. The same input gives the same bits
for any ``n_jobs``. ``random_state=None`` is the same as 1.

**Memory.** ``max_memory`` is how many bytes a computation may take, by default three quarters of
the available memory. A computation that does not fit raises :class:`OutOfMemoryError` before it
allocates.

**Ctrl-C** ends a computation with KeyboardInterrupt. ``verbose=True`` shows progress.

**Processes.** The library is loaded at the first computation. A process that is forked later cannot
use it and gets :class:`ForkedError`. Start processes with ``multiprocessing.get_context("spawn")``.
It is safe to import, to construct estimators and to call ``SupervisedEmbedding.load`` before a
fork.

**About the library.** :func:`version` returns its version, :func:`simd_level` the level of
instructions that it uses here. Both load it. ``__version__`` is the version of the package, which
is the same unless ``PRIVATEMAIL_LIBRARY`` names another library; it loads nothing.

**Errors** are all :class:`Error`, and also ValueError, MemoryError, OSError or RuntimeError.
"""

from . import exceptions
from ._header import VERSION as __version__
from ._embedding import Result
from ._library import simd_level, version
from .engine import Engine, KernelProduct, default_engine
from .exceptions import *  # noqa: F401,F403  the names of its __all__
from .gaussian_graph import GaussianGraph
from .gaussian_operator import GaussianOperator
from .kernel_embedding import KernelEmbedding
from .ledger import Ledger
from .model import Model
from .privacy import continue_, privatize, sensitivity
from .release import Release
from .supervised import SupervisedEmbedding

__all__ = [
    "__version__",
    "Engine",
    "GaussianGraph",
    "GaussianOperator",
    "KernelEmbedding",
    "KernelProduct",
    "Ledger",
    "Model",
    "Release",
    "Result",
    "SupervisedEmbedding",
    "continue_",
    "default_engine",
    "privatize",
    "sensitivity",
    "simd_level",
    "version",
    *exceptions.__all__,
]
