/* pull.c: which runs a server has, which of them the tree lacks, and the story of one of them. */
#include "base/array.h"
#include "base/fs.h"
#include "base/place.h"
#include "import/pull_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DETAIL_BYTES = 64 << 20, ARGUMENTS_MAX = 100000, PAGE = 200 };

void pull_init(struct pull *p)
{
    *p = (struct pull){.root = -1, .files_max = 64 << 20};
    arena_init(&p->arena, (size_t)1 << 30);
}

void pull_deinit(struct pull *p)
{
    fs_close(&p->root);
    free(p->runs);
    free(p->by_server_id);
    arena_deinit(&p->arena);
}

/* ---- the list ---- */

struct pull_search {
    struct pull *p;
    const char *experiment;
    int64_t since_ms;
    bool failed;
};

/* Determines the id in the tree of a run that another client made. */
static void pull_id_of_server(const char *server_id, char ret[33])
{
    if (record_is_id(str_of(server_id)))
        memcpy(ret, server_id, 33);
    else
        make_id(ret, "pull", str_of(server_id));
}

/* Adds a run of the server to the list; older ones than a->since_ms are ignored. Returns true,
 * which stops the search, when out of memory. */
static int pull_add_run(void *context, const struct mlflow_run *run)
{
    struct pull_search *a = context;
    struct pull *p = a->p;
    const char *id = mlflow_tag_of(run->data, PULL_TAG_ID), *parent = mlflow_tag_of(run->data, "mlflow.parentRunId");
    if (run->start_ms < a->since_ms)
        return 0;
    if (!ARRAY_FITS(p->runs, p->room, p->count + 1))
        return a->failed = true;
    struct pull_run *to = &p->runs[p->count++];
    *to = (struct pull_run){.server_id = arena_dup(&p->arena, run->id, strlen(run->id)),
                            .name = arena_dup(&p->arena, run->name, strlen(run->name)),
                            .status = arena_dup(&p->arena, run->status, strlen(run->status)),
                            .parent = parent && *parent ? arena_dup(&p->arena, parent, strlen(parent)) : NULL,
                            .experiment = a->experiment,
                            .ours = id && record_is_id(str_of(id)),
                            .doubled = mlflow_tag_of(run->data, PULL_TAG_DOUBLE) != NULL,
                            .start_ms = run->start_ms};
    const char *shared = mlflow_tag_of(run->data, PULL_TAG_INCOMPLETE) ? mlflow_tag_of(run->data, PULL_TAG_SHARED) : NULL;
    to->differs = to->ours && (!mlflow_tag_of(run->data, PULL_TAG_SYNCED) || (shared && strcmp(shared, run->id) == 0));
    if (to->ours)
        memcpy(to->id, id, sizeof to->id);
    else
        pull_id_of_server(run->id, to->id);
    return a->failed = p->arena.failed;
}

enum mlflow_answer pull_add(struct pull *p, const char *experiment, int64_t since_ms, struct err *err)
{
    const char *id;
    struct pull_search a = {.p = p, .experiment = arena_dup(&p->arena, experiment, strlen(experiment)), .since_ms = since_ms};
    enum mlflow_answer answer = mlflow_experiment_find(p->server, experiment, &p->arena, &id, err);
    if (answer == MLFLOW_FINE)
        answer = mlflow_run_search_pages(p->server, id, "", false, PAGE, pull_add_run, &a, err);
    if (answer == MLFLOW_FINE && (a.failed || !a.experiment)) {
        err_memory(err, "the list of runs");
        answer = MLFLOW_REFUSED;
    }
    return answer;
}

