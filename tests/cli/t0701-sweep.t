#!/bin/bash
# --sweep, --interleave, --until-stable: which command lines are run, in which order, when it is enough.
# sanitizer: long, because t0700 walks the same code
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit
run() # OPTIONS… -- COMMAND: the output of a quiet series
{
    rm -rf mlruns .benchwrap
    "$BENCHWRAP" -q "$@" 2>err </dev/null
}
json() # EXPRESSION: Python over r, the series' record, and kids
{
    python3 - "$1" <<'P'
import glob, json, sys
runs = [json.load(open(f)) for f in glob.glob("mlruns/*/*/artifacts/benchwrap.json")]
tag = lambda r, k: r["tags"].get(k, {}).get("value")
r = next(r for r in runs if tag(r, "benchwrap.series"))
kids = sorted((k for k in runs if tag(k, "mlflow.parentRunId") == r["run"]["id"]), key=lambda k: int(tag(k, "benchwrap.order")))
metric = lambda r, k: r["metrics"].get(k, {}).get("value")
param = lambda r, k: r["params"].get(k, {}).get("value")
def samples(r, key):
    with open(glob.glob("mlruns/*/%s/metrics/%s" % (r["run"]["id"], key))[0]) as f:
        return [(int(l.split()[2]), float(l.split()[1])) for l in f]
print(eval(sys.argv[1]))
P
}

is "each value, once" "$(run --sweep n=1,2,4 -- echo a{n}b{n} x)" "a1b1 x
a2b2 x
a4b4 x"
is "they are the children's parameters" "$(json '[param(k, "n") for k in kids]')" "['1', '2', '4']"
is "and stand in their names" "$(json '[k["run"]["name"] for k in kids]')" "['echo n=1 #1', 'echo n=2 #1', 'echo n=4 #1']"
is "the parent has the plan" "$(json '(param(r, "sweep.n"), param(r, "series.points"))')" "('1,2,4', '3')"
is "the median is a curve over integers" "$(json '[s for s, v in samples(r, "run.wall_s.median")]')" "[1, 2, 4]"
is "and each point has its own keys" "$(json 'sorted(k for k in r["metrics"] if k.endswith(".n"))')" "['n_1.run.wall_s.n', 'n_2.run.wall_s.n', 'n_4.run.wall_s.n']"
is "points.csv has a line for each metric and point" "$(grep -c '^"[124]","run.wall_s",' mlruns/*/*/artifacts/points.csv)" 3
is "two sweeps: all combinations, the first changes slowest" "$(run --sweep a=1,2 --sweep b=x,y -- echo {a}{b} | tr '\n' ' ')" "1x 1y 2x 2y "
is "ranges" "$(run --sweep n=1..3,8..6,1..16*4,0..10+5,-1..1 -- echo {n} 2>&1 | tr '\n' ' ')" ""
like "a value twice is refused" "$(cat err)" '"0" comes twice'
is "ranges that do not meet" "$(run --sweep n=1..3,8..6,16..64*2,100..110+5,-2..-1 -- echo {n} | tr '\n' ' ')" "1 2 3 8 7 6 16 32 64 100 105 110 -2 -1 "

hostile='v=a b,$(touch pwned),`touch pwned`;touch pwned,"q",{w},x\,y,-rf,é,*,%s\\n,../x,1..y'",'"
run --sweep "$hostile" --sweep w=W -- printf '<%s>' '{v}' '{w}' >out
printf '<%s><W>' 'a b' '$(touch pwned)' '`touch pwned`;touch pwned' '"q"' '{w}' 'x,y' -rf é '*' '%s\n' ../x 1..y "'" >want
ok "hostile values arrive as they are, through no shell" cmp want out
is "nothing was executed" "$(ls pwned 2>&1 | grep -c '^pwned')" 0
is "and are the parameters" "$(json '[param(k, "v") for k in kids][:3]')" "['a b', '\$(touch pwned)', '\`touch pwned\`;touch pwned']"
is "points have keys of their own" "$(json 'len({k for k in r["metrics"] if k.endswith(".run.wall_s.n")})')" 13
is "values that look alike in keys are told apart" "$(run --sweep v=a.b,a_b,A-b -- true {v}; json 'len({k for k in r["metrics"] if k.endswith(".run.wall_s.n")})')" 3
is "braces of others stay; doubled ones are taken off a swept name" "$(run --sweep n=1 -- echo '{x}' '${n}' '{{n}}' '{{x}}' '{ n }' "awk '{print}'")" \
    "{x} \$1 {n} {{x}} { n } awk '{print}'"
