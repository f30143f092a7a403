#!/bin/sh
# benchwrap plot and report of programs with rules: Pareto front, latencies, reference bands, phases, and what a report has in which order.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >rules.yaml <<'R'
name: toy
version: "1"
headlines: [rate, wait.p99]
readers:
  - {name: rate, regex: '^rate: (?<v>\S+)', metrics: [{name: rate, cell: v, unit: MB_per_s, better: higher}]}
  - {name: wait, regex: '^wait (?<q>\S+): (?<v>\S+)', metrics: [{name: "wait.p{q}", cell: v, unit: us, better: lower}]}
  - {name: size, regex: '^size (?<b>\d+): (?<v>\S+)', metrics: [{name: bw, cell: v, unit: MB_per_s, better: higher, step: b}]}
R
cat >toy <<'P'
#!/bin/sh
echo "rate: $1"
for q in 50:1 90:2 99:5; do echo "wait ${q%:*}: $(($2 * ${q#*:}))"; done
for b in 64 128 256 512 1024; do echo "size $b: $((b * 3))"; done
P
chmod +x toy
toy() { "$BENCHWRAP" -q -e "$1" -n "$2" -p size="$2" --rules rules.yaml -R refs.yaml -- ./toy "$3" "$4" >/dev/null 2>>log; }
cat >refs.yaml <<'R'
references:
  - benchmark: toy
    metrics:
      rate_MB_per_s: {value: 100, lower: -10%, upper: +10%}
R
toy pareto a 100 10; toy pareto b 200 30; toy pareto c 90 20; toy pareto d 210 90
out=$("$BENCHWRAP" plot pareto -e pareto --metric rate --metric wait.p99 --by size --ignore 'argument.*' 2>err)
is "a Pareto front is plotted" "$? $(cat err)" "0 "
"$BENCHWRAP" plot pareto -e pareto --metric rate --metric wait.p99 --by size --ignore 'argument.*' -o p.svg
named() { sed -n 's,.*<text class="q"[^>]*>\([abcd]\)</text>.*,\1,p' p.svg | sort | tr -d '\n'; }
is "it names the points that no other one beats" "$(named)" abd
ok "axes state what is better" sh -c 'grep -q "rate, MB/s (higher is better)" p.svg && grep -q "wait.p99, us (lower is better)" p.svg'
"$BENCHWRAP" plot pareto -e pareto --metric rate >/dev/null 2>err
is "a front needs two metrics" $? 125
out=$("$BENCHWRAP" plot latency last 2>&1)
like "percentiles of one run" "$out" 'wait, us \(lower is better\)'
out=$("$BENCHWRAP" plot sweep last 2>&1)
like "a table of sizes is a curve over its steps" "$out" 'bw over its steps'
for v in 100 101 99 100 102 98; do toy hist x $v 10; done
"$BENCHWRAP" plot -e hist --metric rate --ignore 'argument.*' -o h.svg 2>err
is "a history with a reference" "$? $(cat err)" "0 "
ok "shows its band" grep -q '>reference</text>' h.svg
ok "and what was expected" grep -q 'expected after the values before' h.svg

for v in 60 61 59 60 61; do toy hist x $v 10; done
"$BENCHWRAP" plot -e hist --metric rate --ignore 'argument.*' -o h.svg 2>err
like "a change of the level is marked" "$(cat h.svg)" 'class="changet"[^>]*>-40 %, run [0-9a-f]{8}<'
out=$("$BENCHWRAP" plot -e hist --metric rate --ignore 'argument.*' 2>err)
like "in the terminal, too" "$out" '┃ -40 %, run'
toy hist x 100 10
"$BENCHWRAP" report last -o r.html
order=$(grep -o '<h2>[^<]*</h2>\|class="answer"\|class="cards"' r.html | sed 's/<[^>]*>//g; s/class=//; s/"//g' | tr '\n' ' ')
is "a report begins with verdict and headline metrics, and has its parts in order" "$order" "answer cards Plots Conditions Noise and warnings Metrics Output "
like "the verdict" "$(cat r.html)" '<span class="state good">pass</span>'
like "a headline metric with its reference" "$(cat r.html)" 'pass, reference 90 … 110'
"$BENCHWRAP" report -e pareto --by size --ignore 'argument.*' -o g.html
is "groups are reported" $? 0
like "with the answer first" "$(sed -n '/<main>/,/<h2>/p' g.html)" 'One run on each side cannot tell a change from chance'
like "the inputs that differ" "$(sed -n '/Differences/,/Other metrics/p' g.html)" '>size<'
"$BENCHWRAP" report -e pareto --by size --ignore 'argument.*' --format markdown 2>/dev/null | sed -n '/# Differences/,/# Other/p' | sed 's/<[^>]*>//g; s/&#58;/:/g; s/&#40;/(/g; s/&#41;/)/g' >g.md
like "the differences of groups begin with their results" "$(grep '^|' g.md | sed -n 3p)" '^. rate . 100 MB/s . 200 MB/s .&#43;100 %. . 90 MB/s .-10 %. . 210 MB/s .&#43;110 %. .$'
like "... under the names of the groups" "$(grep '^|' g.md | sed -n 1p)" '^. result . A: [a-z0-9]+ . B: '
for run in $("$BENCHWRAP" ls -e pareto --filter 'params.size != "d"' --json | jq -r '.[].path'); do # no other program disturbed d
    jq 'del(.metrics["noise.other_processors"], .tags["benchwrap.noisy"])' "$run/artifacts/benchwrap.json" >detail && mv detail "$run/artifacts/benchwrap.json"
