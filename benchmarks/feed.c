/* feed.c: bytes become lines, lines become rows: one pass, constant memory, in pieces as they come. */
#include "benchmarks/slices.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/redrawn.h"

#include <stdlib.h>

/* What a reading may hold: samples, names, one line. Reached only by hostile output; then the
 * record has a warning. */
enum { RUN_MEMORY = 256 << 20 };
/* What a hostile output may cost: so many lines that no pattern can master, or so much time on lines so long. */
enum { GAVE_UP_MAX = 1000, LONG_LINE = 1024 };
static const int64_t SLOW_MAX_NS = 10 * 1000000000LL;

int rules_begin(struct rules_run **ret, const struct rules *rules, char *const *argv, char *const *env, struct err *err)
{
    struct rules_run *run = calloc(1, sizeof(*run));
    if (!run)
        return err_memory(err, "reading the output");
    arena_init(&run->arena, RUN_MEMORY);
    run->rules = rules;
    run->values_tail = &run->values;
    run->block = arena_get(&run->arena, (BLOCKS_MAX + 1) * sizeof(*run->block)); /* the last is of tests that are not read */
    bool good = run->block != NULL;
    for (size_t s = 0; s < 2 + rules->files; s++) {
        struct source *source = &run->source[s];
        source->index = (int)s;
        source->name = s == 0 ? "stdout" : s == 1 ? "stderr" : rules->file[s - 2];
        for (size_t i = 0; i < rules->readers && good; i++) {
            const struct reader *r = rules->reader[i];
            if (r->kind->state_size && r->sources >> s & 1)
                good = (source->state[i] = arena_get(&run->arena, r->kind->state_size)) != NULL;
        }
    }
    for (size_t i = 0; i < rules->readers; i++)
        run->staged[i].tail = &run->staged[i].open;
    if (!good) {
        arena_deinit(&run->arena);
        free(run);
        return err_memory(err, "reading the output");
    }
    slices_start(run);
    if (argv)
        args_take(run, argv);
    if (env)
        environment_take(run, env);
    *ret = run;
    return 0;
}

/* Counts the line for the check where its source and slice are read and the pattern matches. */
static void check_line(struct rules_run *run, struct source *source, const struct check *c, struct str line)
{
    if (!(c->sources >> source->index & 1) || !slice_open(source, c->slice))
        return;
    int found = pattern_match(c->pattern, line, NULL);
    if (found == 1)
        row_count(run, c->bit, source->block, slice_generation(run, source, c->slice), line);
    else if (found < 0)
        run->gave_up++;
}

/* Passes a line to a reader of this source whose slice is open, and records whether the reader
 * requires each next line. */
static void reader_line(struct rules_run *run, struct source *source, const struct reader *r, struct str line)
{
    void *state = source->state[r->index];
    if (!(r->sources >> source->index & 1) || !slice_open(source, r->slice))
        return;
    if (run->unterminated && !r->kind->delimits) {
        source->unended = true;
        return;
    }
    source->touched[r->index] = true;
    r->kind->line(run, source, r, state, line);
    if (!r->kind->hungry)
        return;
    uint64_t *word = &source->hungry.word[r->index / 64], bit = (uint64_t)1 << (r->index % 64);
    *word = r->kind->hungry(r, state) ? *word | bit : *word & ~bit;
}

/* What remains to be read of a line that may matter. */
static struct str line_clean(struct rules_run *run, struct source *source, struct str line)
{
    if (run->rules->keep_prefix)
        return redrawn_last(line);
    return wrapped_text(&source->wrapped, line);
}

/* found: the result of the prefilter for the unchanged line; NULL: it has not run. */
static void line_look(struct rules_run *run, struct source *source, struct str line, const struct prefilter_mask *found)
{
    const struct rules *rules = run->rules;
    struct prefilter_mask mask = source->hungry;
    bool look = false, clean = false, foreign = false;
    if (wrapped_bare(&source->wrapped, &line))
        found = NULL;
    if (!found)
        prefilter_scan(rules->prefilter, line, &mask);
    for (size_t i = 0; i < PREFILTER_BITS / 64; i++) {
        mask.word[i] |= rules->always.word[i] | (found ? found->word[i] : 0);
        look = look || mask.word[i];
    }
    if (look && rules->slices) {
        line = line_clean(run, source, line);
        clean = true;
        slices_line(run, source, &mask, line);
    }
    if (look && unread_begin(run, line)) {
        line = clean ? line : line_clean(run, source, line);
        clean = foreign = true;
    }
    for (size_t i = 0; look && i < PREFILTER_BITS / 64; i++)
        for (uint64_t bits = mask.word[i]; bits; bits &= bits - 1) {
            unsigned bit = (unsigned)(i * 64) + (unsigned)__builtin_ctzll(bits);
            if (!clean)
                line = line_clean(run, source, line);
            clean = true;
            if (bit < READERS_MAX)
                reader_line(run, source, rules->reader[bit], line);
            else if (bit < SLICE_BIT(0))
                check_line(run, source, rules->check[bit - READERS_MAX], line);
        }
    if (foreign)
        unread_end(run, source, &mask, line);
}

