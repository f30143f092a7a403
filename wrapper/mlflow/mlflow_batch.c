/* mlflow_batch.c: log-batch: facts gathered and sent within the server's limits, and those of proxies before it. */
#include "base/json.h"
#include "mlflow/mlflow_call.h"

#include <math.h>

enum { METRICS_MAX = 1000, PAIRS_MAX = 100, ALL_MAX = 1000, PARAM_MAX = 6000, TAG_MAX = 8000 };

void batch_begin(struct mlflow_batch *b, struct mlflow *m, const char *run)
{
    *b = (struct mlflow_batch){.m = m, .run = run};
    buf_init(&b->metrics, 4 << 20);
    buf_init(&b->params, 4 << 20);
    buf_init(&b->tags, 4 << 20);
}

void batch_end(struct mlflow_batch *b)
{
    buf_deinit(&b->metrics);
    buf_deinit(&b->params);
    buf_deinit(&b->tags);
}

/* Appends the items from `from` to `until`, with commas between them. */
static void batch_print_items(struct buf *to, const struct buf *items, const uint32_t *at, size_t count, size_t from, size_t until)
{
    from = from < count ? from : count;
    until = until < count ? until : count;
    if (from < until) /* each but the first begins with its comma */
        buf_str(to, str_sub(buf_text(items), at[from] + (from > 0), (until < count ? at[until] : items->n) - at[from] - (from > 0)));
}

/* Sends a part of what was collected, counted over metrics, params and tags in this order. Where a
 * proxy refuses the size (413), sends it in halves, and makes later requests smaller. */
static enum mlflow_answer send_part(struct mlflow_batch *b, size_t from, size_t until)
{
    struct buf body CLEANUP_BUF;
    size_t params = b->n_metrics, tags = params + b->n_params;
    buf_init(&body, 16 << 20);
    struct json_out j = json_begin(&body, JSON_TIGHT, '{');
    json_text(&j, "run_id", b->run);
    json_open(&j, "metrics", '[');
    batch_print_items(&body, &b->metrics, b->metric_at, b->n_metrics, from, until);
    json_close(&j, ']');
    json_open(&j, "params", '[');
    batch_print_items(&body, &b->params, b->param_at, b->n_params, from > params ? from - params : 0, until > params ? until - params : 0);
    json_close(&j, ']');
    json_open(&j, "tags", '[');
    batch_print_items(&body, &b->tags, b->tag_at, b->n_tags, from > tags ? from - tags : 0, until > tags ? until - tags : 0);
    json_close(&j, ']');
    json_close(&j, '}');
    enum mlflow_answer answer = mlflow_api(b->m, "runs/log-batch", &body, false, NULL, &b->err);
    if (answer != MLFLOW_REFUSED || b->m->status != 413 || until - from < 2)
        return answer;
    if (body.n / 2 < b->m->body_max)
        b->m->body_max = body.n / 2;
    size_t middle = from + (until - from) / 2;
    answer = send_part(b, from, middle);
    return answer == MLFLOW_FINE ? send_part(b, middle, until) : answer;
}

enum mlflow_answer batch_send(struct mlflow_batch *b)
{
    size_t n = b->n_metrics + b->n_params + b->n_tags;
    if (b->answer != MLFLOW_FINE || n == 0)
        return b->answer;
    if (b->metrics.failed || b->params.failed || b->tags.failed) {
        err_memory(&b->err, "runs/log-batch");
        return b->answer = MLFLOW_REFUSED;
    }
    b->answer = send_part(b, 0, n);
    buf_clear(&b->metrics);
    buf_clear(&b->params);
    buf_clear(&b->tags);
    b->n_metrics = b->n_params = b->n_tags = 0;
    return b->answer;
}

static void make_room(struct mlflow_batch *b, size_t n, size_t max, size_t bytes)
{
    if (n >= max || b->n_metrics + b->n_params + b->n_tags >= ALL_MAX || b->metrics.n + b->params.n + b->tags.n + bytes > b->m->body_max)
        batch_send(b);
}

