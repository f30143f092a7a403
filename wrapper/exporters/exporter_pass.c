/* exporter_pass.c: delivers what waits for one exporter; see exporter_pass.h. */
#include "exporters/exporter_pass.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STEP = 16384, /* entries of one scan of the folder: a scan reads the names of all, of a million in half a second */
    FAILED_MAX = 3, /* entries that fail without one between them that is sent: the destination is at fault */
    TRIES_MAX = 5, /* an entry that fails in so many passes, while others are sent, is a dead letter */
    BUSY_MS = 2000, /* another process may have passed the entry that this one came for */
    BACKOFF_MIN_MS = 1000,
    BACKOFF_MAX_MS = 15 * 60 * 1000,
    ENTRY_BYTES = 512 << 20
};

struct pass {
    const struct exporter_pass *what;
    struct exporter_outcome *out;
    struct exporter_queue queue;
    struct exporter_state state;
    struct exporter_link link;
    struct arena link_arena;
    bool is_open;
    struct exporter_entry *look; /* STEP entries */
    struct exporter_entry *unflushed; /* sent, and not yet certain */
    size_t unflushed_count, batch;
    struct exporter_entry failed[FAILED_MAX];
    char failed_why[FAILED_MAX][EXPORTER_WHY_MAX];
    size_t failed_count;
    bool stop; /* the destination accepts nothing now */
    double retry_after_s;
};

static void pass_note(struct pass *s, const struct err *err)
{
    struct buf plain CLEANUP_BUF;
    buf_init(&plain, 4096);
    buf_plain(&plain, str_of(err->text), EXPORTER_WHY_MAX / 4);
    snprintf(s->out->why, sizeof s->out->why, "%s", plain.p ? plain.p : "");
    s->out->failed = true;
}

static void pass_stop(struct pass *s, const struct err *err)
{
    pass_note(s, err);
    s->stop = true;
    if (s->link.retry_after_s > s->retry_after_s)
        s->retry_after_s = s->link.retry_after_s;
}

/* Returns whether the pass over the queue ends: it was stopped, its time is over, or cancel_fd can
 * be read. */
static bool is_pass_over(const struct pass *s)
{
    struct pollfd p = {.fd = s->what->cancel_fd, .events = POLLIN};
    return s->stop || clock_mono_ns() >= s->what->until_ns || (p.fd >= 0 && poll(&p, 1, 0) == 1);
}

/* ---- the destination ---- */

static void pass_close_link(struct pass *s)
{
    if (s->is_open && s->what->config->kind->close)
        s->what->config->kind->close(&s->link);
    if (s->is_open)
        arena_deinit(&s->link_arena);
    s->is_open = false;
}

/* Opens the destination unless it is open. False: it cannot be opened, and the pass is stopped with
 * the reason. */
static bool pass_open_link(struct pass *s)
{
    struct err err = {0};
    if (s->is_open)
        return true;
    arena_init(&s->link_arena, 0);
    s->is_open = true;
    s->link = (struct exporter_link){.config = s->what->config,
                                     .env = s->what->env,
                                     .arena = &s->link_arena,
                                     .until_ns = s->what->until_ns,
                                     .cancel_fd = s->what->cancel_fd,
                                     .retry_after_s = -1};
    if (s->what->config->kind->open(&s->link, &err) == EXPORTER_SENT)
        return true;
    pass_stop(s, &err);
    pass_close_link(s);
    return false;
}

/* ---- an entry ---- */

static void pass_set_aside(struct pass *s, const char *name, struct exporter_item *item, const struct err *why)
{
    struct err err = {0};
    pass_note(s, why);
    item->why = s->out->why;
    if (exporter_queue_set_aside(&s->queue, name, item, &err))
        pass_stop(s, &err); /* a full disk: nothing becomes a dead letter or is lost */
    else
        s->out->dead++;
}

/* Opens the folder that an entry names. A relative one is next to the spool, where another user may
 * have made a link: that is not followed. Returns a descriptor that the caller closes; -1 with
 * errno. */
static int pass_open_tree(const struct pass *s, const char *tree)
{
    struct stat st;
    if (tree[0] == '/')
        return place_open_folder(tree, 0);
    if (fstatat(s->queue.dir, tree, &st, AT_SYMLINK_NOFOLLOW))
        return -1;
    if (S_ISLNK(st.st_mode) && !place_is_trusted(st.st_uid)) {
        errno = ELOOP;
        return -1;
    }
    return openat(s->queue.dir, tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW));
}

