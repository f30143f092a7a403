/* parallel.c: workers process small pieces of the work until nothing is left, so that none waits
 * for a slow one. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { PIECE_MAX = 64, PIECES_EACH = 8 /* of each worker, at least: few and long ones leave workers idle at the end */ };

struct shared {
    size_t n, piece;
    atomic_size_t next;
    void (*each)(void *context, size_t i, struct arena *arena);
    void *context;
};

struct parallel_worker {
    struct shared *all;
    struct arena own;
    pthread_t thread;
};

unsigned parallel_workers(size_t n, size_t least)
{
    cpu_set_t set;
    size_t most = sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1, worth = n / (least ? least : 1);
    most = most > PARALLEL_MAX ? PARALLEL_MAX : most;
    return (unsigned)(worth < 1 || most < 1 ? 1 : worth < most ? worth : most);
}

/* Runs as the thread of one worker: processes pieces until none is left. Returns NULL. */
static void *parallel_work(void *worker)
{
    struct parallel_worker *w = worker;
    struct shared *all = w->all;
    for (size_t from; (from = atomic_fetch_add(&all->next, all->piece)) < all->n;)
        for (size_t i = from; i < all->n && i < from + all->piece; i++)
            all->each(all->context, i, &w->own);
    return NULL;
}

void parallel_each(unsigned workers, size_t n, void (*each)(void *context, size_t i, struct arena *arena), void *context, struct arena *a)
{
    size_t piece = n / ((workers ? workers : 1) * (size_t)PIECES_EACH);
    struct shared all = {.n = n, .piece = piece < 1 ? 1 : piece > PIECE_MAX ? PIECE_MAX : piece, .each = each, .context = context};
    struct parallel_worker w[PARALLEL_MAX];
    unsigned started = 1;
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    w[0] = (struct parallel_worker){.all = &all};
    arena_init(&w[0].own, 0);
    for (; started < workers && started < PARALLEL_MAX; started++) {
        w[started] = (struct parallel_worker){.all = &all};
        arena_init(&w[started].own, 0);
        if (pthread_create(&w[started].thread, NULL, parallel_work, &w[started]) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    parallel_work(&w[0]);
    for (unsigned i = 0; i < started; i++) {
        if (i)
            pthread_join(w[i].thread, NULL);
        arena_adopt(a, &w[i].own);
    }
}
