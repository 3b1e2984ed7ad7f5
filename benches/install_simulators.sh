#!/usr/bin/env bash
# Installs the Debian packages of ns-2 and ns-3 if they are missing, with what it takes to compile against ns-3. The
# benches need ns-2; without ns-3 they leave that comparison out.
set -eu
has_ns3() { command -v pkg-config >/dev/null && pkg-config --exists ns3-wifi; }
missing=""
command -v ns >/dev/null || missing="ns2"
# The build flags of libns3-dev name two libraries that it does not depend on.
has_ns3 || missing="$missing libns3-dev libgsl-dev libsqlite3-dev pkg-config g++"
[ -n "$missing" ] || exit 0
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
if command -v apt-get >/dev/null && { [ -z "$as_root" ] || command -v sudo >/dev/null; }; then
    $as_root apt-get update -qq
    for package in $missing; do
        $as_root apt-get install -y -qq "$package" || echo "There is no package $package here." >&2
    done
fi
has_ns3 || echo "Without ns-3: its Debian package is libns3-dev." >&2
command -v ns >/dev/null || { echo "The comparison needs ns-2: install the Debian package ns2." >&2; exit 1; }
