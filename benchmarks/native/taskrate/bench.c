/* bench.c: facts, notes and signals of a measurement. */
#include "benchmarks/native/taskrate/bench.h"

#include <stdarg.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

void bench_fact(struct bench *b, const char *name, struct str value)
{
    CLEANUP_BUF struct buf text = {0};
    if (b->fact_count == FACTS_MAX || bench_fact_of(b, name))
        return;
    buf_init(&text, 2048);
    buf_plain(&text, value, 500);
    const char *kept_name = arena_dup(&b->arena, name, strlen(name)), *kept = arena_dup(&b->arena, text.p ? text.p : "", text.n);
    if (kept_name && kept)
        b->facts[b->fact_count++] = (struct scheduler_fact){kept_name, kept};
}

const char *bench_fact_of(const struct bench *b, const char *name)
{
    for (size_t i = 0; i < b->fact_count; i++)
        if (strcmp(b->facts[i].name, name) == 0)
            return b->facts[i].value;
    return NULL;
}

void bench_note(struct bench *b, const char *fmt, ...)
{
    va_list ap;
    CLEANUP_BUF struct buf text, plain;
    buf_init(&text, 2048);
    buf_init(&plain, 4096);
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    buf_plain(&plain, buf_text(&text), 1000);
    for (size_t i = 0; i < b->note_count; i++)
        if (plain.p && strcmp(b->notes[i], plain.p) == 0)
            return;
    const char *kept = plain.p && b->note_count < NOTES_MAX ? arena_dup(&b->arena, plain.p, plain.n) : NULL;
    if (kept)
        b->notes[b->note_count++] = kept;
}

bool bench_stop(struct bench *b)
{
    struct signalfd_siginfo info;
    while (b->signal_fd >= 0 && read(b->signal_fd, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGPIPE && info.ssi_signo != SIGXFSZ)
            b->stop = (sig_atomic_t)info.ssi_signo;
    return b->stop != 0;
}
