"""The rows that a new demo database starts with.

Constants only: the same rows on every machine, so that a recorded conversation fits the data it was written for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

Value = str | int | float | None
Row = tuple[Value, ...]

PEOPLE: Final[Sequence[Row]] = (
    ("sam", "Sam Okafor", "sam@fernhill.example", "support"),
    ("mira", "Mira Lindqvist", "mira@fernhill.example", "payments"),
    ("tomas", "Tomás Rey", "tomas@fernhill.example", "warehouse"),
    ("aiko", "Aiko Tanaka", "aiko@fernhill.example", "web"),
    ("lena", "Lena Brandt", "lena@fernhill.example", "web"),
)

ISSUES: Final[Sequence[Row]] = (
    ("SHOP-11", "SHOP", "Voucher field rejects lower-case codes", "Codes are compared case-sensitively.", "open", None,
     "low", "lena", "sam", None, 2.0, None, "2026-02-20T08:12:00Z", "2026-03-02T10:00:00Z"),
    ("SHOP-12", "SHOP", "Search shows discontinued teas", "The index is rebuilt only once a week.", "in_progress", None,
     "medium", "aiko", "tomas", "2026-03-20", 6.0, None, "2026-02-24T13:40:00Z", "2026-03-12T16:21:00Z"),
    ("SHOP-13", "SHOP", "Newsletter link in the footer is dead", "It points to the old domain.", "resolved", "fixed",
     "low", "lena", "aiko", None, 0.5, None, "2026-03-01T09:00:00Z", "2026-03-04T09:30:00Z"),
    ("SHOP-14", "SHOP", "Card payment hangs at checkout",
     "After the bank's confirmation page the spinner never ends. Three customers wrote since Friday.", "open", None,
     "medium", None, "sam", None, None, None, "2026-03-13T17:05:00Z", "2026-03-14T08:44:00Z"),
    ("SHOP-15", "SHOP", "Checkout page has no field for a company name", "Business customers ask for it.", "open", None,
     "low", None, "lena", None, 4.0, None, "2026-03-14T11:00:00Z", "2026-03-14T11:00:00Z"),
    ("WARE-3", "WARE", "Label printer skips every tenth label", "Only on the second printer.", "open", None,
     "high", "tomas", "tomas", "2026-03-18", 3.0, None, "2026-03-09T07:15:00Z", "2026-03-10T12:00:00Z"),
    ("WARE-4", "WARE", "Count of green teas differs from the shelf", "Off by four tins.", "closed", "wont_fix",
     "medium", "tomas", "sam", None, None, None, "2026-02-11T10:30:00Z", "2026-02-16T15:45:00Z"),
)  # fmt: skip

LABELS: Final[Sequence[Row]] = (
    ("SHOP-11", "bug"), ("SHOP-11", "good-first"), ("SHOP-12", "search"), ("SHOP-14", "bug"), ("SHOP-14", "checkout"),
    ("SHOP-15", "checkout"), ("SHOP-15", "feature"), ("WARE-3", "hardware"),
)  # fmt: skip

LINKS: Final[Sequence[Row]] = (("SHOP-15", "relates_to", "SHOP-14"),)

COMMENTS: Final[Sequence[Row]] = (
    (1, "SHOP-12", "aiko", "A nightly rebuild takes eleven minutes.", "internal", "2026-03-12T16:21:00Z"),
    (2, "SHOP-14", "sam", "Third report today, again with a card from the same bank.", "internal",
     "2026-03-14T08:44:00Z"),
    (3, "WARE-3", "tomas", "The supplier sends a technician on Wednesday.", "internal", "2026-03-10T12:00:00Z"),
)  # fmt: skip

CALENDARS: Final[Sequence[Row]] = (
    ("cal-sam", "Sam", "sam", 1), ("cal-mira", "Mira", "mira", 1), ("cal-team", "Whole team", "lena", 1),
    ("cal-holidays", "Public holidays", "lena", 0),
)  # fmt: skip

EVENTS: Final[Sequence[Row]] = (
    ("evt-1001", "cal-team", "Weekly planning", "What each team does this week.", "2026-03-16T13:00:00Z",
     "2026-03-16T14:00:00Z", "Room Oak", "confirmed", "default", '{"frequency":"weekly","interval":1}', None),
    ("evt-1002", "cal-mira", "Bank integration call", "With the engineers of the bank.", "2026-03-17T08:00:00Z",
     "2026-03-17T09:00:00Z", None, "confirmed", "private", None, None),
    ("evt-1003", "cal-sam", "Support shift handover", "", "2026-03-17T09:00:00Z", "2026-03-17T09:30:00Z", "Desk 4",
     "confirmed", "default", None, '[{"method":"popup","minutes_before":10}]'),
    ("evt-1004", "cal-team", "Warehouse tour for new colleagues", "Meet at the gate.", "2026-03-19T10:00:00Z",
     "2026-03-19T11:30:00Z", "Warehouse", "tentative", "public", None, None),
)  # fmt: skip

ATTENDEES: Final[Sequence[Row]] = (
    ("evt-1001", "sam@fernhill.example", "required", "accepted"),
    ("evt-1001", "mira@fernhill.example", "required", "accepted"),
    ("evt-1001", "aiko@fernhill.example", "optional", "tentative"),
    ("evt-1002", "mira@fernhill.example", "required", "accepted"),
    ("evt-1003", "sam@fernhill.example", "required", "accepted"),
    ("evt-1004", "sam@fernhill.example", "required", "needs_action"),
    ("evt-1004", "tomas@fernhill.example", "required", "accepted"),
)

FILES: Final[Sequence[Row]] = (
    ("/warehouse/packing-notes.md", "text/markdown", "# Packing notes\n\n- Tins are wrapped twice.\n", "tomas", 2,
     "2026-03-11T06:55:00Z", None),
    ("/warehouse/count-2026-02.csv", "text/csv", "sku,counted\nTEA-0042,118\nTEA-0051,36\nPOT-0007,12\n", "tomas", 1,
     "2026-02-28T16:00:00Z", None),
    ("/support/answers/refunds.md", "text/markdown", "# Refunds\n\nMoney is back within five working days.\n", "sam", 1,
     "2026-01-15T09:00:00Z", None),
    ("/support/answers/moving.md", "text/markdown", "# Moving house\n\nAn address can change until we ship.\n", "sam",
     1, "2026-01-15T09:10:00Z", None),
    ("/support/drafts/old-greeting.txt", "text/plain", "Dear Sir or Madam\n", "sam", 1, "2025-11-02T14:00:00Z",
     "2026-03-01T10:00:00Z"),
)  # fmt: skip

FILE_VERSIONS: Final[Sequence[Row]] = (("/warehouse/packing-notes.md", 1, "# Packing notes\n", "2026-02-02T07:00:00Z"),)

SHARES: Final[Sequence[Row]] = (("/warehouse/packing-notes.md", "sam@fernhill.example", "editor", None),)

CUSTOMERS: Final[Sequence[Row]] = (
    ("cus-301", "Jonas Weber", "jonas.weber@post.example", "standard"),
    ("cus-302", "Priya Raman", "priya@raman.example", "gold"),
    ("cus-303", "Café Nordlys", "bestilling@nordlys.example", "business"),
    ("cus-304", "Jonna Webber", "jonna@webber.example", "standard"),
)

PRODUCTS: Final[Sequence[Row]] = (
    ("TEA-0042", "Assam second flush, 250 g", 1450, 118), ("TEA-0051", "Gyokuro, 100 g", 2890, 36),
    ("TEA-0063", "Rooibos, 500 g", 1190, 240), ("POT-0007", "Cast-iron pot, 0.8 l", 6400, 12),
    ("CUP-0015", "Porcelain cup, pair", 2200, 41),
)  # fmt: skip

ORDERS: Final[Sequence[Row]] = (
    ("ord-50229", "cus-301", "delivered", "2026-01-09T18:20:00Z", "Jonas Weber", "Am Markt 3", "53111", "Bonn", "DE",
     "dhl", "JD014600112233", None),
    ("ord-50231", "cus-301", "paid", "2026-03-15T19:42:00Z", "Jonas Weber", "Am Markt 3", "53111", "Bonn", "DE",
     None, None, None),
    ("ord-50232", "cus-303", "shipped", "2026-03-12T07:05:00Z", "Café Nordlys", "Strandgata 21", "8400", "Sortland",
     "NO", "posten", "NP7300455120", "Deliver before eight."),
    ("ord-50234", "cus-302", "paid", "2026-03-16T06:31:00Z", "Priya Raman", "18 Mill Lane", "CB1 2AB", "Cambridge",
     "GB", None, None, "A present."),
    ("ord-50235", "cus-304", "pending_payment", "2026-03-16T08:10:00Z", "Jonna Webber", "Torggatan 5", "903 27", "Umeå",
     "SE", None, None, None),
)  # fmt: skip

ORDER_LINES: Final[Sequence[Row]] = (
    ("ord-50229", "TEA-0063", 1, 1190), ("ord-50231", "TEA-0042", 2, 1450), ("ord-50231", "CUP-0015", 1, 2200),
    ("ord-50232", "TEA-0042", 12, 1305), ("ord-50234", "POT-0007", 1, 6400), ("ord-50234", "TEA-0051", 2, 2890),
    ("ord-50235", "TEA-0063", 2, 1190),
)  # fmt: skip

ORDER_EVENTS: Final[Sequence[Row]] = (
    (1, "ord-50229", "placed", "Order placed in the shop.", "customer", "2026-01-09T18:20:00Z"),
    (2, "ord-50229", "delivered", "Left with a neighbour.", "dhl", "2026-01-13T11:02:00Z"),
    (3, "ord-50231", "placed", "Order placed in the shop.", "customer", "2026-03-15T19:42:00Z"),
    (4, "ord-50231", "paid", "Paid by card.", "payments", "2026-03-15T19:43:00Z"),
    (5, "ord-50232", "shipped", "Handed to the carrier.", "tomas", "2026-03-13T14:00:00Z"),
    (6, "ord-50234", "placed", "Order placed in the shop.", "customer", "2026-03-16T06:31:00Z"),
    (7, "ord-50234", "paid", "Paid by card.", "payments", "2026-03-16T06:32:00Z"),
    (8, "ord-50235", "placed", "Order placed in the shop.", "customer", "2026-03-16T08:10:00Z"),
)

REFUNDS: Final[Sequence[Row]] = (("ref-0001", "ord-50229", 300, "damaged", "store_credit", "2026-01-15T09:20:00Z"),)

# In the order in which foreign keys allow them to be written.
TABLES: Final[Mapping[str, Sequence[Row]]] = {
    "people": PEOPLE,
    "issues": ISSUES,
    "issue_labels": LABELS,
    "issue_links": LINKS,
    "comments": COMMENTS,
    "calendars": CALENDARS,
    "events": EVENTS,
    "attendees": ATTENDEES,
    "files": FILES,
    "file_versions": FILE_VERSIONS,
    "shares": SHARES,
    "customers": CUSTOMERS,
    "products": PRODUCTS,
    "orders": ORDERS,
    "order_lines": ORDER_LINES,
    "order_events": ORDER_EVENTS,
    "refunds": REFUNDS,
}
