#!/bin/bash
# On a terminal: colours, size, modes, keys, Ctrl-C, Ctrl-Z, prompts stay what they are without us.
# sanitizer: long, because every step waits for a terminal; the launcher is looked at in t0100 and t0110
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/launch.sh"
compile count-signals
cd "$WORK" || exit 1
on_pty() { timeout 300 python3 "$TESTLIB/on-pty.py" "$@" 2>&1; }

cat >screen.py <<'P'
import curses
def main(w):
    w.addstr(2, 3, "size %dx%d" % w.getmaxyx()); w.refresh()
    while True:
        k = w.getch()
        if k == curses.KEY_RESIZE:
            w.addstr(4, 3, "now %dx%d" % w.getmaxyx()); w.redrawwin(); w.refresh() # whole, not what has changed since the last size
        elif k == ord("x"):
            w.touchwin(); w.refresh()
        else:
            break
    w.addstr(3, 3, "key %d" % k); w.refresh()
curses.wrapper(main)
P
cat >raw.py <<'P'
import os, sys, termios, tty
old = termios.tcgetattr(1)
tty.setraw(1); os.write(1, b"go"); c = os.read(0, 1)
termios.tcsetattr(1, termios.TCSADRAIN, old)
print("got %r" % c)
P
cat >prompt.sh <<'S'
stty -echo </dev/tty
printf 'Password: ' >/dev/tty
read -r secret </dev/tty
stty echo </dev/tty
echo "read $secret"
S
seq 200 >lines

