#!/bin/bash
# t1500: recipes: check, plan, schema, migrate, create; nothing is started.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

for r in "$ROOT"/benchmarks/recipes/*.yaml; do
    ok "the shipped recipe $(basename "$r" .yaml) is good" "$BENCHWRAP" recipe check "$(basename "$r" .yaml)"
done
"$BENCHWRAP" recipe list --json >list.json
is "list has all of them" "$(jq length list.json)" "$(ls "$ROOT"/benchmarks/recipes/*.yaml | wc -l)"
mkdir -p "$HOME/.config/benchwrap/recipes" && printf 'version: 1\ndescription: mine\nroles: {c: {command: "true"}}\n' >"$HOME/.config/benchwrap/recipes/mine.yaml"
like "and the user's" "$("$BENCHWRAP" recipe list)" '^mine .* mine$'

"$BENCHWRAP" recipe plan toolkit-vllm --json >plan.json
is "the toolkit's recipe has 18 points" "$(jq '.points | length' plan.json)" 18
is "on four nodes" "$(jq '.nodes' plan.json)" 3
is "its service runs by Ray in Apptainer" "$(jq -r '.points[0].roles[0].processes[0].command[0:6] | join(" ")' plan.json)" \
    "apptainer exec --nv --bind /project/models:/models:ro /project/containers/vllm.sif"
like "plan prints the meaning of batch" "$("$BENCHWRAP" recipe plan toolkit-vllm)" 'batch: requests that one stream sends'
is "executors answer at port 6000, on the client's node" "$(jq -c '[.points[0].roles[] | select(.role == "agents") | .service, .nodes, .ports.http]' plan.json)" '["llmload-agent",1,6000]'
sed 's/mode: slurm/mode: kubernetes/' "$ROOT/benchmarks/recipes/toolkit-vllm.yaml" >kubernetes.yaml
like "Kubernetes is refused with a sentence" "$("$BENCHWRAP" recipe check kubernetes.yaml 2>&1)" 'kubernetes.yaml:7:9: Kubernetes is not supported: benchwrap starts roles by Slurm'
printf 'version: 1\nroles:\n  s: {service: vllm, with: {model: m}, nodes: 2, env: {A: b}, container: {runtime: pyxis, binds: ["/a:/b:ro", "/c:/d"], options: [--no-container-mount-home]}}\n  c: {nodes_of: s, command: "true"}\n' >pyxis.yaml
is "pyxis: the options of srun" "$("$BENCHWRAP" recipe plan pyxis.yaml --json | jq -r '.nodes, (.points[0].roles[0] | (.srun | join(" ")), (.processes[0].command[0:2] | join(" ")))')" '2
--container-image=docker://vllm/vllm-openai:latest --container-mounts=/a:/b:ro,/c:/d --container-env=A,HF_TOKEN --no-container-mount-home
vllm serve'
like "a role on its own nodes" "$(sed 's/nodes_of: s/nodes_of: c/' pyxis.yaml >self.yaml; "$BENCHWRAP" recipe check self.yaml 2>&1)" 'self.yaml:4:.*names another role'
like "a role on too few nodes" "$(sed 's/nodes_of: s/nodes_of: s, nodes: 3/' pyxis.yaml >few.yaml; "$BENCHWRAP" recipe check few.yaml 2>&1)" 'few.yaml:4:.*"c" has 3 nodes, and "s", on whose nodes it runs, 2'
mkdir -p "$HOME/.config/benchwrap/services"
printf 'name: acme-ray\ncommand: [acme, "{model}"]\nports: {http: 1, dashboard: 2}\nparameters: {model: {help: m}, num_gpus: {help: n, option: --gpus}}\napi: openai-completions\n' >"$HOME/.config/benchwrap/services/acme-ray.yaml"
sed 's/service: vllm$/service: acme/' "$ROOT/benchmarks/recipes/toolkit-vllm.yaml" >acme.yaml
is "the toolkit's keys are those of any service file" "$("$BENCHWRAP" recipe plan acme.yaml --json | jq -c '.points[0].roles[0] | .processes[0].command[-4:], .ports')" '["acme","facebook/opt-125m","--gpus","4"]
{"http":1,"dashboard":8265}'
like "and its values, where there is no such parameter, are named" "$("$BENCHWRAP" recipe check acme.yaml)" 'max_model_len: the service acme-ray has no parameter "max_model_len"; the value changes nothing'
sed -i 's/service: acme$/service: vlm/' acme.yaml
like "an unknown service has a place in the toolkit's recipe" "$("$BENCHWRAP" recipe check acme.yaml 2>&1)" 'acme.yaml:19:12: there is no service "vlm"; did you mean "vllm"'
"$BENCHWRAP" recipe migrate toolkit-vllm -o own.yaml 2>err
is "migrate writes the own form" "$("$BENCHWRAP" recipe plan own.yaml --json | jq -c '[.points[].hash]')" "$(jq -c '[.points[].hash]' plan.json)"
like "and overwrites nothing" "$("$BENCHWRAP" recipe migrate toolkit-vllm -o own.yaml 2>&1)" 'there is such a file already'
sed 's/^servers:/servers:\n  max_modle_len: 1/' "$ROOT/benchmarks/recipes/toolkit-vllm.yaml" >wrong.yaml
like "an unknown key is an error with line, column and the nearest key" "$("$BENCHWRAP" recipe check wrong.yaml 2>&1)" \
    'wrong.yaml:[0-9]+:3: unknown key "max_modle_len"; did you mean "max_model_len"\?'
"$BENCHWRAP" recipe check wrong.yaml >/dev/null 2>&1
is "and exit status 1" $? 1
like "a misspelt name" "$("$BENCHWRAP" recipe plan lm-sweep 2>&1)" 'hint: benchwrap recipe check llm-sweep'
like "a misspelt verb" "$("$BENCHWRAP" recipe plna llm-sweep 2>&1)" 'did you mean "plan"'

# A stranger's recipe: no value reaches a shell, plan runs nothing.
cat >stranger.yaml <<'Y'
version: 1
sweep: {list: [{v: "$(touch hit)"}, {v: "`touch hit`; touch hit"}]}
roles:
  s: {command: [sh, -c, "touch hit", "{v}"], ready: {command: [touch, hit]}}
  c: {command: "echo {v}"}
prepare: [{command: [touch, hit]}]
Y
"$BENCHWRAP" recipe plan --all stranger.yaml >out
ok "plan starts nothing" [ ! -e hit ]
like "and quotes for a shell" "$(cat out)" "echo '\\\$\\(touch hit\\)'"
printf 'version: 1\nname: "a\\e[31m"\nroles: {c: {command: x}}\n' >esc.yaml
"$BENCHWRAP" recipe check esc.yaml >out 2>&1
ok "no escape reaches the terminal" sh -c '! grep -q "$(printf "\033")" out'
python3 -c 'print("[" * 5000)' >deep.yaml
like "deep nesting" "$("$BENCHWRAP" recipe check deep.yaml 2>&1)" '100 levels'
head -c 3000000 /dev/zero >zero.yaml
ok "a large file of zeros is refused" sh -c '! "$BENCHWRAP" recipe check zero.yaml 2>/dev/null'

# The schema accepts what check accepts.
"$BENCHWRAP" recipe schema >schema.json
"$BENCHWRAP" recipe schema --services >service.json
if python3 -c 'import jsonschema, yaml' 2>/dev/null; then
    cat >validate.py <<'P'
import json, sys, yaml, jsonschema
v = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
jsonschema.Draft202012Validator.check_schema(v.schema)
for f in sys.argv[2:]:
    for e in v.iter_errors(yaml.safe_load(open(f))):
        print(f, e.json_path, e.message); sys.exit(1)
P
    ok "the schema accepts the shipped recipes" python3 validate.py schema.json $(grep -l '^version' "$ROOT"/benchmarks/recipes/*.yaml) own.yaml
    ok "and the service files" python3 validate.py service.json "$ROOT"/benchmarks/services/*.yaml
    printf 'version: 1\nrolse: {}\n' >bad.yaml
    ok "and not an unknown key" sh -c '! python3 validate.py schema.json bad.yaml'
else
    ok "the schema is JSON" jq -e '."$defs".role.properties.ready' schema.json
fi

# The documents name every key.
keys=$(sed -n 's/^KEY("[^"]*", "\([^"]*\)".*/\1/p' "$ROOT/wrapper/recipe/recipe_keys.def" | sort -u)
is "docs/howto-recipe.md has a row for every key" "$(for k in $keys; do grep -Eq "^\| .([^ ]*\.)?$k(\.NAME)?. \|" "$ROOT/docs/howto-recipe.md" || echo "$k"; done | xargs)" ""

