/* metric_series.c: the metrics of a run as series of a time series database; see metric_series.h. */
#include "exporters/metric_series.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "base/units.h"
#include "mlruns-format/key.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY_BYTES = 600, NODES_BYTES = 64 << 20, CONFIG_DIGITS = 8 };

static const char metric_help[] = "Metric of benchwrap runs, in base units; the label key has its name in the record.";
static const char node_help[] = "Sample of a machine while a benchwrap run used it, in base units.";

/* ---- names ---- */

static const struct {
    const char *dimension, *word;
} base_units[] = {{"byte", "bytes"},
                  {"byte/s", "bytes_per_second"},
                  {"bit/s", "bytes_per_second"},
                  {"op/s", "operations_per_second"},
                  {"token/s", "tokens_per_second"},
                  {"flop/s", "flops"},
                  {"teps", "edges_per_second"},
                  {"second", "seconds"},
                  {"hertz", "hertz"},
                  {"joule", "joules"},
                  {"watt", "watts"},
                  {"percent", "ratio"},
                  {"joule/op", "joules_per_operation"},
                  {"joule/token", "joules_per_token"},
                  {"joule/byte", "joules_per_byte"},
                  {"joule/flop", "joules_per_flop"}};

/* The words at the end of MLflow's names of system metrics. */
static const struct {
    const char *ending, *word;
    double ratio;
} system_units[] = {{"_megabytes_per_second", "bytes_per_second", 1e6},
                    {"_megabytes", "bytes", 1e6},
                    {"_percentage", "ratio", -100},
                    {"_megahertz", "hertz", 1e6},
                    {"_watts", "watts", 1},
                    {"_joules", "joules", 1},
                    {"_celsius", "celsius", 1},
                    {"_ticks_per_second", "ticks_per_second", 1},
                    {"_operations_per_second", "operations_per_second", 1}};

/* promtool rejects these as a word of a name: abbreviated units, and the type. */
static bool is_word_rejected(struct str word)
{
    static const char *const words[] = {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d", "gauge"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i]))
            return true;
    return false;
}

/* Appends the words of a text: lower case, "_" between them. A word that promtool rejects is joined to the one before. */
static void family_add_words(struct buf *to, struct str text)
{
    for (size_t i = 0; i < text.n;) {
        size_t n = 0;
        while (i + n < text.n && (str_is_letter(text.p[i + n]) || str_is_digit(text.p[i + n])))
            n++;
        char lower[8];
        for (size_t k = 0; k < n && k < sizeof lower; k++)
            lower[k] = str_lower(text.p[i + k]);
        if (n && !(n <= sizeof lower && is_word_rejected((struct str){lower, n})))
            buf_putc(to, '_');
        for (size_t k = 0; k < n; k++)
            buf_putc(to, str_lower(text.p[i + k]));
        i += n ? n : 1;
    }
}

/* Suffixes that OpenMetrics reserves for other types than gauges. */
static void family_end(struct buf *to, const char *unit)
{
    static const char *const reserved[] = {"_total", "_created", "_sum", "_count", "_bucket", "_info", "_gsum", "_gcount"};
    for (size_t i = 0; !unit[0] && i < sizeof reserved / sizeof *reserved; i++)
        if (str_ends(buf_text(to), reserved[i])) {
            buf_puts(to, "_value");
            return;
        }
    size_t n = strlen(unit);
    struct str text = buf_text(to);
    if (unit[0] && !(text.n > n && str_ends(text, unit) && text.p[text.n - n - 1] == '_')) {
        buf_putc(to, '_');
        buf_puts(to, unit);
    }
}

/* Returns the word of the base unit that Prometheus expects for this dimension; NULL: none, or u is
 * NULL. */
static const char *base_unit_word(const struct unit *u)
{
    for (size_t i = 0; u && i < sizeof base_units / sizeof *base_units; i++)
        if (strcmp(base_units[i].dimension, u->dimension) == 0)
            return base_units[i].word;
    return NULL;
}

/* A multiplication, or a division where the factor has no exact reciprocal: 3.5 us are 3.5e-06 s. */
static double base_unit_ratio(const struct unit *u)
{
    if (strcmp(u->dimension, "percent") == 0)
        return -100;
    double factor = strncmp(u->dimension, "bit", 3) == 0 ? u->factor / 8 : u->factor;
    return factor < 1 ? -round(1 / factor) : factor;
}

bool metric_series_name(const char *key, const char *unit, struct arena *a, struct metric_name *ret)
{
    struct str stem = {key, key_stem(key)}, stat = str_of(key + stem.n);
    const struct unit *u = unit[0] ? units_find(str_of(unit)) : NULL;
    const char *word = base_unit_word(u);
    struct buf name CLEANUP_BUF;
    buf_init(&name, FAMILY_BYTES);
    size_t n = strlen(unit);
    if (n && stem.n > n && stem.p[stem.n - n - 1] == '_' && memcmp(stem.p + stem.n - n, unit, n) == 0)
        stem.n -= n + 1;
    buf_puts(&name, "benchwrap");
    family_add_words(&name, stem);
    family_add_words(&name, stat);
    family_end(&name, word ? word : "");
    *ret = (struct metric_name){
        .family = arena_dup(a, name.p ? name.p : "", name.n), .unit = word ? word : "", .ratio = word ? base_unit_ratio(u) : 1};
    return ret->family && !name.failed;
}

double metric_series_value(const struct metric_name *n, double value)
{
    return n->ratio < 0 ? value / -n->ratio : value * n->ratio;
}

void metric_series_number(struct buf *to, double value)
{
    if (isinf(value))
        buf_puts(to, value > 0 ? "+Inf" : "-Inf");
    else
        buf_double(to, value);
}

/* ---- labels ---- */

static bool is_label_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] != '_' && !str_is_letter(name.p[i]) && !(i && str_is_digit(name.p[i])))
            return false;
    return name.n > 0 && !str_starts(name, "__");
}

