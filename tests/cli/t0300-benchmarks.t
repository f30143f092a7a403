#!/bin/sh
# t0300: every stored output under tests/benchmarks gives the facts that lie beside it. A case is a folder NAME/CASE with `stdout`, and if
# there are any `stderr`, `argv` (one argument a line), `status`, `file` (PATTERN=FILE a line) and `expect`: key and value a line, what
# `parse` tells. UPDATE=1 writes `expect` anew: read the difference.
. "$(dirname "$0")/../lib/tap.sh"
cd "$ROOT/tests/benchmarks" || exit 1

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

for case in */*/; do
    case=${case%/}
    set -- parse --rules "$ROOT/benchmarks/catalogue/${case%%/*}/rules.yaml" --json
    [ ! -f "$case/status" ] || set -- "$@" --exit-status "$(cat "$case/status")"
    [ ! -f "$case/stderr" ] || set -- "$@" --stderr "$case/stderr"
    if [ -f "$case/file" ]; then
        while IFS= read -r file; do set -- "$@" --file "${file%%=*}=$case/${file#*=}"; done <"$case/file"
    fi
    set -- "$@" "$case/stdout"
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