done
run=$("$BENCHWRAP" ls -e pareto --filter 'params.size = "d"' --json | jq -r '.[].path')
jq '.metrics["noise.other_processors"] = {value: 0}' "$run/artifacts/benchwrap.json" >detail && mv detail "$run/artifacts/benchwrap.json"
rm -f mlruns/*/*/tags/benchwrap.noisy
"$BENCHWRAP" report -e pareto --format markdown 2>/dev/null | sed -n '/# Differences/,/# Runs/p' | sed 's/<[^>]*>//g' >g.md
like "those of an experiment have a row for each key" "$(grep '^|' g.md | sed -n 1p)" '^. argument.1 .*runs . disturbed . rate'
like "... which counts disturbed runs" "$(grep '^. 210 ' g.md)" ' 1 . 0 . 210 '
like "... and those that may have been disturbed" "$(grep '^. 100 ' g.md)" ' 1 . 0 \(1 not judged\) . 100 '
"$BENCHWRAP" report -e hist -o e.html
is "an experiment is reported" $? 0
like "with its runs" "$(cat e.html)" '<h2>Runs</h2>'
is "reports of three forms name the same metrics" "$(for f in html markdown latex; do "$BENCHWRAP" report last --format $f | grep -c 'wait.p99'; done | grep -vc '^0$')" 3
is "the table of runs in an order, with columns" "$("$BENCHWRAP" report -e pareto --sort 'metrics.rate_MB_per_s DESC' --columns 'run_name,params.s?ze' --format markdown 2>&1 | sed -n '/## Runs/,$p' | grep '^|' | sed -n '3,6p' | cut -d'|' -f3,4 | sed 's/<[^>]*>//g' | tr -d ' \n`')" "d|db|ba|ac|c"
"$BENCHWRAP" report last --columns run_name >out 2>err; is "one run has no such table" $? 125
for team in red blue; do "$BENCHWRAP" -q -e tagged -n $team --tag team=$team -p team=any -- true; done # a param may have the key of a tag
like "tags that differ are listed" "$("$BENCHWRAP" report -e tagged --format markdown)" 'tag.*team.*blue &#40;1&#41;, red'
like "... of groups, too" "$("$BENCHWRAP" report last~1 last --format markdown)" 'team.*red.*blue'

# Values, their ranges, references and the best one stand in one unit: a time below 0.1 s is shown in ms, one above it in s.
cat >took.yaml <<'R'
name: took
version: "1"
headlines: [took]
readers: [{name: took, regex: '^took: (?<v>\S+)', metrics: [{name: took, cell: v, unit: s, better: lower, headline: median}]}]
R
printf 'references:\n  - benchmark: took\n    metrics:\n      took_s.median: {value: 0.08, lower: -50%%, upper: +100%%}\n' >tookrefs.yaml
printf '#!/bin/sh\nfor v; do echo "took: $v"; done\n' >took; chmod +x took
"$BENCHWRAP" -e took -n x --rules took.yaml -R tookrefs.yaml -- ./took 0.05 0.09 0.12 >/dev/null 2>out
like "the summary has value and reference in one unit" "$(cat out)" 'took\.median +90 ms +pass, reference 40 … 160'
"$BENCHWRAP" report last --format markdown | sed 's/<[^>]*>//g; s/&#[0-9]*;//g' >out
like "the report's headline metric, too" "$(cat out)" '^- took\.median \*\*90\*\* ms pass, reference 40 … 160'
like "... and the range in its table" "$(cat out)" '^. took . 90 . ms . 50 … 120 . 3 '
"$BENCHWRAP" -q -e took -n x --rules took.yaml -- ./took 0.0005 0.0004 0.0005 >/dev/null 2>&1
"$BENCHWRAP" -q -e took -n x --rules took.yaml -- ./took 0.09 >/dev/null 2>&1
like "... and the best one of an experiment" "$("$BENCHWRAP" report -e took --ignore 'argument.*' --format markdown | sed 's/<[^>]*>//g')" '^- took\.median, newest run \*\*90\*\* ms best 0.5, run'

