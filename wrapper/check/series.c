/* series.c: a run that is a program run several times: artifacts/repetitions.jsonl has what its runs have, and its figures lie among theirs. */
#include "check/truth.h"

#include <math.h>
#include <stdio.h>

enum { LINE_MAX = 4 << 20, VALUE_MAX = 1 << 20, TOLD_MAX = 5 };
static const char file[] = "artifacts/repetitions.jsonl";

/* What all runs have of one metric. */
struct range {
    const char *key;
    double min, max;
    struct range *next;
};
enum { BUCKETS = 1024 };
struct series_check {
    struct run_check *r;
    struct range **ranges; /* by key */
    size_t told;
};

static size_t bucket_of(struct str key)
{
    size_t hash = 5381;
    for (size_t i = 0; i < key.n; i++)
        hash = hash * 33 + (unsigned char)key.p[i];
    return hash % BUCKETS;
}

static struct range *range_of(const struct series_check *c, struct str key)
{
    struct range *f = c->ranges[bucket_of(key)];
    while (f && !str_is(key, f->key))
        f = f->next;
    return f;
}

static void note(struct series_check *c, const char *key, double value)
{
    struct range *f = range_of(c, str_of(key)), **head = &c->ranges[bucket_of(str_of(key))];
    if (!f && (f = ARENA_NEW(&c->r->a, struct range))) {
        *f = (struct range){arena_dup(&c->r->a, key, strlen(key)), value, value, *head};
        *head = f->key ? f : *head;
    }
    if (f) {
        f->min = fmin(f->min, value);
        f->max = fmax(f->max, value);
    }
}

/* The last value of a metric's file. */
static bool last_value(const struct folder *tree, const char *path, double *ret)
{
    CLEANUP_BUF struct buf b;
    struct str line = {"", 0};
    buf_init(&b, VALUE_MAX + 4096);
    if (folder_read(tree, path, VALUE_MAX, &b) < 0)
        return false;
    for (struct str rest = buf_text(&b); rest.p && rest.n;)
        line = str_cut(&rest, '\n');
    str_cut(&line, ' ');
    return line.p && str_double(str_cut(&line, ' '), ret);
}

/* One value of a repetition: the run that it names has it. */
static void check_value(struct series_check *c, const char *run, const struct json *v)
{
    const struct run_check *r = c->r;
    const char *key = json_string(json_get(v, "key"), ""), *of = json_string(json_get(v, "of"), "");
    double claimed = json_number(json_get(v, "value"), NAN), is;
    char path[900];
    if (isnan(claimed))
        return;
    note(c, key, claimed);
    snprintf(path, sizeof path, "%s/%s/metrics/%.300s%s%.100s", r->experiment, run, key, *of ? "." : "", of);
    if (c->told < TOLD_MAX && (!last_value(r->k->tree, path, &is) || is != claimed)) {
        run_found(c->r, CHECK_TRUTH, file, 0, "it says that the run %.8s has %.100s %.10g, which that run does not", run, key, claimed);
        c->told++;
    }
}

/* false: the run is not here, so that nothing can be said. */
static bool check_line(struct series_check *c, const struct json *line)
{
    const struct run_check *r = c->r;
    const char *run = json_string(json_get(line, "run"), "");
    struct folder_entry e;
    char path[100];
    snprintf(path, sizeof path, "%.12s/%.40s", r->experiment, run);
    if (!json_get(line, "order") || !json_count(json_get(line, "values")))
        return true;
    if (!record_is_id(str_of(run)) || folder_look(r->k->tree, path, &e, NULL) < 0)
        return false;
    for (const struct json *v = json_first(json_get(line, "values")); v; v = json_next(v))
        check_value(c, run, v);
    return true;
}

/* Values and their statistics lie between the least and the greatest of the runs: "write.bw_MiB_per_s.median", in a sweep "n_4.write.bw_MiB_per_s". */
static void check_figures(struct series_check *c)
{
    static const char *const inside[] = {".median", ".mean", ".min", ".max"};
    for (const struct json *m = json_first(json_get(c->r->record, "metrics")); m && c->told < TOLD_MAX; m = json_next(m)) {
        struct str key = str_of(json_key(m));
        const struct check_entry *e = run_entry(c->r, 'm', json_key(m));
        const struct range *f = NULL;
        for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
            if (str_ends(key, inside[i]) && !range_of(c, key))
                key.n -= strlen(inside[i]);
        for (struct str tail = key; tail.p && !f; str_cut(&tail, '.'))
            f = range_of(c, tail);
        for (size_t i = 0; f && e && i < e->count && strcmp(json_string(json_get(m, "source"), ""), "series") == 0; i++) {
            double v = e->samples[i].value, slack = 1e-9 * fmax(fabs(f->min), fabs(f->max));
            if (v >= f->min - slack && v <= f->max + slack)
                continue;
            char path[400];
            snprintf(path, sizeof path, "metrics/%.300s", json_key(m));
            run_found(c->r, CHECK_TRUTH, path, 0, "the series claims %.10g, its runs have %.10g to %.10g", v, f->min, f->max);
            c->told++;
            break;
        }
    }
}

void check_series(struct run_check *r)
{
    CLEANUP_BUF struct buf b;
    struct series_check c = {.r = r, .ranges = arena_get(&r->a, BUCKETS * sizeof *c.ranges)};
    size_t absent = 0;
    buf_init(&b, r->k->limits.file_B + (1 << 20));
    if (!r->k->tree || !c.ranges || !run_file(r, file) || folder_read(r->folder, file, r->k->limits.file_B, &b) < 0) {
        run_found(r, CHECK_UNVERIFIABLE, "", 0, "its runs are not known: there is no %s, or the tree is not here", file);
        return;
    }
    for (struct str rest = buf_text(&b); rest.p && rest.n;) {
        struct json *line = NULL;
        struct str text = str_cut(&rest, '\n');
        if (text.n > LINE_MAX || json_parse(&line, text, NULL, NULL) < 0) {
            run_found(r, CHECK_TRUTH, file, 0, "a line is no JSON, or too long");
            return;
        }
        absent += !check_line(&c, line);
        json_free(line);
    }
    if (absent)
        run_found(r, CHECK_UNVERIFIABLE, "", 0, "%zu of its runs are not here", absent);
    else
        check_figures(&c);
}
