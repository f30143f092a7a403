#!/bin/sh
# benchwrap report and plot: runs that are large, damaged or hostile.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
evil="<script>alert(1)</script>\"'&\\input{x}\$(id)$(printf '\342\200\256\033[31m')"
"$BENCHWRAP" -q -e io -n "$evil" --tag "benchwrap.x=$evil" -p "note=$evil" -- sh -c 'printf "rate: 500 MiB/s\n\033[31mred\033[0m <img src=x onerror=alert(1)> \\end{document} \342\200\256\n"' >/dev/null 2>&1
for form in html markdown latex; do
    "$BENCHWRAP" report last --format $form >r.$form 2>err
    is "$form is written" $? 0
done
ok "no script and no handler in HTML" sh -c '! grep -qE "<script>alert|<img" r.html'
ok "no escape and no change of direction in any form" sh -c '! grep -q "$(printf "\033\|\342\200\256")" r.html r.markdown r.latex'
ok "no markup in Markdown" sh -c '! grep -qE "<script|<img" r.markdown'
ok "no command in LaTeX" sh -c '! grep -qF -e "\\input{x}" -e "\\end{document}" r.latex'
ok "the page allows one script, by its hash" python3 - r.html <<'P'
import base64, hashlib, re, sys
page = open(sys.argv[1], encoding="utf-8", newline="").read()
script = re.findall(r"<script>(.*?)</script>", page, re.S)
assert len(script) == 1
digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
assert "script-src 'sha256-" + digest + "'" in page
assert "default-src 'none'" in page
assert not re.search(r"(?:src|href)=\"(?!data:,)[^\"#]*[:/]", page), "a request"
P
# 5,000 metrics, a series of 100,000 samples, 512 nodes: files that benchwrap and its nodes write, in a run that they never wrote.
run=$(dirname "$(find mlruns -name benchwrap.json)")/..
python3 - "$run" <<'P'
import json, random, sys
run = sys.argv[1]
random.seed(1)
for i in range(5000):
    with open(f"{run}/metrics/many.m{i}_ms", "w") as f:
        f.write(f"1795785212501 {i}.5 0\n")
for q in (50, 90, 95, 99, 999):
    with open(f"{run}/metrics/read.clat.p{q}_us", "w") as f:
        f.write(f"1795785212501 {q * 3} 0\n")
start = int(next(l for l in open(f"{run}/meta.yaml") if l.startswith("start_time")).split()[1])
values = [random.gauss(100, 5) for _ in range(100000)]
values[50000] = 900
with open(f"{run}/artifacts/series.jsonl", "w") as f:
    for at in range(0, 100000, 1000):
        f.write(json.dumps({"key": "load.busy_percent", "samples": [[start + i, i, values[i]] for i in range(at, at + 1000)]}) + "\n")
with open(f"{run}/metrics/load.busy_percent", "w") as f:
    for i in range(0, 100000, 101):
        f.write(f"{start + i} {values[i]} {i}\n")
nodes = [{"name": "n<b>%03d" % i, "recorder": i == 0, "complete": True, "start_ms": start, "facts": {}, "missing": {},
          "series": {"cpu.busy_percent": {"count": 9, "min": 1, "mean": 50 if i == 77 else 90 + i % 5, "max": 99, "points": []}}} for i in range(512)]
json.dump({"nodes_expected": 512, "nodes_told": 512, "common": {}, "nodes": nodes}, open(f"{run}/artifacts/nodes.json", "w"))
P
"$BENCHWRAP" report last -o big.html 2>err
is "a large run is reported" $? 0
ok "in at most 900 KB" [ "$(wc -c <big.html)" -le 900000 ]
ok "with a part of the metrics, counted" grep -q '[0-9]* more: benchwrap show --all' big.html
ok "with the nodes" grep -q 'n&lt;b&gt;511' big.html
"$BENCHWRAP" plot samples last --metric load.busy -o s.svg 2>err
is "100,000 samples are plotted" $? 0
ok "as a small file" [ "$(wc -c <s.svg)" -le 80000 ]
ok "all of them" grep -q '100000 samples' s.svg
"$BENCHWRAP" plot samples last --metric load.busy >s.txt 2>err
ok "the one that stands out is not lost" sh -c 'grep -qE "^ *(900|1000)" s.txt'
out=$("$BENCHWRAP" plot nodes last 2>err)
like "a node that stands out is named" "$out" 'n<b>077 50'
like "of all nodes" "$out" '512 nodes'
out=$("$BENCHWRAP" plot latency last 2>err)
like "percentiles have an axis towards the tail" "$out" '99\.9 %'
# what does not fit is counted, and the last lines are those at the end of the output
python3 - "$run" <<'P'
import json, sys
run = sys.argv[1]
nodes = json.load(open(f"{run}/artifacts/nodes.json"))
nodes["nodes"] = [dict(nodes["nodes"][0], name=f"n{i}") for i in range(1030)]
json.dump(nodes, open(f"{run}/artifacts/nodes.json", "w"))
detail = json.load(open(f"{run}/artifacts/benchwrap.json"))
detail["missing"] = [{"key": f"none{i}", "reason": "printed \"null\""} for i in range(700)]
json.dump(detail, open(f"{run}/artifacts/benchwrap.json", "w"))
open(f"{run}/artifacts/stdout.log", "w").write("a line of output\n" * 300000 + "the end of it\n")
P
"$BENCHWRAP" report last -o cut.html 2>err
ok "more nodes than the report has are counted" grep -q '6 more: artifact nodes.json' cut.html
ok "... missing values too" grep -q '100 more: benchwrap show --all' cut.html
ok "... whose reason is a sentence" grep -q 'the program reports no value for it (null)' cut.html
ok "the last lines of a long output are its last" grep -q 'the end of it' cut.html
for form in markdown latex; do
    "$BENCHWRAP" report last --format $form -o cut 2>err
    ok "... in $form too" grep -q 'the end of it' cut
done
# damage
printf '{' >"$run/artifacts/nodes.json"
"$BENCHWRAP" report last -o d.html 2>err
is "a damaged file of nodes does not matter" $? 0
printf 'x\n' >"$run/artifacts/series.jsonl"
"$BENCHWRAP" report last -o d.html 2>err
is "damaged samples are a status of 1" "$? $(grep -c 'damaged: metrics/load.busy_percent: artifacts/series.jsonl: line 1' d.html)" "1 1"
printf '{"run":' >"$run/artifacts/benchwrap.json"
"$BENCHWRAP" report last -o d.html 2>err
is "a damaged record is a status of 1" $? 1
ok "and a note on the page" grep -q 'This run is damaged' d.html
"$BENCHWRAP" plot --metric many.m1 >/dev/null 2>err
is "also for a plot" $? 1
like "which says how to see it" "$(cat err)" '1 damaged run'
"$BENCHWRAP" report last -o /nowhere/x.html 2>err
is "a path that cannot be written" $? 1
"$BENCHWRAP" report last >/dev/full 2>err
ok "a full disk is an error" [ $? -ne 0 ]
done_testing
