"""The command ``tscg``. Results go to standard output, everything else to standard error.

Exit codes: 0, 1 for a failure, 2 for a wrong use; ``diff`` gives 0 for equal, 1 for not, 2 on trouble. An error is one
line. What a command needs is imported when it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tscg.commands import approve, registry
from tscg.console import note, notes_for_warnings, show, working, write, write_json
from tscg.errors import ConfigError, TscgError, leaves
from tscg.proxy.command import SETTINGS, proxy
from tscg.sources import Unavailable, parse_json, read_source, read_text, source_of

if TYPE_CHECKING:
    from tscg import Catalog, CompiledCatalog, Policy

__all__ = ["app", "main"]

app = typer.Typer(
    name="tscg",
    help="Compiles the tools of an agent into a small exact prompt, and decodes what a model answers.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    # Importing rich for a page of help takes longer than all else.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# Commands, demos and models of the demo that come with other packages, and the package to install.
COMMANDS_GROUP, DEMOS_GROUP, MODELS_GROUP = "tscg.commands", "tscg.demos", "tscg.models"
COMMANDS = {"bench": "tscg-bench", "tune": "tscg-bench"}
DEMOS = {"langchain": "langchain-tscg", "llamaindex": "llama-index-tscg", "crewai": "crewai-tscg"}
# What another package's command may do with its arguments is its own business, --help included.
FOREIGN = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

INTERRUPTED = 130
# They judge: 1 says that there is something to see, so trouble is 2.
JUDGES = ("diff", "lint", "registry", "verify")

FILE = typer.Argument(metavar="FILE", help="JSON file with tools; - is standard input.", show_default=False)
File = Annotated[str | None, FILE]
Mcp = Annotated[str | None, typer.Option(metavar="COMMAND", help="Read the tools of the MCP server that this starts.")]
Url = Annotated[str | None, typer.Option(metavar="URL", help="Read the tools of an MCP server over HTTP.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Mode = Annotated[
    str | None, typer.Option(metavar="MODE", help="text (default), native, dispatch, code, passthrough or auto.")
]
Profile = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="lossless, conservative, balanced (default), brief, signature, aggressive or auto."
    ),
]
Model = Annotated[str | None, typer.Option(metavar="NAME", help="The model: picks tokenizer and defaults.")]
Tokenizer = Annotated[str | None, typer.Option(metavar="NAME", help="An encoding, or the path of a tokenizer.json.")]
Map = Annotated[str | None, typer.Option("--map", metavar="NAME", help="Map of dispatch: names, hybrid or signature.")]
Handles = Annotated[str | None, typer.Option(metavar="NAME", help="What the map names tools by: names or codes.")]
Group = Annotated[str | None, typer.Option(metavar="namespace", help="One wire tool for each namespace (dispatch).")]
Pin = Annotated[list[str] | None, typer.Option(metavar="TOOL", help="Keep a tool native; may be given several times.")]
Budget = Annotated[int | None, typer.Option(min=1, metavar="N", help="Most tokens that prompt and tools may take.")]


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        from tscg import __version__

        write(f"tscg {__version__}")
        raise typer.Exit


@app.command("compile", short_help="Compile a catalog and print the prompt.")
def compile_command(
    *,
    file: File = None,
    mcp: Mcp = None,
    url: Url = None,
    mode: Mode = None,
    map_: Map = None,
    handles: Handles = None,
    group: Group = None,
    pin: Pin = None,
    profile: Profile = None,
    model: Model = None,
    tokenizer: Tokenizer = None,
    budget: Budget = None,
    as_json: AsJson = False,
) -> None:
    """Compile a catalog and print the prompt; --json adds tools, counts and fingerprint."""
    options = _options(
        mode=mode, map=map_, handles=handles, group=group, pin=pin, profile=profile, model=model, tokenizer=tokenizer,
        budget=budget,
    )  # fmt: skip
    compiled = _compiled(_catalog(file, mcp, url), options)
    if as_json:
        with working("Counting tokens"):
            stats = compiled.stats.to_dict()
        found = {"text": compiled.text, "prompt": compiled.prompt, "wire_tools": list(compiled.wire_tools)}
        write_json({**found, "stats": stats, "fingerprint": compiled.fingerprint})
    elif compiled.prompt:
        write(compiled.prompt)
    else:
        note(f"there is no prompt in mode {compiled.mode}; --json prints the tools that are sent", "note")


@app.command(short_help="Read a catalog text back into tools.")
def decompile(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Catalog text; - is standard input.")],
    as_json: AsJson = False,
) -> None:
    """Read a catalog text back into tools; takes a whole prompt and the output of compile --json too."""
    import tscg
    from tscg.formats.write import render
    from tscg.modes.text import block_of
    from tscg.report import catalog_table

    text = read_text(file)
    if text.lstrip().startswith("{"):
        held = parse_json(text, file)
        inner = held.get("text") if isinstance(held, dict) else None
        text = inner if isinstance(inner, str) else text
    catalog = tscg.decompile(block_of(text))
    if as_json:
        write_json({"tools": [render(tool, "mcp") for tool in catalog]})
    else:
        show(catalog_table(catalog))


@app.command(short_help="Show what profiles, tools and operators cost.")
def report(
    *,
    file: File = None,
    mcp: Mcp = None,
    url: Url = None,
    mode: Mode = None,
    map_: Map = None,
    handles: Handles = None,
    group: Group = None,
    pin: Pin = None,
    profile: Profile = None,
    model: Model = None,
    tokenizer: Tokenizer = None,
    budget: Budget = None,
    html: Annotated[Path | None, typer.Option(metavar="OUT", help="Write the report as one page to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what each profile and each tool costs in tokens, and what each operator did; --html writes a page."""
    from tscg.report import report_of, report_tables

    options = _options(
        mode=mode, map=map_, handles=handles, group=group, pin=pin, profile=profile, model=model, tokenizer=tokenizer,
        budget=budget,
    )  # fmt: skip
    catalog = _catalog(file, mcp, url)
    compiled = _compiled(catalog, options)
    if html is not None:
        _write_page(html, catalog, compiled, options)
        if not as_json:
            return
    with working("Counting tokens in each profile"):
        found = report_of(catalog, compiled, options)
    if as_json:
        write_json(found.to_dict())
    else:
        show(*report_tables(found))


