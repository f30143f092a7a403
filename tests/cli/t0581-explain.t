#!/bin/sh
# benchwrap explain: ranked causes, what other runs say, nothing recorded, refusals.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
printf '#!/bin/sh\necho "rate: 123 MiB/s"\n' >prog && chmod +x prog
"$BENCHWRAP" -q -e demo -- ./prog 10 >/dev/null 2>&1
run=$(dirname mlruns/*/*/meta.yaml)
python3 - >specs <<'P'
import json, random
random.seed(4)
def run(n, factor, **params):
    for i in range(n):
        print(json.dumps({"metrics": {"rate_MB_per_s": factor * (1000 + 10 * random.gauss(0, 1))}, "params": params,
                          "details": {"rate_MB_per_s": {"direction": "higher", "unit": "MB_per_s"}}}))
base = {"kernel.thp": "madvise", "note": "x", "cpu.governor": "performance"}
run(6, 1, **base)                                               # 1-6
run(6, .8, **base)                                              # 7-12: slower, without a recorded cause
run(6, .8, **dict(base, note="<b>y</b>", **{"kernel.thp": "never"}))  # 13-18: two differences
run(8, .8, **dict(base, **{"kernel.thp": "never"}), site="x")   # 19-26: other runs: the setting has the effect
run(8, 1, **dict(base), site="x")                               # 27-34
run(8, 1, **dict(base, note="<b>y</b>"), site="x")              # 35-42: and the note has none
run(6, 1, **dict(base, **{"cpu.governor": "powersave"}))        # 43-48: differs, has no effect
for factor in (1, .9):                                          # 49-54: the headline metric has the name of another one in its own
    for i in range(3):
        print(json.dumps({"metrics": {"rate_MB_per_s": factor ** 4 * (1000 + i), "best_rate_MB_per_s": factor * (2000 + i)}, "params": base,
                          "tags": {"benchwrap.headline": "best_rate_MB_per_s.max"},
                          "details": {k: {"direction": "higher", "unit": "MB_per_s"} for k in ("rate_MB_per_s", "best_rate_MB_per_s")}}))
P
"$TESTLIB/make_history.py" --remove "$run" <specs >ids
group() { sed -n "$1,$2p" ids | paste -sd,; }
"$BENCHWRAP" explain "$(group 1 6)" vs "$(group 13 18)" >out 2>err
is "explain succeeds" $? 0
is "nothing on stderr" "$(cat err)" ""
like "the difference first" "$(head -2 out | tr '\n' ' ')" "^  rate is [0-9]+ MB/s in B, 10[0-9]* MB/s in A: -(19|20|21) % "
like "the cause that other runs show" "$(cat out)" "^  1  shown by other runs: kernel setting kernel.thp: kernel.thp madvise -> never\$"
like "with their effect" "$(cat out)" "^     8 and 8 other runs that differ only in this: -(19|20|21) % \\(95 %: "
like "what they rule out" "$(cat out)" "^  Ruled out: parameter note. 8 and 8 other runs"
"$BENCHWRAP" explain "$(group 1 6)" vs "$(group 7 12)" >out
like "nothing recorded" "$(cat out)" "^  Nothing that is recorded explains it\\.\$"
"$BENCHWRAP" explain "$(group 1 6)" "$(group 43 48)" >out
like "no difference" "$(cat out)" "^  No difference: rate is "
ok "and no cause" sh -c '! grep -q governor out'
"$BENCHWRAP" explain "$(sed -n 43p ids)" "$(sed -n 13p ids)" --json >j
ok "single runs: earlier runs like A decide; --json" python3 - <<'P'
import json
d = json.load(open("j"))
assert d["metric"]["verdict"] == "differs" and d["metric"]["n_a"] == 1, d["metric"]
c = d["causes"]
assert c[0]["cause"] == "kernel setting kernel.thp" and c[0]["state"] == "shown", c
assert [x["facts"][0]["b"] for x in c if x["cause"] == "parameter note"] == ["<b>y</b>"], c
P
is "the headline metric is explained, and not one whose name is a part of its name" "$("$BENCHWRAP" explain "$(group 49 51)" "$(group 52 54)" --json | jq -r .metric.key)" best_rate_MB_per_s
like "an unknown metric is refused" "$("$BENCHWRAP" explain "$(sed -n 1p ids)" "$(sed -n 2p ids)" -m nope 2>&1)" 'the runs have no metric "nope" in common'
like "one run is refused" "$("$BENCHWRAP" explain "$(sed -n 1p ids)" 2>&1)" "expected two runs or groups"
like "a run twice is refused" "$("$BENCHWRAP" explain "$(sed -n 1p ids)" "$(sed -n 1p ids)" 2>&1)" "is named twice"
"$BENCHWRAP" retract "$(sed -n 1p ids)" --why test >/dev/null 2>&1
like "a retracted run is refused, with the reason" "$("$BENCHWRAP" explain "$(sed -n 1p ids)" "$(sed -n 2p ids)" 2>&1)" "cannot be explained: it is retracted"
done_testing
