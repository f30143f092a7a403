/* ui_view.c: the columns of MLflow's table of runs. */
#include "cmd/ui_view.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RUNS_LOOKED_AT = 50, METRICS_MAX = 6, STATE_BYTES = 5000 /* a longer tag is refused */ };

static bool has(const struct runs *runs, const struct tree_run *run, const char *folder, const char *key)
{
    char path[600];
    const char *slash = strchr(run->path, '/');
    snprintf(path, sizeof path, "%.300s/%s/%s", slash ? slash + 1 : run->path, folder, key);
    return faccessat(runs->root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* One column: MLflow's name of it. */
static void column(struct buf *to, const char *kind, struct str key)
{
    CLEANUP_BUF struct buf name;
    buf_init(&name, 1024);
    if (memchr(key.p, '`', key.n))
        return;
    buf_printf(&name, "%s.`" STR_FMT "`", kind, STR_ARG(key));
    if (name.failed || to->n + 2 * name.n > STATE_BYTES / 2)
        return;
    buf_puts(to, to->n ? "," : "");
    buf_json(to, buf_text(&name));
}

static bool of(const struct tree_run *run, const char *experiment)
{
    return strcmp(run->experiment, experiment) == 0;
}

/* The first metrics that the runs' headlines name. */
static void metrics(const struct runs *runs, const char *experiment, struct arena *a, struct buf *to)
{
    struct str keys[METRICS_MAX];
    size_t n = 0, seen = 0;
    for (size_t i = 0; i < runs->count && seen < RUNS_LOOKED_AT && n < METRICS_MAX; i++) {
        const struct tree_run *run = runs->all[i];
        if (!of(run, experiment))
            continue;
        seen++;
        struct str rest = str_of(runs_file(runs, run, "tags/benchwrap.headline", 4096, a));
        for (struct str word; n < METRICS_MAX && (word = str_word(&rest)).n;) {
            size_t k = 0;
            while (k < n && !str_eq(keys[k], word))
                k++;
            if (k == n)
                keys[n++] = word;
        }
    }
    for (size_t i = 0; i < n; i++)
        column(to, "metrics", keys[i]);
    if (!n)
        column(to, "metrics", STR("run.wall_s"));
}

void ui_view_state(const struct runs *runs, const char *experiment, struct arena *a, struct buf *to)
{
    static const struct {
        const char *folder, *key;
    } wanted[] = {{"tags", "benchwrap.verdict"},   {"params", "job.nodes"}, {"params", "job.tasks"}, {"params", "job.tasks_per_node"},
                  {"params", "job.gpus_per_node"}, {"tags", "job.id"},      {"tags", "cluster"},     {"tags", "site"}};
    CLEANUP_BUF struct buf columns;
    buf_init(&columns, STATE_BYTES);
    metrics(runs, experiment, a, &columns);
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        bool there = false;
        size_t seen = 0;
        for (size_t i = 0; i < runs->count && seen < RUNS_LOOKED_AT && !there; i++)
            if (of(runs->all[i], experiment)) {
                seen++;
                there = has(runs, runs->all[i], wanted[k].folder, wanted[k].key);
            }
        if (there)
            column(&columns, wanted[k].folder, str_of(wanted[k].key));
    }
    column(&columns, "attributes", STR("Source"));
    /* Every member that the pages of 2.22 and 3.17 keep: what is absent would be undefined there. */
    buf_puts(
        to,
        "{\"searchFilter\":\"\",\"orderByKey\":\"attributes.start_time\",\"orderByAsc\":false,\"startTime\":\"ALL\",\"lifecycleFilter\":\"Active\","
        "\"datasetsFilter\":[],\"modelVersionFilter\":\"All Runs\",\"selectedColumns\":[");
    buf_str(to, buf_text(&columns));
    buf_puts(
        to, "],\"columnOrder\":[],\"columnWidths\":{},\"runsExpanded\":{},\"runsPinned\":[],\"runsHidden\":[],\"runsVisibilityMap\":{},"
            "\"runsHiddenMode\":\"FIRST_10_RUNS\",\"viewMaximized\":false,\"runListHidden\":false,\"isAccordionReordered\":false,"
            "\"useGroupedValuesInCharts\":true,\"hideEmptyCharts\":true,\"groupBy\":null,\"groupsExpanded\":{},\"autoRefreshEnabled\":true,"
            "\"globalLineChartConfig\":{\"xAxisKey\":\"step\",\"lineSmoothness\":0,\"selectedXAxisMetricKey\":\"\"}}");
}

static enum mlflow_answer set_tag(struct mlflow *m, const char *id, const char *key, struct str value, struct err *err)
{
    CLEANUP_BUF struct buf body, url;
    buf_init(&body, 64 << 10);
    buf_init(&url, 8192);
    buf_printf(&url, "%s/api/2.0/mlflow/experiments/set-experiment-tag", mlflow_uri(m));
    buf_puts(&body, "{\"experiment_id\":");
    buf_json(&body, str_of(id));
    buf_printf(&body, ",\"key\":\"%s\",\"value\":", key);
    buf_json(&body, value);
    buf_putc(&body, '}');
    struct mlflow_call call = {.what = "experiments/set-experiment-tag",
                               .request = {.method = "POST", .url = url.p, .type = "application/json", .body = buf_text(&body)}};
    return mlflow_do(m, &call, NULL, err);
}

enum mlflow_answer ui_view_set(struct mlflow *m, const char *experiment_id, struct str state, struct err *err)
{
    enum mlflow_answer answer = set_tag(m, experiment_id, "mlflow.sharedViewState." UI_VIEW, state, err);
    return answer == MLFLOW_FINE ? set_tag(m, experiment_id, "mlflow.experimentKind", STR("custom_model_development"), err) : answer;
}
