/* sync_runs.c: the order of runs on their way to a server, the outcome of each, when to stop. */
#include "sync/sync_runs.h"

#include "runs/stale.h"

#include <poll.h>
#include <stdlib.h>

static int sync_order_by_id(const void *a, const void *b)
{
    return strcmp(((const struct sync_item *)a)->run->id, ((const struct sync_item *)b)->run->id);
}

struct sync_item *sync_runs_item(const struct sync_runs *s, const char *id)
{
    struct tree_run run;
    struct sync_item key = {.run = &run};
    if (strlen(id) != 32 || !s->count)
        return NULL;
    memcpy(run.id, id, 33);
    return bsearch(&key, s->items, s->count, sizeof key, sync_order_by_id);
}

int sync_runs_init(struct sync_runs *s, struct err *err)
{
    s->count = s->runs->count;
    s->items = calloc(s->count ? s->count : 1, sizeof *s->items);
    if (!s->items)
        return err_memory(err, "the list of runs");
    for (size_t i = 0; i < s->count; i++)
        s->items[i].run = s->runs->all[i];
    qsort(s->items, s->count, sizeof *s->items, sync_order_by_id);
    for (size_t i = 0; i < s->count; i++) {
        const struct tree_run *run = s->items[i].run;
        const struct folder tree = runs_tree(s->runs, run);
        corrections_read(&s->corrections, &tree, run, s->arena);
    }
    corrections_sort(&s->corrections);
    if (s->corrections.failed)
        return err_memory(err, "the list of runs");
    stale_mark_all(&s->runs->folder, s->runs->all, s->count, &s->corrections, s->arena);
    stale_unmark_others(s->runs->all, s->count, s->arena);
    for (size_t i = 1; i < s->count; i++)
        if (sync_order_by_id(&s->items[i - 1], &s->items[i]) == 0)
            s->items[i - 1].twice = s->items[i].twice = true;
    return 0;
}

void sync_runs_deinit(struct sync_runs *s)
{
    free(s->items);
    s->items = NULL;
    corrections_deinit(&s->corrections);
}

static bool sync_is_cancelled(const struct sync_runs *s)
{
    struct pollfd p = {.fd = s->cancel_fd, .events = POLLIN};
    return s->cancel_fd >= 0 && poll(&p, 1, 0) == 1;
}

static void say_trouble(struct sync_runs *s, const struct err *err)
{
    char text[sizeof err->text + sizeof err->hint + 8];
    snprintf(text, sizeof text, "%s%s%s", err->text, err->hint[0] ? "; hint: " : "", err->hint);
    s->note(s->context, text);
}

/* Adds the outcome of one run to the counts and reports a failure. A server that is not reachable,
 * or that denies access, stops the others. */
static void sync_count(struct sync_runs *s, const struct upload_result *got, const struct err *err)
{
    struct sync_counts *n = &s->n;
    n->made += got->made;
    n->files += got->files;
    n->bytes += got->bytes;
    switch (got->outcome) {
    case UPLOAD_SENT: n->sent++; return;
    case UPLOAD_THERE: n->there++; return;
    case UPLOAD_KNOWN: n->known++; return;
    case UPLOAD_DELETED: n->deleted++; return;
    case UPLOAD_DAMAGED: n->damaged++; break;
    case UPLOAD_FAILED: n->failed++; break;
    }
    bool cancelled = got->outcome == UPLOAD_FAILED && got->answer == MLFLOW_CANCELLED;
    if (cancelled)
        n->failed--;
    else
        say_trouble(s, err);
    if (got->outcome == UPLOAD_FAILED && (cancelled || got->answer == MLFLOW_LATER || got->answer == MLFLOW_DENIED))
        s->stopped = true; /* the next would meet the same */
}

/* Sends one run, unless it is known to be on the server, and counts the outcome. With a ref its
 * files are copied before and removed after. */
static void send_one(struct sync_runs *s, struct sync_item *item)
{
    struct upload_result got = {.outcome = UPLOAD_DAMAGED};
    struct err err = {0};
    if (item->twice)
        err_set(&err, ERR_INPUT, "run %.8s: %s: this run id is in two experiments", item->run->id, item->run->path);
    else if (s->ref && sync_ref_take(s->ref, item->run->path, &err))
        ;
    else if (upload_is_known(s->upload, s->runs->root, item->run))
        got.outcome = UPLOAD_KNOWN;
    else
        upload_tree_run(s->upload, s->runs->root, item->run, &got, &err);
    if (s->ref)
        sync_ref_drop(s->ref, item->run->path);
    item->sent = got.outcome == UPLOAD_SENT;
    item->there = got.outcome == UPLOAD_THERE;
    item->made = item->made || got.made;
    s->n.updated += item->sent && !item->made;
    sync_count(s, &got, &err);
}

static void sync_uncount(struct sync_runs *s, const struct sync_item *item)
{
    s->n.sent -= item->sent;
    s->n.updated -= item->sent && !item->made;
    s->n.there -= item->there;
}

