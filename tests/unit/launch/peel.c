/* Launchers are seen through by the data table. */
#include "launch/peel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *line, *program; /* the rest of the line from the program on */
    int parallel;
} lines_of[] = {
    {"ior -a POSIX", "ior -a POSIX", 0},
    {"srun -n 64 ior -a", "ior -a", 1},
    {"srun -n64 -N 2 --mpi=pmix --cpu-bind cores ior", "ior", 1},
    {"srun --ntasks=4 --exclusive -l ior -n 3", "ior -n 3", 1},
    {"srun -ul -t 10 -p debug ./a.out", "./a.out", 1},
    {"srun -N2 bash -c x", "bash -c x", 1},
    {"/usr/bin/srun -- ior", "ior", 1},
    {"mpirun -np 4 -H a,b --map-by node --mca btl tcp,self -x PATH ior", "ior", 1},
    {"mpirun --oversubscribe --allow-run-as-root -n 4 ior", "ior", 1},
    {"mpiexec -n 4 -ppn 2 -genv OMP_NUM_THREADS 2 ior", "ior", 1},
    {"mpiexec.hydra -n 4 -f hosts ior", "ior", 1},
    {"mpiexec.mpich -localhost 10.0.0.1 -membind map:numa -n 4 -skip-launch-node ior", "ior", 1},
    {"mpirun.openmpi -c 2 ior", "ior", 1},
    {"aprun -n 4 -N 2 -d1 ior", "ior", 1},
    {"jsrun -n 2 -a 4 --bind packed:7 ior", "ior", 1},
    {"flux run -n 4 --exclusive ior", "ior", 1},
    {"flux jobs", "flux jobs", 0},
    {"env A=1 B=2 ior A=3", "ior A=3", 0},
    {"env -i -u HOME PATH=/bin ior", "ior", 0},
    {"time -p ior", "ior", 0},
    {"time -f %e -o file ior", "ior", 0},
    {"numactl -N 0 -m0 ior", "ior", 0},
    {"numactl --interleave=all --cpunodebind 1 ior", "ior", 0},
    {"taskset 0x3 ior", "ior", 0},
    {"taskset -c 0,1 ior", "ior", 0},
    {"nice ior", "ior", 0},
    {"nice -n 5 ior", "ior", 0},
    {"nice -5 ior", "ior", 0},
    {"ionice -c 3 ior", "ior", 0},
    {"ionice -c3 -n0 ior", "ior", 0},
    {"chrt -f 10 ior", "ior", 0},
    {"stdbuf -oL -e 0 ior", "ior", 0},
    {"timeout 10 ior", "ior", 0},
    {"timeout -s INT -k 5 --preserve-status 1h ior -t 1m", "ior -t 1m", 0},
    {"nohup setsid -w ior", "ior", 0},
    {"apptainer exec image.sif ior -b 1g", "ior -b 1g", 0},
    {"apptainer -q exec --nv -B /a:/b --env X=1 image.sif ior", "ior", 0},
    {"apptainer build x y", "apptainer build x y", 0},
    {"srun -n 8 apptainer exec --bind /scratch i.sif numactl -N 0 ior -a", "ior -a", 1},
    {"strace -f -o log -e trace=open ior", "ior", 0},
    {"perf stat -e cycles ior", "ior", 0},
    {"xvfb-run -a -s x ior", "ior", 0},
    {"env - A=1 ior", "ior", 0},
    {"env -S ior -a", "env -S ior -a", 0},
    {"env --split-string=ior x", "env --split-string=ior x", 0},
    {"env -C /tmp --argv0=x ior", "ior", 0},
    {"sudo -u root -E A=1 ior", "ior", 0},
    {"numactl -l ior", "ior", 0},
    {"numactl --localalloc -a --cpubind 0 -M 600 ior", "ior", 0},
    {"mpiexec -l -n 4 ior", "ior", 1},
    {"mpiexec -s all -n 4 -gwdir /tmp -envexcl A ior", "ior", 1},
    {"mpiexec.hydra -prepend-rank -membind x -gpus-per-proc 1 ior", "ior", 1},
    {"mpirun --rankfile f --slot-list 0 -n 2 -report-bindings --default-hostfile h ior", "ior", 1},
    {"prterun --runtime-options x --gpmixmca a b -n 1 ior", "ior", 1},
    {"srun --accel-bind g --container-image x --container-mounts a:b -Z -k ior", "ior", 1},
    {"salloc -N 1 srun -n 2 ior", "ior", 1},
    {"setarch x86_64 -R ior", "ior", 0},
    {"setarch -R ior", "ior", 0},
    {"linux64 -R ior", "ior", 0},
    {"hwloc-bind core:0 -- ior", "ior", 0},
    {"hwloc-bind --single core:0 core:1 ior", "ior", 0},
    {"hwloc-bind --membind node:1 --cpubind 0x3 -- ior -- x", "ior -- x", 0},
    {"ch-run -b /a:/b image -- ior -a", "ior -a", 0},
    {"likwid-perfctr -f -O -C 0-3 -g MEM ior", "ior", 0},
    {"perf record -g -F 99 ior", "ior", 0},
    {"perf stat -r 3 -x , ior", "ior", 0},
    {"strace -U name ior", "ior", 0},
    {"apptainer exec -c -C -f -p -i --no-mount tmp --pids-limit 9 image.sif ior", "ior", 0},
    {"apptainer run image.sif -t 1m", "apptainer run image.sif -t 1m", 0},
    {"singularity exec -o over -S /tmp image.sif ior", "ior", 0},
    {"docker run --rm -it --shm-size 1g --gpus all -v a:b image ior", "ior", 0},
    {"podman run --tz local -d image ior", "ior", 0},
    {"valgrind --tool=massif ior", "ior", 0},
    {"nsys profile -o x -t cuda ior", "ior", 0},
    {"conda run -n base ior", "ior", 0},
    {"ssh -p 22 -l me host ior -a POSIX", "ior -a POSIX", 0},
    {"ssh host cd x && ior", "ssh host cd x && ior", 0},
    {"ssh host", "ssh host", 0},
    {"pdsh -w a,b -R ssh ior", "ior", 0},
    {"clush -bw a,b ior", "ior", 0},
    {"kubectl -n x exec -it pod -- ior -a", "ior -a", 0},
    {"kubectl get pods", "kubectl get pods", 0},
    {"docker --context far run --rm image ior", "ior", 0},
    {"docker -H tcp://h:1 run image ior", "ior", 0},
    {"podman -r --log-level debug run image ior", "ior", 0},
    {"docker --context far ps", "docker --context far ps", 0},
    {"sbatch --wait job.sh", "sbatch --wait job.sh", 0},
    {"parallel -S a ior {} ::: 1", "parallel -S a ior {} ::: 1", 0},
    {"mpirun_rsh -np 2 a b ior", "ior", 1},
    {"mpirun_rsh -np 2 -hostfile f ior", "ior", 1},
    {"time -o", "time -o", 0},
    {"timeout 10", "timeout 10", 0},
    {"srun", "srun", 0},
    {"srun -n", "srun -n", 0},
    {"mpirun -n", "mpirun -n", 0},
    {"env A=1", "env A=1", 0},
    {"", "", 0},
};

