#!/bin/bash
# mpirun of Open MPI and mpiexec of MPICH over several nodes of a Slurm job, in a batch script: one run, each node's hardware and samples, by
# its own name, whoever starts the ranks.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit 1
unset "${!SLURM_@}" "${!PMI_@}" "${!PMIX_@}" "${!OMPI_@}" 2>/dev/null
for tool in mpirun.openmpi mpiexec.mpich; do
    command -v $tool >/dev/null || { skip "MPI" "$tool is not installed"; done_testing; exit 0; }
done
if ! unshare --uts true 2>/dev/null; then
    skip_here "nodes with names of their own" "no name space of names can be made"
    done_testing
    exit 0
fi
slurm_names=1
if ! slurm_start 3; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
chmod 755 "$WORK"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
nodes() { jq -r "$1" mlruns/*/*/artifacts/nodes.json; }
job() # LINE…: a batch job of it, to its end
{
    rm -rf mlruns .benchwrap out.* job.log
    printf '#!/bin/bash\n%s\necho status $?\n' "$1" >batch.sh
    timeout 300 sbatch -Q --wait -N3 -n6 -o job.log batch.sh
}
prog='sh -c "sleep 6; echo x >out.\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}"'
openmpi="mpirun.openmpi -n 6 --map-by node --oversubscribe"
mpich="mpiexec.mpich -localhost 127.0.0.1 -n 6 -ppn 2"
for mpi in openmpi mpich; do
    for profile in private public; do
        job "${!mpi} \"$BENCHWRAP\" -q --profile $profile -- $prog"
        like "$mpi, $profile, a rank records: the job's end" "$(cat job.log)" '^status 0$'
        is "$mpi, $profile, a rank records: one run, six ranks" "$("$BENCHWRAP" ls --json | jq length) $(ls out.? | wc -l)" "1 6"
        is "$mpi, $profile, a rank records: the nodes" "$(nodes '[.collected_by, .nodes_told, ([.nodes[].name] | unique | length), ([.nodes[] | select(.series["system/system_memory_usage_megabytes"].count > 0)] | length)] | join(" ")')" "ranks 3 3 3"
        [ $profile = public ] || is "$mpi, a rank records: their names" "$(nodes '[.nodes[].name] | sort | join(" ")')" "n1 n2 n3"
    done
    job "\"$BENCHWRAP\" -q -- ${!mpi} $prog"
    like "$mpi below: the job's end" "$(cat job.log)" '^status 0$'
    is "$mpi below: one run, six ranks" "$("$BENCHWRAP" ls --json | jq length) $(ls out.? | wc -l)" "1 6"
    is "$mpi below: the nodes" "$(nodes '[.collected_by, .nodes_told, ([.nodes[].name] | sort | join("")), ([.nodes[] | select(.series["system/system_memory_usage_megabytes"].count > 0)] | length)] | join(" ")')" "step 3 n1n2n3 3"
    is "$mpi below: the shape is the launcher's" "$("$BENCHWRAP" show --json | jq -r '[.params["step.tasks"], .params["nodes.count"]] | join(" ")')" "6 3"
done
slurm_stop
done_testing
