/* tasks.c: the book of one batch, in columns. */
#include "benchmarks/native/taskrate/tasks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns zeroed memory for n elements of `size` bytes, to be unmapped. NULL with errno. */
static void *tasks_map_column(size_t n, size_t size)
{
    void *p = mmap(NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

int tasks_init(struct tasks *t, size_t room, struct err *err)
{
    *t = (struct tasks){.room = room, .self_fd = -1};
    if ((double)room * TASK_BYTES > (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE))
        return err_set(err, ERR_SYSTEM, "the book of %zu tasks, %d bytes each, is more than this machine's memory", room, TASK_BYTES);
    t->self_fd = memfd_create("taskrate", MFD_CLOEXEC);
    if (t->self_fd < 0 || ftruncate(t->self_fd, (off_t)(room * sizeof *t->self)) < 0)
        return err_sys(err, "memory for the stamps of %zu tasks", room);
    void *self = mmap(NULL, room * sizeof *t->self, PROT_READ | PROT_WRITE, MAP_SHARED, t->self_fd, 0);
    t->self = self == MAP_FAILED ? NULL : self;
    t->submit = tasks_map_column(room, sizeof *t->submit);
    t->submitted = tasks_map_column(room, sizeof *t->submitted);
    t->known = tasks_map_column(room, sizeof *t->known);
    t->scratch = tasks_map_column(room, 2 * sizeof *t->scratch);
    t->node = tasks_map_column(room, sizeof *t->node);
    t->status = tasks_map_column(room, sizeof *t->status);
    t->flags = tasks_map_column(room, sizeof *t->flags);
    if (!t->self || !t->submit || !t->submitted || !t->known || !t->scratch || !t->node || !t->status || !t->flags)
        return err_sys(err, "memory for %zu tasks of %d bytes", room, TASK_BYTES);
    return 0;
}

/* Pages beyond what is used go back to the system, the others become zero. */
static void tasks_empty_column(void *p, size_t bytes)
{
    madvise(p, bytes, MADV_DONTNEED);
}

int tasks_begin(struct tasks *t, size_t n, struct err *err)
{
    t->n = n;
    t->duplicates = t->strangers = 0;
    tasks_empty_column(t->submit, t->room * sizeof *t->submit);
    tasks_empty_column(t->submitted, t->room * sizeof *t->submitted);
    tasks_empty_column(t->known, t->room * sizeof *t->known);
    tasks_empty_column(t->scratch, t->room * 2 * sizeof *t->scratch);
    tasks_empty_column(t->node, t->room * sizeof *t->node);
    tasks_empty_column(t->status, t->room * sizeof *t->status);
    tasks_empty_column(t->flags, t->room * sizeof *t->flags);
    if (ftruncate(t->self_fd, 0) < 0 || ftruncate(t->self_fd, (off_t)(t->room * sizeof *t->self)) < 0)
        return err_sys(err, "memory for the stamps of %zu tasks", n);
    memset(t->submit, 0, n * sizeof *t->submit); /* the pages are there before the clock runs */
    memset(t->submitted, 0, n * sizeof *t->submitted);
    memset(t->known, 0, n * sizeof *t->known);
    memset(t->self, 0, n * sizeof *t->self);
    memset(t->flags, 0, n * sizeof *t->flags);
    memset(t->status, 0xff, n * sizeof *t->status);
    return 0;
}

void tasks_deinit(struct tasks *t)
{
    size_t n = t->room;
    struct {
        void *p;
        size_t size;
    } columns[] = {{t->submit, 8},   {t->submitted, 8}, {t->known, 8},  {t->self, 16},
                   {t->scratch, 16}, {t->node, 2},      {t->status, 2}, {t->flags, 1}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (columns[i].p)
            munmap(columns[i].p, n * columns[i].size);
    if (t->self_fd >= 0)
        close(t->self_fd);
    *t = (struct tasks){.self_fd = -1};
}

static void tasks_sift_down(int64_t *v, size_t root, size_t n)
{
    int64_t x = v[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && v[child + 1] > v[child])
            child++;
        if (v[child] <= x)
            break;
        v[root] = v[child];
    }
    v[root] = x;
}

void tasks_sort(int64_t *v, size_t n)
{
    size_t i = 1;
    while (i < n && v[i - 1] <= v[i])
        i++;
    if (i >= n) /* most columns are in order as they are */
        return;
    for (i = n / 2; i-- > 0;)
        tasks_sift_down(v, i, n);
    for (i = n; i-- > 1;) {
        int64_t greatest = v[0];
        v[0] = v[i];
        tasks_sift_down(v, 0, i);
        v[i] = greatest;
    }
}

double tasks_quantile(const int64_t *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return (double)sorted[n - 1];
    return (double)sorted[i] + (at - (double)i) * (double)(sorted[i + 1] - sorted[i]);
}
