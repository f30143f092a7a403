/* campaign_record.c: writes the record of a campaign, its parent run; see campaign_record.h. */
#include "recipe/campaign_record.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "recipe/campaign_changes.h"
#include "recipe/campaign_images.h"
#include "run/spool.h"
#include "series/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the beginning ---- */

char **campaign_record_line(struct campaign *c, int *ret_argc)
{
    struct arena *a = c->arena;
    const struct yaml *root = c->recipe->root, *role = c->recipe->measured->at;
    static const char *const options[][2] = {{"repeat", "repeat"},
                                             {"warmup_runs", "warmup"},
                                             {"until_stable", "until-stable"},
                                             {"max_repeat", "max-repeat"},
                                             {"timeout", "timeout"}};
    char **command = c->recipe->measured->command ? c->recipe->measured->command
                                                  : c->planned.points[0].parts[c->recipe->measured - c->recipe->roles].processes[0].bare;
    size_t n = 0, words = 0;
    while (command[words])
        words++;
    char **line = arena_get(a, (words + 20) * sizeof *line);
    if (!line)
        return NULL;
    line[n++] = (char *)"benchwrap";
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *value = recipe_scalar(c->recipe, root, options[i][0], NULL);
        if (value)
            line[n++] = arena_printf(a, "--%s=%s", options[i][1], value);
    }
    const char *interval = recipe_scalar(c->recipe, yaml_get(root, "monitoring"), "interval", NULL);
    if (interval)
        line[n++] = arena_printf(a, "--sample=%s", interval);
    line[n++] = arena_printf(a, "--experiment=%s", c->recipe->experiment);
    line[n++] = arena_printf(a, "--name=%s", c->recipe->name);
    line[n++] = (char *)"--keep-going";
    const char *rules = recipe_scalar(c->recipe, role, "rules", NULL);
    if (rules)
        line[n++] = arena_printf(a, "--rules=%s", rules);
    if (c->options.tree_option)
        line[n++] = arena_printf(a, "--tree=%s", c->options.tree_option);
    line[n++] = (char *)"--";
    for (size_t i = 0; i < words; i++)
        line[n++] = command[i];
    *ret_argc = (int)n;
    return a->failed ? NULL : line;
}

int campaign_record_plan(struct campaign *c, char **line, int argc, struct err *err)
{
    struct repeat_state *s = &c->repeat;
    if (plan_make(&s->plan, argc, line, c->env, err) || repeat_plan_make(&s->what, &s->plan, err))
        return -1;
    s->what.sweep = c->recipe->sweep;
    if (s->what.sweep.points * (s->what.most + s->what.warmup) > SERIES_RUNS_MAX)
        return err_set(err, ERR_USAGE, "%zu points times %zu runs: more than %d runs", s->what.sweep.points, s->what.most + s->what.warmup,
                       SERIES_RUNS_MAX);
    return 0;
}

/* Discards the spool of the parent run of an interrupted execution. Its record begins again under
 * the same id and start, from the runs in the tree. Without such a spool, does nothing. */
static void drop_interrupted(struct campaign *c)
{
    struct spool spool;
    struct err err = {0};
    const char *roots[] = {c->repeat.plan.spool, c->repeat.plan.spool_fallback};
    bool found = false;
    for (size_t i = 0; i < 2 && !found && c->state.parent[0]; i++)
        if (roots[i] && spool_open(&spool, roots[i], c->state.parent, NULL) == 0) {
            found = faccessat(spool.dir, SPOOL_HELD, F_OK, 0) == 0;
            if (found && spool_discard(&spool, &err))
                campaign_say(c, "%s", err.text);
            spool_close(&spool);
        }
    if (found) {
        memcpy(c->repeat.id, c->state.parent, sizeof c->repeat.id);
        c->repeat.begun_ms = c->state.begun_ms;
    }
}

/* Records a text as an artifact of the campaign's run, without secrets, and in the public profile
 * without names. */
