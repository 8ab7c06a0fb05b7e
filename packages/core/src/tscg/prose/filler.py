"""English filler as data: what may go out of prose, what stands for it, and where it must stay.

A removed phrase holds no semantic atom: no negation, modal, number, condition or comparison, and no name. Each word
that is put in for a phrase is one token with a leading blank in o200k_base and cl100k_base, so no rewrite costs tokens.
"""

from __future__ import annotations

from typing import NamedTuple


class Filler(NamedTuple):
    """One pattern. ``before`` are lower-case phrases of whole words, a comma at the end belongs to the phrase.

    Each phrase holds one of ``words``, the least common of it: a text without them is not looked at. ``example`` shows the
    pattern at work, ``stays`` a text that it leaves alone. ``opening``: only where it begins a sentence.
    ``shared`` is what all of many phrases begin with.
    """

    id: str
    words: str
    before: tuple[str, ...]
    after: str
    example: tuple[str, str]
    stays: str
    opening: bool = False
    shared: str = ""


#: Verbs of "this tool ... you to"; every noun that catalogs call a tool by.
_NOUNS = ("tool", "function", "endpoint", "method", "operation", "command", "api", "action")


def _about_itself(noun: str) -> Filler:
    return Filler(
        f"this-{noun}",
        noun,
        tuple(
            f"this {noun} {verb}"
            for verb in (
                "can be used to",
                "is used to",
                "may be used to",
                "allows you to",
                "allows the user to",
                "allows users to",
                "lets you",
                "enables you to",
                "enables users to",
                "helps you to",
                "helps you",
                "helps to",
                "is designed to",
                "will",
                "provides the ability to",
                "provides a way to",
                "gives you the ability to",
                "is intended to",
            )
        ),
        "",
        (f"This {noun} allows you to list orders.", "List orders."),
        f"This {noun} must be called first.",
        opening=True,
        shared=f"this {noun} ",
    )


