/* selftest.c: `llmload selftest` measures the client's error on this machine. */
#include "benchmarks/native/llmload/calibrate.h"
#include "benchmarks/native/llmload/engine.h"
#include "benchmarks/native/llmload/verbs.h"

#include "base/opt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct opt_row rows[] = {
    {.name = OPTION_STREAMS,
     .letter = 's',
     .kind = OPT_TEXT,
     .arg = "N,N…",
     .value = "100,1000",
     .group = "Selftest",
     .help = "Number of concurrent streams, one test for each"},
    {.name = OPTION_TOKENS, .kind = OPT_INT, .arg = "N", .value = "20", .group = "Selftest", .help = "Tokens of an answer"},
    {.name = OPTION_ITL,
     .kind = OPT_DURATION,
     .arg = "T",
     .group = "Selftest",
     .help = "Time from token to token (default: 10ms, longer above 50,000 events per second)"},
    {.name = OPTION_THREADS,
     .kind = OPT_INT,
     .arg = "N",
     .value = "0",
     .group = "Selftest",
     .help = "Event loops of the client; 0: one per CPU"},
    {.name = OPTION_USER_CLOCK,
     .kind = OPT_FLAG,
     .group = "Selftest",
     .help = "Read the process's clock, not the kernel's receive time stamps"},
    {.name = OPTION_JSON, .kind = OPT_FLAG, .group = "Selftest", .help = "Print one JSON object"},
    {.name = OPTION_HELP, .letter = 'h', .kind = OPT_FLAG, .group = "Selftest", .help = "Print this text"},
};

enum { TESTS_MAX = 32 };

/* The caller deinitialises *ret, whatever this returns. */
static int selftest_one(const struct opt_set *set, struct str count, struct calibration *ret, struct err *err)
{
    uint64_t streams;
    *ret = (struct calibration){0};
    if (!str_uint(count, &streams) || !streams || streams > 1000000)
        return err_set(err, ERR_USAGE, "--streams: expected numbers from 1 to 1000000, got \"%.*s\"", (int)(count.n < 40 ? count.n : 40),
                       count.p);
    struct calibration_plan plan = calibration_plan_for((unsigned)streams);
    plan.tokens = (unsigned)opt_integer(set, OPTION_TOKENS);
    plan.threads = (unsigned)opt_integer(set, OPTION_THREADS);
    plan.user_clock = opt_on(set, OPTION_USER_CLOCK);
    if (opt_text(set, OPTION_ITL))
        plan.itl_s = opt_seconds(set, OPTION_ITL);
    if (plan.tokens < 2 || plan.tokens > 100000)
        return err_set(err, ERR_USAGE, "--tokens: expected a number from 2 to 100000, got %u", plan.tokens);
    return calibration_run(ret, &plan, err);
}

static void selftest_put(const struct opt_set *set, const struct calibration *c, size_t n, struct buf *to)
{
    if (!opt_on(set, OPTION_JSON)) {
        const struct screen screen = screen_of(STDOUT_FILENO);
        calibration_table(c, n, &screen, to);
        return;
    }
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_open(&j, "selftest", '[');
    for (size_t i = 0; i < n; i++)
        calibration_json(&c[i], NULL, &j);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(to, '\n');
}

/* Measures the client's error for each number of --streams, and prints the results. 0; -1 with err. */
static int selftest_run(const struct opt_set *set, char **operands, struct err *err)
{
    (void)operands;
    struct buf out CLEANUP_BUF;
    struct calibration tests[TESTS_MAX];
    size_t n = 0;
    int status = 0;
    buf_init(&out, 1 << 20);
    const struct sigaction stop = {.sa_handler = engine_stop};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    for (struct str rest = str_of(opt_text(set, OPTION_STREAMS)); rest.p && status == 0;)
        status = n == TESTS_MAX ? err_set(err, ERR_USAGE, "--streams: expected at most %d numbers", TESTS_MAX)
                                : selftest_one(set, str_trim(str_cut(&rest, ',')), &tests[n++], err);
    if (status == 0) {
        selftest_put(set, tests, n, &out);
        if (out.failed)
            status = err_memory(err, "the selftest");
        else if (fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout) != 0)
            status = err_sys(err, "cannot write to standard output");
    }
    while (n)
        calibration_deinit(&tests[--n]);
    return status;
}

int selftest_main(int argc, char **argv, struct err *err)
{
    static const struct verb verb = {
        .usage = "selftest [OPTIONS]",
        .about = "Measure the client's own error on this machine.",
        .rows = rows,
        .count = sizeof rows / sizeof *rows,
        .expected = "no operands",
        .run = selftest_run,
    };
    return verb_run(&verb, argc, argv, err);
}
