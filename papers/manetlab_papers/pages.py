"""The papers' pages: an index, a page for each paper, one for each chapter of a long one, causes, and charts.

All of it follows from kept results. The same results make the same bytes. The repository stores the index
and what a paper's page says in short, with the charts of that; the rest is made whenever it is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from manetlab.tables import Table
from manetlab_papers import causes, figures, record, summary, words
from manetlab_papers.addresses import anchor, chapter_of, command, heading, link_to, page_of, short_name
from manetlab_papers.charts import Strip, Title, height_of, svg_of_chart, svg_of_strips
from manetlab_papers.ledger import Data, Experiment, Ledger
from manetlab_papers.page import cost_table
from manetlab_papers.record import Entry
from manetlab_papers.reproduce import Study
from manetlab_papers.schedule import Remaining
from manetlab_papers.tables import TABLES, Grid, grids_of, with_panels_on

INDEX = "docs/papers.md"
RIGHT = "docs/what-the-papers-got-right.md"
FOLDER = "papers/pages"
FIGURES = f"{FOLDER}/charts"
CAUSES = "causes.md"
STRIPS = 34
"""Claims of a figure in one picture: two of them beside each other fill a screen."""
LONG = 12
"""Rows of a table that is folded."""
KEY = (
    "A dot is our value with its 95 % interval{sizes}. Grey is what is accepted, a diamond what is printed. "
    "Each line has a scale of its own. "
    "*within*: the whole interval is accepted; *touches*: a part of it, which is no proof; *reproduced*: an "
    "order, a sign or a rule holds, which have no band; *by construction*: the model was made from what is "
    "said; *wide*: the ends of what is accepted are so far apart that it asks for hardly more than the sign, "
    "or the magnitude. [More on verdicts](../how-to.md#how-to-read-a-verdict)."
)
SIZES = ": filled at the paper's full size, hollow from fewer or shorter runs (*quick*)"
COUNTED = "*Within*, *touches* and *no band* (an order, a sign or a rule) are reproduced."
ONLY_FULL = (
    " Verdicts of quick runs, with fewer or shorter runs than the paper's, do not count here: such claims "
    "are in the last column."
)
OUTCOMES = ("reproduced", "contradicted", "inconclusive", "by construction", "not tested")
WIDE = (
    "{wide} of the {count} claims that are as printed have a wide band, whose ends are a factor of four or "
    "more apart: it asks for hardly more than the sign, or the magnitude. Tables mark them."
)
BY_RULE = (
    "That is by each claim's rule, for which it suffices that an interval meets its band; the words above "
    "ask that the mean lies in it, and are decided after the correction."
)
UP_TO_DATE = (
    "`manetlab papers status` says which values rest on runs of an earlier version; `manetlab papers confirm "
    "--full` and `make reproduce` renew them."
)
FOOT = "*This page is made by `make papers-pages` from the results in `papers/kept`; do not edit it.*\n"
SHORT = (
    "This is the page in short. `make papers-pages` makes all of it, with every figure, table, claim and "
    "cause, in `out/pages`, and `make site` as part of the documentation. `manetlab papers show ID` prints "
    "what there is of a figure, a table or a claim, `manetlab papers causes ID` why a claim differs.\n"
)


@dataclass
class Site:
    """The files that are made, by their place in the repository.

    Attributes:
        ledger: The ledger.
        study: What follows from kept results.
        why: Why verdicts differ.
        left: What is left to run at full size.
        is_whole: All pages are made; else those that the repository stores.
        files: The files so far.
    """

    ledger: Ledger
    study: Study
    why: Sequence[causes.Cause]
    left: Remaining
    is_whole: bool = True
    files: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best = record.best(self.study.entries)
        self.words = words.of_all(self.ledger, self.best, self.why)
        self.overlays = figures.overlays(self.ledger, self.study.entries)
        # A table that several experiments share is under the first that it names.
        self.tables = {id(data): str(data["for"][0]) for data in self.ledger.tables}

    def picture(self, name: str, svg: str, text: str) -> str:
        """Keeps a chart's file; what shows it on a paper's page, with its text for who cannot see it."""
        path = f"{FIGURES}/{name}.svg"
        assert path not in self.files, path
        self.files[path] = svg
        return f"![{_plain(text)}](charts/{name}.svg)"

    def claim(self, claim: str) -> str:
        """A claim's number, which leads to its figure or table if that has a page."""
        return link_to(self.ledger, claim) if self.is_whole else claim

    def said(self, claim: str) -> str:
        """The word for a claim; of one that depends on a choice, with the values that give it."""
        return words.said(self.words[claim], claim, self.best.get(claim), self.why)

    def cause(self, cause: causes.Cause) -> str:
        """A cause's title, which leads to its text if that has a page."""
        return f"[{cause.title}]({CAUSES}#{cause.anchor})" if self.is_whole else cause.title

    def entries_of(self, experiment: Experiment) -> list[Entry]:
        """The verdicts on the claims that are drawn from an experiment."""
        return [self.best[each.id] for each in self.ledger.claims_of(experiment) if each.id in self.best]


