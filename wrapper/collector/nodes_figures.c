/* nodes_figures.c: the nodes that ran the program, as a group: how many kinds, statistics over
 * them, what differs, who is missing. */
#include "collector/nodes.h"

#include "base/fs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIFFERENT_MAX = 5 /* nodes named, */, KEYS_MAX = 4 /* and keys of each */ };

/* ---- kinds ---- */

/* Returns the texts of all nodes for a key, in an array that the caller frees; its elements are
 * NULL where a node has no text, or did not run the program. NULL: out of memory. */
static const char **texts_of(const struct nodes_summary *n, const char *key)
{
    const char **texts = calloc(n->count + 1, sizeof *texts);
    size_t i = 0;
    for (const struct node_report *t = n->first; texts && t; t = t->next, i++)
        texts[i] = t->use == NODE_USED ? node_text(t, key) : NULL;
    return texts;
}

/* Returns how many different texts there are; *ret_usual: the index of a node with the most
 * frequent one. */
static size_t kinds_of(const char *const *texts, size_t n, size_t *ret_usual)
{
    size_t kinds = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        bool new = texts[i] != NULL;
        size_t same = 0;
        for (size_t k = 0; new &&k < n; k++) {
            bool equal = texts[k] && strcmp(texts[k], texts[i]) == 0;
            new = !(equal && k < i);
            same += equal;
        }
        kinds += new;
        if (new &&same > most) {
            most = same;
            *ret_usual = i;
        }
    }
    return kinds;
}

