#!/bin/bash
# The exporter httpjson: records, arrays, templates, credentials, gzip; what each answer of an endpoint does; ReFrame's form next to a real ReFrame.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
export BENCHWRAP_FINISH_WAIT=60s # a busy machine finishes a record later
. "$TESTLIB/venv.sh"
config=$HOME/.config/benchwrap/config.yaml
mkdir -p "$(dirname "$config")" "$WORK/d" "$WORK/e" && cd "$WORK/d" || exit 1
python3 "$TESTLIB/http-endpoint.py" "$WORK/e" 2>/dev/null &
endpoint_pid=$!
finish_here() { kill $endpoint_pid 2>/dev/null; wait $endpoint_pid 2>/dev/null; tap_exit; }
trap finish_here EXIT
wait_until '[ -e "$WORK/e/port" ]'
url=http://127.0.0.1:$(cat "$WORK/e/port")
got=$WORK/e/got.jsonl
exporter() { printf 'exporters:\n- {type: httpjson, name: x, wait: 60s, %s}\n' "$1" >"$config"; rm -f "$got"; }
bw() { "$BENCHWRAP" -q "$@"; }
state() { "$BENCHWRAP" exporter list --json | jq -c '.[] | [.delivered, .pending, .dead_letters]'; }
fresh() { rm -rf .benchwrap mlruns; }
output() { printf 'echo "bandwidth: %s MB/s"; echo "latency: 3.5 us"' "$1"; }
run_id() { basename "$(dirname "$(ls -t mlruns/*/*/meta.yaml | head -n 1)")"; }

# ---- records ----
exporter "url: '$url/ok/run'"
bw -e io -p size=4 --cluster tst -- sh -c "$(output 12.5)"
is "a run is one object" "$(jq -r '[.method, .path, .headers."content-type", .body.id, .body.experiment, .body.params.size] | join(" ")' "$got")" "POST /ok/run application/json $(run_id) io 4"
is "it is the line that jsonl would write" "$(jq -cS .body "$got" | md5sum)" "$(printf 'exporters:\n- {type: jsonl, name: l, file: %s}\n' "$WORK/l" >"$config"; bw exporter send l last 2>/dev/null >&2; "$BENCHWRAP" exporter send l last >/dev/null; jq -cS . "$WORK/l" | md5sum)"
exporter "url: '$url/ok/metric', record: metric"
"$BENCHWRAP" exporter send x last >/dev/null
is "record: metric is an object for each metric of the program" "$(jq -r '.body | [.key, (.value * 1e7 | round), .unit, .cluster] | join(" ")' "$got" | sort)" "bandwidth_MB_per_s 125000000 MB_per_s tst
latency_s 35 s tst"
exporter "url: '$url/array', record: metric, array: yes"
is "array: one request" "$("$BENCHWRAP" exporter send x last) $(jq -c '[.body[].key] | sort' "$got")" 'x: 1 of 1 run delivered ["bandwidth_MB_per_s","latency_s"]'
exporter "url: '$url/array', record: metric, array: yes, metrics: all, max-body: 2k"
"$BENCHWRAP" exporter send x last >/dev/null
is "max-body: several requests, each metric once" "$(jq -r '.body[].key' "$got" | sort)" "$("$BENCHWRAP" show --json last | jq -r '.metrics[].key' | sort)"
ok "... none is longer" [ "$(jq '.headers."content-length" | tonumber' "$got" | sort -n | tail -n 1)" -le 2048 ]
exporter "url: '$url/ok/zip', gzip: yes"
"$BENCHWRAP" exporter send x last >/dev/null
is "gzip" "$(jq -r '.headers."content-encoding" + " " + .body.id' "$got")" "gzip $(run_id)"