# A mistake is named, with its place, before anything starts.
cat >mistake.yaml <<'Y'
version: 1
vars: {requests: 10 * streams}
sweep:
  grid: {streams: [1, 2]}
  override: [{when: "streams > 1", set: {requests: 5}}]
roles:
  server: {service: dummy, with: {ttft: 1ms}}
  client: {command: [sh, -c, "awk '{print}' {server.url}", "{streams}", "{{strems}}"]}
Y
ok "braces of a shell and of awk stay as they are" "$BENCHWRAP" recipe check mistake.yaml
while IFS='|' read -r change message; do
    sed "$change" mistake.yaml >changed.yaml
    like "$change" "$("$BENCHWRAP" recipe check changed.yaml 2>&1)" "changed.yaml:$message"
done <<'E'
s/"{streams}"/"{strems}"/|8:11: the role "client": .strems. has no value; did you mean .streams.
s/server.url/servr.url/|8:11: .*did you mean .server.url.
s/server.url/server.ulr/|8:11: .*a service has url, urls, host
s/server.url/client.url/|8:11: .*the role "client" is no service
s/"{streams}"/"{port}"/|8:11: .*a client has no port of its own
s/ttft: 1ms/ttft: "{stream}"/|7:11: .*did you mean .streams.
s/command: .sh/command: ["", sh/|8:[0-9]+: expected the name of a program, got ""
s,service: dummy.*,endpoint: "ftp://x"},|7:[0-9]+: expected an address such as http://node7:8000, got "ftp://x"
s,service: dummy.*,endpoint: "http://"},|7:[0-9]+: expected an address such as http://node7:8000, got "http://"
s,service: dummy.*,endpoint: "http://x:99999"},|7:[0-9]+: expected an address such as http://node7:8000, got "http://x:99999"
s,service: dummy.*,endpoint: "http://x"\, command: y},|7:[0-9]+: a role starts a command, or names the endpoint of a service that runs already, not both
s,10 . streams,1/0,|2:[0-9]+: the var "requests" has no value: .*or its result is no number
s/when: "streams/when: "strems/|5:21: "strems" is neither swept nor a var
s/streams: .1, 2./streams: ~/|4:19: there is no value
s/^version: 1/&\nrepeat: 0/|2:9: expected an integer >= 1
s/^version: 1/&\nuntil_stable: 2/|2:15: expected a percentage
s/^version: 1/&\ngate: {load: 95%}/|2:14: expected a share from 0 to 1
s/^version: 1/&\npreflight: {commands: [[]]}/|2:24: expected a command, got nothing
s/^version: 1/&\nexperiment: a\/b/|2:13: an experiment.s name has
s/^version: 1/&\nbatch: {time: 1h}/|2:15: expected a time limit as of sbatch
s/ttft: 1ms}/&, ready: {http: health}/|7:61: expected a path that begins with /
s/^version: 1/&\nmonitoring: {pushgateway: gw}/|2:27: expected an address
s/^version: 1/&\nbatch: {nodes: lots}/|2:16: expected a number from 1 to 100000, got "lots"
s/^version: 1/&\nnetwork: ib 0/|2:10: expected an interface such as ib0, or a network
s/^version: 1/&\nnetwork: 10.1.0.0\/33/|2:10: expected an interface such as ib0, or a network
s/ttft: 1ms}/&, hosts: "n[1-"/|7:54: expected names of nodes, such as n.1-3., got "n.1-"
s/ttft: 1ms}/&, secret_files: {A-B: x}/|7:67: expected the name of a variable, got "A-B"
E

