/* selftest.c: `llmload selftest`: the client's measurement error on this machine. */
#include "benchmarks/native/llmload/calibrate.h"
#include "benchmarks/native/llmload/engine.h"
#include "benchmarks/native/llmload/verbs.h"

#include "base/opt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static const struct opt_row rows[] = {
    {"streams", 's', OPT_TEXT, "N,N…", NULL, "100,1000", "Selftest", "streams at a time, one test for each", 0},
    {"tokens", 0, OPT_INT, "N", NULL, "20", "Selftest", "tokens of an answer", 0},
    {"itl", 0, OPT_DURATION, "T", NULL, NULL, "Selftest",
     "token to token (default: 10ms, and more where that were above 50,000 events per second)", 0},
    {"threads", 0, OPT_INT, "N", NULL, "0", "Selftest", "event loops of the client; 0: one per CPU", 0},
    {"user-clock", 0, OPT_FLAG, NULL, NULL, NULL, "Selftest", "without the kernel's receive stamps", 0},
    {"json", 0, OPT_FLAG, NULL, NULL, NULL, "Selftest", "one JSON object", 0},
    {"help", 'h', OPT_FLAG, NULL, NULL, NULL, "Selftest", "this text", 0},
};

static int one(const struct opt_set *set, struct str count, bool first, struct buf *to, struct err *err)
{
    uint64_t streams;
    struct calibration c;
    if (!str_uint(count, &streams) || !streams || streams > 1000000)
        return err_set(err, ERR_USAGE, "--streams: \"%.*s\" is not a number of streams", (int)(count.n < 40 ? count.n : 40), count.p);
    struct calibration_plan plan = calibration_plan_for((unsigned)streams);
    plan.tokens = (unsigned)opt_integer(set, "tokens");
    plan.threads = (unsigned)opt_integer(set, "threads");
    plan.user_clock = opt_on(set, "user-clock");
    if (opt_text(set, "itl"))
        plan.itl_s = opt_seconds(set, "itl");
    if (plan.tokens < 2 || plan.tokens > 100000)
        return err_set(err, ERR_USAGE, "--tokens: from 2 to 100000");
    if (calibrate(&c, &plan, err) < 0) {
        calibration_deinit(&c);
        return -1;
    }
    if (opt_on(set, "json")) {
        buf_puts(to, first ? "" : ",");
        calibration_json(&c, to);
    } else {
        calibration_table(&c, to);
    }
    calibration_deinit(&c);
    return 0;
}

static int selftest(const struct opt_set *set, char **operands, struct err *err)
{
    (void)operands;
    struct buf out CLEANUP_BUF;
    int status = 0;
    bool first = true;
    buf_init(&out, 1 << 20);
    const struct sigaction stop = {.sa_handler = engine_stop};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    opt_on(set, "json") ? buf_puts(&out, "{\"selftest\":[") : calibration_head(&out);
    for (struct str rest = str_of(opt_text(set, "streams")); rest.p && status == 0; first = false)
        status = one(set, str_trim(str_cut(&rest, ',')), first, &out, err);
    if (opt_on(set, "json"))
        buf_puts(&out, "]}\n");
    if (status == 0 && (fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout) != 0))
        status = err_sys(err, "writing");
    return status;
}

int selftest_main(int argc, char **argv, struct err *err)
{
    static const struct verb verb = {
        .usage = "selftest [OPTIONS]",
        .about = "Measures the client's own error on this machine.",
        .rows = rows,
        .count = sizeof rows / sizeof *rows,
        .wanted = "llmload selftest takes options only",
        .run = selftest,
    };
    return verb_run(&verb, argc, argv, err);
}