@app.command(short_help="Say which mode and profile fit a catalog.")
def recommend(
    *,
    file: File = None,
    mcp: Mcp = None,
    url: Url = None,
    model: Model = None,
    context: Annotated[int | None, typer.Option(min=1, metavar="N", help="The model's context in tokens.")] = None,
    native: Annotated[bool, typer.Option(help="Whether native calls are possible.")] = True,
    text: Annotated[bool, typer.Option(help="Whether calls in text are possible.")] = True,
    as_json: AsJson = False,
) -> None:
    """Say which mode and profile fit a catalog, and why."""
    from tscg.recommendation import recommend as advise
    from tscg.report import recommendation_table

    model = model if model is not None else _defaults().get("model")
    catalog = _catalog(file, mcp, url)
    with working("Compiling every candidate"):
        found = advise(catalog, model=model, context=context, native=native, text=text, policy=_policy())
    if as_json:
        write_json(found.to_dict())
    else:
        show(*recommendation_table(found))


@app.command(short_help="Show what changed between two catalogs.")
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="JSON file with tools; - is standard input.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="JSON file with tools; - is standard input.")],
    as_json: AsJson = False,
) -> None:
    """Show what changed between two catalogs: exit code 0 when they are equal, 1 when not, 2 on trouble."""
    from tscg.differences import diff as compare
    from tscg.report import diff_text

    _one_stdin(old, new)
    found = compare(_catalog(old), _catalog(new))
    if as_json:
        write_json(found.to_dict())
    else:
        write(diff_text(found))
    raise typer.Exit(1 if found else 0)


@app.command(short_help="Decode what a model answered.")
def decode(
    *,
    catalog: Annotated[str, typer.Argument(metavar="CATALOG", help="JSON file with tools; - is standard input.")],
    output: Annotated[
        str, typer.Argument(metavar="OUTPUT", help="What the model answered: text, or a message as JSON; - as above.")
    ],
    mode: Mode = None,
    map_: Map = None,
    handles: Handles = None,
    group: Group = None,
    pin: Pin = None,
    profile: Profile = None,
    model: Model = None,
    finish_reason: Annotated[str | None, typer.Option(metavar="REASON", help="Why the model stopped.")] = None,
    as_json: AsJson = False,
) -> None:
    """Decode what a model answered into calls, lookups and errors."""
    from tscg.report import decoded_dict, decoded_text

    _one_stdin(catalog, output)
    options = _options(
        mode=mode, map=map_, handles=handles, group=group, pin=pin, profile=profile, model=model
    )  # fmt: skip
    compiled = _compiled(_catalog(catalog), options)
    decoded = compiled.decode(_message(read_text(output)), finish_reason=finish_reason)
    if as_json:
        write_json(decoded_dict(decoded))
    else:
        write(decoded_text(decoded))


