/* notes.c: what a series has done so far, as lines of JSON in its spool. */
#include "series/notes.h"

#include "base/json.h"
#include "base/json_out.h"

#include <stdlib.h>
#include <string.h>

enum { NOTES_BYTES = 256 << 20, NOTES_MEMORY = 512 << 20 };

bool series_counts(const struct series_repetition *run)
{
    return !run->warmup && strcmp(run->status, "FINISHED") == 0 && run->exit == 0;
}

const char *series_no_metrics(const struct series_notes *n)
{
    const char *why = NULL;
    for (const struct series_repetition *run = n->first; run; run = run->next) {
        if (!series_counts(run))
            continue;
        if (!run->no_metrics || !run->no_metrics[0])
            return NULL;
        why = why ? why : run->no_metrics;
    }
    return why;
}

const char *series_left_out(const struct series_notes *n)
{
    for (const struct series_repetition *run = n->first; run; run = run->next)
        if (series_counts(run) && run->left_out && run->left_out[0])
            return run->left_out;
    return NULL;
}

bool series_is_current(const struct series_repetition *run, const char *id)
{
    return id && id[0] ? strcmp(id, run->id) == 0 : strcmp(run->status, SERIES_RETRACTED) == 0;
}

size_t series_count_stale(const struct series_notes *n, const struct corrections *corrections, const char **ret_first)
{
    size_t stale = 0;
    *ret_first = NULL;
    for (const struct series_repetition *run = n->first; run; run = run->next)
        if (!series_is_current(run, corrections_shown(corrections, run->id)) && !stale++)
            *ret_first = run->id;
    return stale;
}

struct series_repetition *series_run_new(struct series_notes *n, size_t order, size_t point, bool warmup, size_t repetition)
{
    struct series_repetition *run = ARENA_NEW(&n->arena, struct series_repetition);
    if (run)
        *run = (struct series_repetition){.order = order,
                                          .point = point,
                                          .repetition = repetition,
                                          .warmup = warmup,
                                          .status = "",
                                          .verdict = "",
                                          .reason = "",
                                          .noisy = ""};
    return run;
}

void series_add_run(struct series_notes *n, struct series_repetition *run)
{
    run->next = NULL;
    if (n->last)
        n->last->next = run;
    else
        n->first = run;
    n->last = run;
    n->count++;
}

void series_head_print(const struct series_notes *n, struct buf *to)
{
    const struct parameter_sweep *s = &n->sweep;
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_int(&j, "format", 1);
    json_open(&j, "sweep", '[');
    for (size_t i = 0; i < s->count; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "name", s->axes[i].name);
        json_flag(&j, "integers", s->axes[i].integers);
        json_texts(&j, "values", s->axes[i].values, s->axes[i].count);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (s->table) {
        json_open(&j, "table", '[');
        for (size_t i = 0; i < s->points; i++)
            json_texts(&j, NULL, s->table + i * s->count, s->count);
        json_close(&j, ']');
    }
    json_texts(&j, "points", n->keys, s->points);
    json_close(&j, '}');
    buf_putc(to, '\n');
}

static void notes_print_value(const struct series_run_value *v, struct json_out *j)
{
    json_open(j, NULL, '{');
    json_text(j, "key", v->key);
    json_str(j, "of", str_of(v->of));
    json_str(j, "unit", str_of(v->unit));
    json_text(j, "direction", record_direction_name(v->direction));
    json_double(j, "value", v->value);
    if (v->headline)
        json_flag(j, "headline", true);
    json_close(j, '}');
}

void series_run_print(const struct series_repetition *run, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_uint(&j, "order", run->order);
    json_uint(&j, "point", run->point);
    json_uint(&j, "repetition", run->repetition);
    json_flag(&j, "warmup", run->warmup);
    json_int(&j, "exit", run->exit);
    json_str(&j, "run", str_of(run->id));
    json_str(&j, "status", str_of(run->status));
    json_str(&j, "verdict", str_of(run->verdict));
    json_str(&j, "reason", str_of(run->reason));
    json_str(&j, "noisy", str_of(run->noisy));
    if (run->unjudged)
        json_flag(&j, "unjudged", true);
    if (run->no_metrics && run->no_metrics[0])
        json_text(&j, "no_metrics", run->no_metrics);
    if (run->left_out && run->left_out[0])
        json_text(&j, "left_out", run->left_out);
    json_int(&j, "start_ms", run->start_ms);
    json_int(&j, "end_ms", run->end_ms);
    json_open(&j, "values", '[');
    for (const struct series_run_value *v = run->values; v; v = v->next)
        notes_print_value(v, &j);
    json_close(&j, ']');
    if (run->inputs) {
        json_open(&j, "inputs", '{');
        for (const struct series_input *in = run->inputs; in; in = in->next)
            json_str(&j, in->key, str_of(in->value));
        json_close(&j, '}');
    }
    json_close(&j, '}');
    buf_putc(to, '\n');
}

