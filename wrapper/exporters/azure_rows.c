/* azure_rows.c: a run as rows of the table of runs in Azure Monitor; see azure_rows.h. */
#include "exporters/azure_rows.h"

#include "base/json_out.h"
#include "base/utf8.h"
#include "exporters/httpjson_template.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <string.h>

/* Azure cuts a value at 64 KB, and a cut object is no object. */
enum { OBJECT_BYTES = 60000, TEXT_BYTES = 8000 };
#define METRIC_OF_RUN "run.wall_s" /* every run has it */

/* What the columns of one row are made of. */
struct azure_row {
    const struct exporter_run *run;
    const struct tree_entry *metric;
    const struct json *reference; /* NULL: none */
    const struct tree_sample *last;
};

static void put_azure_text(struct json_out *j, const char *column, const char *text)
{
    if (text)
        json_str(j, column, (struct str){text, utf8_cut(str_of(text), TEXT_BYTES)});
    else
        json_null(j, column);
}

static void put_azure_time(struct json_out *j, const char *column, const struct exporter_run *run, int64_t ms)
{
    json_text(j, column, template_utc_text(ms, run->arena));
}

static void put_azure_count(struct json_out *j, const char *column, const char *text)
{
    int64_t n;
    if (text && str_int(str_of(text), &n))
        json_int(j, column, n);
    else
        json_null(j, column);
}

/* As many members as the bound allows. */
static void put_azure_object(struct json_out *j, const char *column, const struct tree_entry *list)
{
    size_t room = OBJECT_BYTES;
    json_open(j, column, '{');
    for (; list; list = list->next) {
        size_t n = strlen(list->key) + 2 * list->value.n + 8; /* most characters of a value need one byte, a few two */
        if (n > room)
            continue;
        room -= n;
        json_str(j, list->key, list->value);
    }
    json_close(j, '}');
}

static const char *count_param(const struct exporter_run *run, const char *first, const char *second)
{
    const char *text = exporter_run_param(run, first);
    return text ? text : exporter_run_param(run, second);
}

/* Appends the row of a run. */
static void put_azure_run(struct json_out *j, const struct azure_row *r)
{
    const struct exporter_run *run = r->run;
    const struct tree_run *t = run->run;
    put_azure_time(j, "TimeGenerated", run, t->end_ms ? t->end_ms : t->start_ms);
    json_text(j, "RecordId", arena_printf(run->arena, "%s/%s", t->id, r->metric->key));
    json_text(j, "RunId", t->id);
    put_azure_text(j, "RunName", t->name);
    put_azure_time(j, "RunStart", run, t->start_ms);
    put_azure_time(j, "RunEnd", run, t->end_ms);
    put_azure_text(j, "Experiment", t->experiment);
    put_azure_text(j, "Benchmark", exporter_run_tag(run, "benchmark"));
    put_azure_text(j, "Site", exporter_run_tag(run, "site"));
    put_azure_text(j, "Cluster", exporter_run_tag(run, "cluster"));
    put_azure_text(j, "Computer", exporter_run_tag(run, "hostname"));
    put_azure_text(j, "UserName", t->user);
    put_azure_text(j, "Scheduler", exporter_run_param(run, "job.scheduler"));
    put_azure_text(j, "JobId", exporter_run_tag(run, "job.id"));
    put_azure_text(j, "Partition", exporter_run_param(run, "job.partition"));
    put_azure_count(j, "Nodes", exporter_run_param(run, "job.nodes"));
    put_azure_count(j, "Tasks", count_param(run, "step.tasks", "job.tasks"));
    json_text(j, "Status", record_status_name(t->status));
    put_azure_text(j, "Verdict", exporter_run_tag(run, "benchwrap.verdict"));
    put_azure_text(j, "Reason", exporter_run_tag(run, "benchwrap.reason"));
}

/* Appends the row of a metric. */
static void put_azure_metric(struct json_out *j, const struct azure_row *r)
{
    const struct exporter_run *run = r->run;
    const char *key = r->metric->key;
    const struct json *detail = json_get(json_get(run->detail, "metrics"), key);
    json_text(j, "Metric", key);
    json_known(j, "Value", r->last ? r->last->value : NAN);
    put_azure_text(j, "Unit", exporter_run_unit(run, key));
    put_azure_text(j, "Direction", json_string(json_get(detail, "direction"), NULL));
    json_flag(j, "Headline", str_has_word(exporter_run_tag(run, "benchwrap.headline"), str_of(key)));
    if (r->last)
        json_int(j, "Step", r->last->step);
    else
        json_null(j, "Step");
    put_azure_time(j, "MetricTime", run, r->last ? r->last->time_ms : 0);
    json_known(j, "Reference", json_number(json_get(r->reference, "reference"), NAN));
    json_known(j, "Low", json_number(json_get(r->reference, "low"), NAN));
    json_known(j, "High", json_number(json_get(r->reference, "high"), NAN));
    put_azure_text(j, "MetricVerdict", json_string(json_get(r->reference, "verdict"), NULL));
    if (strcmp(key, METRIC_OF_RUN) == 0) {
        put_azure_object(j, "Params", run->run->params);
        put_azure_object(j, "Tags", run->run->tags);
    }
}

int azure_rows_make(const struct exporter_run *run, bool all, struct httpjson_records *to, struct err *err)
{
    for (const struct tree_entry *e = run->run->metrics; e; e = e->next) {
        if (!all && !key_is_result(e->key) && strcmp(e->key, METRIC_OF_RUN) != 0)
            continue;
        const struct azure_row row = {run, e, template_reference(run, e->key), exporter_run_last(e)};
        struct json_out j = json_begin(&to->text, JSON_TIGHT, '{');
        put_azure_run(&j, &row);
        put_azure_metric(&j, &row);
        json_close(&j, '}');
        if (httpjson_records_add(to, err))
            return -1;
    }
    return 0;
}
