/* shared_fetch.c: what the program's own MLflow client logged on a server comes into a folder; see shared_fetch.h. */
#include "run/shared_fetch.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "mlflow/upload.h"
#include "run/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fetching {
    struct mlflow *m;
    const struct record *ours;
    struct mlflow_run run;
    struct record record;
    struct redaction redaction;
    uint64_t left;
    int artifacts, folder;
    size_t files;
    const char *key; /* of the metric that is fetched */
    struct fetched_file *list;
    const struct mlflow_run *from; /* whose files are listed, and where they are stored below the artifacts */
    const char *place;
};

struct fetched_file {
    const struct mlflow_run *from;
    const char *path, *name /* as an artifact */;
    int64_t size;
    struct fetched_file *next;
};

/* Returns whether benchwrap set the tag on the server: one that it sets there by itself, or one
 * with a value that the record had so far. */
static bool is_tag_of_ours(const struct fetching *x, const char *key, const char *text)
{
    for (const struct fact *f = x->ours->first; f; f = f->next)
        if (f->kind == FACT_TAG && str_is(f->key, key) && upload_same_text(text, f->text))
            return true;
    return upload_is_server_tag(key);
}

/* Records the params or tags (`list`) that the program's client has set on the server, without
 * those that benchwrap sent. */
static void fetch_texts(struct fetching *x, enum fact_kind kind, const char *list)
{
    for (const struct json *e = json_first(json_get(x->run.data, list)); e; e = json_next(e)) {
        const char *key = json_string(json_get(e, "key"), ""), *text = json_string(json_get(e, "value"), "");
        const struct fact *own = record_find(x->ours, kind, key);
        if (own && upload_same_text(text, own->text))
            continue;
        if (kind == FACT_TAG && shared_is_own(x->ours, kind, key)) {
            if (!is_tag_of_ours(x, key, text))
                shared_note_tag(&x->record, own, key);
            continue;
        }
        if (kind == FACT_TAG && strncmp(key, "mlflow.user", 11) == 0)
            continue; /* this run's own record states its owner */
        struct fact f = {
            .kind = kind, .key = str_of(key), .text = str_of(text), .time_ms = x->ours->start_ms, .unit = "", .source = SHARED_SOURCE};
        record_fact(&x->record, &f);
    }
}

static int fetch_sample(void *context, double value, int64_t time_ms, int64_t step)
{
    /* What SQL stores keep in the place of an infinity is one. */
    return mlflow_samples_add(context, fabs(value) >= DBL_MAX ? copysign(INFINITY, value) : value, time_ms, step);
}

/* Fetches and records all samples of the metric x->key. Out of memory becomes a warning, with what
 * there is so far. Returns the server's answer, with err. */
static enum mlflow_answer fetch_samples(struct fetching *x, struct err *err)
{
    struct mlflow_samples s = {0};
    enum mlflow_answer answer = mlflow_history(x->m, x->run.id, x->key, fetch_sample, &s, err);
    if (s.failed)
        record_warning(&x->record, "out of memory for the metric %.100s that the program's MLflow client logged", x->key);
    shared_record_samples(&x->record, x->key, s.at, s.count, x->ours->start_ms);
    free(s.at);
    return answer;
}

/* Returns whether the value is one of this run's, which was sent there. */
static bool is_sample_of_ours(const struct fetching *x, double value)
{
    if (strncmp(x->key, "run.", 4) == 0 && !record_find(x->ours, FACT_METRIC, x->key))
        return false;
    for (const struct fact *f = x->ours->first; f; f = f->next)
        if (f->kind == FACT_METRIC && f->value == value && str_is(f->key, x->key))
            return true;
    return isnan(value);
}

/* Records the metrics that the program's client has logged on the server. Returns the first answer
 * that is not MLFLOW_FINE, with err. */
static enum mlflow_answer fetch_metrics(struct fetching *x, struct err *err)
{
    enum mlflow_answer answer = MLFLOW_FINE;
    for (const struct json *e = json_first(json_get(x->run.data, "metrics")); e && answer == MLFLOW_FINE; e = json_next(e)) {
        x->key = json_string(json_get(e, "key"), "");
        if (!shared_is_own(x->ours, FACT_METRIC, x->key))
            answer = fetch_samples(x, err);
        else if (!is_sample_of_ours(x, json_number(json_get(e, "value"), NAN)))
            record_warning(&x->record, SHARED_LEFT_OUT, x->key);
    }
    return answer;
}