static void lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines_of / sizeof *lines_of; i++) {
        char text[256], got[256] = "";
        char *argv[32], *rest = text;
        int n = 0;
        snprintf(text, sizeof text, "%s", lines_of[i].line);
        for (char *word; (word = strsep(&rest, " "));)
            if (*word)
                argv[n++] = word;
        argv[n] = NULL;
        for (char *const *p = peel_program(argv); *p; p++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", *got ? " " : "", *p);
        if (strcmp(got, lines_of[i].program) != 0 || peel_is_parallel(argv) != (lines_of[i].parallel == 1))
            fail_msg("%s: got \"%s\" (parallel %d)", lines_of[i].line, got, peel_is_parallel(argv));
    }
}

static void shapes(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int tasks, nodes, per_node, cpus, per_round;
        bool hosts;
    } cases[] = {
        {"ior -n 5", 0, 0, 0, 0},
        {"srun -n 64 ior -n 3", 64, 0, 0, 0},
        {"srun -n64 -N2 --cpus-per-task=4 ior", 64, 2, 0, 4},
        {"srun -N 2-4 --ntasks-per-node 8 ior", 0, 0, 8, 0},
        {"srun -n 4 -n 8 ior", 8, 0, 0, 0},
        {"srun -ln 6 ior", 6, 0, 0, 0},
        {"srun --exclusive --ntasks 3 -- ior", 3, 0, 0, 0},
        {"env A=1 mpirun -np 4 -npernode 2 numactl -N 0 ior -N 7", 4, 0, 2, 0},
        {"mpiexec -ppn 2 -n 8 ior", 8, 0, 0, 0, 2, false}, /* MPICH deals rounds: all 8 on the only node, 4 on each of two */
        {"mpiexec -perhost 1 -n 6 ior", 6, 0, 0, 0, 1, false},
        {"mpirun -np 4 --map-by ppr:2:node ior", 4, 0, 0, 0, 0, true},
        {"mpirun -np 4 --map-by core --bind-to core ior", 4, 0, 0, 0, 0, false},
        {"mpirun -n 1 a : -n 3 b", 0, 0, 0, 0},
        {"srun -n 2 mpirun -n 4 ior", 0, 0, 0, 0},
        {"mpirun -n many ior", 0, 0, 0, 0},
        {"mpirun -n -4 ior", 0, 0, 0, 0},
        {"mpirun -np 4 -ppr 2:node ior", 4, 0, 0, 0, 0, true},
        {"aprun -n 4 -N 2 -d1 ior", 4, 0, 2, 1},
        {"flux run -N2 -n 4 ior", 4, 2, 0, 0},
        {"mpirun --mca n 5 -x n=7 ior", 0, 0, 0, 0},
        {"taskset -c 1 ior", 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200], *argv[40], *rest = text;
        int n = 0;
        struct peel_shape s;
        snprintf(text, sizeof text, "%s", cases[i].line);
        while ((argv[n] = strsep(&rest, " ")))
            n++;
        peel_read_shape(argv, &s);
        char got[100], want[100];
        snprintf(got, sizeof got, "%s: %d %d %d %d %d %d", cases[i].line, s.tasks, s.nodes, s.tasks_per_node, s.cpus_per_task, s.per_round,
                 s.hosts);
        snprintf(want, sizeof want, "%s: %d %d %d %d %d %d", cases[i].line, cases[i].tasks, cases[i].nodes, cases[i].per_node,
                 cases[i].cpus, cases[i].per_round, cases[i].hosts);
        assert_string_equal(got, want);
    }
}

