"""English filler as data: what may go out of prose, what stands for it, and where it must stay.

A removed phrase holds no semantic atom: no negation, modal, number, condition or comparison, and no name. Each word
that is put in for a phrase is one token with a leading blank in o200k_base and cl100k_base, so no rewrite costs tokens.

The rows are constants, which are loaded many times faster than records are made; ``fillers`` makes records of them.
"""

from __future__ import annotations

from tscg.record import Record

Row = tuple[str, str, tuple[str, ...], str, bool, tuple[str, str], str]


class Filler(Record):
    """One pattern. ``before`` are lower-case phrases of whole words, a comma at the end belongs to the phrase.

    Each phrase holds one of ``words``, the least common of it: a text without them is not looked at. ``example`` shows the
    pattern at work, ``stays`` a text that it leaves alone. ``opening``: only where it begins a sentence.
    """

    id: str
    words: str
    before: tuple[str, ...]
    after: str
    opening: bool
    example: tuple[str, str]
    stays: str


#: "This tool allows you to ...": every noun that catalogs call a tool by, and what it is said to do for its user.
NOUNS = ("tool", "function", "endpoint", "method", "operation", "command", "api", "action")
SERVICES = (
    "can be used to", "is used to", "may be used to", "allows you to", "allows the user to", "allows users to",
    "lets you", "enables you to", "enables users to", "helps you to", "helps you", "helps to", "is designed to",
    "will", "provides the ability to", "provides a way to", "gives you the ability to", "is intended to",
)  # fmt: skip

