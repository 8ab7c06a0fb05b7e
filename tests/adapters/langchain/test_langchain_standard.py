"""The standard tests that LangChain gives to integrations, on a compressed model in each mode: those of a class alone,
and those that ask a model, over the real clients against a provider on the loopback address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from langchain_tscg import CompressedChatModel
from tests.adapters.langchain.models import StreamingChatModel, client
from tests.adapters.provider import Answer, Provider, View
from tests.adapters.worker import RESULT, call

# Catalogs of one tool are smaller than what is said about calling.
pytestmark = pytest.mark.filterwarnings("ignore:.* mode sends .* as JSON:tscg.TscgWarning")


class Standard(ChatModelUnitTests):
    mode = ""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return CompressedChatModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"inner": StreamingChatModel(), "mode": self.mode}

    @property
    def has_tool_calling(self) -> bool:
        return True


class TestNative(Standard):
    mode = "native"


class TestText(Standard):
    mode = "text"


class TestDispatch(Standard):
    mode = "dispatch"


# --- over the wire ---------------------------------------------------------------------------------------------------

JOKE = '{"setup": "Why do cats purr?", "punchline": "They can."}'
CALLS = {
    "magic_function": '{"input": 3}',
    "magic_function_no_args": "{}",
    "get_weather": '{"location": "San Francisco, CA"}',
    "greeting_generator": '{"answer_style": "Pirate"}',
    "my_adder_tool": '{"a": 3, "b": 4}',
    "Joke": JOKE,
    "JokeDict": JOKE,
}


def answer(view: View) -> Answer:
    """What a model says in these tests: it calls a tool when it has one and is asked, and else it talks."""
    asked = view.turns[-1]
    if asked.role != "user" or RESULT in asked.text:
        return Answer(text="It is done.")
    calls = {**CALLS, "unicode_customer": f'{{"customer_name": "{asked.text}", "description": "A customer"}}'}
    for name, arguments in calls.items():
        made = call(view, name, arguments)
        if not isinstance(made, str):
            return Answer(calls=(made,))
        if arguments in made:
            return Answer(text=made)
    return Answer(text="Hello. How are you?")


PROVIDER = Provider(answer, alternate=False)  # these tests say two things in a row


@pytest.fixture(scope="module", autouse=True)
def served() -> Iterator[None]:
    PROVIDER.start()
    yield
    PROVIDER.close()
    assert PROVIDER.broken == []


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
class Wire(ChatModelIntegrationTests):
    """Skipped are images, audio and documents (they come from the network), JSON mode (a matter of the inner model),
    Anthropic's own blocks, and the time of a stream (a recording)."""

    mode, dialect = "", ""

    @pytest.fixture
    def vcr(self) -> None:
        pytest.skip("a recording needs a real provider")

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return CompressedChatModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"inner": client(PROVIDER, self.dialect, temperature=0), "mode": self.mode}

    @property
    def has_tool_calling(self) -> bool:
        return True

    @property
    def structured_output_kwargs(self) -> dict[str, Any]:
        return {"method": "function_calling"}

    @property
    def model_override_value(self) -> str:
        return "fake-9"


class TestWireNativeOpenAI(Wire):
    mode, dialect = "native", "openai"


class TestWireTextOpenAI(Wire):
    mode, dialect = "text", "openai"


class TestWireDispatchOpenAI(Wire):
    mode, dialect = "dispatch", "openai"


class TestWireNativeAnthropic(Wire):
    mode, dialect = "native", "anthropic"

    @property
    def supports_anthropic_inputs(self) -> bool:
        return True


class TestWireTextAnthropic(TestWireNativeAnthropic):
    mode = "text"


class TestWireDispatchAnthropic(TestWireNativeAnthropic):
    mode = "dispatch"


class TestWireDispatchResponses(Wire):
    mode, dialect = "dispatch", "responses"


del Standard, ChatModelUnitTests, Wire, ChatModelIntegrationTests
