"""What makes a sentence a policy: the words that oblige, forbid or warn, and the phrases in which they do not.

The loss of a policy sentence does harm, so the table errs on the side of keeping: a policy word counts unless all its
uses stand in phrases in which it is known to mean something else. All are words and phrases, no patterns: the first
test of a sentence is whether it shares a word with the table at all.
"""

from __future__ import annotations

from tscg.record import Record

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from collections.abc import Sequence

    Known = tuple[str, Sequence[str], bool]

#: Sentences that are remembered: each is asked for a few times in a row, and a small memory stays near.
MOST = 128


class Sign(Record):
    """When a word makes a sentence a policy.

    Never without one of the phrases ``needs``; not where all its uses stand in phrases of ``unless``. Of parameters a
    word often tells what a value does ("Only return open issues"): there it does not count in phrases of ``tells``
    either, nor beside a word of ``beside``. Phrases that excuse a word must not overlap.
    """

    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()


_ANY = Sign()

#: Words of policy. Phrases are matched on the lower-cased words of the sentence with single blanks between them.
POLICY: dict[str, Sign] = {
    "must": _ANY,
    "mustn't": _ANY,
    "never": _ANY,
    "cannot": _ANY,
    "can't": _ANY,
    "shouldn't": _ANY,
    "mandatory": _ANY,
    "obligatory": _ANY,
    "forbidden": Sign(unless=("403 forbidden",)),
    "prohibited": _ANY,
    "disallowed": _ANY,
    "irreversible": _ANY,
    "irreversibly": _ANY,
    "irrevocable": _ANY,
    "irrevocably": _ANY,
    "unrecoverable": _ANY,
    "irrecoverable": _ANY,
    "destructive": Sign(unless=("non destructive",)),
    "destructively": _ANY,
    "permanently": _ANY,
    "undone": _ANY,
    "undo": Sign(needs=("no undo", "not undo", "to undo", "be undo")),
    "dangerous": _ANY,
    "caution": _ANY,
    "consent": _ANY,
    "confirm": _ANY,
    "confirms": _ANY,
    "confirmed": _ANY,
    "confirming": _ANY,
    "confirmation": _ANY,
    "confirmations": _ANY,
    "consult": Sign(needs=("consult the user", "consult with the user")),
    "exclusive": Sign(needs=("mutually exclusive",)),
    "don't": Sign(unless=("you don't", "they don't", "we don't", "that don't", "which don't", "who don't")),
    "dont": _ANY,
    "not": Sign(
        needs=(
            "do not", "may not", "must not", "should not", "shall not", "can not", "not allowed", "not permitted",
            "not both", "not be used", "not use", "not call", "not intended", "not meant", "not to be", "not for",
            "not combine", "not be combined", "not recommended",
        ),
        unless=(
            "that do not", "which do not", "who do not", "they do not", "we do not", "you do not", "whether or not",
            "do not need", "usually do not", "do not support",
        ),
    ),
    "only": Sign(
        unless=(
            "the only", "not only", "read only", "text only", "write only", "if only", "only need", "only needs",
            "with only", "there are only", "has only one", "only has one", "replaces only", "only looks", "only look",
        ),
        tells=(
            "only return", "only returns", "only show", "only shows", "only showing", "only list", "only lists",
            "only includes", "only contains", "only contain", "only direct", "only validate", "only validates",
            "return only", "returns only", "show only", "shows only", "lists only", "includes only", "select only",
            "to only runs", "is only one", "to only attachments", "only reads data",
            "only create new", "only limits", "only results", "only gists", "only the title",
            "hours only", "agent only",
        ),
        beside=frozenset(("returned", "listed", "shown", "searches")),
    ),
    # "Required when x" alone is a constraint, not a policy.
    "required": Sign(
        needs=("required before", "is required", "both required", "all required", "required together"),
        unless=("not required", "that is required", "is required to"),
    ),
    "requires": Sign(unless=("type requires", "it requires", "that requires")),
    "allowed": Sign(needs=("only allowed", "never allowed")),
    "always": Sign(
        unless=(
            "is always", "are always", "was always", "be always", "will always", "always returns", "always returned",
            "always has", "always have", "always shows", "before always", "always contains", "always includes",
        ),
    ),
    "ensure": Sign(unless=("to ensure", "or ensure")),
    "sure": Sign(needs=("make sure", "be sure")),
    "important": Sign(
        unless=("an important", "important concept", "important for", "the important", "most important",
            "important information"),
    ),
    "importantly": _ANY,
    "critical": Sign(
        unless=("or critical", "high critical", "critical vulnerability", "critical severity", "a critical"),
    ),
    "warning": Sign(unless=("without warning", "fallback warning", "warning events", "or warning", "error warning")),
    "warn": Sign(needs=("warn the user", "warn user", "warn users")),
    "beware": _ANY,
    "avoid": Sign(unless=("to avoid",)),
    "refuse": _ANY,
    "ask": Sign(needs=("ask the user", "ask user", "ask for", "ask permission", "ask first", "ask them", "ask before")),
    "approval": Sign(needs=(
        "user approval", "user's approval", "explicit approval", "human approval", "your approval", "approval before",
        "their approval", "approval first",
    )),
    "permission": Sign(needs=("user's permission", "ask permission", "ask for permission", "user permission")),
    "before": Sign(needs=(
        "before calling", "before using", "before invoking", "before running", "before executing", "before proceeding",
        "before submitting", "before making", "before deleting", "before sending", "before performing", "before you",
        "before this tool",
    )),
    "prior": Sign(needs=("prior to calling", "prior to using", "prior approval", "prior consent")),
    "permanent": Sign(needs=("is permanent", "permanent deletion", "permanent removal", "permanent action")),
    "forbids": _ANY,
    "forbid": _ANY,
    "first": Sign(needs=("first call", "call first", "must first", "tool first", "user first", "first use")),
    "most": Sign(needs=("at most one",)),
    "least": Sign(needs=("at least one of", "at least one must")),
    "exactly": Sign(needs=("exactly one",)),
    "loss": Sign(
        needs=("data loss",), unless=("the data loss", "without data loss", "avoids data loss", "no data loss")
    ),
    "overwrites": _ANY,
    # The same words in the languages that catalogs were seen in.
    "nunca": _ANY, "jamás": _ANY, "debe": _ANY, "deben": _ANY, "sólo": _ANY, "obligatorio": _ANY, "obligatoire": _ANY,
    "jamais": _ANY, "doit": _ANY, "uniquement": _ANY, "niemals": _ANY, "muss": _ANY, "müssen": _ANY, "nur": _ANY,
    "verboten": _ANY, "somente": _ANY, "deve": _ANY, "solamente": _ANY, "interdit": _ANY, "prohibido": _ANY,
}  # fmt: skip

