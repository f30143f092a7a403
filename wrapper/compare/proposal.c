/* proposal.c: references proposed from runs. */
#include "compare/proposal.h"

#include "runs/inherit.h"
#include "runs/metric_way.h"

#include "base/array.h"
#include "base/json_out.h"
#include "base/show.h"
#include "base/stats.h"
#include "mlruns-format/key.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROPOSAL_TAGS = 3, RUN_MEMORY = 512 << 20, IDS_SHOWN = 20, GROUPS_SHOWN = 10 };

void proposal_init(struct proposal *p, const struct opt_value *ignore, bool all, struct arena *a)
{
    *p = (struct proposal){.arena = a, .ignore = ignore, .all = all};
}

/* ---- one run ---- */

static const char *proposal_copy(struct proposal *p, struct str s)
{
    return arena_dup(p->arena, s.p, s.n);
}

static int compare_conditions(const void *a, const void *b)
{
    return str_natural(((const struct proposed_condition *)a)->key, ((const struct proposed_condition *)b)->key);
}

/* Returns whether a reference file can name the fact below "params". It cannot name the command
 * line, the version or the program. */
static bool is_param_condition(const struct comparison_key *key, const struct comparison_fact *f)
{
    bool site = f->part == COMPARISON_SYSTEM && (strcmp(f->name, "site") == 0 || strcmp(f->name, "cluster") == 0);
    bool benchmark = strcmp(f->name, "benchmark") == 0;
    bool program = strcmp(f->name, "program") == 0 && (f->part == COMPARISON_PROGRAM || !comparison_key_value(key, "benchmark").p);
    return f->part != COMPARISON_VERSION && !site && !benchmark && !program && strncmp(f->name, "argument.", strlen("argument.")) != 0;
}

/* Copies the key with its texts into the proposal's arena. Returns false when out of memory. */
static bool copy_key(struct proposal *p, const struct comparison_key *key, struct comparison_key *ret)
{
    struct comparison_fact *facts = arena_get(p->arena, (key->count + 1) * sizeof *facts);
    *ret = *key;
    for (size_t i = 0; facts && i < key->count; i++) {
        const struct comparison_fact *f = &key->facts[i];
        const char *value = proposal_copy(p, f->value);
        facts[i] = (struct comparison_fact){f->part, proposal_copy(p, str_of(f->name)), {value, value ? f->value.n : 0}};
    }
    ret->facts = facts;
    ret->hidden = key->hidden ? proposal_copy(p, str_of(key->hidden)) : NULL;
    return facts && !p->arena->failed;
}

/* Returns the conditions in the arena: tags, then params by name. NULL: out of memory. */
static struct proposed_condition *conditions_of(struct proposal *p, const struct comparison_key *key, size_t *ret_n)
{
    static const char *const tags[] = {"benchmark", "site", "cluster"};
    struct proposed_condition *list = arena_get(p->arena, (key->count + 1) * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < sizeof tags / sizeof *tags; i++) {
        struct str value = comparison_key_value(key, tags[i]);
        if (value.p)
            list[n++] = (struct proposed_condition){tags[i], value.p, false};
    }
    size_t from = n;
    for (size_t i = 0; list && i < key->count; i++)
        if (is_param_condition(key, &key->facts[i]))
            list[n++] = (struct proposed_condition){key->facts[i].name, key->facts[i].value.p, true};
    if (n > from)
        qsort(list + from, n - from, sizeof *list, compare_conditions);
    *ret_n = n;
    return list;
}

static const char *condition_name(struct proposal *p, const struct proposed_condition *list, size_t n)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    for (size_t i = 0; i < n; i++) {
        buf_json(&b, str_of(list[i].key));
        buf_json(&b, str_of(list[i].value));
    }
    return b.failed ? NULL : arena_dup(p->arena, b.p ? b.p : "", b.n);
}

/* Adds the names to those of the group that are not among them yet. Out of memory: p->arena is
 * marked, and the list is unchanged. */
