#!/bin/bash
# The nodes of a job when things go wrong: no shared file system, a killed recorder, a killed collector, a node that differs, the time limit of the job.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" 2>/dev/null
slurm_killwait=3
if ! slurm_start 4; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
chmod 755 "$WORK"
fresh() { rm -rf mlruns .benchwrap began; }
nodes() { jq -r "$1" mlruns/*/*/artifacts/nodes.json | xargs; }
missing() { "$BENCHWRAP" show --json | jq -r ".missing[] | select(.key == \"$1\").reason"; }
job_id() { timeout 10 squeue -h -o %i | head -n 1; }

# ranks whose collectors write where the recorder does not look
cat >apart.sh <<S
#!/bin/sh
[ "\$SLURM_PROCID" = 0 ] || { BENCHWRAP_TREE=$WORK/elsewhere.\$SLURM_PROCID/mlruns; export BENCHWRAP_TREE; }
exec "$BENCHWRAP" -q -- sleep 20
S
chmod +x apart.sh
timeout 120 srun -N4 -n4 ./apart.sh </dev/null >out 2>&1
is "no shared file system: the step brings it" "$(nodes '.collected_by, .nodes_told, ([.nodes[] | select(.series | length > 0)] | length)')" "step 4 4"
fresh
BENCHWRAP_NO_COLLECT=1 timeout 60 srun -N2 -n2 "$BENCHWRAP" -q -- sleep 1 </dev/null
timeout 60 salloc -Q -N2 -n2 "$BENCHWRAP" -q --no-collect -- srun sleep 1 </dev/null
is "--no-collect" "$(find mlruns -name nodes.json | wc -l) $("$BENCHWRAP" ls --json | jq length)" "0 2"

# the recorder is killed: what the nodes have told is in the closed run
fresh
timeout 60 srun -N3 -n3 "$BENCHWRAP" -q -- sh -c 'touch began; sleep 6' </dev/null >out 2>&1 &
client=$!
wait_until "[ -e began ] && [ \"\$(cat .benchwrap/spool/*/nodes.lines 2>/dev/null | grep -c '\"s\"')\" -ge 4 ]"
for pid in $(pgrep -x benchwrap-rec); do [ "$(readlink /proc/"$pid"/cwd)" = "$WORK" ] && kill -9 "$pid"; done
wait $client
is "a killed recorder: the program goes on" $? 0
"$BENCHWRAP" sync --local >/dev/null 2>&1
is "a killed recorder: the nodes are in the run" "$("$BENCHWRAP" show --json | jq -r .status) $(nodes '.nodes_told')" "KILLED 3"

# a collector is killed, another one's lines are damaged
fresh
timeout 60 srun -N3 -n3 "$BENCHWRAP" -q -- sh -c 'touch began; sleep 6' </dev/null >out 2>&1 &
client=$!
wait_until "[ \"\$(ls .benchwrap/nodes/* 2>/dev/null | wc -l)\" -ge 2 ] && [ \"\$(cat .benchwrap/spool/*/nodes.lines 2>/dev/null | grep -c '\"s\"')\" -ge 4 ]"
for f in .benchwrap/nodes/*/n3; do printf 'rubbish\n00000000 n3 ["p","node.type","evil"]\n\0\377\n' >>"$f"; done
mkfifo .benchwrap/nodes/"$(ls .benchwrap/nodes)"/n7
ln -s /etc/passwd .benchwrap/nodes/"$(ls .benchwrap/nodes)"/n8
for pid in $(pgrep -x benchwrap-node); do grep -qz SLURMD_NODENAME=n2 /proc/"$pid"/environ && grep -qz "SLURM_CONF=$SLURM_CONF" /proc/"$pid"/environ && kill -9 "$pid"; done
wait $client
is "a killed collector, rubbish in a file: the run is whole" "$("$BENCHWRAP" show --json | jq -r .status) $(nodes '.nodes_told, ([.nodes[] | select(.complete) | .name] | sort | join(","))')" "FINISHED 3 n1,n3"
is "and nothing of the rubbish is in it" "$(grep -rl 'evil\|root:' mlruns | wc -l)" 0

# nodes that differ
fresh
cat >differ.sh <<S
#!/bin/sh
exec "$BENCHWRAP" -q -- sh -c 'sleep 4'
S
chmod +x differ.sh
timeout 60 srun -N3 -n3 sh -c 'if [ "$SLURM_PROCID" = 2 ]; then exec taskset -c 0 ./differ.sh; else exec ./differ.sh; fi' </dev/null >out 2>&1
is "three nodes, whatever their binding" "$(nodes '.nodes_told')" 3
like "what differs is told of each" "$(nodes '[.nodes[] | .facts | keys[]] | unique | join(" ")')" 'bound|affinity|allowed'

# the time limit of the job: TERM, and then a program that does not care
for kind in cares ignores; do
    fresh
    trap_line=:
    [ $kind = cares ] || trap_line='trap "" TERM'
    timeout 240 srun -N2 -n2 -t 1 "$BENCHWRAP" -q -- sh -c "$trap_line; touch began; for i in \$(seq 200); do sleep 1; done" </dev/null >out 2>&1
    wait_until "\"$BENCHWRAP\" sync --local >/dev/null 2>&1 && [ -e mlruns/*/*/meta.yaml ]"
    like "time limit, the program $kind" "$("$BENCHWRAP" show --json | jq -r '.status, .tags["benchwrap.ended"]' | xargs)" \
        '^KILLED (.*: the end of the allocation \(its time limit\) was reached|killed by the scheduler, with the recording, after SIGTERM)$'
    is "time limit, the program $kind: its nodes" "$(nodes '.nodes_told')" 2
done

# a full disk: the program does not notice
fresh
if mkdir small && mount -t tmpfs -o size=300k tmpfs small 2>/dev/null; then
    timeout 60 srun -N2 -n2 --chdir="$WORK/small" "$BENCHWRAP" -q -- sh -c 'head -c 400000 /dev/zero >fill 2>/dev/null; sleep 3; echo here' </dev/null >out 2>err
    is "a full disk: status and output" "$? $(grep -c here out)" "0 2"
    umount small
else
    skip_here "a full disk" "no tmpfs can be mounted"
fi
ok "nothing is left" wait_until "! pgrep -x benchwrap-node | while read -r p; do grep -qz \"SLURM_CONF=$SLURM_CONF\" /proc/\$p/environ && echo x; done | grep -q x"
slurm_stop
done_testing