static void record_text_file(struct campaign *c, const char *name, struct str text)
{
    struct record *r = &c->repeat.run.record;
    struct err err = {0};
    char *clean = arena_dup(c->arena, text.p, text.n);
    if (!clean)
        err_memory(&err, "%s", name);
    else
        redact_text(&c->repeat.run.redaction.redact, clean, text.n);
    if (!clean || fs_write(c->repeat.run.spool.dir, name, (struct str){clean, text.n}, 0644, false, &err))
        record_warning(r, "%s is not stored: %s", name, err.text);
    else
        record_artifact(r, name, name);
}

/* Records the recipe in the parent run: its name as a tag, the values of each axis as params, its
 * text as an artifact, and the images of the points. */
static void record_recipe(struct campaign *c)
{
    struct record *r = &c->repeat.run.record;
    r->source = "recipe";
    record_tag(r, "benchwrap.recipe", str_of(c->recipe->name));
    for (size_t i = 0; i < c->recipe->sweep.count; i++) {
        const struct sweep_axis *axis = &c->recipe->sweep.axes[i];
        CLEANUP_BUF struct buf values;
        const char *key = arena_printf(c->arena, "sweep.%s", axis->name);
        buf_init(&values, 1 << 20);
        for (size_t k = 0; k < axis->count; k++)
            buf_printf(&values, "%s%s", k ? "," : "", axis->values[k]);
        if (key && !values.failed)
            record_param(r, key, buf_text(&values));
    }
    campaign_images_record(c);
    record_text_file(c, "recipe.yaml", str_of(c->recipe->text));
    r->source = "recorder";
}

/* Copies the service files that are not compiled in to the campaign's folder: reports need them, and
 * they may be gone by then. 0; -1 with err. */
static int store_services(struct campaign *c, struct err *err)
{
    for (size_t i = 0; i < c->recipe->role_count; i++) {
        const struct recipe_service *s = c->recipe->roles[i].service;
        char path[200];
        if (!s || !s->text)
            continue;
        snprintf(path, sizeof path, "services/%.100s.yaml", s->name);
        if (fs_mkdirs(c->state.dir, "services", 0700, err) || fs_write(c->state.dir, path, str_of(s->text), 0600, false, err))
            return -1;
    }
    return 0;
}

int campaign_record_begin(struct campaign *c, char **line, int argc, struct err *err)
{
    struct repeat_state *s = &c->repeat;
    drop_interrupted(c);
    s->held = true;
    if (repeat_begin(s, argc, line, err))
        return -1;
    memcpy(c->state.parent, s->run.wire->run_id, sizeof c->state.parent);
    c->state.begun_ms = s->run.wire->start_wall_ms;
    c->state.closed = false;
    record_recipe(c);
    CLEANUP_BUF struct buf nodes;
    buf_init(&nodes, 1 << 20);
    for (char **name = c->recipe->each_node; name && *name; name++)
        buf_printf(&nodes, "%s\n", *name);
    if (unlinkat(c->state.dir, CAMPAIGN_NODES, 0) && errno != ENOENT)
        return err_sys(err, "cannot remove %s/%s", c->state.folder, CAMPAIGN_NODES);
    if (nodes.n && fs_write(c->state.dir, CAMPAIGN_NODES, buf_text(&nodes), 0600, false, err))
        return -1;
    if (fs_write(c->state.dir, CAMPAIGN_RECIPE, str_of(c->recipe->text), 0600, false, err) || store_services(c, err))
        return -1;
    journal_flush(s->run.journal, false, NULL);
    return campaign_state_save(&c->state, err);
}

/* ---- runs of an interrupted execution ---- */

struct adopted_run {
    const struct campaign_run *run;
    size_t point;
};

static int order_adopted(const void *x, const void *y)
{
    const struct adopted_run *a = x, *b = y;
    return a->run->order < b->run->order ? -1 : a->run->order > b->run->order;
}