/* Returns a writer that continues the list behind the n items that it has. */
static struct json_out batch_list(struct buf *items, size_t n)
{
    return (struct json_out){.to = items, .layout = JSON_TIGHT, .comma = n > 0};
}

void batch_metric(struct mlflow_batch *b, struct str key, double value, int64_t time_ms, int64_t step)
{
    if (b->m->store) {
        if (b->answer == MLFLOW_FINE)
            b->answer = store_metric(b->m->store, b->run, key, value, time_ms, step, &b->err);
        return;
    }
    make_room(b, b->n_metrics, METRICS_MAX, key.n + 100);
    b->metric_at[b->n_metrics] = (uint32_t)b->metrics.n;
    struct json_out j = batch_list(&b->metrics, b->n_metrics++);
    json_open(&j, NULL, '{');
    json_str(&j, "key", key);
    if (isfinite(value)) /* 17 digits are every double; the shortest text is for places where people read it */
        json_printf(&j, "value", "%.17g", value);
    else
        json_double(&j, "value", value);
    json_int(&j, "timestamp", time_ms);
    json_int(&j, "step", step);
    json_close(&j, '}');
}

/* Cuts the value to fewer than `max` characters if it has more, and counts it in b->cut: the server
 * would cut it silently, and a value cut here is shorter than any that the server cut. */
static struct str cut_to(struct mlflow_batch *b, struct str value, size_t max)
{
    size_t characters = 0, i = 0;
    if (value.n <= max)
        return value;
    size_t shorter = 0;
    for (; i < value.n && characters < max; characters++) {
        size_t n = str_utf8(value.p + i, value.n - i);
        shorter = i;
        i += n ? n : 1;
    }
    if (i == value.n)
        return value;
    b->cut++;
    return str_sub(value, 0, shorter);
}

static bool stored_pair(struct mlflow_batch *b, bool param, struct str key, struct str value)
{
    if (b->m->store && b->answer == MLFLOW_FINE)
        b->answer = store_pair(b->m->store, b->run, param, key, value, &b->err);
    return b->m->store;
}

void batch_param(struct mlflow_batch *b, struct str key, struct str value)
{
    value = cut_to(b, value, PARAM_MAX);
    if (stored_pair(b, true, key, value))
        return;
    make_room(b, b->n_params, PAIRS_MAX, key.n + value.n + 100);
    b->param_at[b->n_params] = (uint32_t)b->params.n;
    struct json_out list = batch_list(&b->params, b->n_params++);
    mlflow_put_pair(&list, key, value);
}

void batch_tag(struct mlflow_batch *b, struct str key, struct str value)
{
    value = cut_to(b, value, TAG_MAX);
    if (stored_pair(b, false, key, value))
        return;
    make_room(b, b->n_tags, PAIRS_MAX, key.n + value.n + 100);
    b->tag_at[b->n_tags] = (uint32_t)b->tags.n;
    struct json_out list = batch_list(&b->tags, b->n_tags++);
    mlflow_put_pair(&list, key, value);
}

enum mlflow_answer mlflow_log_input(struct mlflow *m, const char *run, const struct mlflow_dataset *d, struct err *err)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, 4 << 20);
    struct json_out j = json_begin(&body, JSON_TIGHT, '{');
    json_text(&j, "run_id", run);
    json_open(&j, "datasets", '[');
    json_open(&j, NULL, '{');
    json_open(&j, "tags", '[');
    if (d->context)
        mlflow_put_pair(&j, STR("mlflow.data.context"), str_of(d->context));
    json_close(&j, ']');
    json_open(&j, "dataset", '{');
    json_str(&j, "name", str_of(d->name));
    json_str(&j, "digest", str_of(d->digest));
    json_str(&j, "source_type", str_of(d->source_type));
    json_str(&j, "source", str_of(d->source));
    json_close(&j, '}');
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    return mlflow_api(m, "runs/log-inputs", &body, false, NULL, err);
}
