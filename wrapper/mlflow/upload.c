/* upload.c: which run of the server belongs to a run of the tree: experiments, finding and making a
 * run exactly once, removing its duplicates. */
#include "base/fs.h"
#include "base/json.h"
#include "mlflow/upload_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXPERIMENTS_BYTES = 64 << 20, CREATE_TRIES = 4, FEW = 20 };

int upload_new(struct upload **ret, const struct upload_config *config, struct err *err)
{
    struct upload *u = calloc(1, sizeof *u);
    if (!u)
        return err_memory(err, "an upload");
    u->config = *config;
    u->m = config->server;
    u->careful = config->careful;
    u->state = -1;
    arena_init(&u->arena, EXPERIMENTS_BYTES);
    *ret = u;
    return 0;
}

void upload_free(struct upload *u)
{
    if (!u)
        return;
    fs_close(&u->state);
    arena_deinit(&u->arena);
    free(u);
}

void upload_note(struct upload *u, const char *fmt, ...)
{
    char text[1024];
    CLEANUP_BUF struct buf plain = {0};
    va_list ap;
    if (!u->config.note)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_init(&plain, 4 * sizeof text);
    buf_plain(&plain, str_of(text), sizeof text);
    u->config.note(u->config.context, plain.p ? plain.p : "");
}

/* ---- what a search finds ---- */

/* Returns whether the run has the tag that the filter of a search requested. A server, or a cache
 * before it, that ignores filters must not make benchwrap write into other users' runs. */
static bool upload_has_tag(const struct mlflow_run *run, const char *key, const char *id)
{
    const char *value = mlflow_tag_of(run->data, key);
    return value && strncmp(value, id, 32) == 0 && strlen(run->id) < 65;
}

/* The runs that carry one tag: the smallest id of those that are there, and of those that were
 * deleted. */
struct upload_found {
    const char *id; /* the tag's value */
    char least[65], deleted[65];
    int64_t least_ms, deleted_ms;
    char others[FEW][65]; /* there, and not the smallest */
    size_t count; /* there */
    const char *look_for; /* a server id */
    bool seen; /* … is among those that are there */
};

static bool upload_is_earlier(int64_t ms, const char *id, int64_t than_ms, const char *than)
{
    return !*than || ms < than_ms || (ms == than_ms && strcmp(id, than) < 0);
}

/* Notes a run of the server that has the tag: the earliest one, the others up to FEW, and the
 * earliest deleted one. */
static int found_take(void *context, const struct mlflow_run *run)
{
    struct upload_found *f = context;
    if (!upload_has_tag(run, UPLOAD_TAG_ID, f->id))
        return 0;
    if (strcmp(run->lifecycle, "deleted") == 0) {
        if (upload_is_earlier(run->start_ms, run->id, f->deleted_ms, f->deleted)) {
            snprintf(f->deleted, sizeof f->deleted, "%s", run->id);
            f->deleted_ms = run->start_ms;
        }
        return 0;
    }
    char other[65];
    snprintf(other, sizeof other, "%s", run->id);
    f->seen = f->seen || (f->look_for && strcmp(f->look_for, run->id) == 0);
    if (upload_is_earlier(run->start_ms, run->id, f->least_ms, f->least)) {
        memcpy(other, f->least, sizeof other);
        snprintf(f->least, sizeof f->least, "%s", run->id);
        f->least_ms = run->start_ms;
    }
    if (*other && f->count <= FEW)
        memcpy(f->others[f->count - 1], other, sizeof other);
    f->count++;
    return 0;
}

static enum mlflow_answer upload_search(struct upload *u, const struct upload_experiment *e, const char *id, const char *for_server_id,
                                        struct upload_found *ret, struct err *err)
{
    char filter[100];
    *ret = (struct upload_found){.id = id, .look_for = for_server_id};
    snprintf(filter, sizeof filter, "tags.`" UPLOAD_TAG_ID "` = '%.32s'", id);
    return mlflow_run_search_pages(u->m, e->id, filter, true, FEW, found_take, ret, err);
}

