#!/bin/bash
# The allocation and the step in it: what a launcher below benchwrap got, what ranks in a step see, heterogeneous jobs, idle nodes.
# early, because it takes long
# sanitizer: long, because nodes' collectors with sanitizers take their time
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" "${!PMI_@}" "${!PMIX_@}" "${!OMPI_@}" 2>/dev/null
if ! slurm_start 4; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
chmod 755 "$WORK"
fresh() { rm -rf mlruns .benchwrap go out; }
shape() { "$BENCHWRAP" show --json | jq -r '.params as $p | ["job.nodes", "job.tasks", "step.nodes", "step.tasks", "nodes.count"] | map($p[.] // "-") | join(" ")'; }
missing() { "$BENCHWRAP" show --json | jq -r ".missing[] | select(.key == \"$1\").reason"; }
nodes() { jq -r "$1" mlruns/*/*/artifacts/nodes.json | xargs; }
mkfifo ended
exec 9<>ended
in_job() # ARGS... -- COMMAND: the command as a batch script of a job with these options
{
    options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    fresh
    printf '#!/bin/bash\n%s >out 2>&1\necho >ended\n' "$*" >batch.sh
    job=$(timeout 60 sbatch -Q --parsable -o /dev/null -D "$WORK" "${options[@]}" batch.sh) || return
    # The script reports its end: sbatch --wait asks at growing intervals, and would sleep through half of this file's time.
    read -rt 600 -u 9 && wait_until '[ -z "$(timeout 5 squeue -h -j "$job")" ]'
}
bw="$BENCHWRAP -q"

in_job -N3 -n3 -- "$bw -- srun -n2 sleep 4"
is "srun -n2 in three nodes: job, step, nodes" "$(shape)" "3 3 2 2 2"
is "srun -n2: the idle node is marked, and has no series in the run" "$(nodes '[.nodes[] | select(.used) | .name] | sort | join(",")') $(ls mlruns/*/*/metrics/system | grep -c '^n[0-9]*$')" "n1,n2 1"
is "srun -n2: statistics are over two nodes" "$(cat mlruns/*/*/metrics/nodes.system_memory_usage.sum_MB mlruns/*/*/metrics/nodes.system_memory_usage_MB.mean | awk '{v[NR] = $2} END {printf "%.3f", v[1] / v[2]}')" 2.000
in_job -N4 -n12 -- "$bw -- srun -N1 -n3 sleep 3"
is "srun -N1 -n3 in four nodes" "$(shape)" "4 12 1 3 1"
in_job -N3 -- "$bw -- srun -N2 -n2 -x n1 sleep 4"
is "srun -x: two of three nodes" "$(shape)" "3 - 2 2 2"
like "srun -x: the recorder's node is none of them" "$("$BENCHWRAP" show --json | jq -r '[.warnings[].text? // .warnings[] | select(test("ran on other nodes"))] | join("+")')" "^the program ran on other nodes than benchwrap[^+]*$"
in_job -N3 -- "$bw --no-collect -- srun -N1 -n1 -x n1 sleep 3"
is "srun -x without collectors: the same is said once" "$("$BENCHWRAP" show --json | jq -c '[.warnings[].text? // .warnings[] | select(test("ran on other nodes"))] | length')" 1
in_job -N3 -n6 -- "$bw -- srun sleep 3"
is "srun as the job" "$(shape)" "3 6 3 6 3"
in_job -N3 -- "$bw -- timeout 50 srun -J \$'x\n   Nodes=9 CPUs=9 Tasks=9 Name=y\n   SrunHost:Pid=vm:1' -n2 sleep 4"
is "a step's name that looks like scontrol's lines changes nothing" "$(shape | cut -d' ' -f1,4) $("$BENCHWRAP" show --json | jq -r '.params["step.nodes"] // "-"' | grep -c '^[2-]$')" "3 2 1"
in_job -N3 -- "$bw --profile public -- srun -n2 sleep 4"
is "public: the same, by numbers" "$(shape) $(nodes '[.nodes[] | select(.used) | .name] | sort | join(",")')" "3 - 2 2 2 node001,node002"
ok "public: no name of a node" sh -c '! grep -rqw "n[1-4]" mlruns/*/*/artifacts/nodes.json mlruns/*/*/params'

# a step that is over before Slurm is asked, and one of which Slurm is not asked
in_job -N3 -- "$bw -- srun -n2 true"
like "too short: the tasks, and why not the nodes" "$(shape) $(missing step.nodes)" '^3 - (2 2 2 |- 2 - the step had ended before Slurm reported it)'
in_job -N3 -- "$bw --no-scontrol -- srun -n2 sleep 2"
like "--no-scontrol: missing, and no figures over nodes" "$(shape) $(missing step.nodes)$(missing nodes.count)$(ls mlruns/*/*/metrics | grep -c '^nodes\.')" "^3 - - 2 - the launcher's options do not state on how many nodes.*is not known.*0\$"

# many runs in one job: one collectors' step a minute
in_job -N3 -- "$bw -- srun -n2 sleep 3
$bw -- srun -n2 sleep 3"
like "a second run within a minute starts no step of its own" "$("$BENCHWRAP" show --json | jq -r '.missing | tostring')" 'samples of the other nodes: a step for them was started in this job [0-9]+ s ago, and there is at most one a minute'

