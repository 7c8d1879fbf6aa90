"""Which arrays pass without a copy, and the conversion of the others."""

from __future__ import annotations

import array
import ctypes
import logging
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from privatemail import (
    Engine,
    GaussianGraph,
    GaussianOperator,
    KernelEmbedding,
    SupervisedEmbedding,
    _arrays,
)
from privatemail.exceptions import (
    ArgumentError,
    LabelsError,
    NonFiniteError,
    OutOfMemoryError,
    ShapeError,
)


def base() -> np.ndarray:
    return np.arange(60, dtype=np.float32).reshape(10, 6)


def frozen() -> np.ndarray:
    array = base()
    array.flags.writeable = False
    return array


class Interface:
    """An array of another library, by __array_interface__."""

    def __init__(self):
        self.held = base()
        self.__array_interface__ = self.held.__array_interface__


class DLPack:
    """An array of another library, only by DLPack."""

    def __init__(self, device=1):
        self.held, self.device = base(), device

    def __dlpack__(self, **keywords):
        return self.held.__dlpack__()

    def __dlpack_device__(self):
        return (self.device, 0)


def read(rows: _arrays.Rows) -> np.ndarray:
    """Returns the matrix as the library reads it: entry (i, j) at data[i*stride + j]."""
    s = rows.struct
    numbers = ctypes.c_float * ((s.rows - 1) * s.stride + s.cols)
    flat = np.ctypeslib.as_array(numbers.from_address(s.data))
    return np.array([flat[i * s.stride : i * s.stride + s.cols] for i in range(s.rows)])


PASSED = {
    "contiguous": (base, lambda x: x),
    "read-only": (frozen, lambda x: x),
    "first columns": (base, lambda x: x[:, :4]),
    "last columns": (base, lambda x: x[:, 2:]),
    "one column": (base, lambda x: x[:, 3:4]),
    "every second row": (base, lambda x: x[::2]),
    "every third row of some columns": (base, lambda x: x[1::3, 1:3]),
    "one row, backwards": (base, lambda x: x[4:3:-1]),
    "one row of a transpose": (lambda: np.ascontiguousarray(base()[:, :1]), lambda x: x.T),
    "subclass": (base, lambda x: x.view(np.matrix)),
}


@pytest.mark.parametrize("case", PASSED)
def test_passes_without_a_copy(case):
    make, view = PASSED[case]
    held = make()
    given = view(held)
    rows = _arrays.as_rows(given, "X")
    assert rows.copied == 0
    assert np.shares_memory(rows.array, held)
    assert rows.struct.data == given.__array_interface__["data"][0]
    assert (read(rows) == np.asarray(given)).all()


@pytest.mark.parametrize(
    "given",
    [memoryview(base()), Interface(), DLPack(), DLPack(3)],
    ids=["buffer", "interface", "dlpack", "pinned"],
)
def test_other_exporters_pass_without_a_copy(given):
    rows = _arrays.as_rows(given, "X")
    held = given if isinstance(given, memoryview) else given.held
    assert rows.copied == 0 and np.shares_memory(rows.array, np.asarray(held))
    assert (read(rows) == base()).all()


def test_array_of_the_standard_library():
    values = array.array("f", range(6))
    rows = _arrays.as_rows(memoryview(values).cast("B").cast("f", (2, 3)), "X")
    assert rows.copied == 0 and rows.struct.data == values.buffer_info()[0]


CONVERTED = {
    "float64": lambda x: x.astype(np.float64),
    "float16": lambda x: x.astype(np.float16),
    "longdouble": lambda x: x.astype(np.longdouble),
    "int8": lambda x: x.astype(np.int8),
    "uint64": lambda x: x.astype(np.uint64),
    "bool": lambda x: x > 7,
    "Fortran": np.asfortranarray,
    "columns backwards": lambda x: x[:, ::-1],
    "rows backwards": lambda x: x[::-1],
    "every second column": lambda x: x[:, ::2],
    "one row again and again": lambda x: np.broadcast_to(x[:1], (4, 6)),
    "overlapping rows": lambda x: np.lib.stride_tricks.sliding_window_view(x[0], 3),
    "swapped bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": lambda x: np.frombuffer(b"." + x.tobytes(), np.float32, offset=1).reshape(x.shape),
    "rows 9 bytes apart": lambda x: np.zeros(4, [("x", "f4", 2), ("pad", "i1")])["x"],
    "lists": lambda x: x.tolist(),
    "objects": lambda x: x.astype(object),
}


