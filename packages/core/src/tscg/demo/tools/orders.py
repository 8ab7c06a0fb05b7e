"""The tools of the shop's orders, as data."""

from __future__ import annotations

from typing import Final

from tscg.demo.tools.shapes import (
    ADDRESS,
    CONFIRM,
    CURSOR,
    DIRECTION,
    LIMIT,
    LINES,
    ORDER_ID,
    ORDER_STATUS,
    REFUND_METHOD,
    SKU,
    Schema,
    ToolSpec,
    described,
)

CUSTOMER_ID: Final[Schema] = {
    "type": "string",
    "pattern": "^cus-[0-9]{3,}$",
    "description": "The identifier of the customer as returned by search_customers, for example cus-301.",
}
NOTE: Final[Schema] = {
    "type": "string",
    "maxLength": 300,
    "description": "A remark that is printed on the packing slip. The customer reads it.",
}

ORDERS: Final = (
    ToolSpec(
        name="search_customers",
        title="Search customers",
        description=(
            "Find customers by a part of their name or e-mail address. The answer holds identifiers, which other tools "
            "need, names, addresses and the tier. Names are not unique: if several customers are found, ask the user "
            "which one is meant and do not guess. Never reveal data of one customer to another."
        ),
        properties={
            "query": {
                "type": "string",
                "minLength": 2,
                "maxLength": 100,
                "description": "A part of the name or of the e-mail address, regardless of case.",
            },
            "tier": {
                "type": "string",
                "enum": ["standard", "gold", "business"],
                "description": "Only customers of this tier.",
            },
            "limit": LIMIT,
            "cursor": CURSOR,
        },
        required=("query",),
        read_only=True,
    ),
    ToolSpec(
        name="list_orders",
        title="List orders",
        description=(
            "List orders by exact filters such as state, customer and date, newest first unless told otherwise. Each "
            "entry holds number, state, date, customer and total, but not the articles; use get_order for these. When "
            "you have only a name, an article or a part of an address, use search_orders. All amounts are in cents of "
            "the shop's currency, which is the euro."
        ),
        properties={
            "status": ORDER_STATUS,
            "customer_id": CUSTOMER_ID,
            "placed_from": {
                "type": "string",
                "format": "date",
                "description": "Only orders placed on this day or later, as YYYY-MM-DD.",
            },
            "placed_to": {
                "type": "string",
                "format": "date",
                "description": "Only orders placed on this day or earlier, as YYYY-MM-DD.",
            },
            "min_total_cents": {
                "type": "integer",
                "minimum": 0,
                "description": "Only orders of at least this total, in cents.",
            },
            "sort": {
                "type": "string",
                "enum": ["placed", "total"],
                "default": "placed",
                "description": "The field to sort by. Defaults to placed.",
            },
            "direction": DIRECTION,
            "limit": LIMIT,
            "cursor": CURSOR,
        },
        read_only=True,
    ),
    ToolSpec(
        name="search_orders",
        title="Search orders",
        description=(
            "Find orders by words, in the fields that you name: the customer's name, the address of delivery, the "
            "names of the articles, or the tracking number. Every word has to occur in one of these fields. Use it "
            "when the user does not know the number of the order. If the number is known, call get_order directly."
        ),
        properties={
            "query": {
                "type": "string",
                "minLength": 2,
                "maxLength": 100,
                "description": "The words to look for, separated by blanks.",
            },
            "fields": {
                "type": "array",
                "items": {"type": "string", "enum": ["customer", "address", "articles", "tracking_number"]},
                "uniqueItems": True,
                "minItems": 1,
                "default": ["customer", "address"],
                "description": "Where to look. Defaults to customer and address.",
            },
            "status": described(ORDER_STATUS, "Only orders in this state, for example paid."),
            "limit": LIMIT,
            "cursor": CURSOR,
        },
        required=("query",),
        read_only=True,
    ),
    ToolSpec(
        name="get_order",
        title="Read an order",
        description=(
            "Read the present state of one order: customer, articles with prices, address of delivery, tracking "
            "number, total and what has been refunded. It says nothing about how the order came into this state; for "
            "that use get_order_history."
        ),
        properties={"order_id": ORDER_ID},
        required=("order_id",),
        read_only=True,
    ),
    ToolSpec(
        name="get_order_history",
        title="Read the history of an order",
        description=(
            "Read what has happened to one order over time, oldest first: when it was placed, paid, changed, shipped, "
            "refunded or cancelled, and by whom. Use it to answer questions such as why a parcel was late. The present "
            "state and the articles are not part of the answer; use get_order for these."
        ),
        properties={
            "order_id": ORDER_ID,
            "kinds": {
                "type": "array",
                "items": {
                    "type": "string",
                    "enum": ["placed", "paid", "changed", "shipped", "delivered", "refunded", "cancelled", "note"],
                },
                "uniqueItems": True,
                "description": "Only entries of these kinds. Leave it out to get all of them.",
            },
            "limit": LIMIT,
            "cursor": CURSOR,
        },
        required=("order_id",),
        read_only=True,
    ),
    ToolSpec(
        name="create_order",
        title="Create an order",
        description=(
            "Place an order for a customer, for instance by telephone. The prices of today are used, and the articles "
            "are reserved at once. The order waits for payment: the customer gets a link by e-mail. If an article is "
            "not in stock in the quantity wanted, nothing is ordered at all. Always repeat articles, quantities, total "
            "and address to the user before you place the order."
        ),
        properties={
            "customer_id": CUSTOMER_ID,
            "lines": LINES,
            "address": ADDRESS,
            "note": NOTE,
        },
        required=("customer_id", "lines", "address"),
    ),
    ToolSpec(
        name="update_shipping_address",
        title="Change the address of delivery",
        description=(
            "Replace the address to which an order is delivered. Possible until the order is shipped; afterwards only "
            "the carrier can redirect the parcel, and the tool fails. The address of the invoice and the addresses of "
            "the customer's other orders stay as they are. If the country changes, duties may arise: point this out to "
            "the user first."
        ),
        properties={"order_id": ORDER_ID, "address": ADDRESS},
        required=("order_id", "address"),
        idempotent=True,
    ),
    ToolSpec(
        name="add_order_note",
        title="Add a note to an order",
        description=(
            "Add a note to the history of an order. With the audience packers the text is also printed on the packing "
            "slip, where it replaces an earlier remark; with the audience team it is only visible in the history. Do "
            "not write anything about payment into a note for packers."
        ),
        properties={
            "order_id": ORDER_ID,
            "text": {
                "type": "string",
                "minLength": 2,
                "maxLength": 300,
                "description": "The text of the note in one or two sentences.",
            },
            "audience": {
                "type": "string",
                "enum": ["team", "packers"],
                "default": "team",
                "description": "For whom the note is meant. Defaults to team.",
            },
        },
        required=("order_id", "text"),
    ),
    ToolSpec(
        name="ship_order",
        title="Mark an order as shipped",
        description=(
            "Record that a paid order was handed to a carrier, and send the tracking number to the customer. Only for "
            "orders that are paid. It cannot be taken back, since the customer is told at once: do not use it to try "
            "out something."
        ),
        properties={
            "order_id": ORDER_ID,
            "carrier": {
                "type": "string",
                "enum": ["dhl", "posten", "royal_mail", "ups"],
                "description": "The carrier who has the parcel.",
            },
            "tracking_number": {
                "type": "string",
                "pattern": "^[A-Z0-9]{8,24}$",
                "description": "The number of the parcel, capitals and digits without blanks.",
            },
        },
        required=("order_id", "carrier", "tracking_number"),
    ),
    ToolSpec(
        name="refund_order",
        title="Refund a part of an order",
        description=(
            "Give money back for an order without cancelling it, for instance because an article arrived broken. "
            "Either name the articles, then their price is refunded, or an amount. The sum of all refunds never "
            "exceeds what was paid. Amounts over 100 euros need the consent of a team lead: never split a refund to "
            "stay below. To give up the whole order before it is shipped use cancel_order."
        ),
        properties={
            "order_id": ORDER_ID,
            "lines": LINES,
            "amount_cents": {
                "type": "integer",
                "minimum": 1,
                "maximum": 10000,
                "description": "The amount to refund, in cents, if it is not the price of articles.",
            },
            "reason": {
                "type": "string",
                "enum": ["damaged", "missing", "late", "goodwill"],
                "description": "Why the money is given back. The accountants evaluate it.",
            },
            "method": REFUND_METHOD,
        },
        required=("order_id", "reason"),
        rules={"oneOf": [{"required": ["lines"]}, {"required": ["amount_cents"]}]},
        destructive=True,
    ),
    ToolSpec(
        name="cancel_order",
        title="Cancel an order",
        description=(
            "Cancel a whole order that has not been shipped, and refund what was paid for it. The customer is told by "
            "e-mail at once and the order cannot be revived: it would have to be placed anew at the prices of that "
            "day. Never cancel an order without the user's explicit consent. First read the order with get_order, tell "
            "the user its articles, its total and how the money will be refunded, and ask; only a clear yes in the "
            "conversation counts. For a part of an order, or one that is already on its way, use refund_order."
        ),
        properties={
            "order_id": ORDER_ID,
            "reason": {
                "type": "string",
                "enum": ["customer_request", "out_of_stock", "suspected_fraud", "duplicate_order"],
                "description": "Why the order is cancelled. It is part of the message to the customer.",
            },
            "refund": described(REFUND_METHOD, "Where the money goes, if any was paid. Defaults to original_payment."),
            "restock": {
                "type": "boolean",
                "default": True,
                "description": "Whether the articles go back on the shelf and can be sold again. Defaults to true.",
            },
            "confirm": CONFIRM,
        },
        required=("order_id", "reason", "confirm"),
        destructive=True,
    ),
    ToolSpec(
        name="check_stock",
        title="Check the stock",
        description=(
            "Tell how many pieces of some articles are free to be sold, with their present price. Pieces that are "
            "reserved by open orders are already taken off. The number changes all the time, so check again right "
            "before you promise something to a customer."
        ),
        properties={
            "skus": {
                "type": "array",
                "items": SKU,
                "minItems": 1,
                "maxItems": 40,
                "uniqueItems": True,
                "description": "The articles to check.",
            }
        },
        required=("skus",),
        read_only=True,
    ),
)
