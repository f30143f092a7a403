/* campaign_report.c: status and report of a campaign. */
#include "recipe/campaign_report.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/listing.h"
#include "base/place.h"
#include "base/show.h"
#include "mlruns-format/tree.h"
#include "recipe/campaign_advice.h"
#include "series/values.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DETAIL_BYTES = 64 << 20, REPORT_MAX = 256 << 20, REPORT_METRICS = 12, REPORT_GPUS = 16 };

/* ---- folders ---- */

struct newest_folder {
    struct arena *a;
    int dir;
    const char *name;
    int64_t when;
};

static int look_at_folder(void *context, const char *name, unsigned char type)
{
    struct newest_folder *n = context;
    char path[400];
    struct stat st;
    (void)type;
    if (snprintf(path, sizeof path, "%s/" CAMPAIGN_FILE, name) >= (int)sizeof path || fstatat(n->dir, path, &st, AT_SYMLINK_NOFOLLOW))
        return 0;
    int64_t when = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (!n->name || when > n->when) {
        n->name = arena_dup(n->a, name, strlen(name));
        n->when = when;
    }
    return 0;
}

const char *campaign_folder(const char *tree, const char *name, struct arena *a, struct err *err)
{
    const char *slash = strrchr(tree, '/');
    const char *all = arena_printf(a, "%.*s/.benchwrap/campaigns", (int)(slash ? slash - tree : 0), tree);
    if (!all) {
        err_memory(err, "the campaign");
        return NULL;
    }
    CLEANUP_FD int dir = place_open_folder(all, 0);
    struct newest_folder newest = {.a = a, .dir = dir};
    if (dir >= 0 && !name)
        fs_each_name(dir, NULL, look_at_folder, &newest);
    const char *found = name ? name : newest.name;
    if (!found || dir < 0) {
        err_set(err, ERR_INPUT, "there is no campaign in %s", all);
        err_hint(err, "benchwrap recipe run FILE");
        return NULL;
    }
    if (strchr(found, '/') || found[0] == '.' || faccessat(dir, found, F_OK, AT_SYMLINK_NOFOLLOW)) {
        err_set(err, ERR_INPUT, "there is no campaign \"%.100s\" in %s", found, all);
        return NULL;
    }
    return arena_printf(a, "%s/%s", all, found);
}

struct each_node_names {
    char **list;
    size_t count, room;
    struct arena *a;
};

static void add_each_node_name(struct each_node_names *l, struct str name)
{
    if (!ARRAY_FITS_IN(l->a, l->list, l->room, l->count + 2))
        return;
    l->list[l->count] = arena_dup(l->a, name.p, name.n);
    l->count += l->list[l->count] != NULL;
    l->list[l->count] = NULL;
}

/* Opens a campaign that exists, with its recipe. */
static int open_campaign(const char *folder, struct campaign_state *s, struct recipe *r, struct arena *a, struct err *err)
{
    const struct recipe_places own = {.folders = {folder}};
    CLEANUP_BUF struct buf text, names;
    buf_init(&text, RECIPE_FILE_MAX + 1);
    buf_init(&names, RECIPE_FILE_MAX + 1);
    int rc = campaign_state_open(s, folder, false, err);
    if (rc > 0)
        err_set(err, ERR_INPUT, "%s has no campaign", folder);
    if (rc || fs_read(s->dir, CAMPAIGN_RECIPE, RECIPE_FILE_MAX, 0, &text, err))
        return -1;
    struct each_node_names each = {.a = a};
    struct recipe_nodes nodes = {0};
    if (faccessat(s->dir, CAMPAIGN_NODES, F_OK, 0) == 0 && fs_read(s->dir, CAMPAIGN_NODES, RECIPE_FILE_MAX, 0, &names, err) == 0)
        for (struct str rest = buf_text(&names), word; (word = str_word(&rest)).n > 0;)
            add_each_node_name(&each, word);
    nodes.each = each.list;
    const char *base = str_base_name(folder); /* NAME, or NAME@CLUSTER: the recipe may have its name from its file */
    const char *file = arena_printf(a, "%.*s.yaml", (int)strcspn(base, "@"), base);
    return file ? recipe_read(r, file, buf_text(&text), &own, each.count ? &nodes : NULL, a, err) : err_memory(err, "the campaign");
}

/* ---- the report ---- */

struct reporting {
    struct campaign_state state;
    struct recipe recipe;
    struct recipe_point_id {
        char id[SHA256_HEX];
    } * ids; /* of the points, by index */
    struct series_notes notes;
    const struct series_figure *figures;
    const char *metrics[REPORT_METRICS];
    size_t metric_count;
    struct arena *a;
    int experiment; /* folder of the experiment; -1: none */
};

