/* shared.c: the private store of the program's own MLflow client, and what it logged as facts of the run; see shared.h. */
#include "run/shared.h"

#include "base/fs.h"
#include "base/http.h"
#include "base/place.h"
#include "mlruns-format/key.h"
#include "run/shared_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUN_BYTES = 256 << 20 };

/* ---- the store ---- */

static void shared_folder_name(const char *id, char ret[64])
{
    snprintf(ret, 64, SPOOL_SHARED "%.32s", id);
}

int shared_open(const struct spool *s, const char *id, bool make)
{
    char name[64];
    shared_folder_name(id, name);
    if (make)
        return place_make_folder(s->root, name, 0700);
    return place_open(s->root, name, O_RDONLY | O_DIRECTORY, 0);
}

/* Returns "file:///…" of the folder, with `below` after the path, in the arena. NULL: its path is
 * not known, or out of memory. */
static const char *file_uri(int folder, const char *below, struct arena *a)
{
    char link[64], path[4096];
    struct buf uri CLEANUP_BUF;
    buf_init(&uri, 32 << 10);
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return NULL;
    path[n] = 0;
    buf_puts(&uri, "file://");
    http_escape(&uri, str_of(path), true);
    buf_puts(&uri, below);
    return uri.failed ? NULL : arena_dup(a, uri.p, uri.n);
}

static void store_put_line(struct buf *to, const char *key, const char *value)
{
    buf_printf(to, "%s: ", key);
    buf_json(to, str_of(value));
    buf_putc(to, '\n');
}

/* Creates the experiment in the private store. Its locations are absolute: a relative one would be
 * below the program's working folder. 0; -1 with err. */
static int store_put_experiment(int folder, const char *id, const char *name, struct arena *a, struct err *err)
{
    struct buf text CLEANUP_BUF;
    const char *path = arena_printf(a, "%s/meta.yaml", id), *at = file_uri(folder, arena_printf(a, "/%s", id), a);
    buf_init(&text, 64 << 10);
    if (!path || !at)
        return err_memory(err, "the store's experiment");
    if (fs_mkdirs(folder, id, 0700, err))
        return -1;
    store_put_line(&text, "artifact_location", at);
    store_put_line(&text, "experiment_id", id);
    store_put_line(&text, "lifecycle_stage", "active");
    store_put_line(&text, "name", name);
    if (text.failed)
        return err_memory(err, "the store's experiment");
    return fs_create(folder, path, buf_text(&text), 0600, err);
}

/* Creates the run in the private store, as MLflow's file store has it. 0; -1 with err. */
static int store_put_run(int folder, const char *experiment, const struct journal_head *head, struct arena *a, struct err *err)
{
    static const char *const folders[] = {"params", "metrics", "tags", "artifacts"};
    struct buf text CLEANUP_BUF;
    buf_init(&text, 64 << 10);
    const char *place = arena_printf(a, "/%s/%s", experiment, head->id), *path = arena_printf(a, "%s/%s/meta.yaml", experiment, head->id);
    const char *name = head->run_name ? head->run_name : "", *at = file_uri(folder, arena_printf(a, "%s/artifacts", place), a);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *made = arena_printf(a, "%s/%s", place + 1, folders[i]);
        if (!made || fs_mkdirs(folder, made, 0700, err))
            return -1;
    }
    store_put_line(&text, "artifact_uri", at ? at : "");
    buf_puts(&text, "end_time: null\nentry_point_name: \"\"\n");
    store_put_line(&text, "experiment_id", experiment);
    store_put_line(&text, "lifecycle_stage", "active");
    store_put_line(&text, "run_id", head->id);
    store_put_line(&text, "run_name", name);
    store_put_line(&text, "run_uuid", head->id);
    buf_printf(&text, "source_name: \"\"\nsource_type: 4\nsource_version: \"\"\nstart_time: %" PRId64 "\nstatus: 1\ntags: []\n",
               head->start_ms);
    store_put_line(&text, "user_id", head->user ? head->user : "");
    const char *tag = arena_printf(a, "%s/%s/tags/mlflow.runName", experiment, head->id);
    if (!at || !path || !tag || text.failed)
        return err_memory(err, "the shared store");
    return fs_create(folder, tag, str_of(name), 0600, err) || fs_create(folder, path, buf_text(&text), 0600, err) ? -1 : 0;
}

