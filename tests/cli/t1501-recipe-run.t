#!/bin/bash
# t1501: recipe run --local: services, points, outcomes, resume, tear-down.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
# Words that only this test's processes have.
mark=$((700000 + $$ % 100000))
mkdir "$mark" # in the command line of servers, too
gone() { wait_until '[ "$(left)" = 0 ]'; left; }
left() { pgrep -fa "$mark" | grep -vc benchwrap-core; } # the recorder of a run that was ended may still write it
events() { jq -r "select(.event == \"$2\") | .label" ".benchwrap/campaigns/$1/points.jsonl"; }

# ---- a sweep over a service and a client ----
cat >sweep.yaml <<'Y'
version: 1
name: sweep
sweep: {grid: {conc: [1, 4], ttft: [1ms, 3ms]}}
vars: {requests: "max(10, 5 * conc)"}
roles:
  server: {service: dummy, with: {ttft: "{ttft}", tokens: 4}}
  client: {command: [llmload, "{server.url}", -c, "{conc}", -n, "{requests}", --max-tokens, 4]}
Y
"$BENCHWRAP" recipe run --local sweep.yaml >out 2>err
is "a campaign whose points are all valid exits 0" $? 0
parent=$(jq -r .parent .benchwrap/campaigns/sweep/campaign.json)
is "it is one run with a child run for each point" "$(grep -l "$parent" mlruns/*/*/tags/mlflow.parentRunId | wc -l)" 4
is "in the format's terms a sweep" "$(cat mlruns/*/"$parent"/tags/benchwrap.series)" sweep
is "with the values of each axis" "$(cat mlruns/*/"$parent"/params/sweep.conc) $(cat mlruns/*/"$parent"/params/sweep.ttft)" "1,4 1ms,3ms"
is "and durations of the phases" "$(ls mlruns/*/"$parent"/metrics | grep -cE '^series.(phase_|initialise_s|teardown_s|report_s)')" 8
ok "and the recipe" cmp -s sweep.yaml mlruns/*/"$parent"/artifacts/recipe.yaml
ok "check accepts it" sh -c '! "$BENCHWRAP" check | grep -q error'
like "compare --by finds the points" "$("$BENCHWRAP" compare --by ttft 2>&1)" 'ttft=3ms'
is "the service started once for each of its values" "$(jq -s '[.[] | select(.event == "point") | .phases.ready > 0] | map(select(.)) | length' .benchwrap/campaigns/sweep/points.jsonl)" 2
is "services are the outer loop" "$(events sweep point | sed 's/.*ttft=//' | uniq | xargs)" "1ms 3ms"
is "report has a row for each point" "$("$BENCHWRAP" recipe report --json | jq -c '[.[] | .outcome] | unique')" '["valid"]'
is "as CSV, too" "$("$BENCHWRAP" recipe report --csv | wc -l)" 5
for metrics in mlruns/*/*/metrics; do
    mkdir -p "$metrics/system"
    printf '%s 98 1\n' 1 2 3 >"$metrics/system/gpu_0_utilization_percentage"
    printf '%s 0 1\n' 1 2 3 >"$metrics/system/gpu_1_utilization_percentage"
done
like "GPUs limit the best point, and one that never worked does not count" "$("$BENCHWRAP" recipe report)" ', the best point: 98 % of the time the GPUs are busy: they limit'
rm mlruns/*/*/metrics/system/gpu_[01]_utilization_percentage
rmdir mlruns/*/*/metrics/system 2>/dev/null
like "every role's output is in a file of its own" "$(ls .benchwrap/campaigns/sweep/logs | grep -E '[.](out|err)$' | xargs)" '^client.0.[^ ]*.err client.0.[^ ]*.out server.0.[^ ]*.err server.0.[^ ]*.out$'
like "a second run has nothing to do" "$("$BENCHWRAP" recipe run --local sweep.yaml 2>&1)" 'all 4 points are finished'
sed -i 's/\[1, 4\]/[1, 4, 2]/' sweep.yaml
"$BENCHWRAP" recipe run --local sweep.yaml >out 2>err
is "new values are measured, and only they" "$(events sweep begin | sort | uniq -c | awk '{print $1}' | sort | uniq -c | xargs)" "6 1"
sed -i 's/-n, "{requests}"/-n, 12/' sweep.yaml
"$BENCHWRAP" recipe run --local sweep.yaml >out 2>err
is "a changed command needs a decision" "$? $(grep -c 'what 6 of 6 finished points start has changed' err)" "125 1"
"$BENCHWRAP" recipe run --local --resume sweep.yaml >out 2>err
is "--resume keeps the points" "$? $(events sweep begin | wc -l)" "0 6"

# ---- outcomes ----
cat >outcomes.yaml <<Y
version: 1
name: outcomes
sweep: {list: [{n: 1, what: good}, {n: 2, what: bad}, {n: 3, what: nothing}, {n: 4, what: die}, {n: 5, what: early}]}
roles:
  server: {restart: point, command: [sh, -c, "echo \$\$ >pid; echo no such model >&2; [ {what} != early ] || exit 3; exec python3 -m http.server {port} --bind {host} --directory $WORK/$mark"], ports: {http: 0}, ready: {http: /}}
  client:
    command: [sh, -c, "case {what} in good) echo rate 5 op/s;; bad) echo this went wrong >&2; exit 3;; nothing) echo rate 1 op/s;; die) kill -9 \$(cat pid); sleep 30;; esac", "$mark"]