static const struct campaign_point *state_of_point(const struct reporting *w, size_t i)
{
    return campaign_point_find(&w->state, w->ids[i].id);
}

static int hash_points(struct reporting *w, struct err *err)
{
    w->ids = arena_get(w->a, w->recipe.sweep.points * sizeof *w->ids);
    if (!w->ids)
        return err_memory(err, "the report");
    for (size_t i = 0; i < w->recipe.sweep.points; i++)
        if (recipe_point_hash(&w->recipe, i, w->ids[i].id, w->a, err))
            return -1;
    return 0;
}

/* The mean of the samples of the GPUs becomes a value of the run. A GPU that never worked does not count: the
 * service has fewer GPUs than the node, or runs on another node. */
static void read_gpu_busy(struct reporting *w, struct series_repetition *run)
{
    double sum = 0;
    size_t n = 0;
    for (int gpu = 0; gpu < REPORT_GPUS; gpu++) {
        CLEANUP_BUF struct buf text;
        char path[120];
        buf_init(&text, DETAIL_BYTES + 1);
        snprintf(path, sizeof path, "%s/metrics/system/gpu_%d_utilization_percentage", run->id, gpu);
        if (fs_read(w->experiment, path, DETAIL_BYTES, 0, &text, NULL))
            continue;
        double of_gpu = 0, value;
        size_t samples = 0;
        for (struct str rest = buf_text(&text), line; rest.p && (line = str_cut(&rest, '\n')).n;) {
            str_word(&line); /* the time */
            if (str_double(str_word(&line), &value)) {
                of_gpu += value;
                samples++;
            }
        }
        sum += of_gpu;
        n += of_gpu > 0 ? samples : 0;
    }
    struct series_run_value *v = n ? ARENA_NEW(&w->notes.arena, struct series_run_value) : NULL;
    if (!v)
        return;
    *v = (struct series_run_value){
        .key = ADVICE_GPU_BUSY, .of = "", .unit = "", .direction = DIR_NONE, .value = sum / (double)n, .next = run->values};
    run->values = v;
}

/* Reads a run's record from the experiment's folder and adds the run to w->notes. A run whose
 * record cannot be read is left out of them. */
static void read_run(struct reporting *w, size_t point, const struct campaign_run *r)
{
    CLEANUP_BUF struct buf text;
    struct json *detail = NULL;
    char path[100];
    struct series_repetition *run = series_run_new(&w->notes, r->order, point, r->warmup, r->repetition);
    buf_init(&text, DETAIL_BYTES + 1);
    snprintf(path, sizeof path, "%s/artifacts/benchwrap.json", r->id);
    if (!run || w->experiment < 0 || fs_read(w->experiment, path, DETAIL_BYTES, 0, &text, NULL) ||
        json_parse(&detail, buf_text(&text), NULL, NULL))
        return;
    run->exit = r->exit;
    memcpy(run->id, r->id, sizeof run->id);
    series_values_take(run, detail, &w->notes.arena);
    read_gpu_busy(w, run);
    json_free(detail);
    if (r->invalid[0])
        run->status = "INVALID";
    series_add_run(&w->notes, run);
}

static void open_campaign_experiment(struct reporting *w, const char *tree)
{
    struct err err = {0};
    uint32_t id;
    struct str name;
    char number[16];
    CLEANUP_FD int root = place_open_folder(tree, 0);
    if (root < 0 || tree_experiment(root, str_of(w->recipe.experiment), w->a, &id, &name, &err))
        return;
    snprintf(number, sizeof number, "%" PRIu32, id);
    w->experiment = place_open(root, number, O_RDONLY | O_DIRECTORY, 0);
}

/* Reads the runs of all points, and chooses the metrics of the report. -1 with err. */
static int read_results(struct reporting *w, const char *tree, struct err *err)
{
    w->notes.sweep = w->recipe.sweep;
    w->notes.end = "";
    w->notes.keys = sweep_keys(&w->recipe.sweep, w->a);
    open_campaign_experiment(w, tree);
    for (size_t i = 0; i < w->recipe.sweep.points; i++) {
        const struct campaign_point *p = state_of_point(w, i);
        for (const struct campaign_run *r = p ? p->runs : NULL; r; r = r->next)
            if (r->ended)
                read_run(w, i, r);
    }
    fs_close(&w->experiment);
    w->figures = series_figures(&w->notes);
    for (const struct series_figure *f = w->figures; f; f = f->next) {
        size_t k = 0;
        while (k < w->metric_count && strcmp(w->metrics[k], f->key) != 0)
            k++;
        if (f->headline && k == w->metric_count && k < REPORT_METRICS && strcmp(f->key, "run.wall_s") != 0)
            w->metrics[w->metric_count++] = f->key;
    }
    if (!w->metric_count && w->figures)
        w->metrics[w->metric_count++] = "run.wall_s";
    return w->notes.arena.failed ? err_memory(err, "the report") : 0;
}

