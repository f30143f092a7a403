#!/bin/bash
# References: where the file is looked for, the verdict of a run and its gate, the record, stored outputs.
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p "$WORK/w" && cd "$WORK/w" || exit 1
PATH=$(dirname "$BENCHWRAP"):$PATH
get() { python3 -c 'import json, sys
v = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"; }
status() { "$BENCHWRAP" "$@" >"$WORK/out" 2>"$WORK/err"; echo $?; }
measured='benchwrap log --unit MB/s speed=100; benchwrap log --unit us lat=2000'

cat >good.yaml <<'Y'
references:
  - benchmark: sh
    metrics:
      speed: [100, -0.05, 0.10, MB/s]
      lat: {value: 2 ms, upper: 10%}
Y
sed 's/\[100/[200/' good.yaml >bad.yaml
sed 's/benchmark: sh/benchmark: other/' good.yaml >other.yaml

is "within the band: the gate opens" "$(status -R good.yaml --gate -- sh -c "$measured")" 0
is "the verdict is pass, also without rules" "$("$BENCHWRAP" show --json | get 'v["tags"]["benchwrap.verdict"]')" pass
is "each metric's verdict is in the record" "$("$BENCHWRAP" show --json | get '[(m["metric"], m["verdict"], m["fails"], m["low"], m["high"], m["unit"]) for m in v["references"]]')" \
    "[('speed', 'pass', False, 95, 110, 'MB_per_s'), ('lat', 'pass', False, None, 2200, 'us')]"
like "and in the table" "$("$BENCHWRAP" show)" '^  speed +100 MB/s +pass, reference 95 … 110$'
like "and with --all by which entry" "$("$BENCHWRAP" show --all)" '^speed +100 +95 +100 +110 +MB_per_s +pass +.*good.yaml:4$'
is "below: the gate closes" "$(status -R bad.yaml --gate -- sh -c "$measured")" 3
like "the summary says which, by how much, by which entry" "$(cat "$WORK/err")" 'failed: +speed 100 is below 190 MB_per_s \(reference 200, .*bad.yaml:4\)'
like "and each metric has its verdict" "$(cat "$WORK/err")" '^benchwrap:   speed +100 MB/s +below, reference 190 …'
is "the tag too" "$("$BENCHWRAP" show --json | get 'v["tags"]["benchwrap.reason"].split(" (")[0]')" "speed 100 is below 190 MB_per_s"
is "the run itself is FINISHED: it did what it should" "$("$BENCHWRAP" show --json | get 'v["status"]')" FINISHED
is "without --gate the exit status is the program's" "$(status -R bad.yaml -- sh -c "$measured")" 0
is "and its own failure comes first" "$(status -R bad.yaml --gate -- sh -c "$measured; exit 7")" 7
is "a metric that is missing closes the gate" "$(status -R good.yaml --gate -- sh -c "${measured#*;}")" 3
like "which is said" "$(cat "$WORK/err")" 'speed is missing: the run has no such metric'
is "a named file of which no entry fits is no pass" "$(status -R other.yaml --gate -- sh -c "$measured")" 3
like "nor a fail" "$(cat "$WORK/err")" 'not judged: +no entry of .*other.yaml fits this run'

is "a file that is not there is refused" "$(status -R nothing.yaml -- touch ran)" 125
like "by name" "$(cat "$WORK/err")" 'reference.*nothing.yaml: No such file'
printf 'references:\n- {metrics: {x_MiB_per_s: {min: 3 s}}}\n' >wrong.yaml
is "a wrong one too" "$(status -R wrong.yaml -- touch ran)" 125
like "with line and column" "$(cat "$WORK/err")" 'wrong.yaml:2:[0-9]+: x_MiB_per_s: the metric is in MiB_per_s, and s cannot be converted'
ok "and nothing was started" test ! -e ran
for value in wrong.yaml nothing.yaml; do
    is "of the environment it stops no program: $value" "$(BENCHWRAP_REFERENCE=$value status -- touch ran)" 0
    ok "it ran: $value" rm ran
    like "which is said: $value" "$(cat "$WORK/err")" "BENCHWRAP_REFERENCE: .*$value.*; ignored"
    is "and the gate stays closed: $value" "$(BENCHWRAP_REFERENCE=$value status --gate -- sh -c "$measured")" 3
done
is "rules of the environment that are not there stop no program" "$(BENCHWRAP_RULES=nothing.yaml status -- touch ran)" 0
ok "it ran" rm ran
like "which is said" "$(cat "$WORK/err")" 'BENCHWRAP_RULES: "nothing.yaml" is neither .*; ignored'
is "those that were typed do" "$(status -r nothing.yaml -- touch ran)" 125
is "--gate and no recorder: the program runs, the gate stays closed" "$(mkdir -p "$WORK/lone/bin"; cp "$BENCHWRAP" "$WORK/lone/bin/"; "$WORK/lone/bin/benchwrap" --gate -- touch ran 2>"$WORK/err"; echo $?)" 3
ok "it ran" rm ran
gate_says() { "$BENCHWRAP" -q --gate "$@" 2>&1 >/dev/null; }
like "a closed gate names the reason: nothing judged the run" "$(gate_says -- true)" '^benchwrap: --gate: there is no verdict, as no rule file and no reference \(-R FILE\) judges this run: exit status 3$'
like "... of a series: the run of it" "$(gate_says --repeat 2 -- true)" '^benchwrap: --gate: run 1 of the series has no verdict: exit status 3$'
like "... below the reference" "$(gate_says -R bad.yaml -- sh -c "$measured")" '^benchwrap: --gate: the verdict is fail: .*: exit status 3$'
like "which is said" "$(cat "$WORK/err")" 'without a record there is no verdict, so the gate stays closed'

mkdir -p "$HOME/.config/benchwrap" repo/mlruns
sed 's/speed.*/speed: {min: 150 MB_per_s}/' good.yaml >"$HOME/.config/benchwrap/references.yaml"
plan() { "$BENCHWRAP" plan --json "$@" -- sh 2>"$WORK/err" | get '[(r["path"].replace("'"$WORK"'", ""), r["where"]) for r in v["references"]]'; }
is "the user's references are found" "$(plan)" "[('/.home/.config/benchwrap/references.yaml', 'user')]"
is "--reference replaces them" "$(plan -R good.yaml)" "[('/w/good.yaml', '--reference')]"
is "none switches them off" "$(plan -R none)" "[]"
is "they count" "$(status --gate -- sh -c "$measured")" 3
cd repo || exit 1
: >benchwrap.yaml
printf 'references: [{benchmark: sh, metrics: {speed: {min: 50}}}]\n' >references.yaml
is "the repository's come first" "$(plan)" "[('/w/repo/references.yaml', 'results repository'), ('/.home/.config/benchwrap/references.yaml', 'user')]"
is "and win where both speak of a metric" "$(status --gate -- sh -c "$measured")" 0
is "while the others add theirs" "$("$BENCHWRAP" show --json | get '[m["metric"] for m in v["references"]]')" "['speed', 'lat']"
echo 'reference: /etc/passwd' >benchwrap.yaml
is "a repository names no other file" "$(plan)" "[('/w/repo/references.yaml', 'results repository'), ('/.home/.config/benchwrap/references.yaml', 'user')]"
: >benchwrap.yaml
echo 'references: [{metric: 1}]' >references.yaml
"$BENCHWRAP" plan -- sh >/dev/null 2>"$WORK/err"
like "plan says what is wrong with a file that was found" "$(cat "$WORK/err")" 'references.yaml:1:[0-9]+: "metric" is not known.*would be ignored'
is "and a run goes on without it" "$(status -- sh -c "$measured")" 0
like "with a warning" "$("$BENCHWRAP" show)" 'reference: .*references.yaml:1:[0-9]+: "metric" is not known'
rm -r "$HOME/.config/benchwrap"
mkfifo fifo; rm references.yaml; ln -s fifo references.yaml
is "a pipe in its place does not hang" "$(timeout 120 "$BENCHWRAP" -q -- true 2>/dev/null; echo $?)" 0
cd ..

cat >rules.yaml <<'Y'
name: x
version: "1"
headlines: [speed]
readers:
  - {name: speed, regex: '^speed: (?<v>\S+) (?<u>\S+)', metrics: [{name: speed, cell: v, unit_cell: u, unit: MB_per_s, better: higher, headline: max}]}
Y
printf 'speed: 12.5 MB/s\nspeed: 13 MB/s\n' >out
printf 'references: [{benchmark: x, cluster: c, metrics: {speed: {value: 0.01 GB/s, band: 5%%}}}]\n' >ref.yaml
is "parse: better than the band is a pass" "$(status parse -r ./rules.yaml -R ref.yaml --tag cluster=c --gate out)" 0
like "and said" "$(cat "$WORK/out")" '^speed_MB_per_s.max 13 is above 10.5 MB_per_s, better than the band'
is "parse: the other cluster has no reference" "$(status parse -r ./rules.yaml -R ref.yaml --tag cluster=d --gate out)" 3
like "the verdict is none" "$(cat "$WORK/out")" '^x \(rules 1\): none: no entry of ref.yaml fits this run'
printf 'references: [{metrics: {speed: {min: 14}}}]\n' >ref.yaml
is "parse: below" "$(status parse -r ./rules.yaml -R ref.yaml --gate out)" 3
is "parse without --gate" "$(status parse -r ./rules.yaml -R ref.yaml out)" 0
is "in JSON" "$("$BENCHWRAP" parse -r ./rules.yaml -R ref.yaml --json out | get '(v["verdict"], v["references"][0]["verdict"])')" "('fail', 'below')"
is "parse --gate without references: the rules' verdict" "$(status parse -r ./rules.yaml --gate --exit-status 1 out)" 3
is "parse --gate: pass" "$(status parse -r ./rules.yaml --gate out)" 0
is "parse: a reference file that is none is refused" "$(status parse -r ./rules.yaml -R wrong.yaml out)" 125
printf 'references: [{metrics: {other: {min: 14}}}]\n' >ref.yaml
is "a headline nobody speaks of is told" "$("$BENCHWRAP" parse -r ./rules.yaml -R ref.yaml --json out | get '[(m["metric"], m["verdict"]) for m in v["references"]]')" \
    "[('other', 'missing'), ('speed_MB_per_s.max', 'no reference')]"

if python3 -c 'import jsonschema' 2>/dev/null; then
    ok "benchwrap.json of a judged run fits the schema" python3 -c '
import glob, json, jsonschema, sys
s = json.load(open(sys.argv[1]))
n = 0
for f in glob.glob("mlruns/*/*/artifacts/benchwrap.json"):
    d = json.load(open(f)); jsonschema.validate(d, s); n += "references" in d
assert n > 3, n' "$ROOT/mlruns-format/benchwrap.schema.json"
else
    skip_here "benchwrap.json of a judged run fits the schema" "no jsonschema for python3"
fi
done_testing
