#!/bin/bash
# t0622: credentials of servers and forges: only the process that talks to the server has them; the program's environment is as it was.
# sanitizer: long, because a server is waited for
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
export MLFLOW_TRACKING_USERNAME=some-user-1 MLFLOW_TRACKING_PASSWORD=planted-secret-2 MLFLOW_TRACKING_TOKEN=planted-secret-3 GITHUB_TOKEN=planted-secret-4 \
    GITLAB_TOKEN=planted-secret-5 FORGEJO_TOKEN=planted-secret-6 GH_TOKEN=planted-secret-7

descendants() # PID: it and all below it
{
    echo "$1"
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do descendants "$child"; done
}

look() # NAME PROCESS OPTIONS…: runs a program that sleeps, and looks once there is that process; $NAME.with: names of the processes that have credentials in their environment, $NAME.all: of all
{
    look_name=$1 look_process=$2
    shift 2
    rm -f ready
    # shellcheck disable=SC2016
    "$BENCHWRAP" -q "$@" -- sh -c 'tr "\0" "\n" <"/proc/$$/environ" >"$0.environ"; ulimit -c >"$0.core"; stat -c %u "/proc/$$/environ" >>"$0.core"; : >ready; while [ -e ready ]; do sleep 0.1; done' "$look_name" >/dev/null 2>&1 &
    look_pid=$!
    wait_until '[ -e ready ] && descendants $look_pid | sed "s,.*,/proc/&/comm," | xargs cat 2>/dev/null | grep -qx "$look_process"'
    sleep 1
    : >"$look_name.with"
    : >"$look_name.all"
    for process in $(descendants $look_pid); do
        [ -r "/proc/$process/comm" ] || continue
        cat "/proc/$process/comm" >>"$look_name.all"
        ! grep -qaF planted-secret "/proc/$process/environ" 2>/dev/null || cat "/proc/$process/comm" >>"$look_name.with"
        [ "$(cat "/proc/$process/comm")" != benchwrap-send ] || echo "$(awk '/^Max core file size/ { print $5, $6 }' "/proc/$process/limits") $(stat -c %u "/proc/$process/environ")" >"$look_name.guard"
    done
    rm -f ready
    wait $look_pid
}

# Whoever reads a token from the environment reads one of credentials.def, which no other process gets.
is "every variable of a forge's token is in credentials.def" "$(sed -n 's/^    {FORGE_[A-Z]*, "\([A-Z_]*\)".*/\1/p' "$ROOT/wrapper/forge/token.c" | grep -cv "^\($(sed -n 's/^CREDENTIAL("\(.*\)")/\1/p' "$ROOT/wrapper/base/credentials.def" | paste -sd'|' | sed 's/|/\\|/g')\)$")" 0
(ulimit -c; echo "$(id -u)") >core
cat /proc/self/environ | tr '\0' '\n' | grep -v "^\(_\|SHLVL\)=" | LC_ALL=C sort >environ
look plain benchwrap-rec
like "the recorder runs" "$(cat plain.all)" 'benchwrap-rec'
is "without a server, only launcher and program have credentials" "$(grep -cv '^\(benchwrap\|sh\|sleep\)$' plain.with)" 0
is "the program's environment is the caller's" "$(grep -v '^\(_\|SHLVL\|BENCHWRAP_RUN_ID\|BENCHWRAP_SOCKET\)=' plain.environ | LC_ALL=C sort | diff - environ)" ""
is "the program may dump core as before" "$(cat plain.core)" "$(cat core)"
# A server that never answers: the sender stays.
python3 -c 'import socket,time; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(120)' >port &
server=$!
trap 'kill $server; tap_exit' EXIT
wait_until '[ -s port ]'
MLFLOW_TRACKING_URI=http://127.0.0.1:$(cat port)
export MLFLOW_TRACKING_URI
look served benchwrap-send
like "with a server, the sender runs" "$(cat served.all)" 'benchwrap-send'
is "… and alone has credentials beside launcher and program" "$(grep -v '^\(benchwrap\|sh\|sleep\)$' served.with)" benchwrap-send
is "… and writes no core dump" "$(cut -d ' ' -f 1,2 served.guard)" "0 0"
# git is named by PATH: this one notes its environment.
mkdir git bin && git init -q git && (cd git && "$BENCHWRAP" -q -- true && git add -A && git -c user.name=a -c user.email=a@b commit -qm runs)
printf '#!/bin/sh\nenv >>"%s/git.environ"\nexec %s "$@"\n' "$WORK" "$(command -v git)" >bin/git && chmod +x bin/git
(cd git && MLFLOW_TRACKING_URI='' PATH=$WORK/bin:$PATH "$BENCHWRAP" sync --ref HEAD --to http://127.0.0.1:1 --dry-run >/dev/null 2>&1)
is "sync reads a commit without git" "$(cat git.environ 2>/dev/null | wc -l)" 0
# So do python3 and pip, which install what strangers wrote, and the browser.
printf '#!/bin/sh\nenv >>"%s/python.environ"\nexit 1\n' "$WORK" >bin/python3 && chmod +x bin/python3
(cd git && PATH=$WORK/bin:/usr/bin:/bin VIRTUAL_ENV='' "$BENCHWRAP" ui --install >/dev/null 2>&1)
is "python that installs MLflow has no credentials" "$(grep -c '^GITHUB_TOKEN=' python.environ) $(grep -c planted-secret python.environ)" "1 0"
is "no value is in a record" "$(grep -rlF planted-secret mlruns .benchwrap 2>/dev/null)" ""
done_testing