printf '\357\273\277version: 1\nroles: {c: {command: x}}\n' >mark.yaml
ok "a byte order mark is no mistake" "$BENCHWRAP" recipe check mark.yaml
printf 'version: 1\nobjective: {raise: r, from: 1, to: 5, while: "a < 1"}\nroles: {c: {command: x}}\n' >unused.yaml
like "a search for a value that nothing uses" "$("$BENCHWRAP" recipe check unused.yaml 2>&1)" 'unused.yaml:2:[0-9]+: no role uses the value .r., which the objective raises'
sed -i 's/command: x/command: [x, "{r}"]/' unused.yaml
ok "and for one that a role uses" "$BENCHWRAP" recipe check unused.yaml
cat >split.yaml <<'Y'
version: 1
roles:
  prefill: {service: vllm, with: {model: m}, nodes: 2, args: [--kv-transfer-config, '{"kv_role": "kv_producer"}'], resources: {gpus: 4}}
  decode: {service: vllm, with: {model: m}, args: [--kv-transfer-config, '{"kv_role": "kv_consumer"}'], resources: {gpus: 2}}
  proxy: {command: [proxy, --prefill, "{prefill.addresses}", --decode, "{decode.addresses}", --port, "{port}"], ports: {http: 8000}, ready: {tcp: http}, after: [prefill, decode]}
  client: {command: [llmload, "{proxy.url}"]}
