"""Models: fit, place, save, open and pickle."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest
from sklearn.datasets import load_digits

from privatemail.engine import Engine
from privatemail.exceptions import (
    Error,
    FileError,
    HandleError,
    LabelsError,
    SettingError,
    ShapeError,
    SystemCallError,
)
from privatemail.model import Model


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def model(digits):
    return Engine(n_jobs=2).fit(*digits, recipe="discriminate", measure=False)


def test_fit(model, digits):
    X, y = digits
    assert (model.n_rows, model.n_features_in, model.n_columns) == (1797, 64, 9)
    assert model.report["recipe"].startswith("discriminate")
    assert model.describe()["about"]["classes"] == 10
    placed = model.transform(X[:100])
    assert placed.shape == (100, 9) and placed.dtype == np.float32
    # A recipe without steps moves no row: the fitted rows are the images.
    assert np.allclose(model.rows()[:100], placed, atol=1e-5 * np.abs(placed).max())
    out = np.zeros((100, 12), np.float32)
    assert np.shares_memory(model.transform(X[:100].astype(np.float64), out=out[:, :9]), out)
    assert (out[:, :9] == placed).all() and not out[:, 9:].any()


def test_measured(digits):
    X, y = digits
    first = Engine(n_jobs=1).fit(X[:400], y[:400], recipe="raw")
    other = Engine(n_jobs=2).fit(X[:400], y[:400], recipe="raw", seed=2)
    assert first.report["held_out"]["rows"] > 0
    assert "held_out" not in Engine().fit(X[:400], y[:400], recipe="raw", measure=False).report
    assert (first.transform(X) == X).all() and (other.transform(X) == X).all()


def test_same_bits_for_any_n_jobs(digits):
    models = [Engine(n_jobs=n).fit(*digits, recipe="classic", measure=False) for n in (1, 2, 3)]
    assert len({m.rows().tobytes() for m in models}) == 1
    assert len({m.transform(digits[0]).tobytes() for m in models}) == 1


def test_bytes_and_files(model, digits, tmp_path):
    X = digits[0]
    path = tmp_path / "a model"
    model.save(path)
    data = path.read_bytes()
    assert model.to_bytes() == data
    assert [entry.name for entry in tmp_path.iterdir()] == ["a model"]
    wanted = model.transform(X)
    pickled = pickle.loads(pickle.dumps(model))
    assert pickled.report == model.report
    for other in (
        Model.open(path),
        Model.open(str(path)),
        Model.from_bytes(data),
        Model.from_bytes(bytearray(data)),
        pickled,
    ):
        assert (other.transform(X) == wanted).all()
        assert other.to_bytes() == data
        assert (other.rows() == model.rows()).all()


def test_pickled_models_are_read_at_their_first_use(model, monkeypatch):
    pickled = pickle.dumps(model)
    with monkeypatch.context() as patch:
        patch.setattr("privatemail._library.get", None)  # a call of it fails
        first, second, third = (pickle.loads(pickled) for _ in range(3))
        assert pickle.dumps(first) == pickled
    assert first.n_columns == model.n_columns and (first.rows() == model.rows()).all()
    first.close()
    second.close()
    for closed in (first, second):
        with pytest.raises(HandleError):
            closed.rows()
    third._unread = third._unread[:-1]
    with pytest.raises(FileError):
        third.rows()


def test_a_model_that_is_read_does_not_need_the_bytes(model, digits):
    data = bytearray(model.to_bytes())
    other = Model.from_bytes(data)
    data[:] = b"\0" * len(data)
    assert (other.transform(digits[0]) == model.transform(digits[0])).all()


def test_hostile_bytes(model):
    data = model.to_bytes()
    for wrong in [b"", b"\0", data[:-1], data[: len(data) // 2], data + b"\0", b"x" * len(data)]:
        with pytest.raises(FileError):
            Model.from_bytes(wrong)
    for place in range(0, len(data), len(data) // 97):
        changed = bytearray(data)
        changed[place] ^= 0x55
        with pytest.raises(Error):
            Model.from_bytes(changed)
    huge = bytearray(data)
    huge[16:24] = struct.pack("<Q", 2**62)  # sizes of the header
    with pytest.raises(Error):
        Model.from_bytes(huge)


def test_refused(model, digits, tmp_path):
    X, y = digits
    with pytest.raises(ShapeError):
        model.transform(X[:, :5])
    with pytest.raises(SystemCallError):
        Model.open(tmp_path / "nothing")
    with pytest.raises(SystemCallError):
        model.save(tmp_path / "no folder" / "model")
    (tmp_path / "text").write_text("no model")
    with pytest.raises(FileError):
        Model.open(tmp_path / "text")
    with pytest.raises(SettingError, match="NUL"):
        Model.open("a\0b")
    engine = Engine()
    with pytest.raises(SettingError, match="recipe"):
        engine.fit(X, y, recipe="magic")
    with pytest.raises(LabelsError):
        engine.fit(X, np.full(len(X), -1))
    with pytest.raises(ShapeError, match="y has shape"):
        engine.fit(X, y[:5])


def test_close(digits):
    with Engine().fit(*digits, recipe="raw", measure=False) as model:
        model.transform(digits[0])
    for use in (
        lambda: model.transform(digits[0]),
        model.rows,
        model.describe,
        model.to_bytes,
        lambda: model.n_rows,
    ):
        with pytest.raises(HandleError, match="closed"):
            use()
