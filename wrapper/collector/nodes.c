/* nodes.c: the nodes of one run, read from the lines of their collectors. */
#include "collector/nodes.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const double SAMPLE_MOST = 1e200; /* sums of such stay finite; what is greater is no measurement */
enum {
    SLOTS = 2 * NODES_MAX, /* of the table of names */
    PIECE = 256 << 10,
    ARENA_MAX = 512 << 20,
    POINTS_PRIVATE = 100000 /* of a series, over all nodes */,
    POINTS_PUBLIC = 1000,
    POINTS_LEAST = 8
};

/* Appends an empty report of a node, in the arena. NULL: NODES_MAX are there, which sets
 * n->more, or out of memory. */
static struct node_report *node_add(struct nodes_summary *n, struct str name)
{
    n->more = n->more || n->count == NODES_MAX;
    struct node_report *t = n->count < NODES_MAX ? ARENA_NEW(&n->arena, struct node_report) : NULL;
    const char *own_name = t ? arena_dup(&n->arena, name.p, name.n) : NULL;
    if (!own_name)
        return NULL;
    t->name = own_name;
    t->error_ms = -1;
    *(n->last ? &n->last->next : &n->first) = t;
    n->last = t;
    n->count++;
    return t;
}

/* Returns the report of another node, made at its first line, in the arena. NULL: as node_add. */
static struct node_report *node_of(struct nodes_summary *n, struct str name)
{
    size_t at = (size_t)hash_bytes(0, name.p, name.n) % SLOTS; /* the table is never more than half full */
    for (; n->slots[at]; at = (at + 1) % SLOTS)
        if (str_is(name, n->slots[at]->name))
            return n->slots[at];
    return n->slots[at] = node_add(n, name);
}

/* Appends a copy of the fact to the node's list, in the arena. Drops it behind NODES_FACTS_MAX, and
 * where memory is used up. */
static void add_fact(struct nodes_summary *n, struct node_report *t, const char *key, const char *text, bool missing)
{
    struct node_fact *f = t->facts_count < NODES_FACTS_MAX ? ARENA_NEW(&n->arena, struct node_fact) : NULL;
    if (!f)
        return;
    *f = (struct node_fact){
        .key = arena_dup(&n->arena, key, strlen(key)), .text = arena_dup(&n->arena, text, strlen(text)), .missing = missing};
    if (!f->key || !f->text)
        return;
    *(t->last_fact ? &t->last_fact->next : &t->facts) = f;
    t->last_fact = f;
    t->facts_count++;
}

/* Returns the node's series of this name, made where it is new. NULL: out of memory, or the node
 * has too many. The summary's arena owns it. */
static struct node_series *nodes_series_of(struct nodes_summary *n, struct node_report *t, const char *name)
{
    for (size_t i = 0; i < t->series_count; i++)
        if (strcmp(t->series[i]->name, name) == 0)
            return t->series[i];
    struct node_series *s = t->series_count < NODES_SERIES_MAX ? ARENA_NEW(&n->arena, struct node_series) : NULL;
    if (!s)
        return NULL;
    *s = (struct node_series){.name = arena_dup(&n->arena, name, strlen(name)), .min = INFINITY, .max = -INFINITY, .per_point = 1};
    s->point = arena_get(&n->arena, n->points * sizeof *s->point);
    if (!s->name)
        return NULL;
    t->series[t->series_count++] = s;
    return s;
}

/* Halves the points of a full series: every two become one. */
static void nodes_halve_points(struct node_series *s)
{
    for (size_t i = 0; i + 1 < s->points; i += 2)
        s->point[i / 2] = (struct node_point){s->point[i].time_ms, (s->point[i].value + s->point[i + 1].value) / 2};
    s->points /= 2;
    s->per_point *= 2;
}

/* Adds a sample to the statistics and points of the series, and passes it to n->each. Ignores
 * values that are not finite or larger than SAMPLE_MOST. */
