/* selftest.c: `llmload selftest`: the client's measurement error on this machine. */
#include "benchmarks/native/llmload/calibrate.h"
#include "benchmarks/native/llmload/engine.h"
#include "benchmarks/native/llmload/verbs.h"

#include "base/opt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct opt_row rows[] = {
    {"streams", 's', OPT_TEXT, "N,N…", NULL, "100,1000", "Selftest", "Number of concurrent streams, one test for each", 0},
    {"tokens", 0, OPT_INT, "N", NULL, "20", "Selftest", "Tokens of an answer", 0},
    {"itl", 0, OPT_DURATION, "T", NULL, NULL, "Selftest", "Time from token to token (default: 10ms, longer above 50,000 events per second)",
     0},
    {"threads", 0, OPT_INT, "N", NULL, "0", "Selftest", "Event loops of the client; 0: one per CPU", 0},
    {"user-clock", 0, OPT_FLAG, NULL, NULL, NULL, "Selftest", "Read the process's clock, not the kernel's receive time stamps", 0},
    {"json", 0, OPT_FLAG, NULL, NULL, NULL, "Selftest", "Print one JSON object", 0},
    {"help", 'h', OPT_FLAG, NULL, NULL, NULL, "Selftest", "Print this text", 0},
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
    plan.tokens = (unsigned)opt_integer(set, "tokens");
    plan.threads = (unsigned)opt_integer(set, "threads");
    plan.user_clock = opt_on(set, "user-clock");
    if (opt_text(set, "itl"))
        plan.itl_s = opt_seconds(set, "itl");
    if (plan.tokens < 2 || plan.tokens > 100000)
        return err_set(err, ERR_USAGE, "--tokens: expected a number from 2 to 100000, got %u", plan.tokens);
    return calibrate(ret, &plan, err);
}

static void selftest_put(const struct opt_set *set, const struct calibration *c, size_t n, struct buf *to)
{
    if (!opt_on(set, "json")) {
        const struct screen screen = screen_of(STDOUT_FILENO);
        calibration_table(c, n, &screen, to);
        return;
    }
    buf_puts(to, "{\"selftest\":[");
    for (size_t i = 0; i < n; i++) {
        buf_puts(to, i ? "," : "");
        calibration_json(&c[i], to);
    }
    buf_puts(to, "]}\n");
}

static int selftest(const struct opt_set *set, char **operands, struct err *err)
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
    for (struct str rest = str_of(opt_text(set, "streams")); rest.p && status == 0;)
        status = n == TESTS_MAX ? err_set(err, ERR_USAGE, "--streams: expected at most %d numbers", TESTS_MAX)
                                : selftest_one(set, str_trim(str_cut(&rest, ',')), &tests[n++], err);
    if (status == 0) {
        selftest_put(set, tests, n, &out);
        if (out.failed)
            status = err_set(err, ERR_SYSTEM, "selftest: out of memory");
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
        .wanted = "llmload selftest takes options only",
        .run = selftest,
    };
    return verb_run(&verb, argc, argv, err);
}
