/* cmd_annotate.c: `benchwrap annotate`: a note, a name or tags for a run, by a new run that changes nothing of the old one. */
#include "base/clock.h"
#include "base/listing.h"
#include "base/sha256.h"
#include "cmd/changed_runs.h"
#include "cmd/selection.h"
#include "mlruns-format/annotation.h"
#include "mlruns-format/key.h"
#include "plan/plan.h"
#include "run/commit.h"
#include "run/leftovers.h"
#include "run/make.h"
#include "run/redaction.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANNOTATED_MAX = 100, ANNOTATE_SETTLED_S = 60, NAME_MAX_BYTES = 250 };

struct annotate_work {
    struct cmd_context *c;
    struct runs runs;
    struct plan plan;
    struct tree_entry changes[ANNOTATION_KEYS_MAX]; /* by key; a removed tag has value.p NULL */
    size_t count;
    struct listing list;
    struct make_batch batch; /* published, not safe yet */
    bool dry, public;
};

/* ---- what is to be changed ---- */

/* Adds a change of one tag to w->changes; `value` NULL removes the tag. 0; -1 with err: a key or
 * text that no annotation may have, a tag named twice, or too many of them. */
static int add_change(struct annotate_work *w, const char *option, const char *key, const char *value, struct err *err)
{
    struct tree_entry *e = &w->changes[w->count];
    if (!key_legal(str_of(key)))
        return err_set(err, ERR_USAGE, "--%s: expected a key of letters, digits and . _ - / with at most %d characters, got \"%.60s\"",
                       option, KEY_MAX, key);
    if (!annotation_key_is_free(str_of(key)))
        return err_set(err, ERR_USAGE, "--%s: the tag %.100s belongs to the record of the run, and an annotation cannot change it", option,
                       key);
    if (value && (strlen(value) > ANNOTATION_TEXT_MAX || !str_valid_utf8(str_of(value)) || !str_is_plain(str_of(value))))
        return err_set(err, ERR_USAGE, "--%s: expected at most %d bytes of UTF-8 without control characters", option, ANNOTATION_TEXT_MAX);
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->changes[i].key, key) == 0)
            return err_set(err, ERR_USAGE, "--%s: the tag %.100s is named twice", option, key);
    if (w->count == ANNOTATION_KEYS_MAX)
        return err_set(err, ERR_USAGE, "at most %d tags at once", ANNOTATION_KEYS_MAX);
    *e = (struct tree_entry){.key = key, .value = {value, value ? strlen(value) : 0}};
    w->count++;
    return 0;
}

/* Adds a change of the description or the name from an option: the text without blanks at its ends,
 * removed where it is empty. Does nothing without the option. -1 with err. */
static int add_text_change(struct annotate_work *w, const char *option, const char *key, size_t max, struct err *err)
{
    const char *typed = opt_text(&w->c->opts, option);
    if (!typed)
        return 0;
    struct str s = str_trim(str_of(typed));
    const char *text = arena_dup(w->c->arena, s.p, s.n);
    if (!text)
        return err_memory(err, "the annotation");
    if (s.n > max)
        return err_set(err, ERR_USAGE, "--%s: expected at most %zu bytes", option, max);
    return add_change(w, option, key, *text ? text : NULL, err);
}

static int order_changes(const void *a, const void *b)
{
    return str_natural(((const struct tree_entry *)a)->key, ((const struct tree_entry *)b)->key);
}

/* Reads --note, --name, --tag and --remove into w->changes, sorted and linked. 0; -1 with err, also
 * where there is no change. */
static int read_changes(struct annotate_work *w, struct err *err)
{
    struct arena *a = w->c->arena;
    const char *name = opt_text(&w->c->opts, OPTION_NAME);
    if (name && strchr(name, '\n'))
        return err_set(err, ERR_USAGE, "--name: expected one line");
    if (add_text_change(w, OPTION_NOTE, ANNOTATION_NOTE, ANNOTATION_TEXT_MAX, err) ||
        add_text_change(w, OPTION_NAME, ANNOTATION_NAME, NAME_MAX_BYTES, err))
        return -1;
    for (const struct opt_value *v = opt_find(&w->c->opts, OPTION_TAG); v && v->text; v = v->next) {
        struct str value = str_of(v->text), key = str_cut(&value, '=');
        const char *named = arena_dup(a, key.p, key.n);
        if (!named)
            return err_memory(err, "the annotation");
        if (add_change(w, OPTION_TAG, named, value.p ? value.p : "", err))
            return -1;
    }
    for (const struct opt_value *v = opt_find(&w->c->opts, OPTION_REMOVE); v && v->text; v = v->next)
        if (add_change(w, OPTION_REMOVE, v->text, NULL, err))
            return -1;
    if (!w->count)
        return err_set(err, ERR_USAGE, "expected --note, --name, --tag or --remove: what shall the annotation change?");
    qsort(w->changes, w->count, sizeof *w->changes, order_changes);
    for (size_t i = 0; i + 1 < w->count; i++)
        w->changes[i].next = &w->changes[i + 1];
    return 0;
}