static void add_sample(const struct nodes_summary *n, const struct node_report *t, struct node_series *s, int64_t time_ms, double value)
{
    if (!isfinite(value) || fabs(value) > SAMPLE_MOST)
        return;
    if (n->each)
        n->each(n->context, t, s->name, time_ms, value);
    if (s->count++ == 0)
        s->first = value;
    s->sum += value;
    s->last = value;
    s->min = value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
    if (!s->point || n->points < 2)
        return;
    if (s->in_last == 0) {
        if (s->points == n->points)
            nodes_halve_points(s);
        s->point[s->points++] = (struct node_point){time_ms, value};
    } else {
        struct node_point *p = &s->point[s->points - 1];
        p->value += (value - p->value) / (double)(s->in_last + 1);
    }
    s->in_last = (s->in_last + 1) % s->per_point;
}

/* Reads a line of samples, ["s",time,number,value,…], into the node's series. Pairs whose series is
 * not known are ignored. */
static void take_samples(struct nodes_summary *n, struct node_report *t, const struct json *array)
{
    int64_t time_ms = json_integer(json_at(array, 1), 0);
    for (const struct json *j = json_next(json_at(array, 1)); j && json_next(j); j = json_next(json_next(j))) {
        int64_t i = json_integer(j, -1);
        const char *name = i >= 0 && i < NODES_SERIES_MAX ? t->names[i] : NULL;
        struct node_series *s = name && json_is_number(json_next(j)) ? nodes_series_of(n, t, name) : NULL;
        if (s)
            add_sample(n, t, s, time_ms, json_number(json_next(j), NAN));
    }
}

static void nodes_read_name(struct nodes_summary *n, struct node_report *t, const struct json *array)
{
    int64_t i = json_integer(json_at(array, 1), -1);
    const char *name = json_string(json_at(array, 2), "");
    if (i >= 0 && i < NODES_SERIES_MAX && strncmp(name, "system/", 7) == 0 && strlen(name) < 200)
        t->names[i] = arena_dup(&n->arena, name, strlen(name));
}

/* Handles one line of a collector by its kind. Node "-" is the recorder's own line, which states
 * which nodes are expected. Unknown kinds are ignored. */
static void nodes_read_array(struct nodes_summary *n, struct str node, const struct json *array)
{
    const char *kind = json_string(json_at(array, 0), "");
    int64_t a = json_integer(json_at(array, 1), 0), b = json_integer(json_at(array, 2), 0);
    if (str_is(node, "-") && strcmp(kind, "u") == 0) {
        n->own_used = a == 1;
        n->used = b > 0 && b <= INT32_MAX ? b : 0;
        return;
    }
    if (str_is(node, "-")) {
        n->chosen = strcmp(json_string(json_at(array, 4), ""), "launcher") == 0;
        n->expected = strcmp(kind, "w") == 0 && a > 0 && a <= INT32_MAX ? a : n->expected;
        n->step = strcmp(json_string(json_at(array, 2), ""), "step") == 0;
        n->outside = *json_string(json_at(array, 3), "") == 0;
        node_name_make(n->own, str_of(json_string(json_at(array, 3), "")));
        return;
    }
    struct node_report *t = node_of(n, node);
    if (!t)
        return;
    switch (strlen(kind) == 1 ? kind[0] : 0) {
    case 'h': t->start_ms = a; break;
    case 'p':
    case 'x': add_fact(n, t, json_string(json_at(array, 1), ""), json_string(json_at(array, 2), ""), kind[0] == 'x'); break;
    case 'k': nodes_read_name(n, t, array); break;
    case 's': take_samples(n, t, array); break;
    case 'o':
        t->offset_ms = a;
        t->error_ms = b;
        break;
    case 'e': t->ended = true; break;
    case 'u': t->use = a == 1 ? NODE_USED : NODE_IDLE; break;
    default: break;
    }
}

static void nodes_read_line(struct nodes_summary *n, struct str line)
{
    struct str node, array;
    struct json *j = NULL;
    if (!node_line_read(line, &node, &array) || json_parse(&j, array, NULL, NULL))
        return;
    if (json_is_array(j))
        nodes_read_array(n, node, j);
    json_free(j);
}

/* Reads the collectors' lines from fd, which stays open, in pieces. Drops a line of more than
 * NODE_LINE_MAX bytes and an incomplete last one. -1 with err. */