def files(site: Site) -> dict[str, str]:
    """Makes all files of a site; by their place in the repository."""
    for paper in site.ledger.papers:
        write_paper(site, paper)
    if site.is_whole:
        site.files[f"{FOLDER}/{CAUSES}"] = causes.page(site.ledger, site.why, site.best)
    site.files[INDEX] = _index(site)
    site.files[RIGHT] = _right(site)
    return site.files


def write(folder: Path, made: Mapping[str, str]) -> list[Path]:
    """Writes the files under a folder, as in the repository, and removes charts and pages that are no more.

    Returns:
        The files that were written or removed because they differ.
    """
    differing = []
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            differing.append(path)
    for path in [*(folder / FIGURES).glob("*.svg"), *(folder / FOLDER).glob("*.md")]:
        if path.relative_to(folder).as_posix() not in made:
            path.unlink()
            differing.append(path)
    return differing


# A paper.


def write_paper(site: Site, paper: str) -> None:
    """Makes the pages of a paper and their charts."""
    experiments = [each for each in site.ledger.experiments.values() if each.paper == paper]
    about = site.ledger.pages[paper]
    chapters: Mapping[str, str] = about.get("chapters", {})
    lines = [f"# {about['title']}", "", f"{about['cite']}.", "", about["about"].strip(), ""]
    lines += [] if site.is_whole else [SHORT]
    lines += ["## What it says, and what comes out", "", *_headlines(site, paper)]
    lines += ["## All claims of first priority", "", *_points(site, paper)]
    lines += _first(site, paper, experiments)
    lines += ["## Counts at full size", "", _headline(site, paper), "", *_counts(site, paper)]
    lines += _differences(site, paper)
    if chapters and site.is_whole:
        lines += ["## Figures and tables by chapter", ""]
        for key, title in chapters.items():
            of = [each for each in experiments if chapter_of(each) == key]
            name = page_of(of[0], site.ledger)
            lines += [f"- [{title}]({name})"]
            site.files[f"{FOLDER}/{name}"] = "\n".join(_chapter(site, paper, title, of))
        lines.append("")
    elif site.is_whole:
        lines += _experiments(site, experiments)
    if site.is_whole:
        lines += [*_assumptions(site, experiments), *_runs(site, experiments)]
    site.files[f"{FOLDER}/{paper}.md"] = "\n".join([*lines, FOOT])


def _chapter(site: Site, paper: str, title: str, of: Sequence[Experiment]) -> list[str]:
    """The page of a chapter."""
    name = short_name(site.ledger, paper)
    lines = [f"# {title}", "", f"[{name}: the claims at a glance, and where they differ]({paper}.md).", ""]
    first = _of_first_priority(site, of)
    if first:
        stem = f"{paper}-{chapter_of(of[0])}-first"
        lines += ["## Claims of first priority", "", _key(site), "", _worded(site, first, stem), ""]
        lines += _details("As a table", _verdicts(site, first, linked=True))
    return [*lines, *_experiments(site, of), FOOT]


def _headlines(site: Site, paper: str) -> list[str]:
    """What the abstract and the conclusions say, with what comes out."""
    listed = summary.headlines_of(site.ledger, paper)
    table = summary.headline_table(site.ledger, listed, site.best, site.said, site.claim)
    return [
        "What abstract and conclusions say, printed → ours, and a verdict in one of six words "
        f"([what they mean](../how-to.md#in-one-of-six-words)). {UP_TO_DATE}",
        "",
        *_in_class("headlines", _without_title(table)),
    ]


