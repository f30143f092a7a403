#!/bin/bash
# `benchwrap log` from within the program: what is benchwrap's own is not mixed with what the program tells.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

is "a metric of the program" "$("$BENCHWRAP" -q -- sh -c "'$BENCHWRAP' log loss=0.5 runs=2" 2>&1)" ""
is "has its value" "$(cut -d' ' -f2 mlruns/*/*/metrics/loss mlruns/*/*/metrics/runs | paste -sd' ')" "0.5 2"
rm -r mlruns
like "run.wall_s is refused" "$("$BENCHWRAP" -q -- sh -c "'$BENCHWRAP' log run.wall_s=5; echo status \$?" 2>&1 | paste -sd' ')" "benchwrap itself measures.*status 1"
is "and stays one value, benchwrap's" "$(wc -l <"$(echo mlruns/*/*/metrics/run.wall_s)")" 1
rm -r mlruns
# shellcheck disable=SC2016 # the inner program's variable
"$BENCHWRAP" -q -- python3 -c 'import os, socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"{\"metric\":\"run.wall_s\",\"value\":5}", os.environ["BENCHWRAP_SOCKET"].replace("@", "\0", 1))' 2>"$WORK/err"
is "the same without the command" "$(cat "$WORK/err")$(wc -l <"$(echo mlruns/*/*/metrics/run.wall_s)")" 1
like "is told in the record" "$("$BENCHWRAP" show last)" 'run.wall_s" was left out'
done_testing