void series_end_print(const char *why, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_str(&j, "end", str_of(why));
    json_close(&j, '}');
    buf_putc(to, '\n');
}

/* ---- reading ---- */

static const char *notes_text_of(struct arena *a, const struct json *j, const char *key)
{
    const char *text = json_string(json_get(j, key), ""), *copy = arena_dup(a, text, strlen(text));
    return copy ? copy : "";
}

/* Returns a copy of the string in the arena; "" for another type, or out of memory (the arena is
 * marked). */
static const char *string_of(struct arena *a, const struct json *j)
{
    const char *text = json_string(j, ""), *copy = arena_dup(a, text, strlen(text));
    return copy ? copy : "";
}

/* Reads one axis of a sweep, its texts into the arena. False: its values are missing or too many,
 * or out of memory. */
static bool take_axis(struct sweep_axis *axis, const struct json *j, struct arena *a)
{
    const struct json *values = json_get(j, "values");
    size_t count = json_count(values), i = 0;
    const char **list = arena_get(a, count * sizeof *list + 1);
    if (!list || count < 1 || count > SWEEP_POINTS_MAX)
        return false;
    for (const struct json *v = json_first(values); v; v = json_next(v))
        list[i++] = string_of(a, v);
    *axis = (struct sweep_axis){.name = notes_text_of(a, j, "name"), .values = list, .count = count};
    axis->integers = json_bool(json_get(j, "integers"), false);
    return true;
}

/* Points that are no product of the axes: a row of values for each. */
static bool take_points_table(struct parameter_sweep *s, const struct json *rows, struct arena *a)
{
    size_t count = json_count(rows), at = 0;
    const char **table = count <= SWEEP_POINTS_MAX && s->count ? arena_get(a, count * s->count * sizeof *table + 1) : NULL;
    for (const struct json *row = table ? json_first(rows) : NULL; row; row = json_next(row)) {
        if (json_count(row) != s->count)
            return false;
        for (const struct json *v = json_first(row); v; v = json_next(v))
            table[at++] = string_of(a, v);
    }
    s->table = table;
    s->points = count;
    return table != NULL;
}

/* Reads the first line of the notes into n->sweep and n->keys, in the arena. 0; -1 with err: it is
 * not valid, or of another format. */
static int take_head(struct series_notes *n, const struct json *j, struct err *err)
{
    const struct json *points = json_get(j, "points"), *axes = json_get(j, "sweep");
    struct parameter_sweep s = {.points = 1};
    size_t count = json_count(points), i = 0;
    const char **keys = arena_get(&n->arena, count * sizeof *keys + 1);
    bool good = json_integer(json_get(j, "format"), 0) == 1 && keys && json_count(axes) <= SWEEP_AXES_MAX;
    for (const struct json *x = good ? json_first(axes) : NULL; x && good; x = json_next(x)) {
        good = take_axis(&s.axes[s.count], x, &n->arena);
        s.points = good ? s.points * s.axes[s.count++].count : 0;
        good &= s.points <= SWEEP_POINTS_MAX || json_get(j, "table");
    }
    if (good && json_get(j, "table"))
        good = take_points_table(&s, json_get(j, "table"), &n->arena);
    if (!good || s.points != count)
        return err_set(err, ERR_INPUT, SERIES_NOTES ": not the notes of a series, or of another version");
    for (const struct json *p = json_first(points); p; p = json_next(p))
        keys[i++] = string_of(&n->arena, p);
    n->sweep = s;
    n->keys = keys;
    return 0;
}

/* Reads the run's values into the arena. Ignores those without a number; out of memory leaves them
 * out. */
