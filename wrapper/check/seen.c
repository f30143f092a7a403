/* seen.c: what has been measured, and under which id: the same figures under two ids are a copy.
 *
 * Of each run are kept: its id, what names the content of its stdout.log, and a sum over the values and steps of all metrics (not their times, which a forger
 * shifts). Of the runs that are published already only the name of the output and how long the run took are known at first (five objects of git's a run); their
 * values are read where one of the two meets. */
#include "check/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TELLING = 4, /* values of five digits and more: so many are not equal by chance */
    DIGITS = 5,
    OUTPUT_BYTES = 32, /* of shorter outputs nobody is surprised to see them twice */
    VALUES_MAX = 8 << 20,
    MEETINGS = 256 /* so many published runs are read for one duration, and so many of equal values looked at */
};

struct seen {
    char id[33], amends[33], parent[33];
    const char *path; /* "mlruns/<exp>/<id>" */
    unsigned char output[32];
    char values[SHA256_HEX];
    uint64_t wall; /* names the text of run.wall_s; 0: it tells nothing */
    bool has_output, has_values; /* has_values: and they tell enough */
    bool measured; /* figures were read from its output */
    bool published; /* it was there before */
};

struct check_seen {
    struct seen *list;
    size_t count, room, at_n; /* at_n: bytes of the tree's folder in the paths of what is published */
    bool failed;
};

static struct seen *note(struct check *k, const char *id, const char *path)
{
    if (!k->seen && !(k->seen = calloc(1, sizeof *k->seen)))
        return NULL;
    struct check_seen *s = k->seen;
    if (s->count == s->room) {
        size_t room = s->room * 2 + 256;
        struct seen *more = realloc(s->list, room * sizeof *more);
        if (!more) {
            s->failed = true;
            return NULL;
        }
        s->list = more;
        s->room = room;
    }
    struct seen *x = &s->list[s->count++];
    *x = (struct seen){.path = arena_dup(k->arena, path, strlen(path))};
    snprintf(x->id, sizeof x->id, "%.32s", id);
    return x;
}

void check_seen_end(struct check *k)
{
    if (k->seen)
        free(k->seen->list);
    free(k->seen);
    k->seen = NULL;
}

/* ---- values ---- */

static bool tells(struct str value)
{
    size_t digits = 0;
    bool leading = true;
    for (size_t i = 0; i < value.n && value.p[i] != 'e' && value.p[i] != 'E'; i++) {
        leading = leading && (value.p[i] == '0' || value.p[i] == '.' || value.p[i] == '-');
        digits += !leading && value.p[i] != '.';
    }
    return digits >= DIGITS;
}

struct summing {
    struct sha256 sum;
    size_t telling;
    bool timed; /* a duration that benchwrap has taken is among them: two readings of one old output have none */
};

/* The value in the first line of run.wall_s, as a number that hardly any other text has. */
static uint64_t wall_of(struct str text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    struct str line = str_cut(&text, '\n'), value;
    str_cut(&line, ' ');
    if (!line.p || !(value = str_cut(&line, ' ')).p || !tells(value))
        return 0;
    for (size_t i = 0; i < value.n; i++)
        hash = (hash ^ (unsigned char)value.p[i]) * UINT64_C(1099511628211);
    return hash | 1;
}

/* One metric: lines "<ms> <value> <step>", without the first field. */
static void add_metric(struct summing *s, const char *key, struct str text)
{
    sha256_add(&s->sum, key, strlen(key) + 1);
    while (text.p && text.n) {
        struct str line = str_cut(&text, '\n'), time = str_cut(&line, ' ');
        struct str rest = line, value = rest.p ? str_cut(&rest, ' ') : (struct str){0};
        (void)time;
        if (line.p)
            sha256_add(&s->sum, line.p, line.n);
        sha256_add(&s->sum, "\n", 1);
        s->telling += value.p && tells(value);
        s->timed = s->timed || (strcmp(key, "run.wall_s") == 0 && value.p && tells(value));
    }
}

static bool is_measured(const struct run_check *r)
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

void check_seen_run(struct run_check *r)
{
    struct summing s = {.telling = 0};
    const struct check_file *out = run_file(r, "artifacts/stdout.log");
    struct seen *x = note(r->k, r->id, r->path);
    if (!x)
        return;
    note_id(x->amends, run_text(r, 't', "benchwrap.amends"));
    note_id(x->parent, run_text(r, 't', "mlflow.parentRunId"));
    x->measured = is_measured(r);
    if (out && out->sha256[0] && out->size >= OUTPUT_BYTES) {
        memcpy(x->output, out->id, sizeof x->output);
        x->has_output = true;
    }
    sha256_init(&s.sum);
    for (size_t i = 0; i < r->entry_count; i++)
        if (r->entries[i].kind == 'm')
            add_metric(&s, r->entries[i].key, r->entries[i].value);
    sha256_end(&s.sum, x->values);
    x->has_values = s.telling >= TELLING && s.timed;
    const struct check_entry *wall = run_entry(r, 'm', "run.wall_s");
    x->wall = wall ? wall_of(wall->value) : 0;
}

