/* rows.c: what becomes of a reader's row: context, blocks, params, and samples of metrics. */
#include "benchmarks/coverage.h"
#include "benchmarks/engine.h"
#include "benchmarks/grouped.h"
#include "benchmarks/percentile.h"
#include "benchmarks/slices.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <stdio.h>

/* A sample is 16 bytes: a reading holds at most 64 MiB of them; more is no result but noise in the
 * form of one. */
enum { SAMPLES_MAX = 4 << 20, SERIES_SAMPLES_MAX = 1 << 20 };

const char row_contradiction[] = "given twice with different values", row_doubtful[] = "rows that do not go on as they began";

/* A cell that a reader does not believe. */
static bool no_value(struct str cell)
{
    return cell.p == row_contradiction || cell.p == row_doubtful;
}

bool row_where(const struct where *w, const struct str *cells)
{
    for (; w; w = w->next) {
        bool found = false;
        for (size_t i = 0; i < w->n && cells[w->cell].p; i++)
            found = found || str_eq(w->any[i], cells[w->cell]);
        if (found == w->negated || !cells[w->cell].p)
            return false;
    }
    return true;
}

/* A cell's text as part of a segment: "8" is written "n8" where a segment begins, but as "8" in
 * "group{Group}". */
static void name_part_add(struct buf *b, struct str inside)
{
    size_t from = b->n, i = 0;
    key_segment(b, inside);
    while (i < inside.n && !((inside.p[i] | 32) >= 'a' && (inside.p[i] | 32) <= 'z') && !str_is_digit(inside.p[i]))
        i++;
    bool digit = i < inside.n && str_is_digit(inside.p[i]);
    if (!b->failed && digit && from && b->p[from - 1] != '.' && b->n > from && b->p[from] == 'n') {
        memmove(b->p + from, b->p + from + 1, b->n - from - 1);
        b->n--;
    }
}

/* The name with its cells and variables in place; false if one of them is not there. */
static bool name_make(const struct source *source, const struct name *name, const struct str *cells, char *to, size_t size, size_t *ret_n)
{
    struct buf b;
    buf_init(&b, size);
    bool good = true;
    for (size_t i = 0; i < name->n && good; i++) {
        const struct name_part *p = &name->part[i];
        struct str inside = p->cell >= 0 ? cells[p->cell] : p->var >= 0 ? str_of(source->var[p->var]) : p->text;
        if (p->cell < 0 && p->var < 0)
            buf_str(&b, inside);
        else if (!inside.n)
            good = false;
        else
            name_part_add(&b, inside);
    }
    good = good && !b.failed && b.n && b.n < size;
    if (good) {
        memcpy(to, b.p, b.n);
        to[b.n] = 0;
        *ret_n = b.n;
    }
    buf_deinit(&b);
    return good;
}

static uint32_t hash_row_text(struct str s, uint32_t seed)
{
    uint32_t h = 2166136261u ^ seed;
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (uint8_t)s.p[i]) * 16777619u;
    return h ^ h >> 15;
}

size_t series_same_bucket(struct str name)
{
    return hash_row_text(name, 0) % (sizeof((struct rules_run *)0)->same / sizeof(((struct rules_run *)0)->same[0]));
}