_POLICY_WORDS = frozenset(POLICY)


def _beside(word: str, phrases: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Phrases of a word by the last other word in each: where that is not said, they need not be looked for."""
    found: dict[str, tuple[str, ...]] = {}
    for phrase in phrases:
        near = next(each for each in reversed(phrase.split()) if each != word)
        found[near] = (*found.get(near, ()), phrase)
    return found


_NEEDS = {word: frozenset(_beside(word, sign.needs)) for word, sign in POLICY.items() if sign.needs}
_UNLESS = {word: _beside(word, sign.unless) for word, sign in POLICY.items() if sign.unless}
_UNLESS_TELLS = {
    word: _beside(word, (*sign.unless, *sign.tells)) for word, sign in POLICY.items() if sign.unless or sign.tells
}
_NOTHING: dict[str, tuple[str, ...]] = {}

#: Languages without blanks between words: parts of a sentence that oblige or forbid.
POLICY_PARTS = (
    "必须", "必須", "禁止", "不得", "不要", "切勿", "绝不", "不能", "不可", "只能",
    "仅限", "确认", "確認", "警告", "注意",
    "決して", "しないで", "だけ", "のみ", "하지 마", "반드시", "금지", "확인",
    "нельзя", "никогда", "только", "должен", "должна", "должны",
)  # fmt: skip

_PART_STARTS = frozenset([part[0] for part in POLICY_PARTS])

#: Beside these "only" restricts what may be given, whatever else the sentence tells.
ACCEPTING = frozenset(("accepted", "allowed", "permitted", "rejected"))

#: Words that stress a sentence: without another word of policy it neither obliges nor forbids.
STRESS = frozenset(("important", "importantly", "critical"))

#: A heading with one of these words hands its rank to the list below it.
POLICY_HEADINGS = frozenset(
    "important warning warnings caution critical rules rule restrictions restriction never danger policy policies "
    "prohibited mandatory prerequisites prerequisite limitations limitation must forbidden cautions safety".split()
)

_MARKS = '!"#$%&()*,./:;<=>?@[\\]^`{|}~-\n\t'
_PUNCTUATION = str.maketrans(dict.fromkeys(_MARKS + "—–“”…•·→", " ") | {"’": "'", "‘": "'"})
#: The same for bytes, which is ten times as fast and enough for most texts.
_ASCII_PUNCTUATION = bytes.maketrans(_MARKS.encode(), b" " * len(_MARKS))


def words_of(low: str) -> tuple[str, ...]:
    """The words of a lower-cased text, without punctuation; an apostrophe is part of a word.

    >>> words_of("don't cut the e.g. list-item")
    ("don't", 'cut', 'the', 'e', 'g', 'list', 'item')
    """
    if low.isascii():
        return tuple(low.encode("ascii").translate(_ASCII_PUNCTUATION).decode("ascii").split())
    return tuple(low.translate(_PUNCTUATION).split())


_KNOWN: dict[str, Known] = {}


def known(sentence: str) -> Known:
    """A sentence in lower case, its words, and whether it is a policy: what each operator goes by, found once.

    >>> known("Never sends it.")
    ('never sends it.', ['never', 'sends', 'it'], True)
    """
    found = _KNOWN.get(sentence)
    if found is not None:
        return found
    low = sentence.lower()
    if low.isascii():
        words: Sequence[str] = low.encode().translate(_ASCII_PUNCTUATION).decode().split()
        if _POLICY_WORDS.isdisjoint(words):
            found = low, words, False
        else:
            found = low, words, _is_policy(_POLICY_WORDS.intersection(words), words, tells=False)
    else:
        words = words_of(low)
        found = low, words, is_policy(low, words)
    if len(_KNOWN) >= MOST:
        _KNOWN.clear()
    _KNOWN[sentence] = found
    return found


def is_policy(low: str, words: Sequence[str], *, tells: bool = False) -> bool:
    """Whether a lower-cased sentence with these ``words`` obliges, forbids or warns; ``tells``: it is of a parameter.

    >>> is_policy("never call it", ("never", "call", "it")), is_policy("read-only", ("read", "only"))
    (True, False)
    """
    found = _POLICY_WORDS.intersection(words)
    if found and _is_policy(found, words, tells):
        return True
    return not (low.isascii() or _PART_STARTS.isdisjoint(low)) and any(part in low for part in POLICY_PARTS)


def _is_policy(found: frozenset[str], words: Sequence[str], tells: bool) -> bool:
    """Whether one of the policy words ``found`` is used as one."""
    said = ""
    for word in found:
        sign = POLICY[word]
        if sign is _ANY:
            return True
        if sign.needs:
            if _NEEDS[word].isdisjoint(words):
                continue
            said = said or f" {' '.join(words)} "
            if not _stands(sign.needs, said):
                continue
        excuses = (_UNLESS_TELLS if tells else _UNLESS).get(word, _NOTHING)
        excused = 0
        for near in excuses.keys() & words if excuses else ():
            said = said or f" {' '.join(words)} "
            for phrase in excuses[near]:
                excused += said.count(f" {phrase} ")
        if excused and excused >= words.count(word):
            continue
        if tells and sign.beside and not sign.beside.isdisjoint(words) and ACCEPTING.isdisjoint(words):
            continue
        return True
    return False


def stressed(sentence: str) -> bool:
    """Whether a policy is one by words of stress alone ("Important: ...").

    >>> stressed("Important: it is slow."), stressed("Important: never stop it.")
    (True, False)
    """
    low, words, binds = known(sentence)
    return (
        binds
        and not STRESS.isdisjoint(words)
        and not is_policy(low, tuple([word for word in words if word not in STRESS]))
    )


def _stands(phrases: tuple[str, ...], said: str) -> bool:
    """Whether one of ``phrases`` stands in ``said`` in whole words."""
    for phrase in phrases:  # noqa: SIM110 - a generator costs more than the tests
        if phrase in said and f" {phrase} " in said:
            return True
    return False
