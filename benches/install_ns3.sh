#!/usr/bin/env bash
# Installs Debian's ns-3 and what it takes to compile against it, if there is none. Without it the benches leave out
# the comparison.
set -eu
command -v pkg-config >/dev/null && pkg-config --exists ns3-wifi && exit 0
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! command -v sudo >/dev/null; }; then
    echo "Without ns-3: its Debian package is libns3-dev." >&2
    exit 0
fi
$as_root apt-get update -qq
# The package names libraries in its build flags that it does not depend on.
$as_root apt-get install -y -qq libns3-dev libgsl-dev libsqlite3-dev pkg-config g++ || echo "Without ns-3." >&2
