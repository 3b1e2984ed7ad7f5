#!/usr/bin/env bash
# Builds the engine of live pages, the simulator as a WebAssembly module, and puts it beside the viewer.
# Where the compiler's target cannot be installed, there is no engine: pages then replay runs and cannot make new ones.
set -euo pipefail
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
engine=python/manetlab/replay/assets/engine.wasm
installed() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; }
if ! installed && ! { command -v rustup >/dev/null && rustup --quiet target add "$target" 2>/dev/null; }; then
    rm -f "$engine"
    echo "There is no engine for live pages: the target $target is not installed, and rustup could not install it." >&2
    exit 0
fi
cargo build --locked --quiet --profile engine --target "$target" -p manetlab-wasm
cp "target/$target/engine/manetlab_wasm.wasm" "$engine"