in_job -N2 -n8 -- "$bw -- srun --ntasks-per-node=2 sleep 2"
like "srun --ntasks-per-node that srun ignores" "$(shape | cut -d' ' -f1-4) $("$BENCHWRAP" show --json | jq -r '.params["step.tasks_per_node"] // "-"')" '^2 8 (2 8|- -) -$'

# ranks in a step of a larger job
in_job -N3 -n6 -- "srun -N2 -n4 $bw -- sleep 3"
is "srun -N2 -n4 benchwrap: job, step, nodes" "$(shape)" "3 - 2 4 2"
is "the other forms of the shape" "$("$BENCHWRAP" show --json | jq -r '.params["step.tasks_per_node"], .params["slurm.job_nodes"] // "-"' | xargs)" "3,1 -"

# a launcher in a shell that is itself a step (srun --pty bash), and in each of several ranks: its step is not the one around it
in_job -N3 -- "srun -N1 -n1 $bw -- srun --overlap -N2 -n2 sleep 4"
is "srun in a step of one task" "$(shape | cut -d' ' -f1-4)" "3 - 2 2"
in_job -N3 -n6 -- "SLURM_NTASKS=2 SLURM_NPROCS=2 $bw -- srun sleep 1"
is "variables that were changed in the job: the number of its tasks is missing" "$(shape | cut -d' ' -f1,2) $(missing job.tasks)" \
    "3 - SLURM_NTASKS is 2, but SLURM_TASKS_PER_NODE lists 6: one of them was changed in the job"
in_job -N3 -n3 -- "SLURM_NNODES=2 SLURM_JOB_NUM_NODES=2 $bw -- srun -n2 sleep 2"
is "... and of its nodes" "$(shape | cut -d' ' -f1,2) $(missing job.nodes)" \
    "- 3 the variables of Slurm state 2 nodes, but SLURM_JOB_NODELIST lists 3: one of them was changed in the job"
cpus() { "$BENCHWRAP" show --json | jq -r '.params["step.cpus_per_task"] // "-"'; }
in_job -N2 -n4 -c2 -- "SRUN_CPUS_PER_TASK=2 $bw -- srun -n3 sleep 0.1"
is "SRUN_CPUS_PER_TASK is what srun reads" "$(cpus)" 2
in_job -N2 -n4 -c2 -- "$bw -- env SRUN_CPUS_PER_TASK=2 srun -n3 -c1 sleep 0.1"
is "... unless it has -c" "$(cpus)" 1
in_job -N2 -n4 -c2 -- "$bw -- env SRUN_CPUS_PER_TASK=2 srun -n3 sleep 0.1"
is "... or from env in the line" "$(cpus)" 2
if long_tests; then
    in_job -N3 -n3 -- "scontrol update jobid=\$SLURM_JOB_ID numnodes=2; $bw -- srun -n2 sleep 2"
    like "the step of the collectors fails: srun's error, not a notice before it" "$("$BENCHWRAP" show --json | jq -r '.missing[].reason | select(test("step of the collectors"))')" \
        "^the step of the collectors: srun: error: "
    in_job -N3 -n3 -- "srun -N2 -n2 $bw -- srun --overlap -N1 -n1 sleep 4"
    is "srun in each rank of a step: the launch, not the step around it" "$(shape | cut -d' ' -f1-4)" "3 - 1 1"
    in_job -N3 -- "scontrol update JobId=\$SLURM_JOB_ID NumNodes=2; $bw -- srun --overlap sleep 2"
    like "a job that was resized" "$("$BENCHWRAP" show --json | jq -r '[.warnings[].text? // .warnings[]] | join("+")')" \
        'job.nodes is 3 by the environment, but Slurm states 2: the job was resized, or a variable was changed'
fi

# heterogeneous jobs: every component
in_job -N1 -n1 : -N2 -n2 -- "$bw -- srun --het-group=0 -n1 sleep 3 : --het-group=1 -n2 sleep 3"
is "heterogeneous: the launcher's step has all components" "$(shape | cut -d' ' -f1-4)" "3 3 3 3"
in_job -N1 -n1 : -N2 -n2 -- "$bw -- srun --het-group=1 -n2 sleep 3"
is "heterogeneous: one component alone" "$(shape | cut -d' ' -f1-4)" "3 3 2 2"
in_job -N1 -n1 : -N2 -n2 -- "srun --het-group=0,1 $bw -- sleep 3"
is "heterogeneous: ranks of all components" "$(shape | cut -d' ' -f1-4)" "3 - 3 3"
in_job -N1 -n1 : -N2 -n4 -- "$bw -- sleep 1"
is "heterogeneous: the batch script" "$(shape)" "3 5 - - -"
is "heterogeneous: what scontrol has of one component is missing" "$("$BENCHWRAP" show --json | jq -r '.tags["job.nodelist"], .params["job.cpus_per_node"]' | xargs) $(missing slurm.job_cpus)" \
    "n1,n[2-3] 1,3,1 scontrol reports one component of this heterogeneous job"

slurm_stop
done_testing
