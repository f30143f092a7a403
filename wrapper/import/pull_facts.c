/* pull_facts.c: what a server knows of a run, and what the run's own benchwrap.json knows, as facts of one record. */
#include "base/fs.h"
#include "import/pull_parts.h"
#include "run/keep.h"

#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SERIES_BYTES = 512 << 20, NAMES_BYTES = 8000, CUT_FROM = 5000 /* characters: texts that servers cut are longer */ };

/* ---- params and tags ---- */

static void pull_record_text(struct pull_taking *t, enum fact_kind kind, const char *key, const char *text, const char *source)
{
    struct fact f = {.kind = kind, .key = str_of(key), .text = str_of(text), .time_ms = t->start_ms, .unit = "", .source = source};
    record_fact(&t->making.record, &f);
}

/* Records the server's value, unless it is the beginning of a longer one. */
static void put_either(struct pull_taking *t, enum fact_kind kind, const char *key, const char *own, const char *source,
                       const struct pull_entry *there)
{
    bool cut = there && strlen(there->text) >= CUT_FROM && strncmp(there->text, own, strlen(there->text)) == 0;
    if (!there || cut || strcmp(there->text, own) == 0)
        pull_record_text(t, kind, key, own, source);
    else
        pull_record_text(t, kind, key, there->text, "server");
}