@pytest.mark.parametrize("case", CONVERTED)
def test_converts_once(case, caplog):
    given = CONVERTED[case](base())
    with caplog.at_level(logging.INFO, "privatemail"):
        rows = _arrays.as_rows(given, "X")
    wanted = np.asarray(given).astype(np.float32)
    assert rows.copied == wanted.nbytes
    assert (read(rows) == wanted).all()
    assert not np.shares_memory(rows.array, given) if isinstance(given, np.ndarray) else True
    (record,) = caplog.records
    assert record.levelno == logging.INFO and "converted to float32" in record.message


class Frame:
    """Like a data frame for numpy: an object that converts itself to an array."""

    shape = (10, 6)

    def __array__(self, dtype=None, copy=None):
        return np.asfortranarray(base().astype(np.float64))


def test_data_frames():
    rows = _arrays.as_rows(Frame(), "X")
    assert rows.copied == base().nbytes and (read(rows) == base()).all()


def test_conversion_by_blocks(monkeypatch):
    monkeypatch.setattr(_arrays, "_BLOCK", 7)
    values = np.random.default_rng(1).standard_normal((23, 3))
    assert (_arrays.as_rows(values, "X").array == values.astype(np.float32)).all()
    values[17, 1] = np.inf
    with pytest.raises(NonFiniteError, match="^row 18 of X has a NaN or an infinity$"):
        _arrays.as_rows(values, "X")


@pytest.mark.parametrize(
    "value, what",
    [(1e39, "beyond the range of float32"), (-1e300, "beyond the range"), (np.nan, "a NaN")],
)
def test_overflow_names_the_row(value, what):
    values = np.zeros((5, 2))
    values[3, 1] = value
    with pytest.raises(NonFiniteError, match=f"row 4 of queries has .*{what}"):
        _arrays.as_rows(values, "queries")


def test_conversion_beyond_the_memory_is_refused_before_it_is_made():
    huge = np.broadcast_to(np.float64(1), (1 << 40, 1 << 10))  # petabytes, if it were copied
    with pytest.raises(OutOfMemoryError, match="X of dtype float64 needs .* bytes"):
        _arrays.as_rows(huge, "X", max_memory=1 << 30)
    assert _arrays.as_rows(base(), "X", max_memory=1).copied == 0


@pytest.mark.parametrize(
    "given, error",
    [
        (np.zeros(3, np.float32), ShapeError),
        (np.zeros((2, 3, 4), np.float32), ShapeError),
        (np.float32(3), ShapeError),
        (np.zeros((2, 2), complex), TypeError),
        (np.array([["a", "b"]]), TypeError),
        (np.array([["secret", 1.0]], dtype=object), TypeError),
        (np.zeros((2, 2), "datetime64[s]"), TypeError),
        (scipy.sparse.eye(3, format="csr"), TypeError),
        (DLPack(device=2), TypeError),
        ([[1.0, 2.0], [3.0]], (ShapeError, TypeError)),
        (None, ShapeError),
    ],
)
@pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged")
def test_refused(given, error):
    with pytest.raises(error, match="X") as caught:
        _arrays.as_rows(given, "X")
    assert "secret" not in str(caught.value)


def test_empty_arrays_are_left_to_the_library():
    for shape in [(0, 3), (3, 0), (0, 0)]:
        rows = _arrays.as_rows(np.zeros(shape, np.float32), "X")
        assert (rows.struct.rows, rows.struct.cols) == shape and rows.struct.stride >= shape[1]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint16, np.uint64, ">i4"])
