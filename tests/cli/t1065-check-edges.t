#!/bin/bash
# `benchwrap check` at the edges of its rules: equal to the end of a band, one condition of several, an address of an example. Each case is one that a mutant of
# a single operator would judge otherwise.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null 2>&1 || { skip "edges of check" "python3 is not installed"; done_testing; exit; }
cd "$WORK" || exit 1

# change RUN CODE: the record as j, files of the run by read(name) and write(name, text); the manifest goes with them. Then what check finds in it.
cat >change.py <<'P'
import hashlib, json, os, sys
run, code = sys.argv[1], sys.argv[2]
path = lambda name: os.path.join(run, name)
read = lambda name: open(path(name)).read()
def write(name, text):
    with open(path(name), "w") as f:
        f.write(text)
j = json.loads(read("artifacts/benchwrap.json"))
exec(code)
write("artifacts/benchwrap.json", json.dumps(j))
files = []
for top, _, names in os.walk(run):
    for name in names:
        name = os.path.join(top, name)
        data = open(name, "rb").read()
        if name != path("artifacts/manifest.json"):
            files.append({"path": os.path.relpath(name, run), "size": len(data), "sha256": hashlib.sha256(data).hexdigest()})
write("artifacts/manifest.json", json.dumps({"format": 1, "run_id": os.path.basename(run), "files": sorted(files, key=lambda f: f["path"])}))
P
change()
{
    rm -rf changed && cp -R "$1" changed
    python3 change.py changed/*/[0-9a-f]*[0-9a-f] "$2" || tap_fail "$2"
    findings changed
}
findings() { "$BENCHWRAP" check --json "$1" | jq -r '.findings[] | .severity + " " + .finding + " " + .path + ": " + .text'; }
of() { grep -E "^(error|warning) $1 " <<<"$2" | sed 's/^[^:]*: //' | sort -u; } # FINDING FINDINGS

# ---- references ----
cat >references.yaml <<'X'
references:
  - metrics:
      low: {min: 100, max: 200}
      high: {min: 50, max: 100}
      x@4: {min: 5, max: 5}
X
"$BENCHWRAP" -q -t judged/mlruns -R references.yaml -- "$BENCHWRAP" log low=100 high=100
"$BENCHWRAP" -q -t steps/mlruns -R references.yaml -- sh -c '"$BENCHWRAP" log low=100 high=100; for i in 3 4 5; do "$BENCHWRAP" log --step $i x=$((i + 1)); done'
mv judged/mlruns/[0-9]* judged/ && mv steps/mlruns/[0-9]* steps/ && rm -rf judged/mlruns steps/mlruns
is "two references and a missing one" "$(jq -c '[.references[] | select(.verdict != "no reference") | .verdict]' judged/*/*/artifacts/benchwrap.json)" '["pass","pass","missing"]'
is "values equal to the ends of their bands are accepted" "$(of record "$(change judged 'pass')")" ""
is "a step of a metric is accepted" "$(jq -r '.references[] | select(.metric == "x@4") | .verdict' steps/*/*/artifacts/benchwrap.json) $(of record "$(change steps 'pass')")" "pass "
said() # CODE PATTERN NAME, about the first reference r
{
    like "$3" "$(of record "$(change judged "r = [r for r in j['references'] if r['metric'] == 'low'][0]; $1")")" "$2"
}
outside='^reference of low: the value does not lie there'
is "the forged entries begin with a good one" "$(jq -c '.references[] | select(.metric == "low") | [.value, .low, .high]' judged/*/*/artifacts/benchwrap.json)" "[100,100,200]"
said "r.update(low=100.5)" "$outside" "passes below its low end"
said "r.update(low=0, high=99.5)" "$outside" "passes above its high end"
said "r.update(verdict='below')" "$outside" "is below an end that it equals"
said "r.update(verdict='above', high=100)" "$outside" "is above an end that it equals"
is "a value below its band may be called so" "$(of record "$(change judged "r = [r for r in j['references'] if r['metric'] == 'low'][0]; r.update(verdict='below', low=100.5)")")" ""
is "a value above its band may be called so" "$(of record "$(change judged "r = [r for r in j['references'] if r['metric'] == 'low'][0]; r.update(verdict='above', high=99.5)")")" ""
said "r.update(fails=True)" 'it passes and fails' "passes and fails"
said "r.update(value=101)" "the value is another than the run's" "has another value"
said "r.update(metric='none')" 'the run has no such metric' "is of no metric"
said "r.update(metric='low@x')" 'the run has no such metric' "is of a step that is no number"
like "the value of another step" "$(of record "$(change steps "r = [r for r in j['references'] if r['metric'] == 'x@4'][0]; r.update(value=6, high=6)")")" "reference of x@4: the value is another"

