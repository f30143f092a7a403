#!/bin/bash
# t1502: recipes on a real Slurm with virtual nodes: the batch script, roles on nodes, the toolkit's recipe, endings.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
mark=$((800000 + $$ % 100000))
mkdir "$mark" # in the command line of servers, too

# The scripts need no scheduler.
for kind in slurm pbs lsf; do
    printf 'version: 1\nname: b\nbatch: {scheduler: %s, time: "00:05:00", modules: ["a b", "c;touch hit"], options: ["--comment=$(touch hit)"]}\nroles: {c: {command: "true", nodes: 2}}\n' $kind >b-$kind.yaml
    "$BENCHWRAP" recipe plan --script b-$kind.yaml >b-$kind.sh
    if command -v shellcheck >/dev/null; then ok "the script for $kind is clean" shellcheck b-$kind.sh; else ok "the script for $kind is bash" bash -n b-$kind.sh; fi
done
like "nothing in it is unquoted" "$(cat b-slurm.sh)" "^module load 'c;touch hit'$"
is "roles with other resources are components of a heterogeneous job" "$("$BENCHWRAP" recipe plan --script toolkit-vllm | grep -c '^#SBATCH hetjob')" 1

if ! slurm_start 8; then
    skip "recipes on Slurm" "$slurm_why"
    done_testing
    exit
fi

# ---- tasks over nodes ----
cat >tasks.yaml <<'Y'
version: 1
name: tasks
sweep: {grid: {nodes: 1..3}}
roles:
  client: {nodes: "{nodes}", tasks: "{nodes}", command: [sh, -c, 'test "$SLURM_PROCID" != 0 || echo "rate $SLURM_NTASKS op/s"']}
Y
"$BENCHWRAP" recipe plan --script tasks.yaml >batch.sh
like "the script asks for the most nodes" "$(cat batch.sh)" '^#SBATCH --nodes=3$'
salloc -Q -N3 "$BENCHWRAP" recipe run tasks.yaml >out 2>err
is "inside an allocation" "$? $("$BENCHWRAP" recipe report tasks --json | jq -c '[.[].rate_op_per_s]')" "0 [1,2,3]"

cat >het.yaml <<'Y'
version: 1
name: het
roles:
  server: {command: [python3, -m, http.server, "{port}", --bind, "{host}"], ports: {http: 0}, ready: {http: /}, resources: {cpus: 2}}
  client: {command: [sh, -c, "n=0; until { grep -q n1 het.csv && grep -q n2 het.csv; } || [ $n = 600 ]; do n=$((n + 1)); sleep 0.1; done; echo rate 1 op/s"], resources: {cpus: 1}}
monitoring: {interval: 300ms, csv: het.csv}
Y
salloc -Q -N1 -c2 : -N1 -c1 "$BENCHWRAP" recipe run het.yaml >out 2>err
is "in a heterogeneous job, all of whose nodes are checked and sampled" "$? $("$BENCHWRAP" recipe report het --json | jq -c '[.[].outcome]') $(cut -d, -f2 het.csv | sort -u | xargs)" '0 ["valid"] n1 n2 node'
mkdir -p only && printf '#!/bin/sh\necho rate 1 op/s\n' >only/there && chmod +x only/there
printf 'version: 1\nname: nodes\nroles: {c: {command: [there], nodes: 2, tasks: 2}}\n' >nodes.yaml
PATH=$WORK/only:$PATH salloc -Q -N2 "$BENCHWRAP" recipe run --preflight-only nodes.yaml >out 2>err
is "preflight checks every node" "$? $(cat err)" "0 benchwrap: recipe: preflight: 0 of 1 points are refused"
sed 's/^name.*/&\npreflight: {memory: 900T}/' nodes.yaml >memory.yaml
PATH=$WORK/only:$PATH salloc -Q -N2 "$BENCHWRAP" recipe run --preflight-only memory.yaml >out 2>err
like "and its memory" "$(cat err)" 'preflight: n[0-9]: [0-9]+ MiB of memory are available, 943718400 are needed'
salloc -Q -N2 env PATH="$WORK/only:$PATH" sh -c "chmod -x $WORK/only/there; $BENCHWRAP recipe run --preflight-only nodes.yaml" >out 2>err
like "a program that the nodes lack" "$(cat err)" "preflight: n[0-9]: there is no program .there"
printf 'version: 1\nname: later\nsweep: {grid: {p: ["true", there]}}\nroles: {c: {command: ["{p}"], nodes: 2, tasks: 2}}\n' >later.yaml
salloc -Q -N2 env PATH="$WORK/only:$PATH" "$BENCHWRAP" recipe run --preflight-only later.yaml >out 2>err
is "also that of a later point" "$? $(grep -c 'n[0-9]: there is no program "there"' err) $(tail -n 1 err)" "1 2 benchwrap: recipe: preflight: 1 of 2 points are refused"