static void add_differing(struct proposal *p, struct proposed_group *g, const char *const *names)
{
    size_t n = 0, more = 0;
    while (g->differs && g->differs[n])
        n++;
    while (names[more])
        more++;
    const char **list = arena_get(p->arena, (n + more + 1) * sizeof *list);
    if (!list)
        return;
    for (size_t i = 0; i < n; i++)
        list[i] = g->differs[i];
    for (; *names; names++) {
        size_t i = 0;
        while (i < n && strcmp(list[i], *names) != 0)
            i++;
        if (i == n)
            list[n++] = *names;
    }
    list[n] = NULL;
    g->differs = n ? list : NULL;
}

/* Compares the command line of a run that joins the group with the group's. Conditions cannot
 * separate runs by their arguments, so g->differs gets the names of those that differ. The first
 * known command line becomes the group's. Texts of `key` are in p->arena. */
static void note_command_line(struct proposal *p, struct proposed_group *g, const struct comparison_key *key)
{
    const struct comparison_key pair[2] = {g->key, *key};
    if (!g->key.arguments_known)
        g->key = *key;
    if (!pair[0].arguments_known || !key->arguments_known || comparison_key_shared(&pair[0], &pair[1]))
        return;
    const char **names = comparison_key_separating(pair, p->arena);
    if (names)
        add_differing(p, g, names);
}

/* Returns the group of a run with this key, which is added where it is missing. read: its texts are
 * copied. NULL: out of memory. */
static struct proposed_group *group_of(struct proposal *p, const struct comparison_key *read)
{
    size_t n = 0;
    struct comparison_key key;
    struct proposed_group **at = &p->groups;
    while (*at && !comparison_key_shared(&(*at)->key, read))
        at = &(*at)->next;
    if (*at)
        return *at;
    struct proposed_condition *list = copy_key(p, read, &key) ? conditions_of(p, &key, &n) : NULL;
    const char *name = list ? condition_name(p, list, n) : NULL;
    if (!name)
        return NULL;
    for (at = &p->groups; *at && (p->by_key || strcmp((*at)->name, name) != 0);)
        at = &(*at)->next;
    if (*at)
        note_command_line(p, *at, &key);
    else if ((*at = ARENA_NEW(p->arena, struct proposed_group)))
        **at = (struct proposed_group){.name = name, .key = key, .conditions = list, .condition_count = n, .first_ms = INT64_MAX};
    return *at;
}

/* Adds a value to the group's metric; the first unit that is known is the metric's, and values in
 * another one are counted and left out. Returns -1 when out of memory. */
static int proposal_add_value(struct proposal *p, struct proposed_group *g, const char *key, const struct json *about, double value)
{
    struct proposed_metric **at = &g->metrics;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    if (!*at) {
        if (!(*at = ARENA_NEW(p->arena, struct proposed_metric)))
            return -1;
        **at = (struct proposed_metric){.key = proposal_copy(p, str_of(key)), .unit = "", .direction = ""};
        if (!(*at)->key)
            return -1;
    }
    const char *unit = json_string(json_get(about, "unit"), "");
    if (*unit && !*(*at)->unit && !((*at)->unit = proposal_copy(p, str_of(unit))))
        return -1;
    if (*unit && strcmp((*at)->unit, unit) != 0) {
        (*at)->other_units++;
        return 0;
    }
    (*at)->ways |= way_of(str_of(json_string(json_get(about, "direction"), "")));
    (*at)->direction = ways_name((*at)->ways);
    struct proposed_value *v = ARENA_NEW(p->arena, struct proposed_value);
    if (!v)
        return -1;
    *v = (struct proposed_value){value, (*at)->values};
    (*at)->values = v;
    (*at)->n++;
    return 0;
}

static bool is_proposed_headline(const struct tree_run *run, const char *key)
{
    const struct tree_entry *e = runs_entry(run->tags, "benchwrap.headline");
    struct str rest = e ? e->value : STR(""), word;
    while ((word = str_word(&rest)).n > 0)
        if (str_is(word, key))
            return true;
    return !e; /* rules without headline metrics mean all */
}

/* Adds the run's metric: the median of its repetitions, or each step as its own metric "key@step".
 * Values that are not finite are ignored. Returns -1 when out of memory. */
