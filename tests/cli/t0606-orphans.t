#!/bin/bash
# Processes that outlive the program: benchwrap returns at once, their output still arrives, and the published run says what was open.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
wait_go='while [ ! -e go ]; do sleep 0.05; done'
cat >late.sh <<S
$wait_go
echo late
S
cat >daemon.py <<'P'
import os, time
print("now", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while not os.path.exists("go"):
            time.sleep(0.05)
        print("late", flush=True)
    os._exit(0)
P
# CASE OPEN COMMAND…: the background process goes on when benchwrap has returned, so that a benchwrap that waits for it never comes to its end
outlives()
{
    case=$1 open=$2
    shift 2
    rm -rf mlruns .benchwrap go out err
    timeout 300 "$BENCHWRAP" -q -- "$@" >out 2>err
    status=$?
    is "$case: it returns at once, with what was printed" "$status $(xargs <out)" "0 now"
    before=$(find mlruns -type f -exec sha256sum {} + | sort | sha256sum)
    touch go
    wait_until 'grep -q late out err'
    is "$case: later bytes arrive" "$(cat out err | grep -cx late)" 1
    is "$case: the record has what came before, and names the open streams" \
        "$(xargs <"$(echo mlruns/*/*/artifacts/stdout.log)") $(cat mlruns/*/*/tags/benchwrap.open_streams)" "now $open"
    is "$case: the published run stays as it was" "$(find mlruns -type f -exec sha256sum {} + | sort | sha256sum)" "$before"
}
outlives "setsid" "stdout stderr" sh -c 'setsid sh late.sh & echo now'
outlives "two forks" "stdout stderr" sh -c '(sh late.sh &); echo now'
outlives "nohup" "stdout stderr" sh -c 'nohup sh late.sh & echo now'
outlives "a daemon" "stdout stderr" python3 daemon.py
outlives "standard output closed, standard error held" "stderr" sh -c 'sh -c "exec >&-; . ./late.sh >&2" & echo now'
outlives "standard error closed, standard output held" "stdout" sh -c 'sh late.sh 2>&- & echo now'
outlives "signals ignored" "stdout stderr" sh -c '(trap "" TERM HUP PIPE INT; . ./late.sh) & echo now'
outlives "one of five" "stdout stderr" sh -c 'for i in 1 2 3 4; do sleep 0.1 & done; sh late.sh & echo now'
outlives "another process group" "stdout stderr" bash -c 'set -m; sh late.sh & echo now'

rm -rf mlruns .benchwrap go out err
{ "$BENCHWRAP" -q -- sh -c "($wait_go; head -c 1G /dev/zero) & echo now" 2>err; touch go; } | wc -c >out
is "1 GiB afterwards: all bytes arrive, none is recorded" "$(xargs <out) $(cat mlruns/*/*/artifacts/stdout.log)" "1073741828 now"

rm -rf mlruns .benchwrap go
cat >closed.sh <<S
trap '' PIPE
$wait_go
for i in 1 2 3 4 5 6; do sleep 0.2; echo late || touch closed; done
touch ended
S
"$BENCHWRAP" -q -- sh -c "sh closed.sh 2>/dev/null & echo now" 2>err | head -n 1 >out
touch go
wait_until '[ -e ended ]'
ok "the reader has gone: the background process meets a closed pipe, as behind tee" [ -e closed ]

rm -rf mlruns .benchwrap go
if unshare -p -f true 2>/dev/null; then
    timeout 300 "$BENCHWRAP" -q -- unshare -p -f sh -c 'sh late.sh & echo now' >out 2>err
    is "a PID namespace ends with its first process: nothing is left, and nothing is said to be" "$? $(cat out) $(ls mlruns/*/*/tags/benchwrap.open_streams mlruns/*/*/metrics/run.left_running 2>/dev/null)" "0 now "
else
    skip_here "a PID namespace" "none can be made here"
fi
# The process that carries the stream on is ours, from its first moment on.
rm -rf mlruns .benchwrap
for _ in 1 2 3 4 5 6; do "$BENCHWRAP" -q -- sh -c 'sleep 60 & echo $! >>left; sleep 0.3' >/dev/null 2>&1; done
xargs kill <left
is "one background process is counted as one" "$(awk '{print $2}' mlruns/*/*/metrics/run.left_running | sort | uniq -c | xargs)" "6 1"
# A tool that benchwrap calls, such as a site's wrapper of scontrol, leaves a process behind: it is not the program's.
rm -rf mlruns .benchwrap
mkdir bin
printf '#!/bin/sh\nsleep 60 >/dev/null 2>&1 &\necho $! >>tools\necho 100\n' >bin/scontrol
chmod +x bin/scontrol
PATH=$WORK/bin:$PATH SLURM_JOB_ID=777 SLURM_JOB_NUM_NODES=1 SLURMD_NODENAME=vm "$BENCHWRAP" -q -- sh -c 'until [ -s tools ]; do sleep 0.05; done; sleep 0.3' 2>err
"$BENCHWRAP" -q --power-command "$WORK/bin/scontrol" -- sleep 1 2>>err
xargs kill <tools
is "a process that a tool left behind is not the program's" "$(grep -c 'left behind' err) $(ls mlruns/*/*/metrics/run.left_running mlruns/*/*/metrics/run.orphans 2>/dev/null)" "0 "

if command -v tmux >/dev/null; then
    rm -rf mlruns .benchwrap
    timeout 300 "$BENCHWRAP" -q -- sh -c "tmux -S $WORK/tmux new-session -d 'sleep 60' && echo now" >out 2>err
    is "tmux holds no stream" "$? $(cat out) $(cat mlruns/*/*/tags/benchwrap.open_streams 2>/dev/null)" "0 now "
    ok "... and goes on" tmux -S "$WORK/tmux" kill-server
else
    skip_here "tmux" "not installed"
fi
done_testing
