#!/bin/bash
# The log socket and other users: the kernel names each sender, files travel open, a copy is never more readable than its source.
# shellcheck disable=SC2016,SC2086 # the inner programs' variables, $stranger is words
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || { skip "messages of other senders" "/usr/bin/python3"; done_testing; exit; }
SEND=$WORK/log-sender.py
cp "$TESTLIB/log-sender.py" "$SEND"
chmod 755 "$WORK" "$SEND"
stranger="setpriv --reuid=30017 --regid=30017 --clear-groups --"
export PYTHON SEND BENCHWRAP stranger
one() { cat "$1"/mlruns/*/*/"$2" 2>/dev/null; } # TREE FILE: the only run's
modes() { stat -c '%a %n' "$1"/mlruns/*/*/artifacts/files/* | sed 's| .*/| |'; }
record() { rm -rf "$1"; "$BENCHWRAP" -q -t "$1/mlruns" -- sh -c "$2" 2>"$WORK/err"; } # TREE SCRIPT

# The caller: a file by its descriptor, whatever its position, and never by its name.
echo data >kept.txt
export FILE=$WORK/kept.txt FIFO=$WORK/fifo
mkfifo fifo
record own '{ "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" metric && "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" many; } >sent'
is "a caller's message counts" "$(one own metrics/write.bw | cut -d' ' -f2)" 999999
is "a file comes by its descriptor" "$(one own artifacts/files/sent.txt)" data
is "nothing is counted as dropped" "$(one own tags/benchwrap.log_dropped)" ""
record path '{ "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" path; "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" fifo; FILE=/dev/zero "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" file; FILE=/ "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" file
NAME=../x "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" file; NAME=.. "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" file; } >sent'
is "a path, a FIFO, a device, a folder and a name that leads out keep nothing" "$(ls path/mlruns/*/*/artifacts/files 2>/dev/null)" ""
warned=$("$BENCHWRAP" show --tree path/mlruns last)
like "each is told: a path" "$warned" "carries no open file"
like "a FIFO, a device, a folder" "$(grep -c 'is not a regular file' <<<"$warned")" '^[1-9]'
like "a name that leads out" "$warned" "expected the name of a file"
like "benchwrap log refuses a FIFO itself, and does not wait" "$("$BENCHWRAP" log artifact fifo 2>&1)" "cannot open fifo: not a regular file"
record many 'i=0; while [ $i -lt 40 ]; do "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" many; NAME=n$i "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" fifo; i=$((i + 1)); done >/dev/null
rec=$(pgrep -P $PPID benchwrap-rec); n=0; until [ "$(ls /proc/$rec/fd | wc -l)" -lt 40 ] || [ $n = 300 ]; do sleep 0.1; n=$((n + 1)); done; ls /proc/$rec/fd 2>/dev/null | wc -l >fds'
like "no descriptor stays open" "$(cat fds)" '^([1-9]|[1-3][0-9])$' # a recorder that was not found has none

# Modes: of group and others no more than the source has.
for mode in 600 640 644 604 666 755 400; do (echo $mode >m$mode; chmod $mode m$mode); done
record modes 'exec "$BENCHWRAP" log -a m600 -a m640 -a m644 -a m604 -a m666 -a m755 -a m400'
is "a copy is never more readable than its source" "$(modes modes | paste -sd' ')" "600 m400 600 m600 600 m604 640 m640 644 m644 644 m666 644 m755"
rm -rf rule; "$BENCHWRAP" -q -t rule/mlruns --artifact "$WORK/m600" --artifact "$WORK/m644" -- true
is "so is one of --artifact" "$(modes rule | paste -sd' ')" "600 m600 644 m644"
if command -v setfacl >/dev/null && setfacl -m u:30017:r m640 2>/dev/null; then
    record acl 'exec "$BENCHWRAP" log artifact m640'
    is "the bits of an access control list's mask open nothing" "$(modes acl)" "600 m640"
else
    skip_here "a copy of a file with an access control list" "no access control lists here"
fi

if [ "$(id -u)" != 0 ] || ! $stranger true 2>/dev/null; then
    skip "messages of other users" "root, setpriv"
    done_testing
    exit
fi
chgrp 30017 m640
record group 'exec "$BENCHWRAP" log artifact m640'
is "the group's bit was for another group" "$(modes group)" "600 m640"