cat >hosts.yaml <<'Y'
version: 1
name: hosts
network: 127.0.0.0/8
sweep: {grid: {n: 1..3}}
prepare: [{name: fetch, command: [sh, -c, "echo ${SLURM_JOB_ID:-here} >>fetched"]}]
roles:
  server: {command: [python3, -m, http.server, "{port}", --bind, "{host}"], ports: {http: 0}, ready: {http: /}, hosts: [n1]}
  client: {command: [sh, -c, "echo rate {n} op/s"]}
Y
"$BENCHWRAP" recipe run --submit --wait --points 2 hosts.yaml >out 2>err
is "a submitted job measures so many points" "$? $("$BENCHWRAP" recipe report hosts --json | jq -c '[.[].outcome]')" '0 ["valid","valid","never ran"]'
is "on the node that a role names, and on another one" "$(ls .benchwrap/campaigns/hosts/logs | sed -n 's/^\([a-z]*\)[.]0[.]\(n[0-9]\)[.]out$/\1 \2/p' | xargs)" "client n2 server n1"
is "after what was prepared here" "$(cat fetched)" here

salloc -Q -w n1,n2 "$BENCHWRAP" recipe run hosts.yaml >out 2>err
like "a campaign that is finished makes no job" "$? $("$BENCHWRAP" recipe run --submit hosts.yaml 2>&1)" '^0 benchwrap: recipe: all 3 points are finished'
sed -i 's/rate {n} op/rate 1{n} op/' hosts.yaml
like "nor does one that needs a decision" "$("$BENCHWRAP" recipe run --submit hosts.yaml 2>&1)" 'what 3 of 3 finished points start has changed in the recipe'

# ---- each node ----
cat >each.yaml <<'Y'
version: 1
name: each
roles:
  client: {command: [sh, -c, 'sleep 0.0$SLURM_NODEID; case $SLURMD_NODENAME in n3) echo "rate 70 op/s" ;; *) echo "rate 10${SLURMD_NODENAME#n} op/s" ;; esac']}
Y
salloc -Q -N8 "$BENCHWRAP" recipe run --each-node each.yaml >out 2>err
is "--each-node measures every node" "$? $("$BENCHWRAP" recipe report each --json | jq -c '[.[].each_node] | join(" ")')" '0 "n1 n2 n3 n4 n5 n6 n7 n8"'
like "and names the one that differs" "$(cat err)" 'n3 differs: 70, -[0-9.]+ % .false alarm in at most 5 %'
is "with a list for sbatch" "$(cat .benchwrap/campaigns/each/exclude)" n3

# ---- each pair ----
cat >pair.yaml <<'Y'
version: 1
name: pair
roles:
  client: {tasks: 2, command: [sh, -c, 'case $SLURM_STEP_NODELIST in *n3* | *n[[]2-3* | *n[[]3-4*) rate=70 ;; *) rate=10$((SLURM_STEP_ID % 7)) ;; esac; test "$SLURM_PROCID" != 0 || echo "rate $rate op/s"']}
