#!/bin/bash
# Exit statuses, failures to start, and what the program inherits: as without us, recorded and unrecorded.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/launch.sh"
compile show-state
cd "$WORK" || exit 1
printf 'not a program\n' >plain
printf 'echo from sh "$@"; exit 5\n' >no-hash-bang
printf '#!/no/such/interpreter\n' >bad-interpreter
chmod +x no-hash-bang bad-interpreter
mkdir directory

status() # COMMAND…: exit status, 128+n shown as such by the shell; stderr in $WORK/err
{
    "$@" >out 2>err </dev/null
    echo $?
}
real_status() # COMMAND…: what the parent's waitpid sees, not the shell's 128+n
{
    perl -e 'open STDERR, ">", "err"; open STDOUT, ">", "out"; my $rc = system { $ARGV[0] } @ARGV; open my $r, ">", "rc"; printf $r "%d signal %d core %d\n", $? >> 8, $? & 127, $? & 128 ? 1 : 0' "$@"
    cat rc
}

for way in recorded unrecorded limited; do
    case $way in
    recorded) set -- "$LAUNCH" -q -- ;;
    unrecorded) set -- "$BARE" -q -- ;;
    limited) set -- "$BARE" -q -T 60 -- ;;
    esac
    for n in 0 1 2 7 77 124 125 126 127 128 129 143 255; do
        is "$way: exit $n" "$(status "$@" sh -c "exit $n")" $n
        [ $way = recorded ] && is "$way: exit $n says nothing" "$(cat err)" ""
    done
    is "$way: command not found" "$(status "$@" no-such-command-anywhere)" 127
    like "$way: ... and says which" "$(cat err)" '^benchwrap: no-such-command-anywhere: command not found'
    is "$way: no such file" "$(status "$@" ./no-such-file)" 127
    like "$way: ... and says which" "$(cat err)" '^benchwrap: ./no-such-file: no such file'
    is "$way: not executable" "$(status "$@" ./plain)" 126
    like "$way: ... and says why" "$(cat err)" '^benchwrap: ./plain: cannot be executed: Permission denied'
    is "$way: a directory" "$(status "$@" ./directory)" 126
    is "$way: missing interpreter" "$(status "$@" ./bad-interpreter)" 127
    like "$way: ... is told from a missing file" "$(cat err)" 'bad-interpreter: the file is there, but the interpreter'
    is "$way: text without #! is run by sh" "$(status "$@" ./no-hash-bang a b)" 5
    is "$way: ... with its arguments" "$(cat out)" "from sh a b"
    is "$way: a program's own 127 is silent" "$(status "$@" sh -c 'exit 127'; grep -c 'not found$' err)" "127
0"
    for s in HUP INT QUIT ABRT KILL USR1 SEGV PIPE TERM XCPU; do
        number=$(kill -l $s)
        is "$way: dies of SIG$s" "$(real_status "$@" sh -c "kill -$s \$\$")" "0 signal $number core 0"
    done
    (ulimit -c unlimited 2>/dev/null; rm -f core*; real_status "$@" sh -c 'kill -SEGV $$' >/dev/null; ls core* 2>/dev/null | wc -l) >dumped
    (ulimit -c unlimited 2>/dev/null; rm -f core*; real_status sh -c 'kill -SEGV $$' >/dev/null; ls core* 2>/dev/null | wc -l) >dumped.plain
    is "$way: no core file of the launcher" "$(cat dumped)" "$(cat dumped.plain)"

    # everything inherited, in a deliberately odd state
    state()
    {
        (
            umask 027
            ulimit -n 200 -c 0 -f 123456
            exec 3</dev/null 7>"$WORK/seven" 12<"$WORK/plain" 15>&7
            cd directory || exit 1
            trap '' USR1 PIPE CHLD
            env -i B=2 A=1 EMPTY= TWICE=1 PATH="$PATH" FAKE_DIR="$FAKE_DIR" nice -n 3 "$@" "$WORK/show-state" "a b" "" '*' 2>/dev/null
        )
    }
    state >plain.state
    state "$@" >wrapped.state
    if [ $way = recorded ]; then
        tail -n +1 wrapped.state | grep -c '^env BENCHWRAP_RUN_ID=[0-9a-f]\{32\}$' >n
        is "$way: BENCHWRAP_RUN_ID is added" "$(cat n)" 1
        like "$way: BENCHWRAP_SOCKET is added" "$(cat wrapped.state)" '^env BENCHWRAP_SOCKET=@benchwrap/[0-9a-f]{32}/[0-9]+[.][0-9]+$'
        is "$way: both behind all others" "$(grep '^env' wrapped.state | tail -n 2 | cut -c5-18)" "BENCHWRAP_RUN_
BENCHWRAP_SOCK"
    fi
    grep -v '^env BENCHWRAP_' wrapped.state >wrapped.rest
    is "$way: nothing else differs" "$(diff plain.state wrapped.rest)" ""
    is "$way: pending alarm goes along" "$(perl -e 'alarm 50; exec @ARGV' "$@" "$WORK/show-state" 2>/dev/null | grep alarm)" "alarm set"
    is "$way: the alarm strikes the program" "$(real_status perl -e 'alarm 1; exec @ARGV' "$@" sleep 5)" "0 signal 14 core 0"
    for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
        eval "\"\$WORK/show-state\" 3>x.plain $closed" >/dev/null 2>&1
        show='for i in 0 1 2; do [ -e /proc/$$/fd/$i ] && echo $i; done >&9'
        is "$way: stays closed: $closed" "$(eval "\"\$@\" sh -c '$show' 9>fds $closed"; cat fds)" "$(eval "sh -c '$show' 9>fds $closed"; cat fds)"
    done
