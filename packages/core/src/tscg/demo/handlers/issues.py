"""The functions behind the tools of the issue tracker."""

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
    page,
    utc,
)

ENTRY: Final = "SELECT key, title, status, priority, assignee, due_on, updated_at FROM issues"
RANK: Final = "CASE priority WHEN 'urgent' THEN 3 WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END"
SORT: Final = {"created": "created_at", "updated": "updated_at", "priority": RANK, "due": "due_on"}
COLUMNS: Final = ("title", "body", "priority", "due_on", "estimate_hours")
SEARCHED: Final = {
    "title": "title",
    "body": "body",
    "comments": "(SELECT group_concat(c.body, ' ') FROM comments c WHERE c.issue_key = issues.key)",
}


def list_issues(database: Database, arguments: Arguments) -> Any:
    """Issues by exact filters, one page of them."""
    conditions = {"project": "project = ?", "assignee": "assignee = ?", "priority": "priority = ?"}
    chosen = by_arguments(arguments, conditions)
    status = arguments.get("status", "open")
    if status != "all":
        chosen = chosen.also("status = ?", status)
    if "updated_since" in arguments:
        chosen = chosen.also("updated_at >= ?", utc(arguments["updated_since"]))
    for label in arguments.get("labels", ()):
        chosen = chosen.also("key IN (SELECT issue_key FROM issue_labels WHERE label = ?)", label)
    column, direction = SORT[arguments.get("sort", "updated")], arguments.get("direction", "desc")
    order = f"ORDER BY {column} {direction}, key"
    return page(database, arguments, f"{ENTRY} WHERE {chosen.sql} {order}", *chosen.values)


def search_issues(database: Database, arguments: Arguments) -> Any:
    """Issues in which every word occurs."""
    columns = [SEARCHED[name] for name in arguments.get("fields", ("title", "body"))]
    chosen = by_words(arguments["query"], columns)
    if "project" in arguments:
        chosen = chosen.also("project = ?", arguments["project"])
    if not arguments.get("include_closed", False):
        chosen = chosen.also("status NOT IN ('resolved', 'closed')")
    return page(database, arguments, f"{ENTRY} WHERE {chosen.sql} ORDER BY updated_at DESC, key", *chosen.values)


def get_issue(database: Database, arguments: Arguments) -> Any:
    """One issue with the parts asked for."""
    key = arguments["key"]
    issue: dict[str, Any] = dict(_issue(database, key))
    include = arguments.get("include", ("labels",))
    if "labels" in include:
        issue["labels"] = _labels(database, key)
    if "comments" in include:
        comments = "SELECT author, body, visibility, created_at FROM comments WHERE issue_key = ? ORDER BY id"
        issue["comments"] = database.rows(comments, key)
    if "links" in include:
        links = "SELECT source, relation, target FROM issue_links WHERE source = ? OR target = ?"
        issue["links"] = database.rows(links, key, key)
    return issue


def create_issue(database: Database, arguments: Arguments) -> Any:
    """A new issue under the next free number of its project."""
    project = arguments["project"]
    last = database.number(
        "SELECT max(CAST(substr(key, ?) AS INTEGER)) FROM issues WHERE project = ?", len(project) + 2, project
    )
    key = f"{project}-{last + 1}"
    _check_colleague(database, arguments.get("assignee"))
    values = {name: arguments[name] for name in (*COLUMNS, "assignee") if name in arguments}
    database.insert(
        "issues", {"key": key, "project": project, "reporter": ME, "created_at": NOW, "updated_at": NOW, **values}
    )
    _add_labels(database, key, arguments.get("labels", ()))
    for link in arguments.get("links", ()):
        _link(database, key, link["relation"], link["target"])
    return get_issue(database, {"key": key, "include": ("labels", "links")})


def update_issue(database: Database, arguments: Arguments) -> Any:
    """An issue with some fields changed."""
    key = arguments["key"]
    _issue(database, key)
    _check_colleague(database, arguments.get("assignee"))
    values = {name: arguments[name] for name in (*COLUMNS, "assignee") if name in arguments}
    labels = arguments.get("labels", {})
    _add_labels(database, key, labels.get("add", ()))
    for label in labels.get("remove", ()):
        database.run("DELETE FROM issue_labels WHERE issue_key = ? AND label = ?", key, label)
    database.update("issues", "key", key, {**values, "updated_at": NOW})
    return get_issue(database, {"key": key})


def assign_issue(database: Database, arguments: Arguments) -> Any:
    """Hand an issue over, with a comment that says so."""
    key, assignee = arguments["key"], arguments["assignee"]
    former = _issue(database, key)["assignee"]
    _check_colleague(database, assignee)
    database.update("issues", "key", key, {"assignee": assignee, "updated_at": NOW})
    _comment(database, key, f"Handed over to {assignee}: {arguments['message']}")
    told = [person for person in (former, assignee) if person] if arguments.get("notify", True) else []
    return {"key": key, "assignee": assignee, "former_assignee": former, "notified": told}


