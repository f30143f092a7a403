/* What Slurm prints: configuration and sdiag; words of commands. */
#include "benchmarks/native/taskrate/slurm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void configuration(void **state)
{
    struct str text = str_of("Configuration data as of 2026-11-20T10:00:00\nAccountingStorageType   = accounting_storage/none\nMaxArraySize            = 1001\n"
                             "SchedulerParameters     = batch_sched_delay=0,bf_interval=5\nMaxJobCount             = 10000\n");
    (void)state;
    assert_true(str_is(slurm_config_value(text, "MaxArraySize"), "1001"));
    assert_true(str_is(slurm_config_value(text, "SchedulerParameters"), "batch_sched_delay=0,bf_interval=5"));
    assert_int_equal(slurm_config_value(text, "MaxArray").n, 0);
    assert_int_equal(slurm_config_value(str_of(""), "MaxArraySize").n, 0);
}

/* Paths of the site's own scripts are not published. */
static void paths(void **state)
{
    static const char *const keys[] = {"Prolog", "Epilog", "TaskProlog", "TaskEpilog", "PrologSlurmctld", "EpilogSlurmctld", "SrunProlog", "SrunEpilog", "StateSaveLocation"};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_true(str_is(slurm_config_shown(keys[i], str_of("/etc/slurm/secret-site.sh")), "set"));
        assert_true(str_is(slurm_config_shown(keys[i], str_of("(null)")), "none"));
        assert_true(str_is(slurm_config_shown(keys[i], str_of("")), "none"));
    }
    assert_true(str_is(slurm_config_shown("PrologFlags", str_of("Alloc")), "Alloc"));
    assert_true(str_is(slurm_config_shown("MaxArraySize", str_of("1001")), "1001"));
}

static void counters(void **state)
{
    struct scheduler_counters c;
    (void)state;
    slurm_sdiag_read(str_of("Jobs submitted: 1247\nJobs started:   1240\nJobs completed: 1239\nJobs canceled:  1\nJobs failed:    2\n\n"
                            "Main schedule statistics (microseconds):\n\tLast cycle:   178\n\tMax cycle:    2108\n\tTotal cycles: 40\n\tMean cycle:   250\n\nBackfilling stats\n\tTotal cycles: 9\n"
                            "Remote Procedure Call statistics by message type\n\tREQUEST_SUBMIT_BATCH_JOB                ( 4003) count:123    ave_time:3369   total_time:414387\n"
                            "\tREQUEST_JOB_STEP_CREATE                 ( 5001) count:10     ave_time:2000   total_time:20000\n"),
                     &c);
    assert_int_equal(c.submitted, 1247);
    assert_int_equal(c.started, 1240);
    assert_int_equal(c.completed, 1239);
    assert_int_equal(c.cancelled, 1);
    assert_int_equal(c.failed, 2);
    assert_int_equal(c.cycles, 40);
    assert_int_equal(c.cycle_us, 10000);
    assert_int_equal(c.submit_calls, 123);
    assert_int_equal(c.submit_us, 414387);
    assert_int_equal(c.step_calls, 10);
    slurm_sdiag_read(str_of("sdiag: error: nothing"), &c);
    assert_int_equal(c.submitted, -1);
    assert_int_equal(c.cycles, -1);
}

static void processors_of_nodes(void **state)
{
    (void)state;
    assert_int_equal(slurm_count_processors(str_of("4")), 4);
    assert_int_equal(slurm_count_processors(str_of("2(x2),4")), 8);
    assert_int_equal(slurm_count_processors(str_of("72(x128)")), 9216);
    assert_int_equal(slurm_count_processors(str_of("")), 0);
    assert_int_equal(slurm_count_processors(str_of("4(x")), 0);
    assert_int_equal(slurm_count_processors(str_of("4(x)")), 0);
    assert_int_equal(slurm_count_processors(str_of("4294967295(x4294967295)")), 0);
    assert_int_equal(slurm_count_processors(str_of("some")), 0);
}

static void words(void **state)
{
    struct argument_words w = {.n = 0};
    struct arena a;
    struct err err;
    (void)state;
    arena_init(&a, 0);
    assert_int_equal(words_split(&w, &a, "  sh -c 'a  b' \"c \\\" d\" e\\ f ''", &err), 0);
    assert_int_equal(w.n, 6);
    assert_string_equal(w.word[2], "a  b");
    assert_string_equal(w.word[3], "c \" d");
    assert_string_equal(w.word[4], "e f");
    assert_string_equal(w.word[5], "");
    assert_int_equal(words_split(&w, &a, "never 'closed", &err), -1);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(configuration), cmocka_unit_test(paths), cmocka_unit_test(counters), cmocka_unit_test(processors_of_nodes), cmocka_unit_test(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