static const struct series_figure *figure_at(const struct reporting *w, size_t point, const char *key)
{
    const struct series_figure *f = w->figures;
    while (f && (f->point != point || strcmp(f->key, key) != 0))
        f = f->next;
    return f;
}

static const char *short_duration(double seconds, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 100);
    if (seconds < 0)
        return NULL;
    show_duration(&b, seconds);
    return b.p ? arena_dup(a, b.p, b.n) : NULL;
}

static void add_point_row(struct reporting *w, struct listing *l, size_t i)
{
    const struct campaign_point *p = state_of_point(w, i);
    size_t runs = 0;
    listing_number(l, (double)(i + 1), NULL);
    for (size_t k = 0; k < w->recipe.sweep.count; k++)
        listing_text(l, sweep_value(&w->recipe.sweep, i, k));
    listing_text(l, campaign_outcome_word(p ? p->outcome : OUTCOME_NEVER_RAN));
    listing_style(l, p && p->outcome == OUTCOME_VALID ? STYLE_GOOD : STYLE_BAD);
    for (const struct series_repetition *r = w->notes.first; r; r = r->next)
        runs += r->point == i && series_counts(r);
    listing_number(l, (double)runs, NULL);
    for (size_t k = 0; k < w->metric_count; k++) {
        const struct series_figure *f = figure_at(w, i, w->metrics[k]);
        if (f && f->stats.n)
            listing_number(l, f->stats.median, NULL);
        else
            listing_none(l);
    }
    for (int k = 0; k < PHASE_COUNT; k++)
        if (p && p->phase_s[k] >= 0)
            listing_number(l, p->phase_s[k], short_duration(p->phase_s[k], w->a));
        else
            listing_none(l);
    listing_text(l, p && p->reason[0] ? p->reason : NULL);
}

/* Returns the columns of the report, *ret_n of them, in w->a. NULL: out of memory. */
static struct listing_column *report_columns(struct reporting *w, size_t *ret_n)
{
    size_t n = 0, axes = w->recipe.sweep.count;
    struct listing_column *c = arena_get(w->a, (axes + w->metric_count + PHASE_COUNT + 4) * sizeof *c);
    if (!c)
        return NULL;
    c[n++] = (struct listing_column){.key = "point", .heading = "point", .right = true};
    for (size_t i = 0; i < axes; i++)
        c[n++] = (struct listing_column){.key = w->recipe.sweep.axes[i].name, .heading = w->recipe.sweep.axes[i].name, .max = 30};
    c[n++] = (struct listing_column){.key = "outcome", .heading = "outcome", .whole = true};
    c[n++] = (struct listing_column){.key = "runs", .heading = "runs", .right = true, .drop = 9};
    for (size_t i = 0; i < w->metric_count; i++)
        c[n++] = (struct listing_column){
            .key = w->metrics[i], .heading = w->metrics[i], .right = true, .drop = i ? (unsigned)i : 0, .no_empty = true};
    for (int i = 0; i < PHASE_COUNT; i++) {
        const char *word = campaign_phase_word((enum campaign_phase)i);
        c[n++] = (struct listing_column){
            .key = arena_printf(w->a, "phase.%s_s", word), .heading = word, .right = true, .drop = 20 + (unsigned)i, .no_empty = true};
    }
    c[n++] = (struct listing_column){.key = "reason", .heading = "reason", .wrap = true, .no_empty = true};
    *ret_n = n;
    return w->a->failed ? NULL : c;
}

/* Prints a row for each point as text, JSON or CSV. 0: all points are valid; 1: not all; -1 with
 * err. */
static int print_campaign_rows(struct reporting *w, enum campaign_format format, FILE *out, struct err *err)
{
    struct listing l;
    size_t n, valid = 0;
    CLEANUP_BUF struct buf text;
    struct listing_column *columns = report_columns(w, &n);
    buf_init(&text, REPORT_MAX);
    if (!columns)
        return err_memory(err, "the report");
    listing_init(&l, columns, n, w->a);
    for (size_t i = 0; i < w->recipe.sweep.points; i++) {
        const struct campaign_point *p = state_of_point(w, i);
        valid += p && p->outcome == OUTCOME_VALID;
        add_point_row(w, &l, i);
    }
    if (format == CAMPAIGN_TEXT) {
        listing_print(&l, out);
        l.failed |= !campaign_advice_print(&w->notes, w->figures, out);
    } else if (format == CAMPAIGN_JSON)
        listing_json(&l, &text);
    else
        listing_csv(&l, true, &text);
    bool failed = l.failed || text.failed;
    listing_deinit(&l);
    if (failed)
        return err_memory(err, "the report");
    fwrite(text.p ? text.p : "", 1, text.n, out);
    return valid == w->recipe.sweep.points ? 0 : 1;
}

