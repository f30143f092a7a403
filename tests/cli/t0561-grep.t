#!/bin/bash
# grep: stored output, job scripts and environments; the variables of a job's environment in --filter.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
bw() { "$BENCHWRAP" "$@" 2>err; }
get() { python3 -c 'import json, sys
v = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"; }
get_lines() { python3 -c 'import json, sys
for r in map(json.loads, sys.stdin): print(eval(sys.argv[1]), end=" ")' "$1"; }
NODE_KIND=slow "$BENCHWRAP" -q -e one --tag job.id=77 -- sh -c 'echo "all good"; echo "Error: disk full" >&2; echo "b (x) [y]"' >/dev/null 2>/dev/null
NODE_KIND=fast ODD=$'two\nlines\t\\' "$BENCHWRAP" -q -e two -- sh -c 'echo "no error here"; printf "last line"' >/dev/null 2>&1

id=$(bw ls --json -e one | get 'v[0]["id"][:8]')
is "a line: run, job, file, number, text" "$(bw grep 'disk f.ll' --file stderr.log)" "$id job 77 stderr.log:1: Error: disk full"
is "a run without a job" "$(bw grep 'no error' --file stdout.log | cut -d' ' -f2-)" "job - stdout.log:1: no error here"
is "a last line without an end" "$(bw grep '^last line$' | cut -d' ' -f4-)" "stdout.log:2: last line"
is "the case of letters counts" "$(bw grep error --file 'std*' | wc -l)" 1
is "... or not" "$(bw grep -i error --file 'std*' | wc -l)" 2
is "a text, not an expression" "$(bw grep -F '(x) [y]' --file stdout.log | wc -l)" 1
is "files alone" "$(bw grep -l o -e two --file stdout.log | cut -d' ' -f2-)" "job - stdout.log"
is "so many lines of a file" "$(bw grep -m 1 . --file stdout.log -e one | wc -l)" 1
is "JSON" "$(bw grep 'disk' --file stderr.log --json | get '[(r["job"], r["file"], r["line"], r["text"]) for r in v]')" "[('77', 'stderr.log', 1, 'Error: disk full')]"
is "JSON of nothing" "$(bw grep nothing-like-this --json | get 'v')" "[]"
is "CSV" "$(bw grep 'b .x' --file stdout.log --format csv | cut -d, -f2- | tr -d '\r' | tr '\n' '|')" "experiment,job,file,line,text|one,77,stdout.log,2,b (x) [y]|"
is "CSV of nothing: the header" "$(bw grep nothing-like-this --format csv | tr -d '\r')" "run,experiment,job,file,line,text"
is "--sort" "$(bw grep . --file stdout.log --sort start_time --format jsonl -m 1 | get_lines 'r["experiment"]')" "one two "
is "... and back" "$(bw grep . --file stdout.log --sort 'start_time DESC' --format jsonl -m 1 | get_lines 'r["experiment"]')" "two one "
bw grep nothing-like-this >out; is "no line: status 1" "$?" 1
bw grep 'x(' >out; is "a broken pattern is refused" "$?" 125
like "with the reason" "$(cat err)" '^benchwrap: grep: the pattern: '
bw grep -i "$(head -c 70000 /dev/zero | tr '\0' x)" >out; is "a pattern that is too long is refused" "$? $(wc -l <out)" "125 0"
bw grep one two >out; is "one pattern" "$?" 125
like "the environment is searched" "$(bw grep '^NODE_KIND=' -e one)" 'environment\.txt:[0-9]+: NODE_KIND=slow$'

names() { bw ls --all --json "$@" | get '" ".join(sorted(r["experiment"] for r in v))'; }
is "--filter by a variable" "$(names --filter "env.NODE_KIND = 'fast'")" two
is "... that exists" "$(names --filter "env.ODD IS NOT NULL")" two
is "... LIKE and IN" "$(names --filter "env.NODE_KIND LIKE 's%' AND env.NODE_KIND IN ('slow', 'x')")" one
is "... whose value has a line end" "$(names --filter $'env.ODD = \'two\nlines\t\\\'')" two
is "... in a column" "$(bw ls --columns env.NODE_KIND --format csv --sort env.NODE_KIND | tr -d '\r' | tr '\n' ' ')" "env.NODE_KIND fast slow "
is "... of an export" "$(bw export --columns env.NODE_KIND --sort env.NODE_KIND | tr -d '\r' | tr '\n' ' ')" "env.NODE_KIND fast slow "
bw ls --columns 'env.*' >out; is "no wildcard there" "$?" 125
is "grep with it" "$(bw grep . --filter "env.NODE_KIND = 'slow'" --file stdout.log | wc -l)" 2

"$BENCHWRAP" -q -e odd -- printf 'x\033[31m\342\200\256\001y\nz%070000d\n' 0 >/dev/null 2>&1
is "foreign bytes are harmless" "$(bw grep . -e odd --file stdout.log | LC_ALL=C tr -d '\n[:print:]\342\200\246' | wc -c)" 0
is "... and long lines are cut around the match" "$(bw grep '0$' -e odd --file stdout.log | wc -c | awk '{print ($1 < 700)}')" 1
bw grep '.*q' -e odd --file stdout.log >out
like "a line that a pattern cannot search is counted" "$(cat err)" '1 line not or not completely searched'
run=$(ls -d mlruns/*/"$id"*)
rm "$run/artifacts/stdout.log" && ln -s /etc/passwd "$run/artifacts/stdout.log"
bw grep . --file 'std*' -e one >out; is "no link is followed" "$(grep -c root out)" 0
printf 'x' >"$run/meta.yaml"
bw grep error >out; is "a damaged run: status 1" "$?" 1
like "... the others are searched" "$(cat out)" 'no error here'
like "... and it is named" "$(cat err)" "damaged"
done_testing
