# shellcheck shell=sh
# tap.sh: TAP for shell tests. Sourced first by every tests/cli/t*.t:
#   . "$(dirname "$0")/../lib/tap.sh"
# $BENCHWRAP is the built program, $WORK a fresh directory that is removed at exit, $TESTLIB this folder, $ROOT the source tree, $CACHE
# a folder that outlives the tests and lies outside the tree (virtual environments). HOME is a fresh one: nothing of the caller's is read.

TESTLIB=$(cd "$(dirname "$0")/../lib" && pwd)
ROOT=$(cd "$TESTLIB/../.." && pwd)
case ${O:-build} in
/*) BUILD=${O:-build} ;;
*) BUILD=$ROOT/${O:-build} ;;
esac
BENCHWRAP=${BENCHWRAP:-$BUILD/bin/benchwrap}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/benchwrap-test.XXXXXX") || { echo "not ok 1 - cannot make a temporary directory"; exit 1; }
WORK=$(cd "$WORK" && pwd -P)
CACHE=${BENCHWRAP_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/benchwrap-tests}
HOME=$WORK/.home
mkdir -p "$HOME"
unset XDG_CACHE_HOME XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
tap_count=0
tap_failed=0
tap_finished=0
export PYTHONDONTWRITEBYTECODE=1 # the source tree stays as it is
export TERM=xterm                # a terminal that a test makes can show colours, whatever the caller's own is
export BENCHWRAP WORK TESTLIB ROOT BUILD CACHE HOME
# Tests start without what the caller's own settings would change.
unset BENCHWRAP_RUN_ID BENCHWRAP_SOCKET BENCHWRAP_TREE BENCHWRAP_STRICT BENCHWRAP_QUIET MLFLOW_TRACKING_URI MLFLOW_RUN_ID MLFLOW_EXPERIMENT_NAME 2>/dev/null

tap_exit()
{
    status=$?
    trap - EXIT
    [ "${BASHPID:-$$}" = $$ ] || exit $status # a child that a signal ended before its shell had removed the traps
    if [ "$tap_finished" = 0 ]; then
        echo "not ok $((tap_count + 1)) - the script ended early, status $status"
        tap_failed=1
    fi
    cd / && { chmod -R u+rwX "$WORK" 2>/dev/null; rm -rf "$WORK"; }
    exit $((tap_failed ? 1 : 0))
}
trap tap_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

tap_pass()
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

tap_fail() # NAME [TEXT]: TEXT is shown as diagnostics, on stderr, since prove keeps those of stdout to itself
{
    tap_count=$((tap_count + 1))
    tap_failed=1
    echo "not ok $tap_count - $1"
    [ $# -lt 2 ] || printf '%s\n' "$2" | head -c 4000 | LC_ALL=C tr -c '[:print:]\n' '?' | sed "s/^/#   $(basename "$0" .t) $tap_count: /" >&2
}

ok() # NAME COMMAND…: passes when the command succeeds
{
    tap_name=$1
    shift
    if tap_out=$("$@" 2>&1); then
        tap_pass "$tap_name"
    else
        tap_fail "$tap_name" "command: $*
$tap_out"
    fi
}

is() # NAME GOT EXPECTED
{
    if [ "$2" = "$3" ]; then
        tap_pass "$1"
    else
        tap_fail "$1" "got:      $2
expected: $3"
    fi
}

same() # NAME GOT EXPECTED: as is, for outputs of which both come from a program: two that are empty show nothing
{
    if [ -n "$3" ]; then
        is "$@"
    else
        tap_fail "$1" "both are empty, or the expected output is"
    fi
}

tap_line_end='
'
like() # NAME TEXT PATTERN: extended regular expression, matched per line
{
    case $3 in *"$tap_line_end"*) tap_fail "$1" "the pattern has several lines, of which grep needs one: $3"; return ;; esac
    if printf '%s\n' "$2" | grep -Eq -- "$3"; then
        tap_pass "$1"
    else
        tap_fail "$1" "text: $2
does not match: $3"
    fi
}

field() # PATH <JSON: the value at a path such as runs/0/id
{
    jq -r "getpath(\"$1\" | split(\"/\") | map(tonumber? // .))"
}

skip_here() # NAME WHY: this machine or kernel cannot do it, whatever is installed
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

skip() # NAME WHY: a real component is missing; a failure where all must be there (BENCHWRAP_REQUIRE, set in CI)
{
    if [ -n "${BENCHWRAP_REQUIRE:-}" ]; then
        tap_fail "$1" "needed here: $2"
    else
        skip_here "$1" "$2"
        echo "skipped: $1: $2" >&2
    fi
}

wait_until() # CONDITION [SECONDS]: until this shell text succeeds, its output unseen; after SECONDS (120) 1, and a line on stderr
{
    # Fewer looks by and by: those of several tests left no processor to the senders of lowest priority that they waited for.
    local end looks=0 pause=0.05
    end=$(($(date +%s) + ${2:-120}))
    until eval "$1" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt $end ] || { echo "# $(basename "$0" .t): not so after ${2:-120} s: $1" >&2; return 1; }
        looks=$((looks + 1))
        case $looks in 40) pause=0.2 ;; 100) pause=0.5 ;; esac
        sleep $pause
    done
}

idle() # [NAMES]: no process of benchwrap, or of these names, that this test has started is at work: what goes on behind the end of a run has ended
{
    local i # one that ends while its successor begins is in neither list, but not twice
    for i in 1 2 3; do
        # shellcheck disable=SC2046 # several
        ! grep -qzxF "WORK=$WORK" $(grep -lsE "${1:-^benchwrap-}" /proc/[0-9]*/comm | sed 's,comm$,environ,') /dev/null 2>/dev/null || return 1
    done
}

free_port() # a port of this machine at which nothing listens, and that the kernel gives to no one else
{
    python3 -c 'import random, socket
while True:
    s, port = socket.socket(), random.randrange(12000, 32000)
    try: s.bind(("127.0.0.1", port))
    except OSError: continue
    print(port); break'
}

has_ended() # PID: of any process; one whose parent has not collected it has ended, too; no PID has not
{
    [ -n "$1" ] && ! grep -qs '^State:.[^XZ]' "/proc/$1/status"
}

long_tests() # true where the slow tiers are asked for (make check-long)
{
    [ -n "${BENCHWRAP_LONG:-}" ]
}

tap_stop() # WHY: fails this test file and ends it; TAP's own word for that would end all other files too
{
    tap_fail "$1"
    done_testing
    exit 1
}

# A test file that names no command (bash tells, other shells do not) fails, since what it would have looked at went unseen.
# shellcheck disable=SC2317 # called by bash
command_not_found_handle()
{
    echo "$1: command not found" | tee -a "$WORK/.missing-commands" >&2
    return 127
}

done_testing()
{
    [ ! -s "$WORK/.missing-commands" ] || tap_fail "every command of this file exists" "$(cat "$WORK/.missing-commands")"
    tap_finished=1
    echo "1..$tap_count"
}