# ---- templates ----
# shellcheck disable=SC2016
exporter "url: '$url/ok/{{id}}/{{tag.cluster}}', method: PUT, template: '{\"t\": \"{{experiment}} \\\\ {{verdict}} {{param.no}}\", \"bw\": {{metric.bandwidth_MB_per_s}}, \"no\": {{metric.none}}, \"id\": {{id}}, \"start\": {{start_ms}}}'"
"$BENCHWRAP" exporter send x last >/dev/null
is "a template, and the address" "$(jq -c '[.method, .path, .body.t, .body.bw, .body.no, .body.id, (.body.start | type)]' "$got")" "[\"PUT\",\"/ok/$(run_id)/tst\",\"io \\\\ none \",12.5,null,\"$(run_id)\",\"number\"]"
exporter "url: '$url/ok', template: '{\"link\": {{link}}, \"stream\": {{stream}}, \"in\": \"{{link}}\"}'"
"$BENCHWRAP" exporter send x last >/dev/null
is "a value that is not configured is null" "$(jq -c .body "$got")" '{"link":null,"stream":null,"in":""}'
bw -e 'io' --tag 'q="x"' -- sh -c "$(output 1)"; fresh
exporter "url: '$url/ok/q', template: '{\"q\": \"{{tag.q}}\", \"v\": {{tag.q}}}'"
bw --tag "q=a\"b\\c/$(printf '\303\244')" -- true
is "values cannot leave their text" "$(jq -c '.body' "$got")" '{"q":"a\"b\\c/ä","v":"a\"b\\c/ä"}'
bad() { exporter "$1"; bw -- true 2>err; grep -c "this exporter is ignored" err; }
is "a wrong template is named" "$(bad "url: '$url/ok', template: '{\"a\": }'") $(bad "url: '$url/ok', template: '{\"a\": {{nope}}}'")" "1 1"
is "a link that contains itself is named" "$(bad "url: '$url/ok', link: 'http://h/{{link}}', template: '{\"l\": {{link}}}'") $(bad "url: '$url/ok', link: 'http://h/{{summary}}'")" "1 1"
is "so are a wrong address, and a secret in the file" "$(bad "url: 'ftp://x/y'") $(bad "url: 'http://u:p@h/'") $(bad "url: '$url/ok', token: abc") $(bad "url: '$url/ok', token: {env: A, file: B}") $(bad "url: '$url/ok', header: {'A b': x}") $(bad "record: run")" "1 1 1 1 1 1"
ok "... which no message repeats" sh -c '! grep -q abc err'
fresh
refs() { printf 'references:\n  - benchmark: ior\n    strict: true\n    metrics:\n      write.bw_MiB_per_s.max: [%s, -0.05, 0.1, MiB/s]\n      read.bw_MiB_per_s.max: [%s, -0.05, 0.5, MiB/s]\n' "$1" "${2:-350}" >refs.yaml; }
sample=$ROOT/benchmarks/catalogue/ior/samples/3.0.1-human-reps3-fpp
mkdir -p bin && printf '#!/bin/sh\ncat "%s/stdout"\n' "$sample" >bin/ior && chmod +x bin/ior
best=$(bw -- ./bin/ior >/dev/null; "$BENCHWRAP" show --json last | jq '.metrics[] | select(.key == "write.bw_MiB_per_s.max").value'); fresh
for preset in slack teams "ntfy, topic: runs" elasticsearch; do
    exporter "url: '$url/ok/preset', preset: $preset, link: 'http://pages/{{id}}'"
    refs 99999; bw -R refs.yaml -- ./bin/ior >/dev/null
    case $preset in elasticsearch) is "preset elasticsearch" "$(jq -r .body.id "$got")" "$(run_id)" ;;
    *) text=$(jq -r '[.body | .. | strings] | join("|")' "$got")
        like "preset $preset: verdict, headline metric against the reference, link" "$(tr '\n' '~' <<<"$text")" "FINISHED, fail.*~.*write.bw.*MiB/s \(reference 99999: .*~http://pages/$(run_id)" ;; esac
done
exporter "url: '$url/ok/preset', preset: bencher, branch: dev"; bw -- true; refs 99999; bw --cluster tst -R refs.yaml -- ./bin/ior >/dev/null
is "preset bencher: one report, of the run with results" "$(grep -c . "$got") $(jq -c '.body | [.branch, .testbed, .settings.adapter, (.results[0] | fromjson | .ior | keys[] | select(startswith("write"))), (.start_time | type)]' "$got")" '1 ["dev","tst","json","write.bw_MiB_per_s.max","string"]'
exporter "url: '$url/ok/preset', preset: slack"
is "a message of the user's" "$("$BENCHWRAP" exporter send x --message 'a "test"') $(jq -r .body.text "$got")" 'x: message sent a "test"'
bw -n '<!channel> & <http://x|y>' -- true
is "preset slack: the text of a run calls nobody and links nowhere" "$(jq -r .body.text "$got" | tail -n 1)" '&lt;!channel&gt; &amp; &lt;http://x|y&gt;: FINISHED'
exporter "url: '$url/ok/on', on: [regression]"
bw -- true; bw -- false; refs "$best" 22163; bw -R refs.yaml -- ./bin/ior >/dev/null; refs 99999; bw -R refs.yaml -- ./bin/ior >/dev/null
is "on: regression sends the run that missed its reference" "$(jq -r .body.id "$got")" "$(run_id)"
exporter "url: '$url/ok/on', on: fail"; bw -- true; bw -- false; is "on: fail sends failed runs" "$(jq -r .body.status "$got")" FAILED

