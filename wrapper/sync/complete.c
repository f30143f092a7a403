/* complete.c: an incomplete run is completed from the server that has the rest; see complete.h. */
#include "sync/complete.h"

#include "base/fs.h"
#include "base/place.h"
#include "run/make.h"
#include "run/shared_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG_MAX = 200 };

static const char *shared_of(const struct completion_job *x, const struct tree_run *run)
{
    return runs_file(x->runs, run, "tags/" SHARED_TAG_RUN, TAG_MAX, x->arena);
}

/* Makes the id of the run that completes this one. */
static void completing_id(const struct completion_job *x, const struct tree_run *run, const char *shared, char ret[33])
{
    make_id(ret, "complete", str_of(arena_printf(x->arena, "%s/%s", run->id, shared)));
}

bool complete_is_due(const struct completion_job *x, const struct tree_run *run)
{
    char id[33];
    struct tree_run *there;
    const char *shared = runs_file(x->runs, run, "tags/" SHARED_TAG_INCOMPLETE, TAG_MAX, x->arena) ? shared_of(x, run) : NULL;
    if (!shared || !*shared)
        return false;
    completing_id(x, run, shared, id);
    return tree_find(x->runs->root, id, TREE_META, x->arena, &there, NULL) != 0;
}

/* Returns whether the fact is one that only the incomplete run has about itself, or one that is
 * made again. */
static bool is_left_out(const struct fact *f)
{
    static const char *const tags[] = {SHARED_TAG_INCOMPLETE, "benchwrap.run_id",     "benchwrap.amends",
                                       "benchwrap.cut",       "benchwrap.experiment", "mlflow.runName"};
    if (strcmp(f->source, "tree") == 0 || f->kind == FACT_ARTIFACT)
        return true;
    if (strcmp(f->source, SHARED_SOURCE) == 0 && (f->kind == FACT_MISSING || f->kind == FACT_WARNING))
        return true;
    for (size_t i = 0; f->kind == FACT_TAG && i < sizeof tags / sizeof *tags; i++)
        if (str_is(f->key, tags[i]))
            return true;
    return false;
}

/* Writes the elements of "references", which judged the run. */
static int complete_write_references(struct made_run *m, const struct json *detail, struct err *err)
{
    const struct json *list = json_get(detail, "references");
    CLEANUP_BUF struct buf text;
    buf_init(&text, 16 << 20);
    for (const struct json *e = json_first(list); e; e = json_next(e)) {
        buf_puts(&text, text.n ? ",\n    " : "\n    ");
        json_print(e, &text);
    }
    return text.n ? make_text(m, FINISH_REFERENCES, buf_text(&text), err) : 0;
}

/* One run on its way. */
struct completing {
    const struct completion_job *x;
    const struct tree_run *run;
    const char *shared;
    struct json *detail;
    struct record before;
    int artifacts;
    struct made_run making;
};

/* Fetches what the client sent with the run on the server, cleaned of secrets, into the spool and
 * records it. Answers other than MLFLOW_FINE have err. */
static enum mlflow_answer complete_fetch(struct completing *g, struct err *err)
{
    struct made_run *m = &g->making;
    uint64_t max = opt_bytes(&g->x->plan->opts, OPTION_ARTIFACT_MAX);
    if (mkdirat(m->spool.dir, "fetched", 0700)) {
        err_sys(err, "spool: cannot make a folder");
        return MLFLOW_REFUSED;
    }
    CLEANUP_FD int folder = place_open(m->spool.dir, "fetched", O_RDONLY | O_DIRECTORY, 0);
    enum mlflow_answer answer = shared_fetch(g->x->server, g->shared, &g->before, max, g->artifacts, folder, err);
    struct shared_into to = {.r = &m->record, .spool = m->spool.dir, .left = max, .redact = &m->redaction.redact};
    if (answer == MLFLOW_FINE && shared_add_fetched(&to, folder, err))
        answer = MLFLOW_REFUSED;
    return answer;
}

/* Begins the run that amends this one, with its facts and links to its artifacts. Returns -1 with
 * err; then it is removed from the spool. */
static int complete_begin_run(struct completing *g, const char *id, struct err *err)
{
    struct arena *a = g->x->arena;
    const struct json *told = json_get(g->detail, "run");
    const struct fact *root = record_find(&g->before, FACT_TAG, "benchwrap.amends");
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    struct make_plan plan = {.id = id,
                             .spool = g->x->plan->spool,
                             .head = {.host = host,
                                      .experiment = json_string(json_pointer(told, "/experiment/name"), g->run->experiment),
                                      .run_name = g->run->name,
                                      .tree = g->x->runs->tree,
                                      .user = g->run->user,
                                      .job = json_string(json_get(told, "job"), ""),
                                      .argv = reparse_argv(json_get(told, "argv"), a),
                                      .start_ms = g->run->start_ms + 1},
                             .options = {.told = true, .host = json_string(json_get(told, "host"), "")}};
    if (make_begin(&g->making, &plan, err))
        return -1;
    struct str profile = record_text(&g->before, FACT_TAG, "benchwrap.profile");
    redaction_end(&g->making.redaction);
    if (redaction_begin_here(&g->making.redaction, str_is(profile, "public"), g->x->env,
                             err)) { /* the client's files are not redacted yet */
        make_drop(&g->making);
        return -1;
    }
    for (const struct fact *f = g->before.first; f; f = f->next)
        if (!is_left_out(f))
            make_fact(&g->making, f);
    int rc = make_link_artifacts(&g->making, &g->before, g->artifacts, false, err);
    g->making.record.source = "recorder";
    record_tag(&g->making.record, "benchwrap.run_id", str_of(id));
    record_tag(&g->making.record, "benchwrap.amends", root ? root->text : str_of(g->run->id));
    if (rc == 0)
        rc = complete_write_references(&g->making, g->detail, err);
    if (rc)
        make_drop(&g->making);
    return rc;
}