/* Reads the entry's run into *ret, which the caller has initialised and frees with
 * exporter_run_deinit in any case. 0; 1 with err: the run is gone for good and never can be sent; -1
 * with err: it may be sent later, as where the tree's folder is gone for a while. */
static int pass_read_run(struct pass *s, const char *name, const struct exporter_item *item, struct arena *a, struct exporter_run *ret,
                         struct err *err)
{
    CLEANUP_FD int root = pass_open_tree(s, item->tree);
    if (root < 0)
        return err_sys(err, "cannot open the tree %s", item->tree);
    int rc = exporter_run_read(ret, root, exporter_entry_run(name), a, err);
    return rc > 0 ? (err_set(err, ERR_INPUT, "the run is not in %s any more", item->tree), 1) : rc;
}

/* On a full disk the entry stays as it was, and parts of the run are sent again. */
static void pass_update_entry(struct pass *s, const char *name, const struct exporter_item *item)
{
    struct err err = {0};
    if (exporter_queue_write(&s->queue, ".", name, item, &err))
        pass_note(s, &err);
}

static void pass_keep_failed(struct pass *s, const char *name, const struct exporter_item *item, const struct err *err)
{
    pass_note(s, err);
    pass_update_entry(s, name, item);
    memcpy(s->failed[s->failed_count].name, name, EXPORTER_ENTRY_SIZE);
    memcpy(s->failed_why[s->failed_count], s->out->why, EXPORTER_WHY_MAX);
    if (++s->failed_count == FAILED_MAX)
        s->stop = true;
    if (s->link.retry_after_s > s->retry_after_s)
        s->retry_after_s = s->link.retry_after_s;
}

/* The destination refuses this run, or failed with it. */
static void pass_end_entry(struct pass *s, const char *name, enum exporter_answer answer, const struct err *err)
{
    struct arena a;
    struct exporter_item item = {.tree = "unknown", .why = ""};
    arena_init(&a, 1 << 20);
    if (exporter_queue_read(&s->queue, ".", name, &a, &item, NULL) == 0) {
        if (answer == EXPORTER_REFUSED)
            pass_set_aside(s, name, &item, err);
        else
            pass_keep_failed(s, name, &item, err);
    }
    arena_deinit(&a);
}

/* What was sent since the last flush is delivered now, or waits. */
static void pass_flush(struct pass *s)
{
    const struct exporter *kind = s->what->config->kind;
    struct err err = {0};
    if (s->unflushed_count == 0)
        return;
    s->link.retry_after_s = -1;
    enum exporter_answer answer = kind->flush ? kind->flush(&s->link, &err) : EXPORTER_SENT;
    if (answer == EXPORTER_SENT) {
        for (size_t i = 0; i < s->unflushed_count; i++)
            exporter_queue_remove(&s->queue, ".", s->unflushed[i].name);
        s->out->sent += s->unflushed_count;
        s->state.sent += s->unflushed_count;
    } else if (answer == EXPORTER_LATER)
        pass_stop(s, &err);
    else if (s->unflushed_count > 1)
        s->batch = 1; /* they are still in the folder, and come again one by one */
    else
        pass_end_entry(s, s->unflushed[0].name, answer, &err);
    s->unflushed_count = 0;
    s->link.is_full = false;
}

/* Sends a run. A delivered run stays in the queue until pass_flush. A refused run becomes a dead
 * letter, a failed one stays for later, and EXPORTER_LATER stops the pass. */
static void pass_send(struct pass *s, const char *name, const struct exporter_item *read_item, const struct exporter_run *run)
{
    struct err err = {0};
    struct exporter_item item = *read_item;
    s->link.retry_after_s = -1;
    enum exporter_answer answer = s->what->config->kind->send(&s->link, run, &item.done, &err);
    switch (answer) {
    case EXPORTER_SENT:
        memcpy(s->unflushed[s->unflushed_count++].name, name, EXPORTER_ENTRY_SIZE);
        if (s->unflushed_count >= s->batch || s->link.is_full)
            pass_flush(s);
        return;
    case EXPORTER_REFUSED: pass_set_aside(s, name, &item, &err); return;
    case EXPORTER_FAILED: pass_keep_failed(s, name, &item, &err); return;
    default: break;
    }
    if (item.done != read_item->done)
        pass_update_entry(s, name, &item);
    pass_stop(s, &err);
}

/* Delivers one entry of the queue. An entry that is damaged, or whose run is no longer in its tree,
 * becomes a dead letter. Ignores an entry that is gone. */