valid: ["rate_op_per_s > 2"]
grace: 1s
Y
"$BENCHWRAP" recipe run --local outcomes.yaml >out 2>err
is "a campaign with other outcomes exits 1" $? 1
is "each outcome has its word" "$("$BENCHWRAP" recipe report outcomes --json | jq -c '[.[] | .outcome]')" '["valid","failed","invalid","failed","failed"]'
like "a service that ends before it is ready is quoted, with its log" "$(cat err)" 'what=early: failed .*: server ended before it was ready: exit status 3: no such model .logs/server.0.[^ ]*[.]err.'
like "the end says how many lines each process has printed" "$(cat err)" 'recipe: logs: client on [^ ]*, stderr: 1 line$'
like "a failed client is quoted, with its log" "$(cat err)" 'what=bad: failed .*: exit status 3: this went wrong .logs/client.0.[^ ]*[.]err.'
like "an invalid point names its condition" "$(cat err)" 'what=nothing: invalid .*: not rate_op_per_s > 2'
like "a service that dies in the middle ends the point" "$(cat err)" 'what=die: failed .*: the service server ended during the measurement: ended by signal KILL'
is "nothing is left" "$(gone)" 0
is "an invalid run is in no statistic" "$(cat mlruns/*/"$(jq -r .parent .benchwrap/campaigns/outcomes/campaign.json)"/metrics/series.counted | cut -d' ' -f2)" 1
cat >empty.yaml <<'Y'
version: 1
name: empty
sweep: {grid: {fault: ["empty:1", "html:1"]}}
roles:
  server: {service: dummy, with: {fault: "{fault}"}}
  client: {command: [llmload, "{server.url}", -n, 5, -c, 1]}
Y
"$BENCHWRAP" recipe run --local empty.yaml >out 2>err
is "a service that answers with no tokens: exit status 1" $? 1
like "and every point is invalid" "$(cat err)" 'empty: 2 points: 2 invalid'
cat >blank.yaml <<'Y'
version: 1
name: blank
roles:
  server: {command: [llmfake, --listen, "{host}:{port}", --fault, "empty:1"], ports: {http: 0}, ready: {http: /health}}
  client: {command: [llmload, "{server.url}", -n, 5, -c, 1]}
Y
"$BENCHWRAP" recipe run --local blank.yaml >out 2>err
like "so is a service without a service file" "$? $(cat err)" '^1 .*invalid in .*: the service answered with no token'
sed -i 's/^name: empty/name: usage/; s/-c, 1/--no-such-option, 1/' empty.yaml
"$BENCHWRAP" recipe run --local empty.yaml >out 2>err
like "a client that measures nothing has failed" "$(cat err)" 'usage: 2 points: 2 failed'
printf 'version: 1\nroles: {c: {command: "echo rate 1 op/s", tasks: 2}}\n' >unnamed.yaml
"$BENCHWRAP" recipe run --local unnamed.yaml >out 2>err
like "tasks without Slurm are reported" "$(cat err)" 'c: .tasks. needs Slurm; the role runs as one process'
is "a campaign with the name of its file has a report, too" "$("$BENCHWRAP" recipe report unnamed --json | jq -c '[.[] | .runs, .rate_op_per_s]')" '[1,1]'
cat >gate.yaml <<'Y'
version: 1
name: gate
sweep: {grid: {what: [load, heat, good]}}
roles:
  server: {service: dummy, with: {tokens: 2}}
  client: {command: [./llmload, "{server.url}", --rate, 200, -n, 20, --max-tokens, 2, --json], env: {WHAT: "{what}"}}
valid: ["requests.failed == 0"]
Y
cat >llmload <<S
#!/bin/sh
[ \$WHAT != heat ] || "$BENCHWRAP" log noise.throttled=3
"${BENCHWRAP%/*}/llmload" "\$@" | jq ".load.achieved_rate = .load.offered_rate * (if env.WHAT == \"load\" then 0.5 else 1 end)"
S
chmod +x llmload
"$BENCHWRAP" recipe run --local gate.yaml >out 2>err
like "a load that was not reached makes a point invalid" "$(cat err)" 'what=load: invalid .*: the load was not reached: [0-9.]+ of [0-9.]+ requests/s were sent'
like "heat, too" "$(cat err)" 'what=heat: invalid .*: the node slowed down for heat'
like "a good one is valid" "$(cat err)" 'what=good: valid'
like "and unknown heat is reported" "$(cat err)" 'whether the node slowed down for heat is not known for [0-9] run'
cat >refused.yaml <<'Y'
version: 1
name: refused
roles:
  server: {command: [no-such-server], ports: {http: 0}, ready: {http: /}}
  client: {command: "true", secrets: [NO_SUCH_TOKEN]}
