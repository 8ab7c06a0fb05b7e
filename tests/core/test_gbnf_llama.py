"""The grammar as llama.cpp itself reads it, where its binding `xllamacpp` is installed.

The binding has no function for it: the library's own functions are called, by the names of the version below.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import read_tools, shared_catalog_paths
from tests.core.decode_samples import surface
from tests.core.test_gbnf import REFUSED, SHAPES, TAKEN, TREE, call
from tscg.gbnf import output_grammar

# Seen with xllamacpp 2026.10.11549; another version may spell them in another way.
INIT = "_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim"
ACCEPT = "_Z20llama_grammar_acceptP13llama_grammarj"
STACKS = "_Z24llama_grammar_get_stacksP13llama_grammar"
FREE = "_Z23llama_grammar_free_implP13llama_grammar"
Takes = Callable[[str, str], bool]


@pytest.fixture(scope="module")
def takes() -> Takes:
    """Whether llama.cpp takes a text under a grammar; skips where it is not there."""
    found = pytest.importorskip("xllamacpp", reason="llama.cpp's binding is not installed")
    (path, *_) = Path(str(found.__file__)).parent.glob("*.so")
    library = ctypes.CDLL(str(path))
    try:
        init, accept, stacks, free = (getattr(library, name) for name in (INIT, ACCEPT, STACKS, FREE))
    except AttributeError:
        pytest.skip("this version of llama.cpp names its functions otherwise")
    init.restype = stacks.restype = ctypes.c_void_p
    init.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_bool, ctypes.c_void_p, ctypes.c_size_t,
        ctypes.c_void_p, ctypes.c_size_t,
    ]  # fmt: skip
    accept.argtypes, stacks.argtypes, free.argtypes = (
        [ctypes.c_void_p, ctypes.c_uint32],
        [ctypes.c_void_p],
        [ctypes.c_void_p],
    )

    def sizes(grammar: int) -> list[int]:
        """How much each way of going on still has before it: nothing where the text may end."""
        begin, end = _ends(stacks(grammar))
        return [(after - before) // 8 for before, after in (_ends(begin + at) for at in range(0, end - begin, 24))]

    def whole(grammar_text: str, text: str) -> bool:
        grammar = init(None, grammar_text.encode(), b"root", False, None, 0, None, 0)
        assert grammar, "llama.cpp refuses the grammar"
        try:
            for char in text:
                accept(grammar, ord(char))
                if not sizes(grammar):
                    return False
            return 0 in sizes(grammar)
        finally:
            free(grammar)

    return whole


def _ends(vector: int) -> tuple[int, int]:
    begin, end = ctypes.cast(vector, ctypes.POINTER(ctypes.c_void_p * 2)).contents
    return begin or 0, end or 0


@pytest.mark.parametrize("arguments", TAKEN)
def test_takes(takes: Takes, arguments: Any) -> None:
    grammar = output_grammar(surface([SHAPES]))
    assert takes(grammar, call("shapes", arguments))
    assert takes(grammar, json.dumps(json.loads(call("shapes", arguments)), indent=2))


@pytest.mark.parametrize("arguments", REFUSED)
def test_refuses(takes: Takes, arguments: Any) -> None:
    assert not takes(output_grammar(surface([SHAPES])), call("shapes", arguments))


def test_recursive_types(takes: Takes) -> None:
    grammar = output_grammar(surface([TREE]))
    assert takes(grammar, call("save_tree", {"root": {"name": "a", "kids": [{"name": "b", "up": None}]}}))
    assert not takes(grammar, call("save_tree", {"root": {"name": "a", "kids": [{}]}}))


@pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: str(path.stem))
def test_shared_catalogs(takes: Takes, path: Path) -> None:
    assert takes(output_grammar(surface(read_tools(path))), '{"answer":"yes"}')