is "into the environment" "$(run --sweep t=1..3 -- env OMP_NUM_THREADS={t} sh -c 'echo $OMP_NUM_THREADS' | tr '\n' ' ')" "1 2 3 "
is "that parameter is recorded, too" "$(json '[param(k, "t") for k in kids]')" "['1', '2', '3']"

is "point by point" "$(run --sweep p=A,B --repeat 3 -- echo {p} | tr -d '\n')" AAABBB
is "--interleave" "$(run --interleave --sweep p=A,B --repeat 3 -- echo {p} | tr -d '\n')" ABABAB
is "the order is kept" "$(json '[(tag(k, "benchwrap.order"), tag(k, "benchwrap.repetition"), param(k, "p")) for k in kids][:4]')" \
    "[('1', '1', 'A'), ('2', '1', 'B'), ('3', '2', 'A'), ('4', '2', 'B')]"
is "warm-up runs come first" "$(run --interleave --warmup 1 --sweep p=A,B --repeat 2 -- echo {p} | tr -d '\n')" ABABAB
first=$(run --interleave --seed 7 --sweep p=A,B,C,D,E,F --repeat 4 -- echo {p} | tr -d '\n')
is "--seed: the same order again" "$(run --interleave --seed 7 --sweep p=A,B,C,D,E,F --repeat 4 -- echo {p} | tr -d '\n')" "$first"
is "each round has every point once" "$(echo "$first" | fold -w 6 | while read -r l; do echo "$l" | fold -w 1 | sort | tr -d '\n'; echo; done | sort -u)" ABCDEF
is "another seed, another order" "$([ "$(run --interleave --seed 8 --sweep p=A,B,C,D,E,F --repeat 4 -- echo {p} | tr -d '\n')" != "$first" ] && echo other)" other
is "the seed is recorded" "$(json 'param(r, "series.seed")')" 8

refused() # NAME PATTERN OPTIONS…
{
    name=$1 pattern=$2
    shift 2
    "$BENCHWRAP" "$@" >out 2>err
    is "$name: 125" "$?" 125
    like "$name: why" "$(cat err)" "$pattern"
}
rm -rf mlruns .benchwrap
refused "a name that stands nowhere" 'expected \{m\} in the command' --sweep m=1 -- echo {n}
refused "only doubled" 'expected \{m\} in the command' --sweep m=1 -- echo {{m}}
refused "swept twice" 'swept twice' --sweep m=1 --sweep m=2 -- echo {m}
refused "also given" 'is swept' --sweep m=1 -p m=3 -- echo {m}
refused "no values" 'expected NAME=VALUES' --sweep m= -- echo {m}
refused "no =" '^benchwrap: --sweep: expected NAME=VALUES, got "m"' --sweep m 1,2 -- echo {m}
refused "a word too much" '"b" comes after options without --; no option has it as value' -e a b -- true
refused "hyperfine's -r" 'several times: --repeat N' -r 5 -- true
refused "no name" 'NAME=VALUES' --sweep 1,2 -- echo {m}
refused "too many" 'at most 10000|more than 10000' --sweep m=1..20000 -- echo {m}
refused "a product too large" 'at most 10000' --sweep m=1..200 --sweep n=1..200 -- echo {m}{n}
refused "a factor of 1" 'a factor >= 2' --sweep m=1..8*1 -- echo {m}
is "what was refused left nothing behind" "$(ls -d mlruns .benchwrap 2>/dev/null)" ""

