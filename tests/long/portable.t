#!/bin/bash
# The folder of `make dist-portable` records runs in bare roots of the Debian releases, oldest to newest.
top=$(cd "$(dirname "$0")/../.." && pwd); o=${O:-$top/build}
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then echo "1..0 # SKIP needs root and debootstrap"; exit 0; fi
archive=$(ls "$o"/benchwrap-*-"$(uname -m)".tar.gz) || { echo "not ok 1 - no archive: run make dist-portable"; exit 1; }
exec "$top/scripts/check-portable" "$archive" bookworm trixie sid
