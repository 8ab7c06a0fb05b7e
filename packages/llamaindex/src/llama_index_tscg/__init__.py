"""tscg for LlamaIndex: turns LlamaIndex tools into a compiled catalog and model output into tool selections."""