/* The texts as they are recorded: without secrets, and in the public profile without names. */
static int redact_changes(struct annotate_work *w, struct err *err)
{
    struct redaction r;
    int rc = redaction_begin_here(&r, w->public, w->c->env, err);
    for (size_t i = 0; i < w->count && rc == 0; i++) {
        struct tree_entry *e = &w->changes[i];
        const char *text = e->value.p ? redaction_named(&r, e->key, e->value.p, w->c->arena) : NULL;
        if (e->value.p && !text)
            rc = err_memory(err, "the annotation");
        e->value = (struct str){text, text ? strlen(text) : 0};
    }
    redaction_end(&r);
    return rc;
}

/* ---- one run ---- */

/* Is all of it so already? */
static bool is_annotated_so(const struct annotate_work *w, const struct tree_run *run, const struct run_annotated *now)
{
    const struct tree_run seen = {.annotated = now->changes};
    for (size_t i = 0; i < w->count; i++) {
        const struct tree_entry *e = &w->changes[i], *is = tree_annotated_tag(&seen, e->key);
        const struct str *value = is ? &is->value : NULL;
        if (!e->value.p && strcmp(e->key, ANNOTATION_NAME) == 0) { /* without an annotation the recorded name counts */
            if (value)
                return false;
            continue;
        }
        if (!value) {
            const char *recorded = runs_file(&w->runs, run, arena_printf(w->c->arena, "tags/%s", e->key), 1 << 16, w->c->arena);
            if (e->value.p ? !recorded || !str_is(e->value, recorded) : recorded != NULL)
                return false;
        } else if (!value->p != !e->value.p || (value->p && !str_eq(*value, e->value)))
            return false;
    }
    return true;
}

/* "note, name, tag a, without tag b" */
static const char *describe_changes(const struct annotate_work *w)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    for (size_t i = 0; i < w->count; i++) {
        const struct tree_entry *e = &w->changes[i];
        const char *what = strcmp(e->key, ANNOTATION_NOTE) == 0 ? "note" : strcmp(e->key, ANNOTATION_NAME) == 0 ? "name" : NULL;
        buf_printf(&b, "%s%s%s%s", i ? ", " : "", e->value.p ? "" : "without ", what ? what : "tag ", what ? "" : e->key);
    }
    return arena_dup(w->c->arena, b.p ? b.p : "", b.n);
}

static void record_annotation(struct annotate_work *w, struct made_run *m, const struct run_annotated *now)
{
    struct record *r = &m->record;
    struct arena *a = w->c->arena;
    const char *site = opt_text(&w->plan.opts, OPTION_SITE), *what = describe_changes(w);
    r->source = "annotate";
    record_tag(r, "benchwrap.run_id", str_of(r->id));
    record_tag(r, "benchwrap.version", STR(BW_VERSION));
    record_tag(r, "benchwrap.format", str_of(arena_printf(a, "%d", ANNOTATION_FORMAT)));
    record_tag(r, ANNOTATION_TAG, str_of(now->root));
    record_tag(r, "benchwrap.verdict", STR("none"));
    record_tag(r, "mlflow.parentRunId", str_of(now->root)); /* readers of version 1 list it below its run */
    record_tag(r, ANNOTATION_NOTE, str_of(arena_printf(a, "Annotates the run %s: %s", now->root, what)));
    record_tag(r, "mlflow.source.type", STR("LOCAL"));
    record_tag(r, "mlflow.source.name", STR("benchwrap annotate"));
    record_param(r, "annotates.run", str_of(now->root));
    record_param(r, "annotates.changes", str_of(what));
    r->source = "option";
    if (site)
        record_tag(r, "site", str_of(site));
    r->source = "recorder";
    record_artifact(r, ANNOTATION_FILE, ANNOTATION_FILE);
}

