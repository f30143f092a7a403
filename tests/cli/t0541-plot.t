#!/bin/sh
# benchwrap plot: what shares an axis, what is left out, and what is refused.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
cat >rate.sh <<'X'
echo "rate: ${B:-500} MB/s"
exit ${BAD:-0}
X
record() { "$BENCHWRAP" -q "$@" -- sh rate.sh >/dev/null; }
for B in 500 510 505 490 515 500; do export B; record -e h -p size=4k; done
B=700 record -e h -p size=8k
BAD=3 record -e h -p size=4k
B=502 record -e h -p size=4k
plot() { "$BENCHWRAP" plot "$@" 2>err; }
out=$(plot -e h)
is "a history is plotted" $? 0
like "with its metric and unit" "$out" '^rate, MB/s'
like "runs that failed and those of another key are left out and counted" "$out" '^2 left out: 1 run that did not finish, 1 of another key \(size\)'
plot groups -e h >out
is "groups do not mix keys" $? 1
like "and name what differs" "$(cat err)" 'share no axis: what was measured differs in size'
like "with the step that helps" "$(cat err)" '^hint: .*--by size'
out=$(plot -e h --by size)
like "unless the user names it: 4k" "$out" '^4k .* 502  *7$|^4k .* 7$'
like "and 8k" "$out" '^8k .* 700 +1$'
out=$(plot -e h --by size --filter "params.size = '16k'")
is "no run is an error" "$out" ""
plot -e h --metric rat >out
is "a metric that no run has is an error" $? 1
like "with the nearest name" "$(cat err)" 'the nearest name is rate'
plot -e h -o h.svg
is "SVG is written" $? 0
ok "and is XML" python3 -c 'import xml.dom.minidom as m; m.parse("h.svg")'
ok "with the key" grep -q 'size 4k' h.svg

cat >n.sh <<'X'
awk -v n="$1" 'BEGIN { printf "rate: %.1f MB/s\nelapsed: %.4f s\n", 100 * n / (1 + 0.1 * (n - 1)), 8 / n * (1 + 0.1 * (n - 1)) }'
X
"$BENCHWRAP" -q -e s --sweep n=1,2,4 --sweep mode=a,b -- sh n.sh '{n}' '{mode}' >/dev/null
out=$(plot -e s sweep)
like "a sweep has a curve for each value of its second axis" "$out" '● a   ▲ b|● a   ■ b'
plot sweep -e s --over n --by site >out
is "an axis that stands nowhere is refused" $? 1
like "by its name" "$(cat err)" 'the sweep also varies mode'
out=$(plot heatmap -e s)
like "a heat map has its values" "$out" '308'
plot scaling -e s >out
is "scaling is refused where runs do not say which" $? 1
like "with the reason" "$(cat err)" 'do not state whether they show strong scaling'
"$BENCHWRAP" -q -e strong -p scaling=strong --sweep n=1,2,4 -- sh n.sh '{n}' >/dev/null
out=$(plot scaling -e strong --metric elapsed)
like "strong scaling has its formula" "$out" 'E\(n\) = T\(n0\) n0 / \(T\(n\) n\)'
plot scaling -e strong --metric elapsed -o s.svg
ok "and its efficiency: 77 % at 4" grep -q '76.9 %' s.svg
for n in 1 2 4; do "$BENCHWRAP" -q -e weak -p n=$n -p cells=$((n * 1000)) -- sh n.sh $n >/dev/null; done
plot scaling -e weak --over n --work cells --metric rate --ignore 'argument.*' >out
is "weak scaling is seen by the work" $? 0
like "and said" "$(cat out)" '^Weak scaling: fixed work per unit. Efficiency E\(n\) = \(R\(n\) / n\) / \(R\(n0\) / n0\)'
for n in 1 2 4; do "$BENCHWRAP" -q -e odd -p n=$n -p cells=$((n * n * 10)) -- sh n.sh $n >/dev/null; done
plot scaling -e odd --over n --work cells --metric rate --ignore 'argument.*' >out
is "work that is neither is refused" $? 1