/* Returns whether the tag is made again, or was only for the server. */
static bool passed_over(const char *key)
{
    static const char *const keys[] = {"mlflow.runName", PULL_TAG_SYNCED, "benchwrap.cut",       "benchwrap.experiment",
                                       PULL_TAG_DOUBLE,  PULL_TAG_PARENT, "benchwrap.corrected", PULL_TAG_INCOMPLETE};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Returns the parent's id in the tree: by the list, by the parent's own tags, or by the note of a
 * sync that had not found the parent. */
static const char *pull_parent_id(struct pull_taking *t)
{
    const struct pull_entry *waiting = pull_find_entry(&t->tags, PULL_TAG_PARENT);
    if (!t->run->parent)
        return waiting ? waiting->text : NULL;
    const char *id = pull_tree_id(t->p, t->run->parent);
    if (id)
        return id;
    struct mlflow_run parent = {0};
    struct err err = {0};
    /* Of another experiment, or older than --since? */
    if (mlflow_run_get(t->p->server, t->run->parent, &t->arena, &parent, &err) == MLFLOW_FINE) {
        const char *own = mlflow_tag_of(parent.data, PULL_TAG_ID);
        id = own && *own ? arena_dup(&t->arena, own, strlen(own)) : NULL;
    }
    json_free(parent.reply);
    return id ? id : t->run->parent;
}

/* Records the tag of this key as it is to be in the tree. */
static void put_tag(struct pull_taking *t, const char *key, const char *own, const char *source, const struct pull_entry *there)
{
    if (strcmp(key, "mlflow.parentRunId") == 0) {
        const char *parent = pull_parent_id(t);
        pull_record_text(t, FACT_TAG, key, parent ? parent : own, source);
    } else if (!passed_over(key))
        put_either(t, FACT_TAG, key, own, source, there);
}

/* Records params or tags: those of the record, with the server's value where it is another one,
 * then those that only the server has. */
static void pull_record_texts(struct pull_taking *t, enum fact_kind kind, const char *name, const struct pull_entries *there)
{
    for (const struct json *e = json_first(json_get(t->detail, name)); e; e = json_next(e)) {
        const char *key = json_key(e), *own = json_string(json_get(e, "value"), ""), *source = json_string(json_get(e, "source"), "");
        struct pull_entry *same = pull_find_entry(there, key);
        if (same)
            same->used = true;
        if (strcmp(source, "tree") == 0)
            continue; /* the tree adds it again */
        if (kind == FACT_TAG)
            put_tag(t, key, own, source, same);
        else
            put_either(t, kind, key, own, source, same);
    }
    for (size_t i = 0; i < there->count; i++) {
        struct pull_entry *e = &there->all[i];
        if (!e->used && t->detail && strcmp(e->key, PULL_TAG_ID) == 0)
            continue; /* the sync's, not the run's */
        if (!e->used && kind == FACT_TAG)
            put_tag(t, e->key, e->text, "server", e);
        else if (!e->used)
            pull_record_text(t, kind, e->key, e->text, "server");
    }
}

static void put_own_tags(struct pull_taking *t)
{
    const struct json *named = json_pointer(t->detail, "/run/name");
    if (!t->run->ours) {
        pull_record_text(t, FACT_TAG, PULL_TAG_ID, t->run->id, "server");
        pull_record_text(t, FACT_TAG, PULL_TAG_FROM, t->run->server_id, "server");
    }
    if (t->detail && *t->run->name && strcmp(t->run->name, json_string(named, "")) != 0) /* renamed on the server */
        pull_record_text(t, FACT_TAG, "mlflow.runName", t->run->name, "server");
    if (!pull_find_entry(&t->tags, "mlflow.parentRunId") && pull_find_entry(&t->tags, PULL_TAG_PARENT))
        pull_record_text(t, FACT_TAG, "mlflow.parentRunId", pull_find_entry(&t->tags, PULL_TAG_PARENT)->text, "server");
}

/* ---- metrics ---- */

static bool is_same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Adds the samples of a metric from series.jsonl, which has all of them. */
static void from_series(struct pull_taking *t, const char *key, struct mlflow_samples *s)
{
    for (size_t i = 0; i < t->series_count; i++) {
        if (strcmp(json_string(json_get(t->series[i], "key"), ""), key) != 0)
            continue;
        for (const struct json *p = json_first(json_get(t->series[i], "samples")); p; p = json_next(p))
            mlflow_samples_add(s, mlflow_number(json_at(p, 2)), mlflow_integer(json_at(p, 0)), mlflow_integer(json_at(p, 1)));
    }
}

/* All samples of a metric, in the order of time: from series.jsonl where the record holds only a
 * part, else from what the server has. detail: of the metric in benchwrap.json, or NULL. there: the
 * server's newest value, which is the only one where the record states that. */
static enum mlflow_answer pull_fetch_samples(struct pull_taking *t, const struct json *detail, const struct pull_entry *there,
                                             struct mlflow_samples *s, struct err *err)
{
    enum mlflow_answer answer = MLFLOW_FINE;
    if (json_get(detail, "thinned"))
        from_series(t, there->key, s);
    if (!s->count && json_integer(json_get(detail, "samples"), 0) == 1 &&
        is_same_value(mlflow_number(json_get(detail, "value")), mlflow_number(json_get(there->at, "value"))))
        mlflow_samples_add(s, mlflow_number(json_get(there->at, "value")), mlflow_integer(json_get(there->at, "timestamp")),
                           mlflow_integer(json_get(there->at, "step")));
    if (!s->count)
        answer = mlflow_history(t->p->server, t->server.id, there->key, mlflow_samples_add, s, err);
    if (answer == MLFLOW_FINE && s->failed) {
        err_memory(err, "the samples of %.100s", there->key);
        answer = MLFLOW_REFUSED;
    }
    if (s->count)
        qsort(s->at, s->count, sizeof *s->at, tree_sample_order);
    return answer;
}

/* Records all samples of a metric, from the run's own record or the server. Without samples the
 * record has the reason. Another answer than MLFLOW_FINE comes with err. */
static enum mlflow_answer pull_record_metric(struct pull_taking *t, const char *key, const struct json *detail,
                                             const struct pull_entry *there, struct err *err)
{
    struct mlflow_samples s = {0};
    const char *direction = json_string(json_get(detail, "direction"), "");
    struct fact f = {.kind = FACT_METRIC,
                     .key = str_of(key),
                     .unit = json_string(json_get(detail, "unit"), ""),
                     .direction = strcmp(direction, "higher") == 0  ? DIR_HIGHER
                                  : strcmp(direction, "lower") == 0 ? DIR_LOWER
                                                                    : DIR_NONE,
                     .source = json_string(json_get(detail, "source"), "server")};
    enum mlflow_answer answer = pull_fetch_samples(t, detail, there, &s, err);
    for (size_t i = 0; i < s.count && answer == MLFLOW_FINE; i++) {
        f.value = s.at[i].value;
        f.step = s.at[i].step;
        f.time_ms = s.at[i].time_ms > 0 ? s.at[i].time_ms : t->start_ms;
        if (!detail && fabs(f.value) >= DBL_MAX) /* what SQL stores keep in the place of an infinity */
            f.value = copysign(INFINITY, f.value);
        t->last_ms = f.time_ms > t->last_ms ? f.time_ms : t->last_ms;
        record_fact(&t->making.record, &f);
    }
    if (!s.count && answer == MLFLOW_FINE)
        record_missing(&t->making.record, key, "the server has no samples of it");
    free(s.at);
    return answer;
}

/* Records the samples that the server has of all metrics. A metric that only the record has is
 * recorded as missing. */
static enum mlflow_answer pull_record_metrics(struct pull_taking *t, struct err *err)
{
    enum mlflow_answer answer = MLFLOW_FINE;
    for (const struct json *e = json_first(json_get(t->detail, "metrics")); e && answer == MLFLOW_FINE; e = json_next(e)) {
        struct pull_entry *there = pull_find_entry(&t->metrics, json_key(e));
        if (there)
            there->used = true;
        if (strcmp(json_string(json_get(e, "source"), ""), "tree") == 0)
            continue;
        if (there)
            answer = pull_record_metric(t, json_key(e), e, there, err);
        else
            record_missing(&t->making.record, json_key(e), "the server has no samples of it");
    }
    for (size_t i = 0; i < t->metrics.count && answer == MLFLOW_FINE; i++)
        if (!t->metrics.all[i].used)
            answer = pull_record_metric(t, t->metrics.all[i].key, NULL, &t->metrics.all[i], err);
    return answer;
}

/* ---- the rest of benchwrap.json ---- */

static void put_notes(struct pull_taking *t)
{
    for (const struct json *m = json_first(json_get(t->detail, "missing")); m; m = json_next(m))
        pull_record_text(t, FACT_MISSING, json_string(json_get(m, "key"), ""), json_string(json_get(m, "reason"), ""),
                         json_string(json_get(m, "source"), ""));
    for (const struct json *w = json_first(json_get(t->detail, "warnings")); w; w = json_next(w))
        if (strcmp(json_string(json_get(w, "source"), ""), "tree") != 0)
            pull_record_text(t, FACT_WARNING, "", json_string(json_get(w, "text"), ""), json_string(json_get(w, "source"), ""));
}

/* Writes the elements of "references" as they were. */
static int pull_write_references(struct pull_taking *t, struct err *err)
{
    struct str begin = STR("\n  \"references\": ["), end = STR("\n  ]"), text = buf_text(&t->detail_text);
    ptrdiff_t from = json_get(t->detail, "references") ? str_find(text, begin) : -1;
    if (from < 0)
        return 0;
    text = str_sub(text, (size_t)from + begin.n, text.n);
    ptrdiff_t n = str_find(text, end);
    return n > 0 ? make_text(&t->making, FINISH_REFERENCES, str_sub(text, 0, (size_t)n), err) : 0;
}

/* Reads series.jsonl into t->series, one value a line, where the server has thinned samples; pull.c
 * frees them. MLFLOW_FINE also where there is no such file, it is refused or too large, or no memory:
 * then the server's samples are used. */
static enum mlflow_answer take_series(struct pull_taking *t, struct err *err)
{
    struct buf text CLEANUP_BUF = {0};
    bool thinned = false;
    for (const struct json *e = json_first(json_get(t->detail, "metrics")); e; e = json_next(e))
        thinned = thinned || json_get(e, "thinned");
    if (!thinned || !pull_find_file(t, "series.jsonl"))
        return MLFLOW_FINE;
    buf_init(&text, SERIES_BYTES);
    enum mlflow_answer answer = pull_fetch_text(t, "series.jsonl", SERIES_BYTES - 4096, &text, err);
    if (answer == MLFLOW_ABSENT || answer == MLFLOW_REFUSED)
        return MLFLOW_FINE; /* the server's points are there */
    size_t lines = 0;
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    t->series = calloc(lines + 1, sizeof *t->series);
    for (struct str rest = buf_text(&text); answer == MLFLOW_FINE && t->series && rest.p && t->series_count < lines;)
        if (json_parse(&t->series[t->series_count], str_cut(&rest, '\n'), NULL, NULL) == 0)
            t->series_count++;
    return answer;
}

/* Writes the inputs of a run: MLflow's data sets, as the server reports them. */
static int pull_write_inputs(struct pull_taking *t, struct err *err)
{
    const struct json *inputs = json_get(json_get(json_get(t->server.reply, "run"), "inputs"), "dataset_inputs");
    struct buf text CLEANUP_BUF = {0}, names CLEANUP_BUF = {0};
    if (!json_count(inputs))
        return 0;
    buf_init(&text, 64 << 20);
    buf_init(&names, NAMES_BYTES);
    json_print(inputs, &text);
    buf_putc(&text, '\n');
    size_t more = 0;
    for (const struct json *i = json_first(inputs); i; i = json_next(i)) {
        if (names.n > NAMES_BYTES - 1000) {
            more++;
            continue;
        }
        const char *name = json_string(json_pointer(i, "/dataset/name"), ""), *digest = json_string(json_pointer(i, "/dataset/digest"), "");
        buf_printf(&names, "%s%.500s@%.64s", names.n ? ", " : "", name, digest);
    }
    if (more)
        buf_printf(&names, " and %zu more", more);
    pull_record_text(t, FACT_TAG, "benchwrap.datasets", names.p ? names.p : "", "server");
    record_artifact(&t->making.record, "inputs.json", "inputs");
    return make_text(&t->making, "inputs", buf_text(&text), err);
}

/* Records models of MLflow 3 as missing: they are not among the run's artifacts. Of benchwrap's own
 * runs the artifacts have them. */
static void pull_note_models(struct pull_taking *t)
{
    size_t n = t->detail ? 0 : json_count(json_pointer(t->server.reply, "/run/outputs/model_outputs"));
    if (n)
        record_missing(&t->making.record, "models", "not pulled: %zu model%s that MLflow stores next to the run", n, str_plural(n));
}

enum mlflow_answer pull_facts(struct pull_taking *t, struct err *err)
{
    pull_record_texts(t, FACT_PARAM, "params", &t->params);
    pull_record_texts(t, FACT_TAG, "tags", &t->tags);
    put_own_tags(t);
    enum mlflow_answer answer = take_series(t, err);
    if (answer == MLFLOW_FINE)
        answer = pull_record_metrics(t, err);
    put_notes(t);
    pull_note_models(t);
    if (answer == MLFLOW_FINE && (pull_write_references(t, err) || pull_write_inputs(t, err)))
        answer = MLFLOW_REFUSED;
    return answer;
}

/* ---- files ---- */

enum mlflow_answer pull_fetch_text(struct pull_taking *t, const char *path, size_t max, struct buf *to, struct err *err)
{
    const struct pull_file *f = pull_find_file(t, path);
    CLEANUP_FD int fd = memfd_create("benchwrap-pull", MFD_CLOEXEC);
    struct stat st;
    if (fd < 0) {
        err_sys(err, "cannot keep %.100s", path);
        return MLFLOW_REFUSED;
    }
    if (!f || (uint64_t)f->size > max) {
        err_set(err, ERR_INPUT, "%.100s %s", path, f ? "is too large" : "is not among the artifacts on the server");
        return MLFLOW_REFUSED;
    }
    enum mlflow_answer answer = mlflow_artifact_get(t->p->server, &t->server, path, fd, err);
    if (answer != MLFLOW_FINE)
        return answer;
    if (fstat(fd, &st)) {
        err_sys(err, "reading %.100s", path);
        return MLFLOW_REFUSED;
    }
    if ((uint64_t)st.st_size > max) {
        err_set(err, ERR_REMOTE, "%.100s is larger than in the server's list", path);
        return MLFLOW_REFUSED;
    }
    char *room = buf_room(to, (size_t)st.st_size);
    if (!room || pread(fd, room, (size_t)st.st_size, 0) != (ssize_t)st.st_size) {
        if (room)
            err_sys(err, "reading %.100s", path);
        else
            err_memory(err, "%.100s", path);
        return MLFLOW_REFUSED;
    }
    to->n += (size_t)st.st_size;
    return MLFLOW_FINE;
}

/* Opens a file without a name, for what has not been redacted yet: no crash leaves it. Returns -1
 * with errno. */
static int pull_open_unnamed(int dir)
{
    static const char name[] = "download";
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && unlinkat(dir, name, 0))
        fs_close(&fd);
    return fd;
}