/* Removes the tag of a duplicate, so that no reader counts it, and deletes it. Another uploader may
 * be doing the same. */
static enum mlflow_answer upload_drop_duplicate(struct upload *u, const char *server_id, const char *id, struct err *err)
{
    struct mlflow_batch b;
    batch_begin(&b, u->m, server_id);
    batch_tag(&b, STR(UPLOAD_TAG_DUPLICATE), str_of(id));
    enum mlflow_answer answer = batch_send(&b);
    *err = b.err;
    batch_end(&b);
    if (answer == MLFLOW_FINE)
        answer = mlflow_tag_delete(u->m, server_id, UPLOAD_TAG_ID, err);
    if (answer == MLFLOW_FINE || answer == MLFLOW_REFUSED)
        answer = mlflow_run_delete(u->m, server_id, err);
    return answer == MLFLOW_REFUSED || answer == MLFLOW_ABSENT ? MLFLOW_FINE : answer; /* it is gone already */
}

/* ---- experiments ---- */

struct leftovers {
    char ids[FEW][65], ours[FEW][33];
    size_t count;
};

static int leftover_take(void *context, const struct mlflow_run *run)
{
    struct leftovers *l = context;
    const char *id = mlflow_tag_of(run->data, UPLOAD_TAG_DUPLICATE);
    if (strlen(run->id) < sizeof l->ids[0] && id) {
        snprintf(l->ids[l->count], sizeof l->ids[0], "%s", run->id);
        snprintf(l->ours[l->count], sizeof l->ours[0], "%.32s", id);
        l->count++;
    }
    return l->count == FEW;
}

int upload_one_is_enough(void *context, const struct mlflow_run *run)
{
    (void)run;
    *(bool *)context = true;
    return 1;
}

/* Finds what former uploads left: whether the server has this user's runs at all, children without
 * parents, duplicates whose deletion was interrupted. */
static enum mlflow_answer upload_survey(struct upload *u, struct upload_experiment *e, struct err *err)
{
    struct leftovers left = {.count = 0};
    enum mlflow_answer answer =
        mlflow_run_search_pages(u->m, e->id, "tags.`" UPLOAD_TAG_ID "` LIKE '%'", true, 1, upload_one_is_enough, &e->has_runs, err);
    if (answer == MLFLOW_FINE)
        answer = mlflow_run_search_pages(u->m, e->id, "tags.`" UPLOAD_TAG_DUPLICATE "` LIKE '%'", false, FEW, leftover_take, &left, err);
    for (size_t i = 0; i < left.count && answer == MLFLOW_FINE; i++)
        answer = upload_drop_duplicate(u, left.ids[i], left.ours[i], err);
    if (answer == MLFLOW_FINE && e->has_runs && u->config.together)
        answer = mlflow_run_search_pages(u->m, e->id, "tags.`" UPLOAD_TAG_PARENT "` LIKE '%'", false, 1, upload_one_is_enough,
                                         &e->has_orphans, err);
    return answer;
}

/* Returns in *ret the experiment of this name, which u->arena owns. The first time it is created
 * where it is missing, and its runs are surveyed. */
static enum mlflow_answer upload_open_experiment(struct upload *u, const char *name, struct upload_experiment **ret, struct err *err)
{
    for (*ret = u->experiments; *ret; *ret = (*ret)->next)
        if (strcmp((*ret)->name, name) == 0)
            return MLFLOW_FINE;
    struct upload_experiment *e = ARENA_NEW(&u->arena, struct upload_experiment);
    enum mlflow_answer answer = MLFLOW_REFUSED;
    if (!e || !(e->name = arena_dup(&u->arena, name, strlen(name))))
        err_memory(err, "an upload");
    else
        answer = mlflow_experiment(u->m, name, &u->arena, &e->id, err);
    if (answer == MLFLOW_FINE)
        answer = upload_survey(u, e, err);
    if (answer != MLFLOW_FINE)
        return answer;
    mlflow_experiment_made(u->m, e->id, &e->made_ms, NULL); /* for the notes; they can do without */
    e->next = u->experiments;
    u->experiments = *ret = e;
    return MLFLOW_FINE;
}