ROWS: tuple[Row, ...] = (
    ("this-tool-returns", "this", ("this tool returns", "this function returns"), "returns", True,
     ("This tool returns orders.", "Returns orders."), "This tool must return."),
    ("this-tool-lists", "this", ("this tool lists", "this tool will list"), "lists", True,
     ("This tool lists orders.", "lists orders."), "This tool must list."),
    ("this-tool-helps", "this", ("this tool helps",), "helps", True,
     ("This tool helps sort orders.", "helps sort orders."), "This tool is of help."),
    ("this-tool-provides", "this", ("this tool provides",), "provides", True,
     ("This tool provides orders.", "provides orders."), "This tool is provided."),
    ("this-tool-retrieves", "this", ("this tool retrieves", "this tool gets", "this tool fetches"), "gets", True,
     ("This tool retrieves orders.", "gets orders."), "This tool is retrieved."),
    ("use-this-tool-to", "this", ("use this tool to", "use this function to",
        "use this endpoint to"), "", True,
     ("Use this tool to list orders.", "List orders."), "Use this tool with care."),
    ("you-can-use-this", "this", ("you can use this tool to", "you can use this endpoint to"), "", True,
     ("You can use this tool to list orders.", "List orders."), "You can use this tool twice."),
    ("a-tool-to", "tool function", ("a tool to", "a tool for", "a tool that can", "a tool used to", "tool to",
        "a function to"), "", True,
     ("A tool to list orders.", "List orders."), "Its tool of a team."),
    ("note-that", "note", ("note that", "please note that", "please note,"), "", True,
     ("Note that it is sorted.", "It is sorted."), "Add a note to it."),
    ("should-be-noted", "should noting", ("it should be noted that", "it is worth noting that",
        "it's worth noting that"), "", True,
     ("It should be noted that it is sorted.", "It is sorted."), "It should be sorted."),
    ("keep-in-mind", "keep bear", ("keep in mind that", "please keep in mind that", "bear in mind that"), "", True,
     ("Keep in mind that it is sorted.", "It is sorted."), "Keep a list."),
    ("please", "please", ("please",), "", False,
     ("Please use the full path.", "Use full path."), "pleasefully yours"),
    ("kindly", "kindly", ("kindly",), "", False,
     ("Kindly use the full path.", "Use full path."), "Its kind of path."),
    ("feel-free-to", "feel", ("feel free to",), "", False,
     ("Feel free to use lists.", "Use lists."), "Its free list."),
    ("basically", "basically", ("basically", "basically,"), "", False,
     ("It is basically a list.", "It is a list."), "Its basic list."),
    ("essentially", "essentially", ("essentially", "essentially,"), "", False,
     ("It is essentially a list.", "It is a list."), "Its essential list."),
    ("simply", "simply", ("simply",), "", False,
     ("You simply call it.", "You call it."), "Its simple call."),
    ("actually", "actually", ("actually", "actually,"), "", False,
     ("It is actually sorted.", "It is sorted."), "Its actual list."),
    ("obviously", "obviously", ("obviously", "obviously,"), "", False,
     ("Obviously, it is a list.", "It is a list."), "Its obvious list."),
    ("of-course", "course", ("of course", "of course,"), "", False,
     ("Of course, it is a list.", "It is a list."), "Part of a course."),
    ("in-fact", "fact", ("in fact,", "in fact"), "", False,
     ("In fact, it is a list.", "It is a list."), "Its fact in a list."),
    ("indeed", "indeed", ("indeed,", "indeed"), "", False,
     ("It is indeed a list.", "It is a list."), "It is a list."),
    ("needless-to-say", "needless", ("needless to say,",), "", False,
     ("Needless to say, it is a list.", "It is a list."), "Say it."),
    ("in-other-words", "other", ("in other words,",), "", False,
     ("In other words, it is a list.", "It is a list."), "In other lists."),
    ("in-short", "short summary essence", ("in short,", "in summary,", "in essence,"), "", False,
     ("In short, it is a list.", "It is a list."), "In short form."),
    ("as-such", "such", ("as such,",), "", False,
     ("As such, it is a list.", "It is a list."), "Use it as such."),
    ("overall", "overall", ("overall,",), "", False,
     ("Overall, it is a list.", "It is a list."), "Its overall list."),
    ("in-addition", "addition", ("in addition,",), "", False,
     ("In addition, it is sorted.", "It is sorted."), "In addition to it."),
    ("additionally", "additionally", ("additionally,",), "", False,
     ("Additionally, it is sorted.", "It is sorted."), "Its additional list."),
    ("furthermore", "furthermore", ("furthermore,",), "", False,
     ("Furthermore, it is sorted.", "It is sorted."), "Go further."),
    ("moreover", "moreover", ("moreover,",), "", False,
     ("Moreover, it is sorted.", "It is sorted."), "One more list."),
    ("as-mentioned", "mentioned described noted", ("as mentioned above,", "as mentioned earlier,",
        "as described above,", "as noted above,"), "", False,
     ("As mentioned above, it is a list.", "It is a list."), "Its list mentioned above."),
    ("as-you-can-see", "see", ("as you can see,",), "", False,
     ("As you can see, it is a list.", "It is a list."), "You can see it."),
    ("for-convenience", "convenience", ("for your convenience,", "for convenience,"), "", False,
     ("For convenience, it is a list.", "It is a list."), "For a convenience store."),
    ("generally-speaking", "speaking", ("generally speaking,", "broadly speaking,"), "", False,
     ("Generally speaking, it is a list.", "It is a list."), "Its general list."),
    ("very", "very", ("very",), "", False,
     ("Its very long list.", "Its long list."), "Every long list."),
    ("really", "really", ("really",), "", False,
     ("Its really long list.", "Its long list."), "Its real list."),
    ("quite", "quite", ("quite",), "", False,
     ("Its quite long list.", "Its long list."), "Its quiet list."),
    ("easily", "easily", ("easily",), "", False,
     ("You can easily sort it.", "You can sort it."), "It is easy."),
    ("quickly", "quickly", ("quickly",), "", False,
     ("You can quickly sort it.", "You can sort it."), "Its quick sort."),
    ("seamlessly", "seamlessly", ("seamlessly",), "", False,
     ("It seamlessly sorts lists.", "It sorts lists."), "Its seam."),
    ("effortlessly", "effortlessly", ("effortlessly",), "", False,
     ("It effortlessly sorts lists.", "It sorts lists."), "Its effort."),
    ("conveniently", "conveniently", ("conveniently",), "", False,
     ("It conveniently sorts lists.", "It sorts lists."), "Its convenient sort."),
    ("powerful", "powerful", ("powerful",), "", False,
     ("Its powerful search.", "Its search."), "Its power of a search."),
    ("user-friendly", "friendly", ("user-friendly",), "", False,
     ("Its user-friendly search.", "Its search."), "Its user of a search."),
    ("easy-to-use", "easy", ("easy-to-use",), "", False,
     ("Its easy-to-use search.", "Its search."), "It is easy to use."),
    ("state-of-the-art", "art edge", ("state-of-the-art", "cutting-edge"), "", False,
     ("Its state-of-the-art search.", "Its search."), "Its state of a search."),
    ("in-order-to", "order so", ("in order to", "so as to"), "to", False,
     ("Call it in order to sort.", "Call it to sort."), "Sort in order."),
    ("in-order-for", "order", ("in order for",), "for", False,
     ("Call it in order for a list.", "Call it for a list."), "In order of size."),
    ("for-the-purpose-of", "purpose purposes", ("for the purpose of", "for the purposes of", "with the purpose of"), "for", False,
     ("Call it for the purpose of sorting.", "Call it for sorting."), "Its purpose of sorting."),
    ("in-the-event-that", "event", ("in the event that",), "if", False,
     ("In the event that it fails, stop.", "If it fails, stop."), "Its event that failed."),
    ("due-to-the-fact", "fact", ("due to the fact that", "because of the fact that", "owing to the fact that"), "because", False,
     ("It fails due to the fact that it is long.", "It fails because it is long."), "It fails due to its length."),
    ("despite-the-fact", "despite spite", ("despite the fact that", "in spite of the fact that"), "although", False,
     ("It runs despite the fact that it is long.", "It runs although it is long."), "It runs despite its length."),
    ("at-this-point", "time", ("at this point in time", "at the present time",
        "at the current time"), "now", False,
     ("It is a list at this point in time.", "It is a list now."), "Stop at this point."),
    ("prior-to", "prior", ("prior to",), "before", False,
     ("Sort it prior to use.", "Sort it before use."), "Its prior list."),
    ("subsequent-to", "subsequent", ("subsequent to",), "after", False,
     ("Sort it subsequent to use.", "Sort it after use."), "Its subsequent call."),
    ("until-such-time", "until", ("until such time as",), "until", False,
     ("Wait until such time as it ends.", "Wait until it ends."), "Wait until it ends."),
    ("as-well-as", "well", ("as well as",), "and", False,
     ("Lists names as well as sizes.", "Lists names and sizes."), "It works well."),
    ("along-with", "along together", ("along with", "together with"), "with", False,
     ("Lists names along with sizes.", "Lists names with sizes."), "Go along a list."),
    ("in-conjunction-with", "conjunction combination", ("in conjunction with", "in combination with"), "with", False,
     ("Use it in conjunction with a name.", "Use it with a name."), "Its combination of names."),
    ("with-the-help-of", "help through", ("with the help of", "through the use of"), "with", False,
     ("Sort it with the help of a key.", "Sort it with a key."), "Its help of a key."),
    ("by-means-of", "means way", ("by means of", "by way of"), "by", False,
     ("Sort it by means of a key.", "Sort it by a key."), "It means a key."),
    ("on-the-basis-of", "basis", ("on the basis of",), "by", False,
     ("Sort it on the basis of size.", "Sort it by size."), "Its basis of it."),
    ("in-the-form-of", "form", ("in the form of",), "as", False,
     ("Gives it in the form of a list.", "Gives it as a list."), "Its form of it."),
    ("in-regard-to", "regard relation reference", ("in regard to", "with regard to", "in relation to",
        "with reference to"), "about", False,
     ("Data with regard to sizes.", "Data about sizes."), "Its relation to sizes."),
    ("for-the-sake-of", "sake", ("for the sake of",), "for", False,
     ("Sort it for the sake of order.", "Sort it for order."), "For its sake."),
    ("in-such-a-way-that", "way manner", ("in such a way that", "in a way that", "in a manner that"), "so", False,
     ("Sort it in such a way that it fits.", "Sort it so it fits."), "In a way, it fits."),
    ("a-number-of", "number", ("a number of",), "several", False,
     ("Lists a number of names.", "Lists several names."), "Its number of names."),
    ("a-large-number-of", "number range variety great", ("a large number of", "a wide range of",
        "a wide variety of", "a great deal of"), "many", False,
     ("Lists a large number of names.", "Lists many names."), "Its large number."),
    ("a-variety-of", "variety", ("a variety of",), "various", False,
     ("Lists a variety of names.", "Lists various names."), "Its variety of it."),
    ("the-majority-of", "majority", ("the majority of", "the vast majority of"), "most", False,
     ("Lists the majority of names.", "Lists most names."), "Its majority vote."),
    ("a-list-of-all", "list", ("a list of all", "the list of all"), "all", False,
     ("Returns a list of all names.", "Returns all names."), "Returns a list of names."),
    ("each-and-every", "every", ("each and every",), "each", False,
     ("Sorts each and every list.", "Sorts each list."), "Each and all."),
    ("any-and-all", "any", ("any and all",), "all", False,
     ("Sorts any and all lists.", "Sorts all lists."), "Any of all."),
    ("and-so-on", "so", ("and so on", "and so forth"), "etc", False,
     ("Names, sizes, and so on.", "Names, sizes, etc."), "And so it is."),
    ("make-use-of", "make", ("make use of",), "use", False,
     ("You can make use of it.", "You can use it."), "Make it."),
    ("makes-use-of", "makes", ("makes use of",), "uses", False,
     ("It makes use of a key.", "It uses a key."), "It makes a key."),
    ("making-use-of", "making", ("making use of",), "using", False,
     ("Sorts making use of a key.", "Sorts using a key."), "Making a key."),
    ("perform-a-search", "perform do", ("perform a search", "perform a search for", "do a search for"), "search", False,
     ("Perform a search of names.", "Search of names."), "Perform a sort."),
    ("is-able-to", "able ability", ("is able to", "are able to", "has the ability to", "have the ability to"), "can", False,
     ("It is able to sort.", "It can sort."), "It is able."),
    ("will-be-able-to", "able", ("will be able to",), "can", False,
     ("You will be able to sort.", "You can sort."), "It will sort."),
    ("provides-the-ability", "provides provide", ("provides the ability to", "provide the ability to"), "can", False,
     ("It provides the ability to sort.", "It can sort."), "It provides a list."),
    ("is-going-to", "going", ("is going to", "are going to"), "will", False,
     ("It is going to sort.", "It will sort."), "It is going."),
    ("allows-you-to", "allows enables ability possible", ("allows you to", "enables you to",
        "gives you the ability to", "makes it possible to"), "lets you", False,
     ("It allows you to sort.", "It lets you sort."), "It allows sorting."),
    ("allow-you-to", "allow enable", ("allow you to", "enable you to"), "let you", False,
     ("They allow you to sort.", "They let you sort."), "Allow it."),
    ("allows-users-to", "allows enables", ("allows users to", "enables users to", "allows the user to",
        "enables the user to"), "lets users", False,
     ("It allows users to sort.", "It lets users sort."), "It allows users."),
    ("that-can-be-used-to", "used", ("that can be used to", "which can be used to", "that may be used to"), "to", False,
     ("Its key that can be used to sort.", "Its key to sort."), "Its key that can sort."),
    ("that-is-used-to", "used", ("that is used to", "which is used to", "that are used to", "which are used to"), "to", False,
     ("Its key that is used to sort.", "Its key to sort."), "Its key that is used."),
    ("that-is-used-for", "used", ("that is used for", "which is used for", "that are used for", "to be used for"), "for", False,
     ("Its key that is used for sorting.", "Its key for sorting."), "Its key for sorting."),
    ("that-is-used-as", "used", ("that is used as", "to be used as", "which is used as"), "as", False,
     ("Its name that is used as a key.", "Its name as a key."), "Its name as a key."),
    ("can-be-used-to", "used", ("can be used to", "may be used to", "could be used to"), "can", False,
     ("Keys can be used to sort.", "Keys can sort."), "Keys can be used."),
    ("that-you-want-to", "want would wish", ("that you want to", "that you would like to", "which you want to",
        "that you wish to"), "to", False,
     ("Its list that you want to sort.", "Its list to sort."), "Do you want to sort it?"),
    ("it-is-possible-to", "possible", ("it is possible to", "it's possible to"), "you can", False,
     ("It is possible to sort it.", "You can sort it."), "It is possible."),
    ("unique-identifier", "unique", ("unique identifier", "unique id"), "ID", False,
     ("Unique identifier of a list.", "ID of a list."), "Unique names."),
    ("the-specified", "specified provided desired", ("the specified", "the provided", "the desired"), "the", False,
     ("Sorts the specified list.", "Sorts list."), "As specified."),
    ("the-given", "given", ("the given",), "the", False,
     ("Sorts the given list.", "Sorts list."), "It is given."),
    ("a-specified", "specified given specific particular", ("a specified", "a given", "a specific", "a particular"), "a", False,
     ("Sorts a specific list.", "Sorts a list."), "Something specific."),
    ("the-specific", "specific particular", ("the specific", "the particular"), "the", False,
     ("Sorts the specific list.", "Sorts list."), "Be specific."),
    ("for-a-given", "given", ("of the given", "in the given"), "of the", False,
     ("Size of the given list.", "Size of list."), "Given."),
    ("currently-authenticated", "currently", ("currently authenticated", "currently logged-in"), "authenticated", False,
     ("Its currently authenticated user.", "Its authenticated user."), "Currently open."),
    ("detailed-information", "detailed", ("detailed information about", "detailed information on",
        "detailed information for"), "details of", False,
     ("Get detailed information about a list.", "Get details of a list."), "Information about a list."),
    ("located-in", "located", ("located in", "that is located in", "which is located in"), "in", False,
     ("Lists located in a folder.", "Lists in a folder."), "It is located."),
    ("located-at", "located", ("located at", "that is located at"), "at", False,
     ("Its list located at a path.", "Its list at a path."), "Locate it."),
    ("belonging-to", "belonging belong belongs", ("belonging to", "that belong to", "that belongs to",
        "which belong to"), "of", False,
     ("Lists belonging to a user.", "Lists of a user."), "They belong to a user."),
    ("in-question", "question", ("in question",), "", False,
     ("Sorts a list in question.", "Sorts a list."), "Its question in a list."),
    ("indicating-whether", "indicating indicate control", ("a flag indicating whether", "flag indicating whether",
        "a value indicating whether", "flag to indicate whether", "flag to control whether"), "whether", False,
     ("Flag indicating whether it is open.", "Whether it is open."), "It says whether it is open."),
    ("specifies-whether", "specifies indicates determines controls defines", ("specifies whether",
        "indicates whether", "determines whether", "controls whether", "defines whether"), "whether", True,
     ("Specifies whether it is open.", "Whether it is open."), "Its key says whether it is open."),
    ("specifies-the", "specifies indicates represents defines denotes", ("specifies the", "indicates the",
        "represents the", "defines the", "denotes the"), "the", True,
     ("Specifies the size of a list.", "Size of a list."), "Its key specifies a size."),
    ("this-parameter", "this", ("this parameter specifies", "this field specifies",
        "this option specifies", "this parameter is", "this field contains", "this field is",
        "this parameter defines", "this property specifies", "this parameter indicates"), "", True,
     ("This parameter specifies the size.", "Size."), "This parameter must be set."),
    ("this-is-the", "this", ("this is the", "this represents the"), "the", True,
     ("This is the size of a list.", "Size of a list."), "Is it the last size?"),
    ("this-is-a", "this", ("this is a", "this represents a"), "a", True,
     ("This is a list of names.", "List of names."), "Is this a list?"),
    ("the-parameter-to", "parameter specify", ("parameter to specify", "parameter specifying", "option to specify",
        "used to specify"), "", True,
     ("Parameter to specify the size.", "Size."), "It is used to specify a size."),
    ("as-a-result", "result consequence", ("as a result,", "as a consequence,"), "so", False,
     ("It is long. As a result, it fails.", "It is long. So it fails."), "It comes as a result."),
    ("the-fact-that", "fact", ("the fact that",), "that", False,
     ("Shows the fact that it is long.", "Shows that it is long."), "Its fact."),
    ("article", "the", ("the",), "", False,
     ("Sorts the list by the key.", "Sorts list by key."), "Sorts the last of the `k` lists."),
    ("opening-article", "the a an", ("the", "a", "an"), "", True,
     ("The size of a list.", "Size of a list."), "The only list."),
)  # fmt: skip

