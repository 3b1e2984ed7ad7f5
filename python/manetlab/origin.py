"""Where a scenario or a campaign comes from, and what it may therefore have done: read files, import code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from manetlab.errors import InputError
from manetlab.files import read_bytes

MOST_UNASKED_DRAWS = 10_000
"""The maximum number of draws of the movement that a store may ask for."""
MOST_UNASKED_POINTS = 10_000
"""The maximum number of points of a store that has runs at less than a hundredth of them."""
TRUST = "--trust, or trust=True in Python, allows it; do so only if you know where the store comes from"


@dataclass(frozen=True)
class Origin:
    """Where a scenario or a campaign comes from.

    A store may come from somebody else. Its scenarios import no code, and read no file but those in the
    folders that are named here, unless the user says that he trusts it.

    Attributes:
        folder: Where the names of files start from.
        sources: The files that say it, and those that were read with it: no output takes their place.
        store: The store that it comes from, if nobody has said that he trusts that.
        within: The folders whose files such a store may name.
    """

    folder: Path = Path()
    sources: tuple[Path, ...] = ()
    store: Path | None = None
    within: tuple[Path, ...] = ()

    @classmethod
    def of(cls, folder: Path | Origin) -> Origin:
        """An origin of which only the folder is known; an origin is returned as it is."""
        return folder if isinstance(folder, Origin) else cls(folder)

    @classmethod
    def of_store(cls, store: Path, folder: Path, given: Path | None, trust: bool) -> Origin:
        """That of a campaign in a store.

        Args:
            store: The store.
            folder: Where its files' names start from, as it says.
            given: The campaign's file, if the user named it beside the store.
            trust: The user has said that he trusts the store.
        """
        named = (store, *([] if given is None else [given]))
        # The campaign's file beside the store is no less worth because the store was named.
        sources = (*named, store.with_suffix(".toml"))
        if trust:
            return cls(folder, sources)
        return cls(folder, sources, store, tuple(path.absolute().parent.resolve() for path in named))

    def with_sources(self, *paths: Path) -> Origin:
        """The same, with more files that were read."""
        return Origin(self.folder, (*self.sources, *paths), self.store, self.within)

    def beside(self, name: str) -> Origin:
        """The same, with names that start from the folder of a file."""
        return Origin(self.path(name).parent, self.sources, self.store, self.within)

    def path(self, name: str) -> Path:
        """A file by the name that it is given here."""
        return self.folder / name

    def read(self, name: str, kind: str) -> bytes:
        """The content of a file; see [`read_bytes`][manetlab.files.read_bytes].

        Raises:
            InputError: It cannot be read, or a store that is not trusted names it and it is elsewhere.
        """
        return read_bytes(self.checked(name, kind), kind)

    def checked(self, name: str, kind: str) -> Path:
        """The path of a file that may be read.

        Raises:
            InputError: A store that is not trusted names it and it is elsewhere.
        """
        path = self.path(name)
        self._check_place(path, kind)
        return path

    def _check_place(self, path: Path, kind: str) -> None:
        if self.store is None:
            return
        try:
            real = path.resolve()
        except (OSError, RuntimeError, ValueError):
            real = None
        if real is None or not any(real.is_relative_to(folder) for folder in self.within):
            folders = " or ".join(map(str, dict.fromkeys(self.within)))
            raise InputError(
                f"the store names a {kind} outside its folder", str(self.store), str(path), folders, TRUST
            )

    def check_code(self, routing: str) -> None:
        """Checks that the code of a protocol in Python may be imported.

        Raises:
            InputError: A store that is not trusted names it.
        """
        if self.store is not None:
            wanted = "your consent to import it"
            raise InputError("the store names code of its own", str(self.store), routing, wanted, TRUST)

    def check_points(self, points: int, runs: int) -> None:
        """Checks that a campaign's points may all be looked at, which takes time for each.

        Raises:
            InputError: A store that is not trusted names very many, and holds runs of hardly any.
        """
        if self.store is not None and points > MOST_UNASKED_POINTS and runs * 100 < points:
            found, wanted = (
                f"{points} points, {runs} runs",
                f"at most {MOST_UNASKED_POINTS} points without runs",
            )
            raise InputError("the store names very many points", str(self.store), found, wanted, TRUST)

    def check_draws(self, draws: int) -> None:
        """Checks that so many draws of the movement may be looked at.

        Raises:
            InputError: A store that is not trusted asks for very many.
        """
        if self.store is not None and draws > MOST_UNASKED_DRAWS:
            found, wanted = f"hops_draws = {draws}", f"at most {MOST_UNASKED_DRAWS}"
            raise InputError(
                "the store asks for a long search of movements", str(self.store), found, wanted, TRUST
            )