struct series *series_of(struct rules_run *run, struct source *source, const struct reader *r, const struct metric_rule *m, struct str name,
                         unsigned block)
{
    struct series **bucket = &run->bucket[hash_row_text(name, block * 31 + m->index) % 1024];
    unsigned generation = slice_generation(run, source, r->slice);
    for (struct series *s = *bucket; s; s = s->chain)
        if (s->rule == m && s->block == block && s->source == source && str_eq(s->name, name)) {
            if (s->generation != generation || s->report != run->block[block].report) { /* what it has does not count */
                s->n = s->missing = 0;
                s->why[0] = s->outside[0] = 0;
                s->overflow = false;
                s->steps = m->step_cell >= 0;
                s->generation = generation;
                s->report = run->block[block].report;
            }
            return s;
        }
    if (run->rules->guess && run->guesses == GUESSES_MAX) {
        run->guesses_left_out++;
        return NULL;
    }
    struct series *s = ARENA_NEW(&run->arena, struct series);
    if (!s)
        return NULL;
    run->guesses++;
    *s = (struct series){.name = arena_str(&run->arena, name),
                         .rule = m,
                         .reader = r,
                         .source = source,
                         .block = block,
                         .generation = generation,
                         .report = run->block[block].report,
                         .steps = m->step_cell >= 0,
                         .chain = *bucket};
    if (!s->name.p)
        return NULL;
    *bucket = s;
    if (run->series_last)
        run->series_last->next = s;
    else
        run->series = s;
    run->series_last = s;
    size_t same = series_same_bucket(name);
    if (run->same[same].last)
        run->same[same].last->same_next = s;
    else
        run->same[same].first = s;
    run->same[same].last = s;
    return s;
}

/* Appends a sample. Sets s->overflow, and leaves the sample out, above the limits and when out of
 * memory. */
static void series_add(struct rules_run *run, struct series *s, int64_t step, double value)
{
    if (s->n == s->room) {
        size_t room = s->room ? s->room * 2 : 4;
        struct sample *more = s->n < SERIES_SAMPLES_MAX && run->samples < SAMPLES_MAX ? arena_get(&run->arena, room * sizeof(*more)) : NULL;
        if (!more) {
            s->overflow = true;
            return;
        }
        if (s->n)
            memcpy(more, s->sample, s->n * sizeof(*more));
        s->sample = more;
        s->room = room;
        run->samples += room;
    }
    s->sample[s->n++] = (struct sample){step, value};
}

void series_take(struct rules_run *run, struct series *s, int64_t step, double value)
{
    const struct metric_rule *m = s->rule;
    if ((value < m->low || value > m->high) && !s->outside[0])
        snprintf(s->outside, sizeof(s->outside), "%.6g is outside of what can be (%.6g to %.6g)", value, m->low, m->high);
    series_add(run, s, step, value);
}

/* A word that means missing by the rule: the same text, or the same number ("-1" is also "-1.00"). */
static bool means_none(const struct metric_rule *m, struct str cell)
{
    double a, b;
    cell = str_trim(cell);
    for (size_t i = 0; i < m->nones; i++)
        if (str_eq(cell, m->none[i]) || (str_double(m->none[i], &a) && number_parse(cell, m->number, &b) == NUMBER_GOOD && a == b))
            return true;
    return false;
}

enum number_kind row_metric_value(const struct source *source, const struct metric_rule *m, const struct str *cells,
                                  const struct unit *column_unit, double *ret)
{
    const struct unit *from = m->from ? m->from : column_unit;
    if (no_value(cells[m->cell]) || means_none(m, cells[m->cell]))
        return NUMBER_MISSING;
    enum number_kind kind = number_parse(cells[m->cell], m->number, ret);
    if (kind != NUMBER_GOOD)
        return kind;
    if (m->unit_cell >= 0 || m->unit_var >= 0) {
        struct str text = m->unit_cell >= 0 ? cells[m->unit_cell] : str_of(source->var[m->unit_var]);
        if (!text.n || !(from = units_find(text)))
            return NUMBER_NOT;
    }
    *ret *= m->scale;
    if (from && m->unit && !units_convert(*ret, from, m->unit, ret))
        return NUMBER_NOT;
    return isfinite(*ret) ? NUMBER_GOOD : NUMBER_MISSING;
}

/* Returns the program version that this source printed last. A stream without one belongs to the
 * program that another stream names. */
static const char *source_program_version(const struct rules_run *run, const struct source *source)
{
    return source->version[0] ? source->version : run->version;
}

static void version_take(struct rules_run *run, struct source *source, struct str version)
{
    snprintf(source->version, sizeof source->version, STR_FMT, STR_ARG(version));
    if (!run->version[0])
        memcpy(run->version, source->version, sizeof run->version);
}