planned=$("$BENCHWRAP" plan --sweep n=1,2,4 --warmup 1 --repeat 3 --interleave -- echo {n} 'a {n}')
like "plan: how many runs" "$planned" '^repetitions +3 '
like "plan: how many points, in which order" "$planned" '^points +3 +interleaved'
like "plan: the last point's command" "$planned" "^last point +echo 4 'a 4'"
is "plan --json: each point's command" "$("$BENCHWRAP" plan --json --sweep n=1,2 -- echo {n} | python3 -c 'import json, sys; print(json.load(sys.stdin)["series"]["points"])')" "[['echo', '1'], ['echo', '2']]"
"$BENCHWRAP" plan --sweep m=1 -- echo {n} >out 2>err
is "plan refuses what would be refused" "$?" 125
is "plan leaves nothing behind" "$(ls -d mlruns .benchwrap 2>/dev/null)" ""
"$BENCHWRAP" --sweep n=1..45 -- true {n} 2>err
is "a long table is cut at the end of a series" "$(grep -c '^benchwrap:   n=' err) $(grep -c 'and 5 more' err)" "40 1"
is "not in show" "$("$BENCHWRAP" show --all | grep -c '^  n=[0-9]* ')" 180 # of four metrics

# until stable: a program whose values are known; an independent calculation says when the interval is narrow enough
cat >rules.yaml <<'R'
name: toy
version: "1"
summary: "toy: prints a rate"
programs: [toy]
headlines: [rate]
readers:
  - name: rate
    regex: '^rate: (?<v>\S+)'
    metrics:
      - {name: rate, cell: v, unit: MB_per_s, better: higher, headline: max}
R
cat >toy <<'R'
#!/bin/sh
n=$(cat count 2>/dev/null || echo 0); n=$((n + 1)); echo $n >count
echo "rate: $(sed -n "${n}p" values)"
R
chmod +x toy
python3 - >values <<'P'
import random
random.seed(5)
for _ in range(60):
    print(round(random.gauss(100, 5), 3))
P
enough() # PERCENT LEAST MOST
{
    python3 - "$@" <<'P'
import statistics, sys
t = [0, 12.70620474, 4.30265273, 3.18244631, 2.77644511, 2.57058184, 2.44691185, 2.36462425, 2.30600414, 2.26215716, 2.22813885, 2.20098516,
     2.17881283, 2.16036866, 2.14478669, 2.13144955, 2.11990530, 2.10981558, 2.10092204, 2.09302405, 2.08596345, 2.07961384, 2.07387307,
     2.06865761, 2.06389856, 2.05953855, 2.05552944, 2.05183052, 2.04840714, 2.04522964, 2.04227246, 2.03951345, 2.03693334, 2.03451530]
v = [float(l) for l in open("values")]
n, most = int(sys.argv[2]), int(sys.argv[3])
while n < most and t[n - 1] * statistics.stdev(v[:n]) / n ** .5 / statistics.mean(v[:n]) > float(sys.argv[1]) / 100:
    n += 1
print(n)
P
}
for percent in 5 3 2; do
    rm -f count
    run --rules ./rules.yaml --until-stable $percent% -- ./toy >/dev/null
    is "--until-stable $percent%: as many as are needed" "$(cat count)" "$(enough $percent 5 30)"
    is "--until-stable $percent%: it says that it is" "$(json 'tag(r, "benchwrap.stable")')" "$([ "$(cat count)" -lt 30 ] && echo true || echo false)"
