/* ui_view.c: the columns of MLflow's table of runs. */
#include "base/json_out.h"
#include "ui/ui_view.h"

#include "base/fs.h"
#include "mlruns-format/headline.h"
#include "mlruns-format/key.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RUNS_LOOKED_AT = 50, OLDER_RUNS = 150 /* of all others, evenly */ };
enum { METRICS_MAX = 6, COLUMNS_MAX = 6, PARAMS_MAX = 2000, STATE_BYTES = 5000 /* a longer tag is refused */ };

static bool ui_run_has(const struct runs *runs, const struct tree_run *run, const char *folder, const char *key)
{
    char path[600];
    const char *slash = strchr(run->path, '/');
    snprintf(path, sizeof path, "%.300s/%s/%s", slash ? slash + 1 : run->path, folder, key);
    return faccessat(runs->root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Appends one column: MLflow's name of it. */
static void ui_print_column(struct json_out *to, const char *kind, struct str key)
{
    CLEANUP_BUF struct buf name;
    buf_init(&name, 1024);
    if (memchr(key.p, '`', key.n))
        return;
    buf_printf(&name, "%s.`" STR_FMT "`", kind, STR_ARG(key));
    if (name.failed || to->to->n + 2 * name.n > STATE_BYTES / 2)
        return;
    json_str(to, NULL, buf_text(&name));
}

static bool ui_is_of_experiment(const struct tree_run *run, const char *experiment)
{
    return strcmp(run->experiment, experiment) == 0;
}

/* Returns whether the run measures something. Retractions and annotations change other runs. */
static bool ui_measures(const struct runs *runs, const struct tree_run *run)
{
    return !ui_run_has(runs, run, "tags", "benchwrap.retracts") && !ui_run_has(runs, run, "tags", "benchwrap.annotates");
}

/* Which runs of an experiment are read: the newest, and older ones evenly, the oldest among them. */
struct ui_choice {
    size_t at, total, stride;
};

static struct ui_choice ui_choice_begin(const struct runs *runs, const char *experiment)
{
    struct ui_choice c = {.stride = 1};
    for (size_t i = 0; i < runs->count; i++)
        c.total += ui_is_of_experiment(runs->all[i], experiment);
    if (c.total > RUNS_LOOKED_AT)
        c.stride = (c.total - RUNS_LOOKED_AT + OLDER_RUNS - 1) / OLDER_RUNS;
    return c;
}

/* Returns, for each run of the experiment in turn, whether it is chosen: the newest RUNS_LOOKED_AT,
 * and each stride-th of the others. */
static bool ui_choice_next(struct ui_choice *c)
{
    size_t at = c->at++;
    return at < RUNS_LOOKED_AT || (c->total - at - 1) % c->stride == 0;
}

struct ui_column {
    struct str key;
    bool is_median; /* a run has several samples of it, or is a repetition: the column is KEY.median, for all runs */
};

static void ui_add_column(struct ui_column *columns, size_t *count, struct str key, bool is_median)
{
    size_t k = 0;
    while (k < *count && !str_eq(columns[k].key, key))
        k++;
    if (k == METRICS_MAX)
        return;
    if (k == *count)
        columns[(*count)++] = (struct ui_column){.key = key};
    columns[k].is_median |= is_median;
}

/* Adds the headline metrics of the experiment's child runs, or of all others. */
static void ui_choose_metrics_of(const struct runs *runs, const char *experiment, bool children, struct arena *a,
                                 struct ui_column columns[METRICS_MAX], size_t *n)
{
    struct ui_choice choice = ui_choice_begin(runs, experiment);
    for (size_t i = 0; i < runs->count; i++) {
        const struct tree_run *run = runs->all[i];
        struct headline headlines[HEADLINES_MAX];
        if (!ui_is_of_experiment(run, experiment) || !ui_choice_next(&choice) || !ui_measures(runs, run) ||
            ui_run_has(runs, run, "tags", "mlflow.parentRunId") != children)
            continue;
        const struct folder tree = runs_tree(runs, run);
        size_t count = headlines_of(&tree, run, HEADLINES_MAX, a, headlines);
        for (size_t h = 0; h < count; h++)
            ui_add_column(columns, n, str_of(headlines[h].key), headline_column(&tree, run, headlines[h].key, a) != headlines[h].key);
    }
}

/* Chooses the headline metrics that `ls` shows, and then those of child runs. Returns how many there
 * are. */
static size_t ui_choose_metrics(const struct runs *runs, const char *experiment, struct arena *a, struct ui_column columns[METRICS_MAX])
{
    size_t n = 0;
    ui_choose_metrics_of(runs, experiment, false, a, columns, &n);
    ui_choose_metrics_of(runs, experiment, true, a, columns, &n);
    return n;
}

/* Appends a column for each chosen metric. medians: appends the metrics whose column is their
 * median, a line each. */
static void ui_print_metrics(const struct runs *runs, const char *experiment, struct arena *a, struct json_out *to, struct buf *medians)
{
    struct ui_column columns[METRICS_MAX];
    struct str printed[METRICS_MAX];
    size_t n = ui_choose_metrics(runs, experiment, a, columns), shown = 0;
    for (size_t i = 0; i < n; i++) {
        const char *median = columns[i].is_median ? arena_printf(a, STR_FMT ".median", STR_ARG(columns[i].key)) : NULL;
        struct str name = median ? str_of(median) : columns[i].key;
        size_t k = 0;
        while (k < shown && !str_eq(printed[k], name))
            k++;
        if (columns[i].is_median)
            buf_printf(medians, STR_FMT "\n", STR_ARG(columns[i].key));
        if (k < shown) /* the parent run of repetitions has it by this name */
            continue;
        printed[shown++] = name;
        ui_print_column(to, "metrics", name);
    }
    if (!n)
        ui_print_column(to, "metrics", STR("run.wall_s"));
}

/* A param of the runs, and whether all of them have it with one value. */
struct param_seen {
    const char *key;
    struct str value;
    size_t runs; /* without child runs: their parent run has the machine's facts for them */
    bool differs;
};

static void see_params(const struct tree_run *run, bool is_child, struct param_seen *seen, size_t *count)
{
    for (const struct tree_entry *e = run->params; e; e = e->next) {
        size_t k = 0;
        while (k < *count && strcmp(seen[k].key, e->key) != 0)
            k++;
        if (k == PARAMS_MAX)
            continue;
        if (k == *count)
            seen[(*count)++] = (struct param_seen){.key = e->key, .value = e->value};
        seen[k].runs += !is_child;
        seen[k].differs = seen[k].differs || !str_eq(seen[k].value, e->value);
    }
}

static const struct tree_run *read_params(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    char folder[300];
    struct tree_run *read = NULL;
    const char *place = tree_run_path(run);
    snprintf(folder, sizeof folder, "%.*s", (int)strcspn(place, "/"), place);
    CLEANUP_FD int experiment = openat(runs->root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return experiment >= 0 && tree_read(experiment, run, TREE_PARAMS, a, &read, NULL) == 0 ? read : NULL;
}

/* Collects the params of the chosen runs: an outer loop over a param may be older than the newest
 * runs. Returns how many of those that were read are no child runs. */
static size_t see_params_of_runs(const struct runs *runs, const char *experiment, struct arena *a, struct param_seen *seen, size_t *count)
{
    struct ui_choice choice = ui_choice_begin(runs, experiment);
    size_t own = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct tree_run *run = runs->all[i];
        if (!ui_is_of_experiment(run, experiment) || !ui_choice_next(&choice) || !ui_measures(runs, run))
            continue;
        const struct tree_run *read = read_params(runs, run, a);
        bool is_child = read && ui_run_has(runs, run, "tags", "mlflow.parentRunId");
        if (read)
            see_params(read, is_child, seen, count);
        own += read && !is_child;
    }
    return own;
}

/* Appends the params in which the runs differ: what the user and the program named before facts of
 * the machine. */
static void ui_print_params(const struct runs *runs, const char *experiment, struct arena *a, struct json_out *to)
{
    struct param_seen *seen = arena_get(a, PARAMS_MAX * sizeof *seen);
    size_t count = 0, shown = 0, own = seen ? see_params_of_runs(runs, experiment, a, seen, &count) : 0;
    for (int machine = 0; machine < 2; machine++)
        for (size_t k = 0; k < count && shown < COLUMNS_MAX; k++)
            if ((seen[k].differs || (seen[k].runs && seen[k].runs < own)) && !key_is_result(seen[k].key) == machine) {
                ui_print_column(to, "params", str_of(seen[k].key));
                shown++;
            }
}

void ui_view_state(const struct runs *runs, const char *experiment, struct arena *a, struct buf *to, struct buf *medians)
{
    static const struct {
        const char *key, *other; /* one of the two is there */
        const char *column;
    } wanted[] = {{"benchwrap.verdict", NULL, "benchwrap.verdict"},
                  {"benchwrap.retracts", "benchwrap.amends", "benchwrap.corrected"},
                  {"job.id", NULL, "job.id"},
                  {"cluster", NULL, "cluster"},
                  {"site", NULL, "site"}};
    CLEANUP_BUF struct buf text;
    buf_init(&text, STATE_BYTES);
    struct json_out columns = {.to = &text, .layout = JSON_TIGHT};
    ui_print_metrics(runs, experiment, a, &columns, medians);
    ui_print_params(runs, experiment, a, &columns);
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        bool there = false;
        size_t seen = 0;
        for (size_t i = 0; i < runs->count && seen < RUNS_LOOKED_AT && !there; i++)
            if (ui_is_of_experiment(runs->all[i], experiment)) {
                seen++;
                there = ui_run_has(runs, runs->all[i], "tags", wanted[k].key) ||
                        (wanted[k].other && ui_run_has(runs, runs->all[i], "tags", wanted[k].other));
            }
        if (there)
            ui_print_column(&columns, "tags", str_of(wanted[k].column));
    }
    ui_print_column(&columns, "attributes", STR("Source"));
    /* Every member that the pages of 2.22 and 3.17 keep: what is absent would be undefined there. */
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_members(&j, STR("\"searchFilter\":\"\",\"orderByKey\":\"attributes.start_time\",\"orderByAsc\":false,\"startTime\":\"ALL\","
                         "\"lifecycleFilter\":\"Active\",\"datasetsFilter\":[],\"modelVersionFilter\":\"All Runs\""));
    json_open(&j, "selectedColumns", '[');
    json_members(&j, buf_text(&text));
    json_close(&j, ']');
    json_members(&j, STR("\"columnOrder\":[],\"columnWidths\":{},\"runsExpanded\":{},\"runsPinned\":[],\"runsHidden\":[],"
                         "\"runsVisibilityMap\":{},\"runsHiddenMode\":\"FIRST_10_RUNS\",\"viewMaximized\":false,\"runListHidden\":false,"
                         "\"isAccordionReordered\":false,\"useGroupedValuesInCharts\":true,\"hideEmptyCharts\":true,\"groupBy\":null,"
                         "\"groupsExpanded\":{},\"autoRefreshEnabled\":true,"
                         "\"globalLineChartConfig\":{\"xAxisKey\":\"step\",\"lineSmoothness\":0,\"selectedXAxisMetricKey\":\"\"}"));
    json_close(&j, '}');
}

/* Sets a tag of an experiment on the server. Answers other than MLFLOW_FINE have err. */
static enum mlflow_answer set_tag(struct mlflow *m, const char *id, const char *key, struct str value, struct err *err)
{
    CLEANUP_BUF struct buf body, url;
    buf_init(&body, 64 << 10);
    buf_init(&url, 8192);
    buf_printf(&url, "%s/api/2.0/mlflow/experiments/set-experiment-tag", mlflow_uri(m));
    struct json_out j = json_begin(&body, JSON_TIGHT, '{');
    json_text(&j, "experiment_id", id);
    json_text(&j, "key", key);
    json_str(&j, "value", value);
    json_close(&j, '}');
    struct mlflow_call call = {.what = "experiments/set-experiment-tag",
                               .request = {.method = "POST", .url = url.p, .type = "application/json", .body = buf_text(&body)}};
    return mlflow_do(m, &call, NULL, err);
}

enum mlflow_answer ui_view_set(struct mlflow *m, const char *experiment_id, struct str state, struct err *err)
{
    enum mlflow_answer answer = set_tag(m, experiment_id, "mlflow.sharedViewState." UI_VIEW, state, err);
    return answer == MLFLOW_FINE ? set_tag(m, experiment_id, "mlflow.experimentKind", STR("custom_model_development"), err) : answer;
}