def _points(site: Site, paper: str) -> list[str]:
    """What the paper says in a few points, with how many claims of each hold."""
    listed = summary.of_paper(site.ledger, paper)
    table = summary.table(listed, site.words, site.why, site.claim, site.cause)
    found = [site.words[claim] for each in listed for claim in each.claims]
    return [f"{words.counted(found)}.", "", *_in_class("points", _without_title(table))]


def _headline(site: Site, paper: str = "") -> str:
    return headline(record.headline(site.ledger, site.best, paper))


def headline(found: Mapping[str, int]) -> str:
    """How many claims have which outcome, in a sentence."""
    listed: list[str] = []
    for outcome in [each for each in OUTCOMES if found[each]]:
        quick = found[f"{outcome}, quick"]
        sizes = f" ({found[outcome] - quick} at full size, {quick} in quick runs)" if quick else ""
        listed.append(f"{found[outcome]} {'are ' if not listed else ''}{outcome}{sizes}")
    start = "Of" if found[record.ONLY_QUICK] else "At full size, of"
    return f"{start} {found['claims']} claims {', '.join(listed)}."


def _counts(site: Site, paper: str) -> list[str]:
    """The table of a paper's counts, by priority."""
    table = record.count_table(site.ledger, site.best, [paper])
    shown = Table("", table.columns[1:])
    for row in table.rows:
        shown.add(*row[1:])
    lines = _in_class("counts", _without_title(shown))
    return [*lines, COUNTED + (ONLY_FULL if _has_quick(site) else ""), ""]


def _key(site: Site) -> str:
    return KEY.format(sizes=SIZES if _has_quick(site) else "")


def _has_quick(site: Site) -> bool:
    """Whether only quick runs have tested some claim."""
    return bool(record.headline(site.ledger, site.best)[record.ONLY_QUICK])


def _in_class(name: str, lines: Sequence[str]) -> list[str]:
    """Lines that the site's style sheet knows by a name."""
    return [f'<div class="{name}" markdown>', "", *lines, "</div>", ""]


def _without_title(table: Table) -> list[str]:
    return [*table.to_markdown().splitlines()[2:], ""]


def _first(site: Site, paper: str, experiments: Sequence[Experiment]) -> list[str]:
    """The claims of first priority: strips; with their words where there are no chapters to have them."""
    lines = ["## Claims of first priority", "", _key(site), ""]
    chapters = site.ledger.pages[paper].get("chapters")
    first = _of_first_priority(site, experiments)
    as_table = _details("As a table", _verdicts(site, first, linked=True))
    if not chapters:
        return [*lines, _worded(site, first, f"{paper}-first"), "", *as_table]
    rows: list[Strip | Title] = []
    for key, title in chapters.items():
        of = _of_first_priority(site, [each for each in experiments if chapter_of(each) == key])
        if of:
            rows += [Title(title), *(figures.strip(site.ledger, each) for each in of)]
    return [*lines, _side_by_side(site, rows, f"{paper}-first"), "", *as_table]


def _of_first_priority(site: Site, experiments: Sequence[Experiment]) -> list[Entry]:
    return [
        entry
        for each in experiments
        for entry in site.entries_of(each)
        if site.ledger.claims[entry.claim].priority == 1
    ]


def _worded(site: Site, entries: Sequence[Entry], name: str) -> str:
    """Strips with what the paper says."""
    return _side_by_side(site, [figures.strip(site.ledger, each, words=True) for each in entries], name)


def _side_by_side(site: Site, rows: Sequence[Strip | Title], name: str) -> str:
    """Two pictures of about one height, which a page sets beside each other where there is room."""
    if height_of(rows) < 150:
        return _strip_picture(site, rows, name)
    count = next(
        number for number in range(1, len(rows) + 1) if 2 * height_of(rows[:number]) >= height_of(rows)
    )
    # A title stands above its claims.
    count -= isinstance(rows[count - 1], Title)
    halves = rows[:count], rows[count:]
    height = max(map(height_of, halves))
    return "\n".join(
        _strip_picture(site, half, f"{name}-{number}", height) for number, half in enumerate(halves, 1)
    )


def _strip_picture(site: Site, rows: Sequence[Strip | Title], name: str, height: int = 0) -> str:
    said = "; ".join(f"{each.label} {each.verdict}" for each in rows if isinstance(each, Strip))
    return site.picture(name, svg_of_strips(rows, f"Verdicts: {said}", height), f"Verdicts: {said}")


