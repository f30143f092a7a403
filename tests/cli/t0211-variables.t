#!/bin/bash
# The variables, folder and file of the program are those that it gets where a starter in the command line changes them, or missing with the reason.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
unset BENCHWRAP_TREE SLURM_EXPORT_ENV
mkdir bin other && PATH=$WORK/bin:$PATH
for p in srun mpirun mpiexec docker apptainer sudo ssh conda strace likwid-pin systemd-run; do printf '#!/bin/sh\nfor last; do :; done\nexec true\n' >bin/$p && chmod +x bin/$p; done
printf '#!/bin/sh\n: one\n' >prog && printf '#!/bin/sh\n: another one\n' >other/prog && chmod +x prog other/prog
cp other/prog bin/found && cp prog other/found

export OMP_NUM_THREADS=8 LANG=C APPTAINERENV_MKL_NUM_THREADS=3
recorded() { "$BENCHWRAP" -q -- "$@" >/dev/null 2>err || cat err; } # LINE…
fact() { "$BENCHWRAP" show --json last | jq -r "${1:-.params[\"env.omp_num_threads\"]} // empty"; } # FILTER
why() { jq -r ".missing[]? | select(.key == \"$1\") | .reason" "$(ls -td mlruns/*/*/artifacts/benchwrap.json | head -n 1)"; } # KEY
threads() # EXPECTED LINE…: the value, "none" where it is not set, or words of the reason
{
    local expected=$1 value missing
    shift
    recorded "$@"
    value=$(fact) missing=$(why env.omp_num_threads)
    like "$*" "${value:-${missing:-none}}" "^$expected"
}
threads 8 ./prog
threads 4 env OMP_NUM_THREADS=4 ./prog
threads none env -u OMP_NUM_THREADS ./prog
threads none env - ./prog
threads 6 mpirun -np 1 -x OMP_NUM_THREADS=6 ./prog
threads 7 mpiexec -n 1 -genv OMP_NUM_THREADS 7 ./prog
threads none srun -n1 --export=NONE ./prog
threads 'docker starts the program with variables of its own' docker run image ./prog
threads 2 docker run -e OMP_NUM_THREADS=2 image ./prog
threads none apptainer exec -ce i.sif ./prog
threads 'sudo starts' sudo ./prog
threads 8 sudo --preserve-env=OMP_NUM_THREADS ./prog
threads 'ssh connects to a server' ssh n1 ./prog
threads 'likwid-pin may set it' likwid-pin -c 0 ./prog
threads 'an argument of the program may set it' sh -c 'OMP_NUM_THREADS=4 ./prog'
threads 'an argument of the program may set it' bash -c 'unset OMP_NUM_THREADS; ./prog'
threads 8 sh -c 'echo $OMP_NUM_THREADS ${OMP_NUM_THREADS:-1}'
threads 'a command in an argument' sh -c 'env -i ./prog'

# Variables that benchwrap's own environment lacks, and the artifact.
recorded env MKL_NUM_THREADS=5 GREETING=hello sh -c 'KMP_BLOCKTIME=1 ./prog'
is "what only the line sets" "$(fact '.params["env.mkl_num_threads"]') $(why env.kmp_blocktime)" "5 an argument of the program may set it"
environment=$(ls -td mlruns/*/*/artifacts/environment.txt | head -n 1)
is "environment.txt has the line's changes" "$(grep -E '^(MKL_NUM_THREADS|GREETING|OMP_NUM_THREADS|LANG|KMP)' "$environment" | sort | xargs)" "GREETING=hello LANG=C MKL_NUM_THREADS=5 OMP_NUM_THREADS=8"
is "… and --columns shows them" "$("$BENCHWRAP" ls -n 1 --columns env.MKL_NUM_THREADS --format csv | tail -n 1 | tr -d '\r')" 5
recorded docker run image ./prog
is "environment.txt of a container: the job's, without what tunes programs" "$(grep -cE '^OMP_' "$(ls -td mlruns/*/*/artifacts/environment.txt | head -n 1)") $(grep -c '^LANG=C' "$(ls -td mlruns/*/*/artifacts/environment.txt | head -n 1)")" "0 1"
recorded apptainer exec i.sif ./prog
is "APPTAINERENV_NAME is NAME in the container" "$(fact '.params["env.mkl_num_threads"]')" 3
recorded mpirun --mca btl self,tcp -np 1 ./prog
is "--mca is a variable of the program" "$(fact '.params["env.ompi_mca_btl"]')" self,tcp
"$BENCHWRAP" -q --sweep t=1,2 -- env OMP_NUM_THREADS={t} ./prog >/dev/null 2>&1
is "the parent run of a sweep knows none" "$(why env.omp_num_threads) $(fact)" "each point of the sweep may set its own "
is "… its points do" "$("$BENCHWRAP" ls -c -n 2 --json | jq -r '.[].id' | while read -r id; do "$BENCHWRAP" show --json "$id" | jq -r '.params["env.omp_num_threads"]'; done | sort | xargs)" "1 2"

# The file of the program.
sum() { sha256sum <"$1" | cut -d' ' -f1; } # FILE
recorded ./prog
is "the program here" "$(fact '.params["program.sha256"]')" "$(sum prog)"
recorded env -C other ./prog
is "env -C: the program there" "$(fact '.params["program.sha256"]')" "$(sum other/prog)"
recorded found
is "by PATH" "$(fact '.params["program.sha256"]')" "$(sum bin/found)"
recorded env PATH="$WORK/other:/bin" found
is "by the PATH that the line sets" "$(fact '.params["program.sha256"]')" "$(sum other/found)"
for line in "docker run image $WORK/prog" "apptainer exec i.sif ./prog" "conda run -n e found" "sudo found"; do
    recorded $line
    is "$line: its file is not known" "$(fact '.params["program.sha256"]')" ""
    like "… for a reason" "$(why program.sha256)" "${line%% *} (starts the program in another root|may set it)"
done

long_tests || { done_testing; exit; }
threads 2 env OMP_NUM_THREADS=4 env OMP_NUM_THREADS=2 ./prog
threads none env -i PATH=/bin ./prog
threads 5 env -iu LANG OMP_NUM_THREADS=5 ./prog
threads 8 mpirun -np 1 -x OMP_NUM_THREADS ./prog
threads 'which variables mpiexec sets' mpiexec -n 1 -genvlist LANG ./prog
threads 3 srun -n1 --export=ALL,OMP_NUM_THREADS=3 ./prog
threads 8 srun -n1 --export=OMP_NUM_THREADS ./prog
SLURM_EXPORT_ENV=NONE threads none srun -n1 ./prog
threads 8 docker run -e OMP_NUM_THREADS image ./prog
threads 8 apptainer exec i.sif ./prog
threads 1 apptainer exec --env OMP_NUM_THREADS=1 i.sif ./prog
threads 8 sudo -nE ./prog
threads none strace -E OMP_NUM_THREADS ./prog
threads 'systemd-run starts' systemd-run ./prog
threads 8 systemd-run --scope ./prog
threads 'an argument of the program may set it' sh -c 'echo ${OMP_NUM_THREADS:=1}'
threads 8 sh -c 'MY_OMP_NUM_THREADS=4 OMP_NUM_THREADS_=1 ./prog'
threads 'a command in an argument' nice sh -c 'cd /tmp && docker run image ./prog'
done_testing
