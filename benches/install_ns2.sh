#!/usr/bin/env bash
# Installs the Debian package ns2 if there is no `ns`.
set -eu
command -v ns >/dev/null && exit 0
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! command -v sudo >/dev/null; }; then
    echo "The comparison needs ns-2: install the Debian package ns2." >&2
    exit 1
fi
$as_root apt-get update -qq
$as_root apt-get install -y -qq ns2
