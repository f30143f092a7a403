/* active_table.c: print runs in progress. */
#include "cmd/active_table.h"

#include "base/clock.h"
#include "base/listing.h"
#include "base/show.h"
#include "plan/plan.h"

#include <math.h>
#include <string.h>

enum { FACTS_FIRST = 20000, LOGGED_SHOWN = 2 };

#define CPU "system/process_cpu_percentage"
#define MEMORY "system/process_memory_rss_megabytes"

struct active_runs *active_table_open(struct cmd_context *c)
{
    const char *tree = opt_text(&c->opts, OPTION_TREE), *place;
    struct plan plan;
    if (plan_tree(tree, c->env, c->arena, &place, c->err) < 0 || plan_make_for(&plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE) < 0)
        return NULL;
    const char *spool = plan.spool ? arena_dup(c->arena, plan.spool, strlen(plan.spool)) : NULL,
               *fallback = plan.spool_fallback ? arena_dup(c->arena, plan.spool_fallback, strlen(plan.spool_fallback)) : NULL;
    plan_deinit(&plan);
    struct active_runs *a = active_runs_new(spool, fallback, place);
    if (!a)
        err_memory(c->err, "the list of runs in progress");
    else
        active_runs_refresh(a, FACTS_FIRST);
    return a;
}

/* Returns whether the run has the experiment, the job and one of the ids, as far as these are
 * given; of NULL: all runs have. */
static bool is_chosen(const struct active_run *run, const struct active_choice *of)
{
    if (!of)
        return true;
    if ((of->experiment && strcmp(of->experiment, run->experiment) != 0) || (of->job && strcmp(of->job, run->job) != 0))
        return false;
    for (int i = 0; i < of->count; i++)
        if (strncmp(run->id, of->ids[i], strlen(of->ids[i])) == 0)
            return true;
    return of->count == 0;
}

size_t active_table_count(const struct active_runs *a, const struct active_choice *of)
{
    size_t n = 0;
    for (size_t i = 0; i < active_runs_count(a); i++)
        n += is_chosen(active_runs_at(a, i), of);
    return n;
}

/* ---- cells ---- */

static const char *kept_text(struct arena *a, const struct buf *b)
{
    const char *text = b->n ? arena_dup(a, b->p, b->n) : NULL;
    return text;
}

static const char *elapsed_text(const struct active_run *run, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    double seconds = active_run_elapsed_s(run);
    if (seconds >= 0)
        show_duration(&b, floor(seconds));
    return kept_text(a, &b);
}

static const char *sample_text(const struct active_run *run, const char *key, const char *unit, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    const struct active_sample *s = active_run_sample(run, key);
    buf_init(&b, 64);
    if (s && isfinite(s->value)) {
        show_value(&b, s->value);
        buf_printf(&b, " %s", unit);
    }
    return kept_text(a, &b);
}

static const char *bytes_text(double bytes, const char *behind, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (isfinite(bytes) && bytes >= 0) {
        show_size(&b, (uint64_t)bytes);
        buf_puts(&b, behind);
    }
    return kept_text(a, &b);
}

/* The newest values that the program has logged itself: "loss 0.31, step 400". */
static const char *logged_text(const struct active_run *run, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    size_t n = 0;
    buf_init(&b, 4096);
    for (size_t i = 0; i < run->sample_count && n < LOGGED_SHOWN; i++) {
        const struct active_sample *s = &run->samples[i];
        if (!s->is_logged)
            continue;
        buf_puts(&b, n++ ? ", " : "");
        buf_plain(&b, str_of(s->key), 60);
        buf_putc(&b, ' ');
        show_quantity(&b, s->value, s->unit);
    }
    return kept_text(a, &b);
}

static const char *nodes_text(const struct active_run *run, struct arena *a)
{
    if (run->nodes[0] && strcmp(run->nodes, "1") != 0)
        return arena_printf(a, "%s nodes", run->nodes);
    return run->host[0] ? run->host : NULL;
}

