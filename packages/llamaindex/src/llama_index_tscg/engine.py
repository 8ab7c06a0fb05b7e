"""The four ways to call an LLM with tools, compressed: what the wrapper and the callback manager share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseAsyncGen, ChatResponseGen
from llama_index.core.llms import LLM
from llama_index.core.tools import BaseTool

from llama_index_tscg.approval import Approval
from llama_index_tscg.convert import WireMetadata, is_output, snapshot
from llama_index_tscg.plan import Planner, Settings, choice_of, facts_of
from llama_index_tscg.rounds import Exchange, Ledger

__all__ = ["Engine", "Request", "inside", "is_inside"]

WithTools: TypeAlias = Callable[..., ChatResponse]
AWithTools: TypeAlias = Callable[..., Awaitable[ChatResponse]]
StreamWithTools: TypeAlias = Callable[..., ChatResponseGen]
AStreamWithTools: TypeAlias = Callable[..., Awaitable[ChatResponseAsyncGen]]

FLAGS = ("verbose", "allow_parallel_tool_calls", "tool_required")  # positional upstream, in this order
_inside: ContextVar[bool] = ContextVar("llama_index_tscg_inside", default=False)


@contextmanager
def inside() -> Iterator[None]:
    """What an LLM is asked in here is a request of ours: nothing in it is compressed again."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def is_inside() -> bool:
    """Whether a request of ours is being made."""
    return _inside.get()


@dataclass(slots=True, kw_only=True)
class Request:
    """The arguments of a call with tools."""

    tools: Sequence[BaseTool]
    user_msg: str | ChatMessage | None = None
    chat_history: list[ChatMessage] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, tools: Sequence[BaseTool], user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None, *flags: bool, **kwargs: Any,
    ) -> Request:  # fmt: skip
        """The arguments as the methods of ``FunctionCallingLLM`` take them."""
        options = {**dict.fromkeys(FLAGS, False), **dict(zip(FLAGS, flags, strict=False)), **kwargs}
        return cls(tools=tools, user_msg=user_msg, chat_history=chat_history, options=options)

    @property
    def messages(self) -> list[ChatMessage]:
        """The conversation. The caller's list stays as it is; integrations append to it or lose the last message."""
        last = ChatMessage(self.user_msg, role="user") if isinstance(self.user_msg, str) else self.user_msg
        return [*(self.chat_history or ()), *([last] if last is not None else [])]

    @property
    def is_ours(self) -> bool:
        """Whether what it sends is compressed already."""
        return is_inside() or any(isinstance(tool.metadata, WireMetadata) for tool in self.tools)

    def given(self) -> dict[str, Any]:
        """The arguments as they were given."""
        return {
            "tools": self.tools, "user_msg": self.user_msg, "chat_history": self.chat_history, **self.options,
        }  # fmt: skip


