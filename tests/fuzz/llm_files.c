/* llm_files.c: any bytes as a trace, or as an agent's result: what is taken is in order and within bounds, and reads back as it was printed. */
#include "base/json.h"
#include "benchmarks/native/llmload/schedule.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void trace(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[40];
    struct schedule s;
    struct err err;
    if (fd < 0)
        fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct load l = {.arrivals = ARRIVALS_TRACE, .trace = path, .trace_speed = 2, .shares = 2, .warmup_requests = 1};
    if (schedule_make(&s, &l, &err) < 0)
        return;
    for (size_t i = 0; i < s.n; i++) {
        const struct arrival *a = &s.list[i];
        if (a->at_ns < 0 || (i && (a->at_ns < a[-1].at_ns || a->index <= a[-1].index)) || a->index >= s.whole_n)
            abort();
        if ((a->text && a->text - 1 + (size_t)a->text_bytes > s.texts_n) ||
            (a->blocks && a->blocks - 1 + (size_t)a->block_count > s.blocks_n))
            abort();
    }
    schedule_deinit(&s);
}

static void result(const uint8_t *data, size_t size)
{
    struct json *j, *again;
    struct metrics m, n;
    struct err err;
    struct buf text CLEANUP_BUF, twice CLEANUP_BUF;
    buf_init(&text, 64 << 20);
    buf_init(&twice, 64 << 20);
    if (json_parse(&j, (struct str){(const char *)data, size}, NULL, &err) < 0)
        return;
    if (metrics_init(&m, &err) < 0 || metrics_init(&n, &err) < 0)
        abort();
    if (metrics_read(&m, j, &err) == 0) {
        struct json_out first = {.to = &text, .layout = JSON_TIGHT}, second = {.to = &twice, .layout = JSON_TIGHT};
        metrics_print(&m, NULL, &first);
        if (json_parse(&again, buf_text(&text), NULL, &err) < 0 || metrics_read(&n, again, &err) < 0)
            abort();
        metrics_print(&n, NULL, &second);
        if (metrics_completed(&m) != metrics_completed(&n) || m.h[METRIC_TTFT].n != n.h[METRIC_TTFT].n || m.series.n != n.series.n)
            abort();
        json_free(again);
    }
    metrics_deinit(&m);
    metrics_deinit(&n);
    json_free(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size)
        (data[0] == 'r' ? result : trace)(data + 1, size - 1);
    return 0;
}