Y
salloc -Q -N8 "$BENCHWRAP" recipe run --each-pair pair.yaml >out 2>err
is "--each-pair measures a ring of pairs" "$? $("$BENCHWRAP" recipe report pair --json | jq -c '[.[].each_node] | join(" ")')" '0 "n1+n2 n2+n3 n3+n4 n4+n5 n5+n6 n6+n7 n7+n8 n8+n1"'
like "names the node whose pairs both differ" "$(cat err)" ' n3 differs: 70, -[0-9.]+ %'
is "and not its neighbours" "$(cat .benchwrap/campaigns/pair/exclude)" n3

# ---- pyxis: srun starts the container; a stand-in for its plugin notes the options and takes them away ----
mkdir only2
cat >only2/srun <<S
#!/bin/bash
for a; do case \$a in --container-*) echo "\$a" >>$WORK/pyxis.log ;; *) set -- "\$@" "\$a" ;; esac; shift; done
exec $(command -v srun) "\$@"
S
chmod +x only2/srun
printf 'version: 1\nname: pyxis\nroles: {c: {command: [in-the-image, "{node}"], env: {X: y}, container: {runtime: pyxis, image: "/scratch/x.sqsh", binds: ["%s/inside:/usr/local/bin"]}}}\n' "$WORK" >pyxis.yaml
like "pyxis without Slurm" "$("$BENCHWRAP" recipe run --local pyxis.yaml 2>&1)" 'preflight: c: pyxis is a plugin of Slurm'
sed -i 's,"/scratch/x.sqsh",nvcr.io#x,; s/in-the-image, "{node}"/echo, "rate 3 op\/s"/' pyxis.yaml
PATH=$WORK/only2:$PATH salloc -Q -N1 "$BENCHWRAP" recipe run pyxis.yaml >out 2>err
is "a container of pyxis" "$? $("$BENCHWRAP" recipe report pyxis --json | jq -c '[.[].outcome]') $(sort -u pyxis.log | xargs)" "0 [\"valid\"] --container-env=X --container-image=nvcr.io#x --container-mounts=$WORK/inside:/usr/local/bin"

# ---- another job on a node ----
srun -Q -N1 -w n2 --job-name=other sleep 60 &
other=$!
wait_until '[ "$(squeue -h -t RUNNING -o %j)" = other ]'
printf 'version: 1\nname: shared\nsweep: {grid: {n: [1, 2]}}\nroles: {c: {command: [echo, "rate {n} op/s"]}}\n' >shared.yaml
salloc -Q -w n1,n2 "$BENCHWRAP" recipe run shared.yaml >out 2>err
like "a run beside another job is invalid" "$? $(cat err)" 'n=1: invalid in .*: another job ran on a node of the campaign'
kill $other
wait $other 2>/dev/null
wait_until '[ -z "$(squeue -h -o %j)" ]'
salloc -Q -w n1,n2 "$BENCHWRAP" recipe run shared.yaml >out 2>err
is "and measured again without it" "$? $("$BENCHWRAP" recipe report shared --json | jq -c '[.[].outcome]')" '0 ["valid","valid"]'

# ---- the end of the allocation is no failure of a point ----
if long_tests; then
sed "s/^name: tasks/name: lost/; s/test .*op\\/s\"'/sleep 2; echo rate 1 op\\/s'/" tasks.yaml >lost.yaml
salloc -Q --no-kill -N3 "$BENCHWRAP" recipe run lost.yaml >out 2>err &
wait_until 'grep -q begin .benchwrap/campaigns/lost/points.jsonl 2>/dev/null'
scancel "$(squeue -h -o %A)"
wait $!
is "scancel cancels the point" "$("$BENCHWRAP" recipe report lost --json | jq -c '[.[].outcome]')" '["cancelled","never ran","never ran"]'
like "and the campaign can continue" "$("$BENCHWRAP" recipe status lost)" '^lost: interrupted'
salloc -Q --no-kill -w n1,n2,n3 "$BENCHWRAP" recipe run lost.yaml >out 2>err &
wait_until '"$BENCHWRAP" recipe status lost | grep -q running && [ "$(squeue -h -s -o %j | grep -c bw-c)" != 0 ]'
scontrol update nodename=n1 state=down reason=lost
wait $!
like "so does a lost node" "$(cat err)" 'cancelled in .*: the node n1 is lost'
scontrol update nodename=n1 state=resume 2>/dev/null # unless it came back by itself
wait_until '[ "$(sinfo -h -N -n n1 -o %T)" = idle ]'
sed 's/^name: lost/name: silent\nnode_timeout: 2s/; s/1\.\.3/3/; s/sleep 2/sleep 60/' lost.yaml >silent.yaml
salloc -Q --no-kill -w n1,n2,n3 "$BENCHWRAP" recipe run silent.yaml >out 2>err &
wait_until '"$BENCHWRAP" recipe status silent | grep -q running && [ "$(squeue -h -s -o %j | grep -c bw-c)" != 0 ]'
sleep 1 # it has sent a sign of life
slurm_kill_node n2
wait $!
like "and one whose loss Slurm has not noticed" "$? $(cat err)" '^143 .*cancelled in .*: the node n2 is lost: it was silent for node_timeout'
slurm_restart_node n2
wait_until '[ "$(sinfo -h -N -n n2 -o %T)" = idle ]'
fi

