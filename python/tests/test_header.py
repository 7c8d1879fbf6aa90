"""The tables for ctypes agree with pm.h."""

from __future__ import annotations

import ctypes
import re

import pytest
from conftest import ROOT

from privatemail import _header, exceptions

def test_version():
    text = (ROOT / "capi" / "pm.h").read_text()
    assert re.findall(r'^#define PM_VERSION "(.*)"$', text, re.M) == [_header.VERSION]


NUMBERS = {
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "pm_status": ctypes.c_int32,
}


def header() -> str:
    text = (ROOT / "capi" / "pm.h").read_text()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def kinds(declared: str, handles) -> list:
    """Returns the ctypes types that may represent a C type."""
    constant = declared.startswith("const ")
    base = declared.replace("const ", "").replace("*", "").strip()
    stars = declared.count("*")
    if base == "pm_progress":
        return [_header.Progress]
    if base in handles:
        return [[ctypes.c_void_p], [ctypes.POINTER(ctypes.c_void_p)]][stars - 1]
    if base in _header.STRUCTS:
        assert stars == 1
        return [ctypes.POINTER(_header.STRUCTS[base])]
    if base == "char":
        return [ctypes.c_char_p] if constant else [ctypes.c_void_p]
    if stars == 0:
        return [NUMBERS[base]]
    if base == "void":
        return [ctypes.c_void_p]
    return [ctypes.c_void_p, ctypes.POINTER(NUMBERS[base])]


def declared(text: str) -> list:
    """Splits ``double a, b`` or ``const char *c`` into pairs of type and name."""
    first, *others = text.split(",")
    match = re.fullmatch(r"(.*?[\s*])(\w+)", " ".join(first.split()))
    kind = match.group(1).strip().replace(" *", "*").replace("*", " *")
    return [(kind, match.group(2))] + [(kind, other.strip()) for other in others]


def handles() -> set:
    return set(re.findall(r"typedef struct (\w+) \w+;", header()))


def test_structs():
    found = re.findall(r"typedef struct \{(.*?)\} (\w+);", header(), flags=re.S)
    assert {name for _, name in found} == set(_header.STRUCTS)
    for body, name in found:
        fields = [pair for line in body.split(";") if line.strip() for pair in declared(line)]
        ours = _header.STRUCTS[name]._fields_
        assert [field for _, field in fields] == [field[0] for field in ours], name
        for (kind, field), (_, type_) in zip(fields, ours):
            assert type_ in kinds(kind, handles()), f"{name}.{field} is {kind}"


def test_functions():
    found = re.findall(r"^([\w ]+?[\s*]+)(pm_\w+)\(([^;]*)\);", header(), flags=re.M)
    assert {name for _, name, _ in found} == set(_header.FUNCTIONS)
    assert len(found) > 40
    for result, name, arguments in found:
        ours, types = _header.FUNCTIONS[name]
        assert ours in kinds(result.strip(), handles()), name
        listed = "" if arguments.strip() == "void" else arguments
        wanted = [declared(argument)[0] for argument in listed.split(",") if argument]
        assert len(wanted) == len(types), name
        for (kind, argument), type_ in zip(wanted, types):
            assert type_ in kinds(kind, handles()), f"{argument} of {name} is {kind}"


def test_progress():
    assert re.search(
        r"typedef void \(\*pm_progress\)"
        r"\(const char \*stage, int64_t done, int64_t total, void \*user\);",
        header(),
    )
    assert _header.Progress._argtypes_ == (
        ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
    )
    assert _header.Progress._restype_ is None


def test_statuses():
    found = {name: int(value) for name, value in re.findall(r"(PM_[A-Z_]+) = (\d+)", header())}
    assert found.pop("PM_OK") == _header.OK
    assert found.pop("PM_SIZE") == _header.SIZE
    assert set(found.values()) == set(exceptions.BY_STATUS)


def test_version_of_the_interface():
    text = (ROOT / "capi" / "pm.h").read_text()
    assert f"#define PM_ABI_MAJOR {_header.ABI_MAJOR}\n" in text
    assert f"#define PM_ABI_MINOR {_header.ABI_MINOR}\n" in text


@pytest.mark.parametrize(
    "kind", list(exceptions.BY_STATUS.values()), ids=lambda kind: kind.__name__
)
def test_exceptions_pickle(kind):
    import pickle

    error = pickle.loads(pickle.dumps(kind("row 3")))
    assert type(error) is kind and str(error) == "row 3" and isinstance(error, exceptions.Error)
    assert kind.__name__ in exceptions.__all__