/* A percentile whose row has its number of values. Returns true, with the reason in the series, if
 * these are too few. */
static bool is_of_few(struct series *s, const struct metric_rule *m, const struct str *cells)
{
    struct str name = m->stat ? str_of(m->stat) : s->name;
    double values = NAN;
    if (m->values_cell < 0 || !(s->needs ? s->needs : (s->needs = percentile_needs(name))))
        return false;
    if (cells[m->values_cell].p && number_parse(str_trim(cells[m->values_cell]), 0, &values) != NUMBER_GOOD)
        values = NAN;
    if (values >= (double)s->needs)
        return false;
    if (!s->missing)
        percentile_reason(name, values, s->why, sizeof s->why);
    return true;
}

/* Reads one metric of a row into its series; a value that is no number counts as missing there. */
static void metric_take(struct rules_run *run, struct source *source, const struct reader *r, const struct metric_rule *m,
                        const struct str *cells, const struct unit *column_unit, unsigned block)
{
    char name[NAME_MAX_BYTES];
    size_t n;
    double value = NAN;
    int64_t step;
    if (!cells[m->cell].p || !row_where(m->where, cells) || !name_make(source, &m->name, cells, name, sizeof(name), &n))
        return;
    if (m->of_run)
        block = 0;
    enum number_kind kind = row_metric_value(source, m, cells, column_unit, &value);
    bool zero = kind == NUMBER_GOOD && value == 0 && m->zero != ZERO_KEEP;
    if (zero && m->zero == ZERO_ABSENT)
        return;
    struct series *s = series_of(run, source, r, m, (struct str){name, n}, block);
    if (!s)
        return;
    if (m->values.n && !s->values.n && name_make(source, &m->values, cells, name, sizeof(name), &n))
        s->values = str_of(arena_printf(&run->arena, "%s", name));
    if (!run->block[block].used)
        memcpy(run->block[block].version, source_program_version(run, source), sizeof run->block[block].version);
    run->block[block].used = true;
    if (kind != NUMBER_GOOD || zero) {
        if (!s->missing++)
            snprintf(s->why, sizeof(s->why), "%s\"" STR_FMT "\"", zero ? "zero: not measured, printed " : "printed ",
                     (int)(cells[m->cell].n > 40 ? 40 : cells[m->cell].n), cells[m->cell].p);
        return;
    }
    if (is_of_few(s, m, cells)) {
        s->missing++;
        return;
    }
    if (m->step_cell < 0 || !cells[m->step_cell].p || !str_int(str_trim(cells[m->step_cell]), &step)) {
        step = (int64_t)(s->n + s->missing);
        s->steps = false;
    }
    series_take(run, s, step, value);
}

/* Writes the number as a text that reads back equal; false: a text that is cut at the size. */
static bool number_text_shortest(double number, char *to, size_t size)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    buf_double(&b, number);
    return b.p && (size_t)snprintf(to, size, "%s", b.p) < size;
}

