#!/bin/bash
# A real Slurm of 16 virtual nodes: what is asked of it, every node in one run, who ended a run, a controller that does not answer.
# sanitizer: long, because sixteen nodes' collectors with sanitizers take their time
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" "${!PMI_@}" "${!PMIX_@}" "${!OMPI_@}" 2>/dev/null
slurm_killwait=4
if ! slurm_start 16; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
chmod 755 "$WORK"
fresh() { rm -rf mlruns .benchwrap; }
shown() { "$BENCHWRAP" show --json | jq -r "$1"; }
nodes() { jq -r "$1" mlruns/*/*/artifacts/nodes.json; }
rpcs() { timeout 60 sdiag | sed -n '/by message type/,/by user/p' | sed -n "s/.*$1 *([ 0-9]*) count:\([0-9]*\).*/\1/p"; }

# ranks on 16 nodes, with a job name that looks like scontrol's lines
name='x
   UserId=root(0) GroupId=root(0) MCS_label=N/A
   JobState=FAKE Partition=fake NodeList=evil
   Command=/etc/passwd
JobState=FAKE'
timeout 60 sdiag -r >/dev/null 2>&1
timeout 600 srun -N16 -n32 -t 30 -J "$name" --comment="$name" "$BENCHWRAP" -q -- sh -c "touch began.\$SLURM_PROCID; while [ ! -e go ]; do sleep 0.1; done" </dev/null >out 2>&1 &
client=$!
# all have told of themselves and been sampled, then the program ends
ok "16 nodes: collectors tell" wait_until "[ \"\$(cat .benchwrap/nodes/*/* 2>/dev/null | grep -c '\"s\"')\" -ge 45 ]" 300
touch go
wait $client
is "16 nodes: status, output" "$? $(cat out)" "0 "
is "16 nodes: one run" "$("$BENCHWRAP" ls --json | jq length)" 1
is "16 nodes: hardware and samples of each" "$(nodes '[.nodes_told, ([.nodes[] | select(.name | test("^n[0-9]+$"))] | length), ([.nodes[] | select(.series["system/system_memory_usage_megabytes"].count > 0)] | length)] | map(tostring) | join(" ")')" "16 16 16"
is "16 nodes: they are alike" "$(shown '.params["nodes.count"], .params["nodes.types"]' | xargs)" "16 1"
ok "16 nodes: figures over them" test -s "$(echo mlruns/*/*/metrics/nodes.system_memory_usage_MB.max)"
ok "16 nodes: series of each other node" test "$(find mlruns/*/*/metrics/system -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 15
like "scontrol: the spoofed name changes no field" "$(shown '[.params["job.partition"], .params["job.time_limit_s"], .tags["job.nodelist"], .tags["job.batch_host"]] | join(" ")')" '^debug 1800 n\[1-16\] n1$'
is "scontrol: asked once for the job, which is two small calls" "$(rpcs REQUEST_JOB_INFO_SINGLE) $(rpcs REQUEST_FED_INFO) $(rpcs REQUEST_JOB_STEP_CREATE) $(rpcs REQUEST_NODE_INFO)" "1 1 1 "
is "ranks: their folder is gone" "$(ls .benchwrap/nodes 2>/dev/null)" ""
ok "ranks: no collector is left" wait_until "! pgrep -f -- '--node [0-9]+ -q -- sh -c touch began' >/dev/null" 300

# a launcher below us: one step for all other nodes; three runs in one job ask once
fresh
rm -f began.* go
timeout 60 sdiag -r >/dev/null 2>&1
cat >batch.sh <<S
#!/bin/sh
"$BENCHWRAP" -q -- srun -n16 sh -c 'while [ ! -e go ]; do sleep 0.1; done'
"$BENCHWRAP" -q -- srun -n16 echo
"$BENCHWRAP" -q --no-collect -- srun -n1 -N1 true
touch batch.done
S
sbatch -Q -N16 -n16 -o batch.log batch.sh
ok "launcher: the collectors' step tells" wait_until "[ \"\$(cat .benchwrap/spool/*/nodes.lines 2>/dev/null | grep -c '\"s\"')\" -ge 45 ]" 300
touch go
ok "launcher: the job ends" wait_until "[ -e batch.done ]" 300
is "launcher: nothing is said" "$(tr -d '\n' <batch.log)" ""
is "launcher: 16 nodes, their clocks; the next run has what lasts" \
    "$(jq -r '.collected_by, .nodes_told, ([.nodes[] | select(.clock_error_ms != null)] | length), ([.nodes[] | select((.recorder | not) and (.series | length > 0))] | length)' mlruns/*/*/artifacts/nodes.json | xargs -n4 | sort)" "step 16 1 0
