"""Measures what compiling a tool catalog does to how a model uses the tools.

:mod:`tasks <tscg_bench.tasks>` says what is asked and what is right, :mod:`conditions <tscg_bench.conditions>` what the
model is shown, :mod:`episode <tscg_bench.episode>` works on one task, :mod:`score <tscg_bench.score>` and
:mod:`stats <tscg_bench.stats>` say what came of it. :mod:`harness <tscg_bench.harness>` runs all of it on Inspect.
"""