static int proposal_add_metric(struct proposal *p, struct proposed_group *g, const struct tree_run *run, const struct tree_entry *e,
                               const struct json *about)
{
    double *v = malloc((e->count + 1) * sizeof *v);
    size_t n = 0;
    int rc = v ? 0 : -1;
    bool repetitions = compare_are_repetitions(run, e);
    for (size_t i = 0; v && i < e->count; i++) {
        char key[320];
        if (!isfinite(e->samples[i].value))
            continue;
        v[n++] = e->samples[i].value;
        snprintf(key, sizeof key, "%.280s@%" PRId64, e->key, e->samples[i].step);
        if (!repetitions && rc == 0)
            rc = proposal_add_value(p, g, key, about, e->samples[i].value);
    }
    if (rc == 0 && repetitions && n) {
        struct stats s;
        stats_of(v, n, &s);
        rc = proposal_add_value(p, g, e->key, about, s.median);
    }
    free(v);
    return rc;
}

/* Adds a finished run to the group of its key; other runs are counted as skipped. -1 with err: the
 * run is named twice, or out of memory. */
static int proposal_add_one(struct proposal *p, const struct tree_run *run, const struct json *detail, const struct comparison_key *key,
                            struct err *err)
{
    if (run->status != RUN_FINISHED || run->problem || runs_entry(run->tags, "benchwrap.warmup")) {
        p->skipped++;
        return 0;
    }
    struct proposed_group *g = group_of(p, key);
    if (!g)
        return err_memory(err, "the proposal");
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->runs[i], run->id) == 0)
            return err_set(err, ERR_USAGE, "the run %.8s is named twice", run->id);
    if (!ARRAY_FITS_IN(p->arena, g->runs, g->room, g->count + 1))
        return err_memory(err, "the proposal");
    g->runs[g->count++] = proposal_copy(p, str_of(run->id));
    g->first_ms = run->start_ms < g->first_ms ? run->start_ms : g->first_ms;
    g->last_ms = run->start_ms > g->last_ms ? run->start_ms : g->last_ms;
    for (const struct tree_entry *e = run->metrics; e; e = e->next) {
        const struct json *about = json_get(json_get(detail, "metrics"), e->key);
        bool directed = *json_string(json_get(about, "direction"), "");
        if ((!directed && !p->undirected) || !key_is_result(e->key) || (!p->all && !is_proposed_headline(run, e->key)))
            continue;
        if (proposal_add_metric(p, g, run, e, about) < 0)
            return err_memory(err, "the proposal");
    }
    return p->arena->failed ? err_memory(err, "the proposal") : 0;
}

int proposal_add_run(struct proposal *p, struct runs *runs, const char *name, const struct tree_run *listed, struct err *err)
{
    const unsigned what = TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE;
    struct arena scratch; /* a complete run is large, the part that is stored is not */
    struct tree_run *run = NULL;
    const char *problem = NULL;
    arena_init(&scratch, RUN_MEMORY);
    /* the list of all runs, which "last" needs, must stay */
    struct arena *list = name && strncmp(name, "last", 4) == 0 ? p->arena : &scratch;
    int status = name ? -(runs_find(runs, name, what, list, &run, err) != 0) : runs_find_listed(runs, listed, what, list, &run, err);
    if (status == 0) {
        inherit_params(runs, run, p->arena); /* in the lasting arena: the parent run is kept for the next repetition */
        struct json *detail = runs_detail(runs, run, &problem, &scratch);
        p->taken++;
        struct comparison_reader reader;
        struct comparison_key key;
        comparison_open(&reader, runs, NULL, p->ignore);
        status = comparison_key_of(&reader, run, detail, &scratch, &key, err);
        if (status == 0)
            status = proposal_add_one(p, run, detail, &key, err);
        comparison_close(&reader);
        json_free(detail);
    }
    arena_deinit(&scratch);
    return status;
}

/* ---- what is proposed ---- */

/* Sets median, spread, band and the number of values outside on the worse side. False: out of
 * memory. */
