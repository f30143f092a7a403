#!/bin/bash
# Streams: byte-exact, at once, in order, whoever reads, whatever stalls; recorded and unrecorded.
# sanitizer: long, because megabytes through a slowed launcher take minutes; t0100 and t0110 walk the same code
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/launch.sh"
cd "$WORK" || exit 1
big=$((BENCHWRAP_LONG ? 1024 : 256)) # MiB

ended() { sed "s/ /\n/g" "$FAKE_DIR/ended" | sed -n "s/^$1=//p"; }
cat >binary.py <<'P'
import os, sys, random
random.seed(int(sys.argv[1])); fd = int(sys.argv[2]); left = int(sys.argv[3])
block = bytes(random.getrandbits(8) for _ in range(65536))
while left:
    n = min(left, random.choice((1, 13, 4096, 65536, 40000)))
    os.write(fd, block[:n]); left -= n
P

for way in recorded stalled dead unrecorded limited; do
    mode=
    case $way in
    recorded) set -- "$LAUNCH" -q -- ;;
    stalled) set -- "$LAUNCH" -q -- ; mode=stall ;;
    dead) set -- "$LAUNCH" -q -- ; mode=die ;;
    unrecorded) set -- "$BARE" -q -- ;;
    limited) set -- "$BARE" -q -T 100 -- ;;
    esac
    export FAKE_MODE=$mode
    python3 binary.py 1 1 9000000 >plain.out
    python3 binary.py 2 2 9000000 2>plain.err
    "$@" sh -c 'python3 binary.py 1 1 9000000 & python3 binary.py 2 2 9000000; wait' >out 2>err
    ok "$way: stdout is exact" cmp plain.out out
    case $way in
    recorded | stalled) ok "$way: stderr is exact" cmp plain.err err ;;
    *) ok "$way: stderr is exact but for one warning" sh -c 'grep -av "^benchwrap: " err | head -c 3000 >e1; head -c 3000 plain.err >e2; grep -ac "^benchwrap: " err >/dev/null' ;;
    esac
    is "$way: no line end at the end" "$("$@" printf 'a\nb' 2>/dev/null | od -c | head -n 1)" "$(printf 'a\nb' | od -c | head -n 1)"
    is "$way: stdin is the caller's" "$(printf 'one\ntwo\nthree\n' | { "$@" sh -c 'read x; echo "$x"' 2>/dev/null; cat; })" "$(printf 'one\ntwo\nthree\n' | { sh -c 'read x; echo "$x"'; cat; })"
    is "$way: a reader that goes early ends the program by SIGPIPE" "$("$@" sh -c 'yes; echo $? >yes.rc' 2>/dev/null | head -c 10 | head -n 1; cat yes.rc)" "$(sh -c 'yes; echo $? >yes.rc' 2>/dev/null | head -c 10 | head -n 1; cat yes.rc)"
    is "$way: a slow reader gets all" "$("$@" sh -c 'head -c 3000000 /dev/zero' 2>/dev/null | { sleep 0.4; wc -c; })" 3000000
    "$@" sh -c 'echo 1; echo 2 >&2; echo 3; echo 4 >&2; echo 5' >both 2>&1
    is "$way: one file for both keeps the order" "$(grep -v '^benchwrap' both)" "1
2
3
4
5"
    is "$way: the program may close its stdout" "$("$@" sh -c 'exec 1>&-; sleep 0.2; echo late >&2; exit 6' 2>&1 | grep -v '^benchwrap'; echo "${PIPESTATUS[0]}")" "late
6"
    printf 'old\n' >appended
    "$@" echo new >>appended 2>/dev/null
    is "$way: appending appends" "$(cat appended)" "old
new"
    rm -f came
    is "$way: bytes come at once" "$("$@" sh -c 'printf x; n=0; until [ -e came ] || [ $n = 1000 ]; do sleep 0.02; n=$((n + 1)); done; printf y' 2>/dev/null |
        perl -e 'sysread STDIN, $a, 9; open F, ">came"; sysread STDIN, $b, 9; print length($a), length($b)')" 11
    is "$way: thousands of children" "$("$@" bash -c 'for i in $(seq 2000); do (:); done; echo done' 2>/dev/null)" "done"
    is "$way: orphans by hundreds" "$("$@" sh -c 'for i in $(seq 300); do (sleep 0.01 & ) ; done; sleep 0.3; echo done' 2>/dev/null)" "done"
    rm -f go went
    "$@" setsid sh -c '(while [ ! -e go ]; do sleep 0.02; done; echo late; sleep 0.1; echo later; touch went; exec sleep 60) & echo $! >daemon.pid; echo up' >out 2>err
    is "$way: a background process that holds stdout is not waited for" "$(cat out)" "up"
    touch go
    wait_until '[ -e went ] && [ "$(wc -l <out)" = 3 ]'
    is "$way: ... what it writes later arrives, and it lives on" "$(xargs <out) $(kill -0 "$(cat daemon.pid)" && echo alive)" "up late later alive"
    kill "$(cat daemon.pid)"
    rm -f returned
    is "$way: ... and the stream ends with its last holder" "$({ "$@" sh -c '(until [ -e returned ]; do sleep 0.02; done; head -c 300000 /dev/zero | tr "\0" z; echo; echo end) & echo up' 2>/dev/null; echo returned; touch returned; } | tr -s z | xargs)" "up returned z end"
    for _ in 1 2 3 4 5 6 7 8; do # a busy machine may take as long
        start=$(date +%s%N)
        "$@" sh -c '(setsid sleep 60 >/dev/null 2>&1 & echo $! >daemon.pid); echo up' >out 2>/dev/null
        ms=$((($(date +%s%N) - start) / 1000000))
        kill "$(cat daemon.pid)"
        [ $ms -ge 1500 ] || break
    done
    is "$way: one that does not is not waited for" "$(cat out) $((ms < 1500))" "up 1"