/* ---- which server run is it ---- */

static void upload_remember(struct upload *u, const char *id, const char *server_id)
{
    unsigned i = u->next_recent++ % UPLOAD_RECENT;
    snprintf(u->recent[i].id, sizeof u->recent[i].id, "%s", id);
    snprintf(u->recent[i].server_id, sizeof u->recent[i].server_id, "%s", server_id);
}

/* Finds the server's id of one of the tree's runs: from what was uploaded or noted before, else by
 * a request. MLFLOW_ABSENT: it is not there. */
static enum mlflow_answer upload_server_id(struct upload *u, const char *experiment, const char *id, struct arena *a, const char **ret,
                                           struct err *err)
{
    struct upload_experiment *e;
    struct upload_state state;
    struct upload_found f;
    for (unsigned i = 0; i < UPLOAD_RECENT; i++)
        if (strcmp(u->recent[i].id, id) == 0)
            return *ret = u->recent[i].server_id, MLFLOW_FINE;
    upload_state_read(u, id, &state);
    if (state.known == KNOWN_COMPLETE) {
        *ret = arena_dup(a, state.server_id, strlen(state.server_id));
        upload_remember(u, id, state.server_id);
        return MLFLOW_FINE;
    }
    enum mlflow_answer answer = upload_open_experiment(u, experiment, &e, err);
    if (answer == MLFLOW_FINE)
        answer = upload_search(u, e, id, NULL, &f, err);
    if (answer != MLFLOW_FINE)
        return answer;
    if (!f.least[0]) {
        err_set(err, ERR_REMOTE, "the run %.8s is not on the server", id);
        return MLFLOW_ABSENT;
    }
    *ret = arena_dup(a, f.least, strlen(f.least));
    upload_remember(u, id, f.least);
    return MLFLOW_FINE;
}

static bool is_text(const char *is, const char *text)
{
    return is && strcmp(is, text) == 0;
}

enum mlflow_answer upload_mark_corrected(struct upload *u, const char *experiment, const char *id, const char *text, struct err *err)
{
    static const char description[] = "mlflow.note.content";
    struct arena a;
    struct mlflow_run run = {0};
    const char *server_id;
    arena_init(&a, 1 << 20);
    enum mlflow_answer answer = upload_server_id(u, experiment, id, &a, &server_id, err);
    if (answer == MLFLOW_FINE)
        answer = mlflow_run_get(u->m, server_id, &a, &run, err);
    if (answer == MLFLOW_FINE && strcmp(run.lifecycle, "deleted") != 0 && !is_text(mlflow_tag_of(run.data, UPLOAD_TAG_CORRECTED), text)) {
        const char *was = mlflow_tag_of(run.data, description), *marked = mlflow_tag_of(run.data, UPLOAD_TAG_CORRECTED);
        struct mlflow_batch b;
        batch_begin(&b, u->m, server_id);
        batch_tag(&b, STR(UPLOAD_TAG_CORRECTED), str_of(text));
        if (!was || !*was || (marked && is_text(was, marked)))
            batch_tag(&b, str_of(description), str_of(text));
        answer = batch_send(&b);
        *err = b.err;
        batch_end(&b);
    }
    json_free(run.reply);
    arena_deinit(&a);
    return answer == MLFLOW_ABSENT ? MLFLOW_FINE : answer;
}

/* Makes the link to the parent, as a tag: of MLflow's when the parent is there, else a note for
 * later. */
