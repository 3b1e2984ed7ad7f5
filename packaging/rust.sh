#!/usr/bin/env bash
# Says what is missing if the compiler is absent, or older than Cargo.toml asks for.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
advice="manetlab needs Rust $wanted or newer: https://rustup.rs"
command -v cargo >/dev/null && command -v rustc >/dev/null || { echo "$advice" >&2; exit 1; }
found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) || true
[ -n "$found" ] || { echo "$advice (rustc is there, but does not work)" >&2; exit 1; }
oldest=$(printf '%s\n' "$wanted" "${found%%-*}" | sort --version-sort | head -n 1)
[ "$oldest" = "$wanted" ] || { echo "$advice (rustc is $found)" >&2; exit 1; }
