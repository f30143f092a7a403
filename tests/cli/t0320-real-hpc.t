#!/bin/sh
# t0320: HPC Challenge from its package, run for real: every figure that benchwrap records is compared with the result file as an
# independent reader sees it; a second run in the same folder appends to that file, and only what is new counts.
# sanitizer: long, because the measured programs are not ours
. "$(dirname "$0")/../lib/tap.sh"
if ! command -v hpcc >/dev/null || ! command -v mpirun.openmpi >/dev/null; then
    skip_here "HPC Challenge for real" "hpcc or mpirun.openmpi is not installed"
    done_testing
    exit
fi
mkdir "$WORK/run" && cd "$WORK/run" || exit 1
cat >hpccinf.txt <<'EOF'
HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
200          Ns
1            # of NBs
40           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
1            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
0            Number of additional problem sizes for PTRANS
0            values of N
0            number of additional blocking sizes for PTRANS
0            values of NB
EOF
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
compare='
import json, sys
run = json.load(open(sys.argv[1]))
lines = open("hpccoutf.txt").read().split("This is the DARPA/DOE HPC Challenge Benchmark version")[-1].split("\n")
summary = dict(line.split("=", 1) for line in lines[lines.index("Begin of Summary section."):] if "=" in line)
pairs = {"hpl.rate_GFLOP_per_s": ("HPL_Tflops", 1e3), "hpl.time_s": ("HPL_time", 1), "dgemm.star_GFLOP_per_s": ("StarDGEMM_Gflops", 1),
         "ptrans.bw_MB_per_s": ("PTRANS_GBs", 1e3), "stream.star.triad_MB_per_s": ("StarSTREAM_Triad", 1e3),
         "stream.single.copy_MB_per_s": ("SingleSTREAM_Copy", 1e3), "random_access.mpi.rate_op_per_s": ("MPIRandomAccess_GUPs", 1e9),
         "random_access.star.rate_op_per_s": ("StarRandomAccess_GUPs", 1e9), "fft.mpi_GFLOP_per_s": ("MPIFFT_Gflops", 1),
         "fft.single_GFLOP_per_s": ("SingleFFT_Gflops", 1)}
got = {m["key"]: float(m["value"]) for m in run["metrics"]}
right = 0
for key, (name, factor) in pairs.items():
    want = float(summary[name]) * factor
    if want > 0:
        assert abs(got[key] - want) <= 1e-9 * want, (key, got.get(key), want)
    else:
        assert key not in got, (key, got[key], "where nothing was measured")
    right += 1
print(right, "figures")
'
for round in first second; do
    "$BENCHWRAP" -q -- mpirun.openmpi --oversubscribe -n 1 hpcc >/dev/null 2>"$WORK/errors"
    is "$round run: exit status" $? 0
    "$BENCHWRAP" show last --json >"$WORK/run.json"
    is "$round run: the figures are those of the result file" "$("${PYTHON:-python3}" -c "$compare" "$WORK/run.json" 2>&1 | tail -n 1)" "10 figures"
    is "$round run: the verdict" "$(jq -r '.tags["benchwrap.verdict"]' "$WORK/run.json")" pass
done
is "the result file holds both runs" "$(grep -c 'Begin of Summary section' hpccoutf.txt)" 2
done_testing