static int64_t pull_compare_times(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int pull_order_by_start(const void *a, const void *b)
{
    const struct pull_run *x = a, *y = b;
    int64_t c = pull_compare_times(x->start_ms, y->start_ms);
    return c ? (int)c : strcmp(x->server_id, y->server_id);
}

/* Those of one id: the ones that a sync is about to delete last, else as sync chooses: the first by
 * start and the server's id is the run. */
static int pull_order_by_id(const void *a, const void *b)
{
    const struct pull_run *x = *(struct pull_run *const *)a, *y = *(struct pull_run *const *)b;
    int c = strcmp(x->id, y->id);
    return c ? c : x->doubled != y->doubled ? x->doubled - y->doubled : pull_order_by_start(x, y);
}

static int by_server_id(const void *a, const void *b)
{
    return strcmp((*(struct pull_run *const *)a)->server_id, (*(struct pull_run *const *)b)->server_id);
}

/* Returns whether a run of this id is in the tree, or about to be. */
static bool pull_is_present(struct pull *p, const struct pull_run *run, char *place, size_t size)
{
    struct arena a;
    struct tree_run *found;
    char path[4200];
    arena_init(&a, 1 << 20);
    if (p->root < 0) /* made with the first run */
        p->root = place_open_folder(p->tree, 0);
    bool there = p->root >= 0 && tree_find(p->root, run->id, TREE_META, &a, &found, NULL) == 0;
    if (there)
        snprintf(place, size, "%s", found->path);
    arena_deinit(&a);
    snprintf(path, sizeof path, "%s/%s/journal", p->spool, run->id);
    return there || access(path, F_OK) == 0;
}

/* Chooses the server's id where the server's content differs and the tree lacks the run: no id
 * stands for two contents. */
static void pull_choose_id(struct pull *p, struct pull_run *run)
{
    char place[128];
    if (!run->differs || run->doubled || pull_is_present(p, run, place, sizeof place))
        return;
    run->ours = false;
    pull_id_of_server(run->server_id, run->id);
}

int pull_ready(struct pull *p, struct err *err)
{
    if (p->count)
        qsort(p->runs, p->count, sizeof *p->runs, pull_order_by_start);
    p->by_server_id = calloc(p->count + 1, sizeof *p->by_server_id);
    if (!p->by_server_id)
        return err_memory(err, "the list of runs");
    for (size_t i = 0; i < p->count; i++)
        p->by_server_id[i] = &p->runs[i];
    qsort(p->by_server_id, p->count, sizeof *p->by_server_id, pull_order_by_id);
    for (size_t i = 1; i < p->count; i++)
        if (strcmp(p->by_server_id[i]->id, p->by_server_id[i - 1]->id) == 0)
            p->by_server_id[i]->doubled = true;
    for (size_t i = 0; i < p->count; i++)
        pull_choose_id(p, &p->runs[i]);
    qsort(p->by_server_id, p->count, sizeof *p->by_server_id, by_server_id);
    return 0;
}

const char *pull_tree_id(const struct pull *p, const char *server_id)
{
    struct pull_run wanted = {.server_id = server_id}, *key = &wanted;
    struct pull_run **at = p->count ? bsearch(&key, p->by_server_id, p->count, sizeof key, by_server_id) : NULL;
    return at ? (*at)->id : NULL;
}

/* ---- one run: what the server has of it ---- */

static int pull_order_by_key(const void *a, const void *b)
{
    return strcmp(((const struct pull_entry *)a)->key, ((const struct pull_entry *)b)->key);
}

struct pull_entry *pull_find_entry(const struct pull_entries *e, const char *key)
{
    struct pull_entry wanted = {.key = key};
    return e->count ? bsearch(&wanted, e->all, e->count, sizeof wanted, pull_order_by_key) : NULL;
}

static void pull_read_entries(struct pull_taking *t, const char *name, struct pull_entries *ret)
{
    const struct json *list = json_get(t->server.data, name);
    ret->all = arena_get(&t->arena, (json_count(list) + 1) * sizeof *ret->all);
    for (const struct json *e = json_first(list); e && ret->all; e = json_next(e))
        ret->all[ret->count++] =
            (struct pull_entry){.key = json_string(json_get(e, "key"), ""), .text = json_string(json_get(e, "value"), ""), .at = e};
    if (ret->all && ret->count)
        qsort(ret->all, ret->count, sizeof *ret->all, pull_order_by_key);
}

struct pull_file *pull_find_file(const struct pull_taking *t, const char *path)
{
    size_t low = 0, high = t->sorted ? t->file_count : 0;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(t->sorted[mid]->path, path) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return t->sorted && low < t->file_count && strcmp(t->sorted[low]->path, path) == 0 ? t->sorted[low] : NULL;
}

/* Adds a file of the server to the list. Returns non-zero, which stops the listing, when out of
 * memory. */
static int pull_add_file(void *context, const char *path, int64_t size)
{
    struct pull_taking *t = context;
    struct pull_file *f = ARENA_NEW(&t->arena, struct pull_file);
    if (!f)
        return 1;
    *f = (struct pull_file){.path = arena_dup(&t->arena, path, strlen(path)), .size = size};
    f->next = t->files;
    t->files = f;
    t->file_count++;
    return t->arena.failed;
}

static int pull_by_path(const void *a, const void *b)
{
    const struct pull_file *const *x = a, *const *y = b;
    return strcmp((*x)->path, (*y)->path);
}

/* Sorts the files by path. Out of memory: the arena has failed. */
static void pull_sort_files(struct pull_taking *t)
{
    size_t n = 0;
    t->sorted = arena_get(&t->arena, (t->file_count + 1) * sizeof(struct pull_file *));
    for (struct pull_file *f = t->files; f && t->sorted; f = f->next)
        t->sorted[n++] = f;
    if (n)
        qsort(t->sorted, n, sizeof *t->sorted, pull_by_path);
    for (size_t i = 0; i < n; i++)
        t->sorted[i]->next = i + 1 < n ? t->sorted[i + 1] : NULL;
    t->files = n ? t->sorted[0] : t->files;
}

/* Fetches the run's own typed record, where it is one of a tree. Other content is ignored, and the
 * run is made from the server's entries. */
static enum mlflow_answer pull_fetch_detail(struct pull_taking *t, struct err *err)
{
    struct err why = {0};
    if (!t->run->ours || !pull_find_file(t, "benchwrap.json"))
        return MLFLOW_FINE;
    enum mlflow_answer answer = pull_fetch_text(t, "benchwrap.json", DETAIL_BYTES, &t->detail_text, err);
    if (answer == MLFLOW_ABSENT || answer == MLFLOW_REFUSED)
        return MLFLOW_FINE;
    if (answer != MLFLOW_FINE || json_parse(&t->detail, buf_text(&t->detail_text), NULL, &why))
        return answer;
    if (json_integer(json_get(t->detail, "format"), 0) == MLRUNS_FORMAT &&
        strcmp(json_string(json_pointer(t->detail, "/run/id"), ""), t->run->id) == 0)
        return MLFLOW_FINE;
    json_free(t->detail);
    t->detail = NULL;
    return MLFLOW_FINE;
}

/* Reads the run from the server: params, tags, metrics, list of artifacts, and benchwrap's record
 * where it has one. Artifacts that cannot be listed are noted in t->ret->why, and the rest is
 * read. */
static enum mlflow_answer pull_fetch_run(struct pull_taking *t, struct err *err)
{
    enum mlflow_answer answer = mlflow_run_get(t->p->server, t->run->server_id, &t->arena, &t->server, err);
    if (answer != MLFLOW_FINE)
        return answer;
    pull_read_entries(t, "params", &t->params);
    pull_read_entries(t, "tags", &t->tags);
    pull_read_entries(t, "metrics", &t->metrics);
    answer = mlflow_artifact_list(t->p->server, &t->server, "", pull_add_file, t, err);
    if (answer == MLFLOW_REFUSED || answer == MLFLOW_ABSENT) { /* a root that is nowhere: the run is not worth less */
        snprintf(t->ret->why, sizeof t->ret->why, "its artifacts cannot be listed: %.400s", err->text);
        answer = MLFLOW_FINE;
    }
    if (!t->arena.failed)
        pull_sort_files(t);
    if (answer == MLFLOW_FINE && !t->arena.failed)
        answer = pull_fetch_detail(t, err);
    if (answer == MLFLOW_FINE && t->arena.failed) {
        err_memory(err, "a run");
        answer = MLFLOW_REFUSED;
    }
    return answer;
}

/* ---- one run: into the spool and the tree ---- */

/* Returns the command line of the run's own record, NULL-terminated, in its arena. NULL: too many
 * words, or out of memory. */
static char **pull_read_argv(struct pull_taking *t)
{
    const struct json *argv = json_pointer(t->detail, "/run/argv");
    size_t n = json_count(argv), i = 0;
    char **ret = n < ARGUMENTS_MAX ? arena_get(&t->arena, (n + 1) * sizeof *ret) : NULL;
    for (const struct json *w = json_first(argv); w && ret && i < n; w = json_next(w))
        ret[i++] = arena_dup(&t->arena, json_string(w, ""), strlen(json_string(w, "")));
    return ret;
}

/* Begins the run in the spool from what the record states, else the server. Returns -1 with err. */
static int pull_begin_run(struct pull_taking *t, struct err *err)
{
    const struct json *run = json_get(t->detail, "run");
    char here[256] = "", *none[] = {NULL}, **argv = pull_read_argv(t);
    gethostname(here, sizeof here - 1);
    const char *wanted = t->run->ours ? mlflow_tag_of(t->server.data, "benchwrap.experiment") : NULL;
    const char *name = json_string(json_get(run, "name"), t->run->name);
    t->start_ms = t->server.start_ms > 0 ? t->server.start_ms : t->server.end_ms > 0 ? t->server.end_ms : 1;
    struct make_plan plan = {.id = t->run->id,
                             .spool = t->p->spool,
                             .head = {.host = here,
                                      .experiment = wanted ? wanted : t->run->experiment,
                                      .run_name = name,
                                      .tree = t->p->tree,
                                      .user = t->server.user,
                                      .job = json_string(json_get(run, "job"), ""),
                                      .argv = argv ? argv : none,
                                      .start_ms = t->start_ms},
                             .options = {.told = true, .host = json_string(json_get(run, "host"), "")}};
    if (make_begin(&t->making, &plan, err))
        return -1;
    t->begun = true;
    t->making.record.source = "server";
    return 0;
}

/* Ends the run and publishes it. One that has not ended on the server becomes KILLED, with a tag
 * that states it. Returns 0; 1: another process is publishing a run of this id; -1 with err. */
static int pull_finish_run(struct pull_taking *t, struct err *err)
{
    const char *status = t->server.status;
    bool killed = strcmp(status, "KILLED") == 0, failed = strcmp(status, "FAILED") == 0,
         ended = killed || failed || strcmp(status, "FINISHED") == 0;
    int64_t end = t->server.end_ms > 0 ? t->server.end_ms : t->last_ms > t->start_ms ? t->last_ms : t->start_ms;
    struct finished done = {0};
    if (!ended)
        record_tag(&t->making.record, "benchwrap.ended", STR("it had not ended on the server when it was pulled"));
    t->begun = false;
    int rc = make_end(&t->making, killed || !ended ? RUN_KILLED : failed ? RUN_FAILED : RUN_FINISHED, NULL, end, &done, err);
    if (rc == 0) {
        snprintf(t->ret->place, sizeof t->ret->place, "%s", done.place);
        t->ret->verdict = arena_dup(&t->p->arena, done.verdict, strlen(done.verdict));
        if (record_lost(&done.record))
            snprintf(t->ret->why, sizeof t->ret->why, "%zu facts were dropped: out of capacity", record_lost(&done.record));
    }
    finished_deinit(&done);
    return rc;
}

/* Writes the run of the server into the tree. Sets result and answer of t->ret, with the reason on
 * failure. A run with an error before its end is removed from the spool. */
static void pull_write_run(struct pull_taking *t)
{
    struct err err = {0};
    struct pulled *ret = t->ret;
    bool here = false; /* the failure is on this machine */
    ret->answer = pull_fetch_run(t, &err);
    if (ret->answer == MLFLOW_FINE && !(here = pull_begin_run(t, &err) != 0))
        ret->answer = pull_facts(t, &err);
    if (ret->answer == MLFLOW_FINE && !here)
        ret->answer = pull_files(t, &err);
    int rc = ret->answer == MLFLOW_FINE && !here ? pull_finish_run(t, &err) : -1;
    if (t->begun)
        make_drop(&t->making);
    ret->result = rc == 0 ? PULL_DONE : rc > 0 ? PULL_THERE : PULL_FAILED;
    if (rc < 0)
        snprintf(ret->why, sizeof ret->why, "%.500s", err.text);
}

void pull_take(struct pull *p, const struct pull_run *run, struct pulled *ret)
{
    *ret = (struct pulled){.answer = MLFLOW_FINE, .verdict = ""};
    bool running = strcmp(run->status, "RUNNING") == 0 || strcmp(run->status, "SCHEDULED") == 0;
    if (run->doubled) {
        ret->result = PULL_DOUBLE;
        snprintf(ret->why, sizeof ret->why, "another run on the server stands for %.8s", run->id);
    } else if (pull_is_present(p, run, ret->place, sizeof ret->place))
        ret->result = PULL_THERE;
    else if (running && !p->all) {
        ret->result = PULL_RUNNING;
        snprintf(ret->why, sizeof ret->why, "it has not ended on the server (--all writes it as it is)");
    } else if (p->dry)
        ret->result = PULL_DONE;
    else {
        struct pull_taking t = {.p = p, .run = run, .ret = ret};
        arena_init(&t.arena, (size_t)512 << 20);
        buf_init(&t.detail_text, DETAIL_BYTES + 4096);
        pull_write_run(&t);
        for (size_t i = 0; i < t.series_count; i++)
            json_free(t.series[i]);
        free(t.series);
        json_free(t.detail);
        buf_deinit(&t.detail_text);
        json_free(t.server.reply);
        arena_deinit(&t.arena);
    }
}
