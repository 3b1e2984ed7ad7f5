#!/usr/bin/env bash
# Installs the Debian packages chromium and chromium-driver if they are not there.
set -eu
command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! command -v sudo >/dev/null; }; then
    echo "The tests of reports need Chromium: install the Debian packages chromium and chromium-driver." >&2
    exit 1
fi
# Another apt that runs is waited for.
wait="-o DPkg::Lock::Timeout=300"
$as_root apt-get $wait update -qq
$as_root apt-get $wait install -y -qq chromium chromium-driver
