/* httpjson_reframe.c: records in the form of ReFrame's httpjson handler: what a benchwrap run knows of its fields, and no more. */
#include "base/json_out.h"
#include "base/show.h"
#include "exporters/httpjson_keys.h"
#include "exporters/httpjson_template.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NAME_BYTES = 300, VARIABLES_MAX = 256 };

struct reframe_form {
    const struct exporter_config *config;
    const struct exporter_run *run;
    struct json_out *j;
    const char *prefix;
};

/* Is the field left out, or replaced by an extra of the user's? */
static bool reframe_is_left_out(const struct reframe_form *r, const char *name)
{
    size_t n = strlen(name);
    for (const struct opt_value *v = opt_find(&r->config->opts, HTTPJSON_KEY_IGNORE); v && v->text; v = v->next)
        if (strcmp(v->text, name) == 0)
            return true;
    for (const struct opt_value *v = opt_find(&r->config->opts, HTTPJSON_KEY_EXTRA); v && v->text; v = v->next)
        if (strncmp(v->text, name, n) == 0 && v->text[n] == '=')
            return true;
    return false;
}

/* Returns the field's name with the prefix, in the run's arena; NULL: the configuration leaves it
 * out, or out of memory. */
static const char *field_name(const struct reframe_form *r, const char *name)
{
    const char *full = arena_printf(r->run->arena, "%s%s", r->prefix, name);
    return full && !reframe_is_left_out(r, full) ? full : NULL;
}

static void reframe_put_text(const struct reframe_form *r, const char *name, const char *value)
{
    const char *full = field_name(r, name);
    if (full && value)
        json_text(r->j, full, value);
}

static void reframe_put_number(const struct reframe_form *r, const char *name, double value)
{
    const char *full = field_name(r, name);
    if (full && isfinite(value))
        json_double(r->j, full, value);
}

static void reframe_put_known(const struct reframe_form *r, const char *name, double value)
{
    const char *full = field_name(r, name);
    if (full)
        json_known(r->j, full, value);
}

static void reframe_put_words(const struct reframe_form *r, const char *name, const char *words)
{
    const char *full = words ? field_name(r, name) : NULL;
    struct str rest = str_of(words), word;
    if (!full)
        return;
    json_open(r->j, full, '[');
    while ((word = str_word(&rest)).n)
        json_str(r->j, NULL, word);
    json_close(r->j, ']');
}

static void reframe_put_count(const struct reframe_form *r, const char *name, const char *const *params)
{
    int64_t n;
    for (; *params; params++) {
        const char *text = exporter_run_param(r->run, *params), *full = field_name(r, name);
        if (!text || !full || !str_int(str_of(text), &n))
            continue;
        json_int(r->j, full, n);
        return;
    }
}

/* ---- the run ---- */

/* The program and what follows it, behind launchers such as srun. */
static void reframe_put_program(const struct reframe_form *r)
{
    const struct json *argv = json_get(json_get(r->run->detail, "run"), "argv"), *at = json_first(argv);
    const char *program = exporter_run_param(r->run, "program.name"), *opts = field_name(r, "executable_opts");
    for (const struct json *a = at; a && program; a = json_next(a))
        if (strcmp(str_base_name(json_string(a, "")), program) == 0) {
            at = a;
            break;
        }
    if (!at)
        return;
    reframe_put_text(r, "executable", json_string(at, ""));
    if (!opts)
        return;
    json_open(r->j, opts, '[');
    for (at = json_next(at); at; at = json_next(at))
        json_text(r->j, NULL, json_string(at, ""));
    json_close(r->j, ']');
}

static void reframe_put_times(const struct reframe_form *r)
{
    const struct tree_run *run = r->run->run;
    const char *scheduler = exporter_run_param(r->run, "job.scheduler");
    time_t at = (time_t)(run->end_ms / 1000);
    char text[40], zone[8];
    struct tm t;
    if (scheduler && strcmp(scheduler, "none") == 0) /* else it is the start of the job, not its submission */
        reframe_put_number(r, "job_submit_time", (double)run->start_ms / 1e3);
    if (!run->end_ms || !localtime_r(&at, &t))
        return;
    reframe_put_number(r, "job_completion_time_unix", (double)run->end_ms / 1e3);
    strftime(text, sizeof text, "%FT%T", &t);
    strftime(zone, sizeof zone, "%z", &t); /* +0100 */
    reframe_put_text(r, "job_completion_time", arena_printf(r->run->arena, "%s%.3s:%.2s", text, zone, zone + 3));
}

/* Returns the text of the user's extra for a field, if it has no {{KEY}}; else `otherwise`. */
static const char *extra_or(const struct reframe_form *r, const char *name, const char *otherwise)
{
    const char *full = arena_printf(r->run->arena, "%s%s=", r->prefix, name);
    for (const struct opt_value *v = opt_find(&r->config->opts, HTTPJSON_KEY_EXTRA); full && v && v->text; v = v->next)
        if (strncmp(v->text, full, strlen(full)) == 0 && !template_has_keys(v->text))
            return v->text + strlen(full);
    return otherwise;
}

