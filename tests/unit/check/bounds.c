/* bounds.c: values that the recorded hardware cannot reach, at both sides of each bound. */
#include "check/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ENTRIES_MAX = 20 };

struct bounded_run {
    struct arena arena;
    struct check_state k;
    struct run_check r;
    struct check_entry entries[ENTRIES_MAX];
    struct check_sample samples[ENTRIES_MAX];
};

static int order(const void *a, const void *b)
{
    const struct check_entry *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind : strcmp(x->key, y->key);
}

/* A run with these facts: "p:KEY=TEXT", "t:KEY=TEXT" and "m:KEY=NUMBER", blanks between; metrics with their unit in `record`. Returns its findings. */
static const char *findings(const char *facts, const char *record)
{
    static char out[2000], text[1000];
    struct bounded_run *b = calloc(1, sizeof *b);
    struct err err = {0};
    arena_init(&b->arena, 0);
    b->k = (struct check_state){.arena = &b->arena, .limits.findings = 10};
    b->r = (struct run_check){.k = &b->k, .path = "run", .entries = b->entries};
    snprintf(text, sizeof text, "%s", facts);
    for (char *rest = text, *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        *value++ = 0;
        struct check_entry *e = &b->entries[b->r.entry_count];
        struct check_sample *s = &b->samples[b->r.entry_count++];
        *e = (struct check_entry){.kind = word[0], .key = word + 2, .value = str_of(value), .samples = s, .count = word[0] == 'm'};
        str_double(str_of(value), &s->value);
    }
    qsort(b->entries, b->r.entry_count, sizeof *b->entries, order);
    if (json_parse(&b->r.record, str_of(record), NULL, &err) < 0)
        fail_msg("%s", err.text);
    check_bounds(&b->r);
    out[0] = 0;
    for (const struct check_finding *f = b->k.first; f; f = f->next)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s %s: %s", out[0] ? "\n" : "", f->id == CHECK_BOUND ? "error" : "odd", f->path,
                 f->text);
    json_free(b->r.record);
    arena_deinit(&b->arena);
    free(b);
    return out;
}

static void processor_time(void **state)
{
    (void)state;
    assert_string_equal(findings("p:cpu.threads=2 m:run.wall_s=10 m:run.user_s=20 m:run.system_s=2", "{}"), "");
    assert_string_equal(findings("p:cpu.threads=2 m:run.wall_s=10 m:run.user_s=20 m:run.system_s=2.5", "{}"),
                        "odd run/metrics/run.user_s: 22.5 s of processor time in 10 s; the node's 2 threads (param cpu.threads) can use at most 20 s");
    assert_string_equal(findings("p:cpu.threads=1 m:run.wall_s=10 m:run.user_s=20 m:run.system_s=2.5", "{}"),
                        "error run/metrics/run.user_s: 22.5 s of processor time in 10 s; the node's 1 thread (param cpu.threads) can use at most 10 s");
    assert_true(strncmp(findings("p:cpu.threads=1 m:run.wall_s=10 m:run.user_s=20 m:run.system_s=2", "{}"), "odd", 3) == 0);
    assert_string_equal(findings("m:run.wall_s=10 m:run.user_s=2000 m:run.system_s=2", "{}"), ""); /* the threads are not known */
    assert_string_equal(findings("p:cpu.threads=0 m:run.wall_s=10 m:run.user_s=2000 m:run.system_s=2", "{}"), "");
    assert_string_equal(findings("p:cpu.threads=2 m:run.wall_s=10 m:run.user_s=2000", "{}"), "");
}

static void memory(void **state)
{
    (void)state;
    assert_string_equal(findings("p:memory.total_GiB=1 m:run.max_rss_MiB=1075", "{}"), "");
    assert_string_equal(findings("p:memory.total_GiB=1 m:run.max_rss_MiB=1076", "{}"),
                        "error run/metrics/run.max_rss_MiB: 1076 MiB of memory in use; the node has 1024 (param memory.total_GiB)");
    assert_string_equal(findings("m:run.max_rss_MiB=1e9", "{}"), "");
}

