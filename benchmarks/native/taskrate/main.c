/* main.c: taskrate: how many tasks a second a machine or a scheduler runs. Reads the line, measures or compares, prints errors. */
/* link: libcjson zlib */
#include "base/installed.h"
#include "base/json_out.h"
#include "benchmarks/native/taskrate/options.h"
#include "benchmarks/native/taskrate/output.h"
#include "benchmarks/native/taskrate/own.h"
#include "benchmarks/native/taskrate/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int taskrate_print_error(const struct err *err, int status)
{
    CLEANUP_BUF struct buf plain; /* what the user typed or a scheduler printed may contain anything */
    buf_init(&plain, 8192);
    buf_plain(&plain, str_of(err->text), sizeof err->text);
    fprintf(stderr, "taskrate: %s\n", plain.n ? plain.p : "");
    return err->kind == ERR_USAGE ? 125 : status;
}

static int taskrate_print_text(struct taskrate_options *o, void (*what)(struct taskrate_options *, struct buf *))
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1 << 20);
    what(o, &text);
    return text.failed || fwrite(text.p, 1, text.n, stdout) != text.n || fflush(stdout) ? 2 : 0;
}

/* Prints the providers. Returns the exit status: 2 where standard output fails. */
static int taskrate_list_providers(bool json)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    struct json_out j = json_begin(&b, JSON_TIGHT, '[');
    for (size_t i = 0; i < provider_count; i++) {
        const struct task_provider *p = providers[i];
        if (i)
            json_line(&j, 1);
        json_open(&j, NULL, '{');
        json_text(&j, "name", p->name);
        json_text(&j, "path", p->path);
        json_text(&j, "summary", p->summary);
        json_flag(&j, "live", p->live);
        json_close(&j, '}');
        if (!json)
            printf("%-12s %s\n", p->name, p->summary);
    }
    json_close(&j, ']');
    if (json)
        printf("%s\n", b.p ? b.p : "");
    return fflush(stdout) ? 2 : 0;
}

static int taskrate_clean_up(struct bench *b)
{
    unsigned n = own_clean_up(b);
    for (size_t i = 0; i < b->note_count; i++)
        printf("%s\n", b->notes[i]);
    printf("cleaned up %u run%s\n", n, str_plural(n));
    return 0;
}

/* Dies of the signal that ended the measurement, as if it had not been caught. */
static void die_of(int signal)
{
    sigset_t mask;
    fflush(NULL);
    sigemptyset(&mask);
    sigaddset(&mask, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

static int taskrate_measure(struct taskrate_options *o, struct bench *b, char **extra)
{
    struct err err = {0};
    if (options_settings(o, b, extra, &err) < 0)
        return taskrate_print_error(&err, 2);
    int rc = taskrate_run(b, &err);
    if (err.kind && rc == 2)
        rc = taskrate_print_error(&err, 2);
    return rc;
}

static void taskrate_free(struct taskrate_options *o, struct bench *b)
{
    tasks_deinit(&b->tasks);
    clocks_deinit(&b->clocks);
    free(b->batches);
    if (b->signal_fd >= 0)
        close(b->signal_fd);
    arena_deinit(&b->arena);
    opt_deinit(&o->set);
}

/* Executes what the command line requests. */
static int taskrate_act(struct taskrate_options *o, struct bench *b, int operands, char **operand)
{
    const char *verb = operands ? operand[0] : "";
    struct err err = {0};
    if (opt_on(&o->set, OPTION_HELP))
        return taskrate_print_text(o, strcmp(verb, "options") == 0 || strcmp(verb, "all") == 0 ? options_help_all : options_help);
    if (opt_on(&o->set, OPTION_MAN))
        return taskrate_print_text(o, options_man);
    if (opt_on(&o->set, OPTION_VERSION))
        return puts("taskrate " BW_VERSION) < 0 ? 2 : 0;
    if (opt_on(&o->set, OPTION_LIST))
        return taskrate_list_providers(opt_on(&o->set, OPTION_JSON));
    if (strcmp(verb, "table") == 0 && operands == 2)
        return table_print(operand[1], &err) < 0 ? taskrate_print_error(&err, 2) : 0;
    bool former = strcmp(verb, "sweep") == 0; /* the name before 0.1.0: accepted until 0.3 */
    if ((strcmp(verb, "clean-up") == 0 || former) && operands == 1) {
        if (former && isatty(STDERR_FILENO))
            fputs("taskrate: sweep is now called clean-up\n", stderr);
        return taskrate_clean_up(b);
    }
    b->provider = provider_find(verb);
    if (b->provider)
        return taskrate_measure(o, b, operand + 1);
    err_set(&err, ERR_USAGE, "expected a provider, for example: taskrate local%s%.60s%s; \"taskrate --list\" lists them",
            operands ? ", got \"" : "", verb, operands ? "\"" : "");
    return taskrate_print_error(&err, 125);
}

int main(int argc, char **argv)
{
    struct taskrate_options o;
    struct bench b = {.signal_fd = -1, .tasks.self_fd = -1};
    struct err err = {0};
    int next;
    arena_init(&b.arena, 0);
    if (argc > 1 && strcmp(argv[1], "compare") == 0) { /* benchwrap's command of that name */
        argv[0] = (char *)"benchwrap";
        installed_exec("benchwrap", argv, &err);
        return taskrate_print_error(&err, 2);
    }
    char *help_line[] = {argv[0], (char *)"--help", argc > 2 ? argv[2] : NULL, NULL};
    if (argc > 1 && strcmp(argv[1], "help") == 0)
        argc = argc > 2 ? 3 : 2, argv = help_line;
    int rc =
        options_parse(&o, argc, argv, &next, &err) < 0 ? taskrate_print_error(&err, 125) : taskrate_act(&o, &b, argc - next, argv + next);
    int signal = (int)b.stop;
    taskrate_free(&o, &b);
    if (signal)
        die_of(signal);
    return rc;
}