int active_table_print(const struct active_runs *a, const struct active_choice *of, size_t rows, const struct screen *screen,
                       struct buf *to)
{
    static const struct listing_column columns[] = {
        {"id", "RUN", false, 0},   {"name", "NAME", false, 32},    {"experiment", "EXPERIMENT", false, 20},
        {"job", "JOB", false, 12}, {"nodes", "NODES", false, 16},  {"elapsed", "ELAPSED", true, 0},
        {"cpu", "CPU", true, 0},   {"memory", "MEMORY", true, 0},  {"output", "OUTPUT", true, 0},
        {"rate", "RATE", true, 0}, {"logged", "LOGGED", false, 40}};
    struct listing l;
    struct arena arena;
    size_t shown = 0, all = active_table_count(a, of);
    arena_init(&arena, 0);
    listing_init(&l, columns, sizeof columns / sizeof *columns, &arena);
    for (size_t i = 0; i < active_runs_count(a) && shown < rows; i++) {
        const struct active_run *run = active_runs_at(a, i);
        if (!is_chosen(run, of))
            continue;
        shown++;
        listing_str(&l, (struct str){run->id, 8});
        listing_text(&l, run->parent[0] ? arena_printf(&arena, "  %s", run->name) : run->name);
        listing_text(&l, run->experiment);
        listing_text(&l, run->job[0] ? run->job : NULL);
        listing_text(&l, nodes_text(run, &arena));
        listing_text(&l, elapsed_text(run, &arena));
        listing_text(&l, sample_text(run, CPU, "%", &arena));
        listing_text(&l, sample_text(run, MEMORY, "MB", &arena));
        listing_text(&l, run->is_series ? NULL : bytes_text((double)run->output_bytes, "", &arena));
        listing_text(&l, run->is_series ? NULL : bytes_text(run->output_rate, "/s", &arena));
        listing_text(&l, logged_text(run, &arena));
    }
    int rc = l.failed || arena.failed ? -1 : listing_render(&l, screen, to);
    if (all > shown)
        buf_printf(to, "… and %zu more\n", all - shown);
    listing_deinit(&l);
    arena_deinit(&arena);
    return rc < 0 || to->failed ? -1 : 0;
}

/* ---- JSON and lines ---- */

static void put_active_time(struct json_out *j, const char *key, int64_t ms)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (ms)
        show_time_utc(&b, ms);
    if (b.n)
        json_str(j, key, buf_text(&b));
    else
        json_null(j, key);
}

static void put_active_run(struct json_out *j, const struct active_run *run)
{
    uint64_t nodes, tasks;
    json_open(j, NULL, '{');
    json_text(j, "id", run->id);
    json_text(j, "name", run->name);
    json_text(j, "experiment", run->experiment);
    json_text(j, "parent", run->parent[0] ? run->parent : NULL);
    json_text(j, "command", run->command);
    json_text(j, "host", run->host[0] ? run->host : NULL);
    json_text(j, "job", run->job[0] ? run->job : NULL);
    if (str_uint(str_of(run->nodes), &nodes))
        json_uint(j, "nodes", nodes);
    else
        json_null(j, "nodes");
    if (str_uint(str_of(run->tasks), &tasks))
        json_uint(j, "tasks", tasks);
    else
        json_null(j, "tasks");
    put_active_time(j, "start", run->start_ms);
    json_double(j, "elapsed_s", active_run_elapsed_s(run));
    put_active_time(j, "heard", run->heard_ms);
    json_flag(j, "alive_for_certain", run->is_certain);
    json_uint(j, "output_B", run->output_bytes);
    json_known(j, "output_B_per_s", run->output_rate);
    put_active_time(j, "output_last", run->output_ms);
    json_open(j, "samples", '{');
    for (size_t i = 0; i < run->sample_count; i++) {
        const struct active_sample *s = &run->samples[i];
        json_open_row(j, s->key, '{');
        json_known(j, "value", s->value);
        json_text(j, "unit", s->unit[0] ? s->unit : NULL);
        put_active_time(j, "time", s->time_ms);
        json_close(j, '}');
    }
    json_close(j, '}');
    json_close(j, '}');
}

void active_table_json(const struct active_runs *a, const struct active_choice *of, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_BLOCK, '[');
    for (size_t i = 0; i < active_runs_count(a); i++)
        if (is_chosen(active_runs_at(a, i), of))
            put_active_run(&j, active_runs_at(a, i));
    json_close(&j, ']');
}

static void put_item_text(struct buf *to, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(to, ", %s%s", name, *name ? " " : "");
    buf_plain(to, str_of(value), 200);
}

void active_table_lines(const struct active_runs *a, const struct active_choice *of, struct buf *to)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < active_runs_count(a); i++) {
        const struct active_run *run = active_runs_at(a, i);
        if (!is_chosen(run, of))
            continue;
        show_time_utc(to, clock_wall_ms());
        buf_printf(to, " %.8s ", run->id);
        buf_plain(to, str_of(run->name), 80);
        put_item_text(to, "", elapsed_text(run, &arena));
        put_item_text(to, "on", nodes_text(run, &arena));
        put_item_text(to, "job", run->job[0] ? run->job : NULL);
        put_item_text(to, "cpu", sample_text(run, CPU, "%", &arena));
        put_item_text(to, "memory", sample_text(run, MEMORY, "MB", &arena));
        if (!run->is_series) {
            put_item_text(to, "output", bytes_text((double)run->output_bytes, "", &arena));
            put_item_text(to, "", bytes_text(run->output_rate, "/s", &arena));
        }
        put_item_text(to, "", logged_text(run, &arena));
        buf_putc(to, '\n');
    }
    arena_deinit(&arena);
}