/* Where each starter says that its program runs: one word for each, then by what. */
static void places(void **state)
{
    (void)state;
    static const char *const words[] = {"here", "hosts", "file", "listed", "away", "nodes"};
    static const struct {
        const char *line, *variable, *expected;
    } cases[] = {
        {"ior", NULL, ""},
        {"taskset 1 ior", NULL, "here"},
        {"mpirun -n 2 ior", NULL, "here"},
        {"mpirun -H a,b ior", NULL, "hosts its option -H a,b"},
        {"mpirun -host a:4 ior", NULL, "hosts its option --host a:4"},
        {"mpirun --hostfile f ior", NULL, "file its option --hostfile f"},
        {"mpiexec -f f -n 2 ior", NULL, "file its option -f f"},
        {"mpiexec.mpich -machinefile f ior", NULL, "file its option --machinefile f"},
        {"mpirun --hostfile f -H a ior", NULL, "hosts its option -H a"},
        {"mpirun -H a --rankfile f ior", NULL, "away its option --rankfile"},
        {"mpirun --mca orte_default_hostfile f ior", NULL, "away its option --mca"},
        {"mpiexec ior", "HYDRA_HOST_FILE=f", "file HYDRA_HOST_FILE f"},
        {"mpirun_rsh -np 2 a b ior", NULL, "hosts its operands a"},
        {"mpirun_rsh -hostfile f -np 2 ior", NULL, "file its option --hostfile f"},
        {"env A=1 mpirun -H a ior", NULL, "here hosts its option -H a"},
        {"srun ior", NULL, "nodes"},
        {"srun ior", "SLURMD_NODENAME=n1", "here"},
        {"srun -J ssh ior", "SLURMD_NODENAME=n1", "here"},
        {"srun -w n[1-2] ior", "SLURMD_NODENAME=n1", "listed its option -w"},
        {"srun --nodelist=/tmp/list ior", "SLURMD_NODENAME=n1", "away its option --nodelist"},
        {"srun --jobid=9 ior", "SLURMD_NODENAME=n1", "away its option --jobid"},
        {"srun -M far ior", "SLURMD_NODENAME=n1", "away its option -M"},
        {"srun -Z ior", "SLURMD_NODENAME=n1", "away its option -Z"},
        {"sshpass -p x ssh h ior", NULL, "here away it connects to a server"},
        {"gcloud compute ssh vm -- ior", NULL, "away it connects to a server"},
        {"gcloud storage cp a b", NULL, ""},
        {"machinectl shell h ior", NULL, "away it connects to a server"},
        {"nsenter -t 1 -m ssh h ior", NULL, "here away it connects to a server"},
        {"xargs -n 1 ssh h ior", NULL, "here away it connects to a server"},
        {"ssh h ior", NULL, "away it connects to a server"},
        {"ssh h cd x && ior", NULL, "away it connects to a server"},
        {"pdsh -w a ior", NULL, "away it connects to a server"},
        {"clush -w a ior", NULL, "away it connects to a server"},
        {"kubectl exec pod -- ior", NULL, "away it connects to a server"},
        {"kubectl get pods", NULL, ""},
        {"docker run i ior", NULL, "here"},
        {"docker run -c 5 -h name i ior", NULL, "here"},
        {"docker --context far run i ior", NULL, "away its option --context"},
        {"docker --context=default run i ior", NULL, "here"},
        {"docker -H unix:///run/docker.sock run i ior", NULL, "here"},
        {"docker -H tcp://h run i ior", NULL, "away its option -H"},
        {"docker -H tcp://h ps", NULL, ""},
        {"docker run i ior", "DOCKER_HOST=ssh://h", "away DOCKER_HOST"},
        {"docker run i ior", "DOCKER_HOST=unix:///home/u/.docker/desktop/docker.sock", "away DOCKER_HOST"},
        {"docker run i ior", "DOCKER_CONTEXT=default", "here"},
        {"podman --remote run i ior", NULL, "away its option --remote"},
        {"podman -r run i ior", NULL, "away its option -r"},
        {"podman -c far run i ior", NULL, "away its option -c"},
        {"apptainer exec i ior", NULL, "here"},
        {"sbatch job.sh", NULL, "here"},
        {"sbatch --wait job.sh", NULL, "away its option --wait"},
        {"bsub -K ior", NULL, "away its option -K"},
        {"systemd-run -H h ior", NULL, "away its option -H"},
        {"systemd-run --scope ior", NULL, "here"},
        {"parallel ior ::: 1", NULL, "here"},
        {"parallel -S a ior ::: 1", NULL, "away its option -S"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200], got[300], *argv[40], *rest = text, *env[] = {(char *)cases[i].variable, NULL};
        int n = 0;
        struct peel_place p;
        snprintf(text, sizeof text, "%s", cases[i].line);
        snprintf(got, sizeof got, "%s:", cases[i].line);
        while ((argv[n] = strsep(&rest, " ")))
            n++;
        for (char *const *at = argv; at && *at && peel_next(&at, env, &p);)
            snprintf(got + strlen(got), sizeof got - strlen(got), " %s%s%s%s" STR_FMT, words[p.where], *p.by ? " " : "", p.by,
                     p.where == PEEL_HOSTS || p.where == PEEL_HOST_FILE ? " " : "",
                     STR_ARG((p.where == PEEL_HOSTS || p.where == PEEL_HOST_FILE ? p.hosts : STR(""))));
        char want[300];
        snprintf(want, sizeof want, "%s:%s%s", cases[i].line, *cases[i].expected ? " " : "", cases[i].expected);
        assert_string_equal(got, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(shapes), cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