static bool of_hardware(const char *key)
{
    static const char *const begin[] = {"cpu.",     "cache.",   "memory.", "numa.",   "gpu.",    "nic.",
                                        "machine.", "network.", "os.",     "kernel.", "cgroup.", "limits."};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (strncmp(key, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

/* Records a warning with the facts about hardware in which node t differs from usual_one, at most
 * KEYS_MAX. */
static void warn_different(struct record *r, const struct node_report *t, const struct node_report *usual_one, const char *key)
{
    struct buf text CLEANUP_BUF;
    size_t named = 0, more = 0;
    buf_init(&text, 8192);
    for (const struct node_fact *f = t->facts; f; f = f->next) {
        const char *other = f->missing || !of_hardware(f->key) ? NULL : node_text(usual_one, f->key);
        if (!other || strcmp(other, f->text) == 0)
            continue;
        if (named == KEYS_MAX) {
            more++;
            continue;
        }
        buf_printf(&text, "%s%s is ", named++ ? ", " : "", f->key);
        buf_plain(&text, str_of(f->text), 60);
        buf_puts(&text, ", not ");
        buf_plain(&text, str_of(other), 60);
    }
    record_warning(r, "node %s differs from %s in %s: %s%s", t->name, usual_one->name, key,
                   text.n ? text.p : "no other fact about their hardware differs", more ? ", and more in nodes.json" : "");
}

/* Records a warning for each node whose text differs from the usual one, and behind DIFFERENT_MAX
 * their number. `texts` has one for each node, NULL for a node that does not count; `usual`: index
 * of the usual one. */
static void warn_others(const struct nodes_summary *n, struct record *r, const char *key, const char *const *texts, size_t usual)
{
    const struct node_report *like = n->first;
    size_t i = 0, told = 0;
    for (size_t k = 0; k < usual; k++)
        like = like->next;
    const char *wanted = texts[usual];
    for (const struct node_report *t = n->first; t && wanted; t = t->next, i++)
        if (texts[i] && strcmp(texts[i], wanted) != 0 && told++ < DIFFERENT_MAX)
            warn_different(r, t, like, key);
    if (told > DIFFERENT_MAX)
        record_warning(r, "%zu more nodes differ from %s in %s", told - DIFFERENT_MAX, like->name, key);
}

/* Records as `param` how many different texts the nodes have for `key`, and warns of those that
 * differ from the usual one. */
static void nodes_record_kinds(const struct nodes_summary *n, struct record *r, const char *key, const char *param)
{
    const char **texts = texts_of(n, key);
    size_t usual = 0, kinds = texts ? kinds_of(texts, n->count, &usual) : 0;
    if (!texts)
        record_missing(r, param, "out of memory");
    else if (kinds == 0)
        record_missing(r, param, "no node reported its %s", key);
    else
        record_param_int(r, param, (int64_t)kinds);
    if (kinds > 1)
        warn_others(n, r, key, texts, usual);
    free(texts);
}

/* ---- statistics ---- */

/* Divides a name: "system/network_receive_megabytes" -> "network_receive" and its unit "MB". False:
 * the name has a unit that is none of the format's. */
static bool split_unit(const char *name, char *ret, size_t size, const char **ret_unit)
{
    static const struct {
        const char *end, *unit;
    } rows[] = {{"_percentage", "percent"},
                {"_percent", "percent"},
                {"_megabytes", "MB"},
                {"_megabytes_per_second", "MB_per_s"},
                {"_watts", "W"},
                {"_joules", "J"}};
    struct str rest = str_sub(str_of(name), 7, 250);
    *ret_unit = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_ends(rest, rows[i].end)) {
            rest.n -= strlen(rows[i].end);
            *ret_unit = rows[i].unit;
            break;
        }
    snprintf(ret, size, STR_FMT, STR_ARG(rest));
    for (char *c = ret; *c; c++)
        if (*c == '/')
            *c = '.';
    return ret[0] >= 'a' && ret[0] <= 'z' && !str_has(rest, "_per_");
}

static void nodes_record_metric(struct record *r, const char *base, const char *unit, const char *stat, double value)
{
    char key[300];
    snprintf(key, sizeof key, "nodes.%s%s%s.%s", base, *unit ? "_" : "", unit, stat);
    record_metric(r, key, value, unit, DIR_NONE, 0, r->end_ms);
}

/* A series of a node. */
struct series_entry {
    const struct node_report *node;
    const struct node_series *series;
    size_t at; /* place among all */
};

static int compare_entry_names(const void *a, const void *b)
{
    const struct series_entry *x = a, *y = b;
    int c = strcmp(x->series->name, y->series->name);
    return c ? c : (x->at > y->at) - (x->at < y->at);
}

/* Records minimum, mean, maximum and sum over the nodes of one series, whose entries are given:
 * of each node that ran the program its mean, or for what counts upwards its last value. */
static void nodes_record_stats(const struct series_entry *list, size_t entries, struct record *r)
{
    char base[200], key[300];
    const char *unit;
    size_t count = 0;
    double sum = 0, min = INFINITY, max = -INFINITY;
    if (!split_unit(list->series->name, base, sizeof base, &unit) || strncmp(base, "disk_usage", 10) == 0 ||
        strncmp(base, "disk_available", 14) == 0)
        return; /* how full the nodes' own disks are means little for the program */
    for (size_t i = 0; i < entries; i++) {
        double v = list[i].node->use == NODE_USED ? node_value(list[i].series) : NAN;
        if (!isfinite(v))
            continue;
        count++;
        sum += v;
        min = v < min ? v : min;
        max = v > max ? v : max;
    }
    if (count < 2)
        return;
    double mean = sum / (double)count;
    nodes_record_metric(r, base, unit, "min", min);
    nodes_record_metric(r, base, unit, "mean", mean);
    nodes_record_metric(r, base, unit, "max", max);
    if (strcmp(unit, "percent") != 0) {
        snprintf(key, sizeof key, "nodes.%s.sum%s%s", base, *unit ? "_" : "", unit);
        record_metric(r, key, sum, unit, DIR_NONE, 0, r->end_ms);
    }
    if (mean > 0 && (strcmp(unit, "percent") != 0 || strstr(base, "utilization"))) { /* shares of memory or disk repeat the values in MB */
        snprintf(key, sizeof key, "nodes.%s.imbalance_percent", base);
        record_metric(r, key, 100 * (max / mean - 1), "percent", DIR_LOWER, 0, r->end_ms);
    }
}

/* Records the statistics of every series once, by name, whichever nodes have it. Out of memory
 * becomes a missing value. */
static void nodes_record_metrics(const struct nodes_summary *n, struct record *r)
{
    size_t all = 0, count = 0;
    for (const struct node_report *t = n->first; t; t = t->next)
        all += t->series_count;
    struct series_entry *list = calloc(all + 1, sizeof *list);
    if (!list) {
        record_missing(r, "nodes", "out of memory for the statistics over nodes");
        return;
    }
    for (const struct node_report *t = n->first; t; t = t->next)
        for (size_t i = 0; i < t->series_count; i++)
            if (t->series[i]->count) {
                list[count] = (struct series_entry){t, t->series[i], count};
                count++;
            }
    if (count)
        qsort(list, count, sizeof *list, compare_entry_names);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && strcmp(list[end].series->name, list[i].series->name) == 0;)
            end++;
        nodes_record_stats(list + i, end - i, r);
    }
    free(list);
}