Y
is "prefill and decode are roles of their own, on their own nodes" "$("$BENCHWRAP" recipe plan split.yaml --json | jq -c '.nodes, [.points[0].roles[] | .nodes], (.points[0].roles[0].processes[0].command[-2:])')" '5
[2,1,1,1]
["--kv-transfer-config","{\"kv_role\": \"kv_producer\"}"]'

# create
printf 'service: dummy\nconcurrency: 1,2\nname: made\n' >answers.yaml
"$BENCHWRAP" recipe create --answers answers.yaml -o made.yaml 2>err
is "create writes a recipe that is good" "$("$BENCHWRAP" recipe check made.yaml)" "made: good, 2 roles, 2 points"
printf '\n\n\n\n\n\nx\n1\n1,2\n\n\n\n\n\n\n\n\n' | "$BENCHWRAP" recipe create >typed.yaml 2>asked
like "on a terminal it shows every default" "$(cat asked)" 'nodes of the service \[1\]'
like "and asks again" "$(cat asked)" 'expected a number'
ok "the result is good" "$BENCHWRAP" recipe check typed.yaml
printf 'concurency: 1\n' >answers2.yaml
printf '\n\n\n\n\n\n%4200s\n\n\n\n\n\n\n\n\n\n\n' 1 | "$BENCHWRAP" recipe create >typed.yaml 2>asked
is "an answer that is too long is asked for again, as one" "$(grep -o 'expected.*' asked)" "expected less than 4095 bytes"
like "an unknown answer" "$("$BENCHWRAP" recipe create --answers answers2.yaml 2>&1)" 'answers2.yaml:1:[0-9]+: there is no such question; did you mean "concurrency"'

printf 'version: 1\nroles: {c: {command: x}}\n' >v1.yaml; sed 's/: 1/: 9/' v1.yaml >v9.yaml
is "a recipe of another version is refused, and migrate is not proposed" "$("$BENCHWRAP" recipe check v9.yaml 2>&1 | grep -vc 'v9.yaml:1:10: expected version: 1, the only one that this benchwrap reads, got 9$')" 0
python3 -c 'print("version: 1\nsweep: {list: [{v: " + "a" * 4000 + "}]}\nroles: {c: {command: x, args: [\"" + "{v}" * 300 + "\"]}}")' >large.yaml
like "arguments that are too long are refused" "$("$BENCHWRAP" recipe plan large.yaml 2>&1)" 'large.yaml: a text is longer than 1 MiB with its names replaced'
python3 -c 'print("version: 1\nsweep: {list: [{v: " + "1" * 4000 + "}]}\nroles: {c: {command: x, nodes: \"" + "{v}" * 300 + "\"}}")' >nodes.yaml
like "a value that is too long is refused, not replaced by the default" "$("$BENCHWRAP" recipe plan nodes.yaml 2>&1)" 'nodes.yaml: a text is longer than 1 MiB with its names replaced'
for n in 64 65; do
    python3 -c 'import sys; print("version: 1\nroles: {c: {command: x, secrets: [" + ", ".join("S%d" % i for i in range(int(sys.argv[1]))) + "]}}")' $n >secrets.yaml
    echo "$n $("$BENCHWRAP" recipe check secrets.yaml 2>&1)"
