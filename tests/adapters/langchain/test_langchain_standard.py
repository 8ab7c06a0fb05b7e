"""The standard tests that LangChain gives to integrations, on a compressed model in each mode."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_tests.unit_tests import ChatModelUnitTests

from langchain_tscg import CompressedChatModel
from tests.adapters.langchain.models import StreamingChatModel


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


del Standard, ChatModelUnitTests
