#!/bin/bash
# pages: static pages of three sites; leaderboards by comparison key; only what is new is read; foreign text does nothing.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
bw() { "$BENCHWRAP" "$@" 2>err; }
get() { python3 -c 'import json, sys
v = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"; }
cat >rules.yaml <<'Y'
name: x
version: "1"
readers:
  - {name: speed, regex: '^speed: (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher, headline: median}]}
Y
run() { # SITE SPEED OPTION…
    echo "speed: $2" >output; local site=$1; shift 2
    "$BENCHWRAP" -q -e io -r ./rules.yaml --tag site="$site" "$@" -- cat output >/dev/null 2>>err
}
for v in 100 101 102; do run a $v -p size=1 --tag benchmark.version=1; run b "2$v" -p size=1 --tag benchmark.version=1; done
for v in 2100.5 2101.5 2102.5; do run c $v -p size=1 --tag benchmark.version=1; done
run a 900000 -p size=2 --tag benchmark.version=1
run a 800000 -p size=1 --tag benchmark.version=2
"$BENCHWRAP" -q -e io -r ./rules.yaml --tag site=d -p size=1 --tag benchmark.version=1 -- sh -c 'cat output; exit 3' >/dev/null 2>&1
"$BENCHWRAP" -q -e io -r ./rules.yaml --tag site=d -p size=1 --tag benchmark.version=1 -- cat output missing >/dev/null 2>&1
bw pages -o web >out; is "pages are written" "$?" 0
like "with a line about them" "$(cat out)" '^13 runs, 13 of them read; [0-9]+ files written, 0 removed: web/index.html$'

check() {
    while IFS= read -r line; do
        case $line in
        ok\ *) tap_pass "$1${line#ok }" ;;
        *) tap_fail "$1the pages" "$line" ;;
        esac
    done < <(python3 "$ROOT/tests/lib/check-pages.py" web 2>&1)
}
check ""
board() { get "$1" <"web/$(get '[b["details"] for b in v["best"] if b["measurement"] == "size 1"][0]' <web/index.json)"; }
is "a leaderboard: sites that cannot be told apart share a rank" "$(board '[(p["site"], p["rank"], p["runs"]) for p in v["versions"][1]["metrics"][0]["places"]]')" "[('c', 1, 3), ('b', 1, 3), ('a', 3, 3)]"
is "another version is not ranked with it" "$(board '[(x["version"], len([p for p in x["metrics"][0]["places"] if p["runs"]])) for x in v["versions"]]')" "[('2', 1), ('1', 3)]"
is "other inputs have a leaderboard of their own" "$(get 'sorted((b["measurement"], b["sites"]) for b in v["best"] if b["metric"] == "speed_MB_per_s.median")' <web/index.json)" "[('size 1', 1), ('size 2', 1)]"
is "a site without a value is named" "$(grep -c 'no value' web/measurement/*.html | cut -d: -f2 | sort -u | tail -n 1 | awk '{print ($1 > 0)}')" 1
like "a node type has all sites of a result" "$(sed 's/<[^>]*>/ /g' web/machine/*.html)" 'size 1 .* 10  a, c, b '
text() { sed -n '/<h1/,$p' "$1" | sed 's/<[^>]*>/ /g' | tr -s '\n ' ' '; }
page=web/$(get '[b["details"] for b in v["best"] if b["measurement"] == "size 1"][0]' <web/index.json | sed 's/json$/html/')
like "what differs begins with the results of the sites" "$(text "$page")" 'result or condition c b a (d )?result: speed(\.median)? \(higher is better\) 2102 MB/s 2101 MB/s \(-0\.0[0-9]+ %\) 101 MB/s \(-95\.2 %\) .*runs 3(, [0-9] not judged)? 3(, [0-9] not judged)? 3(, [0-9] not judged)? '
bw pages --filter "tags.\`benchmark.version\` = '1'" -o versions >out
like "sites that share the first place are named" "$(text versions/index.html)" 'size 1 speed.median \(higher is better\) 2102 MB/s c = b '
like "... and counted as tied" "$(text versions/index.html)" 'First places.* a [^/]* 4 0 of 1 .* c [^/]* 3 1 of 1 \(1 tied\).* b [^/]* 3 1 of 1 \(1 tied\)'
like "a link to a measurement has its inputs" "$(text web/experiment/*[0-9].html)" 'Measurements .* size 1 .* size 2 '
like "the page of an experiment names tied sites, too" "$(text versions/experiment/*[0-9].html)" ' size 1 [^/]* MB/s c = b '
id=$(bw ls --json | get 'v[0]["id"]')
is "JSON behind a run" "$(get '(v["run"] == sys.argv[2], v["key"]["measured"]["facts"]["size"])' <web/run/"${id:0:2}"/"$id".json 2>/dev/null || python3 -c 'import json, sys
v = json.load(open(sys.argv[1])); print((v["run"] == sys.argv[2], v["key"]["measured"]["facts"]["size"]))' web/run/"${id:0:2}"/"$id".json "$id")" "(True, '1')"

