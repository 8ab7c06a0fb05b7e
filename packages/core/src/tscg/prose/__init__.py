"""Prose as data: sentences, what they are for, English filler, and the gloss of a parameter."""

from __future__ import annotations