static bool measure_metric(const struct proposal *p, struct proposed_metric *m)
{
    double *v = malloc((m->n + 1) * sizeof *v);
    struct stats s;
    size_t n = 0;
    if (!v)
        return false;
    for (const struct proposed_value *x = m->values; x; x = x->next)
        v[n++] = x->value;
    m->mad = stats_mad(v, n);
    stats_of(v, n, &s);
    m->median = s.median;
    double spread = m->median != 0 ? 3 * 1.4826 * m->mad / fabs(m->median) : NAN;
    m->band = ceil(1000 * fmax(spread, p->min_band) - 1e-9) / 1000; /* in steps of 0.1 % */
    if (isnan(spread))
        m->band = NAN;
    double edge = m->band * fabs(m->median);
    m->outside = 0;
    for (size_t i = 0; i < n && isfinite(edge); i++)
        m->outside += strcmp(m->direction, "higher") == 0 ? v[i] < m->median - edge : v[i] > m->median + edge;
    free(v);
    return true;
}

static const char *why_left_out(const struct proposed_metric *m)
{
    if (m->ways == WAYS_DISPUTED)
        return "the runs disagree on its better direction";
    if (m->n < PROPOSAL_RUNS_MIN)
        return m->other_units ? "too few runs have it in one unit" : "too few runs have it";
    if (isnan(m->band))
        return "its median is 0, so a relative band is not possible";
    return m->band > PROPOSAL_BAND_MAX ? "its spread is too large to be a reference" : NULL;
}

/* Measures the group's metrics, and returns whether the group makes an entry. */
static bool is_entry(const struct proposal *p, struct proposed_group *g)
{
    bool some = false;
    for (struct proposed_metric *m = g->metrics; m; m = m->next)
        some = (measure_metric(p, m) && !why_left_out(m)) || some;
    return some && g->count >= PROPOSAL_RUNS_MIN && !g->differs;
}

/* ---- YAML ---- */

void proposal_quote(struct buf *to, const char *text)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    for (const char *c = text; *c; c++) {
        if (strchr("*?[\\", *c))
            buf_putc(&b, '\\');
        buf_putc(&b, *c);
    }
    buf_json(to, buf_text(&b));
}

/* Writes a comment of the YAML file: how many runs the group has, when they started, and the ids of
 * the first IDS_SHOWN. */
static void remark_runs(struct buf *to, const char *indent, const struct proposed_group *g)
{
    buf_printf(to, "%s# %zu run%s, ", indent, g->count, str_plural(g->count));
    show_time_utc(to, g->first_ms);
    buf_puts(to, " to ");
    show_time_utc(to, g->last_ms);
    for (size_t i = 0; i < g->count && i < IDS_SHOWN; i++) {
        if (i % 10 == 0)
            buf_printf(to, "\n%s#  ", indent);
        buf_printf(to, " %.12s", g->runs[i]);
    }
    if (g->count > IDS_SHOWN)
        buf_printf(to, " and %zu more", g->count - IDS_SHOWN);
    buf_putc(to, '\n');
    if (g->key.hidden) {
        buf_printf(to, "%s# hidden values may differ: ", indent);
        buf_plain(to, str_of(g->key.hidden), 250);
        buf_putc(to, '\n');
    }
}

/* Writes the conditions of the group's entry; params have their own mapping. Empty values are left
 * out. */
static void yaml_conditions(struct buf *to, const struct proposed_group *g)
{
    bool params = false;
    for (size_t i = 0; i < g->condition_count; i++) {
        const struct proposed_condition *c = &g->conditions[i];
        const char *key = strcmp(c->key, "job.partition") == 0 ? "partition"
                          : strcmp(c->key, "node.type") == 0   ? "node_type"
                          : c->param                           ? NULL
                                                               : c->key;
        if (!key || !*c->value)
            continue;
        buf_printf(to, "    %s: ", key);
        proposal_quote(to, c->value);
        buf_putc(to, '\n');
    }
    for (size_t i = 0; i < g->condition_count; i++) {
        const struct proposed_condition *c = &g->conditions[i];
        if (!c->param || !*c->value || strcmp(c->key, "job.partition") == 0 || strcmp(c->key, "node.type") == 0)
            continue;
        if (!params)
            buf_puts(to, "    params:\n");
        params = true;
        buf_puts(to, "      ");
        buf_json(to, str_of(c->key));
        buf_puts(to, ": ");
        proposal_quote(to, c->value);
        buf_putc(to, '\n');
    }
}

/* Writes the metrics of the group's entry with value and band in percent. A metric without a band
 * becomes a comment that states why. */