cat >slow <<'P'
#!/bin/sh
for i in 1 2 3 4 5 6; do "$BENCHWRAP" log -s $i level=$i; sleep 0.02; done
echo "rate: 5"
P
chmod +x slow
"$BENCHWRAP" -q -e phases --repeat 2 -- ./slow >/dev/null 2>&1
out=$("$BENCHWRAP" plot samples last --metric level 2>&1)
like "samples of repetitions stand one behind the other" "$out" '^12 samples of'
like "with each repetition as a phase" "$out" '#1.*#2'
is "several metrics stand one below the other" "$("$BENCHWRAP" plot samples last -m level -m run.wall 2>/dev/null | grep -c 'over time$')" 2
# Another client's run, whose samples are not in the order of their steps or times.
other=other/mlruns/7/aaaaaaaaaaaa4aaaaaaaaaaaaaaaaaaa
mkdir -p $other/metrics $other/params $other/tags $other/artifacts
printf 'experiment_id: "7"\nlifecycle_stage: active\nname: u\n' >other/mlruns/7/meta.yaml
printf 'end_time: 1700000009000\nexperiment_id: "7"\nlifecycle_stage: active\nrun_id: %s\nrun_name: n\nstart_time: 1700000000000\nstatus: 3\n' "${other##*/}" >$other/meta.yaml
printf '%s\n' '1700000005000 50 64' '1700000003000 30 16' '1700000002000 20 4' '1700000003500 35 16' '1700000006000 60 32' '1700000000500 1 2' >$other/metrics/lat_us
marks() { "$BENCHWRAP" plot "$1" -t other/mlruns "${other##*/}" -m lat_us -o marks.svg && grep -oE '<path d="M[0-9.]+ [0-9.]+a4' marks.svg | sed 's/.*M//; s/ .*//' >marks && sort -nc marks && wc -l <marks; }
is "a curve over steps has each step once, in their order" "$(marks sweep)" 5
is "a curve over time has the samples in its order" "$(marks samples)" 6
is "the value of the metric is that of the greatest step" "$("$BENCHWRAP" show -t other/mlruns "${other##*/}" --json | jq '.metrics[0].value') $("$BENCHWRAP" pages -t other/mlruns -o marked >/dev/null && jq -c '.metrics.lat_us.value' marked/run/*/*.json)" "50 50"
# Arrays where objects are expected, in files that a damaged disk or another program has written.
echo '{"nodes":[{"name":"n","series":[{"key":"a","mean":1}],"facts":["x"]},{"name":"m","series":[{"key":"a","mean":2}]}]}' >$other/artifacts/nodes.json
echo '{"metrics":[{"unit":"s"},3],"params":[{}],"missing":["x"],"warnings":{"a":[]},"references":{"b":1},"run":[1]}' >$other/artifacts/benchwrap.json
for command in show "show --all" "show --json" report "plot nodes" "plot samples" "history -e u" "compare ${other##*/}" "pages -o marked"; do
    case $command in pages*|history*) run='' ;; *) run=${other##*/} ;; esac
    # shellcheck disable=SC2086
    "$BENCHWRAP" $command -t other/mlruns $run >/dev/null 2>&1
    ok "$command ends well" [ $? -le 1 ]
done

# Runs that did not finish: a plot of several leaves them out and counts them, that of one says it.
for n in 1 2; do "$BENCHWRAP" -q -e ends --rules rules.yaml -- ./toy 100 10 >/dev/null 2>>log; done
"$BENCHWRAP" -q -e ends --rules rules.yaml -- sh -c './toy 100 10; exit 3' ./toy >/dev/null 2>>log
for kind in latency sweep groups history; do
    out=$("$BENCHWRAP" plot $kind -e ends --ignore '*' 2>&1)
    like "plot $kind leaves out a run that failed" "$out" '^1 left out: 1 (run )?that did not finish$'
done
like "the plot of that run alone says it" "$("$BENCHWRAP" plot latency last 2>&1)" '^run [0-9a-f]{8}, which did not finish \(FAILED\)$'

# A direction that one run alone knows is that of the axis, whichever run it is.
mkdir ways; cd ways || exit 1
"$BENCHWRAP" -q -e ways -- true
for key in first last; do
    for i in 1 2 3; do
        echo "{\"metrics\": {\"$key\": $i}, \"details\": {\"$key\": {\"direction\": \"$(case $key$i in first1 | last3) echo lower ;; esac)\"}}}"
    done
done >specs
"$TESTLIB/make_history.py" --remove "$(dirname mlruns/*/*/meta.yaml)" <specs >/dev/null
for key in first last; do
    like "the axis has the direction that only the $key run knows" "$("$BENCHWRAP" plot -e ways -m $key)" "^$key \\(lower is better\\)$"
done

# A report says of which run a value is, and counts what its tables leave out.
mkdir ../left; cd ../left || exit 1
"$BENCHWRAP" -q -e left -- true
python3 - >specs <<'P'
import json
for i in range(2):
    print(json.dumps({"metrics": {"m%d" % k: 1 for k in range(805)} if i == 0 else {}, "tags": dict({"t%d" % k: str(i) for k in range(305)}, **{"benchwrap.headline": "m1"})}))
P
"$TESTLIB/make_history.py" --remove "$(dirname mlruns/*/*/meta.yaml)" <specs >/dev/null
like "a value that the newest run lacks is not called its value" "$("$BENCHWRAP" report -e left --format markdown | sed 's/<[^>]*>//g')" '^- m1, newest run that has it '
"$BENCHWRAP" report last~1 last --format html -o left.html
is "tables of groups count what they leave out" "$(grep -oE '[0-9]+ more: benchwrap compare' left.html | cut -d' ' -f1 | xargs)" "5 5"
done_testing
