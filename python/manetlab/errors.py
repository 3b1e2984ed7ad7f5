"""What manetlab says when it cannot do what it was asked to do."""


class ManetlabError(Exception):
    """An error with the five things that a user needs to know.

    Attributes:
        what: What is wrong, in a few words.
        where: The file with its line, or the field.
        found: The value found.
        wanted: What would be right.
        hint: What to do about it.
    """

    exit_status = 1

    def __init__(self, what: str, where: str = "", found: str = "", wanted: str = "", hint: str = "") -> None:
        super().__init__(what, where, found, wanted, hint)
        self.what = what
        self.where = where
        self.found = found
        self.wanted = wanted
        self.hint = hint

    def __str__(self) -> str:
        """The error in a few lines, each named."""
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        named = (("found", self.found), ("wanted", self.wanted), ("hint", self.hint))
        lines += [f"  {name + ':':<7} {text}" for name, text in named if text]
        return "\n".join(lines)


class InputError(ManetlabError):
    """The input (a file, a scenario, an option) cannot be used. Nothing was run and nothing was written.

    Examples:
        >>> import manetlab
        >>> try:
        ...     manetlab.Scenario(movement={"chain": {"nodes": 3}}, traffic={"flows": []}, duration_s=-1.0)
        ... except manetlab.InputError as error:
        ...     print(error)
        scenario: duration_s: the value is not allowed
          found:  -1.0
          wanted: a number above 0, up to 1000000 s
          hint:   The length of the run, in s.
    """

    exit_status = 2


class RunFailed(ManetlabError):
    """A run stopped because an invariant of the simulator broke: a fault of manetlab, not of the input."""


class ProtocolFailed(ManetlabError):
    """A run stopped because a routing protocol in Python raised an exception or broke the contract.

    Its ``__cause__`` is the exception, with the traceback.
    """

    exit_status = 2


def numbers_below(count: int) -> str:
    """What is wanted where so many things have numbers from 0 on: ``0 to 7``, or ``0`` alone."""
    if count == 0:
        return "nothing: there is none"
    return "0" if count == 1 else f"0 to {count - 1}"


def shown(value: object) -> str:
    """A value as an error shows it: as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:
        # Python refuses to write out whole numbers of thousands of digits.
        return "a number of thousands of digits"
    return text if len(text) <= 80 else text[:77] + "…"