/* Reads a line. Ignores long lines once they used SLOW_MAX_NS, and all lines once more than
 * GAVE_UP_MAX were too hard to match. */
static void line_take(struct rules_run *run, struct source *source, struct str line, const struct prefilter_mask *found)
{
    run->lines++;
    if (line.n <= LONG_LINE && run->gave_up <= GAVE_UP_MAX) {
        line_look(run, source, line, found);
        return;
    }
    if (run->hopeless)
        return;
    int64_t from = clock_mono_ns();
    line_look(run, source, line, found);
    run->slow_ns += clock_mono_ns() - from;
    run->hopeless = run->slow_ns > SLOW_MAX_NS || run->gave_up > GAVE_UP_MAX;
}

/* Keeps the beginning of a line that is not over yet; what passes RULES_LINE_MAX is thrown away. */
static void line_keep(struct source *source, const char *p, size_t n)
{
    if (source->cut_line)
        return;
    if (source->line_n + n > RULES_LINE_MAX) {
        n = RULES_LINE_MAX - source->line_n;
        source->cut_line = true;
        source->long_lines++;
    }
    if (!ARRAY_FITS(source->line, source->line_room, source->line_n + n)) {
        source->cut_line = true;
        source->long_lines++;
        return;
    }
    if (n) /* else there may be no memory yet */
        memcpy(source->line + source->line_n, p, n);
    source->line_n += n;
}

static void line_end(struct rules_run *run, struct source *source)
{
    if (!source->fragment && !source->cut_line)
        line_take(run, source, (struct str){source->line, source->line_n}, NULL);
    source->line_n = 0;
    source->cut_line = source->fragment = false;
}

/* Returns the stream or file of this name ("merged" is stdout); NULL: the rules have no such
 * source. */
static struct source *source_of(struct rules_run *run, const char *name)
{
    for (size_t i = 0; i < 2 + run->rules->files; i++)
        if (!strcmp(run->source[i].name, name))
            return &run->source[i];
    return !strcmp(name, "merged") ? &run->source[0] : NULL;
}

/* Reads complete lines, several at a time. Returns where the first line begins that is incomplete
 * or too long. */
static const char *lines_take(struct rules_run *run, struct source *source, const char *p, const char *end)
{
    enum { TOGETHER = 32 };
    struct str line[TOGETHER];
    struct prefilter_mask found[TOGETHER];
    for (size_t n = TOGETHER; n == TOGETHER;) {
        for (n = 0; n < TOGETHER; n++) {
            const char *nl = memchr(p, '\n', (size_t)(end - p));
            if (!nl || nl - p > RULES_LINE_MAX)
                break;
            line[n] = (struct str){p, (size_t)(nl - p)};
            p = nl + 1;
        }
        prefilter_scan_all(run->rules->prefilter, line, n, found);
        for (size_t i = 0; i < n; i++)
            line_take(run, source, line[i], &found[i]);
    }
    return p;
}

bool rules_own_word(const void *rules, struct str word)
{
    const struct rules *own = rules;
    if (own->guess) /* of a program that is not known each word may be its own */
        return true;
    for (size_t i = 0; i < own->readers; i++)
        for (size_t k = 0; k < own->reader[i]->literals; k++)
            if (own->reader[i]->literal[k].n > 1 &&
                (str_find(word, str_trim(own->reader[i]->literal[k])) >= 0 || str_find(own->reader[i]->literal[k], word) >= 0))
                return true;
    return str_eq(word, str_of(own->name));
}

/* Reads the lines of the text. Stores the beginning of a last line without an end for the next
 * call. */
static void text_feed(struct rules_run *run, struct source *source, const char *p, const char *end)
{
    if (!source->fed && p < end && !run->rules->keep_prefix)
        wrapped_begin(&source->wrapped, (struct str){p, (size_t)(end - p)}, rules_own_word, run->rules);
    source->fed = source->fed || p < end;
    while (p < end) {
        if (!source->line_n && !source->cut_line && !source->fragment && (p = lines_take(run, source, p, end)) == end)
            return;
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        line_keep(source, p, (size_t)((nl ? nl : end) - p));
        if (!nl)
            return;
        line_end(run, source);
        p = nl + 1;
    }
}