static void yaml_metrics(struct buf *to, const struct proposed_group *g)
{
    buf_puts(to, "    metrics:\n");
    for (const struct proposed_metric *m = g->metrics; m; m = m->next) {
        const char *why = why_left_out(m);
        buf_puts(to, why ? "      # left out: " : "      ");
        if (why)
            buf_plain(to, str_of(m->key), 320);
        else
            buf_json(to, str_of(m->key));
        if (why) {
            buf_printf(to, ": %s (%zu runs", why, m->n);
            if (m->n >= PROPOSAL_RUNS_MIN)
                buf_printf(to, ", median %.6g, median absolute deviation %.3g", m->median, m->mad);
            buf_puts(to, ")\n");
            continue;
        }
        buf_printf(to, ": {value: %.6g%s%s, band: %.3g%%}  # %zu runs, median absolute deviation %.3g", m->median, *m->unit ? " " : "",
                   m->unit, 100 * m->band, m->n, m->mad);
        if (m->outside)
            buf_printf(to, "; %zu of them %s worse than this", m->outside, m->outside == 1 ? "is" : "are");
        if (m->other_units)
            buf_printf(to, "; %zu runs in another unit are left out", m->other_units);
        buf_putc(to, '\n');
    }
}

/* Returns the condition that has most different values among the groups that are too small. */
static const char *most_varied_condition(const struct proposal *p, size_t *ret_values)
{
    const char *best = NULL;
    *ret_values = 1;
    for (const struct proposed_group *g = p->groups; g; g = g->next)
        for (size_t i = 0; g->count < PROPOSAL_RUNS_MIN && i < g->condition_count; i++) {
            size_t values = 0, looked = 0;
            for (const struct proposed_group *o = p->groups; o && looked < 100; o = o->next, looked++) {
                bool seen = o->count >= PROPOSAL_RUNS_MIN;
                const char *mine = NULL;
                for (size_t k = 0; !seen && k < o->condition_count; k++)
                    mine = strcmp(o->conditions[k].key, g->conditions[i].key) == 0 ? o->conditions[k].value : mine;
                for (const struct proposed_group *e = p->groups; mine && !seen && e != o; e = e->next)
                    for (size_t k = 0; e->count < PROPOSAL_RUNS_MIN && k < e->condition_count; k++)
                        seen = seen ||
                               (strcmp(e->conditions[k].key, g->conditions[i].key) == 0 && str_is(str_of(e->conditions[k].value), mine));
                values += mine && !seen;
            }
            if (values > *ret_values) {
                *ret_values = values;
                best = g->conditions[i].key;
            }
        }
    return best;
}

/* Writes a comment about the groups that have too few runs for a reference, and the condition in
 * which they differ most. */
static void remark_small(const struct proposal *p, struct buf *to)
{
    size_t groups = 0, runs = 0, values;
    for (const struct proposed_group *g = p->groups; g; g = g->next) {
        groups += g->count < PROPOSAL_RUNS_MIN;
        runs += g->count < PROPOSAL_RUNS_MIN ? g->count : 0;
    }
    if (!groups)
        return;
    buf_printf(to, "\n# too few: %zu run%s in %zu group%s of fewer than %d with the same inputs are left out:\n", runs, str_plural(runs),
               groups, str_plural(groups), PROPOSAL_RUNS_MIN);
    size_t shown = 0;
    for (const struct proposed_group *g = p->groups; g && shown < GROUPS_SHOWN; g = g->next)
        if (g->count < PROPOSAL_RUNS_MIN) {
            remark_runs(to, "", g);
            shown++;
        }
    if (groups > shown)
        buf_printf(to, "# and %zu more group%s\n", groups - shown, str_plural(groups - shown));
    const char *key = groups > 1 ? most_varied_condition(p, &values) : NULL;
    if (key) {
        buf_puts(to, "# they differ most in ");
        buf_plain(to, str_of(key), 250);
        buf_printf(to, " (%zu values); if that does not matter: --ignore\n", values);
    }
}

