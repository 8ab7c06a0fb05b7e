"""The functions behind the tools of the file store."""

from __future__ import annotations

from typing import Any, Final

from tscg.demo.database import ME, NOW, Database, Record
from tscg.demo.handlers.queries import (
    Arguments,
    Filter,
    Handler,
    ToolFailure,
    by_arguments,
    by_words,
    existing,
    page,
    utc,
)

ENTRY: Final = "SELECT path, mime_type, length(content) AS size, owner, version, updated_at, trashed_at FROM files"
SORT: Final = {"path": "path", "size": "length(content)", "updated": "updated_at"}
SEARCHED: Final = {"path": ("path",), "content": ("content",), "both": ("path", "content")}
LARGEST_ANSWER: Final = 100_000
COMPANY: Final = "@fernhill.example"


def list_files(database: Database, arguments: Arguments) -> Any:
    """Files of a folder."""
    folder = arguments.get("path", "/").rstrip("/") + "/"
    chosen = _below(folder)
    if not arguments.get("recursive", False):
        chosen = chosen.also("instr(substr(path, ?), '/') = 0", len(folder) + 1)
    if not arguments.get("include_trashed", False):
        chosen = chosen.also("trashed_at IS NULL")
    order = f"ORDER BY {SORT[arguments.get('sort', 'path')]} {arguments.get('direction', 'asc')}, path"
    return page(database, arguments, f"{ENTRY} WHERE {chosen.sql} {order}", *chosen.values)


def search_files(database: Database, arguments: Arguments) -> Any:
    """Files in which every word occurs, with the first line that has one."""
    query = arguments["query"]
    chosen = by_words(query, SEARCHED[arguments.get("match", "both")]).also("trashed_at IS NULL")
    parts = [chosen, by_arguments(arguments, {"mime_type": "mime_type = ?"})]
    if "folder" in arguments:
        parts.append(_below(arguments["folder"].rstrip("/") + "/"))
    if "modified_after" in arguments:
        parts.append(Filter().also("updated_at > ?", utc(arguments["modified_after"])))
    sql = " AND ".join(part.sql for part in parts)
    values = [value for part in parts for value in part.values]
    found = page(database, arguments, f"SELECT path, content FROM files WHERE {sql} ORDER BY path", *values)
    items = [{"path": row["path"], "line": _first_line(str(row["content"]), query)} for row in found["items"]]
    return {**found, "items": items}


def read_file(database: Database, arguments: Arguments) -> Any:
    """The text of a file, of a version, or of some lines."""
    file = _file(database, arguments["path"])
    version = arguments.get("version", file["version"])
    content = str(file["content"])
    if version != file["version"]:
        sql = "SELECT content FROM file_versions WHERE path = ? AND version = ?"
        older = database.row(sql, file["path"], version)
        if older is None:
            raise ToolFailure(f"{file['path']} has no version {version}. Use list_file_versions to see them.")
        content = str(older["content"])
    if "lines" in arguments:
        first, last = arguments["lines"].get("first", 1), arguments["lines"]["last"]
        content = "".join(content.splitlines(keepends=True)[first - 1 : last])
    if len(content) > LARGEST_ANSWER:
        raise ToolFailure(f"{file['path']} has more than {LARGEST_ANSWER:,} characters. Read it in ranges of lines.")
    return {"path": file["path"], "mime_type": file["mime_type"], "version": version, "content": content}


def write_file(database: Database, arguments: Arguments) -> Any:
    """Create a file or replace its content as `if_exists` says."""
    path, mime_type = arguments["path"], arguments.get("mime_type", "text/plain")
    choice = arguments.get("if_exists", "fail")
    if path.endswith("/"):
        raise ToolFailure(f"{path} is a folder. Give the path of a file.")
    present = database.row("SELECT * FROM files WHERE path = ?", path)
    if present is None:
        file = {"path": path, "mime_type": mime_type, "content": arguments["content"], "owner": ME, "updated_at": NOW}
        database.insert("files", file)
    elif choice == "fail":
        raise ToolFailure(f"There is already a file {path}. Choose what to do with it in if_exists.")
    elif choice == "new_version":
        _save_version(database, present, arguments["content"])
    else:
        change = {"content": arguments["content"], "mime_type": mime_type, "updated_at": NOW, "trashed_at": None}
        database.update("files", "path", path, change)
    return database.row(f"{ENTRY} WHERE path = ?", path)