int metric_series_configure(const struct exporter_config *c, struct err *err)
{
    static const char *const own[] = {"key",  "step",    "run",       "node",       "job",   "instance",
                                      "site", "cluster", "benchmark", "experiment", "config"};
    for (const struct opt_value *v = opt_find(&c->opts, EXPORTER_KEY_LABELS); v && v->text; v = v->next) {
        struct str value = str_of(v->text), name = str_cut(&value, '=');
        if (!is_label_name(name))
            return err_set(err, ERR_INPUT, "labels: expected names of A-Z a-z 0-9 _, got \"%.40s\"", v->text);
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            if (str_is(name, own[i]))
                return err_set(err, ERR_INPUT, "labels: %s is a label of benchwrap; choose another name", own[i]);
    }
    return 0;
}

struct making {
    const struct exporter_config *config;
    const struct exporter_run *run;
    enum metric_form form;
    struct metric_set *set;
    struct metric_label common[METRIC_LABELS_MAX]; /* of every series */
    size_t n_common;
    int64_t end_ms;
    bool failed, results_only;
};

const char *metric_series_label_text(struct str text, struct arena *a)
{
    struct buf clean CLEANUP_BUF;
    size_t n = 0, step;
    buf_init(&clean, 4 * METRIC_LABEL_BYTES);
    while (n < text.n && n + (step = str_utf8(text.p + n, text.n - n) ? str_utf8(text.p + n, text.n - n) : 1) <= METRIC_LABEL_BYTES)
        n += step;
    buf_utf8(&clean, (struct str){text.p, n});
    if (!clean.n)
        return "";
    str_make_plain(clean.p, clean.n);
    for (size_t i = 0; i < clean.n; i++)
        if ((unsigned char)clean.p[i] < ' ') /* line ends and tabs */
            clean.p[i] = ' ';
    return arena_dup(a, clean.p, clean.n);
}

static void metric_label_add(struct making *m, struct metric_label *list, size_t *n, const char *name, const char *text)
{
    const char *value = metric_series_label_text(str_of(text), m->run->arena);
    size_t at = *n;
    m->failed |= !value;
    if (!value || !value[0] || *n == METRIC_LABELS_MAX)
        return;
    while (at > 0 && strcmp(list[at - 1].name, name) > 0)
        at--;
    memmove(&list[at + 1], &list[at], (*n - at) * sizeof *list);
    list[at] = (struct metric_label){name, value};
    ++*n;
}