# ---- the toolkit's recipe, with stand-ins for its images ----
mkdir bin images
touch images/vllm.sif images/python.sif
cat >bin/apptainer <<'S'
#!/bin/bash
# apptainer exec [--nv] [--bind X] IMAGE COMMAND…
shift
while [ "${1#--}" != "$1" ]; do [ "$1" = --bind ] && shift; shift; done
[ -r "$1" ] || { echo "no image $1"; exit 255; }
shift
exec "$@"
S
cat >bin/ray <<'S'
#!/bin/bash
for a; do case $a in --port=*) exec python3 -m http.server "${a#*=}" --bind 127.0.0.1 ;; --address=*) address=${a#*=} ;; esac; done
until (exec 3<>"/dev/tcp/${address%:*}/${address#*:}") 2>/dev/null; do sleep 0.05; done
echo "joined $address"; exec sleep 600
S
cat >bin/vllm <<'S'
#!/bin/bash
echo "vllm $*"
exec llmfake --listen "$4:$6" --model "$2" --tokens 4
S
chmod +x bin/*
sed "s,/project/containers,$WORK/images,; s/^partition:.*/partition: debug/; s/^account:.*//; s/^qos:.*//; s/\"2m\"/\"200ms\"/; s/\"1m\"/\"0s\"/; s/\[1, 4, 8\]/[1, 4]/; s/\[1, 8, 32\]/[1, 8]/; s/gpus: 4, cpus_per_task: 32, mem_gb: 128/gpus: 0, cpus_per_task: 4, mem_gb: 1/; s/gpus: 0, cpus_per_task: 8, mem_gb: 16/gpus: 0, cpus_per_task: 2, mem_gb: 1/" \
    "$ROOT/benchmarks/recipes/toolkit-vllm.yaml" >toolkit.yaml
PATH=$WORK/bin:$PATH salloc -Q -N4 -c8 "$BENCHWRAP" recipe run toolkit.yaml >out 2>err
is "the toolkit's recipe runs" "$?" 0
is "all its points are valid" "$("$BENCHWRAP" recipe report vllm-sweep --json | jq -c '[.[].outcome] | unique, length')" '["valid"]
8'
like "Ray's worker joined the head" "$(cat .benchwrap/campaigns/vllm-sweep/logs/server-worker.*.out)" '^joined 127.0.0.1:[0-9]+$'
like "vLLM got the keys below servers and below service_config" "$(cat .benchwrap/campaigns/vllm-sweep/logs/server-serve.*.out)" '--max-model-len 4096 --gpu-memory-utilization 0.9 --tensor-parallel-size 4 --pipeline-parallel-size 2'

if long_tests; then # batch jobs start slowly
# ---- a campaign as a job ----
cat >job.yaml <<'Y'
version: 1
name: job
sweep: {grid: {conc: [1, 2]}}
roles:
  server: {service: dummy, nodes: 2, with: {tokens: 4}}
  client: {command: [llmload, "{server.urls}", -c, "{conc}", -n, 20, --max-tokens, 4]}
batch: {time: "00:05:00"}
Y
"$BENCHWRAP" recipe run --submit --wait job.yaml >out 2>err
is "a submitted campaign" "$? $(grep -c '^job [0-9]' out)" "0 1" || cat .benchwrap/campaigns/job/job-*.log >&2
is "every point is valid" "$("$BENCHWRAP" recipe report job --json | jq -c '[.[].outcome]')" '["valid","valid"]'
is "roles run on nodes of their own" "$(ls .benchwrap/campaigns/job/logs | sed -n 's/\(.*\)\.out$/\1/p' | xargs)" "client.0.n3 server.0.n1 server.1.n2"

# ---- monitoring of all nodes ----
cat >watch.yaml <<'Y'
version: 1
name: watch
roles: {c: {nodes: 2, tasks: 2, command: [sh, -c, "sleep 4; echo rate 1 op/s"]}}
monitoring: {interval: 500ms, csv: watch.csv}
Y
salloc -Q -N2 "$BENCHWRAP" recipe run watch.yaml >out 2>err
is "every node is sampled" "$? $(cut -d, -f2 watch.csv | sort -u | xargs)" "0 n1 n2 node"
is "and no step is left" "$(squeue -h -s -o %j)" ""

# ---- endings ----
cat >long.yaml <<Y
version: 1
name: long
sweep: {grid: {n: 1..3}}
roles:
  server: {command: [sh, -c, "trap '' TERM; python3 -m http.server {port} --bind {host} --directory $WORK/$mark"], ports: {http: 0}, ready: {http: /}}
  client: {command: [sh, -c, "sleep 2; echo rate {n} op/s", "$mark"]}
grace: 1s
batch: {time: "00:05:00"}
Y
left() { pgrep -fa "$mark" | grep -vc benchwrap-core; }
"$BENCHWRAP" recipe run --submit long.yaml >out 2>err
job=$(sed 's/job //' out)
wait_until 'grep -q begin .benchwrap/campaigns/long/points.jsonl 2>/dev/null'
scancel --batch --signal=TERM "$job"
wait_until '[ -z "$(squeue -h -j "$job" -o %i 2>/dev/null)" ]'
wait_until '[ "$(left)" = 0 ]'
is "scancel ends the services" "$(left)" 0
like "and leaves a campaign that can continue" "$("$BENCHWRAP" recipe status long)" 'long: interrupted'
salloc -Q -N2 "$BENCHWRAP" recipe run long.yaml >out 2>err
is "which it does" "$? $("$BENCHWRAP" recipe report long --json | jq -c '[.[].outcome] | unique')" '0 ["valid"]'
is "no step is left" "$(squeue -h -s -o %j | grep -c bw-) $(left)" "0 0"
"$BENCHWRAP" recipe run --submit --new long.yaml >out 2>err
wait_until '"$BENCHWRAP" recipe status long | grep -q running'
echo "999999 another.host slurm:$(sed 's/job //' out)" >.benchwrap/campaigns/long/lock # as on a cluster, where jobs run on other hosts
is "stop ends a job" "$("$BENCHWRAP" recipe stop long)" 'stopped; `benchwrap recipe run` resumes it'
wait_until '[ -z "$(squeue -h -o %i)" ]'
is "with its services" "$(squeue -h -o %i) $(left)" " 0"
sed 's/^name: long/name: later/; s/^batch: {/batch: {options: [--hold], /' long.yaml >later.yaml
"$BENCHWRAP" recipe run --submit later.yaml >out 2>err
like "status of a job that has not begun" "$("$BENCHWRAP" recipe status later)" '^later: submitted as job slurm:[0-9]+, not begun'
like "stop cancels it" "$("$BENCHWRAP" recipe stop later)" '^the job [0-9]+ is cancelled; it had not begun'
is "and it is gone" "$(squeue -h -o %i)" ""
salloc -Q -N1 "$BENCHWRAP" recipe run --new long.yaml >out 2>err
like "too few nodes refuse a point" "$? $(cat err)" 'needs 2 nodes, and the allocation has 1'
fi
slurm_stop
done_testing
