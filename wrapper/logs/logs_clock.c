/* logs_clock.c: the offsets of the nodes' clocks; see logs.h and logs_source.h. */
#include "base/array.h"
#include "base/fs.h"
#include "logs/logs_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCKS_MAX = 16 << 20 };

struct logs_clock_point {
    char node[LOGS_NAME_MAX / 2];
    int64_t time_ns, offset_ns;
};

static int clock_point_order(const void *a, const void *b)
{
    const struct logs_clock_point *x = a, *y = b;
    int order = strcmp(x->node, y->node);
    return order ? order : x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

int logs_clocks_read(struct logs_clocks *ret, int folder, struct err *err)
{
    struct buf text CLEANUP_BUF;
    struct err why = {0};
    *ret = (struct logs_clocks){.count = 0};
    buf_init(&text, CLOCKS_MAX + 65536);
    if (fs_read(folder, LOGS_CLOCKS, CLOCKS_MAX, FS_CUT, &text, &why) < 0) {
        if (why.sys == ENOENT)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    struct str rest = buf_text(&text);
    while (rest.p) {
        struct str line = str_cut(&rest, '\n'), node = str_word(&line), time = str_word(&line), offset = str_word(&line);
        struct logs_clock_point p;
        if (!logs_name_is_legal(node, true) || node.n >= sizeof p.node || !str_int(time, &p.time_ns) || !str_int(offset, &p.offset_ns))
            continue;
        snprintf(p.node, sizeof p.node, STR_FMT, STR_ARG(node));
        if (!ARRAY_FITS(ret->points, ret->room, ret->count + 1))
            return err_memory(err, "the clocks of the nodes");
        ret->points[ret->count++] = p;
    }
    if (ret->count)
        qsort(ret->points, ret->count, sizeof *ret->points, clock_point_order);
    return 0;
}

void logs_clocks_deinit(struct logs_clocks *c)
{
    free(c->points);
    *c = (struct logs_clocks){.count = 0};
}

/* The first point of the node that is later than this time. */
static size_t clock_find_point(const struct logs_clocks *c, const char *node, int64_t time_ns)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcmp(c->points[mid].node, node);
        if (order < 0 || (order == 0 && c->points[mid].time_ns <= time_ns))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int64_t logs_clocks_correct(const struct logs_clocks *c, const char *node, int64_t time_ns)
{
    if (c->count == 0)
        return time_ns;
    size_t i = clock_find_point(c, node, time_ns);
    const struct logs_clock_point *after = i < c->count && strcmp(c->points[i].node, node) == 0 ? &c->points[i] : NULL,
                                  *before = i > 0 && strcmp(c->points[i - 1].node, node) == 0 ? &c->points[i - 1] : NULL;
    if (!before || !after)
        return time_ns - (before ? before->offset_ns : after ? after->offset_ns : 0);
    double part = (double)(time_ns - before->time_ns) / (double)(after->time_ns - before->time_ns);
    return time_ns - before->offset_ns - (int64_t)(part * (double)(after->offset_ns - before->offset_ns));
}
