#!/bin/sh
# t0300: every stored output in the catalogue gives the facts that lie beside it. A case is a folder benchmarks/catalogue/NAME/samples/CASE
# with `stdout`, and if there are any `stderr`, `argv` (one argument a line), `status`, `file` (PATTERN=FILE a line) and `expect`: key and
# value a line, what `parse` tells. A file that may not be kept here (no licence) is named in `outside` instead: `stdout=PATH` a line,
# PATH below $BENCHWRAP_SAMPLES (default: ../shared/samples). UPDATE=1 writes `expect` anew: read the difference. ONLY=NAME: that one alone.
. "$(dirname "$0")/../lib/tap.sh"
cd "$ROOT/benchmarks/catalogue" || exit 1
SAMPLES=${BENCHWRAP_SAMPLES:-$ROOT/../shared/samples}

facts() # JSON -> lines, in the order of the record
{
    "${PYTHON:-python3}" -c '
import json, sys
d = json.load(sys.stdin)
print("verdict", d["verdict"] + (": " + d["reason"] if d["reason"] else ""))
for k, v in list(d["params"].items()) + list(d["tags"].items()):
    print("param", k, v)
for m in d["metrics"]:
    print("metric", m["key"], repr(m["value"]), m["unit"] or "-", m["step"], m["direction"] or "-")
for m in d["missing"]:
    print("missing", m["key"], m["reason"])
for w in d["warnings"]:
    print("warning", w)
'
}

outside() # NAME of a part of the case -> its path, if it lies outside
{
    [ -f "$case/outside" ] && sed -n "s|^$1=|$SAMPLES/|p" "$case/outside" | head -n 1
}

for case in */samples/*/; do
    case=${case%/}
    [ -z "${ONLY:-}" ] || [ "$ONLY" = "${case%%/*}" ] || continue
    stdout=$(outside stdout)
    stderr=$(outside stderr)
    if [ -n "$stdout$stderr" ] && [ ! -f "${stdout:-$stderr}" ]; then
        skip "$case" "its output carries no licence and lies outside: ${stdout:-$stderr} is not there"
        continue
    fi
    [ -n "$stdout" ] || stdout=$case/stdout
    [ -n "$stderr" ] || { [ -f "$case/stderr" ] && stderr=$case/stderr; }
    set -- parse --rules "$ROOT/benchmarks/catalogue/${case%%/*}/rules.yaml" --json
    [ ! -f "$case/status" ] || set -- "$@" --exit-status "$(cat "$case/status")"
    [ -z "$stderr" ] || set -- "$@" --stderr "$stderr"
    if [ -f "$case/file" ]; then
        while IFS= read -r file; do set -- "$@" --file "${file%%=*}=$case/${file#*=}"; done <"$case/file"
    fi
    set -- "$@" "$stdout"
    if [ -f "$case/argv" ]; then
        set -- "$@" --
        while IFS= read -r argument; do set -- "$@" "$argument"; done <"$case/argv"
    fi
    "$BENCHWRAP" "$@" >"$WORK/json" 2>"$WORK/errors" || { tap_fail "$case is read" "$(cat "$WORK/errors")"; continue; }
    facts <"$WORK/json" >"$WORK/got"
    [ -z "${UPDATE:-}" ] || cp "$WORK/got" "$case/expect"
    ok "$case" diff -u "$case/expect" "$WORK/got"
done
done_testing
