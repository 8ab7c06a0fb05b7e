"""How a catalog reaches the model: one module a mode."""
