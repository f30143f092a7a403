/* taskrate.c: what taskrate reads of others. The first byte chooses: Slurm's configuration and sdiag; a command template; tasks' records, of which
 * figures are made that must be finite; a table of tasks. */
#include "benchmarks/native/taskrate/figures.h"
#include "benchmarks/native/taskrate/output.h"
#include "benchmarks/native/taskrate/slurm.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void slurm(struct str text)
{
    struct scheduler_counters c;
    slurm_config_value(text, "MaxArraySize");
    slurm_sdiag_read(text, &c);
}

static void words(struct str text)
{
    struct argument_words w = {.n = 0};
    struct arena a;
    arena_init(&a, 1 << 20);
    char *copy = arena_dup(&a, text.p, text.n);
    if (copy)
        words_split(&w, &a, copy, NULL);
    arena_deinit(&a);
}

static void records(const uint8_t *data, size_t size)
{
    static struct bench b;
    struct err err;
    struct task_batch x = {.tasks = 64, .slots = 3, .duration = 0.001};
    if (!b.tasks.room && tasks_init(&b.tasks, 64, &err) < 0)
        abort();
    if (tasks_begin(&b.tasks, 64, &err) < 0 || clocks_begin(&b.clocks, &err) < 0)
        abort();
    for (size_t i = 0; i < 64 && size >= sizeof(struct wire_record); i++, data += sizeof(struct wire_record), size -= sizeof(struct wire_record)) {
        struct wire_record r;
        memcpy(&r, data, sizeof r);
        if (!clocks_sensible(&r))
            continue;
        b.tasks.submit[i] = 1 + (int64_t)i;
        b.tasks.known[i] = 1000 + (int64_t)i;
        b.tasks.node[i] = clocks_take(&b.clocks, &r, &b.tasks.self[i]);
        b.tasks.flags[i] = TASK_SUBMITTED | TASK_STAMPED | TASK_ENDED;
    }
    figures_of(&b, &x);
    if (!isfinite(x.throughput) || !isfinite(x.concurrency_mean) || !isfinite(x.start.mean))
        abort();
}

static void table(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("table", 0);
    static int null = -1;
    if (null < 0 && ((null = open("/dev/null", O_WRONLY)) < 0 || dup2(null, STDOUT_FILENO) < 0))
        abort();
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    table_print(path, NULL);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    switch (data[0] % 4) {
    case 0: slurm(text); break;
    case 1: words(text); break;
    case 2: records(data + 1, size - 1); break;
    default: table(data + 1, size - 1);
    }
    return 0;
}
