"""The types and functions of pm.h for ctypes.

A test compares these tables with pm.h: every struct with its fields in order, and every function
with the types of its arguments. Handles and pointers to numbers are ``c_void_p``.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Dict, List, Tuple

#: PM_VERSION, which is also the version of the package.
VERSION = "0.1.0"
#: The version of the interface in these tables.
ABI_MAJOR = 1
ABI_MINOR = 0

OK = 0
SIZE = 14


class Rows(ctypes.Structure):
    """pm_rows."""

    _fields_ = [("data", c_void_p), ("rows", c_int64), ("cols", c_int64), ("stride", c_int64)]


class Matrix(ctypes.Structure):
    """pm_matrix."""

    _fields_ = [("data", c_void_p), ("rows", c_int64), ("cols", c_int64), ("stride", c_int64)]


class EngineOptions(ctypes.Structure):
    """pm_engine_options."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("workers", c_int32),
        ("measure", c_int32),
        ("max_memory", c_int64),
        ("level", c_char_p),
    ]


class Settings(ctypes.Structure):
    """pm_settings."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("sigma", c_double),
        ("gamma", c_double),
        ("mean_neighbours", c_double),
        ("neighbours", c_int64),
        ("radius", c_double),
        ("cutoff_weight", c_double),
        ("tolerance", c_double),
        ("op", c_char_p),
        ("isolated", c_char_p),
        ("normalize_rows", c_int32),
        ("allow_unlabelled", c_int32),
        ("form", c_char_p),
        ("coefficient", c_double),
        ("table", c_char_p),
        ("dim", c_int64),
        ("steps", c_int64),
        ("sigma_q", c_double),
        ("seed", c_uint64),
        ("stop", c_double),
        ("normalize", c_char_p),
        ("start", POINTER(Rows)),
    ]


class FitSettings(ctypes.Structure):
    """pm_fit_settings."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("recipe", c_char_p),
        ("normalize_rows", c_int32),
        ("unmeasured", c_int32),
        ("seed", c_uint64),
        ("names", c_void_p),
        ("names_size", c_size_t),
        ("goal", c_char_p),
    ]


class PrivateSettings(ctypes.Structure):
    """pm_private_settings."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("epsilon", c_double),
        ("delta", c_double),
        ("relation", c_char_p),
        ("label_mode", c_char_p),
        ("label_epsilon", c_double),
        ("unit", c_char_p),
        ("unit_kind", c_char_p),
        ("new_unit", c_int32),
        ("normalize_rows", c_int32),
        ("rest_public", c_int32),
        ("uncounted", c_int32),
        ("records", c_int64),
        ("rule", c_char_p),
        ("sigma", c_double),
        ("gamma", c_double),
        ("alpha", c_double),
        ("table", c_char_p),
        ("classes", c_int64),
        ("dim", c_int64),
        ("sigma_q", c_double),
        ("seed", c_uint64),
        ("op", c_char_p),
        ("radius", c_double),
        ("private_rows", c_void_p),
        ("private_count", c_int64),
        ("other_relation", c_int32),
    ]


class Total(ctypes.Structure):
    """pm_total."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_char_p),
        ("epsilon", c_double),
        ("delta", c_double),
        ("pure_epsilon", c_double),
    ]


#: pm_progress.
Progress = ctypes.CFUNCTYPE(None, c_char_p, c_int64, c_int64, c_void_p)

STRUCTS: Dict[str, Any] = {
    "pm_rows": Rows,
    "pm_matrix": Matrix,
    "pm_engine_options": EngineOptions,
    "pm_settings": Settings,
    "pm_fit_settings": FitSettings,
    "pm_private_settings": PrivateSettings,
    "pm_total": Total,
}

_HANDLE = c_void_p
_NEW = POINTER(c_void_p)
_ROWS = POINTER(Rows)
_MATRIX = POINTER(Matrix)
_SETTINGS = POINTER(Settings)
_PRIVATE = POINTER(PrivateSettings)
_COUNT = POINTER(c_int64)
# A buffer of the caller's, its size, and the size that is needed.
_BUFFER: List[Any] = [c_void_p, c_size_t, POINTER(c_size_t)]