preflight: {files: [/no/such/file], commands: [[sh, -c, "exit 4"]]}
Y
"$BENCHWRAP" recipe run --local refused.yaml >out 2>err
is "refused by preflight" "$? $("$BENCHWRAP" recipe report refused --json | jq -r '.[0].outcome')" "1 refused"
is "with what to do" "$(grep -c '^benchwrap: recipe: preflight:' err) $(grep -c '^benchwrap: recipe: hint:' err)" "4 2"
sed 's/^name: usage/name: option/; s/fault: "{fault}"}}/ttft: 1ms}, args: [--itls, 1ms]}/; s/"empty:1", "html:1"/1/' empty.yaml >option.yaml
"$BENCHWRAP" recipe run --local option.yaml >out 2>err
like "an option that the program does not know is refused" "$? $(cat err)" '^1 .*preflight: server: the --help of llmfake does not name the option --itls'
cat >never.yaml <<Y
version: 1
name: never
roles:
  server: {command: [sh, -c, "trap '' TERM; (setsid sleep $mark &); sleep $mark"], ports: {http: 0}, ready: {http: /, timeout: 1s}}
  client: {command: "true"}
grace: 500ms
Y
"$BENCHWRAP" recipe run --local never.yaml >out 2>err
like "a service that is never ready" "$(cat err)" 'failed in .*server was not ready after 1 s: no good answer at /'
is "and ignores SIGTERM: nothing is left" "$(gone)" 0

# ---- images, secrets from files, the network ----
mkdir -p bin
printf '#!/bin/sh\n[ "$1" = image ] && { echo "sha256:%%s"; exit; }\nuntil case $1 in pod | *.sif) ;; *) false ;; esac; do shift; done\nshift\nexec "$@"\n' >bin/podman
sed -i "s/%s/$(printf x | sha256sum | cut -d' ' -f1)/" bin/podman
cp bin/podman bin/apptainer
chmod +x bin/podman bin/apptainer
echo image >image.sif
echo age >age.sif
printf ' hf_abcdefghijklmnopqrstuvwxyz012345\n' >"$HOME/token"
address=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m 1 '[.]') # not that of a campaign without `network`, where the machine has another one
cat >images.yaml <<Y
version: 1
name: images
network: ${address:=127.0.0.1}/32
sweep: {grid: {image: [image.sif, age.sif]}}
roles:
  c: {command: [sh, -c, 'test \${#HF_TOKEN} = 35 && echo {s.host} && echo rate 1 op/s'], secret_files: {HF_TOKEN: "~/token"}, container: {runtime: apptainer, image: "{image}"}}
  s: {command: [python3, -m, http.server, "{port}", --bind, "{host}", --directory, "$WORK/$mark"], ports: {http: 0}, ready: {http: /}, container: {runtime: podman, image: pod}}
grace: 1s
Y
PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --local images.yaml >out 2>err
is "containers with a secret from a file" "$? $("$BENCHWRAP" recipe report images --json | jq -c '[.[].outcome]')" '0 ["valid","valid"]' || cat err >&2
parent=$(jq -r .parent .benchwrap/campaigns/images/campaign.json)
is "the record has the images of each role, also one whose name is part of another's" "$(cat mlruns/*/"$parent"/params/image.c) $(cat mlruns/*/"$parent"/params/image.s)" "image.sif,age.sif pod"
is "and their digests" "$(cat mlruns/*/"$parent"/params/image.c.digest) $(cat mlruns/*/"$parent"/params/image.s.digest)" "$(sha256sum image.sif age.sif | sed 's/^/sha256:/; s/ .*//' | paste -sd,) sha256:$(printf x | sha256sum | cut -d' ' -f1)"
is "the secret is nowhere" "$(grep -rl hf_abc .benchwrap/campaigns/images mlruns)" ""
is "and services listen on the network" "$(head -qn 1 .benchwrap/campaigns/images/logs/c.0.*.out)" "$address"
mkdir full && cp image.sif age.sif full
sed 's/name: images/name: full/; s/image: .image.sif, age.sif./image: [full\/image.sif]/' images.yaml >full.yaml
PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --local full.yaml >out 2>err
head -c 1048500 /dev/zero | tr '\0' x >.benchwrap/campaigns/full/images
sed -i 's/full.image/full\/age/' full.yaml
PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --local --resume full.yaml >out 2>err
is "a full list of digests begins again" "$(($(wc -c <.benchwrap/campaigns/full/images) < 1000)) $(grep -c '/age.sif$' .benchwrap/campaigns/full/images)" "1 1"
echo other >image.sif
PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --local images.yaml >out 2>err
like "another image needs a decision" "$? $(cat err)" '^125 .*the image image.sif has changed'
sed 's/^network: .*/network: no-such0/; s/name: images/name: network/' images.yaml >network.yaml
like "a network that the node has not" "$("$BENCHWRAP" recipe run --local network.yaml 2>&1)" 'the node .* has no address on the network no-such0'
sed -i 's,/token",/no-token",; s/name: images/name: token/' images.yaml
like "a secret's file that is missing is refused" "$(PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --local images.yaml 2>&1)" 'preflight: c: the file .*no-token of secret_files cannot be read'
printf 'version: 1\nroles: {s: {service: vllm, with: {model: /models/opt}, container: {runtime: apptainer, image: image.sif, binds: ["%s/none:/models/:ro"]}}, c: {command: "true"}}\n' "$WORK" >bound.yaml
like "a model behind a bind is checked" "$(PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --local --preflight-only bound.yaml 2>&1)" "s: the model $WORK/none/opt cannot be read"

