"""KernelEmbedding: the methods, and new rows."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.manifold import SpectralEmbedding, trustworthiness
from sklearn.neighbors import KNeighborsClassifier

from privatemail import Engine, KernelEmbedding, SettingError, default_engine


def digits():
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y


def test_map_keeps_neighbours_better_than_spectral_embedding():
    X = digits()[0][:800]
    ours = KernelEmbedding().fit_transform(X)
    theirs = SpectralEmbedding(n_neighbors=10, random_state=0).fit_transform(X)
    assert trustworthiness(X, ours) > max(0.93, trustworthiness(X, theirs))


@pytest.mark.filterwarnings("ignore:the graph has")
def test_methods_are_those_of_the_engine():
    X = digits()[0][:300]
    engine = Engine()
    for method, wanted in {
        "map": engine.map(X, n_neighbors=5),
        "eigenvectors": engine.converge(X, n_neighbors=5),
        "steps": engine.embed(X, n_neighbors=5, steps=3, sigma_q=1.0, seed=9),
    }.items():
        embedding = KernelEmbedding(method=method, n_neighbors=5, steps=3, random_state=9).fit(X)
        np.testing.assert_array_equal(embedding.embedding_, wanted.points)
        assert embedding.report_["graph"]["operator"] == wanted.report["graph"]["operator"]


@pytest.mark.parametrize("graph", [{"n_neighbors": 6}, {"mean_neighbours": 12}, {"sigma": 12.0}])
def test_graphs(graph):
    X = digits()[0][:300]
    embedding = KernelEmbedding(n_components=3, method="eigenvectors", **graph).fit(X)
    np.testing.assert_array_equal(
        embedding.embedding_, Engine().converge(X, n_components=3, **graph).points
    )


def test_eigenvectors_of_the_normalised_graph():
    """The columns span the same space as eigenvectors of numpy for the matrix of the same
    weights."""
    X = digits()[0][:200]
    weights, _ = Engine().graph(X, n_neighbors=10)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    scale = 1 / np.sqrt(degree)
    walk = scale[:, None] * weights.toarray() * scale
    values, vectors = np.linalg.eigh(walk)
    plain = (scale[:, None] * vectors)[:, -2:-5:-1]
    plain /= np.linalg.norm(plain, axis=1)[:, None]
    found = KernelEmbedding(3, method="eigenvectors").fit(X)
    # Up to signs; rows have unit length in both.
    signs = np.sign((found.embedding_ * plain).sum(axis=0))
    assert np.abs(np.linalg.norm(found.embedding_, axis=1) - 1).max() < 1e-5
    np.testing.assert_allclose(found.report_["values"], values[-2:-5:-1], atol=1e-4)
    assert np.median(np.abs(found.embedding_ - signs * plain)) < 0.05


def test_new_rows_lie_among_rows_of_their_class():
    X, y = digits()
    embedding = KernelEmbedding().fit(X[:1200])
    nearest = KNeighborsClassifier(5).fit(embedding.embedding_, y[:1200])
    assert nearest.score(embedding.transform(X[1200:]), y[1200:]) > 0.9


def test_new_rows_are_means_of_their_neighbours():
    """By the formula of the extension: w = exp(-(r / r_last)^2)."""
    X = digits()[0]
    embedding = KernelEmbedding().fit(X[:500])
    queries = X[500:520]
    distances = np.linalg.norm(X[:500, None].astype(float) - queries[None].astype(float), axis=2).T
    near = np.argsort(distances, axis=1, kind="stable")[:, :10]
    r = np.take_along_axis(distances, near, axis=1)
    w = np.exp(-((r / r[:, -1:]) ** 2))
    wanted = (w[:, :, None] * embedding.embedding_[near]).sum(axis=1) / w.sum(axis=1)[:, None]
    size = np.abs(embedding.embedding_).max()
    np.testing.assert_allclose(embedding.transform(queries), wanted, atol=1e-5 * size)


@pytest.mark.filterwarnings("ignore:the graph has")
def test_rows_that_were_fitted_stay_in_place():
    X = digits()[0][:300]
    embedding = KernelEmbedding().fit(X)
    mixed = np.concatenate([X[10:20], X[10:20] + 0.25, X[:3]])
    placed = embedding.transform(mixed)
    np.testing.assert_array_equal(placed[:10], embedding.embedding_[10:20])
    np.testing.assert_array_equal(placed[20:], embedding.embedding_[:3])
    assert not np.array_equal(placed[10:20], placed[:10])


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_few_rows(rows):
    X = digits()[0][:rows]
    embedding = KernelEmbedding(n_components=1).fit(X)
    assert np.isfinite(embedding.transform(X + 1)).all()


def test_parts_are_warned_of():
    X, _ = make_moons(200, noise=0.01, random_state=0)
    X[100:] += 100
    with pytest.warns(UserWarning, match="parts that no weight connects"):
        KernelEmbedding(n_neighbors=3).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"n_neighbors": 5, "sigma": 1.0}, "exclude"),
        ({"mean_neighbours": 5, "sigma": 1.0}, "exclude"),
        ({"n_neighbors": 50}, "n_neighbors"),
        ({"n_components": 40}, "columns"),
        ({"n_components": 0}, "n_components"),
        ({"sigma": -1.0}, "bandwidth|sigma"),
        ({"method": "steps", "steps": -1}, "steps"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises((ValueError, SettingError), match=message):
        KernelEmbedding(**parameters).fit(digits()[0][:30])


@pytest.mark.parametrize("d", [3, 64])
def test_new_rows_are_placed_as_by_all_fitted_rows(d):
    """One search finds the rows that place a new one, with the same bits as a search of all
    rows."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (300, d)).astype(np.float32)  # many rows at the same distance
    new = rng.integers(0, 3, (40, d)).astype(np.float32)
    new[7] = X[11]
    fitted = KernelEmbedding(method="steps", n_neighbors=40).fit(X)
    wanted = default_engine().extend(X, fitted.embedding_, new, k=10)
    nearest, ids = default_engine().nearest(X, new, k=1)
    wanted[nearest[:, 0] == 0] = fitted.embedding_[ids[nearest[:, 0] == 0, 0]]
    np.testing.assert_array_equal(fitted.transform(new), wanted)
    np.testing.assert_array_equal(fitted.transform(new[:1]), wanted[:1])