def test_labels(dtype):
    labels = _arrays.as_labels(np.array([3, 0, 7], dtype), 3)
    assert labels.dtype == np.int32 and labels.flags.c_contiguous and labels.tolist() == [3, 0, 7]


def test_labels_of_other_layouts():
    labels = np.arange(10, dtype=np.int32)
    assert _arrays.as_labels(labels, 10) is not None
    assert np.shares_memory(_arrays.as_labels(labels, 10), labels)
    assert _arrays.as_labels(labels[::2], 5).tolist() == [0, 2, 4, 6, 8]
    assert _arrays.as_labels([True, False], 2).tolist() == [1, 0]
    assert _arrays.as_labels([-1, 2**31 - 1], 2).tolist() == [-1, 2**31 - 1]
    nullable = pd.Series([3, pd.NA, 5], dtype="Int64")
    assert _arrays.as_labels(nullable, 3).tolist() == [3, -1, 5]
    assert _arrays.as_labels([3, None, 5, np.nan], 4).tolist() == [3, -1, 5, -1]


@pytest.mark.parametrize(
    "given, error, text",
    [
        ([0, -2, 1], LabelsError, "row 2"),
        ([0, 1, 2**31], LabelsError, "row 3"),
        (np.array([2**63, 0, 0], np.uint64), LabelsError, "row 1"),
        ([0.0, 1.0, 2.0], LabelsError, "dtype float64, want"),
        ([0.0, np.nan, 2.0], LabelsError, "dtype float64, and row 2 has a NaN"),
        ([0, None, "7351"], LabelsError, "row 3"),
        ([0, 2**70, None], LabelsError, "row 2"),
        (["a", "b", "c"], LabelsError, "dtype"),
        ([0, 1], ShapeError, "3 rows"),
        ([[0, 1, 2]], ShapeError, "3 rows"),
    ],
)
def test_labels_refused(given, error, text):
    with pytest.raises(error, match=text):
        _arrays.as_labels(given, 3)


def test_out():
    wide = np.zeros((4, 8), np.float32)
    out = _arrays.as_out(wide[:, :3], 4, 3)
    assert out.struct.stride == 8 and out.struct.data == wide.ctypes.data
    assert _arrays.as_out(None, 2, 3).array.shape == (2, 3)
    for wrong in [
        np.zeros((4, 3)),
        frozen()[:4, :3],
        np.zeros((4, 6), np.float32)[:, ::2],
        wide[::-1, :3],
        [[0.0] * 3] * 4,
    ]:
        with pytest.raises(TypeError, match="out"):
            _arrays.as_out(wrong, 4, 3)
    with pytest.raises(ShapeError, match="out"):
        _arrays.as_out(wide, 4, 3)


@pytest.mark.parametrize("mask", [[[True, False], [False, False]], True], ids=["one", "all"])
def test_masked_entries_are_refused(mask):
    """Values under a mask are not data, and must not be used as such."""
    masked = np.ma.masked_array(np.ones((2, 2), np.float32), mask=mask)
    with pytest.raises(ArgumentError, match="^X has masked entries"):
        _arrays.as_rows(masked, "X")
    with pytest.raises(ArgumentError, match="^y has masked entries"):
        _arrays.as_labels(np.ma.masked_array([0, 1], mask=[False, True]), 2)


def test_a_mask_that_masks_nothing_passes():
    values = np.ma.masked_array(base())
    assert _arrays.as_rows(values, "X").copied == 0
    assert (_arrays.as_labels(np.ma.masked_array([0, 1]), 2) == [0, 1]).all()


def test_integers_beyond_float64_name_the_rows():
    with pytest.raises(NonFiniteError, match="beyond the range of float32, in rows 1 to 2"):
        _arrays.as_rows([[1], [10**400]], "X")