static void take_values(struct series_notes *n, struct series_repetition *run, const struct json *list)
{
    struct series_run_value **at = &run->values;
    for (const struct json *j = json_first(list); j; j = json_next(j)) {
        struct series_run_value *v = json_is_number(json_get(j, "value")) ? ARENA_NEW(&n->arena, struct series_run_value) : NULL;
        if (!v)
            continue;
        *v = (struct series_run_value){.key = notes_text_of(&n->arena, j, "key"),
                                       .of = notes_text_of(&n->arena, j, "of"),
                                       .unit = notes_text_of(&n->arena, j, "unit"),
                                       .direction = record_direction_of(json_string(json_get(j, "direction"), "")),
                                       .value = json_number(json_get(j, "value"), 0),
                                       .headline = json_bool(json_get(j, "headline"), false)};
        *at = v;
        at = &v->next;
    }
}

/* Reads the run's inputs into the arena; out of memory ends the list early. */
static void take_inputs(struct series_notes *n, struct series_repetition *run, const struct json *list)
{
    struct series_input **at = &run->inputs;
    for (const struct json *j = json_first(list); j; j = json_next(j)) {
        struct series_input *in = ARENA_NEW(&n->arena, struct series_input);
        const char *key = arena_dup(&n->arena, json_key(j), strlen(json_key(j)));
        if (!in || !key)
            return;
        *in = (struct series_input){.key = key, .value = string_of(&n->arena, j)};
        *at = in;
        at = &in->next;
    }
}

/* Adds the repetition of one line of the notes. A line with an unknown point is ignored; out of
 * memory marks the arena. */
static void notes_read_run(struct series_notes *n, const struct json *j)
{
    struct arena *a = &n->arena;
    struct series_repetition *run = ARENA_NEW(a, struct series_repetition);
    int64_t point = json_integer(json_get(j, "point"), -1);
    if (!run || point < 0 || (size_t)point >= n->sweep.points)
        return;
    *run = (struct series_repetition){.order = (size_t)json_integer(json_get(j, "order"), 0),
                                      .point = (size_t)point,
                                      .repetition = (size_t)json_integer(json_get(j, "repetition"), 0),
                                      .warmup = json_bool(json_get(j, "warmup"), false),
                                      .exit = (int)json_integer(json_get(j, "exit"), -1),
                                      .status = notes_text_of(a, j, "status"),
                                      .verdict = notes_text_of(a, j, "verdict"),
                                      .reason = notes_text_of(a, j, "reason"),
                                      .noisy = notes_text_of(a, j, "noisy"),
                                      .unjudged = json_bool(json_get(j, "unjudged"), false),
                                      .no_metrics = notes_text_of(a, j, "no_metrics"),
                                      .left_out = notes_text_of(a, j, "left_out"),
                                      .start_ms = json_integer(json_get(j, "start_ms"), 0),
                                      .end_ms = json_integer(json_get(j, "end_ms"), 0)};
    const char *id = notes_text_of(a, j, "run");
    if (strlen(id) == 32)
        memcpy(run->id, id, 33);
    take_values(n, run, json_get(j, "values"));
    take_inputs(n, run, json_get(j, "inputs"));
    series_add_run(n, run);
}

/* Reads one line of the notes. 0; 1: a later line is no JSON, and is left out; -1 with err: the
 * first line is not valid. */
static int notes_read_line(struct series_notes *n, struct str line, struct err *err)
{
    struct json *j = NULL;
    int rc = 0;
    if (json_parse(&j, line, NULL, err))
        return n->sweep.points ? 1 : -1;
    if (!n->sweep.points)
        rc = take_head(n, j, err);
    else if (json_get(j, "end"))
        n->end = notes_text_of(&n->arena, j, "end");
    else
        notes_read_run(n, j);
    json_free(j);
    return rc;
}

int series_notes_read(const struct folder *in, struct series_notes *ret, struct err *err)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, NOTES_BYTES + (1 << 20));
    *ret = (struct series_notes){.end = ""};
    arena_init(&ret->arena, NOTES_MEMORY);
    if (folder_read(in, SERIES_NOTES, NOTES_BYTES, &text) < 0)
        return err_sys(err, "reading " SERIES_NOTES);
    for (struct str rest = buf_text(&text); rest.p && rest.n;) {
        int rc = notes_read_line(ret, str_cut(&rest, '\n'), err);
        if (rc < 0)
            return -1;
        ret->damaged += rc && rest.p && rest.n; /* the last line may be one that was cut off while it was written */
    }
    if (!ret->sweep.points)
        return err_set(err, ERR_INPUT, SERIES_NOTES ": it is empty");
    return ret->arena.failed ? err_memory(err, SERIES_NOTES) : 0;
}

void series_notes_deinit(struct series_notes *n)
{
    arena_deinit(&n->arena);
}