static int nodes_read_lines(struct nodes_summary *n, int fd, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 2 * PIECE);
    for (;;) {
        char *room = buf_room(&text, PIECE);
        ssize_t got = room ? read(fd, room, PIECE) : -1;
        if (!room)
            return err_memory(err, "the reports of the nodes");
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_sys(err, "nodes: cannot read %s", NODES_LINES);
        if (got == 0)
            return 0;
        text.n += (size_t)got;
        size_t taken = 0;
        for (const char *end; (end = memchr(text.p + taken, '\n', text.n - taken)); taken = (size_t)(end - text.p) + 1)
            nodes_read_line(n, (struct str){text.p + taken, (size_t)(end - text.p) - taken});
        if (taken == 0 && text.n >= NODE_LINE_MAX)
            taken = text.n; /* no line is so long */
        memmove(text.p, text.p + taken, text.n - taken);
        text.n -= taken;
    }
}

/* Adds the recorder's own node to the summary, with the facts and samples of its probes in the
 * record. They are copied. */
static void take_own(struct nodes_summary *n, const struct record *r)
{
    static const char *const others[] = {"probe:scheduler", "probe:environment", "probe:software", "probe:source", "probe:program"};
    struct node_report *own = node_add(n, str_of(n->own));
    if (!own)
        return;
    own->own = true;
    own->ended = true;
    own->start_ms = r->start_ms;
    own->error_ms = 0;
    for (const struct fact *f = r->first; f; f = f->next) {
        bool other = !str_starts(str_of(f->source), "probe:");
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            other |= strcmp(f->source, others[i]) == 0;
        if (other)
            continue;
        if (f->kind == FACT_PARAM || f->kind == FACT_MISSING)
            add_fact(n, own, f->key.p, f->text.p, f->kind == FACT_MISSING);
        struct node_series *s = f->kind == FACT_METRIC && str_starts(f->key, "system/") ? nodes_series_of(n, own, f->key.p) : NULL;
        if (s)
            add_sample(n, own, s, f->time_ms, f->value);
    }
}

/* Returns the fact of the node that has a value; NULL: it has none, or only a reason. */
static struct node_fact *fact_of(const struct node_report *t, const char *key)
{
    for (struct node_fact *f = t->facts; f; f = f->next)
        if (!f->missing && strcmp(f->key, key) == 0)
            return f;
    return NULL;
}

/* A key of the first node, with its first fact that has a value. */
struct common_row {
    struct node_fact *fact;
    size_t at, same; /* place in the list; other nodes whose first value is the same */
    const struct node_report *seen; /* the last node with this key */
};

static int compare_common_rows(const void *a, const void *b)
{
    const struct common_row *x = a, *y = b;
    int c = strcmp(x->fact->key, y->fact->key);
    return c ? c : (x->at > y->at) - (x->at < y->at);
}

static int compare_common_keys(const void *key, const void *row)
{
    return strcmp(key, ((const struct common_row *)row)->fact->key);
}

/* Returns the first node's facts that have a value, sorted by key, of each key the first one.
 * The caller frees the list. NULL: out of memory. */
static struct common_row *common_rows(const struct node_report *first, size_t *ret_count)
{
    struct common_row *rows = calloc(first->facts_count + 1, sizeof *rows);
    size_t n = 0, kept = 0;
    for (struct node_fact *f = rows ? first->facts : NULL; f; f = f->next)
        if (!f->missing) {
            rows[n] = (struct common_row){.fact = f, .at = n};
            n++;
        }
    if (n)
        qsort(rows, n, sizeof *rows, compare_common_rows);
    for (size_t i = 0; i < n; i++)
        if (!kept || strcmp(rows[kept - 1].fact->key, rows[i].fact->key) != 0)
            rows[kept++] = rows[i];
    *ret_count = kept;
    return rows;
}

/* Sets `common` for each fact that all nodes report with the same text. Out of memory sets none:
 * each node then has all of its facts. */
