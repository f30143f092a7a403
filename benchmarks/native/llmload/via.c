/* via.c: TLS, HTTP/2 and proxies, through libcurl. */
#include "benchmarks/native/llmload/worker.h"

int via_init(struct worker *w, struct err *err)
{
    (void)w;
    return err_set(err, ERR_USAGE, "https, HTTP/2 and proxies cannot be used yet");
}

void via_deinit(struct worker *w)
{
    (void)w;
}

void via_begin(struct worker *w, struct conn *c)
{
    conn_finish(w, c, ENDING_INTERNAL, "no libcurl", false);
}

void via_cancel(struct worker *w, struct conn *c)
{
    (void)w, (void)c;
}

void via_socket(struct worker *w, int fd, uint32_t events)
{
    (void)w, (void)fd, (void)events;
}

int64_t via_next(const struct worker *w)
{
    (void)w;
    return INT64_MAX;
}

void via_due(struct worker *w)
{
    (void)w;
}