static enum mlflow_answer link_of(struct upload_place *p, const struct upload_run *run, struct upload_experiment *e, struct mlflow_tag *ret,
                                  struct err *err)
{
    const char *server_id;
    enum mlflow_answer answer = upload_server_id(p->u, run->experiment, run->parent, &p->arena, &server_id, err);
    if (answer == MLFLOW_FINE)
        *ret = (struct mlflow_tag){"mlflow.parentRunId", str_of(server_id)};
    else if (answer == MLFLOW_ABSENT) {
        *ret = (struct mlflow_tag){UPLOAD_TAG_PARENT, str_of(run->parent)};
        e->has_orphans = true;
        answer = MLFLOW_FINE;
    }
    return answer;
}

/* Reads a run that the server has, with all it has, and corrects its link to the parent run. */
static enum mlflow_answer take_existing(struct upload_place *p, const struct upload_run *run, struct upload_experiment *e,
                                        const char *server_id, struct err *err)
{
    enum mlflow_answer answer = mlflow_run_get(p->u->m, server_id, &p->arena, &p->run, err);
    struct mlflow_tag link;
    p->fresh = false;
    if (answer != MLFLOW_FINE || !run->parent || !*run->parent)
        return answer;
    answer = link_of(p, run, e, &link, err);
    const char *now = answer == MLFLOW_FINE ? mlflow_tag_of(p->run.data, link.key) : "";
    if (answer == MLFLOW_FINE && (strcmp(link.key, UPLOAD_TAG_PARENT) == 0 || mlflow_tag_of(p->run.data, UPLOAD_TAG_PARENT)))
        p->awaited = run->parent;
    if (answer == MLFLOW_FINE && (!now || !str_is(link.value, now)))
        upload_pair(p, false, link.key, link.value);
    return answer;
}

/* Creates the run on the server, with its id and the link to its parent run. p->awaited: the parent
 * run that the server lacks. */
static enum mlflow_answer upload_create_run(struct upload_place *p, const struct upload_run *run, struct upload_experiment *e,
                                            struct err *err)
{
    struct mlflow_tag tags[2] = {{UPLOAD_TAG_ID, str_of(run->id)}};
    size_t n = 1;
    if (run->parent && *run->parent) {
        enum mlflow_answer answer = link_of(p, run, e, &tags[n++], err);
        if (answer != MLFLOW_FINE)
            return answer;
        p->awaited = strcmp(tags[1].key, UPLOAD_TAG_PARENT) == 0 ? run->parent : NULL;
    }
    p->fresh = true;
    return mlflow_run_create(p->u->m, e->id, run->name, run->user, run->start_ms, tags, n, &p->arena, &p->run, err);
}

/* Creates the run, of whose tag nothing is there. A creation whose reply is lost may have been
 * done, so it is searched before the next. */
static enum mlflow_answer upload_create_once(struct upload_place *p, const struct upload_run *run, struct upload_experiment *e,
                                             struct err *err)
{
    struct upload_found f;
    enum mlflow_answer answer = MLFLOW_LATER;
    for (int i = 0; i < CREATE_TRIES && answer == MLFLOW_LATER; i++) {
        answer = upload_create_run(p, run, e, err);
        if (answer == MLFLOW_FINE && !p->u->careful)
            return answer;
        if (answer != MLFLOW_FINE && answer != MLFLOW_LATER)
            return answer;
        p->lost = p->lost || answer == MLFLOW_LATER;
        enum mlflow_answer looked = upload_search(p->u, e, run->id, p->run.id, &f, err);
        if (looked != MLFLOW_FINE)
            return looked;
        if (answer == MLFLOW_FINE && f.least[0] &&
            strcmp(f.least, p->run.id) != 0) { /* another process uploaded it concurrently: the run with the smallest id is kept */
            answer = upload_drop_duplicate(p->u, p->run.id, run->id, err);
            if (answer != MLFLOW_FINE)
                return answer;
            json_free(p->run.reply);
            p->run.reply = NULL;
            return take_existing(p, run, e, f.least, err);
        }
        p->doubled = f.count > 1;
        if (answer == MLFLOW_LATER && f.least[0])
            return take_existing(p, run, e, f.least, err);
    }
    return answer;
}

