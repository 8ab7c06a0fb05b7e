"""Twenty tasks over GitHub's 117 tools, each with the calls that a model makes for it, round by round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.adapters.provider import Answer, Model, View
from tests.adapters.worker import is_task, work

REPO = {"owner": "acme", "repo": "shop"}
Step = tuple[str, dict[str, Any]]

TASKS: dict[str, list[list[Step]]] = {
    "Who am I, and which teams am I in?": [[("get_me", {}), ("get_teams", {})]],
    "What is broken in the shop? Show the open issues.": [[("list_issues", {**REPO, "state": "OPEN"})]],
    "Read issue 12 with its comments.": [[("issue_read", {**REPO, "method": "get", "issue_number": 12}), ("issue_read", {**REPO, "method": "get_comments", "issue_number": 12})]],
    "File a bug: the cart forgets its coupon.": [[("search_issues", {"query": "coupon cart repo:acme/shop"})], [("issue_write", {**REPO, "method": "create", "title": "Cart forgets its coupon", "body": "Steps:\n1. add a coupon\n2. reload"})]],
    "Close issue 9 and say thanks.": [[("add_issue_comment", {**REPO, "issue_number": 9, "body": "Fixed. Thanks!"})], [("update_issue_state", {**REPO, "issue_number": 9, "state": "closed"})]],
    "Label issue 3 as a bug.": [[("list_label", REPO)], [("update_issue_labels", {**REPO, "issue_number": 3, "labels": ["bug"]})]],
    "What changed in pull request 44?": [[("pull_request_read", {**REPO, "method": "get_files", "pullNumber": 44}), ("pull_request_read", {**REPO, "method": "get_diff", "pullNumber": 44})]],
    "Approve pull request 44.": [[("pull_request_review_write", {**REPO, "method": "create", "pullNumber": 44})], [("submit_pending_pull_request_review", {**REPO, "pullNumber": 44, "event": "APPROVE"})]],
    "Merge 44 by squashing.": [[("merge_pull_request", {**REPO, "pullNumber": 44, "merge_method": "squash"})]],
    "Start a branch for the coupon fix.": [[("list_branches", REPO)], [("create_branch", {**REPO, "branch": "fix/coupon", "from_branch": "main"})]],
    "Put a note into NOTES.md, with a <b> in it.": [[("create_or_update_file", {**REPO, "branch": "fix/coupon", "path": "NOTES.md", "content": "a <b>note</b> & \"more\"\n", "message": "Add a note"})]],
    "Push both config files at once.": [[("push_files", {**REPO, "branch": "main", "message": "Config", "files": [{"path": "a.json", "content": "{}"}, {"path": "b/c.toml", "content": "x = 1\n"}]})]],
    "Find who uses the old API.": [[("search_code", {"query": "old_api( language:python"}), ("search_commits", {"query": "old_api"})]],
    "Show the newest release and its tag.": [[("get_latest_release", REPO)], [("get_tag", {**REPO, "tag": "v2.1.0"})]],
    "Why did the build fail?": [[("actions_list", {**REPO, "method": "list_workflow_runs"})], [("get_job_logs", {**REPO, "run_id": 991, "failed_only": True})]],
    "Run the failed jobs again.": [[("actions_run_trigger", {**REPO, "method": "rerun_failed_jobs", "run_id": 991})]],
    "Are there leaked secrets or bad dependencies?": [[("list_secret_scanning_alerts", REPO), ("list_dependabot_alerts", REPO), ("list_code_scanning_alerts", REPO)]],
    "Save this snippet: größer ≥ 3 → „ja“.": [[("create_gist", {"filename": "note.txt", "content": "größer ≥ 3 → „ja“", "description": "Notiz"})]],
    "Ask Ann and Bo for a review of 45.": [[("request_pull_request_reviewers", {**REPO, "pullNumber": 45, "reviewers": ["ann", "bo"]})]],
    "Clear my notifications and unstar the shop.": [[("mark_all_notifications_read", {}), ("unstar_repository", REPO)]],
}  # fmt: skip


def calls() -> list[Step]:
    """All calls of all tasks, in order."""
    return [step for rounds in TASKS.values() for one in rounds for step in one]


def planned(tasks: Mapping[str, list[list[Step]]] = TASKS) -> Model:
    """A model that knows what each task takes, and finds in the request how to call."""
    import json

    def plan(rounds: list[list[Step]]) -> str:
        return "\n".join(
            " && ".join(f"{name} {json.dumps(arguments, ensure_ascii=False)}" for name, arguments in one)
            for one in rounds
        )

    def model(view: View) -> Answer:
        turns = [
            replace(turn, text=plan(tasks[turn.text])) if is_task(turn) and turn.text in tasks else turn
            for turn in view.turns
        ]
        return work(replace(view, turns=turns))

    return model
