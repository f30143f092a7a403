/* cmd_help.c: `benchwrap help [COMMAND]`: help and manual pages. */
#include "cmd/cmd.h"
#include "cmd/help.h"

#include <string.h>

static int run(struct cmd_context *c)
{
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "one command at a time");
    if (opt_on(&c->opts, "list")) {
        for (size_t i = 0; i < cmds_count; i++)
            if (!cmds[i]->hidden)
                fprintf(c->out, "%s\n", cmds[i]->name);
        return 0;
    }
    const struct cmd *cmd = c->argc ? cmd_find(c->argv[0]) : NULL;
    if (c->argc && !cmd)
        return err_set(c->err, ERR_USAGE, "there is no command \"%.60s\"", c->argv[0]);
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1 << 20);
    bool man = opt_on(&c->opts, "man");
    if (cmd && man)
        help_man_command(cmd, &text);
    else if (man)
        help_man_program(&text);
    else if (cmd)
        help_command(cmd, &text);
    else
        help_program(&text);
    if (text.failed)
        return err_set(c->err, ERR_SYSTEM, "out of memory");
    fwrite(text.p, 1, text.n, c->out);
    return 0;
}

static const struct opt_row rows[] = {
    {"man", 0, OPT_FLAG, NULL, NULL, NULL, "Output", "source of the manual page (man macros), for \"man -l\"", 0},
    {"list", 0, OPT_FLAG, NULL, NULL, NULL, "Output", "the names of the commands, one a line", 0},
};

const struct cmd cmd_help = {
    .name = "help",
    .summary = "help on benchwrap or on one of its commands",
    .usage = "[--man] [COMMAND]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description = "Tells how benchwrap, or one of its commands, is used. Manual pages come from the same rows, so that both say the same.",
    .examples = "$ benchwrap help ls\n"
                "Tells about the command ls.\n"
                "$ benchwrap help --man ls\n"
                "Its manual page.\n",
    .run = run,
};