@app.command(short_help="Watch a catalog being compiled and used.")
def demo(
    *,
    model: Annotated[
        str | None, typer.Option(metavar="SPEC", help="openai:NAME or ollama:NAME; without it answers are replayed.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Where the model is served.")] = None,
    gguf: Annotated[
        Path | None, typer.Option(metavar="PATH", help="A model file that runs on this machine (tscg-bench[local]).")
    ] = None,
    mode: Annotated[str, typer.Option(metavar="MODE", help="text, native or dispatch.")] = "text",
    profile: Annotated[str, typer.Option(metavar="NAME", help="As in compile.")] = "balanced",
    db: Annotated[Path | None, typer.Option(metavar="PATH", help="Database file, made if absent.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the temporary database where it is.")] = False,
    framework: Annotated[
        str | None, typer.Option(metavar="NAME", help="Run the demo of a framework's adapter.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was shown as JSON.")] = False,
) -> None:
    """Compile the tools of a real MCP server, let a model work on three requests, and run its calls."""
    from io import StringIO

    from rich.console import Console

    from tscg.demo import model_from_spec, run_demo

    run: Callable[..., int] = run_demo if framework is None else _plugin(DEMOS_GROUP, framework, DEMOS, "--framework")
    if gguf is not None and (model is not None or base_url is not None):
        raise ConfigError("--gguf given with --model or --base-url", hint="it is the model")
    if gguf is not None:
        load = _plugin(MODELS_GROUP, "gguf", {"gguf": "tscg-bench[local]"}, "model")
        with working(f"Loading {gguf.name}"):
            chosen = load(gguf)
    else:
        chosen = None if model is None and base_url is None else model_from_spec(model, mode=mode, base_url=base_url)
    screen = Console(file=StringIO(), width=120) if as_json else Console()
    code = run(screen, model=chosen, mode=mode, profile=profile, db=db, keep=keep)
    if isinstance(screen.file, StringIO):
        write_json({"exit_code": code, "shown": screen.file.getvalue().splitlines()})
    raise typer.Exit(code)


app.command(**SETTINGS)(proxy)


@app.command("bench", short_help="Measure models (package tscg-bench).", context_settings=FOREIGN)
def bench(context: typer.Context) -> None:
    """Measure how well models call compiled tools (package tscg-bench)."""
    raise typer.Exit(_plugin(COMMANDS_GROUP, "bench", COMMANDS, "command")(list(context.args)))


@app.command("tune", short_help="Find a model's profile (package tscg-bench).", context_settings=FOREIGN)
def tune(context: typer.Context) -> None:
    """Find the profile of a model on a catalog of one's own (package tscg-bench)."""
    raise typer.Exit(_plugin(COMMANDS_GROUP, "tune", COMMANDS, "command")(list(context.args)))