static void pass_entry(struct pass *s, const char *name)
{
    struct arena a;
    struct exporter_item item;
    struct exporter_run run = {.detail = NULL};
    struct err err = {0};
    arena_init(&a, ENTRY_BYTES);
    int rc = exporter_queue_read(&s->queue, ".", name, &a, &item, &err);
    if (rc < 0) {
        struct exporter_item damaged = {.tree = "unknown", .why = ""};
        pass_set_aside(s, name, &damaged, &err);
    } else if (rc == 0) {
        rc = pass_read_run(s, name, &item, &a, &run, &err);
        if (rc > 0)
            pass_set_aside(s, name, &item, &err);
        else if (rc < 0)
            pass_keep_failed(s, name, &item, &err);
        else if (pass_open_link(s))
            pass_send(s, name, &item, &run);
        exporter_run_deinit(&run);
    }
    arena_deinit(&a);
}

static bool has_entry_failed(const struct pass *s, const char *name)
{
    for (size_t i = 0; i < s->failed_count; i++)
        if (strcmp(s->failed[i].name, name) == 0)
            return true;
    return false;
}

/* Returns whether the run of this name was sent in this pass, but may not have reached the
 * destination yet. */
static bool is_unflushed(const struct pass *s, const char *name)
{
    for (size_t i = 0; i < s->unflushed_count; i++)
        if (strcmp(s->unflushed[i].name, name) == 0)
            return true;
    return false;
}

/* One scan of the folder, oldest first. Returns how many entries were tried. */
static size_t pass_look(struct pass *s)
{
    struct exporter_entry *step = s->look;
    char after[EXPORTER_ENTRY_SIZE] = "";
    size_t n, tried = 0;
    do {
        n = exporter_queue_first(&s->queue, ".", after, step, STEP, NULL);
        for (size_t i = 0; i < n && !is_pass_over(s); i++) {
            memcpy(after, step[i].name, sizeof after);
            if (has_entry_failed(s, step[i].name) || is_unflushed(s, step[i].name))
                continue;
            pass_entry(s, step[i].name);
            tried++;
        }
    } while (n == STEP && !is_pass_over(s));
    if (!s->stop)
        pass_flush(s);
    s->unflushed_count = 0;
    return tried;
}

/* ---- the pass ---- */

/* Entries that failed while others were sent: the entry is at fault, in the end. */
static void pass_count_tries(struct pass *s)
{
    for (size_t i = 0; i < s->failed_count && s->out->sent; i++) {
        struct arena a;
        struct exporter_item item;
        struct err err = {0};
        arena_init(&a, 1 << 20);
        if (exporter_queue_read(&s->queue, ".", s->failed[i].name, &a, &item, NULL) == 0) {
            err_set(&err, ERR_REMOTE, "%.300s (tried %d times, while other runs were accepted)", s->failed_why[i], TRIES_MAX);
            if (++item.tries >= TRIES_MAX)
                pass_set_aside(s, s->failed[i].name, &item, &err);
            else
                pass_update_entry(s, s->failed[i].name, &item);
        }
        arena_deinit(&a);
    }
}

static int64_t pass_backoff_ms(uint64_t failures)
{
    int64_t ms = BACKOFF_MIN_MS;
    for (uint64_t i = 1; i < failures && ms < BACKOFF_MAX_MS; i++)
        ms *= 2;
    return ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS;
}

/* Updates the queue's state after a pass: counts failures in a row, and sets when the next attempt
 * may be made. */
static void pass_update_state(struct pass *s, size_t sent_before)
{
    struct exporter_state *state = &s->state;
    int64_t now = clock_wall_ms();
    bool good = !s->stop && s->failed_count == 0;
    if (good || s->out->sent > sent_before) {
        state->failures = 0;
        state->since_ms = state->not_before_ms = 0;
        state->asked = false;
        state->why[0] = 0;
    }
    if (!good) {
        state->failures++;
        state->since_ms = state->since_ms ? state->since_ms : now;
        state->asked = s->retry_after_s > 0;
        double wait = state->asked ? s->retry_after_s * 1e3 : (double)pass_backoff_ms(state->failures);
        state->not_before_ms = now + (wait < 86400e3 ? (int64_t)wait : 86400000);
        snprintf(state->why, sizeof state->why, "%s", s->out->why);
    }
}

/* Waits until the next request to the destination is allowed, if that is within the pass's time.
 * False: it is not, or the caller is not patient. */
