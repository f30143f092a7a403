/* provider_exec.c: any command template: every other launcher, workflow system or pilot can be driven by it. */
#include "benchmarks/native/taskrate/command.h"
#include "benchmarks/native/taskrate/local.h"
#include "benchmarks/native/taskrate/provider.h"

#include <string.h>

static enum provider_how exec_how(const struct bench *b)
{
    if (b->set.bulk)
        return b->set.detached ? HOW_BULK : HOW_TOOL;
    return b->set.detached ? HOW_DETACHED : HOW_ATTACHED;
}

static int exec_begin(struct bench *b, struct err *err)
{
    if (!b->set.submit)
        return err_set(err, ERR_USAGE, "exec needs the command that submits a task: --submit 'COMMAND {task}'");
    if (!b->set.bulk && !strstr(b->set.submit, "{task}"))
        return err_set(
            err, ERR_USAGE,
            "--submit: the template has no {task}, where the task's command belongs (or use --bulk: tasks are then lines on its standard input)");
    b->slots = b->set.clients ? b->set.clients : local_processors();
    b->slots_from = "commands at once";
    return 0;
}

static size_t exec_chunk(const struct bench *b)
{
    return b->set.bulk ? b->tasks.room : 1;
}

/* `text` with {task} (quoted), {index} and {count} replaced. */
static const char *exec_fill_word(const struct submission *s, const char *text, struct str task)
{
    CLEANUP_BUF struct buf to;
    buf_init(&to, (size_t)1 << 20);
    while (*text) {
        if (strncmp(text, "{task}", 6) == 0)
            buf_str(&to, task), text += 6;
        else if (strncmp(text, "{index}", 7) == 0)
            buf_printf(&to, "%zu", s->first), text += 7;
        else if (strncmp(text, "{count}", 7) == 0)
            buf_printf(&to, "%zu", s->count), text += 7;
        else
            buf_putc(&to, *text++);
    }
    return to.failed ? NULL : arena_dup(s->arena, to.p ? to.p : "", to.n);
}

/* An unquoted {task} between blanks is the task's words, marked by this byte; in quotes, or within
 * a word, it is their text. */
enum { WORDS_HERE = 1 };
/* Returns the template with WORDS_HERE for each unquoted word {task}; NULL when it does not fit.
 * The arena owns the text. */
static const char *exec_mark_tasks(const struct submission *s, const char *template)
{
    CLEANUP_BUF struct buf to;
    char quote = 0;
    buf_init(&to, 65536);
    for (const char *p = template; *p; p++) {
        bool alone =
            !quote && strncmp(p, "{task}", 6) == 0 && (p == template || strchr(" \t\n", p[-1])) && (!p[6] || strchr(" \t\n", p[6]));
        if (alone) {
            buf_putc(&to, WORDS_HERE);
            p += 5;
            continue;
        }
        if (quote ? *p == quote : *p == '\'' || *p == '"')
            quote = quote ? 0 : *p;
        buf_putc(&to, *p);
        if (*p == '\\' && quote != '\'' && p[1])
            buf_putc(&to, *++p);
    }
    return to.failed ? NULL : arena_dup(s->arena, to.p ? to.p : "", to.n);
}

/* Makes the command of --submit for the tasks of s: {task} becomes the task's words or text.
 * Without {task} the tasks are lines of its standard input. -1 with err: no command, not found, or
 * too long. */
static int exec_line(struct bench *b, struct submission *s, struct err *err)
{
    struct argument_words template = {.n = 0};
    CLEANUP_BUF struct buf task;
    buf_init(&task, (size_t)1 << 20);
    const char *text = exec_mark_tasks(s, b->set.submit);
    if (!text)
        return err_set(err, ERR_USAGE, "--submit: the command is too long");
    if (words_split(&template, s->arena, text, err) < 0)
        return -1;
    bool quoted = false; /* the task is required as text */
    for (size_t i = 0; i < template.n; i++)
        quoted |= strstr(template.word[i], "{task}") != NULL;
    if (quoted && !b->set.bulk && provider_task_line(b, s, s->first, NULL, 0, &task, err) < 0)
        return -1;
    for (size_t i = 0; i < template.n; i++) {
        bool whole = template.word[i][0] == WORDS_HERE;
        const char *word = whole ? NULL : exec_fill_word(s, template.word[i], buf_text(&task));
        if (whole ? provider_task(b, s, s->first, NULL, 0, &s->argv, err) < 0 : !word || words_add(&s->argv, word, err) < 0)
            return word || whole ? -1 : err_set(err, ERR_USAGE, "--submit: the command is too long");
    }
    if (!s->argv.n)
        return err_set(err, ERR_USAGE, "--submit: there is no command in it");
    if (!strchr(s->argv.word[0], '/') && !(s->argv.word[0] = command_path(b, s->argv.word[0], err)))
        return err_wrap(err, "--submit");
    for (size_t i = 0; b->set.bulk && i < s->count; i++) {
        if (provider_task_line(b, s, s->first + i, NULL, 0, s->input, err) < 0)
            return -1;
        buf_putc(s->input, '\n');
    }
    return 0;
}

const struct task_provider provider_exec = {.name = "exec",
                                            .summary = "any command: --submit 'COMMAND {task}'",
                                            .path = "client -> the given command -> process",
                                            .live = true,
                                            .remote = true,
                                            .cap = 10000,
                                            .rate = 50,
                                            .clients = 1,
                                            .tasks = 100,
                                            .chain = 10,
                                            .how = exec_how,
                                            .begin = exec_begin,
                                            .line = exec_line,
                                            .chunk = exec_chunk};
