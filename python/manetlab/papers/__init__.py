"""The five papers: what they claim, and what of it these models reproduce.

`ledger` reads what the papers did and say; `experiments` runs it; `verdicts` judges it; `record` keeps the
verdicts. docs/papers-how-to.md says how to add an experiment.
"""