def _strips(site: Site, entries: Sequence[Entry], name: str) -> str:
    """Strips of a figure's claims, whose words stand below."""
    rows = [figures.strip(site.ledger, each) for each in entries]
    return _side_by_side(site, rows, name) if len(rows) > STRIPS // 2 else _strip_picture(site, rows, name)


def _details(summary: str, lines: Sequence[str]) -> list[str]:
    return ["<details markdown>", f"<summary>{summary}</summary>", "", *lines, "</details>", ""]


def _verdicts(site: Site, entries: Sequence[Entry], *, linked: bool = False) -> list[str]:
    # Under a figure all claims rest on the same runs, which it names.
    columns = (
        *("claim", "says", "printed", "accepted", "ours", "verdict", "by its rule"),
        *(["rests on"] if linked else []),
    )
    table = Table("", columns, text_columns=len(columns))
    for each in entries:
        claim = site.ledger.claims[each.claim]
        name = site.claim(claim.id) if linked else claim.id
        accepted = record.rule_text(site.ledger, claim) + (" (wide)" if words.is_wide(claim) else "")
        table.add(
            *(name, claim.statement, claim.expected, accepted, record.brief(each.ours, each.compared)),
            *(site.said(claim.id), record.verdict_and_reason(each)),
            *([record.size_text(each)] if linked else []),
        )
    return _in_class("claims", _without_title(table))


def _differences(site: Site, paper: str) -> list[str]:
    """The contradicted claims, each under the first of its causes."""
    listed = [
        each
        for each in site.best.values()
        if each.outcome == "contradicted" and site.ledger.claims[each.claim].paper == paper
    ]
    if not listed:
        return []
    by: dict[causes.Cause | None, list[Entry]] = {}
    for entry in listed:
        by.setdefault(next(iter(causes.of_claim(site.why, entry.claim)), None), []).append(entry)
    count = "1 claim is contradicted by its rule" if len(listed) == 1 else ""
    count = count or f"{len(listed)} claims are contradicted by their rules"
    lines = ["## Where it differs, and why", "", f"{count}.", ""]
    for cause in [*site.why, None]:
        if cause in by:
            lines += [*_cause(site, cause), *(_contradicted(site, each) for each in by[cause]), ""]
    return lines


def _cause(site: Site, cause: causes.Cause | None) -> list[str]:
    if cause is None:
        return ["**No cause is known yet**", ""]
    return [f"**{site.cause(cause)}** ({cause.because}). {cause.summary}", ""]


def _contradicted(site: Site, entry: Entry) -> str:
    claim = site.ledger.claims[entry.claim]
    printed, ours = claim.expected, record.brief(entry.ours, entry.compared)
    return (
        f"- {site.claim(claim.id)} (priority {claim.priority}; {site.said(claim.id)}): {claim.statement} "
        f"Printed: {printed}; ours: {ours}. {record.sentence(record.brief(entry.reason))}"
    ).rstrip()


# Experiments.


def _experiments(site: Site, experiments: Sequence[Experiment]) -> list[str]:
    lines: list[str] = []
    for each in experiments:
        if each.id in site.study.made:
            lines += _experiment(site, each)
    others = [each for each in experiments if each.id not in site.study.made]
    if others:
        lines += ["## Nothing to measure", ""]
        lines += [f"- {heading(each)}" for each in others if each.runs is None]
        lines += [f"- {heading(each)} (not run yet)" for each in others if each.runs is not None]
        lines.append("")
    return lines


def _experiment(site: Site, experiment: Experiment) -> list[str]:
    lines = [f"## {heading(experiment)}", "", f"*{_how(site, experiment)}*", ""]
    drawn, values, elsewhere = _drawn(site, experiment)
    lines += [*drawn, _made_by(site, experiment), ""]
    if elsewhere:
        links = [
            f"[{heading(each).partition(':')[0]}]({page_of(each, site.ledger)}#{anchor(heading(each))})"
            for each in elsewhere
        ]
        lines += [f"Values of the same runs are under {', '.join(links)}.", ""]
    entries = site.entries_of(experiment)
    if any(each.compared for each in entries):
        lines += [_strips(site, entries, f"{experiment.id.replace('/', '-')}-claims"), ""]
    if entries:
        lines += _verdicts(site, entries)
    if values:
        lines += _details("All values", values)
    return lines


