/* index.c: store what each run measured under its id: the same values under two ids are a copy.
 *
 * The index has of each new run: the id, the object id of stdout.log, and two sums. One is over the
 * values and steps of all metrics, without their times, which a forger can shift. The other is over
 * the times and rates that the program measured, which no second run repeats.
 * Of a published run the index has at first only the object id of the output, the duration and the
 * values of a few metrics, which needs a few git objects a run. It reads the other values where one
 * of these equals that of a new run. */
#include "check/index.h"
#include "base/array.h"

#include "mlruns-format/key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TELLING = 4, /* so many values of DIGITS digits are not equal by chance */
    DIGITS = 5,
    WALL_DIGITS = 3, /* of a duration: check compares all else of runs that took equally long */
    OUTPUT_BYTES = 32, /* shorter outputs are equal by chance */
    VALUES_MAX = 8 << 20,
    MARKED_MAX = 20000 /* published runs that are read since one of their metrics equals a new one */
};

/* Appends a run to the index, which is made at the first call. The pointer is valid until the next
 * call. NULL: out of memory. */
static struct index_run *index_add(struct check_state *k, const char *id, const char *path)
{
    if (!k->seen && !(k->seen = calloc(1, sizeof *k->seen)))
        return NULL;
    struct check_index *s = k->seen;
    const char *own_path = arena_dup(k->arena, path, strlen(path));
    if (!own_path || !ARRAY_FITS(s->list, s->room, s->count + 1)) {
        s->failed = true;
        return NULL;
    }
    struct index_run *x = &s->list[s->count++];
    *x = (struct index_run){.path = own_path};
    snprintf(x->id, sizeof x->id, "%.32s", id);
    return x;
}

void check_index_free(struct check_state *k)
{
    if (k->seen) {
        free(k->seen->list);
        free(k->seen->marks);
    }
    free(k->seen);
    k->seen = NULL;
}

/* ---- values ---- */

static bool has_digits(struct str value, size_t least)
{
    size_t digits = 0;
    bool leading = true;
    for (size_t i = 0; i < value.n && value.p[i] != 'e' && value.p[i] != 'E'; i++) {
        leading = leading && (value.p[i] == '0' || value.p[i] == '.' || value.p[i] == '-');
        digits += !leading && value.p[i] != '.';
    }
    return digits >= least;
}

static bool has_enough_digits(struct str value)
{
    return has_digits(value, DIGITS);
}

struct summing {
    struct sha256 sum, times;
    size_t telling, timings;
    bool timed; /* one is a duration that benchwrap measured: two readings of one old output have none */
};

/* Returns whether the key names a time or a rate that the program itself measured, by its unit. */
static bool is_timing(const char *key)
{
    static const char *const units[] = {"_s", "_ms", "_us", "_ns", "_min"};
    for (struct str rest = str_of(key); key_is_result(key) && rest.p;) {
        struct str part = str_cut(&rest, '.');
        if (str_has(part, "_per_"))
            return true;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (str_ends(part, units[i]))
                return true;
    }
    return false;
}

/* Returns a hash of the text of the value in the first line of a metric; 0: the value has fewer
 * digits than `digits`. */
static uint64_t hash_first_value(struct str text, size_t digits)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    struct str line = str_cut(&text, '\n'), value;
    str_cut(&line, ' ');
    if (!line.p || !(value = str_cut(&line, ' ')).p || !has_digits(value, digits))
        return 0;
    for (size_t i = 0; i < value.n; i++)
        hash = (hash ^ (unsigned char)value.p[i]) * UINT64_C(1099511628211);
    return hash | 1;
}

static void summing_begin(struct summing *s)
{
    *s = (struct summing){.telling = 0};
    sha256_init(&s->sum);
    sha256_init(&s->times);
}

static void summing_end(struct summing *s, struct index_run *to)
{
    sha256_end(&s->sum, to->values);
    sha256_end(&s->times, to->times);
    to->has_values = s->telling >= TELLING && s->timed;
    to->has_times = s->timings >= TELLING;
}

/* Adds the samples of a metric to the run's hashes, without their times: text has lines "<ms>
 * <value> <step>". Also counts the values with enough digits to identify a run. */
static void summing_add_metric(struct summing *s, const char *key, struct str text)
{
    bool timing = is_timing(key);
    sha256_add(&s->sum, key, strlen(key) + 1);
    if (timing)
        sha256_add(&s->times, key, strlen(key) + 1);
    while (text.p && text.n) {
        struct str line = str_cut(&text, '\n'), time = str_cut(&line, ' ');
        struct str rest = line, value = rest.p ? str_cut(&rest, ' ') : (struct str){0};
        (void)time;
        if (line.p)
            sha256_add(&s->sum, line.p, line.n);
        sha256_add(&s->sum, "\n", 1);
        if (timing && value.p) {
            sha256_add(&s->times, value.p, value.n);
            sha256_add(&s->times, "\n", 1);
        }
        s->timings += timing && value.p && has_enough_digits(value);
        s->telling += value.p && has_enough_digits(value);
        s->timed = s->timed || (strcmp(key, "run.wall_s") == 0 && value.p && has_digits(value, WALL_DIGITS));
    }
}