/* ---- files ---- */

/* Called for each file on the server: adds it to the list, unless the run has a file of that name
 * and size. Non-zero: out of memory. */
static int fetch_note_file(void *context, const char *path, int64_t size)
{
    struct fetching *x = context;
    struct stat st;
    struct fetched_file *f = ARENA_NEW(&x->record.arena, struct fetched_file);
    const char *name = arena_printf(&x->record.arena, "%s%s%s", x->place, *x->place ? "/" : "", path);
    if (x->artifacts >= 0 && name && fstatat(x->artifacts, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size == size)
        return 0;
    if (!f || !name)
        return 1;
    *f = (struct fetched_file){.from = x->from, .path = name + strlen(name) - strlen(path), .name = name, .size = size, .next = x->list};
    x->list = f;
    return x->record.arena.failed;
}

/* Opens a file without a name for what has not been redacted yet: no crash leaves it. Returns the
 * descriptor; -1 with errno. */
static int open_unnamed_file(int dir)
{
    static const char name[] = "download";
    unlinkat(dir, name, 0);
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && unlinkat(dir, name, 0))
        fs_close(&fd);
    return fd;
}

/* Fetches one file, redacted, into the folder and records it. A file that is too large or that the
 * server does not return is recorded as missing, with MLFLOW_FINE. Other answers have err. */
