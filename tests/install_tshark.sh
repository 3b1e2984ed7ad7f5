#!/usr/bin/env bash
# Installs the Debian package tshark if it is not there.
set -eu
command -v tshark >/dev/null && exit 0
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! command -v sudo >/dev/null; }; then
    echo "The tests of captures need tshark: install the Debian package tshark." >&2
    exit 1
fi
# Another apt that runs is waited for.
wait="-o DPkg::Lock::Timeout=300"
$as_root apt-get $wait update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get $wait install -y -qq tshark
