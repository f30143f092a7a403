#!/bin/bash
# Runs in progress: ls and watch show them from the first second on, in place on a terminal, and touch nothing of them.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
out=$("$BENCHWRAP" watch 2>&1); is "nothing in progress" "$? $out" "0 benchwrap: watch: no runs in progress"
is "… as JSON" "$("$BENCHWRAP" watch --json | jq -c .)" "[]"
for wrong in "--interval 0" "--interval x" "xyz" "--interval 2h"; do
    # shellcheck disable=SC2086 # several words
    "$BENCHWRAP" watch $wrong >/dev/null 2>&1; is "refused: $wrong" "$?" 125
done
mkfifo go
"$BENCHWRAP" -q -e live -n $'one \e[31m' --sample 0.2s -- sh -c "\"$BENCHWRAP\" log loss=0.5; head -c 4999 /dev/zero | tr '\0' x; echo; read -r x <go; head -c 3000 /dev/zero" "$(printf 'é%.0s' $(seq 300))" >/dev/null 2>&1 &
one=$!
field() { "$BENCHWRAP" watch --json | jq -r ".[0] | $1"; }
wait_until '[ "$(field ".output_B")" = 5000 ] && [ "$(field ".samples.loss.value")" = 0.5 ] && [ "$(field ".samples[\"system/process_memory_rss_megabytes\"].value")" != null ]'
is "a run in progress, as JSON" "$(field '[.experiment, .output_B, .samples.loss.value, .alive_for_certain, .parent, .job] | tostring')" '["live",5000,0.5,true,null,null]'
like "… its command, start and elapsed time" "$(field '[.command, .start, (.elapsed_s > 0 and .elapsed_s < 100), .output_B_per_s > 0] | tostring')" '^\["sh -c .*","20..-.*Z",true,true\]'
like "… a long command is cut between two characters, and says so" "$(field '.command')" 'éé\.\.\.$'
id=$(field .id)
like "ls shows it, also in a tree without an ended run" "$("$BENCHWRAP" ls 2>&1 | tr '\n' ' ')" "^In progress RUN .*${id:0:8} +one .* live .* 4.9 KiB .* loss 0.5 "
is "… and no escape of its name" "$({ "$BENCHWRAP" ls; "$BENCHWRAP" watch --once; } | grep -c "$(printf '\033')")" 0
is "ls --json lists recorded runs" "$("$BENCHWRAP" ls --json 2>/dev/null)" ""
is "… and so do filters" "$("$BENCHWRAP" ls --status FAILED 2>/dev/null | grep -c live) $("$BENCHWRAP" ls -e other 2>/dev/null | grep -c live)" "0 0"
like "watch elsewhere than on a terminal: a line" "$("$BENCHWRAP" watch --once)" "^20..-.*Z ${id:0:8} one .*, [0-9.]+ m?s, on .*memory .*, output 4.9 KiB, .*/s, loss 0.5$"
is "… of the runs that are named" "$("$BENCHWRAP" watch --once "${id:0:6}" | wc -l) $("$BENCHWRAP" watch --once -e other 2>/dev/null | wc -l) $("$BENCHWRAP" watch --once --job 7 2>/dev/null | wc -l)" "1 0 0"
if command -v python3 >/dev/null 2>&1; then
    python3 - "$BENCHWRAP" >pty.txt 2>&1 <<'P' # the run ends once it was shown twice
import os, pty, sys, struct, fcntl, termios, time
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], [sys.argv[1], "watch", "--interval", "0.3s"])
data, is_told, end = b"", False, time.monotonic() + 60
while True:
    if not is_told and (b"\033[2A\033[J" in data or time.monotonic() > end):
        with open("go", "w") as go:
            go.write("\n")
        is_told = True
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    data += piece
os.write(1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
    is "on a terminal it ends with the last run" "$? $(tail -n 1 pty.txt | grep -oE 'no runs in progress')" "0 no runs in progress"
    like "… and updates in place" "$(grep -c "$(printf '\033\[2A\033\[J')" pty.txt) $(tr '\n\r' '  ' <pty.txt)" "^[1-9][0-9]* .*RUN +NAME"
else
    echo >go
fi
wait $one
is "the run is as any other" "$("$BENCHWRAP" ls --json | jq -c '.[0] | [.id, .status]')" "[\"$id\",\"FINISHED\"]"
is "an ended run is not in progress" "$("$BENCHWRAP" watch --json | jq length) $("$BENCHWRAP" ls | grep -c 'In progress')" "0 0"

# A recorder that was killed; a foreign entry; damage.
"$BENCHWRAP" -q -e dead -- sleep 30 >/dev/null 2>&1 &
launcher=$!
wait_until '[ "$("$BENCHWRAP" watch --json | jq length)" = 1 ]'; id=$(field .id)
pids=$(for p in /proc/[0-9]*; do [ "$(readlink "$p/cwd" 2>/dev/null)" = "$PWD" ] && tr '\0' ' ' <"$p/cmdline" | grep -q -e '--recorder' && basename "$p"; done 2>/dev/null)
# shellcheck disable=SC2086 # several
kill -KILL $pids 2>/dev/null; kill -KILL $launcher 2>/dev/null
{ wait $launcher; } 2>/dev/null
wait_until '[ "$("$BENCHWRAP" watch --json | jq length)" = 0 ]' # kill returns before the kernel has ended the process and released its lock
is "a run whose recorder was killed is not in progress" "$("$BENCHWRAP" watch --json | jq length)" 0
mkdir -p .benchwrap/spool/0123456789abcdef0123456789abcdef; echo nonsense >.benchwrap/spool/0123456789abcdef0123456789abcdef/journal; mkfifo .benchwrap/spool/1123456789abcdef0123456789abcdef
out=$("$BENCHWRAP" watch --json 2>&1); is "damaged and foreign entries are left alone" "$? $out" "0 []"

# A parent run with its repetition.
"$BENCHWRAP" -q -e reps --repeat 2 -- sh -c 'until [ -e shown ]; do sleep 0.05; done' >/dev/null 2>&1 &
wait_until '[ "$("$BENCHWRAP" watch --json | jq length)" = 2 ]'
is "a repetition stands below its parent" "$("$BENCHWRAP" watch --json | jq -c '[.[0].parent, (.[1].parent == .[0].id)]')" "[null,true]"
touch shown
wait
done_testing