# ---- nothing waits for ever: `timeout` holds for all clients and for warm-ups, a service must still answer at the end ----
while IFS='|' read -r name roles message; do
    printf 'version: 1\nname: %s\ntimeout: 1s\ngrace: 1s\nroles: {c: {command: [echo, "rate 1 op/s"]%s}\n' "$name" "$roles" >late.yaml
    "$BENCHWRAP" recipe run --local late.yaml >out 2>err
    like "$name" "$? $(cat err)" "^1 .*failed in .*: $message"
done <<E
another-client|}, side: {command: [sleep, $mark]}|side still ran at the end of .timeout.
warm-up|, warmup: [sleep, $mark]}|the warm-up of c: c still ran at the end of .timeout.
E
cat >hung.yaml <<Y
version: 1
name: hung
sweep: {grid: {n: [1, 2]}}
roles:
  server: {command: [sh, -c, "echo \$\$ >hung.pid; exec python3 -m http.server {port} --bind {host} --directory $WORK/$mark"], ports: {http: 0}, ready: {http: /, timeout: 10s}}
  client: {command: [sh, -c, "[ -e hung.once ] || { touch hung.once; kill -STOP \$(cat hung.pid); }; echo rate {n} op/s"]}
grace: 1s
Y
"$BENCHWRAP" recipe run --local hung.yaml >out 2>err
is "a service that hangs fails its point, and starts again" "$? $("$BENCHWRAP" recipe report hung --json | jq -r '.[] | .outcome + " " + (.reason // "")' | xargs)" "1 failed the service server does not answer any more valid"
"$BENCHWRAP" recipe run --local hung.yaml >out 2>err
is "that run is not adopted, but made again" "$? $("$BENCHWRAP" recipe report hung --json | jq -c '[.[].outcome]')" '0 ["valid","valid"]'
printf 'version: 1\nname: side\ngrace: 1s\nroles: {c: {command: [echo, "rate 1 op/s"]}, side: {command: [sh, -c, "touch side.up; exec sleep %s"]}}\n' "$mark" >side.yaml
"$BENCHWRAP" recipe run --local side.yaml >out 2>err &
wait_until '[ -e side.up ] && ls -d mlruns/*/*/tags/mlflow.runName | xargs grep -q "^side #1"'
kill -TERM $!
wait $!
like "a signal while another client runs cancels the point" "$? $(cat err)" '^143 .*cancelled in'
is "nothing is left" "$(gone)" 0

