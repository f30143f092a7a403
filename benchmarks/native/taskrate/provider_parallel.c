/* provider_parallel.c: GNU parallel or xargs, as a user would call them. */
#include "benchmarks/native/taskrate/command.h"
#include "benchmarks/native/taskrate/local.h"
#include "benchmarks/native/taskrate/provider.h"

#include <stdio.h>
#include <string.h>

static enum provider_how parallel_how(const struct bench *b)
{
    (void)b;
    return HOW_TOOL;
}

/* Reads the tool's version. Returns 0, or another value with *err where the tool cannot be run. */
static int parallel_begin(struct bench *b, struct err *err)
{
    struct argument_words argv = {.n = 0};
    CLEANUP_BUF struct buf out;
    buf_init(&out, 65536);
    if (words_addv(&argv, err, b->set.with, "--version", NULL) < 0 || command_run(b, &argv, 30, &out, err) < 0)
        return -1;
    struct str rest = buf_text(&out), first = str_cut(&rest, '\n');
    bench_fact(b, b->set.with, first);
    b->scheduler_version = bench_fact_of(b, b->set.with);
    b->slots = local_processors();
    b->slots_from = "processors this process may use";
    return 0;
}

static size_t parallel_chunk(const struct bench *b)
{
    return b->tasks.room;
}

/* Makes the command `xargs -P SLOTS -I{} stub …{}…` or `parallel -j SLOTS --will-cite -q stub …{}…`,
 * and its input, a line with each task's number. parallel has a shell run the words; -q quotes them. */
static int parallel_line(struct bench *b, struct submission *s, struct err *err)
{
    bool xargs = strcmp(b->set.with, "xargs") == 0;
    struct argument_words task = {.n = 0};
    const char *tool = command_path(b, b->set.with, err);
    const char *jobs = arena_printf(s->arena, "%u", s->batch->slots);
    if (!tool || !jobs ||
        words_addv(&s->argv, err, tool, xargs ? "-P" : "-j", jobs, xargs ? "-I{}" : "--will-cite", xargs ? NULL : "-q", NULL) < 0)
        return -1;
    if (provider_task(b, s, 0, NULL, 0, &task, err) < 0)
        return -1;
    const char *word = task.word[1], *comma = strchr(word, ',');
    /* replace the task number, 0, with {}: xargs or parallel inserts the number of each line there */
    task.word[1] = comma ? arena_printf(s->arena, "%.*s,{}%s", (int)(comma - word), word, comma + 2) : NULL;
    if (!task.word[1])
        return err_memory(err, "a task's words");
    for (size_t i = 0; i < s->count; i++)
        buf_printf(s->input, "%zu\n", s->first + i);
    return words_join(&s->argv, &task, err);
}

const struct task_provider provider_parallel = {.name = "parallel",
                                                .summary = "GNU parallel, or xargs (--with xargs), fed with a line for each task",
                                                .path = "client -> parallel or xargs -> process",
                                                .live = true,
                                                .tasks = 500,
                                                .chain = 0,
                                                .clients = 1,
                                                .how = parallel_how,
                                                .begin = parallel_begin,
                                                .line = parallel_line,
                                                .chunk = parallel_chunk};