/* Reads a run of another client. MLFLOW_ABSENT: it is not on this server. */
static enum mlflow_answer open_foreign(struct upload_place *p, const char *server_run, struct err *err)
{
    enum mlflow_answer answer = mlflow_run_get(p->u->m, server_run, &p->arena, &p->run, err);
    if (answer != MLFLOW_FINE)
        return answer;
    p->foreign = true;
    p->batch.run = p->run.id;
    if (strcmp(p->run.lifecycle, "deleted") != 0)
        return MLFLOW_FINE;
    err_set(err, ERR_REMOTE, "cannot append to the run %.64s: it is deleted on the server", server_run);
    return MLFLOW_REFUSED;
}

/* Returns MLFLOW_REFUSED for MLFLOW_ABSENT. The reply to a search or to the creation of a run is no
 * statement about one run: a server that replies "not there" to everything causes no deletion. */
static enum mlflow_answer not_of_the_run(enum mlflow_answer answer)
{
    return answer == MLFLOW_ABSENT ? MLFLOW_REFUSED : answer;
}

enum mlflow_answer upload_open(struct upload *u, const struct upload_run *run, struct upload_place *ret, struct err *err)
{
    struct upload_experiment *e;
    struct upload_found f = {.count = 0};
    *ret = (struct upload_place){.u = u};
    snprintf(ret->id, sizeof ret->id, "%s", run->id);
    upload_place_init(ret);
    if (run->server_run) {
        enum mlflow_answer there = open_foreign(ret, run->server_run, err);
        if (there != MLFLOW_ABSENT)
            return there;
    }
    enum mlflow_answer answer = upload_open_experiment(u, run->experiment, &e, err);
    if (answer == MLFLOW_FINE)
        ret->experiment = e;
    if (answer == MLFLOW_FINE && (e->has_runs || u->careful))
        answer = upload_search(u, e, run->id, NULL, &f, err);
    if (answer != MLFLOW_FINE)
        return not_of_the_run(answer);
    if (!f.least[0] && f.deleted[0]) {
        if (!u->config.restore) {
            err_set(err, ERR_REMOTE, "the run %.8s was deleted on the server", run->id);
            return MLFLOW_ABSENT;
        }
        answer = mlflow_run_restore(u->m, f.deleted, err);
        memcpy(f.least, f.deleted, sizeof f.least);
    }
    if (answer == MLFLOW_FINE)
        answer = f.least[0] ? take_existing(ret, run, e, f.least, err) : upload_create_once(ret, run, e, err);
    if (answer != MLFLOW_FINE)
        return not_of_the_run(answer);
    ret->doubled = ret->doubled || f.count > 1;
    ret->batch.run = ret->run.id;
    upload_remember(u, run->id, ret->run.id);
    return MLFLOW_FINE;
}

enum mlflow_answer upload_peek(struct upload *u, const struct upload_run *run, const char *stamp, bool *ret_marked, char server_id[65],
                               struct err *err)
{
    struct upload_found f = {0};
    struct upload_experiment e = {.name = run->experiment};
    struct upload_place p = {.u = u};
    *ret_marked = false;
    upload_place_init(&p);
    enum mlflow_answer answer = mlflow_experiment_find(u->m, run->experiment, &p.arena, &e.id, err);
    if (answer == MLFLOW_FINE)
        answer = upload_search(u, &e, run->id, NULL, &f, err);
    if (answer == MLFLOW_FINE && f.least[0])
        answer = mlflow_run_get(u->m, f.least, &p.arena, &p.run, err);
    else if (answer == MLFLOW_FINE)
        answer = MLFLOW_ABSENT;
    if (answer == MLFLOW_FINE || (answer == MLFLOW_ABSENT && e.id))
        snprintf(server_id, 65, "%s", f.least[0] ? f.least : f.deleted);
    const char *mark = answer == MLFLOW_FINE ? mlflow_tag_of(p.run.data, UPLOAD_TAG_SYNCED) : NULL;
    *ret_marked = mark && stamp[0] && strcmp(mark, stamp) == 0;
    upload_close(&p);
    return answer;
}

