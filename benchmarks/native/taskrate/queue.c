/* queue.c: what the providers without a live system behind them share. */
#include "benchmarks/native/taskrate/queue.h"

#include "benchmarks/native/taskrate/command.h"

#include <stdarg.h>

static const double ANSWER_S = 30;

static int words_of(struct arena *a, struct words *to, const char *name, va_list ap, struct err *err)
{
    const char *path = command_find(a, name, err);
    int rc = path ? words_add(to, path, err) : -1;
    for (const char *word; rc == 0 && (word = va_arg(ap, const char *));)
        rc = words_add(to, word, err);
    return rc;
}

int queue_ask(struct bench *b, struct buf *out, struct err *err, const char *name, ...)
{
    struct words argv = {.n = 0};
    va_list ap;
    va_start(ap, name);
    int rc = words_of(&b->arena, &argv, name, ap, err);
    va_end(ap);
    return rc < 0 ? -1 : command_run(&argv, str_of(NULL), ANSWER_S, out, err);
}

int queue_order(struct buf *out, struct err *err, const char *name, ...)
{
    struct words argv = {.n = 0};
    struct arena arena;
    va_list ap;
    arena_init(&arena, 65536);
    va_start(ap, name);
    int rc = words_of(&arena, &argv, name, ap, err);
    va_end(ap);
    if (rc == 0)
        rc = command_run(&argv, str_of(NULL), ANSWER_S, out, err);
    arena_deinit(&arena);
    return rc;
}

int queue_line(struct bench *b, struct words *to, struct err *err, const char *name, ...)
{
    va_list ap;
    va_start(ap, name);
    int rc = words_of(&b->arena, to, name, ap, err);
    va_end(ap);
    return rc;
}

size_t queue_lines(struct str text)
{
    size_t n = 0;
    while (text.p)
        n += str_trim(str_cut(&text, '\n')).n > 0;
    return n;
}

void queue_untried(struct bench *b)
{
    bench_note(b, "%s: not yet tried on a live system", b->provider->name);
}