# only what is new
bw pages -o web >out; like "nothing new: nothing is read or written" "$(cat out)" '^13 runs, 0 of them read; 0 files written, 0 removed'
run b 205 -p size=1 --tag benchmark.version=1
bw pages -o web >out; like "one more run: one is read" "$(cat out)" '^14 runs, 1 of them read; [0-9]+ files written, 0 removed'
find web -type f ! -name .benchwrap-pages -exec md5sum {} + | sort >first
rm -rf web2; bw pages -o web2 >out
(cd web2 && find . -type f ! -name .benchwrap-pages -exec md5sum {} + | sed 's| \./| web/|' | sort) >second
is "step by step or at once: the same files" "$(diff first second | head -n 4)" ""
bw annotate --note "cold <start>" --name "renamed <run>" "$id" >/dev/null
bw pages -o web >out; like "an annotation: its run is read again" "$(cat out)" '^14 runs, 1 of them read'
is "... and its page has the note and the name" "$(grep -c 'cold &lt;start&gt;' web/run/"${id:0:2}"/"$id".html) $(get 'v["name"]' <web/run/"${id:0:2}"/"$id".json)" "1 renamed <run>"
sed -i.old 's/^name: .*/name: renamed/' mlruns/*/meta.yaml
bw pages -o web >out; is "another name of the experiment reaches pages of known runs" "$(grep -L 'experiment renamed' web/run/*/*.html)" ""
mv "$(echo mlruns/*/meta.yaml.old)" "$(echo mlruns/*/meta.yaml)"; bw pages -o web >out
head -c 3000 web/.benchwrap-pages >cut && cp cut web/.benchwrap-pages
bw pages -o web >out; like "a damaged index: all runs are read, no page changes" "$(cat out)" '^14 runs, 14 of them read; 0 files written'
sed -i 's/speed/spead/' web/.benchwrap-pages
bw pages -o web >out; like "... a changed one too" "$(cat out)" '^14 runs, 14 of them read; 0 files written'
rm web/.benchwrap-pages
bw pages -o web >out; like "... and a missing one" "$(cat out)" '^14 runs, 14 of them read; 0 files written'
rm web/run/"${id:0:2}"/"$id".html
bw pages -o web >out; like "a page that was deleted comes back" "$(cat out)" '^14 runs, 1 of them read; 1 file written'
path=$(ls -d mlruns/*/"$id") && echo "new" >"$path/tags/note"
bw pages -o web >out; like "a run that was changed is read again" "$(cat out)" '^14 runs, 1 of them read'
BENCHWRAP_SITE=d "$BENCHWRAP" retract --why wrong "$id" >out 2>&1 || cat out >&2
bw pages -o web >out; like "a retracted run has no page any more" "$(cat out)" '^13 runs, .* [1-9][0-9]* removed'
check "then: "

for file in mlruns/*/*/artifacts/benchwrap.json; do # a: nothing was measured of other programs; c: there were none; b: a run of others, of which no record states it
    run=${file%/artifacts/*} && site=$(cat "$run/tags/site" 2>/dev/null)
    rm -f "$run/tags/benchwrap.noisy"
    jq --arg site "$site" 'del(.metrics["noise.other_processors"], .tags["benchwrap.noisy"]) | .missing -= [.missing[] | select(.key == "noise.other_processors")]
        | if $site == "a" then .missing += [{key: "noise.other_processors", reason: "too <short>"}]
          elif $site == "c" then .metrics["noise.other_processors"] = {value: 0} else . end' "$file" >detail
    mv detail "$file"
done
noisy=$(bw ls --filter 'tags.site = "a" AND metrics.`speed_MB_per_s.median` = 101' --json | get 'v[0]["id"]')
echo "other processes used <2> processors" >"$(ls -d mlruns/*/"$noisy")"/tags/benchwrap.noisy
bw pages -o web >out
is "a leaderboard counts runs that were disturbed, and those that were not judged" "$(board '[(p["site"], p["runs"], p["disturbed"], p["unjudged"]) for x in v["versions"] if x["version"] == "1" for p in x["metrics"][0]["places"] if p["runs"]]')" "[('c', 3, 0, 0), ('b', 4, 0, 4), ('a', 3, 1, 2)]"
like "... and names what disturbed them" "$(text "$page")" 'a: 1 of 3 runs was disturbed\. The newest of these: other processes used &lt;2&gt; processors'
like "... and why others were not judged" "$(text "$page")" 'a: 2 of 3 runs were not judged for disturbances\. The newest of these: too &lt;short&gt;'
like "... so do its results" "$(text "$page")" ' runs 3 4, 4 not judged 3, 1 disturbed, 2 not judged '
bw pages --filter "tags.\`benchmark.version\` = '1' AND tags.site != 'c'" -o versions >out
like "... and the start page" "$(text versions/index.html)" ' b 4 of 4 runs not judged for disturbances '
bw pages --filter "tags.\`benchmark.version\` = '1' AND tags.site = 'a'" -o versions >out
like "... of a site with disturbed ones" "$(text versions/index.html)" ' a 1 of 3 runs disturbed, 2 not judged '

# foreign text
evil='<script>alert(1)</script>"><img src=x onerror=alert(2)>'
run "s<i>\"'" 5 -p "size=$evil" -n "$evil" --tag "cluster=$(printf 'x\033[31m\342\200\256')" --tag "benchmark.version=$evil"
"$BENCHWRAP" -q -e 'javascript alert' --tag site='../../etc' -- printf '</pre><script>alert(3)</script>\033[31m\n' >/dev/null 2>&1
bw pages -o web --title "$evil" >out; is "hostile names: written" "$?" 0
check "hostile names: "
is "... no element of theirs" "$(grep -lE '<script>alert|<img|<i>' -r web --include='*.html' --include='*.svg' --include='*.xml' | wc -l)" 0

# damage
path=$(ls -d mlruns/*/*/ | head -n 1)
echo x >"$path/meta.yaml"
bw pages -o web >out; is "a damaged run: status 1" "$?" 1
like "... the start page names it" "$(cat web/index.html)" 'id="damaged"'
check "damage: "
bw pages >out; is "a folder is needed" "$?" 125
mkdir empty && bw pages --tree empty -o none >out; is "no runs: a failure" "$?" 1
is "... and no folder" "$(ls -d none 2>/dev/null)" ""
# Two experiments with one comparison key have a page each. Written twice, one file would lack the runs of the other.
mkdir "$WORK/twice" && cd "$WORK/twice" || exit 1
cp ../rules.yaml . && echo 'speed: 3' >output
for e in one two; do "$BENCHWRAP" -q -e $e -r ./rules.yaml --tag site=a -- cat output >/dev/null 2>&1; done
bw pages -o web >/dev/null
is "experiments with one key have a page each" "$(for f in web/measurement/*.json; do get '(v["experiment"], len(v["runs"]))' <"$f"; done | sort | tr '\n' ' ')" \
    "('one', 1) ('two', 1) "
like "... so that nothing is left to write" "$(bw pages -o web)" ' 0 of them read; 0 files written, 0 removed'

# Measurements are ordered by their number of runs, after their boards are made: each names its own metric.
mkdir "$WORK/ordered" && cd "$WORK/ordered" || exit 1
cat >rules.yaml <<'Y'
name: x
version: "1"
readers:
  - {name: speed, regex: '^speed: (?<v>\S+)', metrics: [{name: speed, cell: v, unit: MB_per_s, better: higher, headline: median}]}
  - {name: pause, regex: '^pause: (?<v>\S+)', metrics: [{name: pause, cell: v, unit: s, better: lower, headline: median}]}
Y
ordered() { echo "$2" >output; "$BENCHWRAP" -q -e o -r ./rules.yaml -p kind="$1" -- cat output >/dev/null 2>&1; }
for i in 1 2 3; do ordered a "speed: $i"; done
for i in 1 2; do ordered b "pause: $i"; done
ordered c none
bw pages -o web >/dev/null; is "pages of measurements with other metrics" "$?" 0
is "the answer of each page names its own metric" "$(for f in web/measurement/*.html; do
    echo "$(jq -r '.inputs["param.kind"] // .inputs.kind' "${f%.html}.json") $(sed -n 's/.*<p class="answer">\([a-z.]*\):.*/\1/p' "$f")"; done | sort)" "a speed.median
b pause.median
c "
done_testing
