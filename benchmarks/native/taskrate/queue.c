/* queue.c: what the providers without a live system behind them share. */
#include "benchmarks/native/taskrate/queue.h"

#include "benchmarks/native/taskrate/command.h"

static const double ANSWER_S = 30;

static int words_of(struct arena *a, struct words *to, const char *const *command, struct err *err)
{
    const char *path = command_find(a, command[0], err);
    return path && words_add(to, path, err) == 0 ? words_list(to, command + 1, err) : -1;
}

int queue_ask_list(struct bench *b, struct buf *out, struct err *err, const char *const *command)
{
    struct words argv = {.n = 0};
    return words_of(&b->arena, &argv, command, err) < 0 ? -1 : command_run(&argv, str_of(NULL), ANSWER_S, out, err);
}

int queue_order_list(struct buf *out, struct err *err, const char *const *command)
{
    struct words argv = {.n = 0};
    struct arena arena;
    arena_init(&arena, 65536);
    int rc = words_of(&arena, &argv, command, err);
    if (rc == 0)
        rc = command_run(&argv, str_of(NULL), ANSWER_S, out, err);
    arena_deinit(&arena);
    return rc;
}

int queue_line_list(struct bench *b, struct words *to, struct err *err, const char *const *command)
{
    return words_of(&b->arena, to, command, err);
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