def _drawn(site: Site, experiment: Experiment) -> tuple[list[str], list[str], list[Experiment]]:
    """The charts of an experiment, all its values, and the experiments under which others of its runs are."""
    evaluator = site.study.made[experiment.id].evaluator
    own = [data for data in site.ledger.figures if experiment.id in data["for"]]
    lines: list[str] = []
    values: list[str] = []
    elsewhere: dict[str, Experiment] = {}
    stem = experiment.id.replace("/", "-")
    for data in own:
        lines += _charts(site, data, list(grids_of(data, evaluator)), stem)
    for data in site.ledger.tables:
        if experiment.id not in data["for"]:
            continue
        home = site.tables[id(data)]
        if home != experiment.id and home in site.study.made:
            elsewhere[home] = site.ledger.experiments[home]
            drawn = with_panels_on(data, experiment.id)
            if drawn["panels"] and not own:
                lines += _charts(site, data, list(grids_of(drawn, evaluator)), stem)
        elif data.get("function") in TABLES:
            for table in TABLES[data["function"]](evaluator, data):
                # What is long is for who looks something up.
                (values if len(table.rows) > LONG else lines).extend(_titled(table))
        else:
            grids = list(grids_of(data, evaluator))
            values += [line for grid in grids for line in _titled(grid.table())]
            if not own:
                here = [grid for grid in grids if grid.on in ("", experiment.id)]
                lines += _charts(site, data, here, stem)
    return lines, values, list(elsewhere.values())


def _charts(site: Site, data: Data, grids: Sequence[Grid], stem: str) -> list[str]:
    pictures = []
    for grid in grids:
        for chart, claims in figures.charts_of(grid, site.overlays):
            number = sum(name.startswith(f"{FIGURES}/{stem}-n") for name in site.files) + 1
            printed = f". Diamonds: printed, {', '.join(dict.fromkeys(claims))}" if claims else ""
            pictures.append(site.picture(f"{stem}-n{number}", svg_of_chart(chart), f"{chart.text}{printed}"))
    notes = (
        [] if data in site.ledger.tables else [line for each in data.get("notes", ()) for line in (each, "")]
    )
    return [f"{data['title']}:", "", *pictures, "", *notes] if pictures else []


def _titled(table: Table) -> list[str]:
    return [f"**{table.title}**", "", *_without_title(table)]


def _how(site: Site, experiment: Experiment) -> str:
    """How much was run of the paper's."""
    made = site.study.made[experiment.id]
    found = record.extent(site.ledger, experiment, made.scale)
    if not found.size:
        return "No runs are needed."
    size = "Full size" if "full" in (found.size, made.scale.name) else "Quick"
    what = "" if size == "Full size" or not experiment.quick else f" ({experiment.quick})"
    return f"{size}: {found.scenarios} scenarios, {found.measured} measured{what}."


def _made_by(site: Site, experiment: Experiment) -> str:
    """The command that makes what is shown, and that of the paper's size if it is another."""
    full = command(site.ledger, experiment)
    scale = site.study.made[experiment.id].scale
    if record.extent(site.ledger, experiment, scale).size != "quick":
        return f"`{full}`"
    return f"`{full.replace('--full', '--quick')}` (at the paper's size: `--full`)"


def _assumptions(site: Site, experiments: Sequence[Experiment]) -> list[str]:
    """What the paper leaves open and what is assumed, each once."""
    uses: dict[str, list[str]] = {}
    for each in experiments:
        for name in each.unstated if each.runs is not None else ():
            uses.setdefault(name, []).append(each.id.partition("/")[2])
    if not uses:
        return []
    lines = ["## What the paper leaves open, and what is assumed", ""]
    table = Table("", ("parameter", "assumed", "why", "for"), text_columns=4)
    for name, of in uses.items():
        assumed = site.ledger.assumptions[name]
        where = ", ".join(of) if len(of) <= 4 else f"{len(of)} figures and tables"
        table.add(assumed.parameter, assumed.text, assumed.why, where)
    return [*lines, *_without_title(table)]