/* Makes the run that amends this one, with what the server has. *ret_place is in the arena, and
 * *ret_answer the server's. Returns 0; 1: another process is publishing a run of this id; -1 with
 * err. */
static int complete_make_run(struct completing *g, const char **ret_place, enum mlflow_answer *ret_answer, struct err *err)
{
    struct finished done;
    char id[33];
    completing_id(g->x, g->run, g->shared, id);
    if (complete_begin_run(g, id, err))
        return -1;
    *ret_answer = complete_fetch(g, err);
    if (*ret_answer != MLFLOW_FINE) {
        make_drop(&g->making);
        return -1;
    }
    int64_t start = g->run->start_ms + 1, end = g->run->end_ms > start ? g->run->end_ms : start;
    int rc = make_end(&g->making, g->run->status, NULL, end, &done, err);
    if (rc == 0)
        *ret_place = arena_dup(g->x->arena, done.place, strlen(done.place));
    finished_deinit(&done);
    return rc;
}

/* Adds the parent run of the run, which is in the tree, made by this process or by another. Returns
 * -1 with err. */
static int complete_add_parent(const struct completion_job *x, const struct tree_run *run, struct err *err)
{
    const char *parent = reparse_parent_of(&(struct reparse){.arena = x->arena, .runs = x->runs}, run);
    return parent && reparse_parents_add(x->parents, parent, true, x->arena) ? err_memory(err, "the parent runs") : 0;
}

int complete_run(const struct completion_job *x, const struct tree_run *listed, const char **ret_place, enum mlflow_answer *ret_answer,
                 struct err *err)
{
    struct completing g = {.x = x, .shared = shared_of(x, listed), .artifacts = -1};
    struct tree_run *run;
    const char *problem = NULL;
    char path[256];
    *ret_answer = MLFLOW_FINE;
    err_clear(err);
    if (tree_find(x->runs->root, listed->id, TREE_METRICS, x->arena, &run, err))
        return err->kind == ERR_NONE ? err_set(err, ERR_INPUT, "run %.8s is not there", listed->id)
                                     : err_wrap(err, "run %.8s cannot be read", listed->id);
    g.run = run;
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(run));
    g.detail = runs_detail(x->runs, run, &problem, x->arena);
    g.artifacts = place_open(x->runs->root, path, O_RDONLY | O_DIRECTORY, 0);
    int rc = -1;
    if (!g.shared || !g.detail || g.artifacts < 0)
        err_set(err, ERR_INPUT, "run %.8s: %s", run->id, problem ? problem : "its record cannot be read");
    else if (reparse_recall(&(struct reparse){.arena = x->arena, .runs = x->runs}, run, g.detail, &g.before, err) == 0)
        rc = complete_make_run(&g, ret_place, ret_answer, err);
    if (rc >= 0 && complete_add_parent(x, run, err))
        rc = -1;
    if (g.before.index)
        record_deinit(&g.before);
    json_free(g.detail);
    fs_close(&g.artifacts);
    return rc < 0 ? err_wrap(err, "completing run %.8s", run->id) : rc;
}

void complete_parents(const struct completion_job *x, void (*note)(void *context, const char *text), void *context)
{
    const struct reparse again = {.arena = x->arena, .runs = x->runs, .plan = x->plan, .spool = x->plan->spool};
    struct make_batch batch = {.tree = x->runs->tree, .spool = x->plan->spool};
    struct err err = {0};
    reparse_parents_sort(x->parents);
    for (size_t i = 0; i < x->parents->count; i++) {
        struct tree_run *run;
        struct reparsed got;
        const char *id = x->parents->list[i].id;
        if (tree_find(x->runs->root, id, TREE_META, x->arena, &run, NULL))
            continue; /* the first run of a chain is not here */
        reparse_series(&again, run, &got);
        if (got.result == REPARSE_FAILED)
            note(context,
                 arena_printf(x->arena, "the statistics of the run %.8s cannot be computed again: %s; hint: benchwrap reparse %.8s", id,
                              got.why ? got.why : "", id));
        if (got.result != REPARSE_DONE)
            continue;
        note(context, arena_printf(x->arena, "the run %.8s amends %.8s: its statistics are those of the completed child runs", got.id, id));
        if (make_batch_add(&batch, got.id, &err)) /* the next run, or sync, does it */
            note(context, err.text);
    }
    if (make_batch_settle(&batch, &err))
        note(context, err.text);
    *x->parents = (struct reparse_parents){0};
}