enum mlflow_answer upload_is_alone(struct upload *u, const struct upload_experiment *e, const char *id, const char *server_id, bool *ret,
                                   struct err *err)
{
    char filter[300];
    bool others = false;
    snprintf(filter, sizeof filter, "tags.`" UPLOAD_TAG_ID "` = '%.32s' and attributes.run_id != '%.64s'", id, server_id);
    enum mlflow_answer answer = mlflow_run_search_pages(u->m, e->id, filter, false, 1, upload_one_is_enough, &others, err);
    *ret = !others;
    return answer;
}

enum mlflow_answer upload_settle(struct upload_place *p, bool *ret_moved, struct err *err)
{
    struct upload_found f;
    bool alone;
    *ret_moved = false;
    enum mlflow_answer answer = upload_is_alone(p->u, p->experiment, p->id, p->run.id, &alone, err);
    if (answer != MLFLOW_FINE || alone)
        return answer;
    answer = upload_search(p->u, p->experiment, p->id, p->run.id, &f, err);
    if (answer != MLFLOW_FINE || (f.count == 1 && f.seen))
        return answer;
    p->u->careful = true; /* other processes are uploading: from now on, search earlier */
    if (!f.seen || strcmp(f.least, p->run.id) != 0) {
        *ret_moved = true;
        return f.seen ? upload_drop_duplicate(p->u, p->run.id, p->id, err) : MLFLOW_FINE;
    }
    for (size_t i = 0; i + 1 < f.count && i < FEW && answer == MLFLOW_FINE; i++)
        answer = upload_drop_duplicate(p->u, f.others[i], p->id, err);
    return answer;
}

/* ---- children that came before their parent ---- */

struct orphans {
    const char *parent; /* its id in the tree */
    char ids[FEW][65];
    size_t count;
};

static int orphan_take(void *context, const struct mlflow_run *run)
{
    struct orphans *o = context;
    if (upload_has_tag(run, UPLOAD_TAG_PARENT, o->parent))
        snprintf(o->ids[o->count++], sizeof o->ids[0], "%s", run->id);
    return o->count == FEW;
}

/* Replaces the note in the child's run by the parent. */
static enum mlflow_answer link_child(struct upload *u, const char *child, const char *parent, struct err *err)
{
    struct mlflow_batch b;
    batch_begin(&b, u->m, child);
    batch_tag(&b, STR("mlflow.parentRunId"), str_of(parent));
    enum mlflow_answer answer = batch_send(&b);
    *err = b.err;
    batch_end(&b);
    return answer == MLFLOW_FINE ? mlflow_tag_delete(u->m, child, UPLOAD_TAG_PARENT, err) : answer;
}

/* Another process may have made the parent, and searched its children, before the child's note was there: the child searches once more, behind its
 * note. The parent searches behind its own making, so that one of both finds the other. */
enum mlflow_answer upload_link_awaited(struct upload_place *p, const struct upload_run *run, struct err *err)
{
    const char *server_id;
    enum mlflow_answer answer = upload_server_id(p->u, run->experiment, p->awaited, &p->arena, &server_id, err);
    if (answer == MLFLOW_FINE)
        return link_child(p->u, p->run.id, server_id, err);
    return answer == MLFLOW_ABSENT ? MLFLOW_FINE : answer;
}

enum mlflow_answer upload_adopt(struct upload_place *p, struct err *err)
{
    char filter[100];
    snprintf(filter, sizeof filter, "tags.`" UPLOAD_TAG_PARENT "` = '%.32s'", p->id);
    for (;;) {
        struct orphans o = {.parent = p->id};
        enum mlflow_answer answer = mlflow_run_search_pages(p->u->m, p->experiment->id, filter, false, FEW, orphan_take, &o, err);
        for (size_t i = 0; i < o.count && answer == MLFLOW_FINE; i++)
            answer = link_child(p->u, o.ids[i], p->run.id, err);
        if (answer != MLFLOW_FINE || o.count < FEW)
            return answer;
    }
}