done

is "an existing run id is replaced in place" "$(env -i BENCHWRAP_RUN_ID=0123456789abcdef0123456789abcdef Z=1 FAKE_DIR="$FAKE_DIR" "$LAUNCH" -q -- /usr/bin/env | cut -c1-17 | head -n 2)" "BENCHWRAP_RUN_ID=
Z=1"
like "... and is the parent" "$(cat "$FAKE_DIR/ended")" 'parent=0123456789abcdef0123456789abcdef'
env BENCHWRAP_RUN_ID='../../etc/passwd' "$LAUNCH" -q -- true
like "garbage is no parent" "$(cat "$FAKE_DIR/ended")" ' parent= '
is "orphaned children with SIGCHLD ignored" "$( (trap '' CHLD; exec "$LAUNCH" -q -- sh -c 'exit 9'); echo $?)" 9

# what the user typed
is "no program" "$(status "$LAUNCH" --)" 125
like "... shows a line" "$(cat err)" 'benchwrap -- PROGRAM'
is "unknown option" "$(status "$LAUNCH" --no-such -- true)" 125
like "... names it" "$(cat err)" '^benchwrap: unknown option --no-such'
is "bad value" "$(status "$LAUNCH" --timeout soon -- true)" 125
is "bad signal" "$(status "$LAUNCH" --signal NOPE -- true)" 125
is "options without --" "$(status "$LAUNCH" -e x true)" 125
like "... shows the right line" "$(cat err)" 'benchwrap -e x -- true'
is "without core and without --" "$(status "$BARE" ior -a)" 125
like "... shows the right line" "$(cat err)" 'benchwrap -- ior'
is "verbs go to the core" "$("$LAUNCH" show last --json)" "core: show last --json"
is "--help goes to the core" "$("$LAUNCH" --help)" "core: help"
is "bad value in the environment is only a warning" "$(BENCHWRAP_TIMEOUT=soon status "$LAUNCH" -q -- true)" 0
is "... unless --strict" "$(BENCHWRAP_TIMEOUT=soon status "$LAUNCH" --strict -- true)" 125
is "--strict without a core" "$(status "$BARE" --strict -- true)" 125
is "a core that dies at once" "$(FAKE_MODE=die-early status "$LAUNCH" -- sh -c 'exit 4')" 4
is "... one warning" "$(grep -c . err)" 1
is "... with --strict" "$(FAKE_MODE=die-early status "$LAUNCH" --strict -- true)" 125
is "a core that refuses" "$(FAKE_MODE=refuse status "$LAUNCH" -- true)" 125
is "... its reason" "$(cat err)" "benchwrap: rules.yaml: no such file"
is "a core that refuses late an option of the line, which it alone can check" "$(FAKE_MODE=refuse-late status "$LAUNCH" -R wrong.yaml -- touch ran; ls ran 2>/dev/null)" 125
is "... with --strict every option" "$(FAKE_MODE=refuse-late status "$LAUNCH" --strict -- touch ran; ls ran 2>/dev/null)" 125
is "... one that the launcher checks delays no program" "$(FAKE_MODE=refuse-late status "$LAUNCH" -T 9 -- sh -c 'exit 4')" 4
is "... nor any with --probe-wait" "$(FAKE_MODE=refuse-late status "$LAUNCH" --probe-wait 0.1 -R wrong.yaml -- sh -c 'exit 4')" 4
is "a silent core delays only" "$(FAKE_MODE=silent status "$LAUNCH" -q -- sh -c 'exit 4')" 4
is "a core that dies in the middle" "$(FAKE_MODE=die status "$LAUNCH" -- sh -c 'sleep 0.3; echo x; exit 4')" 4
is "... loses no byte" "$(cat out)" x
like "... one warning" "$(cat err)" '^benchwrap: the recorder ended early \(signal 9\)'
is "... only one" "$(grep -c . err)" 1
is "a core that never finishes" "$(FAKE_MODE=never-done status "$LAUNCH" --finish-wait 0.2 -- sh -c 'exit 4')" 4
like "... is told" "$(cat err)" '^benchwrap: the record is not finished after 0.2 s'
is "notes are harmless for terminals" "$(FAKE_MODE=note status "$LAUNCH" -q -- true; cat err)" '0
benchwrap: a note with \x1b[31mcolour'
is "the summary comes last" "$("$LAUNCH" -- sh -c 'echo program >&2' 2>&1)" "program
fake summary"
is "gate: verdict not pass" "$(FAKE_MODE=verdict status "$LAUNCH" -q --gate -- true)" 3
is "gate: the program's own failure comes first" "$(FAKE_MODE=verdict status "$LAUNCH" -q --gate -- sh -c 'exit 8')" 8
is "gate: pass" "$(status "$LAUNCH" -q --gate -- true)" 0
is "no gate" "$(FAKE_MODE=verdict status "$LAUNCH" -q -- true)" 0
done_testing
