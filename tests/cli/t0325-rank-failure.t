#!/bin/bash
# A launcher's message that a rank failed is a warning where the exit status hides it: behind a pipe, in a script that goes on.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
warned() # COMMAND…: the run's status, and the warnings of a failed rank
{
    rm -rf mlruns .benchwrap
    "$BENCHWRAP" -q -- "$@" >out 2>err
    "$BENCHWRAP" show --json | jq -r '.status, (.warnings[]? | .text // . | select(test("a rank failed")))' | xargs -d '\n'
}
launched() # PATTERN COMMAND…: the same; MPICH 4.0.2's mpirun dies of SIGPIPE by itself now and then on a busy machine, and is called again
{
    local pattern=$1 try got
    shift
    for try in 1 2 3 4 5; do
        got=$(warned "$@")
        [[ $got =~ $pattern ]] && break
    done
    echo "$got"
}
says='the exit status is 0, but a launcher reports that a rank failed:'
for mpi in mpich openmpi; do
    run=$(command -v mpirun.$mpi) || { skip "$mpi" "not installed"; continue; }
    [ $mpi = mpich ] && more= || more=--oversubscribe
    echo 'rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; [ "$rank" = 0 ] || kill -9 $$; sleep 0.2' >fails.sh
    like "$mpi: behind a pipe" "$(launched "^FINISHED $says" sh -c "$run $more -n 2 sh fails.sh 2>&1 | cat")" "^FINISHED $says (Primary job  term|=   BAD TERM|YOUR APPL|prterun noticed)"
    like "$mpi: in a script that goes on" "$(launched "^FINISHED $says" sh -c "$run $more -n 2 sh fails.sh; echo done")" "^FINISHED $says"
    is "$mpi: a status that tells it needs no warning" "$(launched '^FAILED$' "$run" $more -n 2 sh fails.sh)" FAILED
    is "$mpi: ranks that are well" "$(launched '^FINISHED$' "$run" $more -n 2 true)" FINISHED
done
while read -r line; do
    is "warned: $line" "$(warned printf '%s\n' before "$line" after)" "FINISHED $says $line"
done <<'L'
srun: error: n1: task 3: Exited with exit code 7
srun: error: n1: tasks 0-1: Killed
srun: error: node-2: task 1: Out Of Memory
mpirun detected that one or more processes exited with non-zero status, thus causing
prterun noticed that process rank 1 with PID 77 on node n1 exited on
MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
Abort(7) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 7)
flux-job: task(s) exited with exit code 3
n7: rank 3 died from signal 11 and dumped core
L
while read -r line; do
    is "not warned: $line" "$(warned printf '%s\n' "$line")" FINISHED
done <<'L'
task 3: Exited with exit code 7
srun: job 7 queued and waiting for resources
rank 3 of 4 exited with nothing
L
done_testing
