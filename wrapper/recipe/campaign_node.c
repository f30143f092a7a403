/* campaign_node.c: facts about the node that this process runs on, for the preflight. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/query.h"
#include "recipe/campaign.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { NODE_ANSWER_MS = 30000, NODE_ANSWER_BYTES = 1 << 20 };

/* ---- the fabric ---- */

struct port_count {
    unsigned up, down;
};

static int count_port(void *context, const char *name, unsigned char type)
{
    struct port_count *n = context;
    CLEANUP_BUF struct buf text;
    char path[400];
    (void)type;
    buf_init(&text, 100);
    snprintf(path, sizeof path, "/sys/class/infiniband/%.200s/ports/1/state", name);
    if (fs_read(AT_FDCWD, path, 80, FS_LINKS, &text, NULL) == 0) {
        bool up = str_has(buf_text(&text), "ACTIVE");
        n->up += up;
        n->down += !up;
    }
    return 0;
}

/* ---- GPUs and memory ---- */

unsigned campaign_node_gpus(void)
{
    unsigned n = 0;
    char path[40];
    for (unsigned i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%u", i);
        n += access(path, F_OK) == 0;
    }
    return n;
}

bool campaign_node_gpus_busy(struct campaign *c)
{
    static char *const words[] = {(char *)"nvidia-smi", (char *)"--query-compute-apps=pid", (char *)"--format=csv,noheader", NULL};
    struct query q = QUERY_NONE;
    bool busy = campaign_node_gpus() && query_start(&q, words, environ, NODE_ANSWER_BYTES, NODE_ANSWER_MS, 0, NULL) == 0 &&
                (c ? campaign_query_wait(c, &q, NODE_ANSWER_MS) : query_wait(&q, NODE_ANSWER_MS)) == QUERY_DONE && q.status == 0 &&
                str_trim(buf_text(&q.text)).n;
    query_close(&q);
    return busy;
}

uint64_t campaign_node_memory(void)
{
    CLEANUP_BUF struct buf text;
    uint64_t kib;
    buf_init(&text, 65536);
    if (fs_read(AT_FDCWD, "/proc/meminfo", 60000, 0, &text, NULL))
        return UINT64_MAX;
    ptrdiff_t at = str_find(buf_text(&text), STR("MemAvailable:"));
    struct str rest = at < 0 ? STR("") : str_sub(buf_text(&text), (size_t)at + 13, 40), word = str_word(&rest);
    return str_uint(word, &kib) ? kib << 10 : UINT64_MAX;
}

/* ---- the line ---- */

const char *campaign_node_name(void)
{
    const char *name = getenv("SLURMD_NODENAME");
    return name ? name : "?";
}

void campaign_node_print(char *const *programs, FILE *out)
{
    struct port_count n = {0};
    fs_each_name(AT_FDCWD, "/sys/class/infiniband", count_port, &n);
    fprintf(out, "node %s %lld %u %u %llu %d", campaign_node_name(), (long long)clock_wall_ms(), n.up, n.down,
            (unsigned long long)(campaign_node_memory() >> 20), campaign_node_gpus_busy(NULL));
    for (; *programs; programs++)
        if (!campaign_has_program(*programs))
            fprintf(out, " %s", *programs);
    fputc('\n', out);
}
