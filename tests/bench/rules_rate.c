/* rules_rate.c: how many MB of raw output the rule engine reads in a second of one core, and in how much memory. Prints a row per log:
 * what, value, unit, bar, peers (separated by tabs). --log FILE [quick]: writes that log, for the peers to read. */
/* link: core */
#include "base/buf.h"
#include "benchmarks/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* A piece of an IO500 run's log: what surrounds the few lines that matter. */
static const char *const noise[] = {
    "[node01:02121] 1 more process has sent help message help-mpi-api.txt / mpi-abort\n",
    "[1692003145.261430] [nid004512:41823:0]    ucp_context.c:1774 UCX  WARN  UCP version is incompatible, required: 1.15, actual: 1.12\n",
    "stonewalling pairs accessed min: 66 max: 72 -- min data: 0.0 GiB mean data: 0.0 GiB time: 1.0s\n",
    "2023-11-02 04:11:58.771 INFO client: reconnected to target OST0013 after 3 attempts, 17 requests resent\n",
    "libpreload: tracing enabled for process 48213 on host nid004512, buffer 4096 KiB, flush interval 5 s\n",
    "WARNING: Using actual aggregate bytes moved = 28398122434560\n",
    "loop 412: residual 3.441e-07, write buffer 81 percent, read ahead 12 pages, open files 3\n",
};
static const char table[] = "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n";

static void fill(struct buf *b, size_t size)
{
    unsigned random = 1;
    while (b->n + 4096 < size) {
        random = random * 1103515245u + 12345u;
        buf_puts(b, noise[(random >> 16) % (sizeof(noise) / sizeof(noise[0]))]);
    }
}

static const char head[] = "Options: \nrepetitions         : 1000\n\nResults: \n\n";

static int row_print(char *row, size_t size, size_t i)
{
    return snprintf(row, size, "write     1188.36    18830      0.000096    1024.00    256.00     0.001256   0.000425   0.000043   0.001683   %zu\n", i);
}

/* The same log as a file, for the peers. */
static int write_log(const char *path, const struct buf *log, size_t times)
{
    FILE *f = fopen(path, "w");
    char row[256];
    if (!f) {
        perror(path);
        return 1;
    }
    fprintf(f, "%s%s", head, table);
    for (size_t i = 0; i < times; i++) {
        row_print(row, sizeof(row), i);
        fputs(row, f);
        fwrite(log->p, 1, log->n, f);
    }
    bool lost = ferror(f);
    if (fclose(f) || lost) {
        perror(path); /* the log has 1 GB: a full disk */
        return 1;
    }
    return 0;
}

static double one(const char *path, const struct buf *log, size_t times, size_t *ret_metrics)
{
    struct rules *rules;
    struct rules_run *run;
    struct rules_outcome out;
    struct record record;
    struct err err = {0};
    char row[256];
    if (rules_load(&rules, path, &err) || rules_begin(&run, rules, NULL, NULL, &err)) {
        fprintf(stderr, "rules_rate: %s\n", err.text);
        exit(1);
    }
    clock_t from = clock();
    rules_feed(run, "stdout", head, sizeof(head) - 1);
    rules_feed(run, "stdout", table, sizeof(table) - 1);
    for (size_t i = 0; i < times; i++) {
        int n = row_print(row, sizeof(row), i);
        rules_feed(run, "stdout", row, (size_t)n);
        for (size_t at = 0; at < log->n; at += 256 << 10)
            rules_feed(run, "stdout", log->p + at, log->n - at < 256 << 10 ? log->n - at : 256 << 10);
    }
    record_init(&record, "00000000000000000000000000000000", 1);
    if (rules_end(run, 0, 0, 1, &record, &out, &err)) {
        fprintf(stderr, "rules_rate: %s\n", err.text);
        exit(1);
    }
    clock_t to = clock(); /* of the processor: a core shared with others is not one core */
    *ret_metrics = 0;
    for (const struct fact *f = record.first; f; f = f->next)
        *ret_metrics += f->kind == FACT_METRIC && str_is(f->key, "write.bw_MiB_per_s");
    record_deinit(&record);
    rules_free(rules);
    return (double)(log->n * times) / 1e6 / ((double)(to - from) / CLOCKS_PER_SEC);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    size_t times = quick ? 8 : 64, metrics;
    struct rusage before, after;
    struct buf log;
    buf_init(&log, 17 << 20);
    fill(&log, 16 << 20);
    if (argc > 2 && !strcmp(argv[1], "--log"))
        return write_log(argv[2], &log, argc > 3 ? 8 : times);
    getrusage(RUSAGE_SELF, &before);
    double rate = one("shipped:ior", &log, times, &metrics);
    getrusage(RUSAGE_SELF, &after);
    if (metrics != times) {
        fprintf(stderr, "rules_rate: %zu rows of %zu were read\n", metrics, times);
        return 1;
    }
    printf("IOR's rules over %zu MB of noise\t%.0f\tMB/s\t>=200\t-\n", log.n * times / 1000000, rate);
    printf("memory of that reading\t%.1f\tMiB\tconstant\t-\n", (double)(after.ru_maxrss - before.ru_maxrss) / 1024);
    buf_deinit(&log);
    return 0;
}
