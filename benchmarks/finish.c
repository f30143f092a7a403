/* finish.c: the end of a reading: params are merged, statistics made, rules of sanity asked, the verdict spoken. */
#include "benchmarks/coverage.h"
#include "benchmarks/finish.h"
#include "mlruns-format/key.h"

#include <inttypes.h>
#include <stdio.h>

unsigned blocks_of(const struct rules_run *run)
{
    return run->blocks ? run->blocks : 1;
}

void ending_source(struct ending *e, const char *who)
{
    const char *text = arena_printf(&e->record->arena, "rule:%s:%s", e->run->rules->name, who);
    e->record->source = text ? text : "rule";
}

void ending_fail(struct ending *e, const char *fmt, ...)
{
    va_list ap;
    if (e->fails++ >= 4)
        return;
    if (e->reasons.n)
        buf_puts(&e->reasons, "; ");
    va_start(ap, fmt);
    buf_vprintf(&e->reasons, fmt, ap);
    va_end(ap);
}

/* Blocks are named by their labels if these are all there and all different, else by number. */
static int name_blocks(struct ending *e)
{
    struct rules_run *run = e->run;
    unsigned n = blocks_of(run);
    bool labels = true;
    e->prefix = arena_get(&run->arena, n * sizeof(*e->prefix));
    if (!e->prefix)
        return -1;
    if (n == 1)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        struct buf b;
        buf_init(&b, 60);
        if (run->block[i].label.n)
            key_segment(&b, run->block[i].label);
        labels = labels && b.n && !b.failed;
        for (unsigned k = 0; labels && k < i; k++)
            labels = strncmp(e->prefix[k], b.p, b.n) || e->prefix[k][b.n] != '.';
        if (labels)
            snprintf(e->prefix[i], sizeof(e->prefix[i]), "%s.", b.p);
        buf_deinit(&b);
        if (!labels)
            break;
    }
    for (unsigned i = 0; !labels && i < n; i++)
        snprintf(e->prefix[i], sizeof(e->prefix[i]), "%s%u.", run->rules->block_name ? run->rules->block_name : "part", i);
    return 0;
}

static void notes_out(struct ending *e)
{
    struct rules_run *run = e->run;
    e->record->source = "rules";
    for (size_t i = 0; i < 2 + run->rules->files; i++) {
        const struct source *s = &run->source[i];
        if (s->long_lines)
            record_warning(e->record, "%s: %zu lines were longer than %d bytes and not read", s->name, s->long_lines, RULES_LINE_MAX);
        if (run->torn[i])
            record_warning(e->record, "%s: a JSON document stops before its end", s->name);
        for (size_t k = 0; k < run->rules->slices; k++)
            if (s->slice[k].torn)
                record_warning(e->record, "%s: the part " STR_FMT " has no end", s->name, STR_ARG(run->rules->slice[k].name));
        if (s->lost)
            record_warning(e->record, "%s: %" PRIu64 " bytes were not kept and not read", s->name, s->lost);
    }
    if (run->gave_up)
        record_warning(e->record, "%zu lines were too hard to match and were left alone", run->gave_up);
    if (run->torn_records)
        record_warning(e->record, "%zu records of a CSV have a quote that does not end and were not read", run->torn_records);
    if (run->blocks_left_out)
        record_warning(e->record, "more than %d tests in one output: %zu were not read", BLOCKS_MAX, run->blocks_left_out);
    if (run->version[0])
        record_tag(e->record, "benchmark.version", str_of(run->version));
}

static void exit_reason(struct ending *e)
{
    if (e->signal)
        ending_fail(e, "killed by signal %d (%s)", e->signal, strsignal(e->signal));
    else if (e->exit_code > 0)
        ending_fail(e, "exit status %d", e->exit_code);
}

int finish(struct rules_run *run, int exit_code, int signal, int64_t base_ms, struct record *record, struct rules_outcome *ret,
           struct err *err)
{
    struct ending e = {.run = run, .record = record, .exit_code = exit_code, .signal = signal, .base_ms = base_ms};
    const char *source = record->source;
    buf_init(&e.reasons, 2000);
    buf_init(&e.disagree, 4000);
    if (name_blocks(&e))
        return err_set(err, ERR_SYSTEM, "no memory to end the reading");
    notes_out(&e);
    params_out(&e);
    exit_reason(&e);
    series_drop(&e);
    computed_take(&e);
    size_t before = e.fails;
    int rc = metrics_out(&e, err);
    record->source = "rules";
    headlines_record(&e.headlines, record);
    for (size_t i = 0; i < run->rules->checks; i++)
        check_one(&e, run->rules->check[i]);
    for (size_t i = 0; i < run->rules->requireds; i++)
        required_one(&e, &run->rules->required[i]);
    if (run->coverage)
        coverage_end(run);
    if (e.fails > 4)
        buf_printf(&e.reasons, "; and %zu more", e.fails - 4);
    const char *reason = arena_printf(&record->arena, "%s", e.reasons.p ? e.reasons.p : "");
    *ret = (struct rules_outcome){
        .verdict = e.fails ? VERDICT_FAIL : VERDICT_PASS, .reason = reason ? reason : "", .complete = e.fails == before};
    buf_deinit(&e.reasons);
    record->source = source;
    return rc;
}
