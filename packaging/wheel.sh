#!/usr/bin/env bash
# Makes what is installed: packaging/wheel.sh FOLDER [OPTION OF maturin build…], for `make wheel` and the tests.
# The wheel and the source distribution contain the commit, the man pages and the documentation of this checkout.
# `make wheel` makes a release; the tests take `--profile developer`, which `make build` has compiled, so that the wheel
# is only packed.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
shift
build=python/manetlab/_build.json
trap 'rm -f "$build"' EXIT
commit=$(git describe --always --dirty --abbrev=40 --exclude='*')
printf '{"commit": "%s"}\n' "$commit" >"$build"
rm -rf out/wheel-data
.venv/bin/python -m manetlab.cli.manual out/wheel-data/data/share/man/man1
# The pages of commands that another distribution adds are not ours.
rm -f out/wheel-data/data/share/man/man1/manetlab-papers*.1
# What `manetlab docs` prints.
pages=out/wheel-data/data/share/doc/manetlab
mkdir -p "$pages/models" "$folder"
cp docs/*.md "$pages"
cp docs/models/*.md "$pages/models"
# The licences of what is linked, and of what reports embed.
.venv/bin/python packaging/third_party.py "$pages/third-party.txt"
PATH="$PWD/.venv/bin:$PATH"
maturin build --quiet --locked --out "$folder" "$@"
# A release for x86-64 has its core twice (manetlab.processor): all is compiled once more, and only the core taken.
if [[ " $* " == *" --release "* && " $* " != *" --target aarch64"* && $(uname -m) == x86_64 ]]; then
    options=()
    for option in "$@"; do
        [ "$option" = --sdist ] || options+=("$option")
    done
    # Only with a target do build scripts and macros, which run here, stay as they are.
    [[ " $* " == *" --target "* ]] || options+=(--target x86_64-unknown-linux-gnu)
    second=out/second-core
    rm -rf "$second"
    CARGO_TARGET_DIR=target/x86-64-v3 CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C target-cpu=x86-64-v3" \
        maturin build --quiet --locked --out "$second" "${options[@]}"
    .venv/bin/python packaging/second_core.py "$folder"/*x86_64.whl "$second"/*.whl
fi