#: For every function of pm.h what it returns and what it takes.
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "pm_version": (c_char_p, []),
    "pm_simd_level": (c_char_p, []),
    "pm_abi": (c_int32, []),
    "pm_status_name": (c_char_p, [c_int32]),
    "pm_last_error": (c_char_p, []),
    "pm_engine_new": (c_int32, [POINTER(EngineOptions), _NEW]),
    "pm_engine_workers": (c_int32, [_HANDLE, POINTER(c_int32)]),
    "pm_engine_free": (c_int32, [_HANDLE]),
    "pm_call_new": (c_int32, [_NEW]),
    "pm_call_on_progress": (c_int32, [_HANDLE, Progress, c_void_p]),
    "pm_call_reserve": (c_int32, [_HANDLE, c_int64]),
    "pm_call_cancel": (c_int32, [_HANDLE]),
    "pm_call_report": (c_int32, [_HANDLE, *_BUFFER]),
    "pm_call_free": (c_int32, [_HANDLE]),
    "pm_plan": (c_int32, [_HANDLE, _ROWS, _SETTINGS, c_int32, _HANDLE]),
    "pm_embed": (c_int32, [_HANDLE, _ROWS, c_void_p, _SETTINGS, _MATRIX, _HANDLE]),
    "pm_converge": (c_int32, [_HANDLE, _ROWS, c_void_p, _SETTINGS, _MATRIX, _HANDLE]),
    "pm_map": (c_int32, [_HANDLE, _ROWS, _SETTINGS, _MATRIX, _HANDLE]),
    "pm_extend": (c_int32, [_HANDLE, _ROWS, _ROWS, _ROWS, c_int64, _MATRIX, _HANDLE]),
    "pm_nearest": (
        c_int32,
        [_HANDLE, _ROWS, _ROWS, c_int64, c_int32, c_void_p, c_void_p, _HANDLE],
    ),
    "pm_graph_new": (c_int32, [_HANDLE, _ROWS, _SETTINGS, _NEW, _HANDLE]),
    "pm_graph_between": (c_int32, [_HANDLE, _ROWS, _ROWS, _SETTINGS, _NEW, _HANDLE]),
    "pm_graph_size": (c_int32, [_HANDLE, _COUNT, _COUNT]),
    "pm_graph_copy": (c_int32, [_HANDLE, c_int32, c_void_p, c_void_p, c_void_p]),
    "pm_graph_distances": (c_int32, [_HANDLE, _HANDLE, _ROWS, c_void_p, _HANDLE]),
    "pm_graph_free": (c_int32, [_HANDLE]),
    "pm_operator_new": (c_int32, [_HANDLE, _ROWS, _SETTINGS, _NEW, _HANDLE]),
    "pm_operator_apply": (c_int32, [_HANDLE, _ROWS, _MATRIX, _HANDLE]),
    "pm_operator_free": (c_int32, [_HANDLE]),
    "pm_fit": (c_int32, [_HANDLE, _ROWS, c_void_p, POINTER(FitSettings), _NEW, _HANDLE]),
    "pm_model_open": (c_int32, [c_char_p, _NEW]),
    "pm_model_save": (c_int32, [_HANDLE, c_char_p, _HANDLE]),
    "pm_model_write": (c_int32, [_HANDLE, *_BUFFER]),
    "pm_model_read": (c_int32, [c_void_p, c_size_t, _NEW]),
    "pm_model_size": (c_int32, [_HANDLE, _COUNT, _COUNT, _COUNT]),
    "pm_model_rows": (c_int32, [_HANDLE, _MATRIX]),
    "pm_model_apply": (c_int32, [_HANDLE, _HANDLE, _ROWS, _MATRIX, _HANDLE]),
    "pm_model_classes": (c_int32, [_HANDLE, c_void_p, c_size_t, POINTER(c_size_t)]),
    "pm_model_class_name": (c_int32, [_HANDLE, c_int32, *_BUFFER]),
    "pm_model_predict": (
        c_int32,
        [_HANDLE, _HANDLE, _ROWS, c_int64, c_void_p, c_void_p, _MATRIX, _HANDLE],
    ),
    "pm_model_describe": (c_int32, [_HANDLE, *_BUFFER]),
    "pm_model_free": (c_int32, [_HANDLE]),
    "pm_sensitivity": (c_int32, [c_int64, c_int64, _PRIVATE, _HANDLE]),
    "pm_privatize": (c_int32, [_HANDLE, _ROWS, c_void_p, _PRIVATE, _HANDLE, _NEW, _HANDLE]),
    "pm_release_write": (c_int32, [_HANDLE, *_BUFFER]),
    "pm_release_read": (c_int32, [c_void_p, c_size_t, _NEW]),
    "pm_release_size": (c_int32, [_HANDLE, _COUNT, _COUNT]),
    "pm_release_points": (c_int32, [_HANDLE, c_void_p]),
    "pm_release_describe": (c_int32, [_HANDLE, *_BUFFER]),
    "pm_release_free": (c_int32, [_HANDLE]),
    "pm_continue": (c_int32, [_HANDLE, _HANDLE, c_void_p, _SETTINGS, c_int32, _MATRIX, _HANDLE]),
    "pm_ledger_create": (c_int32, [c_char_p, POINTER(Total)]),
    "pm_ledger_open": (c_int32, [c_char_p, c_char_p, _NEW]),
    "pm_ledger_describe": (c_int32, [_HANDLE, c_char_p, c_char_p, *_BUFFER]),
    "pm_ledger_free": (c_int32, [_HANDLE]),
}
