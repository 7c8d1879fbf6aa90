"""Libraries that are missing, of another version, or for another machine."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys

import pytest

from privatemail import _header, _library
from privatemail.exceptions import BY_STATUS, Error, InternalError, LibraryError


@pytest.fixture
def unbundled(monkeypatch, tmp_path):
    """A package without its library."""
    monkeypatch.delenv(_library.VARIABLE, raising=False)
    monkeypatch.setattr(_library, "__file__", str(tmp_path / "_library.py"))


def no_glibc(name):
    raise ValueError("unrecognized configuration name")


@pytest.mark.parametrize("confstr", [no_glibc, lambda name: None])
def test_musl(monkeypatch, confstr):
    monkeypatch.setattr(os, "confstr", confstr)
    with pytest.raises(LibraryError, match="musl") as caught:
        _library._path()
    assert isinstance(caught.value, ImportError) and "glibc" in str(caught.value)


def test_missing(unbundled):
    with pytest.raises(LibraryError, match="libprivatemail.so.1 is missing: install the wheel"):
        _library._path()


@pytest.mark.parametrize(
    "system, machine", [("linux", "aarch64"), ("darwin", "arm64"), ("win32", "AMD64")]
)
def test_other_machines(unbundled, monkeypatch, system, machine):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(_library.platform, "machine", lambda: machine)
    with pytest.raises(LibraryError, match=f"{system} on {machine}.*go run ./capi/build"):
        _library._path()


def test_variable(monkeypatch, tmp_path):
    path = tmp_path / "mine.so"
    monkeypatch.setenv(_library.VARIABLE, str(path))
    with pytest.raises(LibraryError, match="PRIVATEMAIL_LIBRARY names .*mine.so, which is not a file"):
        _library._path()
    path.write_bytes(b"no library")
    assert _library._path() == str(path)


def test_no_library_at_all(tmp_path):
    path = tmp_path / "text.so"
    path.write_bytes(b"no library")
    with pytest.raises(LibraryError, match="cannot load.*text.so.*go run ./capi/build"):
        _library._open(str(path))


def test_another_architecture(tmp_path):
    path = tmp_path / "other.so"
    shutil.copy(_library._path(), path)
    with open(path, "r+b") as file:
        file.seek(18)  # e_machine of the header of ELF
        file.write((183).to_bytes(2, "little"))  # arm64
    with pytest.raises(LibraryError, match="cannot load.*other.so"):
        _library._open(str(path))


class Fake:
    """A library with the functions of pm.h and any version of the interface."""

    def __init__(self, abi, missing=()):
        class Function:
            def __call__(self, *arguments):
                return abi

        for name in _header.FUNCTIONS:
            if name not in missing:
                setattr(self, name, Function())


def test_versions_of_the_interface(monkeypatch):
    major, minor = _header.ABI_MAJOR, _header.ABI_MINOR
    for abi in [major * 1000 + minor, major * 1000 + minor + 7]:
        fake = Fake(abi)
        assert _library._bind(fake, "x.so") is fake
        assert fake.pm_embed.argtypes == _header.FUNCTIONS["pm_embed"][1]
    for abi in [0, (major + 1) * 1000, (major - 1) * 1000 + 999]:
        with pytest.raises(
            LibraryError, match=r"x.so has the interface \d+\.\d+, but this package needs"
        ):
            _library._bind(Fake(abi), "x.so")
    monkeypatch.setattr(_header, "ABI_MINOR", minor + 1)
    with pytest.raises(LibraryError, match="needs"):
        _library._bind(Fake(major * 1000 + minor), "x.so")


def test_another_library():
    with pytest.raises(LibraryError, match="is not a library of privatemail"):
        _library._bind(ctypes.CDLL(None), "libc.so.6")
    with pytest.raises(LibraryError, match="pm_fit"):
        _library._bind(Fake(1000 * _header.ABI_MAJOR, missing=["pm_fit"]), "x.so")


def test_errors_have_their_text():
    library = _library.get()
    assert library.pm_engine_workers(None, None) == 2
    error = _library.error(2)
    assert type(error) is BY_STATUS[2] and "pm_engine_workers" in str(error)
    assert type(_library.error(999)) is InternalError and isinstance(error, Error)
    _library.check(0)
    assert _library.version() and _library.simd_level()