/* A short name of what the run was given: params that no probe recorded, else the arguments. Runs with
 * other inputs are other series. */
static const char *make_config(const struct exporter_run *run)
{
    struct buf text CLEANUP_BUF;
    char hex[SHA256_HEX];
    buf_init(&text, 1 << 20);
    for (const struct tree_entry *e = run->run->params; e; e = e->next) {
        const char *source = json_string(json_get(json_get(json_get(run->detail, "params"), e->key), "source"), "");
        if (strncmp(source, "probe:", 6) == 0)
            continue;
        buf_printf(&text, "%s=" STR_FMT "\n", e->key, STR_ARG(e->value));
    }
    if (!text.n)
        for (const struct json *j = json_first(json_pointer(run->detail, "/run/argv")); j; j = json_next(j))
            buf_printf(&text, "%s\n", json_string(j, ""));
    if (!text.n)
        return "";
    sha256_of(text.p, text.n, hex);
    return arena_dup(run->arena, hex, CONFIG_DIGITS);
}

static void add_user_labels(struct making *m)
{
    for (const struct opt_value *v = opt_find(&m->config->opts, EXPORTER_KEY_LABELS); v && v->text; v = v->next) {
        struct str value = str_of(v->text), name = str_cut(&value, '=');
        const char *copy = arena_dup(m->run->arena, name.p, name.n), *text = value.p ? value.p : "";
        if (strncmp(text, "param.", 6) == 0)
            text = exporter_run_param(m->run, text + 6);
        else if (strncmp(text, "tag.", 4) == 0)
            text = exporter_run_tag(m->run, text + 4);
        m->failed |= !copy;
        if (copy)
            metric_label_add(m, m->common, &m->n_common, copy, text);
    }
}

static void add_common_labels(struct making *m)
{
    const char *benchmark = exporter_run_tag(m->run, "benchmark");
    metric_label_add(m, m->common, &m->n_common, "benchmark", benchmark ? benchmark : m->run->run->experiment);
    metric_label_add(m, m->common, &m->n_common, "experiment", m->run->run->experiment);
    metric_label_add(m, m->common, &m->n_common, "site", exporter_run_tag(m->run, "site"));
    metric_label_add(m, m->common, &m->n_common, "cluster", exporter_run_tag(m->run, "cluster"));
    if (m->form == METRIC_LIVE) /* the inputs are not known yet */
        metric_label_add(m, m->common, &m->n_common, "run", m->run->run->id);
    else
        metric_label_add(m, m->common, &m->n_common, "config", make_config(m->run));
    if (m->form == METRIC_TIMES)
        metric_label_add(m, m->common, &m->n_common, "job", "benchwrap");
    if (m->config)
        add_user_labels(m);
}

/* ---- series ---- */

/* A new series with the labels that all have; NULL: no memory. Valid until the next one. */
static struct exporter_series *metric_series_add(struct making *m, enum metric_kind kind, const char *family, const char *unit,
                                                 const char *help)
{
    struct metric_set *set = m->set;
    if (!family || !ARRAY_FITS_IN(m->run->arena, set->list, set->room, set->count + 1)) {
        m->failed = true;
        return NULL;
    }
    struct exporter_series *s = &set->list[set->count++];
    *s = (struct exporter_series){.kind = kind, .family = family, .unit = unit, .help = help, .n_labels = m->n_common};
    memcpy(s->labels, m->common, sizeof m->common);
    return s;
}

static void metric_series_put_label(struct making *m, struct exporter_series *s, const char *name, const char *text)
{
    if (s)
        metric_label_add(m, s->labels, &s->n_labels, name, text);
}

static void series_set_one(struct making *m, struct exporter_series *s, double value, int64_t time_ms, int64_t step)
{
    struct tree_sample *one = s ? ARENA_NEW(m->run->arena, struct tree_sample) : NULL;
    m->failed |= !one;
    if (!one)
        return;
    *one = (struct tree_sample){time_ms, step, value};
    s->samples = one;
    s->count = 1;
}

static int sample_time_order(const void *a, const void *b)
{
    const struct tree_sample *x = a, *y = b;
    return x->time_ms != y->time_ms ? (x->time_ms > y->time_ms) - (x->time_ms < y->time_ms) : (x->step > y->step) - (x->step < y->step);
}