static bool pass_wait(const struct pass *s, unsigned round)
{
    int64_t left_ms = (s->what->until_ns - clock_mono_ns()) / 1000000, wait_ms;
    struct pollfd p = {.fd = s->what->cancel_fd, .events = POLLIN};
    if (s->retry_after_s >= 0)
        wait_ms = (int64_t)(s->retry_after_s < 86400 ? s->retry_after_s * 1e3 : 86400e3) + 1;
    else if (s->what->patient)
        wait_ms = pass_backoff_ms(round + 1) / 2;
    else
        return false;
    if (wait_ms >= left_ms)
        return false;
    return poll(&p, p.fd >= 0 ? 1 : 0, (int)wait_ms) == 0;
}

/* Delivers the queue in rounds, until no entry failed and the destination did not stop one, or
 * pass_wait allows no further round. Closes the destination and stores the state of the queue. */
static void pass_run(struct pass *s)
{
    size_t sent = s->out->sent;
    for (unsigned round = 0;; round++) {
        s->stop = false;
        s->failed_count = 0;
        s->retry_after_s = -1;
        s->out->failed = s->out->dead > 0;
        while (pass_look(s) > 0 && !is_pass_over(s)) /* entries that came in between */
            ;
        pass_count_tries(s);
        if (!s->stop && s->failed_count == 0)
            break;
        pass_close_link(s);
        if (!pass_wait(s, round))
            break;
    }
    pass_close_link(s);
    pass_update_state(s, sent);
}

static void pass_trim(struct pass *s)
{
    size_t max = (size_t)opt_integer(&s->what->config->opts, EXPORTER_KEY_MAX_PENDING);
    uint64_t bytes = opt_bytes(&s->what->config->opts, EXPORTER_KEY_MAX_SIZE);
    s->out->dropped = exporter_queue_trim(&s->queue, ".", max, bytes) + exporter_queue_trim(&s->queue, EXPORTER_DEAD, max, bytes);
    s->state.dropped += s->out->dropped;
}

static void pass_count(const struct exporter_queue *q, struct exporter_outcome *ret)
{
    exporter_queue_first(q, ".", "", NULL, 0, &ret->pending);
    exporter_queue_first(q, EXPORTER_DEAD, "", NULL, 0, &ret->letters);
}

void exporter_deliver(const struct exporter_pass *p, struct exporter_outcome *ret)
{
    struct pass s = {.what = p, .out = ret, .queue = EXPORTER_QUEUE_NONE, .batch = p->config->kind->batch ? p->config->kind->batch : 1};
    struct err err = {0};
    *ret = (struct exporter_outcome){.sent = 0};
    int rc = exporter_queue_open(&s.queue, p->spool, p->config->name, false, &err);
    if (rc < 0)
        pass_note(&s, &err);
    if (rc)
        return;
    s.unflushed = calloc(s.batch, sizeof *s.unflushed);
    s.look = malloc(STEP * sizeof *s.look);
    bool has_memory = s.unflushed && s.look;
    if (!has_memory) {
        err_memory(&err, "an exporter");
        pass_note(&s, &err);
    }
    ret->busy = has_memory && exporter_queue_lock(&s.queue, BUSY_MS) > 0;
    exporter_state_read(&s.queue, &s.state);
    ret->waits = s.state.not_before_ms > clock_wall_ms() && (p->background || s.state.asked);
    if (ret->waits)
        memcpy(ret->why, s.state.why, sizeof ret->why);
    if (has_memory && !ret->busy && !ret->waits) {
        pass_run(&s);
        pass_trim(&s);
        if (exporter_state_write(&s.queue, &s.state, &err) && !ret->failed)
            pass_note(&s, &err);
    }
    pass_count(&s.queue, ret);
    free(s.unflushed);
    free(s.look);
    exporter_queue_close(&s.queue);
}

void exporter_pass_count(const struct exporter_pass *p, struct exporter_outcome *ret, struct exporter_state *ret_state)
{
    struct exporter_queue q;
    struct err err = {0};
    *ret = (struct exporter_outcome){.sent = 0};
    *ret_state = (struct exporter_state){.sent = 0};
    int rc = exporter_queue_open(&q, p->spool, p->config->name, false, &err);
    if (rc < 0) {
        ret->failed = true;
        snprintf(ret->why, sizeof ret->why, "%.*s", EXPORTER_WHY_MAX - 1, err.text);
    }
    if (rc)
        return;
    exporter_state_read(&q, ret_state);
    pass_count(&q, ret);
    exporter_queue_close(&q);
}
