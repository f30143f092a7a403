/* made_runs.h: write runs of known content into a tree, for tests of history and explain. Include place.h's setup. */
#ifndef UNIT_HISTORY_MADE_RUNS_H
#define UNIT_HISTORY_MADE_RUNS_H
#include "../place.h"
#include "runs/runs.h"

#include <sys/stat.h>

struct made_run {
    int number; /* makes its id; and its start: one minute each */
    const char *status; /* NULL: FINISHED */
    const char *argument; /* of its program; NULL: "a" */
    const char *params, *metrics, *tags; /* members of JSON objects; NULL: none */
};

static inline const char *made_id(int number)
{
    static char ids[4][33];
    static int next;
    char *id = ids[next++ % 4];
    snprintf(id, 33, "%08x0000400080000000%08x", (unsigned)number, (unsigned)number);
    return id;
}

static inline void write_made(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static inline int64_t made_start_ms(int number)
{
    return INT64_C(1767225600000) + number * INT64_C(60000);
}

/* `id`: NULL, or that of a copy. */
static inline void make_run_as(const struct place *p, const struct made_run *run, const char *id)
{
    char path[200], text[4096];
    const char *status = run->status ? run->status : "FINISHED";
    long long start = made_start_ms(run->number);
    id = id ? id : made_id(run->number);
    snprintf(path, sizeof path, "%s/mlruns", p->path);
    (void)mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/mlruns/7", p->path);
    if (mkdir(path, 0755) == 0) {
        snprintf(path, sizeof path, "%s/mlruns/7/meta.yaml", p->path);
        write_made(path, "experiment_id: \"7\"\nlifecycle_stage: \"active\"\nname: \"e\"\n");
    }
    snprintf(path, sizeof path, "%s/mlruns/7/%s", p->path, id);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/mlruns/7/%s/artifacts", p->path, id);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/mlruns/7/%s/meta.yaml", p->path, id);
    snprintf(text, sizeof text,
             "end_time: %lld\nexperiment_id: \"7\"\nlifecycle_stage: \"active\"\nrun_id: \"%s\"\nrun_name: \"r\"\nstart_time: %lld\nstatus: %d\n",
             start + 1000, id, start, strcmp(status, "FINISHED") == 0 ? 3 : 4);
    write_made(path, text);
    snprintf(path, sizeof path, "%s/mlruns/7/%s/artifacts/benchwrap.json", p->path, id);
    snprintf(text, sizeof text,
             "{\"format\": 1, \"run\": {\"id\": \"%s\", \"host\": \"vm\", \"argv\": [\"prog\", \"%s\"]}, \"params\": {%s}, \"metrics\": {%s}, "
             "\"tags\": {%s}}",
             id, run->argument ? run->argument : "a", run->params ? run->params : "", run->metrics ? run->metrics : "", run->tags ? run->tags : "");
    write_made(path, text);
}

static inline void make_run(const struct place *p, struct made_run run)
{
    make_run_as(p, &run, NULL);
}

/* The file of a param: a record has all params of a run, and its folder has them, too. */
static inline void make_param(const struct place *p, int number, const char *key, const char *value)
{
    char path[200];
    snprintf(path, sizeof path, "%s/mlruns/7/%s/params", p->path, made_id(number));
    (void)mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/mlruns/7/%s/params/%s", p->path, made_id(number), key);
    write_made(path, value);
}

/* The members of a metric whose higher values are better. */
static inline const char *rate_of(double value)
{
    static char text[4][120];
    static int next;
    char *to = text[next++ % 4];
    snprintf(to, sizeof text[0], "\"rate\": {\"value\": %.9g, \"unit\": \"MB_per_s\", \"direction\": \"higher\", \"samples\": 1}", value);
    return to;
}

/* Values around 1, which are the same in each execution. */
static inline double noise_at(int i)
{
    return 1 + 0.01 * ((i * 7919 % 13) - 6) / 6.0;
}

struct made_tree { /* as a command opens it */
    struct arena arena;
    struct runs runs;
    struct err err;
};

static inline void made_tree_open(struct made_tree *ret, const struct place *p)
{
    static char *none[] = {NULL};
    ret->err = (struct err){0};
    arena_init(&ret->arena, 0);
    struct runs_place at = {.tree = arena_printf(&ret->arena, "%s/mlruns", p->path), .env = none};
    if (runs_open(&ret->runs, &at, &ret->arena, &ret->err) < 0)
        fail_msg("%s", ret->err.text);
}

static inline void made_tree_close(struct made_tree *t)
{
    runs_close(&t->runs);
    arena_deinit(&t->arena);
}
#endif
