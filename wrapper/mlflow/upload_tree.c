/* upload_tree.c: a published run made equal on the server: what it lacks is sent, status and end last. */
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "mlflow/upload_parts.h"
#include "mlruns-format/headline.h"
#include "mlruns-format/key.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUN_BYTES = 1 << 30, MOVES_MAX = 5 };

/* One run on its way. */
struct sending {
    struct upload *u;
    struct upload_place *place;
    struct upload_experiment *experiment; /* NULL: another client's run, whose experiment is not known */
    struct tree_run *run;
    int root, dir, experiment_dir;
    struct upload_file *files;
    const char *stamp;
    struct upload_result *result;
    struct arena *arena;
};

static const struct json *upload_find_entry(const struct json *data, const char *list, const char *key)
{
    for (const struct json *e = json_first(json_get(data, list)); e; e = json_next(e))
        if (strcmp(json_string(json_get(e, "key"), ""), key) == 0)
            return e;
    return NULL;
}

static const struct tree_entry *upload_find_fact(const struct tree_entry *list, const char *key)
{
    while (list && strcmp(list->key, key) != 0)
        list = list->next;
    return list;
}

static const char *tag_text(const struct tree_run *run, const char *key, struct arena *a)
{
    const struct tree_entry *e = upload_find_fact(run->tags, key);
    return e ? arena_dup(a, e->value.p, e->value.n) : NULL;
}

/* ---- params and tags ---- */

bool upload_same_text(const char *there, struct str ours)
{
    size_t n = strlen(there);
    return str_is(ours, there) || (n >= 5999 && n < ours.n && memcmp(there, ours.p, n) == 0);
}

static bool is_own_tag(const char *key)
{
    return strcmp(key, "mlflow.parentRunId") == 0 || strcmp(key, UPLOAD_TAG_ID) == 0 || strcmp(key, UPLOAD_TAG_SYNCED) == 0 ||
           strcmp(key, UPLOAD_TAG_PARENT) == 0 || strcmp(key, UPLOAD_TAG_CUT) == 0 || strcmp(key, UPLOAD_TAG_CORRECTED) == 0;
}

/* Returns whether it is the very run that the program's own client logged to (--share-run). What
 * the tree has of the client's came from there. */
static bool is_shared(const struct sending *s)
{
    const char *id = tag_text(s->run, UPLOAD_TAG_SHARED, s->arena);
    return id && strcmp(id, s->place->run.id) == 0;
}

/* Reports what was sent of this run. Of several that were appended to one run, each is reported by
 * itself. */
static const char *upload_mark_of(const struct sending *s)
{
    return s->place->foreign ? arena_printf(s->arena, UPLOAD_TAG_SYNCED ".%.8s", s->run->id) : UPLOAD_TAG_SYNCED;
}

/* Adds the params or tags that the server lacks, or has otherwise, to the batch. Params there
 * cannot be changed: a different value is reported. */
static void send_texts(struct sending *s, bool param)
{
    struct upload_place *p = s->place;
    for (const struct tree_entry *e = param ? s->run->params : s->run->tags; e; e = e->next) {
        const struct json *there = p->fresh ? NULL : upload_find_entry(p->run.data, param ? "params" : "tags", e->key);
        const char *text = json_string(json_get(there, "value"), "");
        if (!param && p->foreign && upload_tag_stays(e->key))
            continue;
        if (!param && (is_own_tag(e->key) || (p->fresh && strcmp(e->key, "mlflow.runName") == 0 && str_is(e->value, p->run.name))))
            continue;
        if (there && upload_same_text(text, e->value)) {
            if (!str_is(e->value, text))
                upload_note_cut(p, param, str_of(e->key));
            continue;
        }
        if (there && param) {
            if (is_shared(s)) /* the client's, from which a secret may have been left out here */
                continue;
            upload_note(s->u, "run %.8s: the param %.80s is \"%.60s\" on the server and \"%.60s\" here; params there cannot be changed",
                        s->run->id, e->key, text, e->value.n ? e->value.p : "");
            continue;
        }
        upload_pair(p, param, e->key, e->value);
        *(param ? &s->result->params : &s->result->tags) += 1;
    }
}

/* Notes for the server which values were cut when the run was written, which the tree names as
 * "param KEY, tag KEY". */
