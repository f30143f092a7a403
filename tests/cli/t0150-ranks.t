#!/bin/bash
# Ranks: one recording process per parallel program, under real MPI launchers and a real scheduler.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/launch.sh"
. "$TESTLIB/slurm.sh"
compile count-signals
cd "$WORK" || exit 1
unset "${!SLURM_@}" "${!PMI_@}" "${!PMIX_@}" "${!OMPI_@}" 2>/dev/null
cat >ranks.sh <<'S'
# what each rank tells: is it below a recorder?
echo "rank ${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:--}}} ${BENCHWRAP_RUN_ID:+recorded}"
S
recorded() { grep -c recorded; }
told() { tr ' ' '\n' <"$FAKE_DIR/ended" | sed -n "s/^$1=//p"; }

# MPICH's mpirun of Debian 12 (4.0.2) dies of SIGPIPE in some of a hundred calls on a busy machine, also without benchwrap: by itself before its first rank
# starts, in a step of Slurm also behind the output of one, two or all three ranks (3 of 150 calls).
again() # COMMAND…: its output in out and err, its status in $again_status; up to five times while mpirun dies so. $in_step: mpirun is a step's task.
{
    local try
    for try in 1 2 3 4 5; do
        rm -f "$FAKE_DIR"/ended
        "$@" >out 2>err </dev/null
        again_status=$?
        [ $again_status = 141 ] && { [ -n "${in_step:-}" ] || [ ! -s out ]; } || return 0
        echo "# mpirun died of SIGPIPE, try $try"
    done
}
for mpi in openmpi mpich; do
    if ! command -v mpirun.$mpi >/dev/null; then
        skip "mpirun.$mpi" "not installed"
        continue
    fi
    run=(timeout 300 mpirun.$mpi)
    [ $mpi = openmpi ] && run+=(--allow-run-as-root --oversubscribe)
    again "${run[@]}" -n 4 "$LAUNCH" -q -- sh ranks.sh
    is "$mpi: four ranks, one is recorded" "$(grep -c rank out) $(recorded <out)" "4 1"
    is "$mpi: it is rank 0 of 4" "$(told rank) $(told ranks) $(told scope)" "0 4 rank0"
    again "${run[@]}" -n 3 "$LAUNCH" -q --per-rank -- sh ranks.sh
    is "$mpi: --per-rank records each" "$(grep -c rank out) $(recorded <out) $(told scope)" "3 3 rank"
    again "$LAUNCH" -q -- "${run[@]}" -n 3 sh ranks.sh
    is "$mpi: seen through from outside" "$(grep -c rank out) $(told scope)" "3 launcher"
    rm -f "$FAKE_DIR"/ended
    again "$LAUNCH" -q -- "${run[@]}" -n 2 sh -c "exec \"$LAUNCH\" -q -- sh -c 'cp \"$FAKE_DIR/ended\" inner 2>/dev/null; sh ranks.sh'"
    is "$mpi: a run inside a run" "$(grep -c rank out)" 2
    again "${run[@]}" -n 4 "$LAUNCH" -q -- sh -c 'exit 0'
    is "$mpi: status" "$again_status" 0
done

if ! slurm_start 2; then
    skip "Slurm" "$slurm_why"
    done_testing
    exit 0