step 16 16 15"
is "launcher: scontrol once for three runs, one step of collectors" "$(rpcs REQUEST_JOB_INFO_SINGLE) $(rpcs REQUEST_JOB_STEP_CREATE)" "1 4"
is "launcher: the others have the answer too" "$(cat mlruns/*/*/tags/job.submitted | sort -u | wc -l) $(cat mlruns/*/*/tags/job.submitted | wc -l)" "1 0"

# the scheduler ends a run: cancelled; killed with all its processes; requeued
fresh
timeout 300 srun -N2 -n2 "$BENCHWRAP" -q -- sh -c 'touch began; sleep 100' </dev/null >out 2>&1 &
client=$!
wait_until "[ -e began ]"
timeout 60 scancel "$(timeout 60 squeue -h -o %i)"
wait $client
wait_until "\"$BENCHWRAP\" sync --local >/dev/null 2>&1 && [ -e mlruns/*/*/meta.yaml ]" # on a busy machine KILL comes before the record is finished
like "scancel: KILLED, and by whom" "$(shown '.status, .reason' | xargs)" "^KILLED ((ended by signal TERM|exit status 143), sent by the scheduler(: cancelled)?|killed by the scheduler, with the recording, after SIGTERM)$"
if long_tests; then
    fresh
    rm -f began
    timeout 300 srun -N1 "$BENCHWRAP" -q -- sh -c 'trap "" TERM; touch began; while :; do sleep 0.2; done' </dev/null >out 2>&1 &
    client=$!
    wait_until "[ -e began ]"
    timeout 60 scancel "$(timeout 60 squeue -h -o %i)"
    wait $client
    wait_until "\"$BENCHWRAP\" sync --local >/dev/null 2>&1 && [ -e mlruns/*/*/meta.yaml ]"
    is "KillWait: closed afterwards, and true" "$(shown '.status, .tags["benchwrap.ended"]' | xargs)" "KILLED killed by the scheduler, with the recording, after SIGTERM"
fi

# a controller that does not answer: nothing waits for it before the program, and not long after
cat >dead.sh <<S
#!/bin/bash
kill -STOP $(cat "$slurm_dir/run/slurmctld.pid")
from=\$(date +%s%N)
"$BENCHWRAP" -q -- sh -c 'date +%s%N >began.at'
to=\$(date +%s%N)
echo \$(((\$(cat began.at) - from) / 1000000)) \$(((to - \$(cat began.at)) / 1000000)) >dead.ms
"$BENCHWRAP" -q -- true
kill -CONT $(cat "$slurm_dir/run/slurmctld.pid")
S
chmod +x dead.sh
for _ in 1 2 3 4 5; do # the fastest is no matter of the machine's load
    fresh
    timeout 300 salloc -Q -N1 ./dead.sh >out 2>&1
    read -r start end <dead.ms
    [ "$start" -ge 2000 ] || [ "$end" -ge 4000 ] || break
done
ok "dead controller: the program does not wait for it ($start ms)" test "$start" -lt 2000
ok "dead controller: the end does not wait for its five seconds ($end ms)" test "$end" -lt 4000
is "dead controller: the reason, in both runs" "$(for r in last last~1; do "$BENCHWRAP" show $r --json | jq -r '.missing[] | select(.key == "job.allocation").reason'; done | sort -u)" "scontrol: no answer within 0.3 s of the program's end"
slurm_stop
done_testing