/* Writes the id of the annotation. It follows from the run, the changes and the annotation before,
 * so the same command twice makes one run. */
static void annotation_id(char id[33], const struct run_annotated *now, struct str text, struct arena *a)
{
    char sum[SHA256_HEX];
    sha256_of(text.p, text.n, sum);
    make_id(id, "annotate", str_of(arena_printf(a, "%s/%s/%s", now->root, now->newest, sum)));
}

/* Publishes a run that annotates `now`, with the changes as its file. id and *ret_place: of the new
 * run. 0, also where it exists already; -1 with err. */
static int publish_annotation(struct annotate_work *w, const struct tree_run *run, const struct run_annotated *now, char id[33],
                              const char **ret_place, struct err *err)
{
    CLEANUP_BUF struct buf text;
    char host[256] = "", *argv[] = {NULL};
    struct made_run m;
    struct finished done;
    int64_t start = clock_wall_ms();
    buf_init(&text, 2 * ANNOTATION_MAX);
    annotation_print(now->root, w->changes, &text);
    if (text.failed || text.n > ANNOTATION_MAX)
        return err_set(err, ERR_USAGE, "expected at most %d bytes of notes and tags", ANNOTATION_MAX);
    annotation_id(id, now, buf_text(&text), w->c->arena);
    if (start <= now->latest_ms) /* also where the clock was set back: of several the latest start counts */
        start = now->latest_ms + 1;
    if (!w->public)
        gethostname(host, sizeof host - 1);
    struct make_plan plan = {.id = id,
                             .spool = w->plan.spool,
                             .head = {.host = host,
                                      .experiment = run->experiment,
                                      .run_name = arena_printf(w->c->arena, "annotates %.8s", now->root),
                                      .tree = w->runs.tree,
                                      .user = w->public   ? ""
                                              : run->user ? run->user
                                                          : "",
                                      .job = "",
                                      .argv = argv,
                                      .start_ms = start},
                             .options = {.log_max = 1 << 20, .public_profile = w->public, .told = true, .host = host}};
    if (make_begin(&m, &plan, err))
        return -1;
    if (make_text(&m, ANNOTATION_FILE, buf_text(&text), err)) {
        make_drop(&m);
        return -1;
    }
    record_annotation(w, &m, now);
    int rc = make_end(&m, RUN_FINISHED, NULL, start, &done, err);
    if (rc == 0)
        *ret_place = arena_dup(w->c->arena, done.place, strlen(done.place));
    finished_deinit(&done);
    return rc < 0 ? -1 : 0;
}

/* Annotates the run of this name, unless it has these values already. -1 with c->err: not found, or
 * itself an annotation or retraction. */
static int annotate_run(struct annotate_work *w, const char *name)
{
    struct cmd_context *c = w->c;
    struct tree_run *run;
    struct run_annotated now;
    char id[33] = "";
    const char *place = NULL, *of, *result = "annotated";
    if (runs_find(&w->runs, name, TREE_META, c->arena, &run, c->err))
        return -1;
    if ((of = runs_file(&w->runs, run, "tags/" ANNOTATION_TAG, 64, c->arena)) ||
        (of = runs_file(&w->runs, run, "tags/benchwrap.retracts", 64, c->arena)))
        return err_set(c->err, ERR_INPUT, "%.8s is itself an annotation or a retraction, of the run %.8s; name that run", run->id, of);
    if (runs_annotated(&w->runs, run, c->arena, &now, c->err))
        return -1;
    if (is_annotated_so(w, run, &now))
        result = "unchanged";
    else if (w->dry)
        result = "would be annotated";
    else if (publish_annotation(w, run, &now, id, &place, c->err))
        return err_wrap(c->err, "%.8s", run->id);
    changed_runs_add(&w->list, run, result, id[0] ? arena_dup(c->arena, id, 32) : NULL, place);
    return id[0] ? make_batch_add(&w->batch, id, c->err) : 0;
}

/* ---- the command ---- */

/* Annotates each run that is named until one fails, and prints the list of all that were tried. 0;
 * -1 with c->err. */
