"""tscg for LangChain: turns LangChain tools into a compiled catalog and model output into tool calls."""
