#!/bin/sh
# t0324: LAMMPS, GROMACS (Debian: lammps, gromacs) and OSU micro-benchmarks, where they are installed, run for real beneath the wrapper and their figures come
# out of their own output: the record is compared with what the program printed, read here by awk.
# sanitizer: long, because the measured programs are not ours
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

value() # KEY -> its last value in the one run of this tree
{
    cat mlruns/*/*/metrics/"$1" 2>/dev/null | tail -n 1 | awk '{print $2}'
}
same() # A B: the same number
{
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 == b + 0) }'
}

LMP=$(command -v lmp || command -v lmp_stable || true)
if [ -n "$LMP" ]; then
    cat >in.lj <<'EOF'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 5 0 5 0 5
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
run 100
EOF
    ok "LAMMPS runs beneath the wrapper" sh -c '"$BENCHWRAP" -- "$1" -in in.lj -log none >lmp.out 2>lmp.err' sh "$LMP"
    ok "its loop time" same "$(value loop_s)" "$(awk '/^Loop time of/ {print $4}' lmp.out)"
    ok "its steps per second" same "$(value steps_op_per_s)" "$(sed -n 's/^Performance:.* \([0-9.]*\) timesteps\/s.*/\1/p' lmp.out)"
    is "the verdict" "$(cat mlruns/*/*/tags/benchwrap.verdict)" pass
else
    skip_here "LAMMPS" "lmp is not installed (Debian: lammps)"
fi

GMX=$(command -v gmx || true)
if [ -n "$GMX" ]; then
    rm -rf mlruns
    mkdir gmx && cd gmx || exit 1
    printf '#include "oplsaa.ff/%s.itp"\n' forcefield spc >topol.top
    printf '[ system ]\nwater\n[ molecules ]\n' >>topol.top
    printf '%s\n' 'integrator = md' 'nsteps = 500' 'dt = 0.002' 'rlist = 0.9' 'rvdw = 0.9' 'rcoulomb = 0.9' >grompp.mdp
    "$GMX" -quiet solvate -cs spc216 -box 2.2 2.2 2.2 -o conf.gro -p topol.top >solvate.out 2>&1
    "$GMX" -quiet grompp -maxwarn 5 >grompp.out 2>&1
    cd .. || exit 1
    ok "GROMACS runs beneath the wrapper" sh -c 'cd gmx && "$BENCHWRAP" -t ../mlruns -- "$1" mdrun -ntmpi 1 -ntomp 1 -s topol.tpr >../gmx.out 2>../gmx.err' sh "$GMX"
    ok "its ns/day" same "$(value ns_per_day)" "$(awk '/^Performance:/ {print $2}' gmx.err)"
    ok "its wall time" same "$(value wall_s)" "$(awk '$1 == "Time:" {print $3}' gmx.err)"
    is "the verdict" "$(cat mlruns/*/*/tags/benchwrap.verdict)" pass
else
    skip_here "GROMACS" "gmx is not installed (Debian: gromacs)"
fi

if command -v osu_latency >/dev/null && command -v mpirun >/dev/null; then
    rm -rf mlruns
    root=
    [ "$(id -u)" != 0 ] || root=--allow-run-as-root
    ok "osu_latency runs beneath the wrapper" sh -c '"$BENCHWRAP" -- mpirun $1 --oversubscribe -n 2 osu_latency -m 1:64 -i 50 -x 5 >osu.out 2>osu.err' sh "$root"
    ok "its latency at 64 bytes" same "$(value latency_us)" "$(awk '$1 == 64 {print $2}' osu.out)"
else
    skip_here "OSU micro-benchmarks" "osu_latency and mpirun are not installed"
fi
done_testing