class Engine:
    """Compresses calls of LLMs under some settings, and counts them. Thread-safe.

    Each of its four methods takes the LLM, the bound method of the same kind that sends tools uncompressed, and the
    request.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.planner, self.ledger = settings, Planner(settings), Ledger()
        self.approval = Approval(settings.lock, settings.on_drift)

    def begin(self, llm: LLM, request: Request) -> Exchange | None:
        """The rounds of a call; None for one that is left alone: no tools, or one that is forced already.

        ConfigError and CompileError for what cannot be sent, DriftError for what was not approved.
        """
        self.approval.check(request.tools)
        options = request.options
        if not request.tools:
            plan = self.planner.empty(facts_of(llm))
        elif len(request.tools) == 1 and _is_forced(request):
            return None
        else:
            read = snapshot(request.tools)
            choice = choice_of(options.get("tool_choice"), bool(options.get("tool_required")), read.by_name)
            strict = options.get("strict")
            plan = self.planner.plan(
                read, facts_of(llm), choice, parallel=bool(options.get("allow_parallel_tool_calls")),
                strict=bool(getattr(llm, "strict", False) if strict is None else strict),
            )  # fmt: skip
        if plan is None:
            return None
        return Exchange.begin(
            plan, snapshot(request.tools), request.messages, options, settings=self.settings, ledger=self.ledger
        )

    def chat(self, llm: LLM, with_tools: WithTools, request: Request) -> ChatResponse:
        """The answer of an LLM."""
        exchange = self.begin(llm, request)
        if exchange is None:
            with inside():
                return with_tools(**request.given())
        with closing(exchange):
            while True:
                with inside():
                    ask, arguments = _asked(exchange, llm.chat, with_tools)
                    response = ask(**arguments)
                done = exchange.finished(response)
                if done is not None:
                    return done

    async def achat(self, llm: LLM, with_tools: AWithTools, request: Request) -> ChatResponse:
        """The answer of an LLM."""
        exchange = self.begin(llm, request)
        if exchange is None:
            with inside():
                return await with_tools(**request.given())
        with closing(exchange):
            while True:
                with inside():
                    ask, arguments = _asked(exchange, llm.achat, with_tools)
                    response = await ask(**arguments)
                done = exchange.finished(response)
                if done is not None:
                    return done

    def stream(self, llm: LLM, with_tools: StreamWithTools, request: Request) -> ChatResponseGen:
        """The answer of an LLM as it comes; calls are in the last chunk."""
        exchange = self.begin(llm, request)
        if exchange is None:
            with inside():
                return with_tools(**request.given())
        return self._stream(exchange, llm, with_tools)

    def _stream(self, exchange: Exchange, llm: LLM, with_tools: StreamWithTools) -> ChatResponseGen:
        with closing(exchange):
            while not exchange.done:
                with inside():
                    ask, arguments = _asked(exchange, llm.stream_chat, with_tools)
                    chunks = ask(**arguments)
                reader = exchange.reader()
                for chunk in _each(chunks):
                    shown = reader.feed(chunk)
                    if shown is not None:
                        yield shown
                yield from exchange.ended(reader)

    async def astream(self, llm: LLM, with_tools: AStreamWithTools, request: Request) -> ChatResponseAsyncGen:
        """The answer of an LLM as it comes; calls are in the last chunk."""
        exchange = self.begin(llm, request)
        if exchange is None:
            with inside():
                return await with_tools(**request.given())
        return self._astream(exchange, llm, with_tools)

    async def _astream(self, exchange: Exchange, llm: LLM, with_tools: AStreamWithTools) -> ChatResponseAsyncGen:
        with closing(exchange):
            while not exchange.done:
                with inside():
                    ask, arguments = _asked(exchange, llm.astream_chat, with_tools)
                    chunks = await ask(**arguments)
                reader = exchange.reader()
                async with aclosing(_aeach(chunks)) as passed:
                    async for chunk in passed:
                        shown = reader.feed(chunk)
                        if shown is not None:
                            yield shown
                for rest in exchange.ended(reader):
                    yield rest


def _asked(exchange: Exchange, plain: Callable[..., Any], with_tools: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    """The method of a round with its arguments."""
    tools = exchange.tools
    if not tools:
        return plain, {"messages": exchange.messages, **exchange.options}
    # A list of its own: some integrations append to it.
    messages = list(exchange.messages)
    return with_tools, {"tools": tools, "user_msg": None, "chat_history": messages, **exchange.options}


def _each(chunks: ChatResponseGen) -> Generator[ChatResponse, None, None]:
    """The chunks of a stream, each made inside a request of ours; closed with whoever reads them."""
    with closing(chunks):
        while True:
            with inside():
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk


async def _aeach(chunks: ChatResponseAsyncGen) -> AsyncGenerator[ChatResponse, None]:
    async with aclosing(chunks):
        while True:
            with inside():
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            yield chunk


def _is_forced(request: Request) -> bool:
    """Whether a single tool is forced, or is none but the form of a structured answer."""
    if is_output(request.tools[0]):
        return True
    options = request.options
    name = request.tools[0].metadata.name
    choice = choice_of(options.get("tool_choice"), bool(options.get("tool_required")), {name: None} if name else {})
    return choice.kind in ("any", "tool")
