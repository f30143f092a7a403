/* finish.c: the end of a reading: params are merged, statistics made, rules of sanity checked, the
 * verdict decided. */
#include "base/exit_words.h"
#include "benchmarks/catalogue.h"
#include "benchmarks/coverage.h"
#include "benchmarks/finish.h"
#include "mlruns-format/key.h"

#include <inttypes.h>
#include <stdio.h>

unsigned blocks_of(const struct rules_run *run)
{
    return run->blocks ? run->blocks : 1;
}

const char *version_of_block(const struct rules_run *run, unsigned block)
{
    return run->block[block].version[0] ? run->block[block].version : run->version;
}

/* One version of the program for all, or, where one output has several, each test's own. */
static void versions_out(struct ending *e)
{
    struct rules_run *run = e->run;
    unsigned n = blocks_of(run);
    bool same = true;
    for (unsigned b = 1; b < n; b++)
        same = same && strcmp(version_of_block(run, b), version_of_block(run, 0)) == 0;
    for (unsigned b = 0; b < (same ? 1 : n); b++) {
        char key[100];
        const char *version = version_of_block(run, b);
        snprintf(key, sizeof key, "%sbenchmark.version", same ? "" : e->prefix[b]);
        if (version[0])
            record_tag(e->record, key, str_of(version));
    }
}

void ending_source(struct ending *e, const char *who)
{
    const char *text = arena_printf(&e->record->arena, "rule:%s:%s", e->run->rules->name, who);
    e->record->source = text ? text : "rule";
}

enum { REASONS_SHOWN = 4, REASON_MAX = 500 /* characters of one */, REASON_BYTES = 6 * REASON_MAX + 4 };

/* Adds a reason to the text. Those after the first REASONS_SHOWN are only counted. */
static void fails_add(struct fails *f, const char *prefix, const char *join, struct str text)
{
    if (f->n++ >= REASONS_SHOWN)
        return;
    if (!f->reasons.max)
        buf_init(&f->reasons, REASONS_SHOWN * (REASON_BYTES + 100));
    buf_printf(&f->reasons, "%s%s%s" STR_FMT, f->reasons.n ? "; " : "", prefix, prefix[0] ? join : "", STR_ARG(text));
}

/* All reasons as one text, in the record; the rest is counted. */
static const char *fails_text(struct fails *f, struct record *record)
{
    if (f->n > REASONS_SHOWN)
        buf_printf(&f->reasons, "; and %zu more", f->n - REASONS_SHOWN);
    const char *text = arena_printf(&record->arena, "%s", f->reasons.p ? f->reasons.p : "");
    buf_deinit(&f->reasons);
    return text ? text : "";
}

