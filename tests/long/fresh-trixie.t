#!/bin/bash
# scripts/quickstart and scripts/test one after the other on a bare Debian trixie; see tests/lib/fresh.sh.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/fresh.sh"
fresh_suite trixie