/* Fetches one artifact, cleaned of secrets, into the spool and records it. Files that are too large
 * or that the server does not return are recorded as missing, with MLFLOW_FINE. Other answers have
 * err. */
static enum mlflow_answer pull_fetch_file(struct pull_taking *t, struct pull_file *f, const char *source, struct err *err)
{
    char name[32];
    struct stat st;
    struct record *r = &t->making.record;
    uint64_t left = UINT64_MAX;
    f->used = true;
    if (f->size < 0) {
        record_missing(r, f->path, "not pulled: this folder is too deep");
        return MLFLOW_FINE;
    }
    if (t->ret->bytes + (uint64_t)f->size > t->p->files_max) {
        record_missing(r, f->path, "not pulled: with its %" PRId64 " bytes the run's files would be larger than --artifact-max", f->size);
        return MLFLOW_FINE;
    }
    snprintf(name, sizeof name, "file-%zu", t->ret->files);
    CLEANUP_FD int to = openat(t->making.spool.dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    CLEANUP_FD int fd = pull_open_unnamed(t->making.spool.dir);
    if (to < 0 || fd < 0) {
        err_sys(err, "spool: cannot make a file");
        return MLFLOW_REFUSED;
    }
    enum mlflow_answer answer = mlflow_artifact_get(t->p->server, &t->server, f->path, fd, err);
    t->ret->files++;
    if (answer == MLFLOW_ABSENT || (answer == MLFLOW_REFUSED && err->kind == ERR_REMOTE)) {
        record_missing(r, f->path, "the server does not return it: %.300s", err->text);
        return MLFLOW_FINE;
    }
    if (answer == MLFLOW_FINE && (fstat(fd, &st) || (f->size && st.st_size != f->size))) {
        err_set(err, ERR_REMOTE, "the artifact %.200s has another length than in the server's list; it may be being written: pull again",
                f->path);
        answer = MLFLOW_REFUSED;
    }
    /* The warnings of a run of benchwrap's are among its own. */
    if (answer == MLFLOW_FINE && keep_copy(t->detail ? NULL : r, fd, to, &left, &t->making.redaction.redact, f->path, err))
        answer = MLFLOW_REFUSED;
    if (answer != MLFLOW_FINE)
        return answer;
    t->ret->bytes += (uint64_t)st.st_size;
    struct fact fact = {
        .kind = FACT_ARTIFACT, .key = str_of(f->path), .text = str_of(name), .time_ms = t->start_ms, .unit = "", .source = source};
    record_fact(r, &fact);
    return MLFLOW_FINE;
}

enum mlflow_answer pull_files(struct pull_taking *t, struct err *err)
{
    static const char *const made_anew[] = {"benchwrap.json", "manifest.json", "series.jsonl"};
    enum mlflow_answer answer = MLFLOW_FINE;
    struct pull_file *f;
    for (size_t i = 0; t->detail && i < (t->series_count ? 3 : 2); i++)
        if ((f = pull_find_file(t, made_anew[i])))
            f->used = true;
    for (const struct json *a = json_first(json_get(t->detail, "artifacts")); a && answer == MLFLOW_FINE; a = json_next(a)) {
        f = pull_find_file(t, json_string(json_get(a, "path"), ""));
        if (f && !f->used)
            answer = pull_fetch_file(t, f, json_string(json_get(a, "source"), ""), err);
        else if (!f)
            record_missing(&t->making.record, json_string(json_get(a, "path"), ""), "it is not among the artifacts on the server");
    }
    for (f = t->files; f && answer == MLFLOW_FINE; f = f->next)
        if (!f->used)
            answer = pull_fetch_file(t, f, "server", err);
    return answer;
}
