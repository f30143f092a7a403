/* lines.c: see lines.h. A loop of the load hands on 128 KiB at a time, or what a second has
 * brought, under a lock that is held for a few instructions, and never waits for the disk. */
#include "benchmarks/native/llmload/output/lines.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 128 << 10, BLOCK_MAX = 64 << 20, WAITING_MAX = 1 << 30, HELD_NS = 1000000000 };

struct line_block {
    struct line_block *next;
    char *p;
    size_t n;
};

struct line_writer {
    const char *path, *option;
    int fd, trouble; /* trouble: errno of the first write that failed */
    unsigned workers;
    struct buf *bufs; /* [workers] */
    int64_t *handed_ns; /* [workers]: when one was handed on last */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct line_block *first, **last;
    size_t waiting; /* bytes */
    uint64_t lost; /* lines */
    bool ended;
};

static uint64_t count_lines(const char *p, size_t n)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines;
}

/* Waits for a block of lines and removes it from the queue; the caller frees it. NULL: the writer
 * has ended and the queue is empty. */
static struct line_block *next_block(struct line_writer *l)
{
    pthread_mutex_lock(&l->lock);
    while (!l->first && !l->ended)
        pthread_cond_wait(&l->more, &l->lock);
    struct line_block *b = l->first;
    if (b && !(l->first = b->next))
        l->last = &l->first;
    pthread_mutex_unlock(&l->lock);
    return b;
}

/* The thread that writes the blocks in their order, and frees them. After a failure it counts the
 * lost lines. Returns NULL. */
static void *write_blocks(void *context)
{
    struct line_writer *l = context;
    for (struct line_block *b; (b = next_block(l));) {
        if (l->trouble || fs_write_all(l->fd, b->p, b->n) < 0) {
            l->trouble = l->trouble ? l->trouble : errno;
            pthread_mutex_lock(&l->lock);
            l->lost += count_lines(b->p, b->n);
            pthread_mutex_unlock(&l->lock);
        }
        pthread_mutex_lock(&l->lock);
        l->waiting -= b->n;
        pthread_mutex_unlock(&l->lock);
        free(b->p);
        free(b);
    }
    return NULL;
}

/* Passes the buffer's block to the writing thread, and empties the buffer. Counts its lines as lost
 * where too much waits. */
static void lines_hand_on(struct line_writer *l, struct buf *b)
{
    struct line_block *block = b->n && !b->failed ? malloc(sizeof *block) : NULL;
    if (block)
        *block = (struct line_block){.p = b->p, .n = b->n};
    pthread_mutex_lock(&l->lock);
    if (block && l->waiting < WAITING_MAX) {
        *l->last = block;
        l->last = &block->next;
        l->waiting += block->n;
        b->p = NULL;
        block = NULL;
        pthread_cond_signal(&l->more);
    } else
        l->lost += count_lines(b->p ? b->p : "", b->n) + b->failed;
    pthread_mutex_unlock(&l->lock);
    free(block);
    buf_deinit(b);
    buf_init(b, BLOCK_MAX);
}

int lines_open(struct line_writer **ret, const char *path, const char *option, unsigned workers, struct str head, struct err *err)
{
    struct line_writer *l = calloc(1, sizeof *l);
    if (!l || !(l->bufs = calloc(workers, sizeof *l->bufs)) || !(l->handed_ns = calloc(workers, sizeof *l->handed_ns))) {
        if (l)
            free(l->bufs);
        free(l);
        return err_sys(err, "--%s %.300s", option, path);
    }
    l->path = path, l->option = option, l->workers = workers, l->last = &l->first;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->more, NULL);
    for (unsigned i = 0; i < workers; i++)
        buf_init(&l->bufs[i], BLOCK_MAX);
    l->fd = place_create(path, O_TRUNC, 0644);
    bool good = l->fd >= 0 && fs_write_all(l->fd, head.p, head.n) == 0;
    if (good)
        good = (errno = pthread_create(&l->thread, NULL, write_blocks, l)) == 0;
    if (!good) {
        err_sys(err, "--%s %.300s", option, path);
        fs_close(&l->fd);
        free(l->bufs);
        free(l->handed_ns);
        free(l);
        return -1;
    }
    *ret = l;
    return 0;
}

struct buf *lines_buf(struct line_writer *l, unsigned worker)
{
    return &l->bufs[worker < l->workers ? worker : 0];
}

void lines_added(struct line_writer *l, unsigned worker)
{
    struct buf *b = lines_buf(l, worker);
    int64_t now = clock_mono_ns(), *handed = &l->handed_ns[b - l->bufs];
    if (b->n >= BLOCK || b->failed || now - *handed >= HELD_NS) { /* one that is killed has lost a second */
        lines_hand_on(l, b);
        *handed = now;
    }
}

int lines_close(struct line_writer *l, struct err *err)
{
    for (unsigned i = 0; i < l->workers; i++)
        lines_hand_on(l, &l->bufs[i]);
    pthread_mutex_lock(&l->lock);
    l->ended = true;
    pthread_cond_signal(&l->more);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    if (close(l->fd) < 0 && !l->trouble)
        l->trouble = errno;
    errno = l->trouble;
    int rc = 0;
    if (l->trouble)
        rc = err_sys(err, "--%s %.300s: %llu lines are missing", l->option, l->path, (unsigned long long)l->lost);
    else if (l->lost)
        rc = err_set(err, ERR_SYSTEM, "--%s %.300s: %llu lines are missing: the disk is too slow, or memory too small", l->option, l->path,
                     (unsigned long long)l->lost);
    for (unsigned i = 0; i < l->workers; i++)
        buf_deinit(&l->bufs[i]);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->more);
    free(l->bufs);
    free(l->handed_ns);
    free(l);
    return rc;
}