static void source_lose(struct source *source, uint64_t bytes)
{
    source->lost += bytes;
    source->line_n = 0; /* half a line before the gap, half a line behind it: neither is one */
    source->cut_line = false;
    source->fragment = true;
}

void rules_feed(struct rules_run *run, const char *name, const void *data, size_t n)
{
    enum { HOLE_BYTES = 16 };
    struct source *source = source_of(run, name);
    const char *p = data, *end = p + n;
    for (const char *zero = p; source && p < end && (zero = memchr(zero, 0, (size_t)(end - zero)));) {
        const char *behind = zero;
        while (behind < end && !*behind)
            behind++;
        if (behind - zero >= HOLE_BYTES) { /* zeros are what a file system leaves where a block was not written */
            text_feed(run, source, p, zero);
            source_lose(source, (uint64_t)(behind - zero));
            p = behind;
        }
        zero = behind;
    }
    if (source)
        text_feed(run, source, p, end);
}

void rules_found(struct rules_run *run, const char *name)
{
    struct source *source = source_of(run, name);
    if (source)
        source->found = true;
}

void rules_files_known(struct rules_run *run)
{
    run->files_known = true;
}

void rules_cut(struct rules_run *run, const char *name, uint64_t bytes)
{
    struct source *source = source_of(run, name);
    if (source)
        source_lose(source, bytes);
}

void rules_drop(struct rules_run *run)
{
    if (!run)
        return;
    for (size_t i = 0; i < SOURCES_MAX; i++) {
        free(run->source[i].line);
        wrapped_deinit(&run->source[i].wrapped);
    }
    for (size_t i = 0; i < READERS_MAX; i++) {
        arena_deinit(&run->staged[i].open_arena);
        arena_deinit(&run->staged[i].whole_arena);
    }
    arena_deinit(&run->arena);
    free(run);
}

/* Reads the rows of the last complete document: only now is it known which that was. */
static void take_staged(struct rules_run *run)
{
    for (size_t i = 0; i < run->rules->readers; i++) {
        const struct reader *r = run->rules->reader[i];
        for (struct staged_row *row = run->staged[i].whole; row; row = row->next)
            row_take(run, row->source, r, row->cell, NULL, row->block);
        for (struct series *s = run->staged[i].cut ? run->series : NULL; s; s = s->next)
            s->overflow = s->overflow || s->reader == r;
    }
}

/* A number could have more digits, and behind a number and a blank a row could have more columns. */
static bool may_go_on(struct str line)
{
    size_t n = line.n;
    while (n && (line.p[n - 1] == ' ' || line.p[n - 1] == '\t'))
        n--;
    while (n && (line.p[n - 1] == 'e' || line.p[n - 1] == 'E' || line.p[n - 1] == '.' || line.p[n - 1] == ',' || line.p[n - 1] == '-' ||
                 line.p[n - 1] == '+'))
        n--;
    return n && str_is_digit(line.p[n - 1]);
}

int rules_end(struct rules_run *run, int exit_code, int signal, int64_t base_ms, struct record *record, struct rules_outcome *ret,
              struct err *err)
{
    for (size_t s = 0; s < 2 + run->rules->files; s++) {
        struct source *source = &run->source[s];
        /* A last line without a newline is complete if the program ended with status 0. Of a stored output, whose status is not known, it counts
         * unless it may continue. */
        run->last_line = !(exit_code == 0 && signal == 0);
        run->unterminated = run->last_line && !(exit_code < 0 && signal == 0 && !may_go_on((struct str){source->line, source->line_n}));
        if (source->line_n && !source->fragment)
            line_end(run, source);
        run->unterminated = run->last_line = false;
        for (size_t i = 0; i < run->rules->readers; i++) {
            const struct reader *r = run->rules->reader[i];
            if (r->kind->end && source->fed && r->sources >> source->index & 1 && slice_open(source, r->slice))
                r->kind->end(run, source, r, source->state[i]);
        }
    }
    take_staged(run);
    slices_end(run, exit_code <= 0 && signal == 0);
    int rc = run->arena.failed ? err_set(err, ERR_INPUT, "rules %s: the output has more results than 256 MiB can hold", run->rules->name)
                               : finish_reading(run, exit_code, signal, base_ms, record, ret, err);
    rules_drop(run);
    return rc;
}