def _runs(site: Site, experiments: Sequence[Experiment]) -> list[str]:
    """What the runs cost that this page rests on, and which code made them."""
    names = {name for each in experiments for name in site.left.campaigns.get(each.id, ())}
    costs = {}
    for name in sorted(names):
        for scale in record.SCALES:
            if (scale, name) in site.study.costs:
                cost = site.study.costs[scale, name]
                makers = frozenset(each.partition(", confirmed")[0] for each in cost.code)
                costs[f"{name}, {scale}"] = replace(cost, code=makers)
                break
    if not costs:
        return []
    lines = _without_title(cost_table(costs))
    return ["## What the runs cost", "", *_details("By campaign, and the code that made them", lines)]


# The index.


def _index(site: Site) -> str:
    """The index of the documentation: each paper in a sentence, and where to read on."""
    lines = [
        "# Five papers",
        "",
        "What five papers on mobile ad hoc networks claim, and what comes out when their experiments are "
        "repeated with manetlab.",
        "",
    ]
    for paper in site.ledger.papers:
        about = site.ledger.pages[paper]
        of = [word for claim, word in site.words.items() if site.ledger.claims[claim].paper == paper]
        lines.append(f"- **[{about['title']}](../{FOLDER}/{paper}.md)**. {words.counted(of)}.")
    lines += ["", f"{words.counted(site.words.values())}.", ""]
    printed = [claim for claim, word in site.words.items() if word is words.Word.AS_PRINTED]
    wide = sum(words.is_wide(site.ledger.claims[claim]) for claim in printed)
    lines += [WIDE.format(wide=wide, count=len(printed)), ""]
    lines += [f"{_headline(site)} {BY_RULE}", "", *(f"{each}\n" for each in record.remarks(site.best))]
    lines += [*_reading(), *_cost(site), FOOT]
    return "\n".join(lines)


def _right(site: Site) -> str:
    """One screen: the headlines that come out as printed, or with the printed direction."""
    lines = ["# What these five papers got right", ""]
    held = (words.Word.AS_PRINTED, words.Word.SMALLER, words.Word.LARGER)
    count = right = 0
    for paper in site.ledger.papers:
        listed = summary.headlines_of(site.ledger, paper)
        good = [each for each in listed if all(site.words[claim] in held for claim in each.claims)]
        count, right = count + len(listed), right + len(good)
        lines += [f"**[{short_name(site.ledger, paper)}](../{FOLDER}/{paper}.md)**", ""]
        for each in good:
            sizes = dict.fromkeys(_size(site.words[claim]) for claim in each.claims)
            differs = ", ".join(filter(None, sizes))
            lines.append(f"- {each.says}{f' ({differs})' if differs else ''}")
        lines.append("")
    lines[2:2] = [
        f"Of {count} statements in their abstracts and conclusions {right} come out with manetlab, "
        "significantly and in the printed direction; where the size differs it is said. Each paper's page "
        "has the numbers, and what does not come out.",
        "",
    ]
    return "\n".join([*lines, FOOT])


def _size(word: words.Word) -> str:
    return {words.Word.SMALLER: "less than printed", words.Word.LARGER: "more than printed"}.get(word, "")


def _reading() -> Iterator[str]:
    """Where to read on."""
    yield "| page | what |"
    yield "|---|---|"
    yield "| [What these five papers got right](what-the-papers-got-right.md) | headlines that come out |"
    yield "| [Reproducing the papers](../papers/how-to.md) | how to read a verdict, and how to repeat it |"
    yield "| [The package](../papers/README.md) | how experiments and claims are written as data |"
    yield "| [Studies](../papers/studies/README.md) | campaigns of our own, whose runs are kept as well |"
    yield ""


def _cost(site: Site) -> list[str]:
    """What the kept runs cost, in a sentence for each size."""
    lines = []
    for scale in record.SCALES:
        costs = [cost for (of, _), cost in site.study.costs.items() if of == scale]
        if costs:
            days = sorted({day for cost in costs for day in cost.days})
            runs, hours = sum(each.runs for each in costs), sum(each.cpu_s for each in costs) / 3600
            size = "at full size" if scale == "full" else "in quick runs"
            between = " to ".join(dict.fromkeys([days[0], days[-1]]))
            lines += [
                f"The kept results are of {runs:,} runs {size}, made in {hours:.1f} hours of processor time "
                f"({between}).",
                "",
            ]
    return lines


def _plain(text: str) -> str:
    """Text that may stand between brackets."""
    return text.replace("[", "(").replace("]", ")").replace("\n", " ")
