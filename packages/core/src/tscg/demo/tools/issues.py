"""The tools of the issue tracker, as data."""

from __future__ import annotations

from typing import Final

from tscg.demo.tools.shapes import (
    CURSOR,
    DIRECTION,
    DUE_ON,
    HANDLE,
    ISSUE_KEY,
    LABELS,
    LIMIT,
    NOTIFY,
    PRIORITY,
    PROJECT,
    REASON,
    RELATION,
    Schema,
    ToolSpec,
    described,
)

TITLE: Final[Schema] = {
    "type": "string",
    "minLength": 3,
    "maxLength": 120,
    "description": "One line that says what is wrong or wanted, without the project's name and without a full stop.",
}
BODY: Final[Schema] = {
    "type": "string",
    "maxLength": 20000,
    "description": (
        "The full text in Markdown: what happens, what should happen, and how to see it. Never put passwords, card "
        "numbers or addresses of customers here, because the text is readable for contractors."
    ),
}
ESTIMATE: Final[Schema] = {
    "type": "number",
    "minimum": 0.5,
    "maximum": 200,
    "multipleOf": 0.5,
    "description": "The expected effort in hours, in steps of half an hour.",
}

ISSUES: Final = (
    ToolSpec(
        name="list_issues",
        title="List issues",
        description=(
            "List the issues of a project that match a set of exact filters, newest first unless told otherwise. All "
            "filters are combined with AND. This tool knows nothing of the text of an issue: to find an issue by the "
            "words that somebody used, use search_issues instead, and to read one whose key you already have, use "
            "get_issue. Each entry holds key, title, status, priority, assignee and the time of the last change; the "
            "body and the comments are left out to keep the answer small.\n\nClosed and resolved issues are not "
            "listed by default, because the archive is large."
        ),
        properties={
            "project": PROJECT,
            "status": {
                "type": "string",
                "enum": ["open", "in_progress", "resolved", "closed", "all"],
                "default": "open",
                "description": "Only issues in this state; all for every state. Defaults to open.",
            },
            "assignee": described(HANDLE, "Only issues of this colleague, given by handle, for example mira."),
            "priority": described(PRIORITY, "Only issues of exactly this priority."),
            "labels": described(LABELS, "Only issues that carry all of these labels. Labels are in lower case."),
            "updated_since": {
                "type": "string",
                "format": "date-time",
                "description": "Only issues changed at or after this moment, in ISO 8601 with an offset.",
            },
            "sort": {
                "type": "string",
                "enum": ["created", "updated", "priority", "due"],
                "default": "updated",
                "description": "The field to sort by. Defaults to updated.",
            },
            "direction": DIRECTION,
            "limit": LIMIT,
            "cursor": CURSOR,
        },
        read_only=True,
    ),
    ToolSpec(
        name="search_issues",
        title="Search issues",
        description=(
            "Find issues by words. The query is split at blanks, and an issue is found when each word occurs somewhere "
            "in the fields that are searched, in any order and regardless of case; there are no operators, no quotes "
            "and no wildcards. Use this tool when the user describes a problem instead of giving a key. When you only "
            "need a filter on fields such as state or assignee, list_issues is faster and complete. Start with two or "
            "three telling words: a whole sentence rarely finds anything."
        ),
        properties={
            "query": {
                "type": "string",
                "minLength": 2,
                "maxLength": 200,
                "description": "The words to look for, separated by blanks.",
            },
            "fields": {
                "type": "array",
                "items": {"type": "string", "enum": ["title", "body", "comments"]},
                "uniqueItems": True,
                "minItems": 1,
                "default": ["title", "body"],
                "description": "Where to look. Comments are slow to search. Defaults to title and body.",
            },
            "project": described(PROJECT, "Only this project. Leave it out to search both of them."),
            "include_closed": {
                "type": "boolean",
                "default": False,
                "description": "Whether resolved and closed issues are found as well. Defaults to false.",
            },
            "limit": LIMIT,
            "cursor": CURSOR,
        },
        required=("query",),
        read_only=True,
    ),
    ToolSpec(
        name="get_issue",
        title="Read an issue",
        description=(
            "Read one issue in full, with its body, by its key. Comments, links and labels are only part of the answer "
            "when you ask for them. Comments that are meant for the team carry the visibility internal: never quote "
            "them to a customer. Fails if there is no issue with this key; to find the key, use search_issues."
        ),
        properties={
            "key": ISSUE_KEY,
            "include": {
                "type": "array",
                "items": {"type": "string", "enum": ["comments", "links", "labels"]},
                "uniqueItems": True,
                "default": ["labels"],
                "description": "Which further parts to return. Defaults to the labels alone.",
            },
        },
        required=("key",),
        read_only=True,
    ),
    ToolSpec(
        name="create_issue",
        title="Create an issue",
        description=(
            "Create a new issue in one of the two projects, reported by the user. Always search first whether the same "
            "problem is already known: a duplicate costs the team more time than a comment on the existing issue. A "
            "good issue holds one problem only; for two problems create two issues and connect them with the argument "
            "links. The new issue is open and belongs to nobody unless an assignee is given. Returns the issue with "
            "its key."
        ),
        properties={
            "project": PROJECT,
            "title": TITLE,
            "body": BODY,
            "priority": {**PRIORITY, "default": "medium"},
            "labels": LABELS,
            "assignee": HANDLE,
            "due_on": DUE_ON,
            "estimate_hours": ESTIMATE,
            "links": {
                "type": "array",
                "maxItems": 10,
                "description": "Links from the new issue to existing ones.",
                "items": {
                    "type": "object",
                    "properties": {"relation": RELATION, "target": ISSUE_KEY},
                    "required": ["relation", "target"],
                    "additionalProperties": False,
                },
            },
        },
        required=("project", "title"),
    ),
    ToolSpec(
        name="update_issue",
        title="Change fields of an issue",
        description=(
            "Change fields of an existing issue. Only the fields that you send are changed, all others stay as they "
            "are; there is no need to read the issue first. The state cannot be changed here, because every change of "
            "state needs its own information: use resolve_issue when the work is done or will not be done, close_issue "
            "when an issue is put away without work, and reopen_issue to bring one back. Changing the priority to "
            "urgent alerts the person on call."
        ),
        properties={
            "key": ISSUE_KEY,
            "title": TITLE,
            "body": described(BODY, "The new text in Markdown, which replaces the old one completely."),
            "priority": PRIORITY,
            "assignee": {
                "type": ["string", "null"],
                "pattern": "^[a-z]{2,20}$",
                "description": "The handle of the colleague who takes over, or null if nobody shall have it.",
            },
            "labels": {
                "type": "object",
                "description": "Labels to add and to remove. Other labels of the issue are not touched.",
                "properties": {"add": LABELS, "remove": LABELS},
                "minProperties": 1,
                "additionalProperties": False,
            },
            "due_on": DUE_ON,
            "estimate_hours": ESTIMATE,
        },
        required=("key",),
        rules={"minProperties": 2},
        idempotent=True,
    ),
    ToolSpec(
        name="assign_issue",
        title="Hand an issue over",
        description=(
            "Hand an issue over to a colleague and tell both sides. In contrast to the field assignee of update_issue "
            "this sends a message to the former and the new assignee and adds a comment that explains the handover, so "
            "it is the right tool when people have to know. Never assign an issue to somebody who is not part of the "
            "team that owns the project unless the user has named that person."
        ),
        properties={
            "key": ISSUE_KEY,
            "assignee": HANDLE,
            "message": {
                "type": "string",
                "minLength": 3,
                "maxLength": 1000,
                "description": "What the new assignee should know, in one or two sentences.",
            },
            "notify": NOTIFY,
        },
        required=("key", "assignee", "message"),
    ),
    ToolSpec(
        name="comment_on_issue",
        title="Comment on an issue",
        description=(
            "Add a comment to an issue in the name of the user. Comments cannot be edited or deleted afterwards. A "
            "comment with the visibility customer is sent by e-mail to everybody outside who follows the issue, and "
            "you must not write one without showing the exact text to the user first."
        ),
        properties={
            "key": ISSUE_KEY,
            "body": {
                "type": "string",
                "minLength": 1,
                "maxLength": 10000,
                "description": "The text of the comment in Markdown.",
            },
            "visibility": {
                "type": "string",
                "enum": ["internal", "customer"],
                "default": "internal",
                "description": "Who can read the comment: the team alone, or customers as well. Defaults to internal.",
            },
            "mentions": {
                "type": "array",
                "items": HANDLE,
                "uniqueItems": True,
                "maxItems": 10,
                "description": "Colleagues who get a message about this comment.",
            },
        },
        required=("key", "body"),
    ),
    ToolSpec(
        name="resolve_issue",
        title="Resolve an issue",
        description=(
            "Mark an issue as resolved and record how. Use it when somebody has dealt with the matter: it was fixed, "
            "it turned out to be a duplicate, or a decision was made that nothing will be done. Resolved issues stay "
            "visible in the reports of the week and are closed by the reporter later. Not to be confused with "
            "close_issue, which puts an issue away without a result. If the resolution is duplicate, the key of the "
            "other issue must be given in duplicate_of."
        ),
        properties={
            "key": ISSUE_KEY,
            "resolution": {
                "type": "string",
                "enum": ["fixed", "wont_fix", "duplicate", "cannot_reproduce", "by_design"],
                "description": "How the matter ended.",
            },
            "duplicate_of": described(
                ISSUE_KEY, "The issue that this one repeats; only with the resolution duplicate."
            ),
            "comment": {
                "type": "string",
                "maxLength": 2000,
                "description": "What was done, for those who read the issue later.",
            },
        },
        required=("key", "resolution"),
        rules={
            "if": {"properties": {"resolution": {"const": "duplicate"}}, "required": ["resolution"]},
            "then": {"required": ["duplicate_of"]},
        },
    ),
    ToolSpec(
        name="close_issue",
        title="Close an issue",
        description=(
            "Put an issue away for good, without a statement about how it ended. This is for issues that were opened "
            "by mistake, have lost their meaning, or have been resolved for a while and confirmed by the reporter. "
            "Closed issues disappear from all lists and reports. If work was done, use resolve_issue instead, since "
            "the result is lost otherwise. Do not close issues of other people unless the user asks for it."
        ),
        properties={"key": ISSUE_KEY, "reason": REASON, "notify": NOTIFY},
        required=("key", "reason"),
    ),
    ToolSpec(
        name="reopen_issue",
        title="Reopen an issue",
        description=(
            "Bring a resolved or closed issue back to the state open. The resolution is removed, and the issue keeps "
            "its assignee, its labels and all comments. Use it only if exactly the same problem is back; for a new "
            "problem of a similar kind create a new issue and link it."
        ),
        properties={"key": ISSUE_KEY, "reason": REASON},
        required=("key", "reason"),
    ),
    ToolSpec(
        name="link_issues",
        title="Link two issues",
        description=(
            "Record how two issues stand to each other. Links have a direction and are read from source to target, so "
            "source SHOP-1, relation blocks, target SHOP-2 means that SHOP-2 cannot go on before SHOP-1 is done. The "
            "same link made twice is kept once. An issue cannot be linked to itself."
        ),
        properties={
            "source": described(ISSUE_KEY, "The issue from which the link is read, for example SHOP-14."),
            "relation": RELATION,
            "target": described(ISSUE_KEY, "The issue to which the link leads, for example SHOP-15."),
        },
        required=("source", "relation", "target"),
        idempotent=True,
    ),
    ToolSpec(
        name="bulk_update_issues",
        title="Change many issues at once",
        description=(
            "Change up to 50 issues in one step: either all changes are made or, if one of them is impossible, none. "
            "By default nothing is written and the answer only tells what would change. Show this preview to the user, "
            "and call the tool again with dry_run set to false only after the user has agreed. For a single issue use "
            "update_issue."
        ),
        properties={
            "changes": {
                "type": "array",
                "minItems": 1,
                "maxItems": 50,
                "description": "One entry for each issue.",
                "items": {
                    "type": "object",
                    "properties": {
                        "key": ISSUE_KEY,
                        "priority": PRIORITY,
                        "assignee": HANDLE,
                        "due_on": DUE_ON,
                        "add_labels": LABELS,
                    },
                    "required": ["key"],
                    "minProperties": 2,
                    "additionalProperties": False,
                },
            },
            "dry_run": {
                "type": "boolean",
                "default": True,
                "description": "Whether to tell what would change without changing anything. Defaults to true.",
            },
        },
        required=("changes",),
    ),
)