# ---- ports ----
python3 -c 'import socket, time
s = socket.socket(); s.bind(("0.0.0.0", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(600)' >port &
holder=$!
wait_until '[ -s port ]'
cat >port.yaml <<Y
version: 1
name: port
roles:
  server: {service: http, ports: {http: $(cat port)}, instances: 2}
  client: {command: [sh, -c, "curl -s -o /dev/null {server.url} && echo {server.addresses} && echo rate 1 op/s"]}
Y
"$BENCHWRAP" recipe run --local port.yaml >out 2>err
is "an occupied port is replaced" "$? $(grep -c "port $(cat port) is occupied" err)" "0 1"
like "clients get all instances" "$(cat .benchwrap/campaigns/port/logs/client.0.*.out)" '^127.0.0.1:[0-9]+,127.0.0.1:[0-9]+$'
kill $holder

# ---- an endpoint that exists, an objective, preparation ----
cat >rest.yaml <<'Y'
version: 1
name: rest
objective: {raise: load, from: 1, to: 64, while: "latency_s <= 0.04", steps: 4}
prepare: [{name: build, command: [sh, -c, "echo made >>made"]}, {name: keep, command: [touch, kept], creates: kept}]
roles:
  server: {endpoint: "http://127.0.0.1:9/v1"}
  client: {command: [sh, -c, "echo '{server.url}' {server.port}; echo latency $((2 * {load})) ms"]}
Y
"$BENCHWRAP" recipe run --local rest.yaml >out 2>err
is "a search ends with the highest value that meets the objective" "$? $(sed -n 's/.*search: \(load=[0-9]*\) is the highest known to meet.*; \([0-9]*\) does not/\1 \2/p' err)" "0 load=20 26"
is "by four measurements at most" "$(events rest begin | wc -l)" 4
like "an endpoint is used as it is" "$(cat .benchwrap/campaigns/rest/logs/client.0.*.out)" '^http://127.0.0.1:9/v1 9$'
"$BENCHWRAP" recipe run --local rest.yaml >out 2>err
is "a step of prepare is made once" "$(cat made) $(events rest begin | wc -l)" "made 4"
printf 'version: 1\nname: step\nprepare: [{name: "a/../b c", command: [sh, -c, "exit 5"]}]\nroles: {c: {command: "true"}}\n' >step.yaml
"$BENCHWRAP" recipe run --local step.yaml >out 2>err
log=$(sed -n 's/.*a\/[.][.]\/b c ended with exit status 5 (\(.*\))$/\1/p' err)
ok "a step of prepare that fails names its log" [ -f "$log" ]
cat >down.yaml <<'Y'
version: 1
name: down
roles:
  server: {endpoint: "http://127.0.0.1:9/v1", ready: {http: /health, timeout: 0.2s}}
  client: {command: "true"}
Y
"$BENCHWRAP" recipe run --local down.yaml >out 2>err
like "an endpoint must answer where it has \`ready\`" "$? $(cat err)" '^1 .*failed in .*: server was not ready after 0.2 s: no good answer at /health, no reply to the last request'
like "nodes that are not there" "$("$BENCHWRAP" recipe run --local --new --client-nodes far rest.yaml 2>&1)" 'the node far is not this machine'

# ---- monitoring, and logs of earlier executions ----
cat >receive.py <<'P'
import http.server
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        open("pushed" if self.command == "PUT" else "posted", "ab").write(self.path.encode() + b"\n" + self.rfile.read(int(self.headers["Content-Length"])) + b"--\n")
        self.send_response(202)
        self.end_headers()
    do_POST = do_PUT
    def log_message(self, *a):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(s.server_port, flush=True)
s.serve_forever()
P
python3 receive.py >receive.port &
receiver=$!
mkdir -p page "$HOME/.config/benchwrap/services"
printf '# TYPE a gauge\na{x="b c",y="\\""} 4\nh_bucket{le="1"} 3\nvllm:kv_cache_usage_perc{} 0.5 123\nbroken{x 3\n' >page/metrics
printf 'name: vllm-page\ncommand: [python3, -m, http.server, "{port}", --bind, "{host}", --directory, page]\nports: {http: 0}\nready: {http: /}\nmetrics: /metrics\n' \
    >"$HOME/.config/benchwrap/services/vllm-page.yaml"
wait_until '[ -s receive.port ]'
cat >monitored.yaml <<Y
version: 1
name: monitored
roles:
  server: {service: vllm-page}
  client: {command: [sh, -c, "$BENCHWRAP recipe status monitored --scrape-config; $BENCHWRAP recipe status monitored --tunnels; for _ in \$(seq 600); do grep -q system/system_memory samples.csv && grep -q server.0.*kv_cache samples.csv && grep -q _page_cache_usage pushed && break; sleep 0.1; done; sleep 0.5; echo rate 1 op/s"]}
monitoring:
  interval: 200ms
  push_interval: 200ms
  pushgateway: "http://127.0.0.1:$(cat receive.port)"
  csv: samples.csv
  metrics: [system/system_memory*, a*, vllm*, h*]
  custom: {temperature: {command: [sh, -c, "echo is 40.5 degrees"]}, level: {file: level}, none: {command: [echo, no]}}
valid: ["custom.temperature == 40.5", "custom.level == 7"]
logs: {keep: {size: 1}}
Y
echo 7 >level
"$BENCHWRAP" recipe run --local monitored.yaml >out 2>err
is "conditions know numbers of the user's own" "$? $("$BENCHWRAP" recipe report monitored --json | jq -r '.[0].outcome')" "0 valid"
like "one that is missing is reported" "$(cat err)" 'monitoring.custom.none: no number [0-9]+ times'
is "the others are in the record" "$(cut -d' ' -f2 mlruns/*/"$(jq -r .parent .benchwrap/campaigns/monitored/campaign.json)"/metrics/custom.* | xargs)" "7 40.5"
is "the CSV file has samples of the service" "$(grep '"server.0"' samples.csv | cut -d, -f3- | sort -u)" '"server.0","a{x=""b c"",y=""\""""}",4
"server.0","vllm:kv_cache_usage_perc{}",0.5'
like "and of the node" "$(cat samples.csv)" '"node","system/system_memory[a-z_]*",[0-9.]+$'
like "they are pushed" "$(cat pushed)" '^a.x="b c",y="\\"",bw_node="[^"]+",bw_component="server.0". 4$'
like "with the names of the toolkit" "$(cat pushed)" '^vllm_page_cache_usage 0.5$'
like "the last push says that nothing runs, and has no samples" "$(tail -n 5 pushed | tr '\n' ' ')" '/metrics/job@base64/.* vllm_page_workload_running 0 .*-- $'
mkfifo samples.fifo && { head -n 1 samples.fifo >/dev/null & }
printf 'version: 1\nname: piped\nroles: {s: {endpoint: "http://[::1]:8000/v1"}, c: {command: [sh, -c, "echo {s.host} {s.port}; sleep 0.7; echo rate 1 op/s"]}}\nmonitoring: {interval: 100ms, csv: samples.fifo}\n' >piped.yaml
"$BENCHWRAP" recipe run --local piped.yaml >out 2>err
like "samples that cannot be written are reported" "$(cat err)" ' monitoring: samples could not be written to samples.fifo [0-9]+ times'
is "an IPv6 address has a host and a port" "$(head -qn 1 .benchwrap/campaigns/piped/logs/c.0.*.out)" "::1 8000"
port=$(sed -n 's/.*targets: \["127.0.0.1:\([0-9]*\)"\]/\1/p' .benchwrap/campaigns/monitored/logs/client.0.*.out)
ok "status prints a configuration for Prometheus" [ "${port:-0}" -gt 0 ]
like "and tunnels to the same port" "$(cat .benchwrap/campaigns/monitored/logs/client.0.*.out)" "^ssh -N -L $port:127.0.0.1:$port "
like "once services are down there are none" "$("$BENCHWRAP" recipe status monitored --tunnels 2>&1)" 'no service of the campaign is up'
cat >killed.yaml <<'Y'
version: 1
name: killed
roles: {c: {command: [sh, -c, "until [ -e tried ]; do sleep 0.05; done; echo rate 1 op/s"]}}
monitoring: {interval: 100ms, custom: {end: {command: [sh, -c, "touch tried; kill -9 $PPID"]}}}
Y
"$BENCHWRAP" recipe run --local killed.yaml >out 2>err
like "a monitor that is killed is reported" "$(cat err)" 'monitoring: its process was ended by signal KILL: later samples are missing'
sed -i "s/sleep 0.5/true/" monitored.yaml
"$BENCHWRAP" recipe run --local --new monitored.yaml >out 2>err
is "logs.keep removes logs of earlier executions" "$(grep -c 'the logs of 1 earlier execution are removed' err) $(ls -d .benchwrap/campaigns/monitored/before-*/logs 2>/dev/null | wc -l)" "1 0"
is "and not those of this one" "$(ls .benchwrap/campaigns/monitored/logs | grep -c '^client.0.*.out$')" 1

# ---- alerts ----
printf 'exporters: [{type: httpjson, name: team, url: "http://127.0.0.1:%s/hook", template: "{\\"text\\": {{summary}}}"}, {type: jsonl, name: lake, file: /nowhere/lake.jsonl}]\n' "$(cat receive.port)" >"$HOME/.config/benchwrap/config.yaml"
cat >alerts.yaml <<'Y'
version: 1
name: alerts
sweep: {grid: {n: [1, 2]}}
roles: {c: {command: [sh, -c, "echo Traceback of point {n} password=hunter2hunter2; echo rate 1 op/s"]}}
logs: {alert: [Traceback], notify: [team]}
Y
"$BENCHWRAP" recipe run --local alerts.yaml >out 2>err
like "lines of logs.alert are printed" "$? $(grep -c 'recipe: alert: .*Traceback of point [12]' err)" "^0 2$"
like "and sent" "$(cat posted)" 'campaign alerts:'
is "each once" "$(grep -o 'Traceback of point [12]' posted | sort | xargs)" "Traceback of point 1 Traceback of point 2"
is "without secrets" "$(grep -c hunter2 posted)" 0
"$BENCHWRAP" recipe run --local --new alerts.yaml >out 2>err
is "each execution reports its own" "$? $(grep -c 'recipe: alert: ' err) $(grep -o 'Traceback of point [12]' posted | sort | uniq -c | awk '{print $1, $5}' | xargs)" "0 2 2 1 2 2"
sed 's/notify: .team./notify: [lake]/; s/name: alerts/name: lake/' alerts.yaml >lake.yaml
like "an exporter without messages" "$("$BENCHWRAP" recipe run --local lake.yaml 2>&1)" 'lake.yaml:5:.*exporters of type jsonl send no messages'
sed 's/notify: .team./notify: [temas]/; s/name: alerts/name: none/' alerts.yaml >none.yaml
like "an exporter that does not exist" "$("$BENCHWRAP" recipe run --local none.yaml 2>&1)" 'no exporter has the name "temas"'
rm "$HOME/.config/benchwrap/config.yaml"
kill $receiver

# ---- agents as the toolkit's executors, and files for a laptop ----
cat >executors.yaml <<Y
version: 1
name: executors
roles:
  server: {service: dummy, with: {tokens: 4, ttft: 5ms}}
  agents: {service: llmload-agent, with: {service: dummy}, instances: 2, ready: {http: /health, timeout: 30s}}
  load: {nodes_of: agents, command: [llmload, "{server.url}", -c, 4, -d, 3s, --max-tokens, 4, --agents, "{agents.addresses}", --token-file, "{campaign}/agent-token"]}
  watch:
    nodes_of: agents
    command: [sh, -c, "$BENCHWRAP recipe status executors --laptop laptop; $BENCHWRAP recipe status executors --scrape-config >scrape; for _ in \$(seq 200); do grep -q 'dummy_request_latency_seconds_bucket.*,[1-9]' executors.csv && exit; sleep 0.1; done"]
monitoring: {interval: 200ms, csv: executors.csv, metrics: ["dummy_*"]}
Y
if ! "$BENCHWRAP" recipe run --local executors.yaml >out 2>err && grep -q 'this build has no agents' .benchwrap/campaigns/executors/logs/agents.*.err; then
    skip "agents as executors" "this build has no agents"
else
    is "a client leads agents" "$("$BENCHWRAP" recipe report executors --json | jq -r '.[0].outcome')" valid
    is "whose metrics have the names of the toolkit" "$(cut -d, -f3,4 executors.csv | sed -n 's/"agents.[01]","\(dummy_[a-z_]*\).*/\1/p' | sort -u | grep -cE '^dummy_(workload_running|throughput_rps|request_latency_seconds|requests_total|errors_total|request_latency_seconds_bucket)"?$')" 6
    like "the campaign has a token of its own" "$(stat -c %a .benchwrap/campaigns/executors/agent-token) $(cat scrape)" '^600 scrape_configs:'
    like "which Prometheus sends" "$(cat scrape)" 'authorization: [{]credentials_file: "/.*/executors/agent-token"[}]'
    is "files for a laptop" "$(cd laptop && find . -type f ! -path '*/dashboards/*' | sort | xargs)" "./compose.yaml ./grafana.env ./grafana/provisioning/datasources/prometheus.yaml ./prometheus/prometheus.yml ./prometheus/token-0 ./tunnels.sh"
    is "secrets in them are closed to others" "$(stat -c %a laptop laptop/grafana.env laptop/prometheus/token-0 | xargs)" "700 600 600"
    is "each service has a tunnel with a port of its own, which Prometheus scrapes" "$(sed -n 's/.*-L 127.0.0.1:\([0-9]*\):127.0.0.1:\([0-9]*\) .*/\1 \2/p' laptop/tunnels.sh | sort -u | wc -l) $(for p in $(sed -n 's/.*targets: \["127.0.0.1:\([0-9]*\)"\]/\1/p' laptop/prometheus/prometheus.yml); do grep -c -- "-L 127.0.0.1:$p:" laptop/tunnels.sh; done | xargs)" "3 1 1"
    ok "tunnels.sh is a script" sh -n laptop/tunnels.sh
    if command -v promtool >/dev/null; then ok "Prometheus accepts its configuration" promtool check config laptop/prometheus/prometheus.yml; fi
    if python3 -c 'import yaml' 2>/dev/null; then
        is "compose.yaml: local addresses, no default password" "$(python3 -c 'import yaml; s = yaml.safe_load(open("laptop/compose.yaml"))["services"]; print(s["grafana"]["environment"]["GF_SERVER_HTTP_PORT"], s["grafana"]["env_file"], [x for x in s["prometheus"]["command"] if "9092" in x])')" "3001 ['grafana.env'] ['--web.listen-address=127.0.0.1:9092']"
    fi
    like "the password is generated" "$(cat laptop/grafana.env)" '^GF_SECURITY_ADMIN_PASSWORD=[0-9a-f]{32}$'
fi
like "once services are down there is nothing to watch" "$("$BENCHWRAP" recipe status executors --laptop laptop2 2>&1)" 'no service of the campaign is up'

# ---- another cluster: ssh that runs its command here, in another home, and a benchwrap without a scheduler ----
mkdir -p bin far "$HOME/.config/benchwrap"
printf '#!/bin/sh\necho "$*" >>%s/ssh.log\nwhile [ "$1" != -- ]; do shift; done\ncd %s/far && HOME=%s/far exec sh -c "$2"\n' "$WORK" "$WORK" "$WORK" >bin/ssh
printf '#!/bin/sh\necho "account $SBATCH_ACCOUNT"\nshift 4\nexec %s recipe run --local "$@"\n' "$BENCHWRAP" >bin/there
chmod +x bin/ssh bin/there
printf "clusters: {far: {host: login.example, folder: \"it's here\", benchwrap: %s/bin/there}}\n" "$WORK" >"$HOME/.config/benchwrap/clusters.yaml"
printf 'version: 1\nname: away\nsweep: {grid: {n: [1, 2]}}\nroles: {c: {command: [echo, "rate {n} op/s"]}}\n' >away.yaml
before=$(ls -d mlruns/*/*/tags | wc -l)
MLUX_USER=me MLUX_ACCOUNT=p1 PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --cluster far away.yaml >out 2>err
is "a campaign on another cluster" "$? $(grep -c 'account p1' out)" "0 1"
is "its runs are here" "$(($(ls -d mlruns/*/*/tags | wc -l) - before))" 3
is "and its campaign" "$("$BENCHWRAP" recipe report away@far --json | jq -c '[.[] | [.outcome, .rate_op_per_s]]')" '[["valid",1],["valid",2]]'
like "by ssh as the user, and without a question" "$(head -n 1 ssh.log)" '^-o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=20 -o ServerAliveCountMax=3 -l me login.example -- '
printf '#!/bin/sh\ncat >batch.got\necho "Job <77> is submitted to default queue <normal>."\n' >bin/bsub
printf '#!/bin/sh\necho "qsub: no such\nqsub: queue" >&2; exit 1\n' >bin/qsub
chmod +x bin/bsub bin/qsub
sed 's/^name.*/name: lsf\nbatch: {scheduler: lsf}/' away.yaml >lsf.yaml
is "LSF gets the script as its input, where it reads directives" "$(PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --submit lsf.yaml 2>err) $(grep -c '^#BSUB -J lsf' batch.got)" "job 77 1"
rm .benchwrap/campaigns/lsf/job; mkdir .benchwrap/campaigns/lsf/job
printf '#!/bin/sh\ncat >batch.got\necho "Job <78> is submitted to default queue <normal>."; sleep 1.3\n' >bin/bsub
PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --submit --wait lsf.yaml >out 2>err
is "a job whose number cannot be stored was accepted, and is named once" "$? $(cat out) $(grep -c 'the job 78 was submitted, and its number cannot be stored' err) $(grep -c 'did not accept' err)" "1 job 78 1 0"
sed -i 's/lsf/pbs/' lsf.yaml
like "why a job was not accepted stands in one line" "$(PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --submit lsf.yaml 2>&1)" 'qsub did not accept the script: qsub: no such qsub: queue$'
PATH=$WORK/bin:$PATH "$BENCHWRAP" recipe run --cluster --oProxyCommand=x away.yaml >out 2>err
is "a cluster's name is no option" "$?" 125

# ---- endings and resume ----
cat >long.yaml <<Y
version: 1
name: long
sweep: {grid: {n: 1..4}}
roles:
  server: {command: [sh, -c, "sleep $mark & (setsid sleep $mark &) ; exec python3 -m http.server {port} --bind {host} --directory $WORK/$mark"], ports: {http: 0}, ready: {http: /}}
  client: {command: [sh, -c, "until [ {n} -le \$(cat $WORK/allowed) ]; do sleep 0.05; done; echo rate {n} op/s", "$mark"]}
grace: 1s
Y
parents=$(($(ls -d mlruns/*/*/tags/benchwrap.series | wc -l) + 1))
begun() { expected_begun=$1; wait_until '[ "$(events long begin | wc -l)" -ge $expected_begun ]'; }
echo 1 >allowed # the second point does not end
"$BENCHWRAP" recipe run --local long.yaml >out 2>err &
begun 2; kill -TERM $!; before=$(date +%s%N); wait $!; status=$?
ok "SIGTERM ends it within 5 s" [ $((($(date +%s%N) - before) / 1000000)) -lt 5000 ]
is "with status 143" $status 143
is "and nothing is left" "$(gone)" 0
like "status says so" "$("$BENCHWRAP" recipe status long)" 'long: interrupted, 4 points'
echo 2 >allowed
"$BENCHWRAP" recipe run --local long.yaml >out 2>err &
begun 4; kill -KILL $!; wait $! 2>/dev/null
is "SIGKILL leaves nothing, either" "$(gone)" 0
echo 4 >allowed
"$BENCHWRAP" recipe run --local long.yaml >out 2>err
is "the third execution ends it" "$? $("$BENCHWRAP" recipe report long --json | jq -c '[.[] | [.outcome, .runs]] | unique')" '0 [["valid",1]]'
is "one parent run has all points" "$(ls -d mlruns/*/*/tags/benchwrap.series | wc -l) $(jq -r .parent .benchwrap/campaigns/long/points.jsonl | grep -v null | sort -u | wc -l)" "$parents 1"
is "no finished point was measured twice" "$(jq -r 'select(.event == "end" and .exit == 0) | .label' .benchwrap/campaigns/long/points.jsonl | sort | uniq -d)" ""
is "check accepts the resumed campaign" "$("$BENCHWRAP" check | grep error)" ""
cat >twice.yaml <<Y
version: 1
name: twice
roles:
  server: {command: [sh, -c, "trap 'touch told' TERM; python3 -m http.server {port} --bind {host} --directory $WORK/$mark & while :; do sleep $mark & wait; done"], ports: {http: 0}, ready: {http: /}}
  client: {command: [sh, -c, "trap 'until [ -e told ]; do sleep 0.05; done; touch both; exit' TERM; touch up; while :; do sleep $mark & wait; done", "$mark"]}
grace: 100s
Y
"$BENCHWRAP" recipe run --local twice.yaml >out 2>err &
wait_until '[ -e up ]'
kill -TERM $!; wait_until '[ -e both ]'
ok "a signal ends services and clients at the same time" [ -e both ]
before=$(date +%s%N); kill -TERM $!; wait $!; status=$?
is "a second one ends the grace" "$status $((($(date +%s%N) - before) / 50000000000)) $(gone)" "143 0 0"
echo 0 >allowed
"$BENCHWRAP" recipe run --local --new long.yaml >out 2>err &
begun 1; like "two executions at once are refused" "$("$BENCHWRAP" recipe run --local long.yaml 2>&1)" 'executes this campaign already'
cp .benchwrap/campaigns/long/lock lock.own
echo "$! another.host" >.benchwrap/campaigns/long/lock
like "stop signals no process of another host" "$("$BENCHWRAP" recipe stop long 2>&1)" 'process [0-9]+ on another.host executes the campaign'
ok "which goes on" kill -0 $!
cat lock.own >.benchwrap/campaigns/long/lock
like "stop ends the execution" "$("$BENCHWRAP" recipe stop long)" 'stopped'
wait
like "and then closes its record" "$("$BENCHWRAP" recipe stop long)" 'the record is closed: mlruns/'
is "nothing is left" "$(gone)" 0
like "an unknown campaign" "$("$BENCHWRAP" recipe status nosuch 2>&1)" 'there is no campaign "nosuch"'
done_testing
