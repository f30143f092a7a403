/* pages_index.c: the index of the pages' folder. One line for each set of facts ("F"), then one for each run ("R"), then the CRC of all before ("E"). */
#include "pages/pages_index.h"

#include "base/array.h"
#include "base/fs.h"
#include "mlruns-format/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_HEAD "benchwrap-pages\t9"
enum { INDEX_MAX = 1 << 30 };

/* ---- fields ---- */

static void put_index_field(struct buf *to, const char *text)
{
    buf_putc(to, '\t');
    for (; *text; text++)
        if (*text == '\t' || *text == '\n' || *text == '\\')
            buf_printf(to, "\\%c", *text == '\t' ? 't' : *text == '\n' ? 'n' : '\\');
        else
            buf_putc(to, *text);
}

/* Returns the next field, without its escapes. NULL: there is none, or out of memory. */
static const char *take_field(struct str *line, struct arena *a)
{
    if (!line->p)
        return NULL;
    struct str raw = str_cut(line, '\t');
    char *text = arena_dup(a, raw.p, raw.n), *to = text;
    for (const char *p = text; p && *p; p++) {
        bool escaped = *p == '\\' && p[1];
        char c = escaped ? *++p : *p;
        *to++ = !escaped ? c : c == 't' ? '\t' : c == 'n' ? '\n' : c;
    }
    if (text)
        *to = 0;
    return text;
}

/* ---- sets of facts ---- */

struct facts_table { /* by id, open addressing */
    const struct page_facts **slots;
    size_t size, count;
};

static const struct page_facts **facts_slot(const struct facts_table *t, const char *id)
{
    size_t i = crc32c_extend(0, id, strlen(id)) & (t->size - 1);
    while (t->slots[i] && strcmp(t->slots[i]->id, id) != 0)
        i = (i + 1) & (t->size - 1);
    return &t->slots[i];
}

/* Makes capacity for one more entry; the table stays at most half full. Returns false when out of
 * memory; the table is then unchanged. */
static bool facts_reserve(struct facts_table *t)
{
    if (2 * (t->count + 1) < t->size)
        return true;
    struct facts_table grown = {.size = t->size ? 2 * t->size : 1024, .count = t->count};
    grown.slots = calloc(grown.size, sizeof(struct page_facts *));
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i])
            *facts_slot(&grown, t->slots[i]->id) = t->slots[i];
    free(t->slots);
    *t = grown;
    return true;
}

/* Returns the set of that id which is in the table already, else the set itself. NULL: out of
 * memory. */
static const struct page_facts *facts_share(struct facts_table *t, const struct page_facts *facts)
{
    if (!facts_reserve(t))
        return NULL;
    const struct page_facts **slot = facts_slot(t, facts->id);
    if (!*slot) {
        *slot = facts;
        t->count++;
    }
    return *slot;
}

int pages_facts_share(struct page_data *data, struct err *err)
{
    struct facts_table t = {0};
    bool failed = false;
    for (size_t i = 0; i < data->count && !failed; i++) {
        struct page_run *run = &data->runs[i];
        run->inputs = facts_share(&t, run->inputs);
        run->conditions = run->inputs ? facts_share(&t, run->conditions) : NULL;
        failed = !run->conditions;
    }
    free(t.slots);
    return failed ? err_memory(err, "the facts of %zu runs", data->count) : 0;
}

/* ---- printing ---- */

static void put_facts(const struct page_facts *facts, struct buf *to)
{
    buf_puts(to, "F");
    put_index_field(to, facts->id);
    for (size_t i = 0; i < facts->count; i++) {
        put_index_field(to, facts->list[i].name);
        put_index_field(to, facts->list[i].value);
    }
    buf_putc(to, '\n');
}

static void put_run(const struct page_run *run, struct buf *to)
{
    const char *const texts[] = {run->id,      run->stamp,    run->experiment, run->experiment_id, run->name,      run->status,
                                 run->verdict, run->reason,   run->site,       run->cluster,       run->partition, run->machine,
                                 run->version, run->measured, run->system,     run->problem,       run->stale,     run->noisy,
                                 run->warning, run->unjudged, run->inputs->id, run->conditions->id};
    buf_puts(to, "R");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_index_field(to, texts[i]);
    buf_printf(to, "\t%lld\t%d\t%zu", (long long)run->start_ms, (run->is_parent ? 1 : 0) + (run->is_warmup ? 2 : 0), run->value_count);
    for (size_t i = 0; i < run->value_count; i++) {
        put_index_field(to, run->values[i].key);
        put_index_field(to, run->values[i].unit);
        put_index_field(to, run->values[i].better);
        buf_putc(to, '\t');
        buf_double(to, run->values[i].value);
    }
    buf_putc(to, '\n');
}

void pages_index_print(const struct page_data *data, struct buf *to)
{
    struct facts_table t = {0};
    buf_puts(to, INDEX_HEAD "\n");
    for (size_t i = 0; i < data->count; i++) {
        const struct page_facts *sets[] = {data->runs[i].inputs, data->runs[i].conditions};
        for (size_t k = 0; k < 2; k++) {
            size_t before = t.count;
            if (!facts_share(&t, sets[k]))
                to->failed = true;
            else if (t.count > before)
                put_facts(sets[k], to);
        }
        put_run(&data->runs[i], to);
    }
    free(t.slots);
    uint32_t crc = crc32c_extend(0, to->p, to->n);
    buf_printf(to, "E\t%08x\n", crc);
}

