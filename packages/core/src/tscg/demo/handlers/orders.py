"""The functions behind the tools of the shop's orders."""

from __future__ import annotations

from typing import Any, Final

from tscg.demo.database import ME, NOW, Database, Record
from tscg.demo.handlers.queries import (
    Arguments,
    Handler,
    ToolFailure,
    by_arguments,
    by_words,
    existing,
    next_id,
    page,
)

TOTAL: Final = "(SELECT sum(l.quantity * l.unit_cents) FROM order_lines l WHERE l.order_id = o.id)"
ENTRY: Final = (
    f"SELECT o.id AS order_id, o.status, o.placed_at, c.name AS customer, {TOTAL} AS total_cents "
    "FROM orders o JOIN customers c ON c.id = o.customer_id"
)
SORT: Final = {"placed": "o.placed_at", "total": "total_cents"}
SEARCHED: Final = {
    "customer": ("c.name",),
    "address": ("o.recipient", "o.street", "o.postal_code", "o.city", "o.country"),
    "articles": (
        "(SELECT group_concat(p.name, ' ') FROM order_lines l JOIN products p USING (sku) WHERE l.order_id = o.id)",
    ),
    "tracking_number": ("coalesce(o.tracking_number, '')",),
}
ADDRESS: Final = ("recipient", "street", "postal_code", "city", "country")
AVAILABLE: Final = "SELECT sku, name, unit_cents, stock FROM products WHERE sku = ?"


def search_customers(database: Database, arguments: Arguments) -> Any:
    """Customers by a part of name or address."""
    chosen = by_words(arguments["query"], ("name", "email"))
    if "tier" in arguments:
        chosen = chosen.also("tier = ?", arguments["tier"])
    sql = f"SELECT id AS customer_id, name, email, tier FROM customers WHERE {chosen.sql} ORDER BY name"
    return page(database, arguments, sql, *chosen.values)


def list_orders(database: Database, arguments: Arguments) -> Any:
    """Orders by exact filters."""
    conditions = {
        "status": "o.status = ?",
        "customer_id": "o.customer_id = ?",
        "placed_from": "substr(o.placed_at, 1, 10) >= ?",
        "placed_to": "substr(o.placed_at, 1, 10) <= ?",
        "min_total_cents": f"{TOTAL} >= ?",
    }
    chosen = by_arguments(arguments, conditions)
    order = f"ORDER BY {SORT[arguments.get('sort', 'placed')]} {arguments.get('direction', 'desc')}, o.id"
    return page(database, arguments, f"{ENTRY} WHERE {chosen.sql} {order}", *chosen.values)


def search_orders(database: Database, arguments: Arguments) -> Any:
    """Orders in which every word occurs."""
    columns = [column for name in arguments.get("fields", ("customer", "address")) for column in SEARCHED[name]]
    chosen = by_words(arguments["query"], columns)
    if "status" in arguments:
        chosen = chosen.also("o.status = ?", arguments["status"])
    return page(database, arguments, f"{ENTRY} WHERE {chosen.sql} ORDER BY o.placed_at DESC", *chosen.values)


def get_order(database: Database, arguments: Arguments) -> Any:
    """One order with articles, address and sums."""
    order = _order(database, arguments["order_id"])
    identity = str(order["id"])
    lines = "SELECT sku, name, quantity, l.unit_cents FROM order_lines l JOIN products USING (sku) WHERE order_id = ?"
    customer = database.row("SELECT id AS customer_id, name, email FROM customers WHERE id = ?", order["customer_id"])
    return {
        "order_id": identity,
        "status": order["status"],
        "placed_at": order["placed_at"],
        "customer": customer,
        "lines": database.rows(f"{lines} ORDER BY sku", identity),
        "address": {name: order[name] for name in ADDRESS},
        **{name: order[name] for name in ("carrier", "tracking_number", "note") if order[name]},
        "total_cents": _total(database, identity),
        "refunded_cents": _refunded(database, identity),
    }


