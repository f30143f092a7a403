#!/bin/bash
# Exporters: runs reach files, pipes and sockets; what cannot be delivered waits, costs the run nothing and goes out later, once.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK/d" && cd "$WORK/d" || exit 1
exporters() { { echo exporters:; printf -- '- %s\n' "$@"; } >"$config"; }
bw() { "$BENCHWRAP" -q "$@" -- true; }
state() # NAME,DELIVERED,PENDING,DEAD LETTERS of each exporter; by awk, since jq takes ten times as long and this is asked until it is as expected
{
    "$BENCHWRAP" exporter list --json | awk -F '"' '$2 == "name" { printf "%s", $4 } $2 ~ /^(delivered|pending|dead_letters)$/ { gsub(/[^0-9]/, "", $3); printf ",%s", $3 }
        $2 == "dead_letters" { printf " " }'
}
fresh() { wait_until idle; rm -rf "$WORK/d"; mkdir -p "$WORK/d"; cd "$WORK/d" || exit 1; }
wait_state() # EXPECTED: of all exporters
{
    expected_state=$1
    wait_until '[ "$(state)" = "$expected_state" ]'
    state
}
reader() # FILE COMMAND…: a reader in the background, whose pid is in $reader_pid
{
    reader_out=$1; shift
    "$@" >"$reader_out" 2>/dev/null &
    reader_pid=$!
}
fifo_reader() # prints what comes through the pipe, which it has opened once `ready` exists, until the writer closes it
{
    python3 -c 'import os, select, sys
f = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
os.close(os.open("ready", os.O_CREAT | os.O_WRONLY))
while select.select([f], [], [], 60)[0] and (b := os.read(f, 65536)): sys.stdout.buffer.write(b); sys.stdout.flush()'
}
tcp_reader() # PORTFILE [CONNECTIONS]: prints what it receives
{
    python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", 0)); s.settimeout(60); open(sys.argv[1] + ".new", "w").write(str(s.getsockname()[1]))
import os; os.rename(sys.argv[1] + ".new", sys.argv[1])
for i in range(int(sys.argv[2])):
    c, _ = s.accept()
    while (b := c.recv(65536)): sys.stdout.buffer.write(b)
    c.close(); sys.stdout.flush()' "$1" "${2:-1}"
}
ids() { jq -r .id "$@"; }
tree_ids() { basename -a mlruns/*/*/meta.yaml >/dev/null 2>&1; for m in mlruns/*/*/meta.yaml; do basename "$(dirname "$m")"; done | grep -E '^[0-9a-f]{32}$' | sort; }

# ---- a file ----
exporters "{type: jsonl, name: lake, file: $WORK/d/lake.jsonl}"
"$BENCHWRAP" -q -e io -p size=4 --tag note='a "b"' -- sh -c 'echo "bandwidth: 12.5 MB/s"'
is "a run is delivered to a file" "$(wait_state "lake,1,0,0 ")" "lake,1,0,0 "
is "the line is the run" "$(jq -r '[.id, .experiment, .status, .params.size, .tags.note, (.metrics[] | select(.key == "bandwidth_MB_per_s") | .value, .unit)] | join(" ")' lake.jsonl)" \
    "$(tree_ids) io FINISHED 4 a \"b\" 12.5 MB_per_s"
