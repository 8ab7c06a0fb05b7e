"""The bound of an output, in bytes of UTF-8."""

from __future__ import annotations

import pytest

from tests.core.decode_samples import cuttings, surface
from tscg.decoders import Stream, decode

CALL = '<tool_call>{"name":"ping","arguments":{}}</tool_call>'
TEXTS = [
    pytest.param("a" * 40, 10, "a" * 10, id="letters"),
    pytest.param("é" * 40, 11, "é" * 5, id="two bytes each, the last one cut"),
    pytest.param("😀a" * 10, 6, "😀a", id="a letter that would still fit is left out"),
    pytest.param("\ud83d" * 9, 7, "\ufffd\ufffd", id="half surrogates"),
    pytest.param("", 0, "", id="nothing at all"),
]


@pytest.mark.parametrize(("text", "limit", "kept"), TEXTS)
def test_c12_bytes_of_output(text: str, limit: int, kept: str) -> None:
    made = surface(max_output=limit)
    whole = decode(made, text)
    assert whole.text == kept
    assert [error.kind for error in whole.errors] == (["too_large"] if text else [])
    for pieces in cuttings(text):
        stream = Stream(made)
        for piece in pieces:
            stream.feed(piece)
        assert stream.close() == whole, pieces


def test_c12_calls_before_the_bound_are_made() -> None:
    made = surface(max_output=len(CALL) + 20)
    decoded = decode(made, CALL + "é" * 10 + CALL)
    assert [call.name for call in decoded.calls] == ["ping"]
    assert [error.kind for error in decoded.errors] == ["too_large"]
    assert "bytes" in decoded.errors[0].message
    assert not decode(made, CALL + "é" * 10).errors
