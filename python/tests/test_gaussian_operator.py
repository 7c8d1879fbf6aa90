"""GaussianOperator compared with the kernel matrix of scikit-learn, and in scipy's solvers."""

import pickle

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, cg, eigsh, lobpcg
from sklearn.metrics.pairwise import rbf_kernel

from privatemail import GaussianOperator


def rows(n=400, d=3):
    return np.random.RandomState(0).normal(size=(n, d)).astype(np.float32)


@pytest.mark.parametrize("d", [1, 3, 40])
@pytest.mark.parametrize("sigma", [0.05, 1, 30])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_products(d, sigma, tolerance):
    X = rows(d=d)
    K = rbf_kernel(X.astype(np.float64), gamma=1 / (2 * sigma**2))
    V = np.random.RandomState(1).normal(size=(400, 5))
    operator = GaussianOperator(X, sigma=sigma, tolerance=tolerance)
    # By the certificate, row by row. Without a bound, weights may be missing: those of rows so far
    # out that float32 cannot hold them.
    eta = operator.report_["eta_max"]
    degree = K.sum(axis=1)[:, None] - 1
    bound = (1 if eta is None else eta) * degree * np.abs(V).max() + 1e-5 * (K @ np.abs(V))
    assert (np.abs(operator @ V - K @ V) <= bound).all()
    assert (np.abs(operator @ V[:, 0] - K @ V[:, 0]) <= bound[:, 0]).all()
    assert operator.report_["isolated"] > 0 or eta <= tolerance
    assert (operator @ V).dtype == np.float64


@pytest.mark.parametrize("name", ["csr", "pairs", "dense", "poly", "grid"])
def test_every_way(name):
    X = rows(d=2)
    K = rbf_kernel(X.astype(np.float64), gamma=0.05)
    v = np.random.RandomState(1).normal(size=400)
    operator = GaussianOperator(X, gamma=0.05, operator=name)
    assert operator.report_["operator"] == name
    assert np.abs(operator @ v - K @ v).max() < 2e-4 * K.sum(axis=1).max() * np.abs(v).max()


def test_is_a_symmetric_linear_operator():
    operator = GaussianOperator(rows(), sigma=1)
    assert isinstance(operator, LinearOperator)
    assert operator.shape == (400, 400) and operator.dtype == np.float64
    v = np.random.RandomState(1).normal(size=400)
    for same in (operator.T, operator.H, operator.adjoint()):
        np.testing.assert_array_equal(same @ v, operator @ v)
    np.testing.assert_array_equal(operator.rmatvec(v), operator @ v)
    np.testing.assert_array_equal((2 * operator) @ v, 2 * (operator @ v))
    np.testing.assert_array_equal(operator @ v[:, None], (operator @ v)[:, None])
    mixed = operator @ (v + 2j * v)
    np.testing.assert_array_equal(mixed.imag, operator @ (2 * v))
    assert operator.report_["eta_max"] <= 1e-4


def test_large_and_small_vectors():
    operator = GaussianOperator(rows(), sigma=1)
    V = np.random.RandomState(1).normal(size=(400, 3))
    sizes = 2.0 ** np.array([-900, 0, 900])
    np.testing.assert_array_equal(operator @ (V * sizes), (operator @ V) * sizes)
    np.testing.assert_array_equal(operator @ np.zeros(400), np.zeros(400))
    for wrong in (np.nan, np.inf):
        V[3, 1] = wrong
        with pytest.raises(ValueError, match="NaN or an infinity"):
            operator @ V


def test_solver():
    X = rows()
    K = rbf_kernel(X.astype(np.float64), gamma=0.5)
    b = np.random.RandomState(1).normal(size=400)
    operator = GaussianOperator(X, sigma=1, tolerance=1e-6)
    identity = LinearOperator((400, 400), matvec=lambda v: v, dtype=np.float64)
    found, failed = cg(operator + identity, b, maxiter=500, atol=1e-5 * np.linalg.norm(b))
    assert failed == 0
    wanted = np.linalg.solve(K + np.eye(400), b)
    assert np.linalg.norm(found - wanted) < 1e-3 * np.linalg.norm(wanted)


def test_eigenvalues():
    X = rows()
    K = rbf_kernel(X.astype(np.float64), gamma=0.5)
    wanted = np.linalg.eigvalsh(K)[-4:]
    operator = GaussianOperator(X, sigma=1)
    found = eigsh(operator, k=4, tol=1e-5, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(found), wanted, rtol=1e-3)
    start = np.random.RandomState(1).normal(size=(400, 4))
    found = lobpcg(operator, start, largest=True, tol=1e-2, maxiter=100)[0]
    np.testing.assert_allclose(np.sort(found), wanted, rtol=1e-3)


def test_bits_for_any_number_of_threads():
    V = np.random.RandomState(1).normal(size=(400, 9))
    for sigma in (0.1, 1, 30):
        first, *others = [GaussianOperator(rows(), sigma=sigma, n_jobs=n) @ V for n in (1, 2, 3)]
        for other in others:
            np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({}, ValueError),
        ({"sigma": 1, "gamma": 1}, ValueError),
        ({"sigma": -1}, ValueError),
        ({"sigma": 1, "tolerance": 0}, ValueError),
        ({"sigma": 1, "operator": "magic"}, ValueError),
        ({"sigma": 1, "max_memory": 10}, MemoryError),
    ],
)
def test_parameters_that_are_refused(parameters, error):
    with pytest.raises(error):
        GaussianOperator(rows().astype(np.float64), **parameters)


def test_no_pickle():
    with pytest.raises(TypeError, match="make it again"):
        pickle.dumps(GaussianOperator(rows(10), sigma=1))


def test_closed():
    operator = GaussianOperator(rows(), sigma=1)
    operator.close()
    with pytest.raises(ValueError):
        operator @ np.ones(400)


def test_rows_that_lie_apart_keep_their_weights():
    X = np.random.default_rng(0).uniform(0, 10, (1500, 2)).astype(np.float32)
    X[:2] = [[-1.2, 5], [11.5, 5]]
    K = GaussianOperator(X, sigma=0.3, operator="csr")
    assert K.report_["isolated"] == 0 and K.report_["eta_max"] < 1e-4
    # The weights of row 0 without its own add up to 0.0004.
    weights = np.exp(-((X[0].astype(np.float64) - X[1:]) ** 2).sum(axis=1) / (2 * 0.3**2))
    v = np.ones(len(X))
    v[0] = 0
    assert abs((K @ v)[0] - weights.sum()) < 1e-4 * weights.sum()
