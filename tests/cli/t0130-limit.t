#!/bin/bash
# Time limit: signal, grace, KILL, to the program and all it has started, never to the caller's group; exit 124.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/launch.sh"
cd "$WORK" || exit 1

timed() # COMMAND…: "status, rounded tenths of a second"
{
    t0=$(date +%s%N)
    "$@" >out 2>err
    rc=$?
    tenths=$((($(date +%s%N) - t0) / 100000000))
}
limited() # FILES OPTIONS COMMAND…: with a time limit within which the program makes FILES, by ${launcher[@]}; $limit is in tenths of a second
{
    files=$1 options=$2
    shift 2
    for limit in 3 10 50 200; do
        # shellcheck disable=SC2086 # words
        rm -f $files
        # shellcheck disable=SC2086
        timed "${launcher[@]}" -T $((limit / 10)).$((limit % 10)) $options -- "$@"
        # shellcheck disable=SC2086
        [ "$(ls $files 2>/dev/null | wc -w)" -lt "$(echo $files | wc -w)" ] || break
    done
}
cat >stubborn.sh <<'S'
trap 'echo caught' TERM INT
echo $$ >stubborn.pid
while :; do sleep 0.05; done
S
for way in recorded unrecorded nopidfd; do
    case $way in
    recorded) set -- "$LAUNCH" -q ;;
    unrecorded) set -- "$BARE" -q ;;
    nopidfd) # a kernel without pidfds
        if ! strace -f -o /dev/null -e inject=pidfd_open:error=ENOSYS true 2>/dev/null; then
            skip "$way" "no strace"
            continue
        fi
        set -- strace -o /dev/null -e trace=pidfd_open -e inject=pidfd_open:error=ENOSYS "$LAUNCH" -q ;;
    esac
    launcher=("$@")
    timed "$@" -T 0.4 -- sleep 20
    is "$way: TERM ends it" "$rc $((tenths >= 4 && tenths < 150))" "124 1"
    limited stubborn.pid "-k 0.4" bash stubborn.sh
    is "$way: KILL after the grace" "$rc $((tenths >= limit + 4 && tenths < limit + 147)) $(cat out)" "124 1 caught"
    limited ready "-s INT -k 5" bash -c 'trap "echo int; exit 0" INT; touch ready; while :; do sleep 0.05; done'
    is "$way: another signal" "$rc $(cat out)" "124 int"
    limited "stubborn.pid grandchild.pid" "-k 0.3" bash -c 'setsid bash stubborn.sh & setsid bash -c "sleep 50 & echo \$! >grandchild.pid; wait" & wait'
    is "$way: what it has started" "$rc $(wait_until 'has_ended "$(cat stubborn.pid)" && has_ended "$(cat grandchild.pid)"' && echo gone)" "124 gone"
    timed "$@" -T 0.3 -k 60 -- bash -c 'kill -STOP $$'
    is "$way: a stopped program is ended by the signal, not by the grace" "$rc $((tenths < 300))" "124 1"
    timed "$@" -T 20 -- sh -c 'exit 5'
    is "$way: in time" "$rc" 5
    timed "$@" -T 0 -- sh -c 'exit 5'
    is "$way: 0 is no limit" "$rc" 5
    (trap 'echo hit >hit' TERM; "$@" -T 0.3 -- sleep 20 >out 2>err; true)
    is "$way: the caller's group is left alone" "$(ls hit 2>&1 | grep -c '^hit$')" 0
done
"$LAUNCH" -q -T 0.2 -- sleep 9
like "the record knows" "$(cat "$FAKE_DIR/ended")" 'timed_out=1'
timed "$BENCHWRAP" -q --timeout 300ms -- sleep 9
is "the record names the limit" "$("$BENCHWRAP" show --json | jq -r '.tags["benchwrap.ended"]')" "time limit of 0.3 s reached"
done_testing