# Strangers: nothing enters, all is counted; in the public profile, too.
chmod 600 kept.txt
echo secret >theirs.txt; chown 30017 theirs.txt
tries=200
[ -z "${BENCHWRAP_LONG:-}" ] || tries=2000
export tries
for profile in private public; do
    rm -rf foreign
    "$BENCHWRAP" -q --profile $profile -t foreign/mlruns -- sh -c 'export FILE="$PWD/theirs.txt"
    for kind in metric path root caller=0 caller='"$(id -u)"' file many text={ "text={\"tag\":\"mlflow.user\",\"value\":\"eve\"}"; do
        $stranger "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" "$kind" $tries
    done >sent; "$BENCHWRAP" log mine=1' 2>err
    total=$(awk '{ n += $1 } END { print n }' sent)
    is "$profile: of $total messages of a stranger none enters" \
        "$(one foreign metrics/write.bw)$(ls foreign/mlruns/*/*/artifacts/files 2>/dev/null)$(grep -x eve foreign/mlruns/*/*/tags/mlflow.user 2>/dev/null)" ""
    is "$profile: all of them are counted" "$(one foreign tags/benchwrap.log_dropped)" "$total"
    [ "$total" -ge $((6 * tries)) ] || is "$profile: messages could be sent" "$total" "at least $((6 * tries))"
    like "$profile: a warning says so" "$("$BENCHWRAP" show --tree foreign/mlruns last)" "log: $total messages of other users were dropped"
    is "$profile: the caller's message counts" "$(one foreign metrics/mine | cut -d' ' -f2)" 1
done
is "a claim of another uid is refused by the kernel" "$(grep -c PermissionError sent)" 3

# A flood: the caller's messages arrive, and the run ends.
mkdir -m 777 flooding
record flood 'for i in 1 2 3 4; do timeout 300 $stranger "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" flood & flood="$flood $!"; done >/dev/null 2>&1; until [ -e flooding/begun ]; do sleep 0.05; done
for i in 1 2 3 4 5 6 7 8 9 10; do "$BENCHWRAP" log --strict --step $i loss=$i || echo lost; done >lost; kill $flood'
is "in a flood of strangers all of the caller's messages arrive" "$(one flood metrics/loss | wc -l) $(cat lost)" "10 "
like "and the flood is counted" "$(one flood tags/benchwrap.log_dropped)" '^[0-9]{3,}$'

# Root may send.
chmod 755 "$WORK"; mkdir user; chown 30017 user
if users_program=$WORK/program && mkdir -p "$users_program" && top=$(dirname "$(dirname "$BENCHWRAP")") &&
    cp -R "$top/bin" "$top/libexec" "$users_program/" && chmod -R a+rX "$users_program"; then
    cat >as-root.sh <<'S'
read -r name <name.fifo
BENCHWRAP_SOCKET=$name "$BENCHWRAP" log --strict by_root=1 && SUDO_UID=30017 BENCHWRAP_SOCKET=$name "$BENCHWRAP" log --strict artifact "$WORK/m600"
echo done >done.fifo
S
    mkfifo name.fifo done.fifo; chmod 666 name.fifo done.fifo
    sh as-root.sh & 
    (cd user && HOME=$WORK/user $stranger "$users_program/bin/benchwrap" -q -- sh -c 'echo "$BENCHWRAP_SOCKET" >../name.fifo; read x <../done.fifo')
    wait
    is "root may send to a user's run, as under sudo" "$(cut -d' ' -f2 user/mlruns/*/*/metrics/by_root)" 1
    is "and a file of root's stays closed to others" "$(stat -c %a user/mlruns/*/*/artifacts/files/m600)" 600
    # The name after the recorder's death: a stranger who takes it gets no file and no fact.
    cat >squat.py <<'S'
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\0benchwrap/squat-%s" % os.environ["SQUAT"])
print("up", flush=True)
s.settimeout(300)
try:
    while True:
        print(socket.recv_fds(s, 4096, 4)[:2], file=open(os.environ["GOT"], "a"))
except Exception as e:
    print(type(e).__name__)
S
    mkfifo up.fifo; chmod 666 up.fifo; : >got; chmod 666 got
    SQUAT=$$ GOT=$WORK/got timeout 120 $stranger "$PYTHON" squat.py >up.fifo & squat=$!
    { read -r _; out=$(SUDO_UID=30018 BENCHWRAP_SOCKET=@benchwrap/squat-$$ "$BENCHWRAP" log --strict artifact kept.txt 2>&1); echo "status $?" >squat.status
        SUDO_UID=30018 BENCHWRAP_SOCKET=@benchwrap/squat-$$ "$BENCHWRAP" log --strict -p note=private loss=1; echo "status $?" >facts.status
        SUDO_UID=30018 BENCHWRAP_SOCKET=@benchwrap/squat-$$ "$BUILD/bin/llmload" http://127.0.0.1:1 -m m -r 5 -d 2s -q; } <up.fifo >/dev/null 2>&1
    kill $squat 2>/dev/null
    if { command -v modprobe >/dev/null && modprobe -n unix_diag 2>/dev/null; } || grep -qs unix_diag /proc/modules || [ "$(cat squat.status)" = "status 1" ]; then
        like "who took the name of a socket gets no file" "$out $(cat squat.status)" "belongs to another user.*status 1"
        is "nor any fact of log or llmload" "$(cat facts.status) $(cat got)" "status 1 "
    else
        skip_here "who took the name of a socket gets no file" "the kernel has no unix_diag"
    fi
fi

# Namespaces: the kernel still names the sender as the recorder's namespace knows it.
if unshare -U true 2>/dev/null; then
    record spaces 'unshare -Ur "$BENCHWRAP" log --strict inside=1; unshare -U "$BENCHWRAP" log --strict unmapped=2
    $stranger unshare -Ur "$PYTHON" "$SEND" "$BENCHWRAP_SOCKET" metric 5 >sent; unshare -Urm "$BENCHWRAP" log --strict artifact m600'
    is "log works from a user namespace, mapped or not" "$(one spaces metrics/inside | cut -d' ' -f2) $(one spaces metrics/unmapped | cut -d' ' -f2)" "1 2"
    is "a stranger who is root in a namespace of his own stays a stranger" "$(one spaces metrics/write.bw)$(one spaces tags/benchwrap.log_dropped)" "$(cat sent)"
    is "a file comes from there, too" "$(modes spaces)" "600 m600"
    rm -rf within; unshare -Ur "$BENCHWRAP" -q -t within/mlruns -- sh -c '"$BENCHWRAP" log mine=1; sleep 0.1' 2>/dev/null
    is "and a whole run within one hears its program" "$(one within metrics/mine | cut -d' ' -f2)" 1
else
    skip_here "user namespaces" "they are not allowed here"
fi

# Containers: bubblewrap with each namespace but the network's; sudo sends as root for the user.
if ! command -v bwrap >/dev/null; then
    skip "log works from a container of bubblewrap" "bubblewrap"
elif ! bwrap --dev-bind / / --unshare-user --unshare-pid true 2>/dev/null; then
    skip_here "log works from a container of bubblewrap" "it cannot make namespaces here"
else
    record bubble 'bwrap --dev-bind / / --unshare-user --unshare-pid --unshare-ipc --unshare-uts --proc /proc "$BENCHWRAP" log --strict -a m600 inside=1
    bwrap --dev-bind / / --unshare-user --uid 1234 --gid 1234 "$BENCHWRAP" log --strict another_uid=2; bwrap --dev-bind / / --unshare-net "$BENCHWRAP" log --strict no_net=3 2>net'
    is "log works from a container of bubblewrap, also under another uid there" "$(one bubble metrics/inside | cut -d' ' -f2) $(one bubble metrics/another_uid | cut -d' ' -f2) $(modes bubble)" "1 2 600 m600"
    like "from a network namespace of its own it reports that no recorder answers" "$(cat net)$(one bubble metrics/no_net)" "does not answer"
fi
if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    record sudone 'sudo -n --preserve-env=BENCHWRAP_SOCKET "$BENCHWRAP" log --strict -a m600 by_sudo=1'
    is "log works under sudo" "$(one sudone metrics/by_sudo | cut -d' ' -f2) $(modes sudone)" "1 600 m600"
else
    skip_here "log works under sudo itself" "no sudo here; root with SUDO_UID is tested above"
fi
done_testing