/* All samples in base units, in the order of time; a database accepts one value for each millisecond. */
static void series_set_all(struct making *m, struct exporter_series *s, const struct metric_name *name, const struct tree_sample *from,
                           size_t n)
{
    struct tree_sample *copy = s ? arena_get(m->run->arena, n * sizeof *copy) : NULL;
    m->failed |= !copy;
    if (!copy)
        return;
    memcpy(copy, from, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, sample_time_order);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        copy[i].value = metric_series_value(name, copy[i].value);
        if (count && copy[count - 1].time_ms >= copy[i].time_ms)
            copy[i].time_ms = copy[count - 1].time_ms + 1;
        copy[count++] = copy[i];
    }
    s->samples = copy;
    s->count = count;
}

static void add_state(struct making *m, const char *family, const char *unit, const char *help, double value)
{
    if (isfinite(value))
        series_set_one(m, metric_series_add(m, METRIC_STATE, family, unit, help), value, m->end_ms, 0);
}

/* Adds the series about the run itself: its labels, times, result, and whether each reference was
 * met. */
static void add_states(struct making *m)
{
    const struct exporter_run *r = m->run;
    const char *verdict = exporter_run_tag(r, "benchwrap.verdict");
    struct exporter_series *info = metric_series_add(m, METRIC_STATE, "benchwrap_run_info", "", "The run that the other series are of.");
    if (m->form != METRIC_LIVE)
        metric_series_put_label(m, info, "run", r->run->id);
    metric_series_put_label(m, info, "status", (unsigned)r->run->status == 2 ? "SCHEDULED" : record_status_name(r->run->status));
    metric_series_put_label(m, info, "verdict", verdict);
    metric_series_put_label(m, info, "node", exporter_run_tag(r, "hostname"));
    metric_series_put_label(m, info, "version", exporter_run_tag(r, "benchmark.version"));
    metric_series_put_label(m, info, "job_id", exporter_run_tag(r, "job.id"));
    series_set_one(m, info, 1, m->end_ms, 0);
    add_state(m, "benchwrap_run_start_time_seconds", "seconds", "Unix time of the start of the run.", (double)r->run->start_ms / 1e3);
    if (m->form == METRIC_LIVE)
        return;
    add_state(m, "benchwrap_run_end_time_seconds", "seconds", "Unix time of the end of the run.", (double)m->end_ms / 1e3);
    add_state(m, "benchwrap_run_finished", "", "1: the program ended well and its results are valid; 0: it did not.",
              r->run->status == RUN_FINISHED);
    if (verdict && (strcmp(verdict, "pass") == 0 || strcmp(verdict, "fail") == 0))
        add_state(m, "benchwrap_run_passed", "", "1: the verdict of the run is pass; 0: fail.", strcmp(verdict, "pass") == 0);
    for (const struct json *ref = json_first(json_get(r->detail, "references")); ref; ref = json_next(ref)) {
        const char *key = json_string(json_get(ref, "metric"), NULL);
        double value = json_number(json_get(ref, "value"), NAN), reference = json_number(json_get(ref, "reference"), NAN);
        if (!key || !json_is_bool(json_get(ref, "fails")))
            continue;
        struct exporter_series *s = metric_series_add(m, METRIC_STATE, "benchwrap_reference_missed", "",
                                                      "1: the metric in the label key missed its reference; 0: it did not.");
        metric_series_put_label(m, s, "key", key);
        series_set_one(m, s, json_bool(json_get(ref, "fails"), false), m->end_ms, 0);
        if (!isfinite(value / reference))
            continue;
        s = metric_series_add(m, METRIC_STATE, "benchwrap_reference_ratio", "ratio",
                              "The metric in the label key, divided by its reference.");
        metric_series_put_label(m, s, "key", key);
        series_set_one(m, s, value / reference, m->end_ms, 0);
    }
}

/* Adds the metric to the series that are exported: its last value, each step as a series where
 * there are few, or all samples with their times. m->failed: out of memory. */