/* Text of a param in its canonical form ("1 MiB" as size -> "1048576"); false if it is none of that type. */
static bool param_text(enum param_type type, struct str text, char *to, size_t size)
{
    uint64_t bytes;
    double number;
    text = str_trim(text);
    struct str rest = text, word = str_word(&rest), unit = str_trim(rest);
    switch (type) {
    case PARAM_SIZE:
        if (str_size(text, &bytes)) {
            snprintf(to, size, "%llu", (unsigned long long)bytes);
            return true;
        }
        if (memchr(word.p, '.', word.n)) /* "94.60 TiB" was rounded when it was printed: no number of bytes */
            return false;
        if (unit.n && number_parse(word, 0, &number) == NUMBER_GOOD && units_find(unit) && !strcmp(units_find(unit)->dimension, "byte")) {
            number *= units_find(unit)->factor; /* "1 MiB", "262144 bytes" */
            if (number >= 0 && number < 0x1p63)
                snprintf(to, size, "%.0f", number);
            return number >= 0 && number < 0x1p63;
        }
        return false;
    case PARAM_INTEGER:
        if (number_parse(text, 0, &number) != NUMBER_GOOD || number != floor(number) || fabs(number) > 0x1p53)
            return false;
        snprintf(to, size, "%.0f", number);
        return true;
    case PARAM_NUMBER:
        if (number_parse(text, 0, &number) != NUMBER_GOOD || (number == floor(number) && fabs(number) > 0x1p53))
            return false;
        return number_text_shortest(number, to, size);
    case PARAM_DURATION:
        if (!str_duration(text, &number))
            return false;
        snprintf(to, size, "%.15g", number);
        return true;
    case PARAM_BOOL:
        if (str_is(text, "1") || str_is(text, "true") || str_is(text, "yes") || str_is(text, "on"))
            snprintf(to, size, "true");
        else if (str_is(text, "0") || str_is(text, "false") || str_is(text, "no") || str_is(text, "off"))
            snprintf(to, size, "false");
        else
            return false;
        return true;
    default: snprintf(to, size, STR_FMT, STR_ARG(text)); return text.n > 0;
    }
}

/* A key without its unit, for values that are no number in it: "block_size_B" -> "block_size". */
static struct str without_unit(struct str key)
{
    const char *last = memrchr(key.p, '_', key.n);
    bool capital = last && last + 1 < key.p + key.n;
    return capital && (units_find(str_sub(key, (size_t)(last - key.p) + 1, key.n))) ? str_sub(key, 0, (size_t)(last - key.p)) : key;
}

void value_see(struct rules_run *run, struct str key, struct str text, enum param_type type, const char *origin, int rank, int block,
               bool hidden, unsigned generation)
{
    char canonical[VALUE_MAX];
    text = str_trim(text);
    for (const struct value_seen *v = run->values; v; v = v->next) /* the same again: lines of noise come by the million */
        if (v->rank == rank && v->block == block && v->generation == generation && str_eq(v->text, text) && str_eq(v->key, key))
            return;
    if (!param_text(type, text, canonical, sizeof(canonical))) {
        text = str_trim(text);
        if (!text.n)
            return;
        if (type == PARAM_SIZE || type == PARAM_DURATION)
            key = without_unit(key);
        snprintf(canonical, sizeof(canonical), STR_FMT, STR_ARG(text));
        type = PARAM_TEXT;
    }
    for (struct value_seen *v = run->values; v; v = v->next) /* the same again, or a later word of the same voice */
        if (v->block == block && v->rank == rank && str_eq(v->key, key)) {
            if (!str_is(v->text, canonical))
                v->text = str_of(arena_printf(&run->arena, "%s", canonical));
            v->generation = generation;
            return;
        }
    if (run->values_n >= PARAM_VALUES_MAX) {
        run->values_left_out++;
        return;
    }
    struct value_seen *v = ARENA_NEW(&run->arena, struct value_seen);
    if (!v)
        return;
    *v = (struct value_seen){.key = arena_str(&run->arena, key),
                             .text = str_of(arena_printf(&run->arena, "%s", canonical)),
                             .origin = origin,
                             .rank = rank,
                             .block = block,
                             .type = type,
                             .hidden = hidden,
                             .generation = generation};
    if (!v->key.p || !v->text.p)
        return;
    *run->values_tail = v;
    run->values_tail = &v->next;
    run->values_n++;
}

/* Records the param of a row. Leaves it out where its name has a cell that the row lacks. */
static void param_take(struct rules_run *run, const struct source *source, const struct reader *r, const struct param_rule *p,
                       const struct str *cells, unsigned block, unsigned generation)
{
    char name[NAME_MAX_BYTES];
    size_t n;
    struct str key = p->name.part[0].text;
    if (p->name.n > 1 || !key.p) { /* with cells in it */
        if (!name_make(source, &p->name, cells, name, sizeof name, &n))
            return;
        key = (struct str){name, n};
    }
    value_see(run, key, cells[p->cell], p->type, r->name, (int)r->index, p->of_run ? -1 : (int)block, p->hidden, generation);
}