static void mark_common(struct nodes_summary *n)
{
    size_t count;
    struct common_row *rows = n->first ? common_rows(n->first, &count) : NULL;
    for (const struct node_report *t = rows ? n->first->next : NULL; t; t = t->next)
        for (const struct node_fact *f = t->facts; f; f = f->next) {
            struct common_row *row = f->missing ? NULL : bsearch(f->key, rows, count, sizeof *rows, compare_common_keys);
            if (!row || row->seen == t)
                continue;
            row->seen = t;
            row->same += strcmp(row->fact->text, f->text) == 0;
        }
    for (struct node_report *t = rows ? n->first : NULL; t; t = t->next)
        for (struct node_fact *f = t->facts; f; f = f->next) {
            const struct common_row *row = f->missing ? NULL : bsearch(f->key, rows, count, sizeof *rows, compare_common_keys);
            f->common = row && row->same == n->count - 1;
        }
    free(rows);
}

/* Returns how many points a series may have: with more nodes fewer, since a published run shall
 * stay below 1 MiB with all of its nodes. */
static size_t points_for(int64_t nodes, bool public_profile)
{
    size_t points = (size_t)((public_profile ? POINTS_PUBLIC : POINTS_PRIVATE) / (nodes > 0 ? nodes : 1));
    return points > NODES_POINTS_MAX ? NODES_POINTS_MAX : points < POINTS_LEAST ? POINTS_LEAST : points;
}

/* Decides which nodes ran the program: those whose ranks have reported; of a job's nodes those of
 * the step, by Slurm. */
static void settle_use(struct nodes_summary *n)
{
    for (struct node_report *t = n->first; t; t = t->next)
        if (!n->chosen)
            t->use = NODE_USED;
        else if (!n->used)
            t->use = NODE_UNKNOWN;
        else if (t->own)
            t->use = n->own_used ? NODE_USED : NODE_IDLE;
}

int nodes_read(struct nodes_summary *ret, int dir, const struct record *r, bool public_profile, struct err *err)
{
    return nodes_read_samples(ret, dir, r, public_profile, NULL, NULL, err);
}

int nodes_read_samples(struct nodes_summary *ret, int dir, const struct record *r, bool public_profile, nodes_sample *each, void *context,
                       struct err *err)
{
    CLEANUP_FD int fd = place_open(dir, NODES_LINES, O_RDONLY, 0);
    if (fd < 0)
        return errno == ENOENT ? 1 : err_sys(err, "nodes: cannot open %s", NODES_LINES);
    *ret = (struct nodes_summary){.points = NODES_POINTS_MAX, .each = each, .context = context};
    arena_init(&ret->arena, ARENA_MAX);
    node_name_make(ret->own, STR(""));
    ret->slots = arena_get(&ret->arena, SLOTS * sizeof *ret->slots);
    char first[NODE_LINE_MAX + 1];
    ssize_t got = pread(fd, first, NODE_LINE_MAX, 0); /* the recorder's own line, which states their number */
    const char *end = got > 0 ? memchr(first, '\n', (size_t)got) : NULL;
    if (end && ret->slots)
        nodes_read_line(ret, (struct str){first, (size_t)(end - first)});
    ret->points = points_for(ret->expected, public_profile);
    ret->brief = public_profile && ret->expected > NODES_BRIEF;
    if (!ret->outside)
        take_own(ret, r);
    int rc = ret->slots ? nodes_read_lines(ret, fd, err) : -1;
    if (ret->arena.failed) /* statistics over a part of the nodes would be wrong */
        rc = err_set(err, ERR_SYSTEM, "nodes: the reports need more than %d MiB (or out of memory)", ARENA_MAX >> 20);
    if (rc) {
        nodes_deinit(ret);
        return -1;
    }
    settle_use(ret);
    mark_common(ret);
    return 0;
}

void nodes_deinit(struct nodes_summary *n)
{
    arena_deinit(&n->arena);
    *n = (struct nodes_summary){0};
}

const char *node_text(const struct node_report *node, const char *key)
{
    const struct node_fact *f = fact_of(node, key);
    return f ? f->text : NULL;
}

/* Returns whether the series of this name is a counter since the start. */
static bool node_counts(const char *name)
{
    static const char *const words[] = {"network_", "disk_read", "disk_write", "energy", "infiniband_", "lustre_", "throttled"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

double node_value(const struct node_series *s)
{
    return node_counts(s->name) ? s->last : s->sum / (double)s->count;
}