done
unset FAKE_MODE

# what the recorder got
rm -f go
"$LAUNCH" -q -- sh -c '(until [ -e go ]; do sleep 0.02; done; echo late) & echo up' >out 2>/dev/null
touch go
wait_until '[ "$(wc -l <out)" = 2 ]'
is "a stream that was still open: its later bytes are passed on and not recorded" "$(xargs <out), $(ended open): $(cat "$FAKE_DIR/stdout")" "up late, 3: up"
for _ in 1 2 3 4 5; do # a recorder that a busy machine holds up for 0.25 s in all gets less
    "$LAUNCH" -q -- sh -c 'python3 binary.py 1 1 20000000 & python3 binary.py 2 2 900000; wait' >out 2>err
    [ "$(ended dropped)" != 0,0 ] || break
done
ok "the recorder has the same stdout" cmp out "$FAKE_DIR/stdout"
ok "the recorder has the same stderr" cmp err "$FAKE_DIR/stderr"
is "all was passed on" "$(ended passed)" 20000000,900000
is "nothing was dropped" "$(ended dropped)" 0,0
FAKE_MODE=slow "$LAUNCH" -q -- head -c 100000000 /dev/zero | wc -c >out
is "a slow recorder: waits are bounded for the whole run, the rest is dropped and counted" "$(cat out) $(ended dropped | grep -c '^[1-9]')" "100000000 1"
"$LAUNCH" -q -- sh -c 'echo a; echo b >&2' >out 2>&1
is "merged streams are told" "$(ended merged) $(cat "$FAKE_DIR/stdout")" "1 a
b"
"$LAUNCH" -q --capture none -- sh -c 'echo a; [ -f /dev/stdout ] && echo file' >out
is "--capture none leaves the file a file" "$(cat out) $(ended used)" "a
file 0,0"
"$LAUNCH" -q --capture pty -- sh -c 'echo a; [ -t 1 ] && echo tty' >out
is "--capture pty gives a terminal, without CR" "$(od -c out | head -n 1) $(ended tty)" "0000000   a  \n   t   t   y  \n 0,0"
FAKE_MODE=stall "$LAUNCH" -q -- head -c $((20 << 20)) /dev/zero | wc -c >out
is "a recorder that takes nothing: the reader gets all" "$(cat out)" $((20 << 20))
is "... and the loss is counted" "$(ended dropped)" $((16 << 20)),0
for _ in 1 2 3 4 5 6 7 8; do # the fastest is no matter of the machine's load
    start=$(date +%s%N)
    FAKE_MODE=stall "$LAUNCH" -q -- head -c $((64 << 20)) /dev/zero >/dev/null
    ms=$((($(date +%s%N) - start) / 1000000))
    [ $ms -ge 2500 ] || break
done
ok "... it costs the program one wait of a second" test $ms -lt 2500
"$LAUNCH" -q -- head -c "${big}M" /dev/zero | cmp -n $((big << 20)) - /dev/zero
is "$big MiB pass" "$? $(ended passed)" "0 $((big << 20)),0"
"$LAUNCH" -q -- sh -c 'echo x' >/dev/full 2>err
is "a full device is reported" "$(grep -c '^benchwrap: stdout: writing failed after 0 bytes: No space left on device; the stream is closed, and 2 bytes are lost' err)" 1
is "... with what was lost" "$(ended lost)" 2,0
(ulimit -S -f 1; "$LAUNCH" -q -- sh -c 'head -c 3000 /dev/zero; echo rc $? >&2' >limited 2>err)
is "the caller's file size limit holds" "$(stat -c %s limited) $(grep -c 'writing failed after 1024 bytes' err)" "1024 1"
(ulimit -f 1; "$LAUNCH" -q -- sh -c 'echo x; exit 3' >limited 2>err)
is "no memory to be had under a hard limit: unrecorded" "$? $(cat limited) $(grep -c 'cannot share memory with the recorder: File too large; running it unrecorded' err)" "3 x 1"
is "a warning that nobody reads does no harm" "$(perl -e 'pipe my $r, my $w; close $r; open STDERR, ">&", $w; print system(@ARGV) >> 8' "$BARE" -- sh -c 'exit 3')" 3
python3 - "$LAUNCH" >out <<'P'
import fcntl, socket, struct, subprocess, sys, os, termios, time
def waits(fd, n): # until so many bytes are in the pipe, a minute at most
    end = time.monotonic() + 60
    while struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0] < n and time.monotonic() < end: time.sleep(0.01)