# ---- credentials ----
fresh
exporter "url: '$url/ok/a', token: {env: MY_TOKEN}, header: {X-Team: 'a b'}"
MY_TOKEN=s3cret-0123 bw -- true
is "a token of the environment, and a header" "$(jq -r '.headers | .authorization + " " + ."x-team"' "$got")" "Bearer s3cret-0123 a b"
(umask 077; echo file-token-9 >"$WORK/token")
exporter "url: '$url/ok/a', token: {file: $WORK/token}, token-header: X-Api-Key"; bw -- true
is "a token of a file, as another header" "$(jq -r '.headers | [."x-api-key", .authorization] | tostring' "$got")" '["file-token-9",null]'
exporter "url: '$url/ok/a', token: {command: [echo, 'cmd token']}"; bw -- true; is "a token of a command" "$(jq -r .headers.authorization "$got")" "Bearer cmd token"
exporter "url: '$url/ok/a', user: ada, password: {env: PW}"; PW=lovelace bw -- true; is "user and password" "$(jq -r .headers.authorization "$got")" "Basic $(printf ada:lovelace | base64)"
exporter "url-secret: {env: HOOK}"; HOOK=$url/ok/T0/B1/secretpart bw -- sh -c 'echo "$HOOK" >hook'; is "an address that is a secret" "$(jq -r .path "$got") $(cat hook)" "/ok/T0/B1/secretpart $url/ok/T0/B1/secretpart"
HOOK=$url/echo/T0/secretpart bw -- true; like "... also where the endpoint repeats it" "$("$BENCHWRAP" exporter list --json | jq -r '.[].problem'; grep -r secretpart .benchwrap mlruns)" ': status 404 .is this the right address..$'; fresh
HOOK=http://127.0.0.1:9/T0/secretpart bw -- true; ok "... is in no message and no file" sh -c "! grep -rq secretpart .benchwrap mlruns && ! \"$BENCHWRAP\" exporter list | grep -q secretpart"
exporter "url: '$url/ok/a', token: {env: UNSET_TOKEN}"; fresh; bw -- true; like "a variable that is not set is named" "$("$BENCHWRAP" exporter list --json | jq -r '.[].problem')" 'no variable UNSET_TOKEN'
chmod 644 "$WORK/token"; exporter "url: '$url/ok/a', token: {file: $WORK/token}"; fresh; bw -- true; like "a secret that others can read is refused" "$("$BENCHWRAP" exporter list --json | jq -r '.[].problem')" 'can be read by others'
exporter "url: '$url/ok/a?key=v', token: {command: 'false'}"; fresh; bw -- true; like "a command that fails" "$("$BENCHWRAP" exporter list --json | jq -r '.[].problem')" 'false failed'
exporter "url: '$url/ok/a', header: {$(for i in $(seq 33); do printf "X-$i: v,"; done)}"; like "more headers than there is room for" "$("$BENCHWRAP" exporter list 2>&1)" 'header: expected at most 32 headers'
exporter "url: '$url/ok/a', token: {command: ' '}"; fresh; bw -- true; like "a command of blanks" "$("$BENCHWRAP" exporter list --json | jq -r '.[].problem')" ': token: expected a program, got nothing$'
exporter "url: '$url/ok/a', token: {command: '$(printf 'echo%70s' | sed 's/ / a/g')'}"; fresh; bw -- true; like "a command of more words than there is room for" "$("$BENCHWRAP" exporter list --json | jq -r '.[].problem')" ': token: echo: more than 64 words$'
exporter "url: '$url/ok/a', token: {env: MY_TOKEN}"
dry=$(MY_TOKEN=s3cret-0123 "$BENCHWRAP" exporter send x last --dry-run)
is "--dry-run shows the request without the secret" "$(head -n 3 <<<"$dry") $(grep -c s3cret <<<"$dry") $(ls "$got" 2>/dev/null)" "POST $url/ok/a
Authorization: Bearer ***
Content-Type: application/json 0 "