/* ---- what is published already ---- */

struct published {
    struct check *k;
    const struct folder *in;
    const char *at, *experiment;
};

struct output {
    struct seen *to;
};

static int each_artifact(void *context, const struct folder_entry *e)
{
    struct output *o = context;
    if (!str_is(e->name, "stdout.log") || e->kind != FOLDER_FILE || !e->id || e->id_size > sizeof o->to->output)
        return 0;
    memcpy(o->to->output, e->id, e->id_size);
    o->to->has_output = true;
    return 1;
}

static int each_published(void *context, const struct folder_entry *e)
{
    struct published *p = context;
    char path[1200];
    CLEANUP_FOLDER struct folder artifacts = {0};
    CLEANUP_BUF struct buf wall = {0};
    if (e->kind != FOLDER_FOLDER || e->name.n != 32)
        return 0;
    snprintf(path, sizeof path, "%.1000s/%.12s/%s", p->at, p->experiment, e->name.p);
    struct output o = {note(p->k, e->name.p, path)};
    if (!o.to)
        return -1;
    o.to->published = true;
    snprintf(path, sizeof path, "%s/artifacts", e->name.p);
    if (folder_enter(p->in, path, &artifacts) == 0)
        folder_list(&artifacts, each_artifact, &o);
    buf_init(&wall, 1 << 17);
    snprintf(path, sizeof path, "%s/metrics/run.wall_s", e->name.p);
    if (folder_read(p->in, path, 4096, &wall) == 0)
        o.to->wall = wall_of(buf_text(&wall));
    return 0;
}

static int each_experiment(void *context, const struct folder_entry *e)
{
    struct published *up = context, p = *up;
    CLEANUP_FOLDER struct folder in = {0};
    if (e->kind != FOLDER_FOLDER || folder_enter(up->in, e->name.p, &in) < 0)
        return 0;
    p.in = &in;
    p.experiment = e->name.p;
    return folder_list(&in, each_published, &p) < 0 ? -1 : 0;
}

void check_seen_published(struct check *k, const struct folder *tree, const char *at)
{
    struct published p = {.k = k, .in = tree, .at = at};
    int rc = folder_list(tree, each_experiment, &p);
    if (k->seen)
        k->seen->at_n = strlen(at);
    if (rc < 0)
        check_found(k, CHECK_UNREADABLE, at, 0, "the runs that are published already cannot be read: %s", strerror(errno));
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

static int each_metric(void *context, const struct folder_entry *e)
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
        folder_list(&below, each_metric, &own);
        own.in = m->in;
        own.prefix = m->prefix;
        *m = own;
        return 0;
    }
    if (folder_read(m->in, e->name.p, VALUES_MAX, &b) < 0)
        return 0;
    if (m->count == m->room) {
        struct metric_file *more = arena_get(m->a, (m->room * 2 + 64) * sizeof *more);
        if (!more)
            return 1;
        if (m->count)
            memcpy(more, m->list, m->count * sizeof *more);
        m->list = more;
        m->room = m->room * 2 + 64;
    }
    m->list[m->count++] = (struct metric_file){key, {arena_dup(m->a, b.p ? b.p : "", b.n), b.n}};
    return 0;
}

static int by_key(const void *a, const void *b)
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

/* The values and kin of a run that is published. */
static void read_published(struct check *k, struct seen *x)
{
    CLEANUP_FOLDER struct folder run = {0}, metrics = {0};
    struct arena a;
    struct summing s = {.telling = 0};
    if (!k->published || !x->published || x->values[0] || folder_enter(k->published, x->path + k->seen->at_n + 1, &run) < 0)
        return;
    arena_init(&a, 64 << 20);
    struct metric_files m = {.in = &metrics, .prefix = "", .a = &a};
    if (folder_enter(&run, "metrics", &metrics) == 0)
        folder_list(&metrics, each_metric, &m);
    if (m.count)
        qsort(m.list, m.count, sizeof *m.list, by_key);
    sha256_init(&s.sum);
    for (size_t i = 0; i < m.count; i++)
        add_metric(&s, m.list[i].key, m.list[i].text);
    sha256_end(&s.sum, x->values);
    x->has_values = s.telling >= TELLING && s.timed;
    read_tag(&run, "tags/benchwrap.amends", x->amends);
    read_tag(&run, "tags/mlflow.parentRunId", x->parent);
    arena_deinit(&a);
}