static void add_result(struct making *m, const struct tree_entry *e)
{
    struct metric_name name;
    const struct tree_sample *last = exporter_run_last(e);
    if (!last || !metric_series_name(e->key, exporter_run_unit(m->run, e->key), m->run->arena, &name)) {
        m->failed |= last != NULL;
        return;
    }
    bool steps = e->count > 1 && e->count <= METRIC_STEPS_MAX;
    for (size_t i = 0; i < (steps ? e->count : 1); i++) {
        char step[24];
        struct exporter_series *s = metric_series_add(m, METRIC_RESULT, name.family, name.unit, metric_help);
        if (!s)
            return;
        s->key = e->key;
        metric_series_put_label(m, s, "key", e->key);
        snprintf(step, sizeof step, "%lld", (long long)e->samples[i].step);
        if (steps)
            metric_series_put_label(m, s, "step", step);
        if (!steps && e->count > 1 && m->form == METRIC_TIMES)
            series_set_all(m, s, &name, e->samples, e->count);
        else {
            const struct tree_sample *one = steps ? &e->samples[i] : last;
            series_set_one(m, s, metric_series_value(&name, one->value), one->time_ms, one->step);
        }
    }
}

/* ---- machines ---- */

/* The device in the name of a sample becomes a label: "gpu_0_power_usage_watts" -> gpu_power_usage, gpu="0". */
static const char *sample_device(const char *rest, struct arena *a, const char **ret_label, const char **ret_device)
{
    static const struct {
        const char *begin, *label;
        const char *ends[4];
    } rows[] = {{"gpu_", "gpu", {"_"}},
                {"disk_", "device", {"_read_megabytes_per_second", "_write_megabytes_per_second", "_busy_percentage"}},
                {"network_", "device", {"_receive_megabytes_per_second", "_transmit_megabytes_per_second", "_wait_ticks_per_second"}},
                {"power_", "domain", {"_watts"}}};
    *ret_label = *ret_device = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 4 && rows[i].ends[k]; k++) {
            size_t begin = strlen(rows[i].begin);
            const char *from = rest + begin, *end = strncmp(rest, rows[i].begin, begin) == 0 ? strstr(from, rows[i].ends[k]) : NULL;
            bool number = strcmp(rows[i].label, "gpu") == 0;
            if (!end || end == from || (number && !str_is_digit(*from)) || (!number && strlen(end) != strlen(rows[i].ends[k])))
                continue;
            *ret_label = rows[i].label;
            *ret_device = arena_dup(a, from, (size_t)(end - from));
            return arena_printf(a, "%.*s%s", (int)begin - 1, rest, end);
        }
    return rest;
}

/* Makes the family's name of a sample "system/…", in the run's arena. *label and *device: the
 * device that the key names; NULL: none. False: out of memory, also noted in m->failed. */
static bool sample_name(struct making *m, const char *key, struct metric_name *ret, const char **label, const char **device)
{
    struct arena *a = m->run->arena;
    const char *rest = sample_device(key + strlen("system/"), a, label, device);
    struct buf name CLEANUP_BUF;
    buf_init(&name, FAMILY_BYTES);
    *ret = (struct metric_name){.unit = "", .ratio = 1};
    struct str stem = str_of(rest);
    for (size_t i = 0; rest && i < sizeof system_units / sizeof *system_units; i++)
        if (str_ends(stem, system_units[i].ending)) {
            stem.n -= strlen(system_units[i].ending);
            *ret = (struct metric_name){.unit = system_units[i].word, .ratio = system_units[i].ratio};
            break;
        }
    buf_puts(&name, "benchwrap_node");
    family_add_words(&name, stem);
    family_end(&name, ret->unit);
    ret->family = arena_dup(a, name.p ? name.p : "", name.n);
    m->failed |= !ret->family || name.failed;
    return ret->family != NULL;
}

/* Adds the series of a node's samples: all of them with the id of the run as a label
 * (METRIC_TIMES), otherwise the last one alone. Without samples, or out of memory, adds nothing. */