a, b = socket.socketpair()
p = subprocess.Popen([sys.argv[1], "-q", "--", "sh", "-c", "head -c 1000000 /dev/zero; echo end"], stdout=b)
b.close(); n = 0
while True:
    d = a.recv(65536)
    if not d: break
    n += len(d)
print(n, p.wait())
# O_NONBLOCK must not appear on a pipe that is shared with others
r, w = os.pipe()
p = subprocess.Popen([sys.argv[1], "-q", "--", "sh", "-c", "head -c 60000 /dev/zero; sleep 0.3"], stdout=w)
waits(r, 60000)
print(fcntl.fcntl(w, fcntl.F_GETFL) & os.O_NONBLOCK, p.wait())
# a reader that never reads: signals still get through, and the other stream too
r, w = os.pipe(); r2, w2 = os.pipe()
p = subprocess.Popen([sys.argv[1], "-q", "--", "bash", "-c", "trap 'echo got it >&2; exit 3' TERM; echo ready >&2; (head -c 5000000 /dev/zero) & while :; do sleep 0.05; done"], stdout=w, stderr=w2)
os.close(w2); os.read(r2, 100); waits(r, 65536); p.terminate(); print(os.read(r2, 100)); time.sleep(0.5); p.terminate(); os.close(r); os.close(w)
print(p.wait())
P
is "sockets, shared pipes, a reader that does not read" "$(cat out)" "1000004 0
0 0
b'got it\\n'
3"
"$LAUNCH" -q -- sh -c '(sleep 0.2; cat /proc/self/stat >/dev/null) & (setsid sh -c "i=0; while [ \$i -lt 20000 ]; do i=\$((i+1)); done; touch worked" & ) ; until [ -e worked ]; do sleep 0.05; done; sleep 1'
like "a daemon's time is counted when it has ended" "$(ended orphans)" '^[12]$'
"$LAUNCH" -q -- sh -c '(setsid sleep 60 >/dev/null 2>&1 & echo $! >daemon.pid)'
is "what still runs is counted" "$(ended left)" 1
kill "$(cat daemon.pid)"
for _ in 1 2 3 4 5 6 7 8 9; do # as mpirun's daemons do; a busy machine may keep it longer than it is given
    "$LAUNCH" -q -- sh -c '(setsid sleep 0.05 >/dev/null 2>&1 &)'
    [ "$(ended left) $(ended orphans)" = "0 1" ] && break
done
is "what ends a moment after the program is not left behind, and is counted with it" "$(ended left) $(ended orphans)" "0 1"

# stop and continue
rm -f go
"$LAUNCH" -q -- sh -c 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exit 5' >out &
job=$!
sleep 0.2; kill -STOP $job; sleep 0.5; kill -CONT $job
wait $job
is "SIGSTOP and SIGCONT to the launcher" "$? $(tr -d '\n' <out)" "5 123456"
"$LAUNCH" -q -- sh -c 'echo $$ >prog.pid; for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exit 5' >out &
job=$!
wait_until '[ -s prog.pid ]'; kill -STOP "$(cat prog.pid)"; sleep 0.3; kill -CONT "$(cat prog.pid)"
wait $job
is "SIGSTOP and SIGCONT to the program" "$? $(tr -d '\n' <out)" "5 123456"
"$LAUNCH" -q --probe-wait 60 -- sh -c 'echo a; until [ -e go ]; do sleep 0.02; done; echo b; echo $? >after' >out &
wait_until 'grep -q a out'; kill -KILL $!
wait $! 2>/dev/null
touch go
wait_until '[ -e "$FAKE_DIR/orphaned" ]'
is "SIGKILL of the launcher: the recorder sees it" "$(ls "$FAKE_DIR" | grep -c orphaned)" 1

# A launcher that gets no processor between its steps: the recorder reads no state that is not there yet.
if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null; then
    strace -qq -o /dev/null -e trace=pipe2 -e inject=pipe2:delay_enter=300000 "$BENCHWRAP" -q -t late -- echo x >out
    is "pipes that are made late: the record has both streams" "$(cat out late/mlruns/*/*/tags/benchwrap.streams)" "x
separate"
else
    skip "pipes that are made late" "strace is missing or may not trace here"
fi
done_testing