static bool is_measured_run(const struct run_check *r)
{
    for (const struct json *m = json_first(json_get(r->record, "metrics")); m; m = json_next(m))
        if (strncmp(json_string(json_get(m, "source"), ""), "rule:", 5) == 0)
            return true;
    return false;
}

static void note_id(char to[33], const char *text)
{
    snprintf(to, 33, "%.32s", text && strlen(text) == 32 ? text : "");
}

void check_index_add_run(struct run_check *r)
{
    struct summing s;
    const struct check_file *out = run_file(r, "artifacts/stdout.log");
    struct index_run *x = index_add(r->k, r->id, r->path);
    if (!x)
        return;
    note_id(x->amends, run_text(r, 't', "benchwrap.amends"));
    note_id(x->parent, run_text(r, 't', "mlflow.parentRunId"));
    x->imported = run_text(r, 't', "benchwrap.imported") || run_text(r, 't', "benchwrap.adopted");
    x->measured = is_measured_run(r);
    x->series = run_text(r, 't', "benchwrap.series");
    x->corrects = *x->amends || run_text(r, 't', "benchwrap.retracts");
    if (out && out->sha256[0] && out->size >= OUTPUT_BYTES) {
        memcpy(x->output, out->id, sizeof x->output);
        x->has_output = true;
    }
    summing_begin(&s);
    for (size_t i = 0; i < r->entry_count; i++) {
        const struct check_entry *e = &r->entries[i];
        if (e->kind != 'm')
            continue;
        summing_add_metric(&s, e->key, e->value);
        if (!x->mark && is_timing(e->key) && (x->mark = hash_first_value(e->value, DIGITS)))
            x->mark_key = arena_dup(r->k->arena, e->key, strlen(e->key));
    }
    summing_end(&s, x);
    const struct check_entry *wall = run_entry(r, 'm', "run.wall_s");
    x->wall = wall ? hash_first_value(wall->value, WALL_DIGITS) : 0;
}

/* ---- what is published already ---- */

struct published {
    struct check_state *k;
    const struct folder *in;
    const char *at, *experiment;
};

struct output {
    struct index_run *to;
};

static int index_visit_artifact(void *context, const struct folder_entry *e)
{
    struct output *o = context;
    if (!str_is(e->name, "stdout.log") || e->kind != FOLDER_FILE || !e->id || e->id_size > sizeof o->to->output)
        return 0;
    memcpy(o->to->output, e->id, e->id_size);
    o->to->has_output = true;
    return 1;
}

static int by_mark(const void *a, const void *b)
{
    const struct index_mark *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->key < y->key ? -1 : x->key > y->key;
}

/* Collects the marks of new runs, sorted. A few metrics are enough: a range has few benchmarks. */
static void gather_marks(struct check_index *s)
{
    size_t keys = 0;
    if (!(s->marks = calloc(s->count, sizeof *s->marks)))
        return;
    for (size_t i = 0; i < s->count; i++) {
        const struct index_run *x = &s->list[i];
        unsigned k = 0;
        if (!x->mark || !x->has_times || !x->mark_key)
            continue;
        while (k < keys && strcmp(s->mark_keys[k], x->mark_key) != 0)
            k++;
        if (k == INDEX_MARKS)
            continue;
        s->mark_keys[k] = x->mark_key;
        keys = k == keys ? keys + 1 : keys;
        s->marks[s->mark_count++] = (struct index_mark){x->mark, k};
    }
    if (s->mark_count)
        qsort(s->marks, s->mark_count, sizeof *s->marks, by_mark);
}

/* Sets to->marked where a metric of the published run has the first value of a new run's mark.
 * Reads at most INDEX_MARKS metrics, and none once MARKED_MAX runs are marked. */
static void index_match_marks(const struct published *p, struct index_run *to, const struct folder *metrics)
{
    struct check_index *s = p->k->seen;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (unsigned k = 0; k < INDEX_MARKS && s->mark_keys[k] && s->marked < MARKED_MAX; k++) {
        buf_clear(&b);
        if (folder_read(metrics, s->mark_keys[k], 1 << 18, &b) < 0)
            continue;
        struct index_mark wanted = {hash_first_value(buf_text(&b), DIGITS), k};
        to->marked = to->marked || (wanted.value && bsearch(&wanted, s->marks, s->mark_count, sizeof *s->marks, by_mark));
    }
    s->marked += to->marked;
}

/* Adds a published run to the index, with the hashes by which duplicates are found. -1: out of
 * memory. An unreadable run has none. */
