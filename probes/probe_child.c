/* probe_child.c: runs a probe's hook in a child process. */
#include "probes/probe_child.h"

#include "base/clock.h"
#include "base/fs.h"
#include "probes/fact_text.h"
#include "probes/state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FACTS_BYTES_MAX = 4 << 20, PIPE_BYTES = 1 << 20 /* all facts fit before the recorder reads; else the child waits */ };
static const char last_word[] = "done", failed_word[] = "failed";

struct probe_work {
    struct host host;
    struct record *record;
    int (*hook)(struct host *, struct record *, struct err *);
    int out;
};

static void probe_child_send_fact(void *context, const struct fact *f)
{
    struct buf text CLEANUP_BUF;
    const struct probe_work *work = context;
    buf_init(&text, 1 << 20);
    fact_text_add_fact(&text, f);
    if (!text.failed && fs_write_all(work->out, text.p, text.n) != 0)
        _exit(1); /* the reader has gone */
}

/* Runs the hook of a probe in a child process, sends its facts to `out` as text, and ends with a
 * note of the duration. Returns 0. */
static int probe_child_run(void *context, int out)
{
    struct probe_work *work = context;
    struct host *h = &work->host;
    struct record *r = work->record;
    struct err err = {0};
    struct buf text CLEANUP_BUF;
    char ms[40];
    int64_t start = clock_mono_ns();
    work->out = out;
    r->listen = probe_child_send_fact;
    r->context = work;
    if (h->state)
        h->state->unsure = false;
    bool failed = work->hook(h, r, &err) != 0, unsure = h->state && h->state->unsure;
    if (failed) {
        char key[96];
        snprintf(key, sizeof key, "probe.%s", r->source && strncmp(r->source, "probe:", 6) == 0 ? r->source + 6 : "aside");
        record_missing(r, key, "%s", err.text);
    }
    snprintf(ms, sizeof ms, "%.6f", (double)(clock_mono_ns() - start) / 1e6);
    buf_init(&text, 256);
    fact_text_add(&text, 'N', str_of(failed || unsure ? failed_word : last_word), str_of(ms));
    fs_write_all(out, text.p, text.n);
    return 0;
}

int probe_child_begin(struct probe_child *ret, struct host *h, struct record *r, int (*hook)(struct host *, struct record *, struct err *),
                      bool low)
{
    struct probe_work work = {.host = *h, .record = r, .hook = hook};
    const struct child_work_plan plan = {.run = probe_child_run,
                                         .context = &work,
                                         .name = "benchwrap-look",
                                         .keep = {&work.host.root, &work.host.spool},
                                         .nice = low ? 10 : 0,
                                         .max = FACTS_BYTES_MAX,
                                         .pipe_bytes = PIPE_BYTES};
    *ret = (struct probe_child){.start_ns = clock_mono_ns()};
    return child_work_start(&ret->work, &plan);
}

double probe_child_emit(struct probe_child *a, const struct host *h, struct record *r)
{
    double ms = -1;
    struct fact_text f;
    for (struct str rest = buf_text(&a->work.text); fact_text_next(&rest, &f) > 0;)
        if (f.kind == 'N') {
            a->failed = str_is(f.key, failed_word);
            str_double(f.text, &ms);
        } else
            fact_text_replay(h, r, &f);
    return ms;
}

void probe_child_forget(struct probe_child *a, struct str rest)
{
    struct buf *text = &a->work.text;
    if (rest.n < text->n) {
        memmove(text->p, rest.p, rest.n);
        text->n = rest.n;
        text->p[rest.n] = 0;
    }
    if (a->work.fd < 0)
        child_work_deinit(&a->work);
}
