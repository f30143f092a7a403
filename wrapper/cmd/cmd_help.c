/* cmd_help.c: `benchwrap help [COMMAND]`: help and manual pages. */
#include "cmd/cmd.h"
#include "cmd/help.h"
#include "launch/words.h"

#include <string.h>

static int refuse_unknown_command(const char *word, struct err *err)
{
    const char *answer = opt_word_answer(words_typed, WORDS_COMMAND, str_of(word));
    const struct cmd *near = answer ? NULL : cmd_near(word);
    if (answer && *answer)
        return err_set(err, ERR_USAGE, "no command \"%.60s\"; %s", word, answer);
    return near ? err_set(err, ERR_USAGE, "no command \"%.60s\"; did you mean \"%s\"?", word, near->name)
                : err_set(err, ERR_USAGE, "no command \"%.60s\"; \"benchwrap help commands\" lists them", word);
}

static int help_print(struct cmd_context *c)
{
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "expected one command, got %d words", c->argc);
    if (opt_on(&c->opts, OPTION_LIST)) {
        for (size_t i = 0; i < cmds_count; i++)
            if (!cmds[i]->hidden)
                fprintf(c->out, "%s\n", cmds[i]->name);
        return 0;
    }
    bool commands = opt_on(&c->opts, OPTION_ALL) || (c->argc && strcmp(c->argv[0], "commands") == 0);
    bool options = c->argc && strcmp(c->argv[0], "options") == 0;
    const struct cmd *cmd = c->argc ? cmd_find(c->argv[0]) : NULL;
    if (c->argc && !cmd && !commands && !options)
        return refuse_unknown_command(c->argv[0], c->err);
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1 << 20);
    bool man = opt_on(&c->opts, OPTION_MAN);
    if (cmd && man)
        help_man_command(cmd, &text);
    else if (man)
        help_man_program(&text);
    else if (cmd)
        help_command(cmd, &text);
    else if (commands)
        help_commands(&text);
    else if (options)
        help_options(&text);
    else
        help_program(&text);
    if (text.failed)
        return err_memory(c->err, "the text of a manual page");
    fwrite(text.p, 1, text.n, c->out);
    return 0;
}

static const struct opt_row rows[] = {
    {.name = OPTION_ALL, .letter = 'a', .kind = OPT_FLAG, .group = "Output", .help = "List all commands, as \"benchwrap help commands\""},
    {.name = OPTION_MAN, .kind = OPT_FLAG, .group = "Output", .help = "Print the source of the manual page, for \"man -l\""},
    {.name = OPTION_LIST, .kind = OPT_FLAG, .group = "Output", .help = "Print the names of the commands, one on each line"},
};

const struct cmd cmd_help = {
    .name = "help",
    .summary = "Show help",
    .usage = "[--all | --man] [COMMAND | options | commands]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Prints the common commands and options on one screen, all options of \"benchwrap -- PROGRAM\" (options), all commands (commands), or the help of "
        "one command.",
    .examples = "$ benchwrap help ls\n"
                "Print the help of the command ls.\n"
                "$ benchwrap help options\n"
                "List all options of a recorded run.\n"
                "$ benchwrap help --man ls\n"
                "Print the manual page of ls.\n",
    .run = help_print,
};
