#!/bin/bash
# Two real users (tests/lib/users.sh): who they are, what they share, and that each can record.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/users.sh"
users_required "real users"

is "alice has a name" "$(as_alice id -un)" alice
is "bob has another uid" "$([ "$(as_bob id -u)" != "$(as_alice id -u)" ] && [ "$(as_bob id -u)" != 0 ] && echo other)" other
is "alice and bob share a group" "$(as_alice id -Gn) $(as_bob id -Gn) $(as_carol id -Gn)" "alice lab bob lab carol"
is "nobody has root's rights" "$(as_alice sh -c 'grep -h "^Cap[IPEA]" /proc/self/status | cut -f 2 | sort -u')" 0000000000000000
is "homes are closed" "$(as_bob ls "$HOMES/alice" 2>/dev/null; echo $?)" 2
ok "the shared folder is the group's" as_bob sh -c 'echo bob >"$LAB/x" && [ "$(stat -c %G "$LAB/x")" = lab ]'
is "a stranger does not enter it" "$(as_carol ls "$LAB" 2>/dev/null; echo $?)" 2
as_bob touch "$STICKY/bob"
as_carol rm -f "$STICKY/bob" 2>/dev/null
ok "in the sticky folder each removes their own" test -e "$STICKY/bob"
cd "$STICKY" || exit 1
is "benchwrap runs as alice" "$(as_alice sh -c 'mkdir own && cd own && "$BENCHWRAP" -q -- echo hi')" hi
is "the record is alice's" "$(stat -c %U own/mlruns)" alice

# Whoever cannot ask for the writer's lock does not take a run of this host for dead.
as_alice sh -c 'mkdir locked && cd locked || exit
    "$BENCHWRAP" -q -- sh -c "until [ -e go ]; do sleep 0.05; done; echo whole" & run=$!
    until [ -s "$(echo .benchwrap/spool/*/journal)" ]; do sleep 0.05; done
    chmod 0400 .benchwrap/spool/*/journal
    "$BENCHWRAP" sync --local >synced 2>&1
    touch go; wait $run; echo $? >status' >/dev/null 2>&1
is "a run whose lock cannot be asked for goes on" "$(cat locked/status) $(cat locked/mlruns/*/*/artifacts/stdout.log) $(as_alice sh -c 'cd locked && "$BENCHWRAP" show --json' | jq -r .status)" "0 whole FINISHED"
done_testing