static void send_cut(struct sending *s)
{
    struct upload_place *p = s->place;
    const struct tree_entry *e = upload_find_fact(s->run->tags, UPLOAD_TAG_CUT);
    const struct json *there = p->fresh ? NULL : upload_find_entry(p->run.data, "tags", UPLOAD_TAG_CUT);
    for (struct str rest = e ? e->value : (struct str){0}; rest.n;) {
        struct str key = str_trim(str_cut(&rest, ',')), kind = str_cut(&key, ' ');
        if (key.n)
            upload_note_cut(p, str_is(kind, "param"), key);
    }
    if (there && str_is(buf_text(&p->cut), json_string(json_get(there, "value"), "")))
        p->cut_told = p->cut.n;
}

/* ---- metrics ---- */

/* Orders values. SQL stores hold the largest number for infinity. NaN comes last, so that there is
 * one order. */
static int value_order(double a, double b)
{
    a = isinf(a) ? copysign(1.7976931348623157e308, a) : a;
    b = isinf(b) ? copysign(1.7976931348623157e308, b) : b;
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int upload_order_samples(const void *a, const void *b)
{
    const struct tree_sample *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? -1 : 1;
    return value_order(x->value, y->value);
}

/* Orders samples by step and value, without their times: the tree separates samples of one time. */
static int timeless_order(const void *a, const void *b)
{
    const struct tree_sample *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return value_order(x->value, y->value);
}

/* Returns whether the server has all samples of the metric. It shows the latest sample of each
 * metric: with one sample that is all there is to know. */
static bool upload_has_metric(const struct tree_entry *e, const struct json *latest)
{
    struct tree_sample there = {mlflow_integer(json_get(latest, "timestamp")), mlflow_integer(json_get(latest, "step")),
                                mlflow_number(json_get(latest, "value"))};
    return e->count == 1 && upload_order_samples(&e->samples[0], &there) == 0;
}

static void send_sample(struct sending *s, const char *key, const struct tree_sample *sample)
{
    if (sample->time_ms < 0) {
        upload_note(s->u, "run %.8s: a sample of %.80s has a time before 1970; the server does not accept it", s->run->id, key);
        return;
    }
    upload_sample(s->place, key, sample);
    s->result->metrics++;
}

/* Adds the samples that the server lacks to the batch. The samples there are fetched only where the
 * latest one differs. */
static enum mlflow_answer send_series(struct sending *s, const struct tree_entry *e, struct err *err)
{
    struct mlflow_samples h = {0};
    const char *key = upload_metric_key(s->u, e->key, s->arena);
    const struct json *latest = s->place->fresh ? NULL : upload_find_entry(s->place->run.data, "metrics", key);
    enum mlflow_answer answer = MLFLOW_FINE;
    if (latest && upload_has_metric(e, latest))
        return answer;
    if (latest)
        answer = mlflow_history(s->u->m, s->place->run.id, key, mlflow_samples_add, &h, err);
    if (h.failed) {
        err_memory(err, "the history of %s", e->key);
        answer = MLFLOW_REFUSED;
    }
    int (*order)(const void *, const void *) = is_shared(s) ? timeless_order : upload_order_samples;
    if (h.count)
        qsort(h.at, h.count, sizeof *h.at, order);
    for (size_t i = 0; i < e->count && answer == MLFLOW_FINE; i++)
        if (!h.count || !bsearch(&e->samples[i], h.at, h.count, sizeof *h.at, order))
            send_sample(s, e->key, &e->samples[i]);
    free(h.at);
    return answer;
}

static const char *medians_wanted(const struct sending *s)
{
    const struct upload_config *c = &s->u->config;
    return c->medians ? c->medians(c->context, s->run->experiment) : "";
}

/* Writes the stamp of what is sent. It changes with the medians that the caller requests, so that
 * the run is sent again. */
static void make_stamp(const struct sending *s, char ret[65])
{
    size_t n = strlen(medians_wanted(s));
    upload_stamp(s->dir, s->run, s->files, ret);
    if (ret[0] && n)
        ret[0] = (char)('m' + n % 12);
}

/* Returns the metric that has the value of a headline metric in MLflow's table. */
static const char *shown_column(const struct sending *s, const struct folder *tree, const char *key)
{
    for (struct str rest = str_of(medians_wanted(s)); rest.p && !key[key_stem(key)];)
        if (str_is(str_cut(&rest, '\n'), key)) {
            const char *column = arena_printf(s->arena, "%s.median", key);
            return column ? column : key;
        }
    return headline_column(tree, s->run, key, s->arena);
}

/* Sends headline metrics of which `ls` shows the median as their own metric: MLflow's table shows
 * the last sample of a metric. */
static void send_medians(struct sending *s)
{
    struct headline headlines[HEADLINES_MAX];
    const struct folder tree = folder_disk(s->root);
    size_t n = headlines_of(&tree, s->run, HEADLINES_MAX, s->arena, headlines);
    if (!n && headline_value(&tree, s->run, "run.wall_s", s->arena, &headlines[0].value)) {
        headlines[0].key = "run.wall_s"; /* a table without other metrics has it */
        n = 1;
    }
    for (size_t i = 0; i < n; i++) {
        const struct headline *h = &headlines[i];
        const char *column = shown_column(s, &tree, h->key);
        const struct tree_entry *of = upload_find_fact(s->run->metrics, h->key);
        if (!of || !of->count || upload_find_fact(s->run->metrics, column) ||
            (!s->place->fresh && upload_find_entry(s->place->run.data, "metrics", column)))
            continue;
        send_sample(s, column, &(struct tree_sample){tree_entry_latest(of)->time_ms, 0, h->value});
    }
}

/* Deletes the tags that annotations remove. */
static enum mlflow_answer delete_removed_tags(struct sending *s, struct err *err)
{
    const struct upload_place *p = s->place;
    for (const struct tree_entry *e = p->fresh || s->u->config.dry ? NULL : s->run->annotated; e; e = e->next) {
        if (e->value.p || is_own_tag(e->key) || (p->foreign && upload_tag_stays(e->key)) || !upload_find_entry(p->run.data, "tags", e->key))
            continue;
        enum mlflow_answer answer = mlflow_tag_delete(s->u->m, p->run.id, e->key, err);
        if (answer != MLFLOW_FINE)
            return answer;
        s->result->tags++;
    }
    return MLFLOW_FINE;
}

/* Sends params, tags and metrics that the server lacks, and removes the tags that the run no longer
 * has. */
static enum mlflow_answer send_facts(struct sending *s, struct err *err)
{
    send_texts(s, true);
    send_texts(s, false);
    send_cut(s);
    enum mlflow_answer removed = delete_removed_tags(s, err);
    if (removed != MLFLOW_FINE)
        return removed;
    for (const struct tree_entry *e = s->run->metrics; e; e = e->next) {
        enum mlflow_answer answer = send_series(s, e, err);
        if (answer != MLFLOW_FINE)
            return answer;
    }
    if (s->u->config.machine_apart)
        send_medians(s);
    if (s->stamp[0])
        upload_pair(s->place, false, upload_mark_of(s), str_of(s->stamp));
    return upload_flush(s->place, err);
}

/* ---- files ---- */

static int file_there(void *context, const char *path, int64_t size)
{
    for (struct upload_file *f = context; f; f = f->next)
        if ((int64_t)f->size == size && strcmp(f->name, path) == 0)
            f->there = true;
    return 0;
}

/* Marks pairs of a client's file, stored as mlflow/NAME with --share-run, and benchwrap's file NAME
 * as not on the server. There the client's file has that name, and an equal size proves nothing. */
static void send_namesakes(struct sending *s)
{
    for (struct upload_file *f = s->files; f; f = f->next)
        for (struct upload_file *g = s->files; g && strncmp(f->name, "mlflow/", 7) == 0; g = g->next)
            if (strcmp(g->name, f->name + 7) == 0)
                f->there = g->there = false;
}

/* Sends the artifacts that the server lacks by name and size, or stores them by config.place.
 * Returns the first answer that is not MLFLOW_FINE, with err. */
static enum mlflow_answer send_files(struct sending *s, struct err *err)
{
    struct upload_place *p = s->place;
    enum mlflow_answer answer = MLFLOW_FINE;
    if (s->u->config.place)
        return s->u->config.place(s->u->config.context, &p->run, s->dir, err) ? MLFLOW_REFUSED : MLFLOW_FINE;
    for (struct upload_file *f = s->files; f; f = f->next) {
        f->there = false;
        if (p->foreign) /* its owner may have files of these names */
            f->name = arena_printf(s->arena, "benchwrap/%.8s/%s", s->run->id, f->name);
    }
    if (s->arena->failed) {
        err_memory(err, "the names of files");
        return MLFLOW_REFUSED;
    }
    if (!p->fresh && s->files)
        answer = mlflow_artifact_list(s->u->m, &p->run, "", file_there, s->files, err);
    if (is_shared(s))
        send_namesakes(s);
    for (struct upload_file *f = s->files; f && answer == MLFLOW_FINE; f = f->next) {
        if (f->there)
            continue;
        char path[8192];
        snprintf(path, sizeof path, "artifacts/%s", f->path);
        CLEANUP_FD int fd = place_open(s->dir, path, O_RDONLY, 0);
        if (fd < 0) {
            err_sys(err, "cannot read %s", path);
            return MLFLOW_REFUSED;
        }
        answer = mlflow_artifact_put(s->u->m, &p->run, f->name, fd, f->size, err);
        if (answer == MLFLOW_FINE) {
            s->result->files++;
            s->result->bytes += f->size;
        }
    }
    return answer;
}

/* ---- all of a run ---- */

static bool is_marked(const struct sending *s)
{
    const struct json *mark = s->place->fresh ? NULL : upload_find_entry(s->place->run.data, "tags", upload_mark_of(s));
    return mark && s->stamp[0] && strcmp(json_string(json_get(mark, "value"), ""), s->stamp) == 0;
}

static enum mlflow_answer send_end(struct sending *s, struct err *err)
{
    const struct mlflow_run *there = &s->place->run;
    const char *status = (int)s->run->status == 2 ? "SCHEDULED" : record_status_name(s->run->status);
    bool same = !s->place->fresh && strcmp(there->status, status) == 0 && there->end_ms == s->run->end_ms;
    if (same || (s->run->status == RUN_RUNNING && !s->run->end_ms && strcmp(there->status, "RUNNING") == 0))
        return MLFLOW_FINE;
    s->result->tags += !s->place->fresh; /* something was missing, if only its end */
    return upload_status(s->place, s->run->status, s->run->end_ms, err);
}

/* Sends everything that the server's run lacks. */
static enum mlflow_answer upload_complete(struct sending *s, const struct upload_run *run, struct err *err)
{
    enum mlflow_answer answer = MLFLOW_FINE;
    if (!is_marked(s)) {
        answer = send_files(s, err);
        if (answer == MLFLOW_FINE)
            answer = upload_inputs(s->place, s->experiment_dir, s->run->id, err);
        if (answer == MLFLOW_FINE)
            answer = send_facts(s, err);
    }
    if (answer == MLFLOW_FINE) /* a parent's link may wait there alone */
        answer = upload_flush(s->place, err);
    if (answer == MLFLOW_FINE && !s->place->foreign)
        answer = send_end(s, err);
    if (answer == MLFLOW_FINE && s->place->awaited)
        answer = upload_link_awaited(s->place, run, err);
    if (answer == MLFLOW_FINE && !s->place->foreign && (s->place->experiment->has_orphans || !s->u->config.together))
        answer = upload_adopt(s->place, err);
    return answer;
}

/* Checks whether the server's own run, by which a correction completed a run, or from which it was
 * pulled, is still there: that one has all of this. */
static enum mlflow_answer look_at_completed(struct sending *s, bool *ret_there, struct err *err)
{
    const char *shared = tag_text(s->run, UPLOAD_TAG_AMENDS, s->arena) ? tag_text(s->run, UPLOAD_TAG_SHARED, s->arena) : NULL,
               *id = shared ? shared : tag_text(s->run, UPLOAD_TAG_PULLED, s->arena);
    struct mlflow_run run = {0};
    *ret_there = false;
    if (!id)
        return MLFLOW_FINE;
    enum mlflow_answer answer = mlflow_run_get(s->u->m, id, s->arena, &run, err);
    *ret_there = answer == MLFLOW_FINE && strcmp(run.lifecycle, "deleted") != 0;
    if (*ret_there) {
        snprintf(s->result->server_id, sizeof s->result->server_id, "%s", run.id);
        snprintf(s->result->experiment_id, sizeof s->result->experiment_id, "%s", run.experiment);
    }
    json_free(run.reply);
    return answer == MLFLOW_ABSENT ? MLFLOW_FINE : answer;
}

/* Makes one round: the run is found or made, completed, and its duplicates are searched. */
static enum mlflow_answer upload_run_once(struct sending *s, bool *ret_moved, bool *lost, bool *ret_waits, struct err *err)
{
    struct upload_place place;
    const struct tree_run *t = s->run;
    struct upload_run run = {.id = t->id,
                             .experiment = t->experiment,
                             .name = *t->name ? t->name : t->id,
                             .user = t->user,
                             .parent = tag_text(t, "mlflow.parentRunId", s->arena),
                             .server_run = tag_text(t, UPLOAD_TAG_SERVER_RUN, s->arena),
                             .start_ms = t->start_ms};
    enum mlflow_answer answer = upload_open(s->u, &run, &place, err);
    s->place = &place;
    s->experiment = place.experiment;
    if (answer == MLFLOW_FINE) {
        bool marked = is_marked(s);
        s->result->made = s->result->made || place.fresh;
        snprintf(s->result->server_id, sizeof s->result->server_id, "%s", place.run.id);
        snprintf(s->result->experiment_id, sizeof s->result->experiment_id, "%s", place.run.experiment);
        answer = upload_complete(s, &run, err);
        bool unsettled = (!marked || place.doubled) && !place.foreign;
        if (answer == MLFLOW_FINE && unsettled && s->stamp[0] && upload_may_wait(s->u, &place))
            *ret_waits = true;
        else if (answer == MLFLOW_FINE && unsettled)
            answer = upload_settle(&place, ret_moved, err);
        else if (!place.foreign &&
                 (answer == MLFLOW_REFUSED || answer == MLFLOW_ABSENT)) { /* deleted by another process, as a duplicate? */
            struct err why = {0};
            if (upload_settle(&place, ret_moved, &why) == MLFLOW_FINE && *ret_moved)
                answer = MLFLOW_FINE;
        }
    }
    *lost = *lost || place.lost;
    upload_close(&place);
    s->place = NULL;
    return answer;
}

/* Stores how the upload of a run ended, for the caller and in the notes of the spool. lost: the reply to a
 * creation was lost, so what it made may come to light later; waits: its duplicates are searched later. A run that was
 * deleted on the server (MLFLOW_ABSENT, and no server_id) is a result, 0. Other answers than MLFLOW_FINE: -1 with err. */
static int upload_set_result(struct sending *s, const char *id, enum mlflow_answer answer, bool lost, bool waits, struct err *err)
{
    struct upload_result *result = s->result;
    struct upload_state state = {.known = lost ? KNOWN_AGAIN : KNOWN_COMPLETE};
    result->answer = answer;
    if (s->experiment) {
        snprintf(state.experiment, sizeof state.experiment, "%s", s->experiment->id);
        state.experiment_ms = s->experiment->made_ms;
    }
    if (answer == MLFLOW_ABSENT && !result->server_id[0]) {
        state.known = KNOWN_DELETED;
        upload_state_write(s->u, id, &state);
        result->outcome = UPLOAD_DELETED;
        return 0;
    }
    if (answer != MLFLOW_FINE) {
        result->outcome = UPLOAD_FAILED;
        return err_wrap(err, "run %.8s", id);
    }
    snprintf(state.server_id, sizeof state.server_id, "%s", result->server_id);
    snprintf(state.stamp, sizeof state.stamp, "%s", s->stamp);
    if (waits)
        upload_wait(s->u, s->experiment, id, s->run->start_ms, &state);
    else if (s->stamp[0])
        upload_state_write(s->u, id, &state);
    bool sent = result->made || result->params || result->metrics || result->tags || result->files;
    result->outcome = sent ? UPLOAD_SENT : UPLOAD_THERE;
    return 0;
}

/* Opens the folder of the run's experiment; root: the folder mlruns, run->path:
 * "mlruns/<exp>/<run>". Returns a descriptor that the caller closes, or -1 with errno, also for a
 * symbolic link. */
static int open_experiment(int root, const struct tree_run *run)
{
    char folder[128];
    const char *from = strchr(run->path, '/');
    size_t n = from ? strcspn(from + 1, "/") : 0;
    snprintf(folder, sizeof folder, "%.*s", (int)n, from ? from + 1 : "");
    return openat(root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* Reads the run into s->run and its list of files, in the arena; tags_alone: only the tags. Returns
 * -1 with err, also for a damaged run. */
static int upload_read_run(struct sending *s, const struct tree_run *run, bool tags_alone, struct err *err)
{
    unsigned what = tags_alone ? TREE_TAGS : TREE_PARAMS | TREE_METRICS | TREE_TAGS;
    /* A server has all samples, as it has of a run that was sent live; a view of the tree has the tree's points. */
    if (!tags_alone && !s->u->config.place)
        what |= TREE_COMPLETE;
    if (tree_read(s->experiment_dir, run, what, s->arena, &s->run, err))
        return -1;
    if (s->run->problem)
        return err_set(err, ERR_INPUT, "%s: %s", run->path, s->run->problem);
    return tags_alone ? 0 : upload_files(s->u, s->dir, run->id, s->arena, &s->files, err);
}

bool upload_is_known(struct upload *u, int root, const struct tree_run *run)
{
    struct upload_state state;
    char stamp[65];
    if (u->config.restore) /* what was complete may have been deleted since: query the server */
        return false;
    upload_state_read(u, run->id, &state);
    if (state.known == KNOWN_DELETED)
        return true;
    if (state.known != KNOWN_COMPLETE)
        return false;
    CLEANUP_FD int experiment = open_experiment(root, run);
    CLEANUP_FD int dir = experiment < 0 ? -1 : openat(experiment, run->id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0)
        return false;
    struct arena a;
    struct err err = {0};
    arena_init(&a, RUN_BYTES);
    __typeof__(u->config.note) note = u->config.note;
    struct sending s = {.u = u, .dir = dir, .experiment_dir = experiment, .arena = &a};
    u->config.note = NULL; /* this was reported when it was sent */
    bool same = upload_read_run(&s, run, upload_has_manifest(dir), &err) == 0;
    u->config.note = note;
    if (same)
        make_stamp(&s, stamp);
    same = same && stamp[0] && strcmp(stamp, state.stamp) == 0;
    arena_deinit(&a);
    return same;
}

/* Determines the outcome without changing anything. */
static int upload_preview(struct upload *u, const struct tree_run *run, const char *stamp, struct upload_result *ret, struct err *err)
{
    bool marked = false;
    struct upload_run who = {.id = run->id, .experiment = run->experiment};
    enum mlflow_answer answer = upload_peek(u, &who, stamp, &marked, ret->server_id, err);
    ret->answer = answer;
    ret->made = answer == MLFLOW_ABSENT && !ret->server_id[0];
    if (answer == MLFLOW_ABSENT)
        ret->outcome = ret->made || u->config.restore ? UPLOAD_SENT : UPLOAD_DELETED;
    else
        ret->outcome = answer != MLFLOW_FINE ? UPLOAD_FAILED : marked ? UPLOAD_THERE : UPLOAD_SENT;
    return ret->outcome == UPLOAD_FAILED ? -1 : 0;
}

int upload_tree_run(struct upload *u, int root, const struct tree_run *run, struct upload_result *ret, struct err *err)
{
    struct arena a;
    char stamp[65];
    *ret = (struct upload_result){.outcome = UPLOAD_DAMAGED};
    CLEANUP_FD int experiment = open_experiment(root, run);
    CLEANUP_FD int dir = experiment < 0 ? -1 : openat(experiment, run->id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0)
        return err_sys(err, "cannot open %s", run->path);
    arena_init(&a, RUN_BYTES);
    struct sending s = {.u = u, .root = root, .dir = dir, .experiment_dir = experiment, .stamp = stamp, .result = ret, .arena = &a};
    if (upload_read_run(&s, run, false, err)) {
        arena_deinit(&a);
        return err_wrap(err, "run %.8s", run->id);
    }
    make_stamp(&s, stamp);
    bool moved = true, lost = false, waits = false, completed;
    enum mlflow_answer answer = look_at_completed(&s, &completed, err);
    if (u->config.dry) {
        arena_deinit(&a);
        ret->outcome = UPLOAD_THERE;
        return completed ? 0 : upload_preview(u, run, stamp, ret, err);
    }
    if (completed)
        moved = false;
    for (int i = 0; i < MOVES_MAX && moved && answer == MLFLOW_FINE; i++)
        moved = false, answer = upload_run_once(&s, &moved, &lost, &waits, err);
    if (moved && answer == MLFLOW_FINE) {
        err_set(err, ERR_REMOTE,
                "in each of %d tries the server listed an earlier copy of the run, or no longer listed this one: other processes "
                "may upload it; try again later",
                MOVES_MAX);
        answer = MLFLOW_LATER;
    }
    int rc = upload_set_result(&s, run->id, answer, lost, waits, err);
    arena_deinit(&a);
    return rc;
}
