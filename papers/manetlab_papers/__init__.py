"""Experiments of five papers: what they claim, and what of it manetlab's models reproduce.

`ledger` reads what the papers did and say; `campaigns` makes what is run; `quantities` and `rules` judge it;
`record` keeps the verdicts. README.md says how to add an experiment.
"""