approve.register(app)
registry.register(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: the entry point of ``tscg`` and of ``python -m tscg``."""
    try:
        with notes_for_warnings():
            code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has gone; Python would complain again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    failure = 2 if arguments and arguments[0] in JUDGES else 1
    try:
        code = app(arguments or ["--help"], prog_name="tscg", standalone_mode=False)
    except (KeyboardInterrupt, Exception, BaseExceptionGroup) as error:
        cause = _cause(error)
        if isinstance(cause, BrokenPipeError):
            raise cause from None
        told = _told(cause, failure)
        if told is not None:
            return told
        if os.environ.get("TSCG_TRACEBACK"):
            raise
        said = f"unexpected {type(cause).__name__}: {cause}".removesuffix(": ")
        note(f"{said}; TSCG_TRACEBACK=1 shows where", "error")
        return failure
    if code == INTERRUPTED:  # what newer versions of typer make of it
        note("interrupted", "error")
    return code if isinstance(code, int) else 0


def _cause(error: BaseException) -> BaseException:
    """What is told of an error: of a group of them, which says nothing itself, one of ours, else the first."""
    found = list(leaves(error))
    return next((one for one in found if isinstance(one, TscgError)), found[0])


def _told(error: BaseException, failure: int) -> int | None:
    """Tell an error that has a line of its own; the exit status, None for any other error."""
    if isinstance(error, TscgError):
        note(str(error), "error")
        return 2 if isinstance(error, ConfigError) and not isinstance(error, Unavailable) else failure
    if isinstance(error, typer.Abort | KeyboardInterrupt):
        note("interrupted", "error")
        return INTERRUPTED
    # The parser's exceptions (unknown option, missing argument) live in different modules of different versions.
    if hasattr(error, "format_message"):
        note(f"{error.format_message()} (see tscg --help)", "error")
        return 2
    return None


def _defaults() -> dict[str, Any]:
    from dataclasses import asdict

    from tscg.defaults import read_defaults

    return {name: value for name, value in asdict(read_defaults(Path.cwd())).items() if value is not None}


def _options(**given: Any) -> dict[str, Any]:
    """The options of ``compile`` that were given, over those of the working folder's file."""
    from tscg.tokenizers import tokenizer_of

    dispatch = {name: value for name in ("map", "handles", "group") if (value := given.pop(name, None)) is not None}
    options = {**_defaults(), **{name: value for name, value in given.items() if value}}
    if dispatch:
        from tscg import Dispatch

        if given.get("mode") not in (None, "dispatch"):
            named = ", ".join(f"--{name}" for name in dispatch)
            raise ConfigError(f"{named} given with --mode {given['mode']}", hint="it goes with --mode dispatch")
        options["mode"] = Dispatch(**dispatch)
    if "pin" in options:
        options["pin"] = tuple(options["pin"])
    if options.get("profile") == "auto":
        options["profile"] = _policy() or "auto"
    tokenizer_of(options.get("tokenizer"))  # a wrong name is told before the work, not at the first count
    return options


def _policy() -> Policy | None:
    """The rows of the working folder's file, None where it has none."""
    from tscg.defaults import FILE

    path = Path.cwd() / FILE
    if not path.is_file():
        return None
    from tscg.policy import Policy

    found = Policy.load(path)
    return found if found.rows else None


def _catalog(file: str | None, mcp: str | None = None, url: str | None = None) -> Catalog:
    from tscg import Catalog

    source = source_of(file, mcp, url)
    with working(f"Reading {source.label}"):
        return Catalog.from_tools(read_source(source))


def _compiled(catalog: Catalog, options: dict[str, Any]) -> CompiledCatalog:
    import tscg

    with working(f"Compiling {len(catalog)} tools"):
        compiled = tscg.compile(catalog, **options)
    for warning in compiled.warnings:
        note(warning, "warning")
    return compiled


def _write_page(path: Path, catalog: Catalog, compiled: CompiledCatalog, options: dict[str, Any]) -> None:
    from tscg.page import html_of

    with working("Compiling and counting every mode, profile and budget"):
        page = html_of(catalog, compiled, options)
    try:
        path.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
    note(f"wrote {path}, {len(page):,} bytes")


def _one_stdin(first: str, second: str) -> None:
    if first == second == "-":
        raise ConfigError("standard input can be only one of the two files")


def _message(text: str) -> Any:
    """A provider's message where the text is one, else the text."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        found = parse_json(text, "OUTPUT")
    except TscgError:
        return text
    message = isinstance(found, dict) and bool({"role", "tool_calls", "content", "choices", "output"} & found.keys())
    return found if message else text


def _plugin(group: str, name: str, known: dict[str, str], what: str) -> Callable[..., Any]:
    """What another package offers under a name in an entry-point group."""
    from importlib.metadata import entry_points

    found = entry_points(group=group, name=name)
    if found:
        loaded: Callable[..., Any] = next(iter(found)).load()
        return loaded
    if name in known:
        raise Unavailable(f"{what} {name} is not installed", hint=f"install {known[name]}")
    raise ConfigError(f"unknown {what} {name!r}", allowed=tuple(known))


if __name__ == "__main__":
    main()