void row_count(struct rules_run *run, unsigned what, unsigned block, unsigned generation, struct str line)
{
    struct count **bucket = &run->count_bucket[(what * 131 + block) % 256], *c = *bucket;
    while (c && !(c->what == what && c->block == block && (c->generation == generation || slice_stale(run, c->generation))))
        c = c->next;
    if (c && c->generation == generation) {
        c->n++;
        return;
    }
    if (!c) {
        if (!(c = ARENA_NEW(&run->arena, struct count)))
            return;
        c->next = *bucket;
        *bucket = c;
    }
    *c = (struct count){.what = what, .block = block, .generation = generation, .n = 1, .next = c->next};
    snprintf(c->line, sizeof(c->line), STR_FMT, (int)(line.n > 150 ? 150 : line.n), line.p ? line.p : "");
}

size_t row_counted(const struct rules_run *run, unsigned what, unsigned block, const char **ret_line)
{
    size_t n = 0;
    for (const struct count *c = run->count_bucket[(what * 131 + block) % 256]; c; c = c->next)
        if (c->what == what && c->block == block && c->n) {
            if (ret_line && !n)
                *ret_line = c->line;
            n += c->n;
        }
    return n;
}

void row_block(struct rules_run *run, struct source *source, struct str id, struct str label)
{
    for (unsigned i = 0; id.n && i < source->blocks; i++)
        if (str_eq(run->block[i].id, id)) { /* the same test once more: what it had was an intermediate report */
            source->block = i;
            run->block[i].report++;
            return;
        }
    if (source->blocks == BLOCKS_MAX) {
        run->blocks_left_out++;
        source->block = BLOCKS_MAX; /* its rows belong to no other test */
        return;
    }
    source->block = source->blocks++;
    if (source->blocks > run->blocks)
        run->blocks = source->blocks;
    struct block *b = &run->block[source->block];
    if (id.n && !b->id.p)
        b->id = arena_str(&run->arena, id);
    if (label.n && !b->label.p)
        b->label = arena_str(&run->arena, label);
    for (size_t i = 0; i < VARS_MAX; i++)
        source->var[i][0] = 0; /* context does not reach from one test into the next */
}

/* Appends a text to the block's label: "Sendrecv" and, from a later line, "8" make "Sendrecv 8".
 * Texts of more than 100 bytes change nothing. */
static void label_add(struct rules_run *run, struct block *b, struct str more)
{
    const char *label = more.n && more.n <= 100 && b->label.n <= 100
                            ? arena_printf(&run->arena, STR_FMT "%s" STR_FMT, STR_ARG(b->label), b->label.n ? " " : "", STR_ARG(more))
                            : NULL;
    if (label)
        b->label = str_of(label);
}

/* Called for a row whose reader begins or names blocks: begins a new block where the reader's rule
 * requires it, and adds the row's label and id to the present one. */
static void row_begins(struct rules_run *run, struct source *source, const struct reader *r, const struct str *cells)
{
    struct str none = {NULL, 0};
    struct str id = r->block_id >= 0 ? cells[r->block_id] : none, label = r->block_label >= 0 ? cells[r->block_label] : none;
    struct block *now = &run->block[source->block];
    bool other = now->id.p && !str_eq(now->id, id);
    if (r->block_begin == BLOCK_ALWAYS && now->untitled && !now->used && source->blocks && !id.n) {
        now->untitled = false;
        label_add(run, now, label);
    } else if (r->block_begin == BLOCK_ALWAYS)
        row_block(run, source, id, label);
    else if (r->block_begin == BLOCK_NEVER)
        label_add(run, now, label);
    else if (!source->blocks || (now->used && (r->block_begin == BLOCK_USED || other))) {
        row_block(run, source, none, label);
        run->block[source->block].untitled = r->block_begin == BLOCK_USED && !label.n;
    } else if (label.n && !now->label.p)
        label_add(run, now, label);
    now = &run->block[source->block];
    if (r->block_begin == BLOCK_CHANGED && (!now->id.p || !str_eq(now->id, id)))
        now->id = arena_str(&run->arena, id);
}