static int index_visit_run(void *context, const struct folder_entry *e)
{
    struct published *p = context;
    char path[1200];
    CLEANUP_FOLDER struct folder run = {0}, artifacts = {0}, metrics = {0};
    CLEANUP_BUF struct buf wall = {0};
    if (e->kind != FOLDER_FOLDER || e->name.n != 32)
        return 0;
    snprintf(path, sizeof path, "%.1000s/%.12s/%s", p->at, p->experiment, e->name.p);
    struct output o = {index_add(p->k, e->name.p, path)};
    if (!o.to)
        return -1;
    o.to->published = true;
    if (folder_enter(p->in, e->name.p, &run) < 0)
        return 0;
    if (folder_enter(&run, "artifacts", &artifacts) == 0)
        folder_list(&artifacts, index_visit_artifact, &o);
    if (folder_enter(&run, "metrics", &metrics) < 0)
        return 0;
    buf_init(&wall, 1 << 17);
    if (folder_read(&metrics, "run.wall_s", 4096, &wall) == 0)
        o.to->wall = hash_first_value(buf_text(&wall), WALL_DIGITS);
    index_match_marks(p, o.to, &metrics);
    return 0;
}

/* Called by folder_list for each folder of the tree: visits the runs in it. A folder that cannot be
 * entered is skipped. -1: the walk below failed, which ends this one, too. */
static int index_visit_experiment(void *context, const struct folder_entry *e)
{
    struct published *up = context, p = *up;
    CLEANUP_FOLDER struct folder in = {0};
    if (e->kind != FOLDER_FOLDER || folder_enter(up->in, e->name.p, &in) < 0)
        return 0;
    p.in = &in;
    p.experiment = e->name.p;
    return folder_list(&in, index_visit_run, &p) < 0 ? -1 : 0;
}

void check_index_add_published(struct check_state *k, const struct folder *tree, const char *at)
{
    struct published p = {.k = k, .in = tree, .at = at};
    if (k->seen)
        gather_marks(k->seen);
    int rc = folder_list(tree, index_visit_experiment, &p);
    if (k->seen)
        k->seen->at_n = strlen(at);
    if (rc < 0)
        check_found(k, CHECK_UNREADABLE, at, 0, "the runs that are published already cannot be read: %s", err_words(errno));
}

struct metric_files {
    const struct folder *in;
    const char *prefix;
    struct arena *a;
    struct metric_file {
        const char *key;
        struct str text;
    } * list;
    size_t count, room;
};

/* Called for each file below metrics/: adds its key and content to the list, and enters folders
 * (system/…). Files that cannot be read are skipped. 1 ends the walk: too many, or out of
 * memory. */
static int index_visit_metric(void *context, const struct folder_entry *e)
{
    struct metric_files *m = context;
    const char *key = arena_printf(m->a, "%s%s", m->prefix, e->name.p);
    CLEANUP_BUF struct buf b;
    buf_init(&b, VALUES_MAX * 2);
    if (!key || m->count == 10000)
        return 1;
    if (e->kind == FOLDER_FOLDER) { /* system/… */
        CLEANUP_FOLDER struct folder below = {0};
        struct metric_files own = *m;
        own.prefix = arena_printf(m->a, "%s/", key);
        own.in = &below;
        if (!own.prefix || strlen(own.prefix) > 500 || folder_enter(m->in, e->name.p, &below) < 0)
            return 0;
        folder_list(&below, index_visit_metric, &own);
        own.in = m->in;
        own.prefix = m->prefix;
        *m = own;
        return 0;
    }
    if (folder_read(m->in, e->name.p, VALUES_MAX, &b) < 0)
        return 0;
    if (!ARRAY_FITS_IN(m->a, m->list, m->room, m->count + 1))
        return 1;
    m->list[m->count++] = (struct metric_file){key, {arena_dup(m->a, b.p ? b.p : "", b.n), b.n}};
    return 0;
}

static int compare_metric_files(const void *a, const void *b)
{
    return strcmp(((const struct metric_file *)a)->key, ((const struct metric_file *)b)->key);
}

static void read_tag(const struct folder *run, const char *tag, char to[33])
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096 * 20);
    if (folder_read(run, tag, 64, &b) == 0)
        note_id(to, b.p);
}

void index_read_published(struct check_state *k, struct index_run *x)
{
    CLEANUP_FOLDER struct folder run = {0}, metrics = {0};
    struct arena a;
    struct summing s;
    if (!k->published || !x->published || x->values[0] || folder_enter(k->published, x->path + k->seen->at_n + 1, &run) < 0)
        return;
    arena_init(&a, 64 << 20);
    struct metric_files m = {.in = &metrics, .prefix = "", .a = &a};
    if (folder_enter(&run, "metrics", &metrics) == 0)
        folder_list(&metrics, index_visit_metric, &m);
    if (m.count)
        qsort(m.list, m.count, sizeof *m.list, compare_metric_files);
    summing_begin(&s);
    for (size_t i = 0; i < m.count; i++)
        summing_add_metric(&s, m.list[i].key, m.list[i].text);
    summing_end(&s, x);
    read_tag(&run, "tags/benchwrap.amends", x->amends);
    read_tag(&run, "tags/mlflow.parentRunId", x->parent);
    struct folder_entry e;
    x->imported = folder_look(&run, "tags/benchwrap.imported", &e, NULL) == 0 || folder_look(&run, "tags/benchwrap.adopted", &e, NULL) == 0;
    arena_deinit(&a);
}
