#!/bin/sh
# llmload's own lateness: what a late read brought is no sample, what the server sent together is, and the run says which it was.
# sanitizer: no, because a preloaded library sets the clock
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llmfake.sh"
. "$TESTLIB/set_clock.sh"

# A server that stops its client while it sends: "apart" three tokens 40 ms from each other, "together" three in one write, "far" 300 ms, "thinks" a token of
# reasoning before and two others then, "full" as many as the sockets hold; "free" three in one write without stopping it; "large" two of 40 KB, 40 ms from each other; "counted" as "together", then a token while
# the client counts the segments of that read, and the end 40 ms later; "sized" a token, and 40 ms later the size of the next chunk alone; "comment" a token, and 40 ms later a comment; "ended" a token, and 40 ms later the end of its chunk; "bytes" a token byte by byte. Its output is the port; the client's process is in the file that is its argument.
cat >"$WORK/stops.py" <<'P'
import fcntl, os, signal, socket, struct, sys, termios, time
if len(sys.argv) > 2:
    s = socket.socket(socket.AF_UNIX)
    s.bind(sys.argv[2]), s.listen()
    print("unix:" + sys.argv[2], flush=True)
else:
    s = socket.create_server(("127.0.0.1", 0))
    print(s.getsockname()[1], flush=True)