show=$("$BENCHWRAP" show --json last)
is "params, tags and missing values are those of the run" "$(jq -cS '[.params, .tags, .missing, .verdict, .start_ms, .end_ms, .user]' lake.jsonl)" "$(jq -cS '[.params, .tags, .missing, .verdict, .start_ms, .end_ms, .user]' <<<"$show")"
is "so are the metrics" "$(jq -cS '[.metrics[] | {key, value, unit, direction}]' lake.jsonl)" "$(jq -cS '[.metrics[] | {key, value, unit, direction}]' <<<"$show")"
bw && wait_state "lake,2,0,0 " >/dev/null
is "the next run is appended" "$(ids lake.jsonl | sort)" "$(tree_ids)"
bw --no-export; BENCHWRAP_NO_EXPORT=1 bw
wait_until idle
is "--no-export delivers nothing, nor does BENCHWRAP_NO_EXPORT" "$(state)$(wc -l <lake.jsonl)" "lake,2,0,0 2"
is "exporter send delivers them later" "$("$BENCHWRAP" exporter send lake --since 1h) $(ids lake.jsonl | sort -u | tr '\n' ' ')" "lake: 4 of 4 runs delivered $(tree_ids | tr '\n' ' ')"
lines=$(wc -l <lake.jsonl)
is "--dry-run prints the line and sends nothing" "$("$BENCHWRAP" exporter send lake last --dry-run | cmp - <("$BENCHWRAP" exporter send lake last -n) && wc -l <lake.jsonl)" "$lines"
is "exporter check" "$("$BENCHWRAP" exporter check | awk 'NR == 2 { print $1, $2 }')" "lake good"
"$BENCHWRAP" exporter send lake 0000000 >/dev/null 2>err; is "a run that is not there" "$? $(grep -c '^benchwrap: exporter: ' err)" "1 1"
"$BENCHWRAP" exporter send nobody last >/dev/null 2>err; is "an exporter that is not there" "$?" 1
"$BENCHWRAP" exporter frob >/dev/null 2>err; is "a wrong word" "$?" 125
like "the kinds and keys are listed" "$("$BENCHWRAP" exporter types jsonl)" '^ +socket +PATH\|HOST:PORT'
# A line that a kill has cut is completed; a line of others stays.
fresh
exporters "{type: jsonl, name: lake, file: $WORK/d/lake.jsonl}"
printf '{"benchwrap_run":1,"id":"cut' >lake.jsonl; bw; wait_state "lake,1,0,0 " >/dev/null
is "a cut line of ours is replaced" "$(wc -l <lake.jsonl) $(ids lake.jsonl)" "1 $(tree_ids)"
printf 'theirs' >>lake.jsonl; bw; wait_state "lake,2,0,0 " >/dev/null
is "a line of others without an end stays" "$(sed -n 2p lake.jsonl) $(sed -n 3p lake.jsonl | jq -r .benchwrap_run)" "theirs 1"
ln -s lake.jsonl link.jsonl; exporters "{type: jsonl, name: lake, file: $WORK/d/link.jsonl}"; bw; wait_state "lake,3,0,0 " >/dev/null
is "a link of the user is followed" "$(wc -l <lake.jsonl)" 4
exporters "{type: jsonl, name: lake, file: $WORK/d/no/such}"; bw
wait_until idle
like "a missing folder is reported, and the run waits" "$("$BENCHWRAP" exporter list)" 'lake .* 1 .*No such file'
is "the next run says so, and runs" "$("$BENCHWRAP" -- echo hi 2>err; grep -c 'exporter lake has not delivered since' err)" "hi
1"
mkdir no; wait_until idle
"$BENCHWRAP" sync >/dev/null; is "sync delivers both" "$(wc -l <no/such) $(state)" "2 lake,5,0,0 "

# ---- wait, repetitions, runs inside runs ----
fresh
exporters "{type: jsonl, name: lake, file: $WORK/d/lake.jsonl, wait: 60s}"
bw; is "wait: the run is delivered when benchwrap ends" "$(wc -l <lake.jsonl)" 1
"$BENCHWRAP" -q --repeat 3 -- true; is "repetitions and their parent" "$(wc -l <lake.jsonl) $(ids lake.jsonl | sort | uniq -d)" "5 "
"$BENCHWRAP" -q --repeat 3 --as steps -- true; is "steps are one run" "$(wc -l <lake.jsonl) $(state)" "6 lake,6,0,0 "
"$BENCHWRAP" -q -- "$BENCHWRAP" -q -- true; is "a run inside a run" "$(wc -l <lake.jsonl)" 8
is "all are in the tree" "$(ids lake.jsonl | sort)" "$(tree_ids)"
{ "$BENCHWRAP" -q -- sh -c 'kill -9 $$'; } 2>/dev/null; is "a failed run" "$(tail -n 1 lake.jsonl | jq -r .status)" KILLED
"$BENCHWRAP" -q --profile public -- true; is "the public profile applies" "$(tail -n 1 lake.jsonl | jq -c '[.tags."benchwrap.profile", .user, .tags.hostname]') $(tail -n 1 lake.jsonl | grep -c "\"$(uname -n)\"")" '["public","",null] 0'

# ---- a pipe ----
fresh
pipe() { exporters "{type: jsonl, name: pipe, pipe: $WORK/d/fifo, deadline: $1}"; }
pipe 3s
bw; wait_until idle; is "no pipe: the run waits, and no file is made" "$(state)$(ls -d fifo 2>/dev/null)" "pipe,0,1,0 "
mkfifo fifo; bw; wait_until idle; is "a pipe without a reader: both wait" "$(state)" "pipe,0,2,0 "
pipe 60s; reader got fifo_reader; wait_until '[ -e ready ]'; "$BENCHWRAP" sync >/dev/null; wait $reader_pid; rm ready
is "a reader gets both" "$(ids got | sort)" "$(tree_ids)"
pipe 3s
(exec 9<>fifo; dd if=/dev/zero of=fifo bs=4096 count=16 oflag=nonblock 2>/dev/null; bw; wait_until idle; state >full)
is "a full pipe whose reader reads nothing: the run waits" "$(cat full)" "pipe,2,1,0 "
(exec 9<>fifo; bw; python3 -c 'import select; select.select([9], [], [], 120)') # until something is in it
"$BENCHWRAP" exporter list >/dev/null; wait_until idle
is "a reader that ends without reading has not got it" "$(state)" "pipe,2,2,0 "
pipe 60s; reader got fifo_reader; wait_until '[ -e ready ]'; "$BENCHWRAP" sync >/dev/null; wait $reader_pid; rm ready
is "the next reader gets all" "$(ids got | sort -u | wc -l) $(state)" "2 pipe,4,0,0 "