fi
chmod 755 "$WORK"
timeout 300 srun -N2 -n4 "$LAUNCH" -q -- sh ranks.sh >out 2>err </dev/null
is "srun: four tasks, one is recorded" "$(grep -c rank out) $(recorded <out)" "4 1"
is "srun: it knows its place" "$(told source) $(told rank) $(told ranks) $(told scope)" "SLURM_PROCID 0 4 rank0"
timeout 300 srun -n2 "$LAUNCH" -q --per-rank -- sh ranks.sh >out 2>err </dev/null
is "srun: --per-rank" "$(recorded <out)" 2
timeout 300 salloc -Q -n2 "$LAUNCH" -q -- sh ranks.sh >out 2>err </dev/null
is "salloc: the shell is no rank" "$(recorded <out) $(told scope)" "1 process"
timeout 300 salloc -Q -n3 srun "$LAUNCH" -q -- sh ranks.sh >out 2>err </dev/null
is "salloc, srun" "$(grep -c rank out) $(recorded <out)" "3 1"
cat >batch.sh <<S
#!/bin/sh
"$LAUNCH" -q -- sh -c 'env | grep "^SLURM_STEP\|^SLURM_PROCID" >batch.env; sh ranks.sh' >batch.out
cp "$FAKE_DIR/ended" batch.ended
srun -n2 "$LAUNCH" -q -- sh ranks.sh >step.out
"$LAUNCH" -q -- srun -n2 sh ranks.sh >outside.out
cp "$FAKE_DIR/ended" outside.ended
S
timeout 300 sbatch --wait -n2 -o batch.log batch.sh >/dev/null 2>&1
is "sbatch: the batch shell is no rank" "$(recorded <batch.out) $(tr ' ' '\n' <batch.ended | sed -n 's/^scope=//p')" "1 process"
is "sbatch, srun" "$(grep -c rank step.out) $(recorded <step.out)" "2 1"
is "sbatch: srun seen through" "$(grep -c rank outside.out) $(tr ' ' '\n' <outside.ended | sed -n 's/^scope=//p')" "2 launcher"
if command -v mpirun.mpich >/dev/null; then
    again timeout 300 salloc -Q -n2 mpirun.mpich -launcher fork -n 2 "$LAUNCH" -q -- sh ranks.sh
    is "salloc, mpirun" "$(grep -c rank out) $(recorded <out) $(told source)" "2 1 PMI_RANK"
    in_step=1 again timeout 300 srun -n1 mpirun.mpich -launcher fork -n 3 "$LAUNCH" -q -- sh ranks.sh
    is "mpirun in a step" "$(grep -c rank out) $(recorded <out) $(told source)" "3 1 PMI_RANK"
fi
printf '#!/bin/sh\n"%s" -q -- sh ranks.sh >array.$SLURM_ARRAY_TASK_ID\n' "$LAUNCH" >array.sh
timeout 300 sbatch --wait -a 1-2 -n1 -o /dev/null array.sh >/dev/null 2>&1
is "array: a run for each task" "$(cat array.1 array.2 | recorded)" 2

# signals of the scheduler: each exactly once
job_id() { timeout 60 squeue -h -o %i | head -n 1; }
for kind in step batch; do
    rm -f counts*
    if [ $kind = step ]; then
        timeout 300 srun -n1 "$LAUNCH" -q -- "$WORK/count-signals" "$WORK/counts" </dev/null >out 2>&1 &
    else
        printf '#!/bin/sh\nexec "%s" -q -- "%s" "%s"\n' "$LAUNCH" "$WORK/count-signals" "$WORK/counts" >job.sh
        timeout 300 sbatch --wait -n1 -o /dev/null job.sh >/dev/null 2>&1 &
    fi
    client=$!
    wait_until '[ -s counts.ready ]'
    sleep 0.3
    option=
    [ $kind = batch ] && option=--full
    for s in USR1 USR2 TERM HUP; do
        timeout 60 scancel $option -s $s "$(job_id)"
        sleep 0.7
    done
    touch counts.stop
    wait $client
    is "$kind: scancel --signal: each exactly once" "$(tr '\n' ' ' <counts)" "1 1 10 1 12 1 15 1 "
done
rm -f counts*
timeout 300 srun -n1 "$LAUNCH" -q -- sh -c 'trap "echo term >>got" TERM; echo up >counts.ready; while :; do sleep 0.1; done' </dev/null >out 2>&1 &
client=$!
wait_until '[ -s counts.ready ]'
timeout 60 scancel "$(job_id)"
wait $client
sleep 0.3
is "scancel: TERM once, KILL after the grace" "$(cat got)" term
slurm_stop
done_testing