static void rates_of_a_benchmark(void **state)
{
    static const char unit[] = "{\"metrics\": {\"copy.bw_x\": {\"unit\": \"GB_per_s\"}}}",
                      mega[] = "{\"metrics\": {\"copy.bw_x\": {\"unit\": \"MB_per_s\"}}}";
    static const char source[] = "3 accesses of 64 B a cycle at 6.5 GHz for each core";
    char expected[400];
    (void)state;
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2500", unit), "");
    snprintf(expected, sizeof expected, "error run/metrics/copy.bw_x: 2501 GB_per_s; this hardware cannot pass 2500 (%s; cores: 2, nodes: 1)", source);
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2501", unit), expected);
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2500000", mega), "");
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2501000", mega), expected);
    assert_string_equal(findings("t:benchmark=other p:cpu.cores=2 m:copy.bw_x=2501", unit), "");
    assert_string_equal(findings("t:benchmark=stream m:copy.bw_x=1e9", unit), ""); /* the cores are not known */
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 p:gpu.count=1 m:copy.bw_x=14500", unit), "");
    assert_non_null(strstr(findings("t:benchmark=stream p:cpu.cores=2 p:gpu.count=1 m:copy.bw_x=14501", unit), "cannot pass 14500 ("));
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 p:step.nodes=3 p:job.nodes=9 m:copy.bw_x=7500", unit), "");
    assert_non_null(strstr(findings("t:benchmark=stream p:cpu.cores=2 p:step.nodes=3 p:job.nodes=9 m:copy.bw_x=7501", unit), "cannot pass 7500 ("));
    assert_non_null(strstr(findings("t:benchmark=stream p:cpu.cores=2 p:job.nodes=2 m:copy.bw_x=5001", unit), "cores: 2, nodes: 2)"));
    assert_string_equal(findings("t:benchmark=stream p:cpu.cores=2 m:copy.bw_x=2501", "{\"metrics\": {\"copy.bw_x\": {\"unit\": \"unknown\"}}}"), "");
    assert_string_equal(findings("t:benchmark=hpl p:cpu.cores=1 m:a.rate_x=416", "{\"metrics\": {\"a.rate_x\": {\"unit\": \"GFLOP_per_s\"}}}"), "");
    assert_non_null(strstr(findings("t:benchmark=hpl p:cpu.cores=1 m:a.rate_x=417", "{\"metrics\": {\"a.rate_x\": {\"unit\": \"GFLOP_per_s\"}}}"),
                           "417 GFLOP_per_s; this hardware cannot pass 416 ("));
}

static void rates_below_zero(void **state)
{
    (void)state;
    assert_string_equal(findings("m:a=-1", "{\"metrics\": {\"a\": {\"unit\": \"MB_per_s\"}}}"), "error run/metrics/a: a rate below zero");
    assert_string_equal(findings("m:a=-1", "{\"metrics\": {\"a\": {\"unit\": \"GTEPS\"}}}"), "error run/metrics/a: a rate below zero");
    assert_string_equal(findings("m:a=0", "{\"metrics\": {\"a\": {\"unit\": \"MB_per_s\"}}}"), "");
    assert_string_equal(findings("m:a=-1", "{\"metrics\": {\"a\": {\"unit\": \"s\"}}}"), "");
    assert_string_equal(findings("m:a=-1", "{\"metrics\": {\"a\": {\"unit\": \"_per_s\"}}}"), "");
    assert_string_equal(findings("m:b=-1", "{\"metrics\": {\"a\": {\"unit\": \"MB_per_s\"}}}"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(processor_time), cmocka_unit_test(memory), cmocka_unit_test(rates_of_a_benchmark),
                                       cmocka_unit_test(rates_below_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
