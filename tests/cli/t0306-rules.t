#!/bin/sh
# t0306: `benchwrap rules check`: all mistakes of a file, its samples, and what an author should look at.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
bw() { "$BENCHWRAP" "$@" 2>err; }

cat >wrong.yaml <<'Y'
name: wrong
version: "1"
readers:
  - {name: a, regexp: '^x'}
  - name: b
    regex: '^(?<v>\d+'
  - name: c
    regex: '^(?<v>\d+)$'
    metrics:
      - {name: one, cell: w, better: higher}
      - {name: Two, cell: v, better: higher}
      - {name: three, cell: v, better: sideways}
      - {name: four, cell: v, unit: furlong, better: none}
checks:
  - {must: x}
Y
text=$(bw rules check wrong.yaml); is "mistakes: status" "$?" 1
for at in 4: 6: 10: 11: 12: 13: 15:; do like "the mistake in line $at is told" "$text" "^  mistake +.*wrong.yaml:$at"; done
like "and counted" "$text" '7 MISTAKES'
is "as JSON too" "$(bw rules check --json wrong.yaml | grep -c '"mistake"')" "$(bw rules check wrong.yaml | grep -c '^  mistake')"
# What is wrong in one item is no mistake of the next.
cat >next.yaml <<'Y'
name: next
version: "1"
arguments:
  options:
    - {flags: [-a], kind: flag, hidden: true, join: true, keep: true, words: perhaps}
    - {flags: [-b], kind: flag}
readers:
  - name: r
    regex: '^v=(?<v>\S+)'
    metrics: [{name: v, cell: v, better: lower}]
computed:
  - {name: x, value: "1 +", better: lower}
  - {name: y, value: "value(v)", better: lower}
Y
is "the mistakes of two items" "$(bw rules check next.yaml | sed -n 's/^  mistake *[^:]*:\([0-9]*\):.*/\1/p' | tr '\n' ' ')" "5 12 "
# What stands on terminals and names folders: nothing of a foreign file's head can do harm there.
for head in 'name: "h\e[31m"/version: "1"' 'name: ../../etc/version: "1"' 'name: h/version: "1\e[31m"'; do
    printf '%s\n%s\nreaders:\n  - {name: a, regex: "(?<v>a)", metrics: [{name: x, cell: v, better: none}]}\n' "${head%/*}" "${head##*/}" >head.yaml
    like "refused: $head" "$(bw rules check head.yaml)" 'head.yaml:[12]:[0-9]+: a (name|version) has '
done
printf 'name: [\n' >torn.yaml
like "what is no YAML is one mistake" "$(bw rules check torn.yaml)" 'torn.yaml:2:1: '
bw rules check nosuch >/dev/null; is "no such name: status" "$?" 125
bw rules check >/dev/null; is "no name: status" "$?" 125
bw rules >/dev/null; is "no verb: status" "$?" 125

mkdir -p mine/samples/good mine/samples/bad
cat >mine/rules.yaml <<'Y'
name: mine
version: "1"
programs: [mine]
arguments:
  options:
    - {flags: [-n], param: count, type: integer}
    - {flags: [-x], param: never}
readers:
  - name: rate
    regex: '^rate (?<v>\S+) (?<u>\S+)$'
    metrics: [{name: rate, cell: v, unit_cell: u, unit: MB_per_s, better: higher, many: last}]
  - name: rate_again
    regex: '^again (?<v>\S+)$'
    metrics: [{name: rate, cell: v, unit: MB_per_s, better: higher}]
  - name: absent
    regex: '^absent (?<v>\S+)$'
    metrics: [{name: absent, cell: v, better: none}]
  - name: slow
    regex: '(\w+\s*)*(\w+\s*)*:$'
checks:
  - {name: error, must_not: '^ERROR', reason: "it says so"}
  - {name: broken, must_not: 'broken', reason: "never seen"}
Y
printf 'rate 1 MB/s\nrate 2 MB/s\nrate 3 parsec/s\nagain 7\n' >mine/samples/good/stdout
printf '%s\n' mine -n 4 >mine/samples/good/argv
printf 'rate 1 MB/s\nERROR: disk\n' >mine/samples/bad/stdout
text=$(bw rules check mine/rules.yaml); is "samples without expectation: status" "$?" 1
like "they are told" "$text" 'there is no .expect. yet'
ok "--update writes it" "$BENCHWRAP" rules check --update mine/rules.yaml
is "what is expected: the verdict" "$(head -n 1 mine/samples/bad/expect)" "verdict fail: it says so: ERROR: disk"
like "what is expected: the metric" "$(cat mine/samples/good/expect)" '^metric rate_MB_per_s 2 MB_per_s 0 higher$'
text=$(bw rules check mine/rules.yaml); is "as expected: status" "$?" 0
sed 's/^checks:/headlines: [rate, rate.max, lost]\nchecks:/' mine/rules.yaml >mine/listed.yaml
listed=$(bw rules check mine/listed.yaml); is "a headline that no metric can be: status" "$?" 1
is "… named alone" "$(printf "%s\n" "$listed" | grep "^  mistake" | tr -s ' ')" ' mistake headlines: no metric is named "lost" (a name without its unit)'
rm mine/listed.yaml
like "a reader without rows" "$text" '^  unused +line 15: reader absent has no row'
like "an option nobody uses" "$text" '^  unused +options .*: -x$'
like "a check that never fails" "$text" '^  unused +checks .*: broken$'
like "two readers that disagree" "$text" '^  ambiguous +metric rate: reader rate has 2, reader rate_again has 7'
like "several values of which one is taken" "$text" '^  ambiguous +metric rate .*the last counts'
like "an unknown unit" "$text" '^  ambiguous +.*"parsec/s" is no unit'
like "a pattern that runs away" "$text" '^  pattern +line 19: .*gives up'
like "a pattern that may meet too much" "$text" '^  pattern +line 22: must_not: without'
sed -i 's/ 2 MB_per_s/ 3 MB_per_s/' mine/samples/good/expect
text=$(bw rules check mine/rules.yaml); is "another value: status" "$?" 1
like "the line that is gone" "$text" '^ +-metric rate_MB_per_s 3'
like "the line that came" "$text" '^ +\+metric rate_MB_per_s 2'
text=$(bw rules check --tap mine/rules.yaml)
like "TAP: good" "$text" '^ok 1 - mine/samples/bad$'
like "TAP: not good" "$text" '^not ok 2 - mine/samples/good$'
like "TAP: the plan" "$text" '^1\.\.2$'
echo "stdout=lacking/output" >mine/samples/bad/outside
like "an output that lies outside is skipped" "$(bw rules check --tap mine/rules.yaml)" '^ok 1 - mine/samples/bad # SKIP .*lacking/output does not exist'
rm -r mine/samples/bad; mkdir mine/samples/empty
like "a case without output is broken" "$(bw rules check mine/rules.yaml)" 'mine/samples/empty$'

mkdir -p own && mv mine own/
is "by name, in a folder of one's own" "$(BENCHWRAP_CATALOGUE=$WORK/own bw rules check mine | head -n 1 | cut -d'(' -f1)" "mine "
like "--all takes the shipped ones too" "$(BENCHWRAP_CATALOGUE=$WORK/own bw rules check --all | grep -c '^[a-z]')" '^([3-9]|[1-9][0-9])$'
done_testing