def piece(data): return b"%x\r\n%s\r\n" % (len(data), data)
token = piece(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
thought = piece(b'data: {"choices":[{"delta":{"reasoning":"a"}}]}\n\n')
last = piece(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n') + b"0\r\n\r\n"
end = piece(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n') + b"0\r\n\r\n"
size_end = last.index(b"\n") + 1
folder = os.path.dirname(sys.argv[1])
head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    while not is_stopped(pid): time.sleep(0.001)
def is_stopped(pid): return all(open(f"/proc/{pid}/task/{t}/stat").read().rsplit(")", 1)[1].split()[0] == "T" for t in os.listdir(f"/proc/{pid}/task"))
def unread(c): # bytes that the client has not read yet
    if c.family == socket.AF_UNIX: return struct.unpack("i", fcntl.ioctl(c, termios.TIOCOUTQ, bytes(4)))[0]
    ends = [":%04X" % a[1] for a in (c.getpeername(), c.getsockname())]
    rows = (line.split() for line in open("/proc/net/tcp"))
    return next((int(r[4].split(":")[1], 16) for r in rows if r[1].endswith(ends[0]) and r[2].endswith(ends[1])), 0)
def wait_read(c):
    end = time.monotonic() + 60
    while unread(c) and time.monotonic() < end: time.sleep(0.002)
    time.sleep(0.05) # what it does with it
while True:
    c, _ = s.accept()
    if s.family != socket.AF_UNIX: c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while True:
        got = b""
        while not got.endswith(b"}"):
            more = c.recv(65536)
            if not more: break
            got += more
        if not got: break
        how = got.split(b"/")[1]
        stopped = how != b"free"
        time.sleep(0.03)
        if how in (b"thinks", b"full"):
            c.sendall(head + thought)
            wait_read(c)
        if stopped:
            pid = int(open(sys.argv[1]).read())
            stop(pid)
        if how in (b"apart", b"far", b"large"):
            first = piece(b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % (b"a" * 40000)) if how == b"large" else token
            for data in (head + first, first) + (() if how == b"large" else (token,)):
                c.sendall(data)
                time.sleep(0.3 if how == b"far" else 0.04)
        elif how == b"bytes":
            for data in (head, *(token[i:i + 1] for i in range(len(token)))): c.sendall(data)
            time.sleep(0.04)
        elif how in (b"thinks", b"sized", b"comment", b"ended"):
            behind = {b"sized": last[:size_end], b"comment": piece(b": ping\n\n"), b"ended": b"\r\n"}
            for data in (token, token) if how == b"thinks" else (head + token[:-2] + (b"" if how == b"ended" else b"\r\n"), behind[how]):
                c.sendall(data)
                time.sleep(0.04)
        elif how == b"full":
            c.setblocking(False)
            left = b""
            try:
                while True:
                    left = left or 100 * token
                    left = left[c.send(left):]
            except BlockingIOError: pass
            time.sleep(0.04)
        else:
            c.sendall(head + 3 * token)
            time.sleep(0.04)
        if stopped: os.kill(pid, signal.SIGCONT)
        if how == b"full":
            c.setblocking(True)
            c.sendall(left)
        if how == b"counted":
            limit = time.monotonic() + 60
            while not os.path.exists(folder + "/counting") and time.monotonic() < limit: time.sleep(0.001)
            c.sendall(token)
            stop(pid)
            open(folder + "/come", "w").close()
            time.sleep(0.04)
            c.sendall(end)
            os.kill(pid, signal.SIGCONT)
            continue
        wait_read(c)
        c.sendall(last[size_end:] if how == b"sized" else last)
P
llm_start python3 "$WORK/stops.py" "$WORK/pid"
run() # HOW OPTIONS…: the result is in $WORK/out.json
{
    path=/$1/x
    shift
    sh -c 'echo $$ >"$1"; shift; exec "$@"' - "$WORK/pid" "$LOAD" --url "$url" --path "$path" -m m -n 1 "$@" >"$WORK/out.json" 2>"$WORK/err"
}
run apart --json --records "$WORK/records"
is 'paused while tokens came one by one: the first is no sample' "$(jq -c '[.completed, .client.first_tokens_unknown, .metrics.ttft.n, .metrics.ttft_from_schedule.n, .metrics.tpot.n, .median_ttft_ms]' "$WORK/out.json")" '[1,1,0,0,0,null]'
is '  nor are the gaps that ended in that read' "$(jq -c '[.tokens.itl_gaps, .tokens.itl_gaps_shared_stamp, .client.gaps_late]' "$WORK/out.json")" '[3,2,2]'
like '  the result says whose fault it was' "$(jq -r .client.bottleneck "$WORK/out.json")" '^the client was the bottleneck: 100 % of the first tokens'
is '  the record says by how much it may be wrong' "$(jq -c '[.metrics.time_to_first_token, .metadata.first_token_early_ns > 60e6]' "$WORK/records")" '[null,true]'
run far --json
is '  the maximum of the gaps is not stated, where one within that read may be longer' "$(jq -c '[.metrics.itl | .n, .max]' "$WORK/out.json")" '[1,null]'
run apart
like '  and so does the table' "$(cat "$WORK/out.json")" '^  ! the client was the bottleneck: '
run together --json
is 'paused while one write came: the first token is known' "$(jq -c '[.client.first_tokens_unknown, .metrics.ttft.n, .client.gaps_late, (.metrics.ttft.max > 29)]' "$WORK/out.json")" '[0,1,0,true]'
run free --json
is 'three tokens in one write are not the fault of the client' "$(jq -c '[.client.first_tokens_unknown, .metrics.ttft.n, .tokens.itl_gaps_shared_stamp, .client.gaps_late]' "$WORK/out.json")" '[0,1,2,0]'
run large --json
is 'paused while two segments came, as large as one write could make them: the first token is not known' "$(jq -c '[.completed, .client.first_tokens_unknown, .metrics.ttft.n]' "$WORK/out.json")" '[1,1,0]'
for how in sized comment ended bytes; do
    run $how --json
    is "paused while a token came, and then bytes that are no token ($how): the first token is not known" "$(jq -c '[.completed, .client.first_tokens_unknown, .metrics.ttft.n]' "$WORK/out.json")" '[1,1,0]'
done
run thinks --json
is 'paused after reasoning: the first token is known, second token and first output are not' "$(jq -c '.metrics | [.ttft.n, .ttst.n, .ttfo.n]' "$WORK/out.json")" '[1,0,0]'
run full --json
is 'the socket buffer was full: the server was held up, so the end is not known' "$(jq -c '[.completed, .metrics.ttft.n, .client.last_tokens_unknown, .metrics.e2el.n, .metrics.tpot.n, .client.was_bottleneck]' "$WORK/out.json")" '[1,1,1,0,0,true]'
cat >"$WORK/count.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
int getsockopt(int fd, int level, int name, void *value, socklen_t *n)
{
    static int counts;
    int (*real)(int, int, int, void *, socklen_t *) = (int (*)(int, int, int, void *, socklen_t *))dlsym(RTLD_NEXT, "getsockopt");
    if (level == IPPROTO_TCP && name == TCP_INFO && !counts++) {
        close(open("counting", O_CREAT | O_WRONLY, 0666));
        for (int i = 0; access("come", F_OK) && i < 60000; i++)
            usleep(1000);
    }
    return real(fd, level, name, value, n);
}
C
if ${CC:-cc} -shared -fPIC -o "$WORK/count.so" "$WORK/count.c" -ldl 2>"$WORK/err"; then
    (cd "$WORK" && LD_PRELOAD=$WORK/count.so run counted --json --threads 1)
    is 'a segment that comes while others are counted: the last token is not known' "$(jq -c '[.completed, .client.last_tokens_unknown, .metrics.e2el.n]' "$WORK/out.json")" '[1,1,0]'
else
    skip 'a segment that comes while others are counted' 'a compiler'
fi
cat >"$WORK/small.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
int socket(int family, int type, int protocol)
{
    int (*real)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
    int fd = real(family, type, protocol), size = 8192;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    return fd;
}
C
if ${CC:-cc} -shared -fPIC -o "$WORK/small.so" "$WORK/small.c" -ldl 2>"$WORK/err"; then
    (LD_PRELOAD=$WORK/small.so run full --json)
    is 'a small socket buffer was full: the same' "$(jq -c '[.completed, .metrics.ttft.n, .client.last_tokens_unknown, .metrics.e2el.n, .metrics.tpot.n, .client.was_bottleneck]' "$WORK/out.json")" '[1,1,1,0,0,true]'
else
    skip 'a small socket buffer was full' 'a compiler'
fi
run apart --json --user-clock
is 'without stamps: the same' "$(jq -c '[.client.first_tokens_unknown, .metrics.ttft.n, .client.clock]' "$WORK/out.json")" '[1,0,"after the read"]'
llm_start python3 "$WORK/stops.py" "$WORK/pid" "$WORK/socket"
run together --json
is 'paused, on a Unix socket, which says nothing of its data: the first token is not known' "$(jq -c '[.completed, .client.first_tokens_unknown, .metrics.ttft.n, .metrics.itl.n]' "$WORK/out.json")" '[1,1,0,0]'

# A server that does not run while a request comes: its log, which the selftest and the benchmarks take for the truth, begins with the request's arrival.
# shellcheck disable=SC2016 # the inner shell's words
llm_start sh -c 'ulimit -f 1; exec "$@"' - "$FAKE" --log "$WORK/short.log"
"$LOAD" "$url" -n 50 --max-tokens 3 -q >"$WORK/out"
kill "$server"
wait "$server"
is 'a log of llmfake that cannot be written: exit status' $? 1
like '  and the reason' "$(cat "$said")" '^llmfake: --log .*/short.log: records are missing: File too large'
llm_start "$FAKE" --ttft 20ms --itl 5ms --log "$WORK/arrived.log"
port=$(printf '%04X' "${url##*:}")
kill -STOP "$server"
"$LOAD" --url "$url" -m fake -n 1 --max-tokens 2 --json >"$WORK/out.json" 2>"$WORK/err" &
load=$!
wait_until 'awk -v "end=:$port" "\$2 ~ end \"\$\" && \$4 == \"01\" && \$5 !~ /:00000000\$/ { n++ } END { exit !n }" /proc/net/tcp'
sleep 0.25
kill -CONT "$server"
wait "$load"
llm_stop
python3 "$TESTLIB/llm-sendlog.py" "$WORK/arrived.log" >"$WORK/true"
ok 'a server that reads a request late: its log has the same first token as the client' jq -e --argjson true "$(cut -d' ' -f1 "$WORK/true")" '$true > 250 and (.median_ttft_ms - $true | fabs) < 20' "$WORK/out.json"

# The wall clock is set an hour back in the middle of the run: stamps of another clock are not used.
llm_start "$FAKE" --ttft 20ms --itl 5ms
if set_clock_ready; then
    set_clock -3600 12 "$LOAD" --url "$url" -n 20 -c 2 --max-tokens 4 --json >"$WORK/out.json" 2>"$WORK/err"
    is 'a clock that is set: its stamps are refused, no time is off' "$(jq -c '[.completed, .client.stamps_refused > 0, (.metrics.e2el.max < 60000), (.metrics.e2el.min >= 34)]' "$WORK/out.json")" '[20,true,true,true]'
else
    skip 'a clock that is set' 'a compiler'
fi
# A thread that loses its processor between two system calls before a send, as on a busy machine: 400 ms when a socket is queried behind a complete answer.
cat >"$WORK/held.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static char is_done[1024];
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    ssize_t (*real)(int, struct msghdr *, int) = (ssize_t (*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
    ssize_t n = real(fd, m, flags);
    if (n > 0 && fd < 1024)
        is_done[fd] = memmem(m->msg_iov->iov_base, (size_t)n, "[DONE]", 6) != NULL;
    return n;
}
int getsockopt(int fd, int level, int name, void *value, socklen_t *n)
{
    int (*real)(int, int, int, void *, socklen_t *) = (int (*)(int, int, int, void *, socklen_t *))dlsym(RTLD_NEXT, "getsockopt");
    if (level == IPPROTO_TCP && name == TCP_INFO && fd < 1024 && is_done[fd])
        usleep(400000);
    return real(fd, level, name, value, n);
}
C
if ${CC:-cc} -shared -fPIC -o "$WORK/held.so" "$WORK/held.c" -ldl 2>"$WORK/err"; then
    llm_start "$FAKE" --ttft 20ms --itl 30ms --role none
    LD_PRELOAD="$WORK/held.so" "$LOAD" --url "$url" -n 5 --max-tokens 3 --json >"$WORK/out.json" 2>"$WORK/err"
    is 'held up before the send: that time is not counted as the first token'"'"'s' "$(jq -c '[.completed, .metrics.ttft.n >= 3, .median_ttft_ms < 350]' "$WORK/out.json")" '[5,true,true]'
else
    skip 'held up before the send' 'a compiler'
fi
# The hypervisor withheld a tenth of the time, as /proc/stat says at the begin and the end.
cat >"$WORK/steal.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int open(const char *path, int flags, ...)
{
    static int n;
    int (*real)(const char *, int, unsigned) = (int (*)(const char *, int, unsigned))dlsym(RTLD_NEXT, "open");
    if (strcmp(path, "/proc/stat") != 0)
        return real(path, flags, 0666);
    int fd = memfd_create("stat", 0);
    n++;
    dprintf(fd, "cpu  %d 0 0 0 0 0 0 %d 0 0\n", 900 * n, 100 * n);
    lseek(fd, 0, SEEK_SET);
    return fd;
}
C
if ${CC:-cc} -shared -fPIC -o "$WORK/steal.so" "$WORK/steal.c" -ldl 2>"$WORK/err"; then
    LD_PRELOAD="$WORK/steal.so" "$LOAD" --url "$url" -n 10 --max-tokens 4 --json >"$WORK/out.json" 2>"$WORK/err"
    is 'steal: the client was the bottleneck' "$(jq -c '[.completed, .client.steal_percent, .client.was_bottleneck, (.client.bottleneck | test("10 % of the time the hypervisor withheld"))]' "$WORK/out.json")" '[10,10,true,true]'
else
    skip 'steal' 'a compiler'
fi
llm_stop

# Client and server on one processor: what is shown is right, or not shown, or the result says so.
one=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
if command -v taskset >/dev/null; then
    llm_start taskset -c "$one" "$BUILD/tests/lib/llm-timed" 50 10 10 "$WORK/log"
    taskset -c "$one" "$LOAD" --url "$url" -m timed -c 100 -n 300 --max-tokens 10 --records "$WORK/records" --json >"$WORK/out.json" 2>"$WORK/err"
    llm_stop
    python3 "$TESTLIB/llm-compare.py" "$WORK/records" "$WORK/log" >"$WORK/compare.json"
    is 'one processor: all is counted' "$(jq -c '[.completed, .failed]' "$WORK/out.json") $(jq -c '[.server_requests, .missing]' "$WORK/compare.json")" '[300,0] [300,0]'
    ok '  gaps are right, no token comes before its time, and what is left out is counted' jq -e --slurpfile s "$WORK/compare.json" '($s[0].compared == 0 or $s[0].error_median_ms < 0.1) and
        (.metrics.ttft.n + .client.first_tokens_unknown == 300) and (.metrics.ttft.n == 0 or .metrics.ttft.min >= 49.9) and (.client.was_bottleneck or .client.first_tokens_unknown <= 3)' "$WORK/out.json"
else
    skip 'one processor' 'taskset'
fi

# A control group holds the client back, as a container's limit does: what is shown is right, and the result says so.
. "$TESTLIB/cgroup.sh"
if quota_group 3; then
    llm_start "$BUILD/tests/lib/llm-timed" 50 10 10 "$WORK/log"
    sh "$join" "$LOAD" --url "$url" -m timed -c 100 -n 300 --max-tokens 10 --records "$WORK/records" --json >"$WORK/out.json" 2>"$WORK/err"
    llm_stop
    python3 "$TESTLIB/llm-compare.py" "$WORK/records" "$WORK/log" >"$WORK/compare.json"
    is 'held back by a control group: all is counted' "$(jq -c '[.completed, .failed]' "$WORK/out.json") $(jq -c '[.server_requests, .missing]' "$WORK/compare.json")" '[300,0] [300,0]'
    like '  the result says whose fault it was' "$(jq -r .client.bottleneck "$WORK/out.json")" '^the client was the bottleneck: '
    ok '  gaps are right, and no token comes before its time' jq -e --slurpfile s "$WORK/compare.json" '($s[0].compared == 0 or $s[0].error_median_ms < 0.1) and
        (.metrics.ttft.n + .client.first_tokens_unknown == 300) and (.metrics.ttft.n == 0 or .metrics.ttft.min >= 49.9)' "$WORK/out.json"
    if sh "$join" "$LOAD" selftest --streams 100 --json >"$WORK/out.json" 2>"$WORK/err"; then
        is '  a selftest says so too, and compares first tokens only where it knows when they came' "$(jq -c '.selftest[0] | [(.bottleneck | test("^the client was the bottleneck: ")), (.arrival_after_send_mean_ms < 1), (.ttft_median_ms == null or (.ttft_median_ms - .true_ttft_median_ms) * 100 < .true_ttft_median_ms)]' "$WORK/out.json")" '[true,true,true]'
    else
        like '  a selftest that could compare nothing says so, too' "$(cat "$WORK/err")" 'no gap between tokens could be compared: the client was the bottleneck'
    fi
else
    skip_here 'held back by a control group' 'no control group can be made here'
fi
quota_remove
done_testing
