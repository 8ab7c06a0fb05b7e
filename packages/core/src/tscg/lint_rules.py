"""The rules of lint, as data: what a text of a tool should not hold, how bad it is, and why.

The patterns of the first table look at a text as it came; those of the second at the same text without what cannot be
seen, in one spelling (NFKC) and with single blanks, so that a character in the middle of a word or a line break hides
nothing. Sentences are looked for in English alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["PLAIN_RULES", "RAW_RULES", "RULES", "SHADOW_MENTION", "SHADOW_NAME", "Rule"]

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: its id, ``error`` or ``warning``, the reason, and the pattern of what it finds, if one says it all.

    Where the pattern has a group, that group is what is found: what it matches outside of one is let through.
    """

    id: str
    severity: str
    reason: str
    pattern: re.Pattern[str] | None = field(default=None, repr=False)


def _rule(id: str, severity: str, reason: str, *patterns: str, flags: int = re.IGNORECASE) -> Rule:
    return Rule(id=id, severity=severity, reason=reason, pattern=re.compile("|".join(patterns), flags))


# --- what cannot be seen ----------------------------------------------------------------------------------------------

FLAG = "\U0001f3f4[\U000e0061-\U000e007a]{4,6}\U000e007f"  # a flag such as that of Scotland is spelled with tags
LOOKALIKES = "\u0400-\u04ff\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd"

