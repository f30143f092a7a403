/* The step of one srun in scontrol's replies: told from other steps, and from what its user wrote into its name. */
#include "probes/slurm_step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define BATCH "StepId=7.batch UserId=0 StartTime=2026-11-23T17:55:36 TimeLimit=UNLIMITED\n   State=RUNNING Partition=debug NodeList=n1\n" \
              "   Nodes=1 CPUs=0 Tasks=1 Name=batch Network=(null)\n   TRES=(null)\n   SrunHost:Pid=(null):0\n\n"
#define STEP(id, list, counts, name, srun) \
    "StepId=" id " UserId=0 StartTime=2026-11-23T17:55:36 TimeLimit=UNLIMITED\n   State=RUNNING Partition=debug NodeList=" list "\n" \
    "   " counts " Name=" name " Network=(null)\n   TRES=cpu=2,mem=0,node=2\n   CPUFreqReq=Default Dist=Cyclic\n   SrunHost:Pid=" srun "\n\n"

static bool own(void *context, struct str host, pid_t pid)
{
    (void)context;
    return str_is(host, "vm") && pid == 42;
}

static void one_step_of_our_srun_or_none(void **state)
{
    static const struct { const char *reply; int rc; int64_t nodes, tasks; const char *list; } rows[] = {
        {BATCH STEP("7.0", "n[1-2]", "Nodes=2 CPUs=2 Tasks=3", "sleep", "vm:42"), 1, 2, 3, "n[1-2]"},
        {STEP("7.0", "n1", "Nodes=1 CPUs=2 Tasks=1", "a", "vm:41") STEP("7.1", "n[2-4]", "Nodes=3 CPUs=3 Tasks=6", "b", "vm:42") BATCH, 1, 3, 6, "n[2-4]"},
        {BATCH, 0, 0, 0, ""},
        {"", 0, 0, 0, ""},
        {"Job step 7. not found\n", 0, 0, 0, ""},
        {STEP("7.0", "n1", "Nodes=1 CPUs=2 Tasks=1", "a", "other:42"), 0, 0, 0, ""},
        /* a name with lines of its own: what stands before it counts, a second srun makes it doubtful */
        {STEP("7.0", "n1", "Nodes=1 CPUs=1 Tasks=2", "x\n   Nodes=9 CPUs=9 Tasks=9 Name=y", "vm:42"), 1, 1, 2, "n1"},
        {STEP("7.0", "n1", "Nodes=1 CPUs=1 Tasks=2", "x\n   State=RUNNING NodeList=evil", "vm:42"), 1, 1, 2, "n1"},
        {STEP("7.0", "n1", "Nodes=1 CPUs=1 Tasks=2", "x\n   SrunHost:Pid=vm:42\n", "vm:43"), -1, 0, 0, ""},
        {STEP("7.0", "n1", "Nodes=1 CPUs=1 Tasks=2", "x\n   SrunHost:Pid=vm:41", "vm:42"), -1, 0, 0, ""},
        {STEP("7.0", "n1", "Nodes=1 CPUs=1 Tasks=2", "a", "vm:42") STEP("7.1", "n9", "Nodes=9 CPUs=9 Tasks=9", "b", "vm:42"), -1, 0, 0, ""},
        {STEP("7.0", "n1", "Nodes=1 CPUs=1", "Tasks=5", "vm:42"), -1, 0, 0, ""},
        {STEP("7.0", "n1", "Nodes=0 CPUs=1 Tasks=1", "a", "vm:42"), -1, 0, 0, ""},
        {STEP("7+1.0", "n3", "Nodes=1 CPUs=1 Tasks=1", "a", "vm:42"), 1, 1, 1, "n3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slurm_step s;
        struct err err = {0};
        int rc = slurm_step_parse(&s, str_of(rows[i].reply), own, NULL, &err);
        if (rc != rows[i].rc || s.nodes != rows[i].nodes || s.tasks != rows[i].tasks || (rc > 0 && !str_is(s.list, rows[i].list)))
            fail_msg("row %zu: %d, %d nodes, %d tasks", i, rc, (int)s.nodes, (int)s.tasks);
        if (rc > 0) /* "7.0" of "StepId=7.0 UserId=…" */
            assert_true(str_starts(s.id, "7") && str_has(s.id, ".") && !str_has(s.id, " "));
        assert_true(rc >= 0 || err.kind == ERR_INPUT);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(one_step_of_our_srun_or_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