void proposal_yaml(struct proposal *p, struct buf *to)
{
    buf_printf(to, "# references proposed by benchwrap %s from %zu runs: read them before they are used (docs/howto-reference.md)\n",
               BW_VERSION, p->taken);
    const char *left_out = comparison_left_out(p->ignore, p->arena);
    if (left_out) {
        buf_puts(to, "# left out, so that these runs may differ in it: ");
        buf_plain(to, str_of(left_out), 1000);
        buf_putc(to, '\n');
    }
    if (p->skipped)
        buf_printf(to, "# %zu of them did not finish, or are for warm-up, and are left out\n", p->skipped);
    bool any = false;
    for (struct proposed_group *g = p->groups; g; g = g->next) {
        if (!is_entry(p, g))
            continue;
        if (!any)
            buf_puts(to, "references:\n");
        any = true;
        p->entries++;
        remark_runs(to, "  ", g);
        buf_puts(to, "  - note: \"proposed from history\"\n");
        yaml_conditions(to, g);
        yaml_metrics(to, g);
    }
    if (!any)
        buf_puts(to, "references: []\n");
    for (struct proposed_group *g = p->groups; g; g = g->next)
        if (g->count >= PROPOSAL_RUNS_MIN && !is_entry(p, g)) {
            if (g->differs) {
                const char *options = comparison_ignore_options(g->differs, p->arena);
                buf_puts(to, "\n# left out: the command lines of these runs differ in ");
                for (const char **name = g->differs; *name; name++) {
                    buf_puts(to, name == g->differs ? "" : ", ");
                    buf_plain(to, str_of(*name), 250);
                }
                buf_puts(to, ". Record what matters by --param, or leave it out of account: ");
                buf_plain(to, str_of(options ? options : "--ignore"), 1000);
                buf_putc(to, '\n');
                remark_runs(to, "", g);
                continue;
            }
            buf_puts(to, g->metrics ? "\n# left out: no metric of these runs can be a reference\n"
                                    : "\n# left out: these runs have no metric with a direction\n");
            remark_runs(to, "", g);
            for (const struct proposed_metric *m = g->metrics; m; m = m->next) {
                buf_puts(to, "#   ");
                buf_plain(to, str_of(m->key), 320);
                buf_printf(to, ": %s\n", why_left_out(m));
            }
        }
    remark_small(p, to);
}

/* ---- JSON ---- */

static void json_group(struct json_out *j, const struct proposed_group *g, const char *why)
{
    json_open(j, NULL, '{');
    json_open(j, "conditions", '{');
    for (size_t i = 0; i < g->condition_count; i++)
        json_text(j, g->conditions[i].key, g->conditions[i].value);
    json_close(j, '}');
    json_open(j, "runs", '[');
    for (size_t i = 0; i < g->count; i++)
        json_text(j, NULL, g->runs[i]);
    json_close(j, ']');
    json_text(j, "left_out", why);
    json_open(j, "metrics", '[');
    for (const struct proposed_metric *m = g->metrics; m; m = m->next) {
        json_open(j, NULL, '{');
        json_text(j, "key", m->key);
        json_text(j, "unit", m->unit);
        json_text(j, "direction", m->direction);
        json_int(j, "n", (int64_t)m->n);
        if (m->other_units)
            json_int(j, "other_units", (int64_t)m->other_units);
        json_double(j, "median", m->median);
        json_double(j, "mad", m->mad);
        json_known(j, "band", m->band);
        json_int(j, "outside", (int64_t)m->outside);
        json_text(j, "left_out", why ? why : why_left_out(m));
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void proposal_json(struct proposal *p, struct buf *to)
{
    struct json_out j = {.to = to};
    json_open(&j, NULL, '{');
    json_int(&j, "taken", (int64_t)p->taken);
    json_int(&j, "skipped", (int64_t)p->skipped);
    json_text(&j, "ignored", comparison_left_out(p->ignore, p->arena));
    json_open(&j, "groups", '[');
    for (struct proposed_group *g = p->groups; g; g = g->next) {
        bool entry = is_entry(p, g);
        p->entries += entry;
        json_group(&j, g,
                   entry                          ? NULL
                   : g->count < PROPOSAL_RUNS_MIN ? "too few"
                   : g->differs                   ? "the command lines differ"
                                                  : "no metric can be a reference");
    }
    json_close(&j, ']');
    json_close(&j, '}');
}
