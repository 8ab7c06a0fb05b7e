"""A seeded generator of tools that are easily confused: the same deeds to different things, in many domains.

They stand beside the tools of the collection ``bureau``, which no query needs them for: that has trains, and here are
buses, ferries and trams. The same seed gives the same list, and a longer list begins with a shorter one.
"""

from __future__ import annotations

import random
from typing import Any

__all__ = ["MOST", "generated_tools"]

Tool = dict[str, Any]

THINGS = (
    "bus_pass", "ferry_berth", "tram_line", "toll_sticker", "parking_bay", "rental_van", "scooter", "moorage",
    "museum_slot", "concert_seat", "cinema_row", "library_loan", "course_seat", "exam_entry", "thesis_draft",
    "insurance_claim", "mortgage_plan", "pension_share", "bond_lot", "tax_form", "customs_paper", "export_licence",
    "vaccination", "blood_test", "xray_image", "pet_chip", "stable_box", "beehive", "greenhouse_bed", "irrigation_zone",
    "solar_panel", "heat_pump", "boiler_check", "elevator", "fire_door", "cleaning_round", "laundry_batch", "lost_item",
    "badge_card", "visitor_pass", "locker", "meeting_pod", "projector", "patent_file", "trademark", "court_date",
    "press_release", "photo_shoot", "ad_banner", "survey_form", "loyalty_card", "gift_hamper", "recipe_card",
    "menu_line",
    "wine_cask", "cheese_wheel", "bakery_order", "flower_stand", "stage_prop", "costume", "radio_spot",
)  # fmt: skip

DEEDS = {
    "find": ("Look for a {thing} by words. Use it when the code is not known.", ("words", "area", "at_most")),
    "show": ("All that is known of one {thing}.", ("code",)),
    "book": ("Take a {thing} for a day. It is binding.", ("code", "day", "holder", "class")),
    "release": ("Give a {thing} back before its day. A fee may be due.", ("code", "cause")),
    "rename": ("Give a {thing} another label; nothing else changes.", ("code", "label")),
    "price": ("What a {thing} costs on a day, with all fees.", ("code", "day", "class")),
    "count": ("How many there are of the {thing} in an area.", ("area", "state")),
    "inspect": ("Write down what an inspection of a {thing} found.", ("code", "findings", "day")),
    "prolong": ("Keep a {thing} for longer, by a number of days.", ("code", "extra_days")),
    "assign": ("Make somebody responsible for a {thing}.", ("code", "holder")),
    "export": ("Write every {thing} of an area into a file.", ("area", "format", "at_most")),
    "flag": ("Mark a {thing} so that others see that something is wrong with it.", ("code", "severity", "label")),
    "move": ("Bring a {thing} from one area to another.", ("code", "area", "day")),
}

MOST = len(THINGS) * len(DEEDS)
"""How many tools there can be."""


def generated_tools(count: int, seed: int = 0) -> list[Tool]:
    """So many tools in MCP's form, at most :data:`MOST`.

    >>> tools = generated_tools(3)
    >>> len(tools), tools == generated_tools(5)[:3]
    (3, True)
    """
    random_ = random.Random(f"tools:{seed}")
    pairs = [(deed, thing) for thing in THINGS for deed in DEEDS]
    random_.shuffle(pairs)
    return [_tool(deed, thing, seed) for deed, thing in pairs[:count]]


def _tool(deed: str, thing: str, seed: int) -> Tool:
    prose, parts = DEEDS[deed]
    random_ = random.Random(f"{seed}:{deed}:{thing}")
    words = thing.replace("_", " ")
    properties = {f"{thing}_code" if part == "code" else f"{part}_of_{thing}" if random_.random() < 0.3 else part:
                  _schema(part, words, random_) for part in parts}  # fmt: skip
    named = list(properties)
    required = named[: random_.randint(1, len(named))]
    twin = random_.choice([other for other in DEEDS if other != deed])
    hint = f" To {twin} one, see {twin}_{thing}." if random_.random() < 0.5 else ""
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": f"{deed}_{thing}", "description": prose.format(thing=words) + hint, "inputSchema": schema}


def _schema(part: str, words: str, random_: random.Random) -> dict[str, Any]:
    letters = "".join(word[0] for word in words.split()).upper()
    shapes: dict[str, dict[str, Any]] = {
        "code": {"type": "string", "pattern": f"^{letters}-[0-9]{{4}}$", "description": f"Code of the {words}."},
        "words": {"type": "string", "minLength": 2, "description": f"What is known of the {words}."},
        "area": {
            "type": "string",
            "enum": random_.sample(["north", "south", "harbour", "centre", "airport", "hills"], 4),
        },
        "at_most": {"type": "integer", "minimum": 1, "maximum": 500, "default": random_.choice([10, 20, 50])},
        "day": {"type": "string", "format": "date", "description": "Which day."},
        "holder": {"type": "string", "description": "Handle of a person."},
        "class": {"type": "string", "enum": random_.sample(["plain", "good", "best", "shared", "sole"], 3)},
        "cause": {"type": "string", "enum": random_.sample(["weather", "illness", "mistake", "no_longer_needed"], 3)},
        "label": {"type": "string", "maxLength": 80, "description": f"How the {words} is called from now on."},
        "state": {"type": "string", "enum": ["free", "taken", "blocked"], "default": "free"},
        "findings": {
            "type": "array",
            "description": "What was found, one entry each.",
            "items": {
                "type": "object",
                "properties": {"place": {"type": "string"}, "grade": {"type": "integer", "minimum": 1, "maximum": 5}},
                "required": ["place", "grade"],
            },
        },
        "extra_days": {"type": "integer", "minimum": 1, "maximum": 60},
        "format": {"type": "string", "enum": ["csv", "xlsx", "json"], "default": "csv"},
        "severity": {"type": "string", "enum": ["hint", "warning", "danger"]},
    }
    return shapes[part]