# ---- sockets ----
fresh
exporters "{type: jsonl, name: unix, socket: $WORK/d/s}" "{type: jsonl, name: tcp, socket: '127.0.0.1:9'}"
bw; wait_until idle; is "nothing listens: the run waits" "$(state)" "unix,0,1,0 tcp,0,1,0 "
python3 -c 'import socket
import os
s = socket.socket(socket.AF_UNIX); s.bind("s.new"); s.listen(); s.settimeout(60); os.rename("s.new", "s")
c, _ = s.accept()
while (b := c.recv(65536)): open("unix.out", "ab").write(b)' &
unix_pid=$!
wait_until '[ -e s ]'
reader tcp.out tcp_reader "$WORK/d/port" 3 && tcp_pid=$reader_pid
wait_until '[ -e port ]'
exporters "{type: jsonl, name: unix, socket: $WORK/d/s}" "{type: jsonl, name: tcp, socket: '127.0.0.1:$(cat port)'}"
"$BENCHWRAP" sync >/dev/null; is "later both are delivered" "$(state)" "unix,1,0,0 tcp,1,0,0 "
wait $unix_pid; is "over the Unix socket" "$(ids unix.out)" "$(tree_ids)"
bw; wait_state "unix,1,1,0 tcp,2,0,0 " >/dev/null; exporters "{type: jsonl, name: tcp, socket: 'localhost:$(cat port)'}"; bw; wait_state "tcp,3,0,0 " >/dev/null
wait "$tcp_pid"; is "over TCP, by address and name" "$(ids tcp.out | sort)" "$(tree_ids)"
python3 -c 'import socket, struct, os
s = socket.create_server(("127.0.0.1", 0)); open("port2", "w").write(str(s.getsockname()[1]))
c, _ = s.accept(); c.recv(10); c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); c.close()' &
wait_until '[ -s port2 ]'
exporters "{type: jsonl, name: half, socket: '127.0.0.1:$(cat port2)', deadline: 3s}"; bw; wait; wait_until idle
is "a reader that resets the connection has not got the run" "$(state)" "half,0,1,0 "

