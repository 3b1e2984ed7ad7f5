"""Where on the papers' pages an experiment or a claim is, its name there, and what makes its runs."""

from __future__ import annotations

import re

from manetlab_papers.ledger import Experiment, Ledger


def short_name(ledger: Ledger, paper: str) -> str:
    """A paper's authors and year, as tables name it."""
    return str(ledger.pages[paper]["title"]).partition(":")[0]


def chapter_of(experiment: Experiment) -> str:
    """The chapter of an experiment, from its name: ``fig-4.2`` is of 4, ``table-B.1`` of B."""
    found = re.search(r"-(\d+|[A-Z])\b", experiment.id)
    return found[1] if found else ""


def page_of(experiment: Experiment, ledger: Ledger) -> str:
    """The page that an experiment is on."""
    chapters = ledger.pages[experiment.paper].get("chapters")
    return f"{experiment.paper}-{chapter_of(experiment)}.md" if chapters else f"{experiment.paper}.md"


def heading(experiment: Experiment) -> str:
    """What an experiment is called on its page."""
    name = experiment.id.partition("/")[2]
    kind, _, rest = name.partition("-")
    words = {"fig": "Fig.", "table": "Table"}
    return f"{words[kind]} {rest}: {experiment.title}" if kind in words else experiment.title


def anchor(text: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def link_to(ledger: Ledger, claim: str) -> str:
    """A claim's number, which leads to its figure or table from another of the papers' pages."""
    experiment = ledger.experiments[ledger.claims[claim].experiment]
    return f"[{claim}]({page_of(experiment, ledger)}#{anchor(heading(experiment))})"


def command(ledger: Ledger, experiment: Experiment) -> str:
    """What makes the runs of an experiment at the paper's size."""
    short = experiment.id.partition("/")[2]
    same = [each for each in ledger.experiments if each.endswith(f"/{short}")]
    return f"manetlab papers reproduce {short if len(same) == 1 else experiment.id} --full"