int shared_make_store(const struct spool *s, const struct journal_head *head, struct arena *a, struct shared_store *ret, struct err *err)
{
    CLEANUP_FD int folder = shared_open(s, head->id, true);
    if (folder < 0)
        return err_sys(err, "cannot make a private store in the spool");
    snprintf(ret->experiment, sizeof ret->experiment, "%" PRIu32, tree_experiment_id(str_of(head->experiment)));
    if (store_put_experiment(folder, ret->experiment, head->experiment, a, err) || store_put_run(folder, ret->experiment, head, a, err))
        return err_wrap(err, "private store");
    ret->uri = file_uri(folder, "", a);
    return ret->uri ? 0 : err_memory(err, "the shared store");
}

/* ---- one fact ---- */

bool shared_is_own(const struct record *r, enum fact_kind kind, const char *key)
{
    if (kind == FACT_TAG)
        return strncmp(key, "benchwrap.", 10) == 0 || record_find(r, FACT_TAG, key);
    if (kind == FACT_PARAM)
        return record_find(r, FACT_PARAM, key);
    const struct fact *own = record_find(r, FACT_METRIC, key);
    bool of_run = strncmp(key, "run.", 4) == 0 && !key_is_result(key); /* the end of the run may record it only later */
    return of_run || (own && strcmp(own->source, "log") != 0 && strcmp(own->source, SHARED_SOURCE) != 0);
}

void shared_note_tag(struct record *to, const struct fact *own, const char *key)
{
    if (own && strcmp(own->source, "option") == 0)
        record_warning(to, "the tag %.100s that the program's MLflow client set is left out: an option of this run sets it", key);
    else if (strncmp(key, "mlflow.", strlen("mlflow.")) != 0)
        record_warning(to, "the tag %.100s that the program's MLflow client set is left out: benchwrap's own tags have such names", key);
}

/* The metric samples of a record, sorted, so that one is found quickly. */
struct sample_set {
    const struct fact **list;
    size_t n;
};

static int compare_sample_facts(const void *a, const void *b)
{
    const struct fact *x = *(const struct fact *const *)a, *y = *(const struct fact *const *)b;
    int way = str_cmp(x->key, y->key);
    if (way == 0)
        way = (x->step > y->step) - (x->step < y->step);
    return way ? way : (x->value > y->value) - (x->value < y->value);
}

/* Collects and sorts the record's samples, without those that are NaN. The caller frees ret->list.
 * False: out of memory. */
static bool sample_set_make(const struct record *r, struct sample_set *ret)
{
    *ret = (struct sample_set){.list = malloc((r->count + 1) * sizeof *ret->list)};
    for (const struct fact *f = r->first; ret->list && f; f = f->next)
        if (f->kind == FACT_METRIC && !isnan(f->value))
            ret->list[ret->n++] = f;
    if (ret->n)
        qsort(ret->list, ret->n, sizeof *ret->list, compare_sample_facts);
    return ret->list;
}

static bool sample_set_has(const struct sample_set *s, const struct fact *f)
{
    return s->n && !isnan(f->value) && bsearch(&f, s->list, s->n, sizeof *s->list, compare_sample_facts);
}

/* Records a param or tag that the program's client logged. Leaves out a tag of benchwrap's own that
 * the client changed, with the warning of shared_note_tag. */
static void shared_add_text(struct record *r, enum fact_kind kind, const char *key, struct str text, int64_t time_ms)
{
    struct fact f = {.kind = kind, .key = str_of(key), .text = text, .time_ms = time_ms, .unit = "", .source = SHARED_SOURCE};
    if (kind == FACT_TAG && strcmp(key, "mlflow.runName") == 0 && str_is(text, r->id))
        return; /* by its id the store names a run without a name */
    if (kind == FACT_TAG && shared_is_own(r, kind, key)) {
        const struct fact *own = record_find(r, FACT_TAG, key);
        if (!own || !str_eq(own->text, text))
            shared_note_tag(r, own, key);
        return;
    }
    record_fact(r, &f); /* of a param with another value the first is kept, with a warning */
}

/* Warns where the client set another status, such as FAILED where the program catches its own
 * exception. The exit status decides. */
static void shared_note_status(struct record *r, enum run_status client)
{
    if (r->status == RUN_FINISHED && (client == RUN_FAILED || client == RUN_KILLED))
        record_warning(r, "the program's MLflow client set the status %s; the status of this run is that of the program",
                       record_status_name(client));
}

/* ---- from the private store ---- */

