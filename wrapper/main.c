/* main.c: the core program: argv -> command row -> exit status. With "--recorder" first it is the recorder of one run, with "--series" it
 * drives several. */
#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/help.h"
#include "launch/collector.h"
#include "launch/words.h"
#include "collector/collector.h"
#include "run/run.h"
#include "run/send.h"
#include "repeat/repeat.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* `benchwrap run -- fio`: the line without its first word; a missing `--` is added. */
static void put_line(struct buf *to, int argc, char **argv, int first)
{
    bool dashes = false;
    for (int i = first; i < argc; i++)
        dashes |= strcmp(argv[i], "--") == 0;
    buf_puts(to, dashes ? "benchwrap" : "benchwrap --");
    for (int i = first; i < argc; i++) {
        buf_putc(to, ' ');
        help_quote(to, argv[i]);
    }
    if (first == argc)
        buf_puts(to, " PROGRAM");
}

/* `benchwrap ior -a X`: wrapping always needs `--`; the answer is the line that was meant. */
static int not_a_command(int argc, char **argv)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10); /* more of a line is of no use */
    buf_puts(&b, "benchwrap: '");
    buf_plain(&b, str_of(argv[1]), 80);
    if (argv[1][0] == '-' && argv[1][1]) {
        buf_puts(&b, "' is not an option without a program; to run a program and record it: benchwrap [OPTIONS] -- PROGRAM [ARGUMENTS]");
    } else {
        const char *answer = opt_word_answer(words_typed, WORDS_COMMAND, str_of(argv[1]));
        const struct cmd *near = answer ? NULL : cmd_near(argv[1]);
        bool drop = answer && !*answer;
        buf_puts(&b, "' is not a benchwrap command");
        if (near)
            buf_printf(&b, " (did you mean \"benchwrap %s\"?)", near->name);
        else if (answer && !drop)
            buf_printf(&b, "; %s", answer);
        if (drop)
            buf_puts(&b, "; leave it out: "), put_line(&b, argc, argv, 2);
        else if (!answer || argc > 2)
            buf_puts(&b, answer ? " To run and record it: " : "; to run and record it: "), put_line(&b, argc, argv, 1);
    }
    fprintf(stderr, "%s\n", b.p ? b.p : "");
    return 125;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--recorder") == 0)
        return run_record(argc - 1, argv + 1, environ);
    if (argc > 1 && strcmp(argv[1], "--send") == 0)
        return send_main(argc - 1, argv + 1, environ);
    if (argc > 2 && strcmp(argv[1], NODE_WORD) == 0)
        return node_main(argc - 2, argv + 2, environ);
    if (argc > 1 && strcmp(argv[1], "--alive") == 0)
        return 0;
    if (argc > 1 && strcmp(argv[1], "--series") == 0)
        return repeat_run(argc - 1, argv + 1, environ);
    signal(SIGPIPE, SIG_IGN); /* a reader that had enough is no failure: see cmd_check_out */
    if (argc < 2) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 64 << 10);
        help_usage(&b);
        fputs(b.p ? b.p : "", stderr);
        return 125;
    }
    const char *verb = argv[1];
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0)
        verb = "help";
    else if (strcmp(verb, "--version") == 0 || strcmp(verb, "-V") == 0)
        verb = "version";
    const struct cmd *cmd = cmd_find(verb);
    if (!cmd)
        return not_a_command(argc, argv);
    return cmd_main(cmd, argc - 1, argv + 1, environ, stdout, stderr);
}