# ---- answers ----
answer() # NAME PATH STATE [PATTERN [DEADLINE]]: of one run
{
    fresh; exporter "url: '$url$2', timeout: 2s, deadline: ${5:-4s}"
    bw -- true
    is "$1" "$(state)" "$3"
    [ -z "${4:-}" ] || like "$1: the reason" "$("$BENCHWRAP" exporter list --json | jq -r '.[].problem'; "$BENCHWRAP" exporter dead-letter x)" "$4"
}
answer "400: a dead letter" /status/400 "[0,0,1]" 'status 400.*error'
answer "413: a dead letter" /status/413 "[0,0,1]" 'too large'
answer "422: a dead letter" /status/422 "[0,0,1]"
answer "401: it waits" /status/401 "[0,1,0]" 'expired'
answer "403: it waits" /status/403 "[0,1,0]" 'lack the right'
answer "403 of a server with another clock: it waits" "/status/403?ahead=725" "[0,1,0]" "status 403 .*; the server's clock is 12 min [0-9.]+ s ahead of this machine's: "
answer "404: it waits" /status/404 "[0,1,0]" 'right address'
answer "429: it waits" "/status/429?after=3600" "[0,1,0]" 'status 429'
ok "... as long as the endpoint asks, also for sync" [ "$("$BENCHWRAP" exporter list --json | jq '(.[].next_try_ms / 1000) - now | . > 3000 and . < 3601')" = true ]
exporter "url: '$url/ok/late'"; "$BENCHWRAP" sync >/dev/null; is "... sync respects that" "$(state)" "[0,1,0]"
answer "429 with Retry-After 1: it is delivered in the same pass" /first/429/1/a "[1,0,0]" "" 20s
answer "503 with Retry-After 1, twice" /first/503/2/b "[1,0,0]" "" 20s
answer "500: it waits" /status/500 "[0,1,0]" 'status 500'
answer "302: a redirect is not followed" /status/302 "[0,1,0]" 'redirect'
answer "no reply: it waits" /hang "[0,1,0]" 'timed out|Timeout'
answer "half a reply: it waits" /half "[0,1,0]"
answer "a reply that drips: it waits" /drip "[0,1,0]"
exporter "url: 'http://127.0.0.1:9/'"; fresh; bw -- true; is "nothing listens: it waits" "$(state)" "[0,1,0]"
exporter "url: 'https://127.0.0.1:${url##*:}/ok'"; fresh; bw -- true; is "no TLS there: it waits" "$(state)" "[0,1,0]"
exporter "url: 'http://no-such-host.invalid/'"; fresh; bw -- true; is "no such host: it waits" "$(state)" "[0,1,0]"
exporter "url: '$url/ok/end'"; "$BENCHWRAP" sync >/dev/null; is "recovery: it is delivered" "$(state) $(jq -r .body.id "$got")" "[1,0,0] $(run_id)"
is "exporter check: good and bad" "$("$BENCHWRAP" exporter check --json | jq -r '.[].result') $(exporter "url: '$url/status/401'"; "$BENCHWRAP" exporter check --json | jq -r '.[].result')" "good failed"
# Several requests of a run: those that were accepted are not repeated.
fresh; exporter "url: '$url/first/500/1/{{name}}', record: metric"; bw -n a -- sh -c "$(output 1)"
"$BENCHWRAP" sync >/dev/null; is "a run of several requests continues where it failed" "$(jq -r .body.key "$got" | sort | uniq -c | awk '{ print $1, $2 }') $(state)" "1 bandwidth_MB_per_s
1 latency_s [1,0,0]"
# An outage, then recovery.
fresh; exporter "url: 'http://127.0.0.1:9/'"; sed -i 's/wait: 60s, //' "$config"
for _ in $(seq 20); do bw -- true; done
exporter "url: '$url/ok/recovery'"; wait_until '"$BENCHWRAP" sync; [ "$(state)" = "[20,0,0]" ]' # a background sender of the outage may still have the queue
is "20 runs during an outage all arrive" "$(jq -r .body.id "$got" | sort -u | wc -l) $(state)" "20 [20,0,0]"

# ---- ReFrame's form ----
if python=$(venv_python reframe-4.10.4 280 reframe-hpc==4.10.4); then
    mkdir -p r/src && cp "$sample/stdout" r/src/ior.out && cp bin/ior r/src/ior && sed -i "s,$sample/stdout,ior.out," r/src/ior
    cat >r/ior.py <<'P'
import reframe as rfm
import reframe.utility.sanity as sn
import os