void shared_record_samples(struct record *to, const char *key, struct tree_sample *list, size_t n, int64_t start_ms)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].time_ms <= 0)
            list[i].time_ms = start_ms;
    if (n)
        qsort(list, n, sizeof *list, tree_sample_order);
    for (size_t i = 0; i < n; i++)
        record_fact(to, &(struct fact){.kind = FACT_METRIC,
                                       .key = str_of(key),
                                       .value = list[i].value,
                                       .step = list[i].step,
                                       .time_ms = list[i].time_ms,
                                       .unit = "",
                                       .source = SHARED_SOURCE});
}

/* Records the metrics that the client logged. Those that benchwrap itself records, or that have no
 * memory, become warnings. */
static void shared_add_metrics(struct record *r, const struct tree_run *run)
{
    for (const struct tree_entry *e = run->metrics; e; e = e->next) {
        if (shared_is_own(r, FACT_METRIC, e->key)) {
            record_warning(r, SHARED_LEFT_OUT, e->key);
            continue;
        }
        struct tree_sample *list = malloc((e->count + 1) * sizeof *list);
        if (!list) {
            record_warning(r, "out of memory for the metric %.100s that the program's MLflow client logged", e->key);
            continue;
        }
        for (size_t i = 0; i < e->count; i++)
            list[i] = e->samples[i];
        shared_record_samples(r, e->key, list, e->count, r->start_ms);
        free(list);
    }
}

/* Records params, tags, metrics and files of the client's run in the private store. What the tree
 * has no place for is kept as the client wrote it. */
static void shared_add_run(struct shared_into *to, int store, const struct tree_run *run)
{
    struct record *r = to->r;
    char path[300];
    for (const struct tree_entry *e = run->params; e; e = e->next)
        shared_add_text(r, FACT_PARAM, e->key, e->value, run->start_ms);
    for (const struct tree_entry *e = run->tags; e; e = e->next)
        shared_add_text(r, FACT_TAG, e->key, e->value, run->start_ms);
    shared_add_metrics(r, run);
    snprintf(path, sizeof path, "%.200s/artifacts", tree_run_path(run));
    shared_add_folder(to, store, path, "");
    /* What the tree has no place for is kept as the client wrote it. */
    snprintf(path, sizeof path, "%.200s/inputs", tree_run_path(run));
    shared_add_folder(to, store, path, "mlflow/inputs");
    snprintf(path, sizeof path, "%.200s/outputs", tree_run_path(run));
    shared_add_folder(to, store, path, "mlflow/outputs");
    if (run->problem)
        record_warning(r, "what the program's MLflow client logged is damaged: %.300s", run->problem);
}

/* Tags that the client set on the experiment; those that MLflow sets by itself are no content. */
static void shared_add_experiment_tags(struct shared_into *to, int store, const char *experiment)
{
    struct fs_names list;
    char name[300], path[400];
    snprintf(name, sizeof name, "%.200s/tags", experiment);
    CLEANUP_FD int tags = openat(store, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (tags < 0 || fs_list(tags, ".", &list, NULL))
        return;
    for (size_t i = 0; i < list.count; i++) {
        snprintf(path, sizeof path, "mlflow/experiments/%.60s/tags/%.250s", experiment, list.names[i]);
        if (strncmp(list.names[i], "mlflow.", 7) != 0 || strcmp(list.names[i], "mlflow.note.content") == 0)
            shared_add_entry(to, tags, list.names[i], path);
    }
    fs_names_deinit(&list);
}

/* Adds what belongs to the client's experiments, and to the store: data sets, models, traces and
 * the tags of experiments. */
static void shared_add_rest(struct shared_into *to, int store)
{
    static const char *const kinds[] = {"datasets", "models", "traces"};
    struct fs_names list;
    shared_add_folder(to, store, "models", "mlflow/registry");
    if (fs_list(store, ".", &list, NULL))
        return;
    for (size_t i = 0; i < list.count; i++) {
        if (strspn(list.names[i], "0123456789") != strlen(list.names[i]))
            continue;
        shared_add_experiment_tags(to, store, list.names[i]);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            char name[300], path[60];
            snprintf(name, sizeof name, "%.200s/%s", list.names[i], kinds[k]);
            snprintf(path, sizeof path, "mlflow/%s", kinds[k]);
            shared_add_folder(to, store, name, path);
        }
    }
    fs_names_deinit(&list);
}

static bool is_deleted_run(const struct tree_run *run)
{
    return run->lifecycle && strcmp(run->lifecycle, "deleted") == 0;
}

struct deleted_runs {
    const char *own;
    size_t others;
    bool is_own, in_trash;
};