done
rm -f count
run --rules ./rules.yaml --until-stable 0.5% --max-repeat 12 -- ./toy >/dev/null
is "--max-repeat is the most" "$(cat count)" 12
like "it says that it is not stable, and how far from it" "$(json 'tag(r, "benchwrap.series_end")')" '^not stable after 12 repetitions: rate_MB_per_s is within \+-[0-9.]+ % \(expected \+-0.5 %\)'
like "as a warning, too" "$(json 'r["warnings"]')" 'not stable after 12'
rm -f count
run --rules ./rules.yaml --until-stable 50% --repeat 8 -- ./toy >/dev/null
is "--repeat is the least" "$(cat count)" 8
for try in 1 2 3 4 5 6; do # the wall times of a busy machine may spread more
    run --until-stable 60% --max-repeat 9 -- sleep 0.05
    [ "$(json 'tag(r, "benchwrap.stable")')" != true ] || break
done
is "without rules the wall time is it" "$(json 'tag(r, "benchwrap.stable")')" true
like "and it says so" "$(json 'tag(r, "benchwrap.series_end")')" 'stable.*, by wall time \(run\.wall_s\): no headline metric has one value for each repetition$'

# the smallest rule file of the documents works: its metric with `headline:` is the headline metric
sed -n '/^## The smallest one/,/^It makes/p' "$ROOT/docs/howto-benchmark.md" | sed -n '/^```yaml/,/^```$/p' | sed '/^```/d' >smallest.yaml
printf '#!/bin/sh\nsleep 0.0$(od -An -N1 -tu1 /dev/urandom | tr -d " ")\necho "speed: 12.5 MB/s"\n' >speedtest
chmod +x speedtest
run --rules ./smallest.yaml --until-stable 1% --max-repeat 20 -- ./speedtest >/dev/null
is "the smallest rule file: headline metric and end" "$(json 'tag(r, "benchwrap.headline"), tag(r, "benchwrap.series_end")')" "('speed_MB_per_s.median', 'stable: each interval is within +-1 % of its mean')"
# `headlines:` says otherwise
{ cat smallest.yaml; echo 'headlines: [other]'; } | sed 's/^  - name: speed$/  - name: other\n    regex: "^other: (?<o>.*)"\n    metrics: [{name: other, cell: o, better: lower, many: last}]\n  - name: speed/' >listed.yaml
printf 'echo "other: 7"\n' >>speedtest
run --rules ./listed.yaml --until-stable 1% --max-repeat 20 -- ./speedtest >/dev/null
is "headlines: lists others" "$(json 'tag(r, "benchwrap.headline")')" other.median
sed 's/headline: max/headline: last/' smallest.yaml >last.yaml
run --rules ./last.yaml --until-stable 1% --max-repeat 20 -- ./speedtest >/dev/null
is "headline: last is a headline metric, too" "$(json 'tag(r, "benchwrap.headline"), tag(r, "benchwrap.series_end")')" "('speed_MB_per_s.median', 'stable: each interval is within +-1 % of its mean')"
start=$(date +%s)
run --repeat 1000 --max-time 0.7 -- sleep 0.2
is "--max-time: exit status" "$?" 0
ok "--max-time ends the series" [ $(($(date +%s) - start)) -lt 10 ]
like "and says so" "$(json 'tag(r, "benchwrap.series_end")')" 'max-time'

# Points of --until-stable have as many repetitions as they need.
mkdir "$WORK/until" && cd "$WORK/until" || exit 1
printf '#!/bin/sh\necho x >>n; "$2" log rate=$((100 + $1 * $(wc -l <n)))\n' >prog && chmod +x prog
"$BENCHWRAP" --until-stable 2% --max-repeat 7 --sweep k=0,9 -- ./prog '{k}' "$BENCHWRAP" >out 2>&1
like "no common number of repetitions is printed" "$(cat out)" ', 2 points, 12 of 12 repetitions finished in '
like "the point that is not stable is named" "$(cat out)" 'not stable after 7 repetitions at k=9: rate'
done_testing