int pages_index_write(int folder, const struct page_data *data, struct err *err)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, INDEX_MAX);
    pages_index_print(data, &b);
    if (b.failed)
        return err_memory(err, "the index of the pages");
    CLEANUP_BUF struct buf there;
    struct err ignored = {0};
    buf_init(&there, INDEX_MAX + (1 << 20));
    if (fs_read(folder, PAGES_INDEX_NAME, INDEX_MAX, 0, &there, &ignored) == 0 && str_eq(buf_text(&there), buf_text(&b)))
        return 0; /* tools that copy the folder copy what is new */
    return fs_write(folder, PAGES_INDEX_NAME, buf_text(&b), 0644, false, err);
}

/* ---- reading ---- */

/* Reads a set of facts from a line of the index into the arena, and enters it into the table.
 * False: not valid, or out of memory. */
static bool parse_facts(struct str line, struct arena *a, struct facts_table *t)
{
    struct page_facts *facts = ARENA_NEW(a, struct page_facts);
    size_t fields = 0;
    for (size_t i = 0; i < line.n; i++)
        fields += line.p[i] == '\t';
    struct page_fact *list = arena_get(a, (fields / 2 + 1) * sizeof *list);
    if (!facts || !list || !(facts->id = take_field(&line, a)))
        return false;
    for (; line.p; facts->count++) {
        list[facts->count].name = take_field(&line, a);
        list[facts->count].value = take_field(&line, a);
        if (!list[facts->count].name || !list[facts->count].value)
            return false;
    }
    facts->list = list;
    return facts_share(t, facts);
}

static bool take_int(struct str *line, int64_t *ret)
{
    return line->p && str_int(str_cut(line, '\t'), ret);
}

/* Reads the line of a run in the index, with texts in the arena and facts from the table. Returns
 * false where it is damaged. */
static bool parse_run(struct str line, struct arena *a, const struct facts_table *t, struct page_run *run)
{
    const char *inputs, *conditions,
        **const texts[] = {&run->id,      &run->stamp,    &run->experiment, &run->experiment_id, &run->name,      &run->status,
                           &run->verdict, &run->reason,   &run->site,       &run->cluster,       &run->partition, &run->machine,
                           &run->version, &run->measured, &run->system,     &run->problem,       &run->stale,     &run->noisy,
                           &run->warning, &run->unjudged, &inputs,          &conditions};
    int64_t flags, n;
    *run = (struct page_run){0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!(*texts[i] = take_field(&line, a)))
            return false;
    if (!t->size || !(run->inputs = *facts_slot(t, inputs)) || !(run->conditions = *facts_slot(t, conditions)))
        return false;
    if (!take_int(&line, &run->start_ms) || !take_int(&line, &flags) || !take_int(&line, &n) || n < 0 || n > PAGE_VALUES)
        return false;
    run->is_parent = flags & 1;
    run->is_warmup = flags & 2;
    page_run_set_measurement(run, a);
    for (; run->value_count < (size_t)n; run->value_count++) {
        struct page_value *v = &run->values[run->value_count];
        v->key = take_field(&line, a);
        v->unit = take_field(&line, a);
        v->better = take_field(&line, a);
        if (!v->key || !v->unit || !v->better || !line.p || !str_double(str_cut(&line, '\t'), &v->value))
            return false;
    }
    return !line.p;
}

bool pages_index_parse(struct str text, struct arena *a, struct page_data *ret)
{
    struct facts_table t = {0};
    struct str rest = text, last;
    char crc[16];
    size_t capacity = 0;
    *ret = (struct page_data){.arena = a};
    enum { TAIL = 11 }; /* "E\tXXXXXXXX\n" */
    if (text.n < TAIL || !str_is(str_cut(&rest, '\n'), INDEX_HEAD))
        return false;
    last = str_sub(text, text.n - TAIL, TAIL);
    snprintf(crc, sizeof crc, "E\t%08x\n", crc32c_extend(0, text.p, text.n - TAIL));
    bool good = str_is(last, crc);
    rest = good ? str_sub(rest, 0, rest.n - TAIL) : rest;
    while (good && rest.n) {
        struct str line = str_cut(&rest, '\n'), kind = str_cut(&line, '\t');
        if (str_is(kind, "F"))
            good = parse_facts(line, a, &t);
        else
            good = str_is(kind, "R") && ARRAY_FITS_IN(a, ret->runs, capacity, ret->count + 1) &&
                   parse_run(line, a, &t, &ret->runs[ret->count++]);
    }
    free(t.slots);
    if (!good)
        ret->count = 0;
    return good;
}

int pages_index_read(int folder, struct arena *a, struct page_data *ret, struct err *err)
{
    CLEANUP_BUF struct buf b;
    struct err ignored = {0};
    buf_init(&b, INDEX_MAX + (1 << 20));
    *ret = (struct page_data){.arena = a};
    if (fs_read(folder, PAGES_INDEX_NAME, INDEX_MAX, 0, &b, &ignored) == 0)
        pages_index_parse(buf_text(&b), a, ret);
    return a->failed ? err_memory(err, "the index of the pages") : 0;
}
