"""Cases of the fuzzer: a few hundred each time, and what it once found."""

from __future__ import annotations

from typing import Any

import pytest

import tscg
from benchmarks import fuzz
from tests.core.decode_samples import cuttings, surface
from tscg.decoders import Stream, decode


@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_cases_of_the_fuzzer(name: str) -> None:
    fuzz.case(0, (name,))
    wrong = [found for found in (fuzz.case(seed, (name,)) for seed in range(1, 200)) if found]
    assert not wrong, wrong[0]


FOUND: list[Any] = [
    pytest.param('Action:e\nActionInput:}\nObservation:>[bash(t={"":"","":5})]', id="behind an observation"),
    pytest.param(
        "d<bash><command></command></bash>\n[e(<bash><command></command></bash>", id="a line behind a candidate"
    ),
    pytest.param("[ping()]\n x [ping()]", id="text behind a candidate and a line"),
]


@pytest.mark.parametrize("text", FOUND)
def test_what_it_found(text: str) -> None:
    made = surface()
    whole = decode(made, text)
    for pieces in cuttings(text):
        stream = Stream(made)
        for piece in pieces:
            stream.feed(piece)
        assert stream.close() == whole, pieces


@pytest.mark.parametrize("text", ["f(a a)", "f(*)\n.a\n.a", "f\n.a\n.b\n.a x", "f(k a)\n.a"])
def test_a_parameter_stands_once(text: str) -> None:
    with pytest.raises(tscg.ParseError):
        tscg.decompile(text)


def test_prose_is_read_in_its_normal_form() -> None:
    catalog = tscg.decompile("f \u2028\u2028")
    assert catalog[0].description == ""
    assert tscg.decompile(tscg.compile(catalog, profile="lossless").text) == catalog
