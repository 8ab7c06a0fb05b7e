"""The models that can drive the demo: recorded answers, or a server that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final, Protocol, runtime_checkable

from tscg.demo.requests import REQUESTS
from tscg.errors import ConfigError, TscgError

# A message of a chat as the provider's JSON has it.
Message = Mapping[str, Any]

RECORDED_MODES: Final = ("text", "native", "dispatch")
TIMEOUT_SECONDS: Final = 300
# Where `openai:NAME` and `ollama:NAME` are served when no base URL is given.
BASE_URLS: Final = {"openai": "https://api.openai.com/v1", "ollama": "http://localhost:11434/v1"}


class ModelError(TscgError):
    """A model cannot be reached, or answers something that is no chat completion."""


class ContextFullError(ModelError):
    """A conversation is longer than the model's context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model said: raw text or a message with native calls; why it stopped, and the tokens that the provider
    counted, where that is known."""

    output: str | Message
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class ChatModel(Protocol):
    """A model that continues a conversation."""

    @property
    def label(self) -> str:
        """What the screen calls this model."""
        ...

    @property
    def catalog_model(self) -> str | None:
        """The name under which `tscg.compile` looks for tokenizer and defaults, or None."""
        ...

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        """The next message; a ModelError if there is none."""
        ...


@runtime_checkable
class SchemaModel(ChatModel, Protocol):
    """A model that can be held to a JSON Schema: in text mode it writes calls that are valid, or an answer."""

    def held_to(self, schema: Mapping[str, Any]) -> ChatModel:
        """The same model that can only write JSON of a schema."""
        ...


# Told in a few words what a model is at; it stops where the answer is false.
Report = Callable[[str], bool]


@runtime_checkable
class WatchedModel(ChatModel, Protocol):
    """A model that takes its time, says what it is at, and can be stopped."""

    def watched(self, report: Report) -> ChatModel:
        """The same model, which tells `report` how far it is."""
        ...


class ReplayModel:
    """Answers from the records of this package, whatever the tools returned; no model is called.

    The records were written by hand, in the form in which a model answers.

    >>> replay = ReplayModel("text")
    >>> replay.answer([{"role": "user", "content": REQUESTS[2].prompt}], []).output[:11]
    '<tool_call>'
    """

    label = "replayed answers, no model was called"
    catalog_model = None

    def __init__(self, mode: str = "text") -> None:
        if mode not in RECORDED_MODES:
            hint = "give a real model with --model to try another mode"
            raise ConfigError(f"no answers are recorded for mode {mode!r}", allowed=RECORDED_MODES, hint=hint)
        self._mode = mode
        self._records = {(record["request"], record["turn"]): record["output"] for record in records(mode)}

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        """The recorded answer to the conversation's first request, at its turn."""
        asked = next(message["content"] for message in messages if message["role"] == "user")
        name = next((request.name for request in REQUESTS if request.prompt == asked), None)
        turn = sum(message["role"] == "assistant" for message in messages)
        if name is None or (name, turn) not in self._records:
            raise ModelError(f"no answer is recorded for this conversation (request {name}, turn {turn})")
        return Answer(output=self._records[name, turn])


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIModel:
    """A model behind an endpoint of OpenAI's chat completions, called with the standard library alone."""

    base_url: str
    name: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = TIMEOUT_SECONDS

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise ConfigError(f"base URL {self.base_url!r} is not an http or https URL")

    @property
    def label(self) -> str:
        """Name and place of the model."""
        return f"{self.name} at {self.base_url}"

    @property
    def catalog_model(self) -> str | None:
        """The model's own name."""
        return self.name

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        """Ask the endpoint; a ModelError says in one line what went wrong."""
        body: dict[str, Any] = {"model": self.name, "messages": [dict(message) for message in messages]}
        if tools:
            body["tools"] = [dict(tool) for tool in tools]
        if stop:
            body["stop"] = list(stop)[:4]  # The provider takes four at most.
        try:
            response = self._post(body)
        except ModelError as error:
            # Reasoning models refuse the parameter; it saves tokens and is not needed for a right answer.
            if not stop or "'stop'" not in str(error):
                raise
            response = self._post({key: value for key, value in body.items() if key != "stop"})
        return _read_completion(response, self.label)

    def _post(self, body: Mapping[str, Any]) -> Any:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        url = self.base_url.rstrip("/") + "/chat/completions"
        try:
            with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=self.timeout) as response:
                return json.loads(response.read())
        except HTTPError as error:
            raise ModelError(f"{self.label} answered {error.code}: {_reason(error.read())}") from error
        except (OSError, HTTPException) as error:
            raise ModelError(f"{self.label} cannot be reached: {getattr(error, 'reason', None) or error}") from error
        except ValueError as error:
            raise ModelError(f"{self.label} answered something that is not JSON") from error


def model_from_spec(spec: str | None, *, mode: str = "text", base_url: str | None = None) -> ChatModel:
    """The model that `--model` and `--base-url` name; None is the replay model.

    The key for a provider is read from the environment variable OPENAI_API_KEY, and a local server needs none.

    >>> model_from_spec("ollama:phi4").label
    'phi4 at http://localhost:11434/v1'
    """
    if spec is None:
        if base_url is not None:
            raise ConfigError("a base URL needs a model", hint="give --model openai:NAME as well")
        return ReplayModel(mode)
    provider, _, name = spec.partition(":")
    if provider not in BASE_URLS or not name:
        raise ConfigError(f"unknown model {spec!r}", allowed=[f"{known}:NAME" for known in BASE_URLS])
    key = os.environ.get("OPENAI_API_KEY") if provider == "openai" else None
    if provider == "openai" and base_url is None and not key:
        raise ConfigError("openai needs a key", hint="set OPENAI_API_KEY, or give --base-url for a server without one")
    return OpenAIModel(base_url=base_url or BASE_URLS[provider], name=name, api_key=key)


def records(mode: str) -> list[dict[str, Any]]:
    """The recorded answers of a mode: request, mode, turn (counted from 0) and output."""
    lines = files("tscg.demo").joinpath("records", f"{mode}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _read_completion(response: Any, label: str) -> Answer:
    try:
        choice = response["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        calls, text = message.get("tool_calls"), message.get("content")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ModelError(f"{label} answered something that is no chat completion") from error
    output = {"role": "assistant", "content": text, "tool_calls": calls} if calls else text or ""
    usage = response.get("usage") or {}
    return Answer(
        output=output, finish_reason=reason, input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
    )  # fmt: skip


def _reason(body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)["error"]
        text = found["message"] if isinstance(found, dict) else str(found)
    except (ValueError, KeyError, TypeError):
        text = text or "no reason given"
    return " ".join(text.split())[:300]