/* Every metric's cell that applies must be a number or a word for none; a step must be one. */
static bool row_is_one(struct rules_run *run, const struct source *source, const struct reader *r, const struct str *cells,
                       const struct unit *const *units)
{
    for (size_t i = 0; i < r->metrics; i++) {
        const struct metric_rule *m = &r->metric[i];
        double v;
        int64_t step;
        if (!cells[m->cell].p || !row_where(m->where, cells))
            continue;
        if (row_metric_value(source, m, cells, units ? units[m->cell] : NULL, &v) == NUMBER_NOT) {
            if (grouped_is_number(cells[m->cell]))
                unread_mark(run, r, cells[m->cell]);
            return false;
        }
        if (m->step_cell >= 0 && cells[m->step_cell].p && !str_int(str_trim(cells[m->step_cell]), &step))
            return false;
    }
    return true;
}

void row_set(struct source *source, const struct reader *r, const struct str *cells)
{
    for (size_t i = 0; i < r->sets; i++) {
        struct str v = cells[r->set[i].cell];
        char *to = source->var[r->set[i].var];
        if (!v.p)
            continue;
        if (v.n < sizeof source->var[0])
            memcpy(to, v.p, v.n);
        to[v.n < sizeof source->var[0] ? v.n : 0] = 0; /* too long: not known, since the text before it belongs to other rows */
    }
}

bool row_take(struct rules_run *run, struct source *source, const struct reader *r, const struct str *cells,
              const struct unit *const *units, int block)
{
    if (!row_where(r->where, cells))
        return false;
    if (!row_is_one(run, source, r, cells, units)) {
        if (run->coverage && !run->unread.probing)
            coverage_refused(run, r, cells);
        return false;
    }
    if (r->version &&
        (!source_program_version(run, source)[0] || pattern_match(r->version, str_of(source_program_version(run, source)), NULL) != 1))
        return false;
    if (run->unread.recording)
        unread_note(run, source, r, cells, units);
    if (run->unread.probing)
        return true;
    if (r->version_cell >= 0 && cells[r->version_cell].n)
        version_take(run, source, cells[r->version_cell]);
    if (r->begins && block < 0)
        row_begins(run, source, r, cells);
    unsigned at = block < 0 ? source->block : (unsigned)block;
    if (at >= BLOCKS_MAX) {
        run->blocks_left_out += block >= 0;
        return false;
    }
    if (at + 1 > run->blocks && block >= 0)
        run->blocks = at + 1;
    if (block >= 0 && r->block_label >= 0 && cells[r->block_label].n && at < BLOCKS_MAX && !run->block[at].label.p)
        run->block[at].label = arena_str(&run->arena, cells[r->block_label]);
    row_set(source, r, cells);
    unsigned generation = slice_generation(run, source, r->slice);
    if (r->slice >= 0)
        source->slice[r->slice].rows = true;
    row_count(run, r->index, at, generation, (struct str){"", 0});
    for (size_t i = 0; i < r->params; i++) {
        const struct param_rule *p = &r->param[i];
        if (!cells[p->cell].n || no_value(cells[p->cell]) || !row_where(p->where, cells))
            continue;
        if (run->coverage)
            run->coverage->param[r->index][i]++;
        param_take(run, source, r, p, cells, at, generation);
    }
    for (size_t i = 0; i < r->metrics; i++)
        metric_take(run, source, r, &r->metric[i], cells, units ? units[r->metric[i].cell] : NULL, at);
    return true;
}