void ending_fail(struct ending *e, int block, const char *join, const char *fmt, ...)
{
    va_list ap;
    CLEANUP_BUF struct buf all, text;
    buf_init(&all, CATALOGUE_FILE_MAX + 4096); /* a rule file's reason may be long */
    buf_init(&text, REASON_BYTES);
    va_start(ap, fmt);
    buf_vprintf(&all, fmt, ap);
    va_end(ap);
    buf_plain(&text, buf_text(&all), REASON_MAX);
    fails_add(&e->fails, block < 0 ? "" : e->prefix[block], join, buf_text(&text));
    if (e->of_block && block >= 0)
        fails_add(&e->of_block[block], "", "", buf_text(&text));
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

/* Records a warning for each part of the output that was not read, and the version. */
static void notes_out(struct ending *e)
{
    struct rules_run *run = e->run;
    e->record->source = "rules";
    for (size_t i = 0; i < 2 + run->rules->files; i++) {
        const struct source *s = &run->source[i];
        if (s->long_lines)
            record_warning(e->record, "%s: not read: %zu line%s of more than %d bytes", s->name, s->long_lines, str_plural(s->long_lines),
                           RULES_LINE_MAX);
        if (s->unended)
            record_warning(e->record, "%s: the last line has no end; it may be cut and is not read", s->name);
        if (run->torn[i])
            record_warning(e->record, "%s: a JSON document stops before its end", s->name);
        for (size_t k = 0; k < run->rules->slices; k++)
            if (s->slice[k].torn)
                record_warning(e->record, "%s: the part " STR_FMT " has no end", s->name, STR_ARG(run->rules->slice[k].name));
        if (s->lost)
            record_warning(e->record, "%s: not kept and not read: %" PRIu64 " byte%s", s->name, s->lost, str_plural(s->lost));
    }
    if (run->guesses_left_out)
        record_warning(e->record, "more than %d metrics were guessed: ignored %zu line%s with further ones", GUESSES_MAX,
                       run->guesses_left_out, str_plural(run->guesses_left_out));
    if (run->gave_up)
        record_warning(e->record, "ignored %zu line%s, too hard to match", run->gave_up, str_plural(run->gave_up));
    if (run->values_left_out)
        record_warning(e->record, "more than %d values of params: ignored %zu further ones", PARAM_VALUES_MAX, run->values_left_out);
    if (run->torn_records)
        record_warning(e->record, "not read: %zu record%s of a CSV, with a quote that does not end", run->torn_records,
                       str_plural(run->torn_records));
    if (run->blocks_left_out)
        record_warning(e->record, "more than %d tests in one output, not read: %zu", BLOCKS_MAX, run->blocks_left_out);
    ending_source(e, "version");
    versions_out(e);
}

/* Did the rules read anything, in a block or with block -1 in all? Rules that read nothing of an output judge nothing. */
static bool has_evidence(const struct ending *e, int block)
{
    const struct rules_run *run = e->run;
    unsigned from = block < 0 ? 0 : (unsigned)block, to = block < 0 ? blocks_of(run) : from + 1;
    for (size_t i = 0; i < run->rules->checks; i++) {
        const struct check *c = run->rules->check[i];
        if ((c->kind == CHECK_MUST && matches_of(run, c, block, NULL)) || (c->kind == CHECK_FILE && run->source[2 + c->file].found))
            return true;
    }
    for (size_t i = 0; i < run->rules->readers; i++)
        for (unsigned b = from; b < to; b++)
            if (row_counted(run, (unsigned)i, b, NULL))
                return true;
    return block < 0 && e->metrics > 0;
}

/* What a program reports while it runs is not its result. */
static void superseded_fail(struct ending *e)
{
    for (size_t i = 0; i < e->run->rules->readers; i++)
        if (e->run->staged[i].superseded) {
            ending_fail(e, -1, "", "the last JSON document stops before its end: the values are those of an earlier report");
            return;
        }
}

/* A document that ends within its results, or a row that ends early, has lost some of them. */
static void torn_fail(struct ending *e)
{
    if (e->run->torn_results && !e->run->rules->guess)
        ending_fail(e, -1, "", "the output ends within a JSON document that has results: it is cut");
    if (e->run->torn_rows && !e->run->rules->guess)
        ending_fail(e, -1, "", "the output ends within a row of a CSV: it is cut");
}

/* Rows that cannot be read: a statistic of the others would be another number. */
static void unread_fail(struct ending *e)
{
    const struct unread *u = &e->run->unread;
    if (u->lines && !e->run->rules->guess)
        ending_fail(e, -1, "", "incomplete: numbers with digits in groups or decimal commas are not read: \"%s\"", u->line);
}

/* Where a part is lost and no value is left, the part may have held them, or an error. */
static void lost_fail(struct ending *e)
{
    bool lost = false;
    for (size_t i = 0; i < 2 + e->run->rules->files; i++)
        lost = lost || e->run->source[i].lost;
    if (lost && !e->metrics && !e->fails.n && !e->run->rules->guess)
        ending_fail(e, -1, "", "part of the output was not kept, and the rest has no result");
}

/* The content of lines that were not read is not known: a result, or an error. */
static void hopeless_fail(struct ending *e)
{
    if (e->run->hopeless && !e->run->rules->guess)
        ending_fail(e, -1, "", "the lines of the output are too hard for the patterns, so they were not all read");
    else if (e->run->gave_up && !e->run->rules->guess)
        ending_fail(e, -1, "", "not read: %zu line%s, too hard for the patterns", e->run->gave_up, str_plural(e->run->gave_up));
}

/* Exit status and signal count for the run and for each test. */
static void exit_reason(struct ending *e)
{
    char text[EXIT_WORDS_SIZE];
    exit_words(text, e->exit_code, e->signal);
    if (!text[0])
        return;
    fails_add(&e->fails, "", "", str_of(text));
    for (unsigned b = 0; e->of_block && b < blocks_of(e->run); b++)
        fails_add(&e->of_block[b], "", "", str_of(text));
}

/* The tests one by one, for child runs. */
static void blocks_out(struct ending *e, struct rules_outcome *ret)
{
    unsigned n = blocks_of(e->run);
    bool exited = e->signal || e->exit_code > 0;
    struct rules_block *block = e->of_block ? arena_get(&e->record->arena, n * sizeof(*block)) : NULL;
    for (unsigned b = 0; e->of_block && b < n; b++) {
        size_t fails = e->of_block[b].n;
        const char *reason = fails_text(&e->of_block[b], e->record), *name = e->prefix[b];
        if (block)
            block[b] = (struct rules_block){.name = arena_printf(&e->record->arena, "%.*s", (int)strlen(name) - 1, name),
                                            .verdict = fails                     ? VERDICT_FAIL
                                                       : has_evidence(e, (int)b) ? VERDICT_PASS
                                                                                 : VERDICT_NONE,
                                            .reason = reason,
                                            .complete = fails == exited};
    }
    ret->block = block;
    ret->blocks = block ? n : 0;
}

int finish_reading(struct rules_run *run, int exit_code, int signal, int64_t base_ms, struct record *record, struct rules_outcome *ret,
                   struct err *err)
{
    struct ending e = {.run = run, .record = record, .exit_code = exit_code, .signal = signal, .base_ms = base_ms};
    const char *source = record->source;
    buf_init(&e.disagree, 4000);
    bool one_by_one = run->rules->block_runs && blocks_of(run) > 1;
    if (name_blocks(&e) || (one_by_one && !(e.of_block = arena_get(&run->arena, blocks_of(run) * sizeof(*e.of_block)))))
        return err_memory(err, "the end of the reading");
    notes_out(&e);
    if (params_out(&e, err))
        return -1;
    exit_reason(&e);
    superseded_fail(&e);
    torn_fail(&e);
    unread_fail(&e);
    hopeless_fail(&e);
    series_drop(&e);
    computed_take(&e);
    size_t before = e.fails.n;
    int rc = metrics_out(&e, err);
    lost_fail(&e);
    record->source = "rules";
    headlines_record(&e.headlines, record);
    const char *no_metrics = explain_left_out(&e);
    for (size_t i = 0; i < run->rules->checks; i++)
        check_one(&e, run->rules->check[i]);
    for (size_t i = 0; i < run->rules->requireds; i++)
        required_one(&e, &run->rules->required[i]);
    if (run->coverage)
        coverage_end(run);
    bool judges = !run->rules->guess && has_evidence(&e, -1);
    *ret = (struct rules_outcome){.verdict = e.fails.n ? VERDICT_FAIL
                                             : judges  ? VERDICT_PASS
                                                       : VERDICT_NONE,
                                  .complete = e.fails.n == before,
                                  .lines = run->lines,
                                  .metrics = e.metrics,
                                  .no_metrics = no_metrics,
                                  .ignored = run->ignored};
    ret->reason = fails_text(&e.fails, record);
    if (ret->verdict == VERDICT_NONE && !run->rules->guess)
        ret->reason = "the rules read nothing from the output";
    blocks_out(&e, ret);
    record->source = source;
    return rc;
}