/* Appends system, partition, environment, job and node of the run under the names of ReFrame's
 * reports, and `info`, which joins the first three with the name. */
static void reframe_put_places(const struct reframe_form *r, const char *name)
{
    const struct exporter_run *run = r->run;
    static const char *const environs[] = {"software.spack_environment", "software.conda_environment", "software.virtual_environment"};
    const char *system = exporter_run_tag(run, "cluster"), *partition = exporter_run_param(run, "job.partition"), *environ_name = NULL,
               *nodes = exporter_run_param(run, "job.nodes");
    for (size_t i = 0; i < sizeof environs / sizeof *environs && !environ_name; i++)
        environ_name = exporter_run_param(run, environs[i]);
    reframe_put_text(r, "system", system);
    reframe_put_text(r, "partition", partition);
    reframe_put_text(r, "environ", environ_name);
    name = extra_or(r, "name", name);
    system = extra_or(r, "system", system);
    partition = extra_or(r, "partition", partition);
    environ_name = extra_or(r, "environ", environ_name);
    reframe_put_text(r, "info",
                     arena_printf(run->arena, "%s%s%s%s%s%s%s", name, system ? " @" : "", system ? system : "", partition ? ":" : "",
                                  partition ? partition : "", environ_name ? "+" : "", environ_name ? environ_name : ""));
    reframe_put_text(r, "jobid", exporter_run_tag(run, "job.id"));
    if (!nodes || strcmp(nodes, "1") == 0) /* of several nodes this one alone is known by name */
        reframe_put_words(r, "job_nodelist", exporter_run_tag(run, "hostname"));
}

static void reframe_put_plain(const struct reframe_form *r, const char *name, const char *value)
{
    if (value && *value && !reframe_is_left_out(r, name))
        json_text(r->j, name, value);
}

static void reframe_put_run(const struct reframe_form *r)
{
    const struct exporter_run *run = r->run;
    const char *name = exporter_run_tag(run, "benchmark"), *verdict = exporter_run_tag(run, "benchwrap.verdict");
    const char *const names[] = {"name", "unique_name", "short_name", "display_name"};
    bool failed = run->run->status != RUN_FINISHED || (verdict && strcmp(verdict, "fail") == 0);
    name = name ? name : run->run->experiment;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        reframe_put_text(r, names[i], name);
    reframe_put_text(r, "descr", exporter_run_tag(run, "mlflow.note.content"));
    reframe_put_places(r, name);
    reframe_put_times(r);
    reframe_put_program(r);
    reframe_put_words(r, "modules", exporter_run_param(run, "software.modules"));
    reframe_put_count(r, "num_tasks", (const char *const[]){"step.tasks", "job.tasks", NULL});
    reframe_put_count(r, "num_tasks_per_node", (const char *const[]){"step.tasks_per_node", "job.tasks_per_node", NULL});
    reframe_put_count(r, "num_cpus_per_task", (const char *const[]){"step.cpus_per_task", "job.cpus_per_task", NULL});
    reframe_put_count(r, "num_gpus_per_node", (const char *const[]){"job.gpus_per_node", NULL});
    for (const struct tree_entry *e = run->run->metrics; e; e = e->next)
        if (strcmp(e->key, "run.exit_status") == 0 && exporter_run_last(e))
            reframe_put_number(r, "job_exitcode", exporter_run_last(e)->value);
    reframe_put_text(r, "result", failed ? "fail" : "pass");
    if (failed)
        reframe_put_text(r, "fail_reason", exporter_run_tag(run, "benchwrap.reason"));
    reframe_put_plain(r, "hostname", exporter_run_tag(run, "hostname"));
    reframe_put_plain(r, "osuser", run->run->user);
}

/* ---- performance ---- */

struct reframe_variable {
    char name[NAME_BYTES];
    const struct tree_entry *metric;
};

/* "write.bw_MiB_per_s.max" is write_bw, as a performance variable would be called. */
static void variable_name(const struct reframe_form *r, const char *key, char ret[NAME_BYTES])
{
    const char *unit = exporter_run_unit(r->run, key);
    size_t n = key_stem(key), m = strlen(unit);
    if (m && n > m + 1 && strncmp(key + n - m, unit, m) == 0 && key[n - m - 1] == '_')
        n -= m + 1;
    n = n < NAME_BYTES - 1 ? n : NAME_BYTES - 1;
    for (size_t i = 0; i < n; i++) {
        bool word = (key[i] >= 'a' && key[i] <= 'z') || (key[i] >= 'A' && key[i] <= 'Z') || (key[i] >= '0' && key[i] <= '9');
        ret[i] = word ? key[i] : '_';
    }
    ret[n] = 0;
}

static void add_variable(const struct reframe_form *r, struct reframe_variable *list, size_t *n, const char *key)
{
    char name[NAME_BYTES];
    const struct tree_entry *e = r->run->run->metrics;
    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    if (!e || *n == VARIABLES_MAX || strcmp(key, "run.wall_s") == 0)
        return;
    variable_name(r, key, name);
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i].name, name) == 0)
            return; /* another statistic of the same quantity */
    memcpy(list[*n].name, name, sizeof name);
    list[(*n)++].metric = e;
}

