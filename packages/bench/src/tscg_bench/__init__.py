"""Measures what compiling a tool catalog does to how a model uses the tools."""