for way in recorded ${BENCHWRAP_LONG:+unrecorded limited}; do
    case $way in
    recorded) set -- "$LAUNCH" -q -- ;;
    unrecorded) set -- "$BARE" -q -- ;;
    limited) set -- "$BARE" -q -T 60 -- ;;
    esac
    clean() { python3 -c 'import re, sys; sys.stdout.write(re.sub(r"benchwrap: the recorder benchwrap-core was not found: No such file or directory; running it unrecorded(\\r)?\\n", "", sys.stdin.read()))'; }
    same() # NAME STEPS COMMAND…: the same with and without us
    {
        name=$1 steps=$2
        shift 2
        expected=$(on_pty "$steps" -- "$@")
        case $expected in '' | *time-out*) tap_fail "$way: $name" "without us: $expected"; return ;; esac
        is "$way: $name" "$(on_pty "$steps" -- "${wrap[@]}" "$@" | clean)" "$expected"
    }
    wrap=("$@")
    same "all three are terminals" "nocr" sh -c 'for i in 0 1 2; do [ -t $i ] && echo $i; done'
    same "line ends" "" printf 'a\nb\r\nc'
    same "its size" "" sh -c 'stty size; stty size <&1; stty size <&2'
    same "a new size" "expect go; size 30 100" sh -c 'exec 3<&1 4<&2; sizes() { stty size; stty size <&3; stty size <&4; }; echo go; n=0; until [ "$(sizes | grep -c "^30 100$")" = 3 ] || [ $((n += 1)) = 500 ]; do sleep 0.02; done; sizes'
    same "Ctrl-C" "expect go; send \x03" sh -c 'echo go; sleep 30'
    same "Ctrl-C caught" "expect go; send \x03" bash -c 'trap "echo caught; exit 4" INT; echo go; while :; do sleep 0.1; done'
    same "Ctrl-\\" "expect go; send \x1c" sh -c 'ulimit -c 0; echo go; sleep 30'
    same "Ctrl-Z, continue" "expect go; send \x1a; stopped; cont; wait 0.2; send x\r" sh -c 'echo go; read x; echo "had $x"'
    same "a password on /dev/tty" "expect Password; send secret\r; expect read" bash prompt.sh
    same "raw modes set on stdout" "expect go; send \x03" python3 raw.py
    # A new size is told twice with us, once of each terminal. curses loses the second signal where it comes between its look for signals and its read, and
    # finds the size with the next output.
    out=$(on_pty "expect 24x80; size 30 90; urge x now 30x90; wait 0.3; send q; expect key" -- env TERM=xterm "${wrap[@]}" python3 screen.py)
    like "$way: curses sees the new size and keys" "$out" 'now 30x90.*key 113'
    like "$way: ... and leaves the terminal as it was" "$out" 'modes: echo canon opost'
    case $out in *time-out*) tap_fail "$way: curses ends" "$out" ;; *) tap_pass "$way: curses ends" ;; esac
    same "terminal closed by kill -9 of the program" "expect go" sh -c 'echo go; kill -9 $$'
    same "session leader: end" "leader" sh -c 'echo leader; exit 3'
    same "session leader: Ctrl-C" "leader; expect go; send \x03" sh -c 'echo go; sleep 30'
    for key in 03:2 1c:3 1a:20; do
        rm -f counts*
        on_pty "expect 0 seen; send \\x${key%:*}; expect 1 seen; send \\x${key%:*}; expect 2 seen; wait 0.2; touch $WORK/counts.stop" -- "${wrap[@]}" "$WORK/count-signals" "$WORK/counts" show >/dev/null
        is "$way: key 0x${key%:*} twice is signal ${key#*:} twice" "$(cat counts)" "${key#*:} 2"
    done
    if command -v less >/dev/null; then
        out=$(on_pty "expect 20; wait 0.3; send G; expect 200; wait 0.2; send q" -- env TERM=xterm LESS= "${wrap[@]}" less lines)
        like "$way: less pages, takes keys and ends" "$out" 'status: exit 0'
        like "$way: ... and leaves the terminal as it was" "$out" 'modes: echo canon opost'
        case $out in *time-out*) tap_fail "$way: less" "$out" ;; *) tap_pass "$way: less shows what it should" ;; esac
    else
        skip "$way: less" "not installed"
    fi
    out=$(on_pty "expect More; send \x20; expect More; wait 0.3; send q" -- env TERM=xterm "${wrap[@]}" more lines)
    case $out in *time-out*) tap_fail "$way: more" "$out" ;; *) tap_pass "$way: more takes keys and ends" ;; esac
    if vim=$(command -v vim || command -v vim.tiny); then
        rm -f new.txt
        out=$(on_pty "expect new.txt; wait 0.3; send ihello\x1b; expect hello; wait 0.5; send :wq\r" -- env TERM=xterm "${wrap[@]}" "$vim" -u NONE -N new.txt)
        is "$way: vim edits" "$(cat new.txt)" hello
        like "$way: ... and leaves the terminal as it was" "$out" 'modes: echo canon opost'
    else
        skip "$way: vim" "not installed"
    fi
done

# shown and recorded
on_pty "" -- "$LAUNCH" -q -- printf 'a\nb\n' >/dev/null
is "the record has the program's bytes, not the terminal's" "$(od -c "$FAKE_DIR/stdout" | head -n 1)" "$(printf 'a\nb\n' | od -c | head -n 1)"
like "... and that they went to a terminal" "$(cat "$FAKE_DIR/ended")" 'tty=1,1'
on_pty "" -- "$LAUNCH" -q --capture pipe -- sh -c '[ -t 1 ] || echo pipe' >out
like "--capture pipe" "$(cat out)" "'pipe"
if command -v script >/dev/null; then
    is "inside script(1)" "$(script -qec "$LAUNCH -q -- sh -c 'echo in; [ -t 1 ] && echo tty; exit 5'" /dev/null </dev/null | tr -d '\r'; echo "${PIPESTATUS[0]}")" "in
tty
5"
    is "script(1) inside" "$("$LAUNCH" -q -- script -qec "echo in; exit 5" /dev/null </dev/null | tr -d '\r'; echo "${PIPESTATUS[0]}")" "in
5"
fi
"$LAUNCH" -q -- sh -c 'echo $$ >pid; trap "" HUP; sleep 0.2; echo end' >out
is "nothing waits for a terminal that is not there" "$(cat out)" end
done_testing
