/* queue.c: what the providers without a live system behind them share. */
#include "benchmarks/native/taskrate/queue.h"

#include "benchmarks/native/taskrate/command.h"

static const double ANSWER_S = 30;

int queue_ask_list(struct bench *b, struct buf *out, struct err *err, const char *const *command)
{
    struct argument_words argv = {.n = 0};
    return words_list(&argv, command, err) < 0 ? -1 : command_run(b, &argv, ANSWER_S, out, err);
}

int queue_line_list(struct bench *b, struct submission *s, struct err *err, const char *const *command)
{
    const char *path = command_path(b, command[0], err);
    return path && words_add(&s->argv, path, err) == 0 ? words_list(&s->argv, command + 1, err) : -1;
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
