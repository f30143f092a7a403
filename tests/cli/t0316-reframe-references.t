#!/bin/bash
# t0316: `benchwrap reference --from-reframe`: the references that a real ReFrame applied, as a reference file that judges as ReFrame did.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit
bw() { "$BENCHWRAP" "$@" 2>err; }

cat >perf.log <<'END'
result|job_completion_time|environ|jobid|name|partition|bw_value|bw_unit|bw_ref|bw_lower_thres|bw_upper_thres|free_value|free_unit|free_ref|free_lower_thres|free_upper_thres|system
pass|2026-11-20T23:14:41|gnu|6810|stream %n=1|gpu|44063.6|MB/s|10000|-0.9|None|7|s|0|None|None|demo
pass|2026-11-21T23:14:47|gnu|6828|stream %n=1|gpu|43308.1|MB/s|40000|-0.1|None|7|s|0|None|None|demo
END
out=$(bw reference --from-reframe perf.log)
is "a performance log: status" "$?" 0
like "… the reference of the last record" "$out" '"bw_MB_per_s": \[40000, -0.1, null\]'
is "… and no other" "$(printf '%s\n' "$out" | grep -c bw_MB_per_s)" 1
like "what has no reference is counted" "$out" '^# left out: 2 values for which ReFrame had no reference$'
echo 2021-03-10T11:15:40'|reframe 3.5.0|stream on demo:gpu using gnu|jobid=6810|lat=4|ref=5 (l=None, u=0.2)|us' >old.log
like "a log of 3.x, and a unit that the record does not have" "$(bw reference --from-reframe old.log)" '"lat_s": \[5e-06, null, 0.2\]  # 5 us'
echo 'no log' >none.log
bw reference --from-reframe none.log >none.yaml
is "another file: status" "$?" 1
like "… and what was expected" "$(cat err)" 'cannot read none.log: expected a run report'
bw reference --from-reframe perf.log -e io >/dev/null
is "with runs, too: status" "$?" 125
is "... and with options that would be ignored" "$(for o in --all --ignore=x --min-band=1%; do bw reference --from-reframe perf.log $o >/dev/null; echo $?; done | xargs)" "125 125 125"
sed '2,$s/|40000|-0.1|/|0|None|/; 2,$s/|10000|-0.9|/|0|None|/' perf.log >without.log
bw reference --from-reframe without.log >/dev/null
is "no references at all: status" "$?" 1

cat >settings.py <<'END'
fields = ('result', 'job_completion_time', 'display_name', 'system', 'partition', 'environ', 'jobid')
site_configuration = {
    'systems': [{'name': 'demo', 'hostnames': ['.*'], 'partitions': [
        {'name': 'part', 'scheduler': 'local', 'launcher': 'local', 'environs': ['builtin']}]}],
    'environments': [{'name': 'builtin'}],
    'logging': [{
        'handlers': [{'type': 'stream', 'name': 'stdout', 'level': 'info', 'format': '%(message)s'}],
        'handlers_perflog': [{
            'type': 'filelog', 'prefix': 'log', 'level': 'info', 'append': True,
            'format': '|'.join('%%(check_%s)s' % f for f in fields) + '|%(check_perfvalues)s',
            'format_perfvars': ''.join('%%(check_perf_%s)s|' % f for f in ('value', 'unit', 'ref', 'lower_thres', 'upper_thres')),
        }],
    }],
}
END
cat >speed_test.py <<'END'
import reframe as rfm
import reframe.utility.sanity as sn

VALUES = [(1050, 5.5, 0, -42), (899, 5.5, 0, -42), (900, 7.5, 1, -50), (1201, 5.5, 0, -42), (1200, 7.6, 0, -42), (1000, 5, 1.5, -42),
          (1000, 5, -1, -50.5), (1000, 5, 0, -19), (1000, 5, 0, -20), (1000, -1, 0, -40)]


@rfm.simple_test
class speed_test(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'printf'
    n = parameter(range(len(VALUES)))
    reference = {'demo:part': {'bw': (1000, -0.1, 0.2, 'MB/s'), 'lat': (5, None, 0.5, 'us'), 'loss': (0, -1, 1, 'percent'),
                               'temp': (-40, -0.25, 0.5, 'C')}}

    @run_before('run')
    def set_args(self):
        self.executable_opts = [r"'bw %s\nlat %s\nloss %s\ntemp %s\nend\n'" % VALUES[self.n]]

    @sanity_function
    def ended(self):
        return sn.assert_found('^end', self.stdout)

    def value(self, name):
        return sn.extractsingle(r'^%s (\S+)' % name, self.stdout, 1, float)

    @performance_function('MB/s')
    def bw(self):
        return self.value('bw')

    @performance_function('us')
    def lat(self):
        return self.value('lat')

    @performance_function('percent')
    def loss(self):
        return self.value('loss')

    @performance_function('C')
    def temp(self):
        return self.value('temp')
END
if python=$(venv_python reframe-4.10.4 280 reframe-hpc==4.10.4); then
    timeout 200 "${python%/*}/reframe" -C settings.py -c speed_test.py -r --report-file=report.json --prefix="$WORK/p" >reframe.out 2>&1
    is "ReFrame ran its tests" "$(jq '.runs[0].testcases | length' report.json)" 10
    bw reference --from-reframe report.json >report.yaml
    is "an entry for each test" "$(grep -c 'benchmark: reframe' report.yaml) $(grep -c ': \[' report.yaml)" "10 40"
    log=$(find . -name speed_test.log | head -n 1)
    bw reference --from-reframe "$log" >log.yaml
    is "its performance log has the same references" "$(grep ': ' log.yaml | sort)" "$(grep ': ' report.yaml | sort)"
    ours='' theirs=''
    for i in 0 1 2 3 4 5 6 7 8 9; do
        theirs="$theirs $(jq -r ".runs[0].testcases[$i].result" report.json)"
        jq ".runs[0].testcases |= [.[$i] | .result = \"pass\"]" report.json >one.json
        ours="$ours $(bw parse --json -R report.yaml one.json | jq -r .verdict)"
    done
    is "the file judges each test as ReFrame did" "$ours" "$theirs"
    like "… which has good and bad ones" "$theirs" 'pass.*fail'
    bw import -t tree --json report.json >import.json
    is "imported, each test has ReFrame's verdict" "$(awk 1 tree/mlruns/*/*/tags/benchwrap.verdict | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" \
        "$(echo "$(($(echo "$theirs" | tr ' ' '\n' | grep -c fail) + 1)) fail $(echo "$theirs" | tr ' ' '\n' | grep -c pass) pass ")"
    like "… with ReFrame's reason" "$(cat tree/mlruns/*/*/params/failed_why)" 'failed to meet reference.*bw=899'
else
    skip "a real ReFrame's references" "$python"
fi
done_testing