#: Articles stay before these: they make a difference there.
ARTICLE_STAYS = frozenset(
    "only same last first second third latest newest oldest most least best next previous other others rest "
    "following above below more less fewer whole entire exact current original given way moment beginning end "
    "start future past few lot".split()
)

#: Words that are one token with and without a leading blank, capitalised or not, in both encodings: they may open a
#: line.
PLAIN = frozenset(
    "the this that a an it if to use list get set create update delete add remove return returns search find read "
    "write show run start stop send check open close call make all each one you for in on by with from when where "
    "what how why no not can will whether name names number size path file files user users type value values "
    "data text id key max min new old total so now because although before after until many most "
    "search using uses and as at of whether about".split()
)


def fillers() -> tuple[Filler, ...]:
    """The table as records, what a tool says about itself first.

    >>> fillers()[0].before[3], len(fillers()) > 104
    ('this tool allows you to', True)
    """
    rows: list[Row] = [
        (
            f"this-{noun}", "this", tuple([f"this {noun} {service}" for service in SERVICES]), "", True,
            (f"This {noun} allows you to list orders.", "List orders."), f"This {noun} must be called first.",
        )
        for noun in NOUNS
    ]  # fmt: skip
    return tuple(
        Filler(id=id, words=words, before=before, after=after, opening=opening, example=example, stays=stays)
        for id, words, before, after, opening, example, stays in (*rows, *ROWS)
    )
