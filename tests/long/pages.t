#!/bin/bash
# The pages of three sites in Chromium: accessible by axe-core in light and dark, no request, and the way to the best result and to what differs is short.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/browser.sh"
cd "$WORK" || exit 1
if ! why=$(browser_find); then
    skip "the pages in a browser" "$why"
    done_testing
    exit
fi
browser_find
cat >work.sh <<'S'
# a real load, as fast as the processors allow that the site has
python3 - <<'P'
import os, time
start, n = time.time(), 0
while time.time() - start < 0.15:
    sum(range(20000)); n += 1
print("work: %.1f op/s" % (n / 0.15 * len(os.sched_getaffinity(0))))
P
S
cat >rules.yaml <<'Y'
name: work
version: "1"
readers:
  - {name: work, regex: '^work: (?<v>\S+)', metrics: [{name: work, cell: v, unit: op_per_s, better: higher, headline: median}]}
Y
site() { # NAME PREFIX…
    local name=$1; shift
    for i in 1 2 3 4; do "$@" "$BENCHWRAP" -q -e work -r ./rules.yaml --tag site="$name" --cluster "c-$name" -- sh work.sh >/dev/null 2>&1; done
    "$@" "$BENCHWRAP" -q -e work -r ./rules.yaml --tag site="$name" --cluster "c-$name" -p size=2 -- sh work.sh >/dev/null 2>&1
}
site north env
site south taskset -c 0
site west env OMP_NUM_THREADS=1 nice -n 19
"$BENCHWRAP" pages -o web --title "Three sites" >/dev/null
cd web || exit 1
run=$(find run -name '*.html' | head -n 1) measurement=$(grep -l '"median"' measurement/*.json | head -n 1) machine=$(ls machine/*.html | head -n 1)
for page in index.html "$(ls experiment/*.html | head -n 1)" "${measurement%.json}.html" "$machine" "$run"; do
    is "axe finds nothing in ${page%%/*}, light" "$(browser_run "$page" 1 "$browser_audit")" .
    is "... dark" "$(browser_run "$page" 0 "$browser_audit")" .
done
is "nothing is requested" "$(browser_requests index.html "$measurement" "$run")" ""
# What a reader does who has never seen them: 1. the first table of the start page has the best site; 2. its first link leads to the leaderboard and to what differs.
best=$(browser_run index.html 1 'const r=document.querySelector("#best~.scroll tbody tr");document.title="RESULT "+r.cells[3].textContent+"|"+r.cells[0].querySelector("a").getAttribute("href")')
like "the best result is in the first row of the first table" "$best" '^(north|south|west).*\|measurement/'
is "... which is the one that the data has" "$(python3 -c 'import json
b = json.load(open("index.json"))["best"][0]
print(b["site"])')" "$(printf '%s' "${best%%|*}" | cut -d' ' -f1)"
like "its link leads to what differs between the sites" "$(browser_run "${best##*|}" 1 'document.title="RESULT "+[...document.querySelector("#differences~.scroll tbody").rows].map(r=>r.cells[0].textContent).join(" ")')" 'cluster.*cpu\.bound'
is "in the first two screens of that page" "$(browser_run "${best##*|}" 1 'document.title="RESULT "+(document.querySelector("#differences").getBoundingClientRect().top<1600)')" true
ok "the start page is small" [ "$(wc -c <index.html)" -lt 300000 ]
done_testing