def test_arguments_of_a_call_keep_their_arrays():
    """A thread of the library reads them, even after the frame of the caller is gone."""
    import weakref

    for wrap in (
        lambda array: _arrays.Rows(array, 0).ref,
        lambda array: _arrays.Out(array).ref,
        _arrays.pointer,
    ):
        array = base()
        seen = weakref.ref(array)
        argument = wrap(array)
        del array
        assert seen() is not None
        del argument
        assert seen() is None


def test_rows_stay_what_they_are():
    rows = _arrays.as_rows(base().astype(np.float64), "X")
    assert _arrays.as_rows(rows, "X", max_memory=1) is rows


def test_joined_rows_are_counted():
    rows = _arrays.joined(base(), base(), max_memory=2 * base().nbytes)
    assert rows.copied == 2 * base().nbytes
    assert (rows.array == np.concatenate([base(), base()])).all()
    with pytest.raises(OutOfMemoryError, match="side by side"):
        _arrays.joined(base(), base(), max_memory=2 * base().nbytes - 1)


# Times since 1970, in seconds, of rows that are a minute apart: float32 has one number in 128.
TIMES = np.column_stack([1.7e9 + 60.0 * np.arange(30), np.arange(30.0)])


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.longdouble])
def test_columns_that_float32_cannot_tell_apart(dtype):
    times = TIMES.astype(dtype)
    times[:, 0] = 1_700_000_000 + np.arange(30) * 60
    with pytest.warns(UserWarning, match="columns 1 apart.*Subtract") as caught:
        _arrays.as_rows(times, "X", collapse=True)
    assert len(caught) == 1 and "17000" not in str(caught[0].message)
    with pytest.warns(UserWarning, match="columns 1, 2, 3, 4, 5 and 3 more"):
        _arrays.as_rows(np.repeat(times[:, :1], 8, axis=1), "X", collapse=True)
    with pytest.warns(UserWarning, match="nearly 0"):
        _arrays.as_rows(1e-60 * np.arange(1, 5.0).reshape(4, 1), "X", collapse=True)
    times[3, 0] = 0  # one distant row hides nothing
    with pytest.warns(UserWarning, match="columns 1 "):
        _arrays.as_rows(times, "X", collapse=True)


def test_conversions_that_lose_little():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in (
            TIMES - TIMES.mean(axis=0),
            np.full((9, 2), 0.1),  # constant columns
            TIMES[:, ::-1] % 1000 + 1e4,
            1_000_000 + np.arange(10).reshape(5, 2),  # exact in float32
            np.arange(1000, 1010, dtype=np.float16).reshape(5, 2),
            np.random.default_rng(0).standard_normal((50, 3)),
            np.zeros((3, 2)),
            np.where(np.arange(60).reshape(30, 2) % 13 == 0, TIMES / 7, 0.1),  # few differ
            TIMES[:1],
            np.empty((0, 2)),
        ):
            _arrays.as_rows(array, "X", collapse=True)
        _arrays.as_rows(TIMES, "queries")  # a few rows may be close to each other


def test_who_warns_of_columns_that_collapse():
    y = np.arange(30) % 2
    engine = Engine()
    calls = [
        lambda X: engine.embed(X, sigma=1.0),
        lambda X: engine.map(X, n_neighbors=3),
        lambda X: engine.graph(X, n_neighbors=3),
        lambda X: engine.nearest(X, k=2),
        lambda X: engine.extend(X, X[:, 1:] - 3, X[:1], k=2),
        lambda X: engine.operator(X, sigma=1.0),
        lambda X: engine.fit(X, y, recipe="raw", measure=False),
        lambda X: SupervisedEmbedding("raw", measure=False).fit(X, y),
        lambda X: KernelEmbedding(method="steps").fit(X),
        lambda X: GaussianGraph().fit(X),
        lambda X: GaussianOperator(X, sigma=1.0),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match="columns 1 "):
            call(TIMES)
    fitted = GaussianGraph().fit(TIMES - TIMES.mean(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.transform(TIMES[:2])