/* Sends a run again that another process made, too, and counts it by its outcome now. */
static void send_again(void *context, const char *id)
{
    struct sync_runs *s = context;
    struct sync_item *item = sync_runs_item(s, id);
    bool sent = item && item->sent;
    if (!item)
        return;
    sync_uncount(s, item);
    send_one(s, item);
    if (sent && item->there) { /* what it lacked was sent by this sync */
        s->n.there--;
        s->n.sent++;
        s->n.updated += !item->made;
    }
}

/* Searches duplicates of what was sent; where that fails, it is not known to be there once. */
static void sync_settle(struct sync_runs *s)
{
    struct err err = {0};
    size_t left;
    enum mlflow_answer answer = upload_settle_all(s->upload, send_again, s, &left, &err);
    if (answer == MLFLOW_FINE)
        return;
    s->n.sent -= left < s->n.sent ? left : s->n.sent;
    if (answer != MLFLOW_CANCELLED) {
        s->n.failed += left;
        if (!s->stopped)
            say_trouble(s, &err);
    }
    s->stopped = true;
}

static void send_item(struct sync_runs *s, struct sync_item *item);

/* Sends a run that another one points at first. */
static void send_before(struct sync_runs *s, const char *id)
{
    struct sync_item *first = id ? sync_runs_item(s, id) : NULL;
    if (first && !first->done && !first->on_way) {
        s->n.wanted += !first->wanted;
        first->wanted = true;
        send_item(s, first);
    }
    if (upload_settle_due(s->upload) || (id && upload_is_unsettled(s->upload, id)))
        sync_settle(s);
}

/* Sets a tag for a corrected run on the server, as MLflow's pages show it as any other. It is set
 * before the correction itself is sent, which is then known as sent. */
static void mark_corrected(struct sync_runs *s, const struct sync_item *item)
{
    const struct correction *k = corrections_of(&s->corrections, item->run->id);
    const struct sync_item *by = k ? sync_runs_item(s, k->id) : NULL;
    struct err err = {0};
    if (!by || strcmp(k->root, item->run->id) == 0 ||
        runs_file(s->runs, by->run, "tags/benchwrap.shared_run", 65, s->arena) /* it completes this tree's run from theirs */ ||
        upload_is_known(s->upload, s->runs->root, item->run))
        return;
    send_before(s, k->root);
    const char *why = k->retracts ? runs_file(s->runs, by->run, "tags/benchwrap.why", 1024, s->arena) : by->run->id;
    const char *text = arena_printf(s->arena, k->retracts ? "Retracted: %s" : "Amended by the run %s", why ? why : "");
    if (s->stopped || !text || upload_mark_corrected(s->upload, item->run->experiment, k->root, text, &err) == MLFLOW_FINE)
        return;
    say_trouble(s, &err);
    s->stopped = true;
}

/* Sends the run after its parent run. Sets s->stopped where sending was cancelled or shall end. */
static void send_item(struct sync_runs *s, struct sync_item *item)
{
    if (item->done || item->on_way || s->stopped)
        return;
    item->on_way = true; /* a circle of parents ends here */
    send_before(s, runs_file(s->runs, item->run, "tags/mlflow.parentRunId", 64, s->arena));
    if (!s->stopped)
        mark_corrected(s, item);
    if (s->stopped || sync_is_cancelled(s)) {
        s->stopped = true;
        return;
    }
    send_one(s, item);
    item->done = true;
}

static int older_first(const void *a, const void *b)
{
    const struct sync_item *const *x = a, *const *y = b;
    if ((*x)->run->start_ms != (*y)->run->start_ms)
        return (*x)->run->start_ms < (*y)->run->start_ms ? -1 : 1;
    return strcmp((*x)->run->id, (*y)->run->id);
}

static int sync_newer_first(const void *a, const void *b)
{
    return older_first(b, a);
}

void sync_runs_send(struct sync_runs *s)
{
    struct sync_item **order = calloc(s->count ? s->count : 1, sizeof(struct sync_item *));
    size_t n = 0, done = 0;
    if (!order) {
        s->note(s->context, "out of memory");
        s->n.failed++;
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].wanted && !s->items[i].run->annotates) /* what an annotation changes is sent with its run */
            order[n++] = &s->items[i];
    s->n.wanted = s->progress->total = n;
    if (n)
        qsort(order, n, sizeof(struct sync_item *), s->newest_first ? sync_newer_first : older_first);
    for (; done < n && !s->stopped; done++) {
        send_item(s, order[done]);
        progress_show(s->progress, done + 1, NULL);
    }
    sync_settle(s);
    progress_clear(s->progress);
    free(order);
    const struct sync_counts *c = &s->n;
    s->n.waiting = s->n.wanted - c->sent - c->there - c->known - c->deleted - c->damaged - c->failed;
}