def comment_on_issue(database: Database, arguments: Arguments) -> Any:
    """One more comment in the user's name."""
    _issue(database, arguments["key"])
    for handle in arguments.get("mentions", ()):
        _check_colleague(database, handle)
    number = _comment(database, arguments["key"], arguments["body"], arguments.get("visibility", "internal"))
    return {"comment": number, "key": arguments["key"], "notified": list(arguments.get("mentions", ()))}


def resolve_issue(database: Database, arguments: Arguments) -> Any:
    """Record how an issue ended."""
    key, duplicate = arguments["key"], arguments.get("duplicate_of")
    if _issue(database, key)["status"] in {"resolved", "closed"}:
        raise ToolFailure(f"{key} is already resolved or closed. Use reopen_issue first.")
    if duplicate is not None:
        _issue(database, duplicate)
        _link(database, key, "duplicates", duplicate)
    change = {"status": "resolved", "resolution": arguments["resolution"], "duplicate_of": duplicate, "updated_at": NOW}
    database.update("issues", "key", key, change)
    if "comment" in arguments:
        _comment(database, key, arguments["comment"])
    return get_issue(database, {"key": key})


def close_issue(database: Database, arguments: Arguments) -> Any:
    """Put an issue away."""
    key = arguments["key"]
    issue = _issue(database, key)
    if issue["status"] == "closed":
        raise ToolFailure(f"{key} is closed already.")
    database.update("issues", "key", key, {"status": "closed", "updated_at": NOW})
    _comment(database, key, f"Closed: {arguments['reason']}")
    return {"key": key, "status": "closed", "notified": [issue["reporter"]] if arguments.get("notify", True) else []}


def reopen_issue(database: Database, arguments: Arguments) -> Any:
    """Bring an issue back to the state open."""
    key = arguments["key"]
    if _issue(database, key)["status"] not in {"resolved", "closed"}:
        raise ToolFailure(f"{key} is neither resolved nor closed, so there is nothing to reopen.")
    change = {"status": "open", "resolution": None, "duplicate_of": None, "updated_at": NOW}
    database.update("issues", "key", key, change)
    _comment(database, key, f"Reopened: {arguments['reason']}")
    return get_issue(database, {"key": key})


def link_issues(database: Database, arguments: Arguments) -> Any:
    """Record how two issues stand to each other."""
    _issue(database, arguments["source"])
    _link(database, arguments["source"], arguments["relation"], arguments["target"])
    return {name: arguments[name] for name in ("source", "relation", "target")}


def bulk_update_issues(database: Database, arguments: Arguments) -> Any:
    """Change many issues, or only tell what would change."""
    preview = []
    for change in arguments["changes"]:
        issue = _issue(database, change["key"])
        _check_colleague(database, change.get("assignee"))
        values = {name: change[name] for name in ("priority", "assignee", "due_on") if name in change}
        differing = {name: {"from": issue[name], "to": to} for name, to in values.items() if issue[name] != to}
        preview.append({"key": change["key"], **differing, "add_labels": list(change.get("add_labels", ()))})
        if not arguments.get("dry_run", True):
            database.update("issues", "key", change["key"], {**values, "updated_at": NOW})
            _add_labels(database, change["key"], change.get("add_labels", ()))
    return {"written": not arguments.get("dry_run", True), "changes": preview}


def _issue(database: Database, key: str) -> dict[str, Any]:
    return existing(database, "issues", "key", key, "issue")


def _check_colleague(database: Database, handle: str | None) -> None:
    if handle is None or database.row("SELECT 1 FROM people WHERE handle = ?", handle):
        return
    known = ", ".join(str(row["handle"]) for row in database.rows("SELECT handle FROM people ORDER BY 1"))
    raise ToolFailure(f"There is no colleague {handle}. Known handles: {known}.")


def _labels(database: Database, key: str) -> list[Any]:
    rows = database.rows("SELECT label FROM issue_labels WHERE issue_key = ? ORDER BY label", key)
    return [row["label"] for row in rows]


def _add_labels(database: Database, key: str, labels: Any) -> None:
    for label in labels:
        database.run("INSERT OR IGNORE INTO issue_labels VALUES (?, ?)", key, label)


def _link(database: Database, source: str, relation: str, target: str) -> None:
    if source == target:
        raise ToolFailure(f"{source} cannot be linked to itself.")
    _issue(database, target)
    database.run("INSERT OR IGNORE INTO issue_links VALUES (?, ?, ?)", source, relation, target)


def _comment(database: Database, key: str, body: str, visibility: str = "internal") -> int:
    number = database.number("SELECT max(id) FROM comments") + 1
    values: Record = {
        "id": number,
        "issue_key": key,
        "author": ME,
        "body": body,
        "visibility": visibility,
        "created_at": NOW,
    }
    database.insert("comments", values)
    database.update("issues", "key", key, {"updated_at": NOW})
    return number


ISSUES: Final[dict[str, Handler]] = {
    function.__name__: function
    for function in (
        list_issues,
        search_issues,
        get_issue,
        create_issue,
        update_issue,
        assign_issue,
        comment_on_issue,
        resolve_issue,
        close_issue,
        reopen_issue,
        link_issues,
        bulk_update_issues,
    )
}
