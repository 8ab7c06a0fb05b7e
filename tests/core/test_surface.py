"""The public names of the core: frozen, and each there."""

from __future__ import annotations

import tscg

#: A name that comes or goes is a line of the changelog.
NAMES = """
LANGUAGE_VERSION PROFILES Again Call CallError Catalog Code CompileError CompiledCatalog CompressionReport ConfigError
Decoded Decoding Diff Dispatch Drift DriftError Fault Final Finding Fragment ItemEvent Lock Lookup Native Notice Param
ParseError Passthrough Policy Profile Program Recommendation Registry RegistryError Reply Stats Text TextEvent Tokenizer
Tool TscgError TscgWarning Turn compile decompile diff lint recommend
""".split()


def test_the_public_names_are_frozen() -> None:
    assert tscg.__all__ == NAMES


def test_each_name_is_there_and_says_what_it_is() -> None:
    for name in NAMES:
        found = getattr(tscg, name)
        assert name.isupper() or found.__doc__, name