/* Records the series of each other node, as MLflow names those of several nodes; the recorder's own
 * are there already. */
static void nodes_record_series(const struct nodes_summary *n, struct record *r)
{
    for (const struct node_report *t = n->first; t; t = t->next)
        for (size_t i = 0; !t->own && t->use != NODE_IDLE && i < t->series_count; i++) {
            char key[300];
            const struct node_series *s = t->series[i];
            snprintf(key, sizeof key, "system/%s/%s", t->name, s->name + 7);
            for (size_t k = 0; k < s->points; k++)
                record_metric(r, key, s->point[k].value, NULL, DIR_NONE, (int64_t)k, s->point[k].time_ms);
        }
}

static void nodes_record_missing(const struct nodes_summary *n, struct record *r, int64_t count, int64_t expected)
{
    if (count >= expected)
        return;
    record_missing(r, "nodes", "no report from %lld of %lld other node%s: %s", (long long)(expected - count), (long long)expected,
                   str_plural((uint64_t)expected),
                   n->step ? "their collectors did not start in time"
                           : "the program had ended before they could, or they do not share the file system of the tree");
}

/* Returns how many of the nodes that reported ran the program. *ret_own: the recorder's node is one
 * of them. */
static size_t used_of(const struct nodes_summary *n, bool *ret_own)
{
    size_t used = 0;
    *ret_own = false;
    for (const struct node_report *t = n->first; t; t = t->next) {
        used += t->use == NODE_USED;
        *ret_own |= t->own && t->use == NODE_USED;
    }
    return used;
}

/* Records number of nodes, kinds and metrics over the nodes that ran the program; where those are
 * not known, that nodes.count is missing. */
static void nodes_record_all(const struct nodes_summary *n, struct record *r)
{
    bool own;
    size_t used = used_of(n, &own), others = n->count - (n->count && !n->outside);
    if (n->chosen && !n->used) {
        record_missing(
            r, "nodes.count",
            "on which of the job's nodes the program ran is not known: statistics over nodes are missing, each node is in nodes.json");
        nodes_record_missing(n, r, (int64_t)others, n->expected);
        return;
    }
    if (n->more || n->expected + !n->outside > NODES_MAX) {
        record_missing(r, "nodes.count",
                       "the program ran on more nodes than the %d whose reports are stored: statistics over all are missing", NODES_MAX);
        return;
    }
    record_param_int(r, "nodes.count", (int64_t)used);
    nodes_record_missing(n, r, (int64_t)used - own, n->chosen ? n->used - n->own_used : n->expected);
    if (used > 1) {
        nodes_record_kinds(n, r, "node.type", "nodes.types");
        nodes_record_kinds(n, r, "node.state", "nodes.states");
        nodes_record_metrics(n, r);
    }
}

/* Records facts of the run: counts of nodes and kinds, metrics over nodes, the series of each node, and
 * warnings about nodes that differ or are missing. */
static void nodes_record(const struct nodes_summary *n, struct record *r)
{
    const char *source = r->source;
    bool nothing = record_find(r, FACT_MISSING, "machine"); /* of this host: the reason states it */
    r->source = "nodes";
    if (n->outside && !nothing)
        record_warning(
            r,
            "the recorded hardware of this run is that of the host where benchwrap ran, which is none of the job's nodes: theirs is in nodes.json");
    else if (n->chosen && n->used && !n->own_used && !nothing)
        record_warning(
            r,
            "the program ran on other nodes than benchwrap: the hardware and system metrics of this run are not theirs, which are in nodes.json");
    nodes_record_all(n, r);
    if (n->count <= NODES_ALONE_MAX)
        nodes_record_series(n, r);
    r->source = source;
}

void nodes_finish(int dir, struct record *r, bool public_profile)
{
    struct nodes_summary n;
    struct err err = {0};
    struct buf text CLEANUP_BUF;
    buf_init(&text, 64 << 20);
    int rc = nodes_read(&n, dir, r, public_profile, &err);
    if (rc < 0)
        record_missing(r, "nodes", "%s", err.text);
    if (rc)
        return;
    nodes_print(&n, &text);
    nodes_record(&n, r);
    if (text.failed || fs_write(dir, "nodes.json", buf_text(&text), 0600, false, &err))
        record_missing(r, "nodes.json", "%s", text.failed ? "it would be longer than 64 MiB (or out of memory)" : err.text);
    else
        record_artifact(r, "nodes.json", "nodes.json");
    nodes_deinit(&n);
}
