"""Puts the repository's pages into a folder, as the site's generator wants them: assemble.py FOLDER MADE.

The folder is arranged as the repository is, so links between pages are the same in both. Added are the pages
of papers and studies that `make papers-pages` has made in the folder MADE, the notebook as a page, the list
of models, and the reference of the Python interface, made from docstrings.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OTHERS = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "papers/README.md",
    "papers/how-to.md",
)
"""Pages outside docs."""
STUDIES = ROOT / "papers/studies"
LINK = re.compile(r"(\]\()([^)#\s]+)([^)\s]*\))")
NOTEBOOK = "docs/tutorial.ipynb"
LIVE = """<iframe class="live" src="live.html#play" title="A network to try" loading="lazy"></iframe>

Thirteen nodes, simulated in your browser: choose another routing protocol, press *Run*, drag a node,
and compare. <a href="live.html">It also has a page of its own.</a> There
are <a href="lab.html">a laboratory</a> in which you write the network yourself, and
<a href="course/index.html">a course</a> of nine exercises. `manetlab view SCENARIO --live` writes
[such pages](docs/replay.md#live-pages).
"""


def pages(made: Path) -> dict[Path, Path]:
    """The site's pages, by their names in the repository; those that were made replace what is stored."""
    stored = [*(ROOT / name for name in OTHERS), *(ROOT / "docs").rglob("*.md"), *STUDIES.glob("*.md")]
    found = {page.relative_to(ROOT): page for page in sorted(stored) if not page.name.endswith("-words.md")}
    return found | {page.relative_to(made): page for page in sorted(made.rglob("*.md"))}


def assemble(folder: Path, made: Path) -> None:
    """Fills the folder."""
    for picture in made.rglob("*.svg"):
        copy = folder / picture.relative_to(made)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, copy)
    for name, page in pages(made).items():
        write(folder, name, page.read_text(encoding="utf-8"))
    write_first_page(folder)
    shutil.copytree(ROOT / "docs/figures", folder / "docs/figures", dirs_exist_ok=True)
    shutil.copy(Path(__file__).with_name("site.css"), folder)
    write_notebook(folder)
    write_models(folder)
    write_reference(folder)


def write(folder: Path, name: Path, text: str) -> None:
    """Writes a page, with links to what the site calls otherwise, and copies files that it links to."""

    def link(found: re.Match[str]) -> str:
        target = found[2]
        if "://" in target:
            return found[0]
        file = (ROOT / name.parent / target).resolve()
        if file == ROOT / NOTEBOOK:
            target = target.removesuffix("tutorial.ipynb") + "notebook.md"
        elif file == ROOT / "README.md":
            target = target.removesuffix("README.md") + "index.md"
        elif file.is_dir():
            target = f"{target}/index.md"
        elif file.suffix != ".md" and not (folder / name.parent / target).exists():
            copy = folder / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        return f"{found[1]}{target}{found[3]}"

    to = folder / ("index.md" if name == Path("README.md") else name)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(LINK.sub(link, text), encoding="utf-8")


def write_first_page(folder: Path) -> None:
    """README with a network to try below its first paragraph: the page that `make site` writes beside it."""
    page = folder / "index.md"
    title, first, rest = page.read_text(encoding="utf-8").split("\n\n", 2)
    page.write_text("\n\n".join((title, first, LIVE, rest)), encoding="utf-8")


def write_notebook(folder: Path) -> None:
    """The notebook with its outputs as a page, with its pictures beside it, and the file itself."""
    import nbformat
    from nbconvert import MarkdownExporter

    notebook = nbformat.read(ROOT / NOTEBOOK, as_version=4)
    text, resources = MarkdownExporter().from_notebook_node(notebook)
    for name, content in resources["outputs"].items():
        (folder / "docs" / name).write_bytes(content)
    shutil.copy(ROOT / NOTEBOOK, folder / NOTEBOOK)
    # Tables of pandas bring a style of their own along, which is not that of the site.
    text = re.sub(r"<style scoped>.*?</style>\n", "", text, flags=re.DOTALL)
    write(folder, Path("docs/notebook.md"), text.replace(' border="1" class="dataframe"', ""))
    with (folder / "docs/notebook.md").open("a", encoding="utf-8") as page:
        page.write("\n[The notebook as a file](tutorial.ipynb)\n")


def write_models(folder: Path) -> None:
    """The list of the models' pages."""
    lines = [
        "# Models",
        "",
        "Each page lists what is implemented, what is not, and where it deviates from its standard.",
        "",
    ]
    for page in sorted((ROOT / "docs/models").glob("*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({page.name})")
    (folder / "docs/models/index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def offered() -> tuple[list[str], list[str]]:
    """The names and the modules that the package offers, as its first file lists them."""
    tree = ast.parse((ROOT / "python/manetlab/__init__.py").read_text(encoding="utf-8"))
    lists = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in ("__all__", "_MODULES")
    }
    return [name for name in lists["__all__"] if name != "__version__"], sorted(lists["_MODULES"])


def write_reference(folder: Path) -> None:
    """The pages of the Python interface: one of the package, and one of each module that it offers."""
    names, modules = offered()
    lines = [
        "# Python interface",
        "",
        "Made from the docstrings. `import manetlab` offers what is on this page, and modules:",
        "",
    ]
    lines += [f"- [`manetlab.{module}`]({module}.md)" for module in modules]
    lines += [f"\n::: manetlab.{name}" for name in names]
    (folder / "docs/api").mkdir()
    (folder / "docs/api/index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for module in modules:
        text = f"::: manetlab.{module}\n    options:\n      heading_level: 1\n"
        (folder / f"docs/api/{module}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    assemble(target, Path(sys.argv[2]))