/* Repeats the verdict of an earlier execution. Returns whether there is one. */
static bool judge_adopted(void *context, struct series_repetition *run)
{
    const struct adopted_run *a = context;
    if (a->run->invalid[0]) {
        run->status = "INVALID";
        run->reason = a->run->invalid;
    }
    return run->status[0];
}

int campaign_record_adopt(struct campaign *c, struct err *err)
{
    size_t n = 0, room = 0;
    struct adopted_run *list = NULL;
    for (size_t i = 0; i < c->planned.count; i++) {
        const struct campaign_point *p = campaign_point_find(&c->state, c->planned.points[i].id);
        for (const struct campaign_run *r = p ? p->runs : NULL; r; r = r->next) {
            if (r->order > c->order)
                c->order = r->order;
            if (!campaign_is_finished(c, p) || !r->ended || strcmp(p->parent, c->state.parent) != 0)
                continue;
            if (!ARRAY_FITS_IN(c->arena, list, room, n + 1))
                return err_memory(err, "the campaign");
            list[n++] = (struct adopted_run){r, c->planned.points[i].index};
        }
    }
    if (n)
        qsort(list, n, sizeof *list, order_adopted);
    for (size_t i = 0; i < n; i++) {
        const struct campaign_run *r = list[i].run;
        struct series_repetition *run = series_run_new(&c->repeat.notes, r->order, list[i].point, r->warmup, r->repetition);
        if (!run)
            return err_memory(err, "the campaign");
        run->exit = r->exit;
        memcpy(run->id, r->id, sizeof run->id);
        c->repeat.judge = judge_adopted;
        c->repeat.judge_context = &list[i];
        repeat_note_run(&c->repeat, run);
    }
    return 0;
}

/* ---- points and the end ---- */

void campaign_record_phases(struct campaign *c, const struct campaign_point *p, size_t number, double point_s)
{
    struct record *r = &c->repeat.run.record;
    r->source = "recipe";
    for (int i = 0; i < PHASE_COUNT; i++) {
        char key[60];
        snprintf(key, sizeof key, "series.phase_%s_s", campaign_phase_word((enum campaign_phase)i));
        if (p->phase_s[i] >= 0)
            record_metric(r, key, p->phase_s[i], "s", DIR_LOWER, (int64_t)number, clock_wall_ms());
    }
    record_metric(r, "series.point_s", point_s, "s", DIR_LOWER, (int64_t)number, p->end_ms);
    r->source = "recorder";
}

void campaign_record_outcomes(struct campaign *c, const size_t counts[OUTCOME_COUNT])
{
    struct record *r = &c->repeat.run.record;
    int64_t now = clock_wall_ms();
    CLEANUP_BUF struct buf events;
    r->source = "recipe";
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        char key[60];
        snprintf(key, sizeof key, "series.points_%s",
                 i == OUTCOME_NEVER_RAN ? "never_ran" : campaign_outcome_word((enum campaign_outcome)i));
        record_metric(r, key, (double)counts[i], "", i == OUTCOME_VALID ? DIR_HIGHER : DIR_LOWER, 0, now);
    }
    record_metric(r, "series.initialise_s", c->initialise_s, "s", DIR_LOWER, 0, now);
    record_metric(r, "series.teardown_s", c->teardown_s, "s", DIR_LOWER, 0, now);
    record_metric(r, "series.report_s", c->report_s, "s", DIR_LOWER, 0, now);
    record_metric(r, "series.heat_unknown", (double)c->heat_unknown, "", DIR_LOWER, 0, now);
    buf_init(&events, CAMPAIGN_EVENTS_MAX + 1);
    if (fs_read(c->state.dir, CAMPAIGN_EVENTS, CAMPAIGN_EVENTS_MAX, 0, &events, NULL) == 0)
        record_text_file(c, "points.jsonl", buf_text(&events));
    r->source = "recorder";
}