/* ---- who meets whom ---- */

static int published_first(const struct seen *x, const struct seen *y)
{
    return x->published != y->published ? (x->published ? -1 : 1) : strcmp(x->path, y->path);
}

static int by_id(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    int c = strcmp(x->id, y->id);
    return c ? c : published_first(x, y);
}

static int by_values(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    int c = strcmp(x->values, y->values);
    return c ? c : published_first(x, y);
}

static int by_output(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    int c = x->has_output != y->has_output ? (x->has_output ? -1 : 1) : memcmp(x->output, y->output, sizeof x->output);
    return c ? c : published_first(x, y);
}

/* One comes from the other, and says so. */
static bool is_kin(const struct seen *x, const struct seen *y)
{
    return strcmp(x->amends, y->id) == 0 || strcmp(y->amends, x->id) == 0 || strcmp(x->parent, y->id) == 0 ||
           strcmp(y->parent, x->id) == 0 || (*x->amends && strcmp(x->amends, y->amends) == 0);
}

static void tell_ids(struct check *k)
{
    struct check_seen *s = k->seen;
    qsort(s->list, s->count, sizeof *s->list, by_id);
    for (size_t i = 1; i < s->count; i++) {
        const struct seen *x = &s->list[i], *y = &s->list[i - 1];
        if (strcmp(x->id, y->id) == 0 && strcmp(x->path, y->path) != 0 && !x->published)
            check_found(k, CHECK_ID_KNOWN, x->path, 0, "the id is that of %s, too", y->path);
    }
}

static int by_wall(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return x->wall != y->wall ? (x->wall < y->wall ? -1 : 1) : published_first(x, y);
}

/* A run that took as long as a new one, to the last digit, may be the same: its values are read. */
static void read_equally_long(struct check *k)
{
    struct check_seen *s = k->seen;
    qsort(s->list, s->count, sizeof *s->list, by_wall);
    for (size_t i = 0, end; i < s->count; i = end) {
        for (end = i + 1; end < s->count && s->list[end].wall == s->list[i].wall; end++)
            ;
        if (!s->list[i].wall || s->list[end - 1].published) /* published ones come first */
            continue;
        for (size_t n = i; n < end && n - i < MEETINGS && s->list[n].published; n++)
            read_published(k, &s->list[n]);
    }
}

static bool same_values(const struct seen *x, const struct seen *y)
{
    return x->has_values && strcmp(x->values, y->values) == 0;
}

/* The run before x in the list, of the same values, that it does not come from. NULL: there is none, or it comes from one of them (a correction of a correction). */
static const struct seen *copied_by(const struct seen *x, size_t before)
{
    const struct seen *from = NULL;
    for (size_t back = 1; back <= before && back <= MEETINGS && same_values(x, x - back); back++) {
        const struct seen *y = x - back;
        if (is_kin(x, y))
            return NULL;
        if (strcmp(x->id, y->id) != 0)
            from = y;
    }
    return from;
}

static void tell_values(struct check *k)
{
    struct check_seen *s = k->seen;
    read_equally_long(k);
    qsort(s->list, s->count, sizeof *s->list, by_values);
    for (size_t i = 1; i < s->count; i++) {
        const struct seen *x = &s->list[i], *from = x->published ? NULL : copied_by(x, i);
        if (from)
            check_found(k, CHECK_COPY, x->path, 0, "every value of its metrics is that of %s", from->path);
    }
}

static bool same_output(const struct seen *x, const struct seen *y)
{
    return x->has_output && y->has_output && memcmp(x->output, y->output, sizeof x->output) == 0;
}

/* Runs of the same values are told of already. */
static void tell_outputs(struct check *k)
{
    struct check_seen *s = k->seen;
    qsort(s->list, s->count, sizeof *s->list, by_output);
    for (size_t i = 1, first = 0; i < s->count; i++) {
        struct seen *x = &s->list[i], *y = &s->list[first];
        if (!same_output(x, y)) {
            first = i;
            continue;
        }
        if (x->published || strcmp(x->id, y->id) == 0)
            continue;
        read_published(k, y);
        if (x->measured && !same_values(x, y) && !is_kin(x, y) && !(*x->parent && strcmp(x->parent, y->parent) == 0))
            check_found(k, CHECK_COPY_OUTPUT, x->path, 0, "its output is byte by byte that of %s", y->path);
    }
}

void check_seen_settle(struct check *k)
{
    struct check_seen *s = k->seen;
    if (!s || s->count < 2)
        return;
    tell_ids(k);
    tell_values(k);
    tell_outputs(k);
    if (s->failed)
        check_found(k, CHECK_LIMIT, "mlruns", 0, "no memory to compare all runs with each other");
}
