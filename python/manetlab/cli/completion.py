"""``manetlab completion``, and what the scripts that it prints call."""

from __future__ import annotations

import click
from click.shell_completion import (
    BashComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
)

VARIABLE = "_MANETLAB_COMPLETE"
"""The environment variable by which a shell asks for completions."""


class Bash(BashComplete):
    """Bash, which splits words at colons and equals signs: what stands before one is not completed again."""

    name = "bash"
    source_template = """\
%(complete_func)s() {
    local line=${COMP_LINE:0:COMP_POINT}
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    local word=${words[${#words[@]}-1]}
    local before=${word%%"${word##*[:=]}"}
    local response type value
    response=$(env COMP_WORDS="$line" COMP_CWORD=$((${#words[@]} - 1)) %(complete_var)s=bash_complete "$1")
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                COMPREPLY+=("${value#"$before"}")
                [[ $value == *= ]] && compopt -o nospace ;;
        esac
    done <<< "$response"
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Zsh(ZshComplete):
    """Zsh, which leaves no space behind the name of a field."""

    name = "zsh"
    source_template = (
        ZshComplete.source_template.replace(
            "completions_with_descriptions -U", 'completions_with_descriptions -U -S "$suffix"'
        )
        .replace(
            """                completions_with_descriptions+=""",
            """                [[ "$key" == *= ]] && suffix=''
                completions_with_descriptions+=""",
        )
        .replace("    local -a response\n", "    local -a response\n    local suffix=' '\n")
    )


add_completion_class(Bash)
add_completion_class(Zsh)


INSTALLED = """\b
To install it, write the script to where your shell looks for it:
bash: manetlab completion bash \\
      > ~/.local/share/bash-completion/completions/manetlab
zsh:  manetlab completion zsh > "${fpath[1]}/_manetlab"
fish: manetlab completion fish > ~/.config/fish/completions/manetlab.fish
"""


@click.command(epilog=INSTALLED)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), help="The shell.")
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a completion script for your shell.

    It completes commands, options and values.
    """
    found = get_completion_class(shell)
    assert found is not None
    print(found(ctx.find_root().command, {}, "manetlab", VARIABLE).source(), end="")