@rfm.simple_test
class ior(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['+ior']
    executable = './ior'
    executable_opts = ['-a', 'POSIX', '-w', '-r']
    sourcesdir = os.environ['SRC']
    reference = {'tst:hbv4': {'write_bw': (float(os.environ['REF']), -0.05, 0.1, 'MiB/s'), 'read_bw': (float(os.environ['READ']), -0.05, 0.5, 'MiB/s')}}

    @sanity_function
    def whole(self):
        return sn.assert_found(r'Max Write', self.stdout)

    @performance_function('MiB/s')
    def write_bw(self):
        return sn.max(sn.extractall(r'^write +([\d.]+) +4096', self.stdout, 1, float))

    @performance_function('MiB/s')
    def read_bw(self):
        return sn.max(sn.extractall(r'^read +([\d.]+) +4096', self.stdout, 1, float))
P
    both() # MULTILINE RECORD READ: what ReFrame and benchwrap send to the same endpoint
    {
        rm -f "$got"
        cat >r/settings.py <<P
site_configuration = {
    'systems': [{'name': 'tst', 'hostnames': ['.*'], 'partitions': [{'name': 'hbv4', 'scheduler': 'local', 'launcher': 'local', 'environs': ['env']}]}],
    'environments': [{'name': 'env', 'features': ['ior']}],
    'logging': [{'perflog_multiline': $1, 'handlers_perflog': [{'type': 'httpjson', 'url': '$url/ok/reframe', 'level': 'info', 'extras': {'facility': 'reframe'},
                 'ignore_keys': ['check_perfvalues' if $1 else 'none']}]}]}
P
        SRC=$PWD/r/src REF=$best READ=$3 timeout 200 "${python%/*}/reframe" -C r/settings.py -c r/ior.py -r --prefix="$WORK/p" >reframe.out 2>&1
        mv "$got" theirs.jsonl; fresh
        exporter "url: '$url/ok/reframe', record: $2, extra: {facility: reframe, check_environ: env}"
        refs "$best" "$3"
        (cd r/src && SRC=$PWD bw -t ../../mlruns --cluster tst -p job.partition=hbv4 -R ../../refs.yaml -- ./ior -a POSIX -w -r >/dev/null)
        cp "$got" ours.jsonl
    }
    compare() # what differs, by key: all that benchwrap sends is what ReFrame sends
    {
        python3 - <<'P'
import json
theirs, ours = ([json.loads(l)["body"] for l in open(f)] for f in ("theirs.jsonl", "ours.jsonl"))
order = lambda r: r.get("check_perf_var", "")
times = {"check_job_completion_time", "check_job_completion_time_unix", "check_job_submit_time"}
print(len(theirs), len(ours))
for t, o in zip(sorted(theirs, key=order), sorted(ours, key=order)):
    for key in sorted(o):
        if key not in t:
            print("ReFrame has no", key)
        elif key == "check_fail_reason":
            if not t[key] or not o[key]: # each in its own words
                print(key, t[key], o[key])
        elif key in times:
            if type(t[key]) is not type(o[key]) or len(str(t[key]).split(".")[0]) != len(str(o[key]).split(".")[0]):
                print(key, t[key], o[key])
        elif key == "check_info":
            if t[key].replace(" /" + t["check_hashcode"], "") != o[key]:
                print(key, t[key], o[key])
        elif t[key] != o[key]:
            print(order(o), key, t[key], o[key])
left = sorted(set().union(*theirs) - set().union(*ours) - {"taskName"})  # which logging of Python 3.12 and later adds to all
print("left out:", " ".join(left))
P
    }
    documented=$(sed -n '/^benchwrap cannot know/,/^$/p' "$ROOT/docs/howto-exporter.md" | grep -o '`[a-z_]*`' | tr -d '`' | sort)
    both True reframe-lines 22163; compare >out
    is "ReFrame's records and ours have equal values, one for each metric" "$(grep -v '^left out' out)" "2 2"
    is "fields that are left out are those that the page lists" "$(sed -n 's/^left out: //p' out | tr ' ' '\n' | sed 's/^check_//' | sort)" "$documented"
    both False reframe 350; compare >out
    is "so have records of all metrics, of a run that missed a reference" "$(grep -v '^left out' out)" "1 1"
    exporter "url: '$url/ok/reframe', record: reframe, prefix: '', ignore: [system, osuser]"
    "$BENCHWRAP" exporter send x last >/dev/null
    is "prefix and ignore" "$(jq -c '.body | [.name, .system, .osuser, .perf_write_bw_unit, .check_name]' "$got")" '["ior",null,null,"MiB/s",null]'
else
    skip "ReFrame's form" "$python"
fi
done_testing