static enum mlflow_answer fetch_file(struct fetching *x, const struct fetched_file *f, struct err *err)
{
    char name[32];
    if (f->size < 0) {
        record_missing(&x->record, f->name, "this folder is too deep: it is on the server only");
        return MLFLOW_FINE;
    }
    if ((uint64_t)f->size > x->left) {
        record_missing(&x->record, f->name, "not kept: with its %" PRId64 " bytes the run's files would be larger than --artifact-max",
                       f->size);
        return MLFLOW_FINE;
    }
    snprintf(name, sizeof name, "file-%zu", x->files++);
    unlinkat(x->folder, name, 0);
    CLEANUP_FD int to = openat(x->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CLEANUP_FD int fd = open_unnamed_file(x->folder);
    if (to < 0 || fd < 0) {
        err_sys(err, "spool: cannot make a file");
        return MLFLOW_REFUSED;
    }
    enum mlflow_answer answer = mlflow_artifact_get(x->m, f->from, f->path, fd, err);
    if (answer == MLFLOW_ABSENT || (answer == MLFLOW_REFUSED && err->kind == ERR_REMOTE)) {
        record_missing(&x->record, f->name, "the server does not return it: %.300s", err->text);
        return MLFLOW_FINE;
    }
    if (answer == MLFLOW_FINE && keep_copy(NULL, fd, to, &x->left, &x->redaction.redact, f->name, err))
        answer = MLFLOW_REFUSED;
    if (answer == MLFLOW_FINE)
        record_artifact(&x->record, f->name, name);
    return answer;
}

/* Adds the files of the run, or of a model of it, to the list. Files that cannot be listed are
 * recorded as missing, with MLFLOW_FINE. Other answers have err. */
static enum mlflow_answer fetch_list(struct fetching *x, const struct mlflow_run *from, const char *place, struct err *err)
{
    x->from = from;
    x->place = place;
    enum mlflow_answer answer = mlflow_artifact_list(x->m, from, "", fetch_note_file, x, err);
    if (answer != MLFLOW_REFUSED && answer != MLFLOW_ABSENT)
        return answer;
    /* a root that is nowhere: the run is not worth less */
    record_missing(&x->record, *place ? place : "artifacts", "the server's artifacts cannot be listed: %.300s", err->text);
    return MLFLOW_FINE;
}

/* Returns whether the id can be the name of a folder: it has only letters, digits, dashes and
 * underscores. */
static bool is_model_id(const char *id)
{
    size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    return n && !id[n];
}

/* Fetches what the server states about a model that MLflow 3 stores next to the run, and lists its
 * files. What the server does not return is recorded as missing, with MLFLOW_FINE. Other answers
 * have err. */
static enum mlflow_answer fetch_model(struct fetching *x, const char *id, struct err *err)
{
    struct arena *a = &x->record.arena;
    struct buf text CLEANUP_BUF = {0};
    char file[32];
    struct mlflow_run *model = ARENA_NEW(a, struct mlflow_run);
    const char *place = arena_printf(a, "mlflow/models/%.100s/artifacts", id),
               *about = arena_printf(a, "mlflow/models/%.100s/model.json", id);
    if (!is_model_id(id)) {
        record_missing(&x->record, "mlflow/models", "the server names a model whose id cannot name a folder: \"%.100s\"", id);
        return MLFLOW_FINE;
    }
    if (!model || !place || !about) {
        err_memory(err, "a model that the program's MLflow client logged");
        return MLFLOW_REFUSED;
    }
    enum mlflow_answer answer = mlflow_model_get(x->m, id, a, model, err);
    if (answer == MLFLOW_REFUSED || answer == MLFLOW_ABSENT) {
        record_missing(&x->record, place, "the server does not return it: %.300s", err->text);
        return MLFLOW_FINE;
    }
    if (answer != MLFLOW_FINE)
        return answer;
    snprintf(file, sizeof file, "model-%zu", x->files++);
    buf_init(&text, 16 << 20);
    json_print(json_get(model->reply, "model"), &text);
    json_free(model->reply);
    model->reply = NULL;
    buf_putc(&text, '\n');
    redact_text(&x->redaction.redact, text.p, text.n);
    if (text.failed || fs_write(x->folder, file, buf_text(&text), 0600, false, err))
        return MLFLOW_REFUSED;
    record_artifact(&x->record, about, file);
    return fetch_list(x, model, place, err);
}

/* Lists the files of the run and its models, then fetches them. Returns the first answer that is
 * not MLFLOW_FINE, with err. */
static enum mlflow_answer fetch_files(struct fetching *x, struct err *err)
{
    const struct json *models = json_pointer(x->run.reply, "/run/outputs/model_outputs");
    enum mlflow_answer answer = fetch_list(x, &x->run, "", err);
    for (const struct json *e = json_first(models); e && answer == MLFLOW_FINE; e = json_next(e))
        answer = fetch_model(x, json_string(json_get(e, "model_id"), ""), err);
    for (const struct fetched_file *f = x->list; f && answer == MLFLOW_FINE; f = f->next)
        answer = fetch_file(x, f, err);
    return answer;
}

/* ---- what stays on the server ---- */

/* Runs that benchwrap recorded are in a tree. */
static int fetch_count_other(void *context, const struct mlflow_run *run)
{
    *(size_t *)context += !mlflow_tag_of(run->data, "benchwrap.run_id");
    return 0;
}

/* Runs of the experiment that have no parent here: the client does not write which process made them. */
struct fetch_siblings {
    const struct mlflow_run *run;
    size_t count;
};

static int fetch_count_sibling(void *context, const struct mlflow_run *run)
{
    struct fetch_siblings *s = context;
    const char *parent = mlflow_tag_of(run->data, "mlflow.parentRunId");
    s->count +=
        strcmp(run->id, s->run->id) != 0 && !mlflow_tag_of(run->data, "benchwrap.run_id") && (!parent || strcmp(parent, s->run->id) != 0);
    return 0;
}

/* Warns of other runs of the experiment that began on the server while the program ran. Returns the
 * server's answer, with err. */
static enum mlflow_answer fetch_note_siblings(struct fetching *x, struct err *err)
{
    char filter[120];
    struct fetch_siblings s = {.run = &x->run};
    snprintf(filter, sizeof filter, "attributes.start_time >= %" PRId64, x->ours->start_ms);
    enum mlflow_answer answer = mlflow_run_search_pages(x->m, x->run.experiment, filter, false, 1000, fetch_count_sibling, &s, err);
    if (s.count)
        record_warning(
            &x->record,
            "while the program ran, %zu other run%s of its experiment began on the server, by its own MLflow client or another one: "
            "benchwrap pull fetches %s",
            s.count, str_plural(s.count), s.count == 1 ? "it" : "them");
    return answer;
}

/* Records warnings about what stays on the server: child runs, other runs of that time, traces.
 * MLFLOW_FINE also where the server has no such search. */
static enum mlflow_answer fetch_note_rest(struct fetching *x, struct err *err)
{
    char filter[120];
    size_t others = 0;
    bool traces = false;
    snprintf(filter, sizeof filter, "tags.`mlflow.parentRunId` = '%.64s'", x->run.id);
    enum mlflow_answer answer = mlflow_run_search_pages(x->m, x->run.experiment, filter, false, 1000, fetch_count_other, &others, err);
    if (answer == MLFLOW_FINE)
        answer = fetch_note_siblings(x, err);
    if (answer == MLFLOW_FINE)
        answer = mlflow_run_has_traces(x->m, &x->run, &traces, err);
    if (others)
        record_warning(&x->record,
                       "%zu run%s that the program's MLflow client started below this one %s on the server only: benchwrap pull", others,
                       str_plural(others), others == 1 ? "is" : "are");
    if (traces)
        record_warning(&x->record, "the traces that the program's MLflow client logged are on the server only");
    return answer == MLFLOW_ABSENT || answer == MLFLOW_REFUSED ? MLFLOW_FINE : answer; /* a server without traces */
}

/* Stores the run's data sets as a file and records it, since the tree has no place for them. 0; -1
 * with err. */
static int fetch_inputs(struct fetching *x, struct err *err)
{
    const struct json *inputs = json_get(json_get(json_get(x->run.reply, "run"), "inputs"), "dataset_inputs");
    struct buf text CLEANUP_BUF;
    buf_init(&text, 64 << 20);
    if (!json_count(inputs))
        return 0;
    json_print(inputs, &text);
    buf_putc(&text, '\n');
    redact_text(&x->redaction.redact, text.p, text.n);
    record_artifact(&x->record, "mlflow/inputs.json", "inputs");
    return fs_write(x->folder, "inputs", buf_text(&text), 0600, false, err);
}

/* Fetches all that the program's client logged to the run. Stops at the first answer that is not
 * MLFLOW_FINE, and returns it with err. */
static enum mlflow_answer fetch_all(struct fetching *x, const char *server_run, struct err *err)
{
    enum mlflow_answer answer = mlflow_run_get(x->m, server_run, &x->record.arena, &x->run, err);
    if (answer != MLFLOW_FINE)
        return answer;
    fetch_texts(x, FACT_PARAM, "params");
    fetch_texts(x, FACT_TAG, "tags");
    answer = fetch_metrics(x, err);
    if (answer == MLFLOW_FINE)
        answer = fetch_files(x, err);
    if (answer == MLFLOW_FINE && fetch_inputs(x, err))
        answer = MLFLOW_REFUSED;
    return answer == MLFLOW_FINE ? fetch_note_rest(x, err) : answer;
}

static enum run_status fetched_status(const char *name)
{
    for (int i = RUN_FAILED; name && i <= RUN_KILLED; i++)
        if (strcmp(name, record_status_name((enum run_status)i)) == 0)
            return (enum run_status)i;
    return RUN_FINISHED;
}

enum mlflow_answer shared_fetch(struct mlflow *m, const char *server_run, const struct record *ours, uint64_t left, int artifacts,
                                int folder, struct err *err)
{
    char *none[] = {NULL};
    struct fetching x = {.m = m, .ours = ours, .left = left, .artifacts = artifacts, .folder = folder};
    struct journal_head head = {.host = "",
                                .experiment = "",
                                .run_name = "",
                                .tree = "",
                                .user = "",
                                .job = "",
                                .options = "",
                                .argv = none,
                                .start_ms = ours->start_ms};
    struct journal *journal;
    memcpy(head.id, ours->id, sizeof head.id);
    unlinkat(folder, "journal", 0); /* of an attempt that was interrupted */
    if (journal_create(&journal, folder, &head, err))
        return MLFLOW_REFUSED;
    redaction_begin_with(&x.redaction, NULL);
    record_init(&x.record, ours->id, ours->start_ms);
    redaction_of_record(&x.redaction, &x.record);
    x.record.listen = journal_fact;
    x.record.context = journal;
    x.record.source = SHARED_SOURCE;
    enum mlflow_answer answer = fetch_all(&x, server_run, err);
    if (answer == MLFLOW_FINE) {
        journal_ended(journal, ours->start_ms, fetched_status(x.run.status), "");
        if (journal_flush(journal, false, err))
            answer = MLFLOW_REFUSED;
    }
    journal_close(journal);
    json_free(x.run.reply);
    record_deinit(&x.record);
    redaction_end(&x.redaction);
    return answer;
}
