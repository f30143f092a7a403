/* clocks.c: the clocks of the machines that tasks ran on, against the client's. */
#include "benchmarks/native/taskrate/clocks.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { SAME_NS = 1000000, NAMESAKE_NS = 500000000 };

int64_t clocks_difference(void)
{
    struct timespec wall;
    int64_t least = 0, difference = 0;
    for (int i = 0; i < 5; i++) { /* the one with the smallest gap between both readings */
        int64_t before = clock_mono_ns();
        clock_gettime(CLOCK_REALTIME, &wall);
        int64_t after = clock_mono_ns();
        if (i == 0 || after - before < least) {
            least = after - before;
            difference = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec - before - least / 2;
        }
    }
    return difference;
}

static void node_init(struct clocks_node *node, const char *name, bool same)
{
    *node = (struct clocks_node){.same = same, .low = INT64_MIN, .high = INT64_MAX};
    snprintf(node->name, sizeof node->name, "%.*s", CLOCKS_NAME - 1, name);
}

int clocks_begin(struct clocks_table *c, struct err *err)
{
    struct utsname name = {0};
    if (!c->node && !(c->node = calloc(CLOCKS_MAX, sizeof *c->node)))
        return err_memory(err, "the clocks of nodes");
    uname(&name);
    node_init(&c->node[0], name.nodename, true);
    c->count = 1;
    c->stepped = 0;
    c->overflow = false;
    c->wall_less_mono = clocks_difference();
    return 0;
}

void clocks_deinit(struct clocks_table *c)
{
    free(c->node);
    *c = (struct clocks_table){0};
}

static int64_t clocks_distance(int64_t a, int64_t b)
{
    int64_t d = (int64_t)((uint64_t)a - (uint64_t)b);
    return d < 0 && d != INT64_MIN ? -d : d;
}

/* One kernel has the same difference between the two clocks. Another machine of this name, or a
 * clock that was set since, has another. */
static bool same_machine(const struct clocks_table *c, const struct wire_record *r)
{
    int64_t apart = clocks_distance(r->wall_start - r->start, c->wall_less_mono);
    bool namesake = strncmp(r->host, c->node[0].name, CLOCKS_NAME - 1) == 0;
    return apart >= 0 && (apart < SAME_NS ||
                          (namesake && (apart < NAMESAKE_NS || clocks_distance(r->start, clock_mono_ns()) < 3600 * INT64_C(1000000000))));
}

bool clocks_sensible(const struct wire_record *r)
{
    const int64_t uptime = INT64_C(1000000000000000000), year = INT64_C(2840000000000000000);
    return memchr(r->host, 0, sizeof r->host) && r->start >= 0 && r->end >= r->start && r->end < uptime && r->wall_start >= 0 &&
           r->wall_start < year;
}

uint16_t clocks_take(struct clocks_table *c, const struct wire_record *r, struct wire_stamps *ret)
{
    bool same = same_machine(c, r);
    size_t i = 0;
    *ret = (struct wire_stamps){r->start, r->end};
    if (!same) {
        ret->start = r->wall_start - c->wall_less_mono;
        ret->end = ret->start + (r->end - r->start); /* lasting is the node's own monotonic clock's */
    }
    while (i < c->count && (strncmp(c->node[i].name, r->host, CLOCKS_NAME - 1) != 0 || c->node[i].same != same))
        i++;
    if (i == CLOCKS_MAX) {
        c->overflow = true;
        return CLOCKS_MAX - 1;
    }
    if (i == c->count) {
        char host[WIRE_HOST];
        memcpy(host, r->host, sizeof host);
        host[sizeof host - 1] = 0;
        node_init(&c->node[c->count++], host, same);
    }
    return (uint16_t)i;
}

void clocks_settle(struct clocks_table *c, struct tasks *t)
{
    int64_t moved = clocks_difference() - c->wall_less_mono;
    c->stepped = clocks_distance(moved, 0) > 10000000 ? moved : 0;
    for (size_t i = 0; i < t->n; i++) {
        struct clocks_node *node = &c->node[t->node[i]];
        if (!(t->flags[i] & TASK_STAMPED))
            continue;
        node->tasks++;
        if (t->self[i].start && t->submit[i] && t->self[i].start - t->submit[i] < node->high)
            node->high = t->self[i].start - t->submit[i];
        if (t->self[i].end && t->known[i] && t->self[i].end - t->known[i] > node->low)
            node->low = t->self[i].end - t->known[i];
    }
    for (size_t k = 0; k < c->count; k++) {
        struct clocks_node *node = &c->node[k];
        bool off = node->high < 0 || node->low > 0;
        if (node->same || !off || node->high == INT64_MAX || node->low == INT64_MIN)
            continue;
        node->shift = node->low + (node->high - node->low) / 2;
    }
    for (size_t i = 0; i < t->n; i++)
        if (t->flags[i] & TASK_STAMPED) {
            t->self[i].start -= c->node[t->node[i]].shift;
            t->self[i].end -= c->node[t->node[i]].shift;
        }
}