# ---- addresses of examples ----
"$BENCHWRAP" -q -t mail/mlruns -p mail=none -- true
mv mail/mlruns/[0-9]* mail/ && rm -rf mail/mlruns
address() # ADDRESS: what is found in the param with it
{
    rm -rf changed && cp -R mail changed
    python3 change.py changed/*/[0-9a-f]*[0-9a-f] "j['params']['mail']['value'] = '$1'; write('params/mail', '$1')"
    "$BENCHWRAP" check --public --json changed | jq -r '.findings[] | select(.path | endswith("params/mail")) | .finding' | sort -u
}
for address in jo@example.org jo@example.com jo@host.example.org 1+jo@users.noreply.github.com; do is "$address is nobody's" "$(address $address)" ""; done
for address in jo@site.org jo@counterexample.org jo@example-site.org jo@users.noreply.github.com.site.org; do is "$address is somebody's" "$(address $address)" personal; done

# ---- the duration of an early build, without a unit ----
"$BENCHWRAP" -q -t early/mlruns -- true
mv early/mlruns/[0-9]* early/ && rm -rf early/mlruns
only="
span = [float(l.split(': ')[1]) for l in read('meta.yaml').splitlines() if l.startswith(('start_time', 'end_time'))]
span = abs(span[1] - span[0]) / 1000
for name in os.listdir(path('metrics')):
    if name != 'run.wall_s': os.remove(path('metrics/' + name))
w = j['metrics']['run.wall_s']
w.update(value=span, unit='', direction='', source='tree')
j['metrics'] = {'run.wall_s': w}
line = read('metrics/run.wall_s').split()
wall = lambda v: write('metrics/run.wall_s', '%s %r %s\n' % (line[0], v, line[2]))
wall(span)
"
unit='unit|direction'
is "a duration without a unit is accepted where it is the only metric" "$(of record "$(change early "$only")" | grep -E "$unit")" ""
early() { like "$1" "$(of record "$(change early "$only$2")")" "$unit"; } # NAME CODE
early "... not beside another metric" "j['metrics']['x'] = dict(w, unit='s', direction='lower', source='log', value=1.0); write('metrics/x', line[0] + ' 1.0 0\n')"
early "... not of another name" "j['metrics'] = {'run.user_s': w}; os.rename(path('metrics/run.wall_s'), path('metrics/run.user_s'))"
early "... not with another value" "wall(span + 1); w.update(value=span + 1)"
early "... not of another source" "w.update(source='recorder')"
early "... not with a direction" "w.update(direction='higher')"
early "... not with a unit" "w.update(unit='ms')"

# ---- one output under two ids ----
two() # NAME LINE: two runs whose program prints the same
{
    rm -rf "$1"
    for i in 1 2; do BENCHWRAP_FINISH_WAIT=60s "$BENCHWRAP" -q -t "$1/mlruns" -- sh -c 'i=0; while [ $i -lt "$1" ]; do i=$((i + 1)); done; echo "$0"' "$2" ${i}000 >/dev/null; done
    findings "$1" | grep -c 'its output is byte by byte that of'
}
is "an output from which values were read, under two ids" "$(two counted 'copy.rate 100 MiB/s
read.rate 100 MiB/s')" 1
is "the same text without a value" "$(two worded 'nothing was counted in the whole list of the program')" 0

# ---- secrets behind a scheme of HTTP ----
rm -rf sent && "$BENCHWRAP" -q -t sent/mlruns -- true && mv sent/mlruns/[0-9]* sent/ && rm -rf sent/mlruns
for scheme in Basic BASIC bearer BEARER TOKEN Digest apikey; do
    change sent "write('artifacts/log.txt', 'Authorization: $scheme am86c2VjcmV0c2VjcmV0MTIz')" >secrets
    like "a secret behind \"$scheme\"" "$(cat secrets)" '^warning secret-odd [^ ]*/log.txt: a password or token that is named so'
done

# ---- folders that a few objects of git name very often ----
git init -q many && cd many || exit 1
level() { awk -v id="$1" 'BEGIN { for (i = 0; i < 150; i++) printf "040000 tree %s\tf%03d\n", id, i }' | git mktree; }
folders=$(level "$(level "$(git hash-object -t tree -w /dev/null)")") # 22,650 folders in three objects
file=$(echo x | git hash-object -w --stdin)
run=$(printf '100644 blob %s\tmeta.yaml\n040000 tree %s\tartifacts\n' "$file" "$folders" | git mktree)
runs=$(printf '040000 tree %s\t0123456789abcdef0123456789abcdef\n' "$run" | git mktree)
tree=$(printf '040000 tree %s\t1\n' "$runs" | git mktree)
top=$(printf '040000 tree %s\tmlruns\n' "$tree" | git mktree)
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
before=$(git commit-tree -m before "$(git hash-object -t tree -w /dev/null)") && after=$(git commit-tree -m after -p "$before" "$top")
like "folders count for the limit of files" "$("$BENCHWRAP" check --json --range "$before..$after" | jq -r '.findings[].text')" \
    'the run has more than 20000 files and folders; the rest was not checked'
cd ..
done_testing