def get_order_history(database: Database, arguments: Arguments) -> Any:
    """What happened to an order, oldest first."""
    identity, kinds = str(_order(database, arguments["order_id"])["id"]), arguments.get("kinds", ())
    only = f"AND kind IN ({', '.join('?' for _ in kinds)})" if kinds else ""
    sql = f"SELECT at, kind, detail, actor FROM order_events WHERE order_id = ? {only} ORDER BY at, id"
    return page(database, arguments, sql, identity, *kinds)


def create_order(database: Database, arguments: Arguments) -> Any:
    """A new order with its articles taken from the stock."""
    customer = existing(database, "customers", "id", arguments["customer_id"], "customer")
    identity = next_id(database, "orders", "ord-", 5)
    order = {"id": identity, "customer_id": customer["id"], "status": "pending_payment", "placed_at": NOW}
    address = {name: arguments["address"][name] for name in ADDRESS}
    database.insert("orders", {**order, **address, "note": arguments.get("note")})
    for line in arguments["lines"]:
        _reserve(database, identity, line["sku"], line["quantity"])
    _log(database, identity, "placed", "Order placed by the support team.")
    return get_order(database, {"order_id": identity})


def update_shipping_address(database: Database, arguments: Arguments) -> Any:
    """Another address for an order that is still here."""
    order = _order(database, arguments["order_id"])
    _must_be_here(order, "its address can no longer be changed")
    address = {name: arguments["address"][name] for name in ADDRESS}
    database.update("orders", "id", str(order["id"]), address)
    _log(database, str(order["id"]), "changed", f"Address of delivery changed from {order['street']}, {order['city']}.")
    return {"order_id": order["id"], "address": address}


def add_order_note(database: Database, arguments: Arguments) -> Any:
    """A note in the history, and on the packing slip if it is for packers."""
    identity, audience = str(_order(database, arguments["order_id"])["id"]), arguments.get("audience", "team")
    if audience == "packers":
        database.update("orders", "id", identity, {"note": arguments["text"]})
    _log(database, identity, "note", arguments["text"])
    return {"order_id": identity, "audience": audience, "text": arguments["text"]}


def ship_order(database: Database, arguments: Arguments) -> Any:
    """Record the parcel of a paid order."""
    order = _order(database, arguments["order_id"])
    if order["status"] != "paid":
        raise ToolFailure(f"{order['id']} is {order['status']}. Only paid orders can be shipped.")
    parcel = {"carrier": arguments["carrier"], "tracking_number": arguments["tracking_number"]}
    database.update("orders", "id", str(order["id"]), {"status": "shipped", **parcel})
    _log(database, str(order["id"]), "shipped", f"Handed to {arguments['carrier']}.")
    return {"order_id": order["id"], "status": "shipped", **parcel}


def refund_order(database: Database, arguments: Arguments) -> Any:
    """Give back the price of articles, or an amount."""
    order = _order(database, arguments["order_id"])
    identity = str(order["id"])
    if order["status"] in {"pending_payment", "cancelled"}:
        raise ToolFailure(f"{identity} is {order['status']}, so there is nothing to refund.")
    cents = arguments.get("amount_cents", 0) + sum(
        _price(database, identity, line["sku"], line["quantity"]) for line in arguments.get("lines", ())
    )
    rest = _total(database, identity) - _refunded(database, identity)
    if cents > rest:
        raise ToolFailure(f"{cents} cents are more than the {rest} cents of {identity} that are not refunded yet.")
    return _refund(database, identity, cents, arguments["reason"], arguments.get("method", "original_payment"))