static void add_node_samples(struct making *m, const char *key, const char *node, const struct tree_sample *samples, size_t count)
{
    struct metric_name name;
    const char *label, *device;
    if (!count || !samples || !sample_name(m, key, &name, &label, &device))
        return;
    struct exporter_series *s = metric_series_add(m, METRIC_NODE, name.family, name.unit, node_help);
    if (!s)
        return;
    s->key = key;
    metric_series_put_label(m, s, "key", key);
    metric_series_put_label(m, s, "node", node);
    if (label)
        metric_series_put_label(m, s, label, device);
    if (m->form == METRIC_TIMES) {
        metric_series_put_label(m, s, "run", m->run->run->id);
        series_set_all(m, s, &name, samples, count);
    } else {
        const struct tree_entry all = {.samples = samples, .count = count};
        const struct tree_sample *last = exporter_run_last(&all);
        series_set_one(m, s, metric_series_value(&name, last->value), last->time_ms, last->step);
    }
}

/* The other nodes of the run, by nodes.json. */
static void add_other_node(struct making *m, const struct json *node)
{
    const char *name = json_string(json_get(node, "name"), NULL);
    for (const struct json *s = json_first(json_get(node, "series")); s && name; s = json_next(s)) {
        const char *key = arena_dup(m->run->arena, json_key(s), strlen(json_key(s)));
        const struct json *points = json_get(s, "points");
        size_t count = json_count(points), n = 0;
        struct tree_sample *list = count ? arena_get(m->run->arena, count * sizeof *list) : NULL;
        if (!key || strncmp(key, "system/", 7) != 0 || !list)
            continue;
        for (const struct json *p = json_first(points); p; p = json_next(p))
            if (json_is_number(json_at(p, 1))) {
                list[n] = (struct tree_sample){json_integer(json_at(p, 0), 0), (int64_t)n, json_number(json_at(p, 1), 0)};
                n++;
            }
        add_node_samples(m, key, name, list, n);
    }
}

static void add_other_nodes(struct making *m)
{
    struct json *j = NULL;
    struct buf text CLEANUP_BUF;
    buf_init(&text, NODES_BYTES);
    if (exporter_run_artifact(m->run, "nodes.json", &text) || json_parse(&j, buf_text(&text), NULL, NULL))
        return;
    for (const struct json *node = json_first(json_get(j, "nodes")); node; node = json_next(node))
        if (!json_bool(json_get(node, "recorder"), false))
            add_other_node(m, node);
    json_free(j);
}

static int series_order(const void *a, const void *b)
{
    const struct exporter_series *x = a, *y = b;
    int order = strcmp(x->family, y->family);
    for (size_t i = 0; !order && i < x->n_labels && i < y->n_labels; i++) {
        order = strcmp(x->labels[i].name, y->labels[i].name);
        order = order ? order : strcmp(x->labels[i].value, y->labels[i].value);
    }
    return order;
}

/* Is the metric about the program, the run or its energy? */
static bool is_metric_result(const char *key)
{
    return key_is_result(key) || strncmp(key, "run.", 4) == 0 || strncmp(key, "energy.", 7) == 0;
}

int metric_series_make(struct metric_set *ret, const struct exporter_config *c, const struct exporter_run *run, enum metric_form form,
                       struct err *err)
{
    struct making m = {
        .config = c, .run = run, .form = form, .set = ret, .end_ms = run->run->end_ms ? run->run->end_ms : run->run->start_ms};
    const char *choice = c ? exporter_text(c, EXPORTER_KEY_METRICS) : NULL, *node = exporter_run_tag(run, "hostname");
    m.results_only = choice && strcmp(choice, "results") == 0;
    *ret = (struct metric_set){.count = 0};
    add_common_labels(&m);
    add_states(&m);
    for (const struct tree_entry *e = run->run->metrics; e; e = e->next)
        if (strncmp(e->key, "system/", 7) != 0 ? !m.results_only || is_metric_result(e->key) : false)
            add_result(&m, e);
        else if (!m.results_only && strncmp(e->key, "system/", 7) == 0)
            add_node_samples(&m, e->key, node, e->samples, e->count);
    if (!m.results_only)
        add_other_nodes(&m);
    if (m.failed)
        return err_memory(err, "the metrics of a run");
    qsort(ret->list, ret->count, sizeof *ret->list, series_order);
    return 0;
}

const char *metric_series_label(const struct exporter_series *s, const char *name)
{
    for (size_t i = 0; i < s->n_labels; i++)
        if (strcmp(s->labels[i].name, name) == 0)
            return s->labels[i].value;
    return "";
}
