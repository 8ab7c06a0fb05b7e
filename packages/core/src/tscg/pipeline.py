"""The pipeline: one tuple of operators in the order of the paper, each a pure function from catalog to catalog.

parse, SDM, TAS, DRO, CFL, CFO, CAS, SAD-F, CCP, emit; ours are detail (after DRO) and CSE (last before emit). The three
operators on prose stand in one walk (see :mod:`tscg.operators.prose`); TAS and CSE are choices of the emitter; SAD-F
and CCP add a text behind the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping

from tscg.ir import Catalog, Note, Tool
from tscg.operators.prose import rewriter
from tscg.profiles import Profile
from tscg.record import Record, replace

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from tscg.operators.prose import Site

__all__ = ["OPERATORS", "Operator", "arranged", "led", "policies_hidden", "rewritten"]


class Operator(Record):
    """A pass: its name, its class (R never more tokens, S the same, E more inside a budget), and what it does."""

    name: str
    kind: str
    does: str


OPERATORS: tuple[Operator, ...] = (
    Operator(name="SDM", kind="R", does="takes filler out of prose"),
    Operator(name="TAS", kind="R", does="spells every delimiter in the fewest tokens"),
    Operator(name="DRO", kind="R", does="takes out prose that the schema says already"),
    Operator(name="detail", kind="R", does="shows the prose that the profile asks for"),
    Operator(name="CFL", kind="S", does="puts policy sentences first in an entry"),
    Operator(name="CFO", kind="S", does="puts a tool behind those that give what it needs"),
    Operator(name="CAS", kind="S", does="puts what is fragile at both ends"),
    Operator(name="SAD-F", kind="E", does="says the most fragile atoms once more at the end"),
    Operator(name="CCP", kind="E", does="recalls names and required parameters at the end"),
    Operator(name="CSE", kind="R", does="says once what is said in several places"),
)


def rewritten(catalog: Catalog, profile: Profile) -> Catalog:
    """The catalog with the profile's operators on prose applied: SDM, DRO and detail in one walk."""
    if profile.shows_all:
        return catalog
    rewrite = rewriter(profile)
    if rewrite is None:
        return catalog
    hides = profile.keep is not None and profile.name == "signature"
    return catalog.replace([_marked(rewrite(tool), tool, profile) if hides else rewrite(tool) for tool in catalog])


def _marked(shown: Tool, tool: Tool, profile: Profile) -> Tool:
    """The tool that is shown, marked where the profile hides a policy sentence of it."""
    return replace(shown, hides_policy=True) if policies_hidden(tool, profile) else shown


def policies_hidden(tool: Tool, profile: Profile) -> tuple[str, ...]:
    """The policy sentences of a tool that a profile does not show."""
    keep = profile.kept
    if keep is None:
        return ()
    from tscg.operators.detail import policy_hidden
    from tscg.operators.prose import map_notes

    found: list[str] = []

    def read(note: Note, site: Site) -> Note:
        found.extend(policy_hidden(note.description, site.of, keep))
        return note

    map_notes(tool, read)
    return tuple(found)


def arranged(
    catalog: Catalog, active: frozenset[str], *, given: bool, uses: Mapping[str, int] | None = None
) -> Catalog:
    """The catalog in the order in which it is shown.

    By (server, name) in code points, or as given; the order operators among the ``active`` ones go on from there.
    """
    if given:
        return catalog
    catalog = catalog.replace(sorted(catalog, key=lambda tool: (tool.server, tool.name)))
    if active.isdisjoint(("cfo", "cas")) or len(catalog) < 2:
        return catalog
    from tscg.operators.graph import edges

    respect: tuple[tuple[int, int, str], ...] = ()
    if "cfo" in active:
        from tscg.operators.cfo import order

        catalog = order(catalog, edges(catalog))
        respect = edges(catalog)
    if "cas" in active:
        from tscg.operators.cas import arrange

        catalog = arrange(catalog, uses=uses, respect=respect)
    return catalog


def led(catalog: Catalog, active: frozenset[str]) -> Catalog:
    """The catalog with policy sentences first in each entry, where CFL is active."""
    if "cfl" not in active:
        return catalog
    from tscg.operators.cfl import first

    return first(catalog)