def append_to_file(database: Database, arguments: Arguments) -> Any:
    """A new version with text added at the end."""
    file = _file(database, arguments["path"])
    old, heading = str(file["content"]), arguments.get("heading")
    if heading and file["mime_type"] != "text/markdown":
        raise ToolFailure(f"{file['path']} is not a Markdown file, so it takes no heading.")
    gap = "" if not old or old.endswith("\n") else "\n"
    text = (f"\n## {heading}\n\n" if heading else "") + arguments["content"]
    _save_version(database, file, old + gap + text + ("" if text.endswith("\n") else "\n"))
    return database.row(f"{ENTRY} WHERE path = ?", file["path"])


def move_file(database: Database, arguments: Arguments) -> Any:
    """Give a file another path."""
    source, target = arguments["source"], arguments["target"]
    _file(database, source)
    if database.row("SELECT 1 FROM files WHERE path = ?", target):
        raise ToolFailure(f"There is already a file {target}.")
    database.update("files", "path", source, {"path": target})
    database.run("UPDATE file_versions SET path = ? WHERE path = ?", target, source)
    return {"source": source, "target": target}


def trash_file(database: Database, arguments: Arguments) -> Any:
    """Move a file to the trash."""
    path = str(_file(database, arguments["path"])["path"])
    database.update("files", "path", path, {"trashed_at": NOW})
    return {"path": path, "trashed_at": NOW, "kept_for_days": 30}


def delete_file_permanently(database: Database, arguments: Arguments) -> Any:
    """Delete a file of the trash with its versions."""
    file = existing(database, "files", "path", arguments["path"], "file")
    if file["trashed_at"] is None:
        raise ToolFailure(f"{file['path']} is not in the trash. Use trash_file first.")
    versions = database.run("DELETE FROM file_versions WHERE path = ?", file["path"])
    database.run("DELETE FROM files WHERE path = ?", file["path"])
    return {"path": file["path"], "deleted": True, "versions_deleted": versions + 1}


def share_file(database: Database, arguments: Arguments) -> Any:
    """Give people access to a file."""
    path, ends = str(_file(database, arguments["path"])["path"]), arguments.get("expires_on")
    for grant in arguments["grants"]:
        if path.startswith("/support/") and not grant["email"].endswith(COMPANY):
            raise ToolFailure(f"{path} contains data of customers and is not shared with {grant['email']}.")
        sql = "INSERT OR REPLACE INTO shares (path, email, role, expires_on) VALUES (?, ?, ?, ?)"
        database.run(sql, path, grant["email"], grant["role"], ends)
    shares = database.rows("SELECT email, role, expires_on FROM shares WHERE path = ? ORDER BY email", path)
    return {"path": path, "shares": shares}


def list_file_versions(database: Database, arguments: Arguments) -> Any:
    """The newest and the kept versions of a file."""
    path = _file(database, arguments["path"])["path"]
    sql = (
        "SELECT version, length(content) AS size, updated_at AS saved_at FROM files WHERE path = ? UNION ALL "
        "SELECT version, length(content), saved_at FROM file_versions WHERE path = ? ORDER BY version DESC"
    )
    return page(database, arguments, sql, path, path)


def _file(database: Database, path: str) -> Record:
    file = existing(database, "files", "path", path, "file")
    if file["trashed_at"] is not None:
        raise ToolFailure(f"{path} is in the trash since {file['trashed_at']}.")
    return file


def _below(folder: str) -> Filter:
    return Filter().also("substr(path, 1, ?) = ?", len(folder), folder)


def _first_line(content: str, query: str) -> str | None:
    words = query.lower().split()
    return next((line for line in content.splitlines() if any(word in line.lower() for word in words)), None)


def _save_version(database: Database, file: Record, content: str) -> None:
    sql = "INSERT INTO file_versions (path, version, content, saved_at) VALUES (?, ?, ?, ?)"
    database.run(sql, file["path"], file["version"], file["content"], file["updated_at"])
    change: Record = {
        "content": content,
        "version": int(file["version"] or 0) + 1,
        "updated_at": NOW,
        "trashed_at": None,
    }
    database.update("files", "path", str(file["path"]), change)


FILES: Final[dict[str, Handler]] = {
    function.__name__: function
    for function in (
        list_files,
        search_files,
        read_file,
        write_file,
        append_to_file,
        move_file,
        trash_file,
        delete_file_permanently,
        share_file,
        list_file_versions,
    )
}