# Of runs that state it a report has a section; shapes of the launch must follow the number of nodes.
cat >r.py <<'P'
import html, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
part = page[page.index("<h2>Scaling</h2>"):]
part = part[:part.index("<h2>", 5)]
rows = [[html.unescape(re.sub("<[^>]*>", "", c)) for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", r, re.S)] for r in re.findall(r"<tr>(.*?)</tr>", part, re.S)]
print(" ".join(",".join(r) for r in rows if r and (r[0][:1].isdigit() or r[0] in ("a", "b"))))
P
launch() { "$BENCHWRAP" -q -e "$1" -p scaling="$2" -p step.nodes="$3" -p step.tasks="$4" -p mode="${5:-a}" -- sh n.sh "$3" >/dev/null; }
report() { "$BENCHWRAP" report "$@" 2>err; }
for n in 1 2 4; do launch nodes strong $n $((8 * n)); launch nodes strong $n $((8 * n)); done
report -e nodes --ignore 'argument.*' -o s.html
is "a report has speed-up and efficiency" "$? $(python3 r.py s.html)" "0 1,2,100,1,100.0 2,2,182,1.82,90.9 4,2,308,3.08,76.9 1,2,8,1,100.0 2,2,4.4,1.82,90.9 4,2,2.6,3.08,76.9"
for n in 1 2 4; do launch nodes strong $n $((8 * n)) b; done
report -e nodes --by mode --ignore 'argument.*' -o s.html
like "with a line for each group" "$(python3 r.py s.html)" '^a,1,2,8,1,100.0 .*b,4,1,308,3.08,76.9$'
report -e nodes --ignore 'argument.*' -o s.html
like "inputs that differ are no scaling" "$(cat s.html)" 'No scaling of rate[^:]*: these runs share no axis: what was measured differs in mode'
report -e nodes --over step.nodes --ignore 'argument.*' -o s.html
is "... and an error where it is asked for" "$? $(head -n 1 err)" "1 benchwrap: report: these runs share no axis: what was measured differs in mode"
for n in 1 2 4; do launch fewer strong $n 8; done; launch fewer strong 4 4
plot scaling -e fewer --ignore 'argument.*' --metric elapsed >out; is "tasks that differ at one number of nodes are no scaling" "$? $(head -n 1 err)" "1 benchwrap: plot: the runs differ in more than step.nodes: step.tasks changes without it"
for n in 1 2; do launch half strong $n $((8 * n)); done; launch half strong 4 16
plot scaling -e half --ignore 'argument.*' --metric elapsed >out; is "nor are fewer tasks for each node" $? 1
plot scaling -e half --ignore 'argument.*' --metric elapsed --ignore step.tasks >out; is "unless the user ignores them" $? 0
for n in 1 2 4; do launch tasks strong $(((n + 1) / 2)) $n; done
plot scaling -e tasks --ignore 'argument.*' --metric elapsed --over step.tasks >out; is "nodes may follow tasks" $? 0
cat >n.sh <<'X'
echo "accuracy: $((100 - $1)) %"
X
for n in 1 2; do launch share strong $n $n; done
plot scaling -e share --metric accuracy --ignore 'argument.*' >out
like "a share has no efficiency" "$(cat err)" 'is neither a time nor a rate'

"$BENCHWRAP" -q -e evil -n "<script>alert(1)</script>$(printf '\342\200\256')" -p "size=<b>\"x'" -- sh rate.sh >/dev/null
plot -e evil --by size -o e.svg
ok "names of runs are no markup" sh -c 'python3 -c "import xml.dom.minidom as m; m.parse(\"e.svg\")" && ! grep -q "<script\|<b>" e.svg'
plot -e evil --by size >out
ok "nor escapes of the terminal" sh -c '! grep -q "$(printf "\033")" out'
plot history nonsense
is "an unknown run" $? 1
plot --last 0
is "a wrong number" $? 125
done_testing