# ---- dead letters, bounds ----
fresh
exporters "{type: jsonl, name: lake, file: $WORK/d/no/lake.jsonl, max-pending: 3}"
bw; wait_until idle; gone=$(tree_ids); rm -rf mlruns/*/"$gone"; bw; wait_until idle; mkdir no
"$BENCHWRAP" sync >out; is "a run that was removed from the tree becomes a dead letter" "$(state) $(grep -c 'exporter lake: 1 run delivered' out)" "lake,1,0,1  1"
is "with the reason" "$("$BENCHWRAP" exporter dead-letter lake --json | jq -r '.[] | .run + " " + (.why | test("not in .*mlruns any more") | tostring)')" "$gone true"
"$BENCHWRAP" exporter dead-letter lake --resend >/dev/null; is "--resend tries again" "$? $(state)" "1 lake,1,0,1 "
is "--drop removes it" "$("$BENCHWRAP" exporter dead-letter lake --drop) $(state)" "lake: 1 dead letter dropped; the runs are still in the tree lake,1,0,0 "
rm -rf no; for _ in 1 2 3 4 5; do bw; done; wait_until idle; "$BENCHWRAP" sync >/dev/null 2>&1 & sync_pid=$!
kept() { "$BENCHWRAP" exporter list --json | jq -c '.[] | [.pending, .dropped]'; }
wait_until '[ "$(kept)" = "[3,2]" ]'; kill $sync_pid; wait $sync_pid
is "max-pending: more are dropped and counted" "$(kept)" "[3,2]"
echo garbage >".benchwrap/export/lake/1700000000000-0123456789abcdef0123456789abcdef"; mkdir no; "$BENCHWRAP" sync >/dev/null
is "a damaged entry becomes a dead letter, others are delivered" "$(state)" "lake,4,0,1 "

# ---- configuration ----
fresh
exporters "{type: jsonl, name: lake, file: $WORK/d/lake.jsonl, wait: 60s}" "{type: nothing}" "{type: jsonl, name: ../x, file: /tmp/x}" "{type: jsonl, file: relative}" "{type: jsonl, file: /a, pipe: /b}" \
    "{type: jsonl, name: lake, file: /tmp/y}" "{type: jsonl, name: k, file: /a, sise: 3}" "text"
bw 2>err
is "wrong entries are named and left out" "$(grep -c '^benchwrap: .*config.yaml:[0-9]*.*ignored' err) $("$BENCHWRAP" exporter list --json 2>/dev/null | jq -r '.[].name') $(wc -l <lake.jsonl)" "7 lake 1"
echo 'exporters: {type: jsonl}' >"$config"; bw 2>err; like "a map is no list" "$(cat err)" 'expected a list'
rm "$config"; git init -q . && printf 'exporters: [{type: jsonl, name: evil, file: %s/stolen}]\n' "$WORK" >benchwrap.yaml && mkdir -p .benchwrap && cp benchwrap.yaml .benchwrap/config.yaml
bw 2>err; wait_until idle
is "a repository configures none" "$(ls -d "$WORK/stolen" .benchwrap/export/evil 2>/dev/null) $(grep -c 'ignored exporters' err) $("$BENCHWRAP" exporter list --json 2>/dev/null)" " 2 []"
exporters "{type: jsonl, name: off, file: $WORK/d/lake.jsonl, enabled: no}"; bw 2>/dev/null; is "enabled: no" "$(ls -d .benchwrap/export/off 2>/dev/null)" ""
exporters "{type: jsonl, name: lake, file: $WORK/d/lake.jsonl}"; "$BENCHWRAP" plan -- true >out 2>&1; like "plan shows it" "$(cat out)" '^exporter +lake +.*config.yaml:2'

# ---- a spool that another user has put there ----
fresh
exporters "{type: jsonl, name: lake, file: $WORK/d/lake.jsonl, wait: 60s}"
if [ "$(id -u)" = 0 ]; then
    mkdir -p .benchwrap/export/lake && chown -R 12345 .benchwrap/export
    "$BENCHWRAP" -- true 2>err; is "a spool of another user is not used" "$(find .benchwrap/export -type f) $(grep -c 'not delivered to the exporter lake: .*belongs to another user' err)" " 1"
    rm -rf .benchwrap/export; mkdir "$WORK/theirs"; ln -s "$WORK/theirs" .benchwrap/export; chown -h 12345 .benchwrap/export
    bw 2>/dev/null; is "nor is a link of another user" "$(ls -A "$WORK/theirs")" ""
    rm .benchwrap/export; mkdir -m 777 .benchwrap/export; bw 2>err; is "nor one that all may write" "$(ls .benchwrap/export)" ""
    rm -rf .benchwrap/export; bw; is "without them it is delivered" "$(wc -l <lake.jsonl)" 1
else
    skip_here "a spool of another user" "needs root"
fi

# ---- faults ----
fresh
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=64k none full 2>/dev/null; then
    exporters "{type: jsonl, name: lake, file: $WORK/d/full/lake.jsonl}"
    for _ in 1 2 3 4 5 6 7 8; do bw; wait_until idle; done
    is "a full disk: complete lines alone" "$(jq -c .benchwrap_run full/lake.jsonl | sort -u) $(tail -c 1 full/lake.jsonl | od -An -c | tr -d ' ')" '1 \n'
    ok "some wait" [ "$("$BENCHWRAP" exporter list --json | jq '.[].pending')" -gt 0 ]
    mount -o remount,size=4m full; "$BENCHWRAP" sync >/dev/null
    is "with space all arrive, once" "$(ids full/lake.jsonl | sort)" "$(tree_ids)"
    umount full
else
    skip_here "a full disk" "mounting needs root"
fi
fresh
exporters "{type: jsonl, name: lake, file: $WORK/d/lake.jsonl}"
for _ in $(seq 20); do bw --no-export; done
kills=0
"$BENCHWRAP" exporter send lake --since 1h >/dev/null 2>&1 &
for delay in 0.002 0.005 0.01 0.015 0.02 0.03 0.004 0.008 0.012 0.025; do
    sleep $delay; kill -9 $! 2>/dev/null && kills=$((kills + 1)); wait $! 2>/dev/null
    "$BENCHWRAP" sync >/dev/null 2>&1 &
done
wait; "$BENCHWRAP" exporter send lake --since 1h >/dev/null
is "killed $kills times while it delivers: every run arrives, in complete lines" "$(ids lake.jsonl | sort -u)" "$(tree_ids)"
rm -rf lake.jsonl
for _ in $(seq 10); do "$BENCHWRAP" -q -- sh -c 'sleep 0.01' & wait $!; for p in $(pgrep -x benchwrap-exp); do { tr '\0' ' ' <"/proc/$p/environ" | grep -q "HOME=$HOME" && kill -9 "$p"; } 2>/dev/null; done; done
wait_until '"$BENCHWRAP" sync; [ "$(ids lake.jsonl | sort -u | wc -l)" = 10 ]' # the sender of the last run may still be at work, and has the queue
is "processes killed behind runs: the runs still arrive" "$(ids lake.jsonl | sort -u | wc -l)" 10
done_testing