/* Metrics with a reference, then headline metrics; with metrics: all every result. */
static size_t reframe_variables(const struct reframe_form *r, struct reframe_variable *list)
{
    size_t n = 0;
    struct str rest = str_of(exporter_run_tag(r->run, "benchwrap.headline")), word;
    for (const struct json *ref = json_first(json_get(r->run->detail, "references")); ref; ref = json_next(ref))
        add_variable(r, list, &n, json_string(json_get(ref, "metric"), ""));
    while ((word = str_word(&rest)).n) {
        const char *key = arena_dup(r->run->arena, word.p, word.n);
        if (key)
            add_variable(r, list, &n, key);
    }
    if (strcmp(opt_text(&r->config->opts, HTTPJSON_KEY_METRICS), "all") != 0)
        return n;
    for (const struct tree_entry *e = r->run->run->metrics; e; e = e->next)
        if (key_is_result(e->key))
            add_variable(r, list, &n, e->key);
    return n;
}

/* Returns the limit relative to the reference, as ReFrame writes it; NaN where the reference is
 * 0. */
static double relative_limit(double limit, double reference)
{
    double v = (limit - reference) / fabs(reference);
    return reference == 0 ? NAN : round(v * 1e12) / 1e12;
}

/* Appends the members that ReFrame has for a performance variable: value, reference, thresholds,
 * unit, result. begin: "perf_", or "perf_<variable>_" in a flat record. */
static void reframe_put_variable(const struct reframe_form *r, const struct reframe_variable *v, const char *begin)
{
    struct arena *a = r->run->arena;
    const struct json *ref = template_reference(r->run, v->metric->key);
    const struct tree_sample *last = exporter_run_last(v->metric);
    double reference = json_number(json_get(ref, "reference"), NAN);
    const char *verdict = json_string(json_get(ref, "verdict"), NULL);
    struct buf unit CLEANUP_BUF;
    buf_init(&unit, 200);
    show_unit(&unit, exporter_run_unit(r->run, v->metric->key));
    reframe_put_known(r, arena_printf(a, "%svalue", begin), last ? last->value : NAN);
    reframe_put_known(r, arena_printf(a, "%sref", begin), reference);
    reframe_put_known(r, arena_printf(a, "%slower_thres", begin), relative_limit(json_number(json_get(ref, "low"), NAN), reference));
    reframe_put_known(r, arena_printf(a, "%supper_thres", begin), relative_limit(json_number(json_get(ref, "high"), NAN), reference));
    reframe_put_text(r, arena_printf(a, "%sunit", begin), unit.p ? unit.p : "");
    reframe_put_text(r, arena_printf(a, "%sresult", begin), !verdict ? NULL : json_bool(json_get(ref, "fails"), false) ? "fail" : "pass");
}

static void reframe_put_extras(const struct reframe_form *r)
{
    for (const struct opt_value *v = opt_find(&r->config->opts, HTTPJSON_KEY_EXTRA); v && v->text; v = v->next) {
        struct str value = str_of(v->text), name = str_cut(&value, '=');
        const struct template_values values = {r->config, r->run, NULL};
        const char *key = arena_dup(r->run->arena, name.p, name.n);
        struct buf text CLEANUP_BUF, raw CLEANUP_BUF;
        buf_init(&text, 1 << 20);
        buf_init(&raw, 1 << 20);
        buf_json(&raw, value.p ? value : STR("")); /* a text, so that values are filled in as its characters */
        if (key && raw.p && template_expand(raw.p, &values, &text, NULL) == 0)
            json_raw(r->j, key, buf_text(&text));
    }
}

static int reframe_add(const struct exporter_config *c, const struct exporter_run *run, const struct reframe_variable *list, size_t n,
                       bool each, struct httpjson_records *to, struct err *err)
{
    struct json_out j = json_begin(&to->text, JSON_TIGHT, '{');
    const char *prefix = opt_text(&c->opts, HTTPJSON_KEY_PREFIX);
    struct reframe_form r = {.config = c, .run = run, .j = &j, .prefix = prefix ? prefix : ""};
    reframe_put_run(&r);
    if (each && n)
        reframe_put_text(&r, "perf_var", list[0].name);
    for (size_t i = 0; i < n; i++)
        reframe_put_variable(&r, &list[i], each ? "perf_" : arena_printf(run->arena, "perf_%s_", list[i].name));
    reframe_put_extras(&r);
    json_close(&j, '}');
    return httpjson_records_add(to, err);
}

int httpjson_reframe(const struct exporter_config *c, const struct exporter_run *run, bool each, struct httpjson_records *to,
                     struct err *err)
{
    struct reframe_variable *list = arena_get(run->arena, VARIABLES_MAX * sizeof *list);
    if (!list)
        return err_memory(err, "the variables of a run");
    size_t n = reframe_variables(&(struct reframe_form){.config = c, .run = run}, list);
    if (!each || n == 0)
        return reframe_add(c, run, list, each ? 0 : n, false, to, err);
    for (size_t i = 0; i < n; i++)
        if (reframe_add(c, run, &list[i], 1, true, to, err))
            return -1;
    return 0;
}