RAW_RULES = (
    _rule("bidi", ERROR, "turns the direction of text round: it reads otherwise than it is shown",
          "[\u202a-\u202e\u2066-\u2069]"),
    _rule("tag-characters", ERROR, "invisible letters that a model reads",
          f"{FLAG}|([\U000e0000-\U000e007f]+)"),
    _rule("variation-run", ERROR, "a run of variation selectors, which can carry hidden bytes",
          "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"),
    _rule("escape", ERROR, "a control character: it can move the cursor of a terminal and hide text in it",
          "\x1b\\[[0-?]*[ -/]*[@-~]", "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
    # Joiners are part of emoji and of many scripts: they are let through between characters that are not ASCII.
    _rule("zero-width", ERROR, "a character without width: it can split a word or mark a text unseen",
          "[\u200b\u2060-\u2064\ufeff\u180e\u034f]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"),
    _rule("direction-mark", WARNING, "an invisible mark of direction; rightful only in text that runs right to left",
          "[\u200e\u200f\u061c]"),
    _rule("mixed-script", WARNING, "a word of Latin letters with one of another script that looks the same",
          f"[a-z][{LOOKALIKES}]|[{LOOKALIKES}][a-z]"),
    _rule("padding", WARNING, "a run of blanks or line breaks that can push what follows out of sight",
          r"[^\S\n]{80,}", r"(?:[^\S\n]{0,80}\n){12,}"),
)  # fmt: skip

# --- what is said to the model ----------------------------------------------------------------------------------------

_NOT = r"(?:do not|don't|don\u2019t|never|must not|should not|avoid)"
_TELL = r"(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?)"
_SHOW = r"(?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|show(?:ing)?|explain(?:ing)?|report(?:ing)?)"
_USER = r"(?:the |this |any |your )?(?:end[- ])?(?:user|human)\b"
_USING = r"(?:using|calling|invoking|running|executing)"
_TALK = r"(?:conversation|chat|message|dialogue?|prompt)"
_SECRET = (
    r"(?:~/\.ssh|\.ssh/|(?<![a-z])id_(?:rsa|ed25519|ecdsa|dsa)(?![a-z])|\bauthorized_keys\b|\.aws/|\.gnupg|\.netrc\b|\.npmrc\b|\.pypirc\b"
    r"|\.git-credentials\b|\.kube/config|\.docker/config\.json|\.azure/|\.config/gcloud|\bapplication_default_credentials"
    r"|(?<![\w.])\.env(?:\.\w+)?\b|/etc/(?:passwd|shadow|sudoers)\b|\bmcp\.json\b|\bclaude_desktop_config\.json"
    r"|\.cursor/|\bcredentials\.(?:json|ya?ml|csv|db|toml)\b|\bwallet\.dat\b|\.bash_history\b|\blogin keychain\b)"
)

PLAIN_RULES = (
    _rule("ignore-instructions", ERROR, "asks the model to drop what it was told before",
          r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?]{0,30}\b(?:previous|prior|above|earlier|preceding"
          r"|system|all other|your|existing)\b[^.!?]{0,20}\b(?:instructions?|prompts?|rules|guidelines|guardrails"
          r"|directives|restrictions)\b"),
    _rule("hide-from-user", ERROR, "asks the model to keep something from the user",
          rf"\b{_NOT} (?:ever )?{_TELL} {_USER}",
          rf"\b{_NOT} (?:ever )?{_SHOW}\b[^.!?]{{0,40}}\b(?:to|from|with) {_USER}",
          r"\b(?:do not|don't|never) (?:ever )?mention (?:that you|this step|this to|(?:this|these) instructions?)\b",
          rf"\b{_NOT} let(?:ting)? {_USER} (?:know|see|notice|find)\b",
          rf"\bwithout (?:{_TELL} {_USER}|(?:the )?(?:user|human)(?:'s|\u2019s)? (?:knowledge|knowing|noticing)\b)",
          r"\b(?:secretly|covertly)\b[^.!?]{0,40}\b(?:send|read|include|add|forward|copy|call|pass|upload)\b",
          rf"\b(?:keep|hide) (?:this|it|that) (?:a )?(?:secret |hidden |confidential )?from {_USER}"),
    _rule("prompt-markup", ERROR, "markup in which chats and system prompts are written",
          r"<\|?(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\|?>",
          r"</?(?:important|system|secret|critical|hidden|instructions?|admin)(?:[_-]\w+)?>",
          r"\[/?(?:INST|SYS|SYSTEM)\]|<</?SYS>>", r"(?:^|\n) ?#{1,3} ?system(?: prompt)?:? ?(?:\n|$)"),
    _rule("ask-for-prompt", ERROR, "asks for the system prompt or for what was said in the conversation",
          rf"\b(?:include|pass|send|provide|copy|put|append|insert|fill|write|forward|attach)\b[^.!?]{{0,40}}"
          rf"\b(?:(?:entire|full|whole|complete|previous|all|all of the) (?:of the )?"
          rf"(?:{_TALK}(?: history| context|s)?)|system prompts?)\b",
          r"\byour system prompt\b"),
    _rule("ask-for-secret", ERROR, "asks the model to read, or to pass on, a file that holds secrets",
          rf"\b(?:read|open|load|cat|access|fetch|pass|send|include|provide|upload|contents? of|copy)\b[^.!?\n]{{0,40}}"
          rf"{_SECRET}"),
    _rule("secret-path", WARNING, "names a file that commonly holds secrets", _SECRET),
    _rule("call-first", WARNING, "wants a say in when other tools are called",
          rf"\bbefore {_USING} (?:any|other|every|each|all|another)\b[^.!?]{{0,30}}\btools?\b",
          rf"\bbefore {_USING} (?:this|the) tool,? (?:you |must |need to |please |always |first )*"
          r"(?:read|open|call|use|run|fetch|load|send|access|list)\b",
          r"\b(?:always|must) (?:be )?(?:call|use|run|invoke|execute)(?:ed|d)?\b[^.!?]{0,30}\bfirst\b",
          r"\bwhen(?:ever)? (?:another|any other) tool\b",
          r"\b(?:instead of|rather than|do not use|don't use|never use) (?:any |the )?other tools?\b"),
    _rule("not-the-users-word", ERROR, "claims an authority that a tool has not",
          r"\b(?:this is|these are) (?:a |an )?(?:system|administrator|admin|developer|mandatory security)"
          r" (?:instructions?|messages?|overrides?|policy|policies|requirements?)\b",
          r"\byou are now (?:in|a|an) ", r"\b(?:jailbreak|god|dan) mode\b"),
    _rule("run-download", ERROR, "a command that downloads something and runs it",
          r"\b(?:curl|wget)\b[^|\n]{0,200}\|\s*(?:sudo )?(?:ba|z|da)?sh\b", r"\biex\b[^\n]{0,40}\bdownloadstring\b",
          r"\bbase64 (?:-d|--decode)\b[^\n]{0,60}\|\s*(?:ba|z)?sh\b"),
    _rule("hidden-markup", WARNING, "a comment or an image: not shown where text is rendered, or fetched unasked",
          r"<!--", r"!\[[^\]]{0,200}\]\(https?://[^)]{0,300}?[?&{]"),
    _rule("encoded", WARNING, "a long run of encoded text that nobody can read",
          r"(?<![\w+/])(?=[A-Za-z+/]*[0-9])(?=[0-9a-z+/]*[A-Z])[A-Za-z0-9+/]{80,}={0,2}(?![\w+/])",
          r"\b(?:[0-9a-f]{2}){48,}\b", r"(?:\\x[0-9a-f]{2}){12,}", r"(?:\\u[0-9a-f]{4}){12,}"),
)  # fmt: skip

# --- between servers --------------------------------------------------------------------------------------------------

SHADOW_NAME = Rule(
    id="shadow-name", severity=WARNING, reason="two servers have a tool of this name: one may be called for the other"
)
SHADOW_MENTION = Rule(
    id="shadow-mention", severity=WARNING, reason="a text of one server that names a tool of another can steer its use"
)

RULES: dict[str, Rule] = {rule.id: rule for rule in (*RAW_RULES, *PLAIN_RULES, SHADOW_NAME, SHADOW_MENTION)}
"""All rules by id."""