int campaign_report(const char *folder, const char *tree, enum campaign_format format, struct arena *a, FILE *out, struct err *err)
{
    struct reporting w = {.a = a, .experiment = -1};
    arena_init(&w.notes.arena, 0);
    int rc = open_campaign(folder, &w.state, &w.recipe, a, err) || hash_points(&w, err) || read_results(&w, tree, err)
                 ? -1
                 : print_campaign_rows(&w, format, out, err);
    arena_deinit(&w.notes.arena);
    campaign_state_close(&w.state);
    return rc;
}

/* ---- status ---- */

static void status_json(const struct campaign_state *s, const struct campaign_owner *owner, const size_t counts[OUTCOME_COUNT],
                        size_t points, FILE *out)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, REPORT_MAX);
    struct json_out j = json_begin(&text, JSON_BLOCK, '{');
    json_text(&j, "state", owner->pid ? "running" : s->closed ? "finished" : "interrupted");
    json_int(&j, "pid", owner->pid);
    json_text(&j, "host", owner->host);
    json_text(&j, "job", owner->job);
    json_str(&j, "folder", str_of(s->folder));
    json_text(&j, "run", s->parent);
    json_uint(&j, "points", points);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        json_uint(&j, i == OUTCOME_NEVER_RAN ? "never_ran" : campaign_outcome_word((enum campaign_outcome)i), counts[i]);
    json_close(&j, '}');
    fwrite(text.p, 1, text.n, out);
}

/* A job was submitted, and no process has executed the campaign yet. */
static bool print_submitted(const char *folder, enum campaign_format format, FILE *out)
{
    CLEANUP_BUF struct buf job, text;
    CLEANUP_FD int dir = place_open_folder(folder, 0);
    struct err ignored = {0};
    buf_init(&job, 400);
    buf_init(&text, 4000);
    if (dir < 0 || faccessat(dir, CAMPAIGN_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || fs_read(dir, CAMPAIGN_JOB, 200, 0, &job, &ignored) ||
        !job.n)
        return false;
    if (format == CAMPAIGN_JSON) {
        struct json_out j = json_begin(&text, JSON_BLOCK, '{');
        json_text(&j, "state", "submitted");
        json_str(&j, "job", buf_text(&job));
        json_str(&j, "folder", str_of(folder));
        json_close(&j, '}');
    } else {
        buf_printf(&text, "%s: submitted as job ", str_base_name(folder));
        buf_plain(&text, buf_text(&job), 100);
        buf_puts(&text, ", not begun\n");
    }
    fwrite(text.p ? text.p : "", 1, text.n, out);
    return true;
}

int campaign_status(const char *folder, enum campaign_format format, struct arena *a, FILE *out, struct err *err)
{
    if (print_submitted(folder, format, out))
        return 0;
    struct reporting w = {.a = a, .experiment = -1};
    size_t counts[OUTCOME_COUNT] = {0};
    if (open_campaign(folder, &w.state, &w.recipe, a, err) || hash_points(&w, err)) {
        campaign_state_close(&w.state);
        return -1;
    }
    const struct campaign_owner owner = campaign_state_owner(&w.state);
    for (size_t i = 0; i < w.recipe.sweep.points; i++) {
        const struct campaign_point *p = state_of_point(&w, i);
        counts[p ? p->outcome : OUTCOME_NEVER_RAN]++;
    }
    if (format == CAMPAIGN_JSON)
        status_json(&w.state, &owner, counts, w.recipe.sweep.points, out);
    else {
        fprintf(out, "%s: %s", w.recipe.name, owner.pid ? "running" : w.state.closed ? "finished" : "interrupted");
        if (owner.pid)
            fprintf(out, " (process %ld on %s%s%s)", (long)owner.pid, owner.host, owner.job[0] ? ", job " : "", owner.job);
        fprintf(out, ", %zu point%s", w.recipe.sweep.points, str_plural(w.recipe.sweep.points));
        for (int k = 1; k <= OUTCOME_COUNT; k++)
            if (counts[k % OUTCOME_COUNT])
                fprintf(out, ", %zu %s", counts[k % OUTCOME_COUNT], campaign_outcome_word((enum campaign_outcome)(k % OUTCOME_COUNT)));
        fprintf(out, "\n  logs: %s/logs\n  run:  %.8s%s\n", w.state.folder, w.state.parent, w.state.closed ? "" : " (not published yet)");
    }
    campaign_state_close(&w.state);
    return 0;
}