def cancel_order(database: Database, arguments: Arguments) -> Any:
    """Cancel an order that is still here, and refund it."""
    order = _order(database, arguments["order_id"])
    identity = str(order["id"])
    _must_be_here(order, "it can no longer be cancelled; use refund_order")
    result: dict[str, Any] = {"order_id": identity, "status": "cancelled"}
    rest = _total(database, identity) - _refunded(database, identity)
    if order["status"] == "paid" and rest:
        method = arguments.get("refund", "original_payment")
        result["refund"] = _refund(database, identity, rest, arguments["reason"], method)
    database.update("orders", "id", identity, {"status": "cancelled"})
    if arguments.get("restock", True):
        lines = database.rows("SELECT sku, quantity FROM order_lines WHERE order_id = ? ORDER BY sku", identity)
        for line in lines:
            database.run("UPDATE products SET stock = stock + ? WHERE sku = ?", line["quantity"], line["sku"])
        result["restocked"] = lines
    _log(database, identity, "cancelled", f"Cancelled: {arguments['reason']}.")
    return result


def check_stock(database: Database, arguments: Arguments) -> Any:
    """Free pieces and prices of articles."""
    found = {sku: database.row(AVAILABLE, sku) for sku in arguments["skus"]}
    items = [row for row in found.values() if row is not None]
    return {"items": items, "unknown": [sku for sku, row in found.items() if row is None]}


def _order(database: Database, identity: str) -> Record:
    return existing(database, "orders", "id", identity, "order")


def _must_be_here(order: Record, consequence: str) -> None:
    if order["status"] not in {"pending_payment", "paid"}:
        raise ToolFailure(f"{order['id']} is {order['status']}, so {consequence}.")


def _total(database: Database, identity: str) -> int:
    return database.number("SELECT sum(quantity * unit_cents) FROM order_lines WHERE order_id = ?", identity)


def _refunded(database: Database, identity: str) -> int:
    return database.number("SELECT sum(cents) FROM refunds WHERE order_id = ?", identity)


def _price(database: Database, identity: str, sku: str, quantity: int) -> int:
    line = database.row("SELECT quantity, unit_cents FROM order_lines WHERE order_id = ? AND sku = ?", identity, sku)
    if line is None or quantity > int(line["quantity"] or 0):
        raise ToolFailure(f"{identity} does not contain {quantity} of {sku}.")
    return quantity * int(line["unit_cents"] or 0)


def _refund(database: Database, identity: str, cents: int, reason: str, method: str) -> Record:
    refund: Record = {
        "id": next_id(database, "refunds", "ref-", 4),
        "order_id": identity,
        "cents": cents,
        "reason": reason,
    }
    database.insert("refunds", {**refund, "method": method, "at": NOW})
    _log(database, identity, "refunded", f"{cents} cents by {method}.")
    return {"refund_id": refund["id"], "cents": cents, "method": method}


def _reserve(database: Database, identity: str, sku: str, quantity: int) -> None:
    product = database.row(AVAILABLE, sku)
    if product is None:
        raise ToolFailure(f"There is no article {sku}.")
    if database.row("SELECT 1 FROM order_lines WHERE order_id = ? AND sku = ?", identity, sku):
        raise ToolFailure(f"The article {sku} is listed twice.")
    taken = database.run("UPDATE products SET stock = stock - ? WHERE sku = ? AND stock >= ?", quantity, sku, quantity)
    if not taken:
        raise ToolFailure(f"Only {product['stock']} of {sku} are in stock, {quantity} are wanted.")
    database.run("INSERT INTO order_lines VALUES (?, ?, ?, ?)", identity, sku, quantity, product["unit_cents"])


def _log(database: Database, identity: str, kind: str, detail: str) -> None:
    event = {"order_id": identity, "kind": kind, "detail": detail, "actor": ME, "at": NOW}
    database.insert("order_events", event)


ORDERS: Final[dict[str, Handler]] = {
    function.__name__: function
    for function in (
        search_customers,
        list_orders,
        search_orders,
        get_order,
        get_order_history,
        create_order,
        update_shipping_address,
        add_order_note,
        ship_order,
        refund_order,
        cancel_order,
        check_stock,
    )
}