done >secrets
is "more secrets than there is room for" "$(cat secrets)" '64 secrets: good, 1 role, 1 point
65 benchwrap: recipe: secrets.yaml:2:34: more than 64 secrets of a role'
printf 'version: 1\nbatch: {time: Unlimited}\nroles: {c: {command: x}}\n' >unlimited.yaml
ok "no time limit, in any case" "$BENCHWRAP" recipe check unlimited.yaml

# Service files of the user's that lack what they need: found by tests/fuzz/services.c.
mkdir -p "$HOME/.config/benchwrap/services"
printf 'version: 1\nroles: {s: {service: x}, c: {command: "y {s.url}"}}\n' >service.yaml
for command in 'command:' 'command: []' 'processes: [{name: a, command: }]' 'processes: []'; do
    printf 'name: x\n%s\nports: {http: 8080}\nready: {http: /}\n' "$command" >"$HOME/.config/benchwrap/services/x.yaml"
    like "a service with \"$command\" is refused, with the place" "$("$BENCHWRAP" recipe plan service.yaml 2>&1; echo $?)" 'x.yaml:[0-9]+:[0-9]+: '
done

printf 'version: 1\nroles: {s: {service: x}, c: {command: "y {s.url}"}}\n' >then.yaml
for request in 'path: /a' 'path: /b' 'path: /a, method: GET'; do
    printf 'name: x\ncommand: [y]\nports: {http: 8080}\nthen: [{%s}]\n' "$request" >"$HOME/.config/benchwrap/services/x.yaml"
    "$BENCHWRAP" recipe plan --json then.yaml | jq -r '.points[].hash'
done | sort -u >hashes
is "a service is another one where its requests are" "$(wc -l <hashes)" 3

# The batch script has what its `recipe run` must know.
printf 'version: 1\nsweep: {grid: {a: 1..4}}\nbatch: {jobs: one}\nroles:\n  s: {service: dummy, hosts: [n7, n8], nodes: 2}\n  c: {command: x, nodes: 2}\n' >job.yaml
is "options of run" "$("$BENCHWRAP" recipe plan --script --new --points 2 --preflight-only --client-nodes 'n1,n 2;$(x)' job.yaml | tail -n 1 | sed "s/.*job.yaml//")" " --new --preflight-only --client-nodes 'n1,n 2;\$(x)' --points 2"
is "nodes that roles name" "$("$BENCHWRAP" recipe plan --script job.yaml | grep -A3 '^# nodes for')" '# nodes for: s (2), c (2)
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --nodelist=n7,n8'
is "in Slurm's short form, too" "$(sed 's/hosts: .n7, n8./hosts: "n[07-09]"/' job.yaml >short.yaml; "$BENCHWRAP" recipe plan --script short.yaml --client-nodes 'c[1-2],n07' | grep -e --nodes= -e nodelist)" '#SBATCH --nodes=4
#SBATCH --nodelist=n07,n08,c1,c2'
sed -i 's/jobs: one/jobs: each/' job.yaml
is "a job for each point" "$("$BENCHWRAP" recipe plan --script --points 2 job.yaml | sed -n 's/.*--array/--array/p; s/.*--points/--points/p' | xargs)" "--array=1-2%1 --points 1"
like "a number of points" "$("$BENCHWRAP" recipe run --local --points 0 job.yaml 2>&1)" 'points: expected an integer >= 1, got "0"'

for time in 30 90:30 01:30:00 1-12 2-0:30; do
    printf 'version: 1\nbatch: {time: "%s", scheduler: pbs}\nroles: {c: {command: x}}\n' $time >pbs.yaml
    sed 's/pbs/lsf/' pbs.yaml >lsf.yaml
    echo "$time $("$BENCHWRAP" recipe plan --script pbs.yaml | sed -n 's/.*walltime=//p') $("$BENCHWRAP" recipe plan --script lsf.yaml | sed -n 's/.*-W //p')"
done >times
is "a time limit means the same to each scheduler" "$(cat times)" '30 00:30:00 00:30
90:30 01:30:30 01:31
01:30:00 01:30:00 01:30
1-12 36:00:00 36:00
2-0:30 48:30:00 48:30'

# 1,000 points.
printf 'version: 1\nsweep: {grid: {a: 1..1000}}\nroles: {s: {service: dummy}, c: {command: "x {a}"}}\n' >many.yaml
is "a plan of 1,000 points" "$("$BENCHWRAP" recipe plan many.yaml --json | jq '.points | length')" 1000
done_testing
