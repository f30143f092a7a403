#!/bin/bash
# scripts/quickstart and scripts/test one after the other on a bare Debian sid; see tests/lib/fresh.sh.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/fresh.sh"
fresh_suite sid
