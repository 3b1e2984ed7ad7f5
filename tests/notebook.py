"""The tutorial as a notebook, run with the package of this checkout: `make docs` keeps its outputs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tutorial.ipynb"


def read() -> nbformat.NotebookNode:
    """The notebook with the outputs that are kept."""
    return nbformat.read(PAGE, as_version=4)


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Runs all cells in a folder; outputs replace those that the notebook has."""
    kernel: dict[str, Any] = {"resources": {"metadata": {"path": str(folder)}}, "kernel_name": "python3"}
    NotebookClient(notebook, timeout=600, record_timing=False, **kernel).execute()


def without_progress(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without bars, which say how fast this machine is; changed in place."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                output
                for output in cell.outputs
                if "<progress" not in output.get("data", {}).get("text/html", "")
            ]
    return notebook


def outputs(notebook: nbformat.NotebookNode) -> list[list[dict[str, Any]]]:
    """What each cell of code shows, as data; of pictures, whose bits depend on fonts, that they are there."""
    return [
        [
            {
                "text": output.get("text"),
                **{
                    kind: kind if "image" in kind else value for kind, value in output.get("data", {}).items()
                },
            }
            for output in cell.outputs
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def main() -> None:
    """Renews the notebook in docs."""
    notebook = read()
    metadata = dict(notebook.metadata)
    with tempfile.TemporaryDirectory() as folder:
        execute(notebook, Path(folder))
    # The kernel adds its version, which says nothing about the results.
    notebook.metadata = nbformat.from_dict(metadata)
    nbformat.write(without_progress(notebook), PAGE)


if __name__ == "__main__":
    main()