FILLER: tuple[Filler, ...] = (
    *(_about_itself(noun) for noun in _NOUNS),
    Filler("use-this-tool-to", "tool function endpoint", ("use this tool to", "use this function to", "use this endpoint to"), "",
           ("Use this tool to list orders.", "List orders."), "Use this tool with care.", opening=True),
    Filler("you-can-use-this", "tool endpoint", ("you can use this tool to", "you can use this endpoint to"), "",
           ("You can use this tool to list orders.", "List orders."), "You can use this tool twice.", opening=True),
    Filler("a-tool-to", "tool function", ("a tool to", "a tool for", "a tool that can", "a tool used to", "tool to",
            "a function to"), "",
           ("A tool to list orders.", "List orders."), "Its tool of a team.", opening=True),
    Filler("note-that", "note", ("note that", "please note that", "please note,"), "",
           ("Note that it is sorted.", "It is sorted."), "Add a note to it.", opening=True),
    Filler("should-be-noted", "should noting", ("it should be noted that", "it is worth noting that", "it's worth noting that"), "",
           ("It should be noted that it is sorted.", "It is sorted."), "It should be sorted.", opening=True),
    Filler("keep-in-mind", "keep bear", ("keep in mind that", "please keep in mind that", "bear in mind that"), "",
           ("Keep in mind that it is sorted.", "It is sorted."), "Keep a list.", opening=True),
    Filler("please", "please", ("please",), "", ("Please use the full path.", "Use full path."), "pleasefully yours"),
    Filler("kindly", "kindly", ("kindly",), "", ("Kindly use the full path.", "Use full path."), "Its kind of path."),
    Filler("feel-free-to", "feel", ("feel free to",), "", ("Feel free to use lists.", "Use lists."), "Its free list."),
    Filler("basically", "basically", ("basically", "basically,"), "",
           ("It is basically a list.", "It is a list."), "Its basic list."),
    Filler("essentially", "essentially", ("essentially", "essentially,"), "",
           ("It is essentially a list.", "It is a list."), "Its essential list."),
    Filler("simply", "simply", ("simply",), "", ("You simply call it.", "You call it."), "Its simple call."),
    Filler("actually", "actually", ("actually", "actually,"), "", ("It is actually sorted.", "It is sorted."),
        "Its actual list."),
    Filler("obviously", "obviously", ("obviously", "obviously,"), "",
           ("Obviously, it is a list.", "It is a list."), "Its obvious list."),
    Filler("of-course", "course", ("of course", "of course,"), "",
           ("Of course, it is a list.", "It is a list."), "Part of a course."),
    Filler("in-fact", "fact", ("in fact,", "in fact"), "", ("In fact, it is a list.", "It is a list."),
        "Its fact in a list."),
    Filler("indeed", "indeed", ("indeed,", "indeed"), "", ("It is indeed a list.", "It is a list."), "It is a list."),
    Filler("needless-to-say", "needless", ("needless to say,",), "",
           ("Needless to say, it is a list.", "It is a list."), "Say it."),
    Filler("in-other-words", "other", ("in other words,",), "",
           ("In other words, it is a list.", "It is a list."), "In other lists."),
    Filler("in-short", "short summary essence", ("in short,", "in summary,", "in essence,"), "",
           ("In short, it is a list.", "It is a list."), "In short form."),
    Filler("as-such", "such", ("as such,",), "", ("As such, it is a list.", "It is a list."), "Use it as such."),
    Filler("overall", "overall", ("overall,",), "", ("Overall, it is a list.", "It is a list."), "Its overall list."),
    Filler("in-addition", "addition", ("in addition,",), "", ("In addition, it is sorted.", "It is sorted."),
        "In addition to it."),
    Filler("additionally", "additionally", ("additionally,",), "",
           ("Additionally, it is sorted.", "It is sorted."), "Its additional list."),
    Filler("furthermore", "furthermore", ("furthermore,",), "", ("Furthermore, it is sorted.", "It is sorted."), "Go further."),
    Filler("moreover", "moreover", ("moreover,",), "", ("Moreover, it is sorted.", "It is sorted."), "One more list."),
    Filler("as-mentioned", "mentioned described noted", ("as mentioned above,", "as mentioned earlier,", "as described above,",
            "as noted above,"), "",
           ("As mentioned above, it is a list.", "It is a list."), "Its list mentioned above."),
    Filler("as-you-can-see", "see", ("as you can see,",), "",
           ("As you can see, it is a list.", "It is a list."), "You can see it."),
    Filler("for-convenience", "convenience", ("for your convenience,", "for convenience,"), "",
           ("For convenience, it is a list.", "It is a list."), "For a convenience store."),
    Filler("generally-speaking", "speaking", ("generally speaking,", "broadly speaking,"), "",
           ("Generally speaking, it is a list.", "It is a list."), "Its general list."),
    Filler("very", "very", ("very",), "", ("Its very long list.", "Its long list."), "Every long list."),
    Filler("really", "really", ("really",), "", ("Its really long list.", "Its long list."), "Its real list."),
    Filler("quite", "quite", ("quite",), "", ("Its quite long list.", "Its long list."), "Its quiet list."),
    Filler("easily", "easily", ("easily",), "", ("You can easily sort it.", "You can sort it."), "It is easy."),
    Filler("quickly", "quickly", ("quickly",), "", ("You can quickly sort it.", "You can sort it."), "Its quick sort."),
    Filler("seamlessly", "seamlessly", ("seamlessly",), "", ("It seamlessly sorts lists.", "It sorts lists."), "Its seam."),
    Filler("effortlessly", "effortlessly", ("effortlessly",), "", ("It effortlessly sorts lists.", "It sorts lists."), "Its effort."),
    Filler("conveniently", "conveniently", ("conveniently",), "",
           ("It conveniently sorts lists.", "It sorts lists."), "Its convenient sort."),
    Filler("powerful", "powerful", ("powerful",), "", ("Its powerful search.", "Its search."), "Its power of a search."),
    Filler("user-friendly", "friendly", ("user-friendly",), "",
           ("Its user-friendly search.", "Its search."), "Its user of a search."),
    Filler("easy-to-use", "easy", ("easy-to-use",), "", ("Its easy-to-use search.", "Its search."), "It is easy to use."),
    Filler("state-of-the-art", "state cutting", ("state-of-the-art", "cutting-edge"), "",
           ("Its state-of-the-art search.", "Its search."), "Its state of a search."),
    Filler("in-order-to", "order so", ("in order to", "so as to"), "to",
           ("Call it in order to sort.", "Call it to sort."), "Sort in order."),
    Filler("in-order-for", "order", ("in order for",), "for",
           ("Call it in order for a list.", "Call it for a list."), "In order of size."),
    Filler("for-the-purpose-of", "purpose purposes", ("for the purpose of", "for the purposes of", "with the purpose of"), "for",
           ("Call it for the purpose of sorting.", "Call it for sorting."), "Its purpose of sorting."),
    Filler("in-the-event-that", "event", ("in the event that",), "if",
           ("In the event that it fails, stop.", "If it fails, stop."), "Its event that failed."),
    Filler("due-to-the-fact", "fact", ("due to the fact that", "because of the fact that", "owing to the fact that"),
        "because",
           ("It fails due to the fact that it is long.", "It fails because it is long."),
           "It fails due to its length."),
    Filler("despite-the-fact", "despite spite", ("despite the fact that", "in spite of the fact that"), "although",
           ("It runs despite the fact that it is long.", "It runs although it is long."),
           "It runs despite its length."),
    Filler("at-this-point", "point present current", ("at this point in time", "at the present time", "at the current time"), "now",
           ("It is a list at this point in time.", "It is a list now."), "Stop at this point."),
    Filler("prior-to", "prior", ("prior to",), "before", ("Sort it prior to use.", "Sort it before use."), "Its prior list."),
    Filler("subsequent-to", "subsequent", ("subsequent to",), "after",
           ("Sort it subsequent to use.", "Sort it after use."), "Its subsequent call."),
    Filler("until-such-time", "until", ("until such time as",), "until",
           ("Wait until such time as it ends.", "Wait until it ends."), "Wait until it ends."),
    Filler("as-well-as", "well", ("as well as",), "and",
           ("Lists names as well as sizes.", "Lists names and sizes."), "It works well."),
    Filler("along-with", "along together", ("along with", "together with"), "with",
           ("Lists names along with sizes.", "Lists names with sizes."), "Go along a list."),
    Filler("in-conjunction-with", "conjunction combination", ("in conjunction with", "in combination with"), "with",
           ("Use it in conjunction with a name.", "Use it with a name."), "Its combination of names."),
    Filler("with-the-help-of", "help through", ("with the help of", "through the use of"), "with",
           ("Sort it with the help of a key.", "Sort it with a key."), "Its help of a key."),
    Filler("by-means-of", "means way", ("by means of", "by way of"), "by",
           ("Sort it by means of a key.", "Sort it by a key."), "It means a key."),
    Filler("on-the-basis-of", "basis", ("on the basis of",), "by",
           ("Sort it on the basis of size.", "Sort it by size."), "Its basis of it."),
    Filler("in-the-form-of", "form", ("in the form of",), "as",
           ("Gives it in the form of a list.", "Gives it as a list."), "Its form of it."),
    Filler("in-regard-to", "regard relation reference", ("in regard to", "with regard to", "in relation to", "with reference to"), "about",
           ("Data with regard to sizes.", "Data about sizes."), "Its relation to sizes."),
    Filler("for-the-sake-of", "sake", ("for the sake of",), "for",
           ("Sort it for the sake of order.", "Sort it for order."), "For its sake."),
    Filler("in-such-a-way-that", "way manner", ("in such a way that", "in a way that", "in a manner that"), "so",
           ("Sort it in such a way that it fits.", "Sort it so it fits."), "In a way, it fits."),
    Filler("a-number-of", "number", ("a number of",), "several",
           ("Lists a number of names.", "Lists several names."), "Its number of names."),
    Filler("a-large-number-of", "number range variety great", ("a large number of", "a wide range of", "a wide variety of",
            "a great deal of"), "many",
           ("Lists a large number of names.", "Lists many names."), "Its large number."),
    Filler("a-variety-of", "variety", ("a variety of",), "various",
           ("Lists a variety of names.", "Lists various names."), "Its variety of it."),
    Filler("the-majority-of", "majority", ("the majority of", "the vast majority of"), "most",
           ("Lists the majority of names.", "Lists most names."), "Its majority vote."),
    Filler("a-list-of-all", "list", ("a list of all", "the list of all"), "all",
           ("Returns a list of all names.", "Returns all names."), "Returns a list of names."),
    Filler("each-and-every", "every", ("each and every",), "each",
           ("Sorts each and every list.", "Sorts each list."), "Each and all."),
    Filler("any-and-all", "any", ("any and all",), "all", ("Sorts any and all lists.", "Sorts all lists."), "Any of all."),
    Filler("and-so-on", "so", ("and so on", "and so forth"), "etc",
           ("Names, sizes, and so on.", "Names, sizes, etc."), "And so it is."),
    Filler("make-use-of", "make", ("make use of",), "use", ("You can make use of it.", "You can use it."), "Make it."),
    Filler("makes-use-of", "makes", ("makes use of",), "uses", ("It makes use of a key.", "It uses a key."),
        "It makes a key."),
    Filler("making-use-of", "making", ("making use of",), "using",
           ("Sorts making use of a key.", "Sorts using a key."), "Making a key."),
    Filler("perform-a-search", "search", ("perform a search", "perform a search for", "do a search for"), "search",
           ("Perform a search of names.", "Search of names."), "Perform a sort."),
    Filler("is-able-to", "able ability", ("is able to", "are able to", "has the ability to", "have the ability to"), "can",
           ("It is able to sort.", "It can sort."), "It is able."),
    Filler("will-be-able-to", "able", ("will be able to",), "can",
           ("You will be able to sort.", "You can sort."), "It will sort."),
    Filler("provides-the-ability", "provides provide", ("provides the ability to", "provide the ability to"), "can",
           ("It provides the ability to sort.", "It can sort."), "It provides a list."),
    Filler("is-going-to", "going", ("is going to", "are going to"), "will",
           ("It is going to sort.", "It will sort."), "It is going."),
    Filler("allows-you-to", "allows enables ability possible", ("allows you to", "enables you to", "gives you the ability to",
            "makes it possible to"), "lets you",
           ("It allows you to sort.", "It lets you sort."), "It allows sorting."),
    Filler("allow-you-to", "allow enable", ("allow you to", "enable you to"), "let you",
           ("They allow you to sort.", "They let you sort."), "Allow it."),
    Filler("allows-users-to", "allows enables", ("allows users to", "enables users to", "allows the user to",
            "enables the user to"), "lets users",
           ("It allows users to sort.", "It lets users sort."), "It allows users."),
    Filler("that-can-be-used-to", "used", ("that can be used to", "which can be used to", "that may be used to"), "to",
           ("Its key that can be used to sort.", "Its key to sort."), "Its key that can sort."),
    Filler("that-is-used-to", "used", ("that is used to", "which is used to", "that are used to", "which are used to"), "to",
           ("Its key that is used to sort.", "Its key to sort."), "Its key that is used."),
    Filler("that-is-used-for", "used", ("that is used for", "which is used for", "that are used for", "to be used for"),
        "for",
           ("Its key that is used for sorting.", "Its key for sorting."), "Its key for sorting."),
    Filler("that-is-used-as", "used", ("that is used as", "to be used as", "which is used as"), "as",
           ("Its name that is used as a key.", "Its name as a key."), "Its name as a key."),
    Filler("can-be-used-to", "used", ("can be used to", "may be used to", "could be used to"), "can",
           ("Keys can be used to sort.", "Keys can sort."), "Keys can be used."),
    Filler("that-you-want-to", "want would wish", ("that you want to", "that you would like to", "which you want to",
            "that you wish to"), "to",
           ("Its list that you want to sort.", "Its list to sort."), "Do you want to sort it?"),
    Filler("it-is-possible-to", "possible", ("it is possible to", "it's possible to"), "you can",
           ("It is possible to sort it.", "You can sort it."), "It is possible."),
    Filler("unique-identifier", "unique", ("unique identifier", "unique id"), "ID",
           ("Unique identifier of a list.", "ID of a list."), "Unique names."),
    Filler("the-specified", "specified provided desired", ("the specified", "the provided", "the desired"), "the",
           ("Sorts the specified list.", "Sorts list."), "As specified."),
    Filler("the-given", "given", ("the given",), "the", ("Sorts the given list.", "Sorts list."), "It is given."),
    Filler("a-specified", "specified given specific particular", ("a specified", "a given", "a specific", "a particular"), "a",
           ("Sorts a specific list.", "Sorts a list."), "Something specific."),
    Filler("the-specific", "specific particular", ("the specific", "the particular"), "the",
           ("Sorts the specific list.", "Sorts list."), "Be specific."),
    Filler("for-a-given", "given", ("of the given", "in the given"), "of the",
           ("Size of the given list.", "Size of list."), "Given."),
    Filler("currently-authenticated", "currently", ("currently authenticated", "currently logged-in"), "authenticated",
           ("Its currently authenticated user.", "Its authenticated user."), "Currently open."),
    Filler("detailed-information", "detailed", ("detailed information about", "detailed information on",
            "detailed information for"), "details of",
           ("Get detailed information about a list.", "Get details of a list."), "Information about a list."),
    Filler("located-in", "located", ("located in", "that is located in", "which is located in"), "in",
           ("Lists located in a folder.", "Lists in a folder."), "It is located."),
    Filler("located-at", "located", ("located at", "that is located at"), "at",
           ("Its list located at a path.", "Its list at a path."), "Locate it."),
    Filler("belonging-to", "belonging belong belongs", ("belonging to", "that belong to", "that belongs to", "which belong to"), "of",
           ("Lists belonging to a user.", "Lists of a user."), "They belong to a user."),
    Filler("in-question", "question", ("in question",), "",
           ("Sorts a list in question.", "Sorts a list."), "Its question in a list."),
    Filler("indicating-whether", "indicating indicate control", ("a flag indicating whether", "flag indicating whether",
            "a value indicating whether", "flag to indicate whether", "flag to control whether"), "whether",
           ("Flag indicating whether it is open.", "Whether it is open."), "It says whether it is open."),
    Filler("specifies-whether", "specifies indicates determines controls defines", ("specifies whether", "indicates whether", "determines whether", "controls whether",
            "defines whether"), "whether",
           ("Specifies whether it is open.", "Whether it is open."), "Its key says whether it is open.",
               opening=True),
    Filler("specifies-the", "specifies indicates represents defines denotes", ("specifies the", "indicates the", "represents the", "defines the", "denotes the"), "the",
           ("Specifies the size of a list.", "Size of a list."), "Its key specifies a size.", opening=True),
    Filler("this-parameter", "parameter specifies field", ("this parameter specifies", "this field specifies", "this option specifies",
            "this parameter is", "this field contains", "this field is", "this parameter defines",
            "this property specifies", "this parameter indicates"), "",
           ("This parameter specifies the size.", "Size."), "This parameter must be set.", opening=True),
    Filler("this-is-the", "this", ("this is the", "this represents the"), "the",
           ("This is the size of a list.", "Size of a list."), "Is it the last size?", opening=True),
    Filler("this-is-a", "this", ("this is a", "this represents a"), "a",
           ("This is a list of names.", "List of names."), "Is this a list?", opening=True),
    Filler("the-parameter-to", "parameter specify", ("parameter to specify", "parameter specifying", "option to specify",
            "used to specify"), "",
           ("Parameter to specify the size.", "Size."), "It is used to specify a size.", opening=True),
    Filler("as-a-result", "result consequence", ("as a result,", "as a consequence,"), "so",
           ("It is long. As a result, it fails.", "It is long. So it fails."), "It comes as a result."),
    Filler("the-fact-that", "fact", ("the fact that",), "that",
           ("Shows the fact that it is long.", "Shows that it is long."), "Its fact."),
    Filler("article", "the", ("the",), "",
           ("Sorts the list by the key.", "Sorts list by key."), "Sorts the last of the `k` lists."),
    Filler("opening-article", "the a an", ("the", "a", "an"), "",
           ("The size of a list.", "Size of a list."), "The only list.", opening=True),
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