static int deleted_runs_count(void *context, struct tree_run *run)
{
    struct deleted_runs *d = context;
    bool own = strcmp(run->id, d->own) == 0;
    d->others += !own && (d->in_trash || is_deleted_run(run));
    d->is_own |= own && is_deleted_run(run);
    return 0;
}

/* Records a warning about runs that the program's client deleted, including this one. */
static void shared_note_deleted(struct record *r, int store)
{
    struct arena a;
    struct err err = {0};
    struct deleted_runs d = {.own = r->id};
    arena_init(&a, RUN_BYTES);
    tree_walk(store, 0, &a, deleted_runs_count, &d, &err);
    CLEANUP_FD int trash = openat(store, ".trash", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW); /* of deleted experiments */
    d.in_trash = true;
    if (trash >= 0)
        tree_walk(trash, 0, &a, deleted_runs_count, &d, &err);
    if (d.others)
        record_warning(r, "%zu run%s that the program's MLflow client deleted %s left out", d.others, str_plural(d.others),
                       d.others == 1 ? "is" : "are");
    if (d.is_own)
        record_warning(r, "the program's MLflow client deleted this run, which is stored all the same");
    arena_deinit(&a);
}

/* Records all that the program's client logged in the private store; a failure becomes a
 * warning. */
static void shared_add_store(struct shared_into *to, int store)
{
    struct arena a;
    struct tree_run *run;
    struct err err = {0};
    to->r->source = SHARED_SOURCE;
    arena_init(&a, RUN_BYTES);
    if (tree_find(store, to->r->id, TREE_PARAMS | TREE_METRICS | TREE_TAGS, &a, &run, &err) == 0) {
        shared_note_status(to->r, run->status);
        shared_add_run(to, store, run);
        shared_add_rest(to, store);
        shared_note_deleted(to->r, store);
    } else
        record_warning(to->r, "what the program's MLflow client logged cannot be read: %s", err.text[0] ? err.text : "its run is gone");
    arena_deinit(&a);
}

/* ---- from what was fetched ---- */

/* Returns whether the folder has a complete fetch. */
static bool shared_is_fetched(int folder)
{
    struct record r;
    struct journal_head head;
    struct journal_state state = {0};
    if (journal_read(folder, &r, &head, &state, NULL))
        return false;
    record_deinit(&r);
    return state.ended;
}

int shared_add_fetched(struct shared_into *to, int folder, struct err *err)
{
    struct record fetched;
    struct journal_head head;
    struct journal_state state = {0};
    if (journal_read(folder, &fetched, &head, &state, err))
        return -1;
    struct sample_set sent; /* what `benchwrap log` has sent there comes back */
    if (!sample_set_make(to->r, &sent)) {
        record_deinit(&fetched);
        return err_memory(err, "what the program's MLflow client logged");
    }
    to->r->source = SHARED_SOURCE;
    for (const struct fact *f = fetched.first; f; f = f->next) {
        const char *key = arena_dup(&fetched.arena, f->key.p, f->key.n);
        if (!key)
            break;
        switch (f->kind) {
        case FACT_PARAM:
        case FACT_TAG: shared_add_text(to->r, f->kind, key, f->text, f->time_ms); break;
        case FACT_METRIC:
            if (!shared_is_own(to->r, FACT_METRIC, key) && !sample_set_has(&sent, f))
                record_fact(to->r, f);
            break;
        case FACT_ARTIFACT: {
            const char *file = arena_dup(&fetched.arena, f->text.p, f->text.n);
            if (file)
                shared_add_file(to, folder, file, key);
            break;
        }
        default: record_fact(to->r, f); break;
        }
    }
    free(sent.list);
    shared_note_status(to->r, fetched.status);
    size_t lost = state.lost + record_lost(&fetched);
    if (lost)
        record_warning(to->r, "%zu fact%s that the program's MLflow client logged %s not in this record: out of memory", lost,
                       str_plural(lost), lost == 1 ? "is" : "are");
    record_deinit(&fetched);
    return 0;
}

/* ---- the finish step ---- */