static int annotate_all_runs(struct annotate_work *w)
{
    struct cmd_context *c = w->c;
    struct leftovers_count swept;
    struct err err = {0};
    if (!w->dry) /* what one that was killed left is finished first */
        finish_leftovers(w->plan.spool, NULL, ANNOTATE_SETTLED_S, NULL, NULL, &swept);
    int rc = 0;
    w->batch = (struct make_batch){.tree = w->runs.tree, .spool = w->plan.spool};
    for (int i = 0; rc == 0 && i < c->argc; i++)
        rc = annotate_run(w, c->argv[i]);
    if (make_batch_settle(&w->batch, &err)) /* the next run, or sync, does it */
        fprintf(c->notes, "benchwrap: annotate: %s\n", err.text);
    if (!w->dry)
        run_commit_made(&w->plan, "annotate", c->notes);
    if (listing_write(&w->list, opt_on(&c->opts, OPTION_JSON) ? LISTING_JSON : LISTING_TABLE, c->out) < 0)
        return err_memory(c->err, "the annotations");
    return rc;
}

static int annotate_command(struct cmd_context *c)
{
    struct annotate_work w = {.c = c, .runs = {.root = -1}, .dry = opt_on(&c->opts, OPTION_DRY_RUN)};
    if (!c->argc)
        return err_set(c->err, ERR_USAGE, "which run? Name it by the beginning of its id; see \"benchwrap ls\"");
    if (c->argc > ANNOTATED_MAX)
        return err_set(c->err, ERR_USAGE, "at most %d runs at once", ANNOTATED_MAX);
    if (read_changes(&w, c->err) || plan_make_for(&w.plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE))
        return -1;
    w.public = strcmp(opt_text(&w.plan.opts, OPTION_PROFILE), "public") == 0;
    changed_runs_begin(&w.list, c->arena);
    int rc = selection_open(&w.runs, c, c->err);
    if (rc == 0)
        rc = redact_changes(&w, c->err);
    if (rc == 0)
        rc = annotate_all_runs(&w);
    runs_close(&w.runs);
    listing_deinit(&w.list);
    plan_deinit(&w.plan);
    return rc;
}

static const struct opt_row rows[] = {
    {.name = OPTION_NOTE,
     .kind = OPT_TEXT,
     .arg = "TEXT",
     .group = "What",
     .help = "Set the description of the run; an empty one removes it"},
    {.name = OPTION_NAME,
     .letter = 'n',
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "What",
     .help = "Set the run's name; an empty one restores the recorded name"},
    {.name = OPTION_TAG, .kind = OPT_PAIR, .arg = "KEY=VALUE", .group = "What", .help = "Set a tag; may be repeated"},
    {.name = OPTION_REMOVE, .kind = OPT_LIST, .arg = "KEY", .group = "What", .help = "Remove a tag; may be repeated"},
    CMD_ROW_TREE,
    SELECTION_ROW_EXPERIMENT,
    {.name = OPTION_DRY_RUN, .kind = OPT_FLAG, .group = "Output", .help = "Print what would be annotated, and write nothing"},
    CMD_ROW_JSON,
};

const struct cmd cmd_annotate = {
    .name = "annotate",
    .summary = "Add a note, a name or tags to runs",
    .usage = "[OPTIONS] RUN...",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "A recorded run is never edited. An annotation is a small run of its own in the same experiment, with tag benchwrap.annotates = the run's id; it "
        "holds the changed tags and none of the run's files. ls, show, compare, export, filters and sync apply it wherever it has been merged. It also "
        "holds for a run that amends the annotated one later (see reparse). \"show =ID\" shows the run as it was recorded.\n\n"
        "Any site can annotate any run. If two annotations set one tag, the one that started later counts, then the one with the greater id. "
        "Tags of the record itself (benchwrap.*, mlflow.*, job.*, site, cluster, benchmark) cannot be changed. "
        "Secrets are removed from the texts, and in the public profile also names.\n\n"
        "To withdraw a wrong run use \"benchwrap retract\".",
    .examples = "$ benchwrap annotate last --note \"before the BIOS update\"\nDescribe the newest run.\n"
                "$ benchwrap annotate last~1 --tag quality=suspect --name \"ior, cold cache\"\nSet a tag and the name.\n"
                "$ benchwrap annotate last~1 --remove quality --note \"\"\nRemove the tag and the description.\n",
    .run = annotate_command,
};
