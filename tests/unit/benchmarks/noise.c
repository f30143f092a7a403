/* noise.c: what stands around and between the lines of a result: prefixes of ranks, colours, messages of MPI, lines of other processes. */
#include "rules_case.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void results_survive_noise(void **state)
{
    static const char table[] =
        "readers:\n- name: r\n  table: {header: [access, bw, iter]}\n  where: {access: [write]}\n"
        "  metrics: [{name: v, cell: bw, from: MiB/s, unit: MiB_per_s, better: higher, step: iter, headline: max}]\n";
    static const char key[] =
        "readers:\n- name: r\n  keyvalue: {separator: ':'}\n  metrics: [{name: v, cell: rate, unit: op_per_s, better: higher}]\n";
    static const char clock[] = "readers:\n- name: r\n  table: {header: [time, bw]}\n  where: {time: ['12:00:02']}\n"
                                "  metrics: [{name: v, cell: bw, unit: MiB_per_s, better: higher, headline: max}]\n";
    static const char one[] = "metric v_MiB_per_s 5.5\nmetric v_MiB_per_s.max 5.5\npass\n";
    static const struct rules_case cases[] = {
        {"plain", table, "access bw(MiB/s) iter\nwrite 5.5 0\n", one},
        {"Open MPI 4 --tag-output", table, "[1,0]<stdout>:access bw(MiB/s) iter\n[1,0]<stdout>:write 5.5 0\n", one},
        {"Open MPI 5 --tag-output", table, "[prterun-n1-17@1,0]<stdout>: access bw(MiB/s) iter\n[prterun-n1-17@1,0]<stdout>: write 5.5 0\n",
         one},
        {"MPICH -prepend-rank", table, "[0] access bw(MiB/s) iter\n[0] write 5.5 0\n", one},
        {"MPICH, the write cut in the middle of a line", table, "[0] access bw(MiB/s) iter\n[0] write 5[0] .5 0\n", one},
        {"srun -l", table, " 0: access bw(MiB/s) iter\n12: 1 process more\n 0: write 5.5 0\n", one},
        {"colours", table, "\x1b[1maccess bw(MiB/s) iter\x1b[0m\n\x1b[32mwrite\x1b[0m 5.5 0\x1b[K\n", one},
        {"a redrawn line", table, "access bw(MiB/s) iter\n 10%\r 50%\rwrite 5.5 0\n", one},
        {"lines of a terminal", table, "access bw(MiB/s) iter\r\nwrite 5.5 0\r\n", one},
        {"a time stamp before each line", table, "[12:00:01] access bw(MiB/s) iter\n\n[12:00:01] \n[12:00:02] write 5.5 0\n", one},
        {"… but for a line of another process", table,
         "12:00:01 begin\n12:00:01 access bw(MiB/s) iter\n12:00:01\nslurmstepd: error\n12:00:02 write 5.5 0\n", one},
        {"times that are the program's column", clock, "time bw\n12:00:01 4.5\n12:00:02 5.5\n12:00:03 6.5\n12:00:04 7.5\n", one},
        {"messages between header and row", table,
         "access bw(MiB/s) iter\n------ ---- ----\nWARNING: write failed once\n[n1:02121] 1 more process has sent help message\nstonewalling pairs accessed min 0\nwrite 5.5 0\n",
         one},
        {"a word where a number belongs", table, "access bw(MiB/s) iter\nwrite error 0\nwrite 5.5 0\n", one},
        {"bytes that are no text", table, "\xff\xfe\x01\naccess bw(MiB/s) iter\n\x80write 1 0\nwrite 5.5 0\n", one},
        {"two programs wrote into one output", table, "access bw(MiB/s) iter\nwrite 5.5 0\nwrite 6.5 0\n",
         "missing v_MiB_per_s: two values for the same repetition: outputs of several programs are mixed\n"
         "fail: v: two values for the same repetition: outputs of several programs are mixed\n"},
        {"the row is torn", table, "access bw(MiB/s) iter\nwrite 5",
         "warning stdout: the last line has no end; it may be cut and is not read\nfail: exit status 1\n", 1},
        {"killed in the middle of the table", table, "access bw(MiB/s) iter\nwrite 5.5 0\nwrite 7.5 1",
         "warning stdout: the last line has no end; it may be cut and is not read\nmetric v_MiB_per_s 5.5\nmetric v_MiB_per_s.max 5.5\nfail: exit status 1\n",
         1},
        {"thousands and words for none", key, "rate: 4,096,000\n", "metric v_op_per_s 4096000\npass\n"},
        {"exponents", key, "rate: 1.0e+03\n", "metric v_op_per_s 1000\npass\n"},
        {"nan", key, "rate: -nan\n", "missing v_op_per_s: printed \"-nan\"\npass\n"},
        {"inf", key, "rate: inf\n", "missing v_op_per_s: printed \"inf\"\npass\n"},
        {"N/A", key, "rate: N/A\n", "missing v_op_per_s: printed \"N/A\"\npass\n"},
        {"no European comma", key, "rate: 3,14\n",
         "fail: incomplete: numbers with digits in groups or decimal commas are not read: \"3,14\"\n"},
        {"two different values", key, "rate: 3\nrate: 4\n",
         "missing v_op_per_s: the output has several different values where one is expected\nfail: v: the output has several different values where one is expected\n"},
        {"the same value twice", key, "rate: 3\nrate: 3\n", "metric v_op_per_s 3\npass\n"},
    };
    (void)state;
    rules_cases_hold(cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_survive_noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