void shared_finish(const struct spool *s, struct record *r, uint64_t left, struct redact *redact)
{
    bool on_server = record_find(r, FACT_TAG, SHARED_TAG_RUN);
    CLEANUP_FD int folder = shared_open(s, r->id, false);
    struct shared_into to = {.r = r, .spool = s->dir, .left = left, .redact = redact};
    struct err err = {0};
    if (!on_server) {
        if (folder >= 0)
            shared_add_store(&to, folder);
        return;
    }
    if (folder >= 0 && shared_is_fetched(folder) && shared_add_fetched(&to, folder, &err) == 0)
        return;
    r->source = SHARED_SOURCE;
    record_tag(r, SHARED_TAG_INCOMPLETE, STR("mlflow"));
    record_missing(r, "mlflow", "what the program's own MLflow client logged is on the server only: benchwrap sync completes the run");
    record_warning(r, "incomplete: what the program's own MLflow client logged is on the server only; complete the run: benchwrap sync");
}

/* ---- the client's other runs ---- */

static enum run_status shared_run_status(const struct tree_run *run)
{
    return run->status == RUN_FINISHED || run->status == RUN_FAILED ? run->status : RUN_KILLED;
}

/* Records where the client stores the files of an experiment that it made with an artifact_location
 * of its own. */
static void shared_note_place(struct record *r, const char *store_id, const struct tree_run *run)
{
    char own[400];
    snprintf(own, sizeof own, SPOOL_SHARED "%.32s/%.200s/artifacts", store_id, tree_run_path(run));
    if (run->artifact_uri[0] && !str_ends(str_of(run->artifact_uri), own))
        record_missing(r, "artifacts", "the program's MLflow client stores the files, models and traces of this run's experiment at %.300s",
                       run->artifact_uri);
}

/* Publishes a further run that the program's client logged, as a child of this one. `store`: where
 * it is. *ret: the result, which the caller frees. -1 with err. */
static int publish_other(struct spool *s, int store, const struct finished *f, const struct tree_run *run, const struct finish_options *o,
                         struct redact *redact, struct finished *ret, struct err *err)
{
    struct record *r = &ret->record;
    *ret = (struct finished){.head = f->head, .verdict = "none", .reason = ""};
    record_init(r, run->id, run->start_ms > 0 ? run->start_ms : f->record.start_ms);
    r->redact = f->record.redact;
    r->redact_name = f->record.redact_name;
    r->redact_context = f->record.redact_context;
    r->end_ms = run->end_ms >= r->start_ms ? run->end_ms : f->record.end_ms;
    r->status = shared_run_status(run);
    r->source = SHARED_SOURCE;
    memcpy(ret->head.id, run->id, sizeof ret->head.id);
    ret->head.run_name = run->name;
    ret->head.experiment = run->experiment;
    ret->head.start_ms = r->start_ms;
    struct shared_into to = {.r = r, .spool = s->dir, .left = o->artifact_max, .redact = redact};
    shared_add_run(&to, store, run);
    shared_note_place(r, f->record.id, run);
    record_tag(r, "benchwrap.run_id", str_of(run->id));
    if (!record_find(r, FACT_TAG, "mlflow.parentRunId"))
        record_tag(r, "benchwrap.parent_run_id", str_of(f->record.id));
    if (run->status == RUN_RUNNING)
        record_tag(r, "benchwrap.ended", STR("it had not ended when the program did"));
    return finish_publish(s, ret, o, err);
}

struct other_runs {
    const char *own;
    struct tree_run *list;
};

static int other_runs_add(void *context, struct tree_run *run)
{
    struct other_runs *o = context;
    if (strcmp(run->id, o->own) != 0 && record_is_id(str_of(run->id)) && run->lifecycle && !is_deleted_run(run)) {
        run->next = o->list;
        o->list = run;
    }
    return 0;
}

int shared_publish(struct spool *s, struct finished *f, const struct finish_options *o, struct buf *places, struct err *err)
{
    CLEANUP_FD int store = shared_open(s, f->record.id, false);
    struct other_runs others = {.own = f->record.id};
    struct arena a;
    int rc = 0;
    if (store < 0 || record_find(&f->record, FACT_TAG, SHARED_TAG_RUN))
        return 0;
    arena_init(&a, RUN_BYTES);
    if (tree_walk(store, TREE_PARAMS | TREE_METRICS | TREE_TAGS, &a, other_runs_add, &others, err) < 0)
        rc = -1;
    for (const struct tree_run *run = others.list, *next; run && rc == 0; run = next) {
        struct finished other;
        next = run->next;
        rc = publish_other(s, store, f, run, o, &f->redaction.redact, &other, err);
        if (rc == 0)
            buf_printf(places, " %s", other.place);
        finished_deinit(&other);
    }
    arena_deinit(&a);
    return rc ? err_wrap(err, "a run of the program's MLflow client") : 0;
}
