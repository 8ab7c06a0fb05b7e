"""tscg for CrewAI: turns CrewAI tools into a compiled catalog and model output into tool calls."""
