/* help_man.c: manual pages (man macros), made from the same rows as the help. */
#include "base/man.h"
#include "cmd/help.h"
#include "plan/plan.h"

#include <string.h>

static void man_title(struct buf *to, const char *verb, const char *summary)
{
    buf_puts(to, ".\\\" made from the option rows by \"benchwrap help --man\"\n.TH BENCHWRAP");
    if (verb) {
        buf_puts(to, "\\-");
        for (const char *p = verb; *p; p++)
            buf_putc(to, *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
    }
    buf_puts(to, " 1 \"\" \"benchwrap " BW_VERSION "\" \"benchwrap\"\n.SH NAME\nbenchwrap");
    if (verb)
        buf_printf(to, "\\-%s", verb);
    buf_puts(to, " \\- ");
    man_text(to, str_of(summary), false);
    buf_puts(to, "\n.SH SYNOPSIS\n");
}

void help_man_command(const struct cmd *cmd, struct buf *to)
{
    man_title(to, cmd->name, cmd->summary);
    buf_printf(to, ".B benchwrap %s\n", cmd->name);
    if (cmd->usage && *cmd->usage) {
        man_z(to, cmd->usage);
        buf_putc(to, '\n');
    }
    buf_puts(to, ".SH DESCRIPTION\n");
    man_paragraphs(to, cmd->description ? cmd->description : cmd->summary);
    man_options(to, cmd->rows, cmd->count);
    man_examples(to, cmd->examples);
    buf_puts(
        to,
        ".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 1\nthe answer is no (something was not found, or is damaged), or it failed, with a message\n"
        ".TP\n.B 125\nthe command line is wrong\n.SH SEE ALSO\n.BR benchwrap (1)\n");
}

static void exit_statuses(struct buf *to)
{
    static const struct {
        const char *status, *text;
    } rows[] = {
        {"the program's own", "the program ended by itself; nothing of benchwrap's alters it"},
        {"3", "with --gate: the program ended 0 and the verdict is not pass, or nothing was recorded that could have one"},
        {"124", "the time limit (--timeout) ended the program"},
        {"125",
         "the command line is wrong, or a file named on it cannot be used; with --strict: the run cannot be recorded. Nothing was started"},
        {"126", "the program was found and cannot be executed"},
        {"127", "the program was not found"},
        {"signal", "the program died of a signal: benchwrap dies of the same one (128+n where that is impossible)"},
    };
    buf_puts(to, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buf_printf(to, ".TP\n.B %s\n", rows[i].status);
        man_z(to, rows[i].text);
        buf_putc(to, '\n');
    }
    buf_puts(to,
             ".PP\nThe commands end with 0, with 1 when the answer is no or something failed, and with 125 when their line is wrong.\n");
}

static void man_environment(struct buf *to)
{
    static const struct {
        const char *name, *text;
    } others[] = {
        {"MLFLOW_TRACKING_URI", "the tree, if it is a path or a file: URI and neither --tree nor BENCHWRAP_TREE is given"},
        {"BENCHWRAP_RUN_ID, BENCHWRAP_SOCKET", "set for the program: its run, and where \"benchwrap log\" sends facts to"},
        {"NO_COLOR", "no colours"},
        {"COLUMNS", "the width of a terminal; into a pipe or file nothing is wrapped or cut"},
    };
    buf_puts(to, ".SH ENVIRONMENT\n");
    for (size_t i = 0; i < plan_rows_count; i++)
        if (plan_rows[i].env)
            buf_printf(to, ".TP\n.B %s\nas \\-\\-%s\n", plan_rows[i].env, plan_rows[i].name);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        buf_printf(to, ".TP\n.B %s\n", others[i].name);
        man_z(to, others[i].text);
        buf_putc(to, '\n');
    }
}

static void man_files(struct buf *to)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"./mlruns", "the tree: one folder for each experiment, one below it for each run, as MLflow's file store reads them"},
        {"./.benchwrap/spool", "next to the tree: runs that are not finished"},
        {"/etc/benchwrap.yaml, ~/.config/benchwrap/config.yaml", "options, one \"name: value\" a line, by their long names"},
        {"benchwrap.yaml",
         "the same in a results repository, for all who use it; options that could run or send something are not read from it"},
        {"~/.config/benchwrap/catalogue/NAME/rules.yaml, /etc/benchwrap/catalogue/NAME/rules.yaml",
         "rule files of one's own, before those that come with benchwrap"},
    };
    buf_puts(to, ".SH FILES\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buf_puts(to, ".TP\n.B ");
        man_text(to, str_of(rows[i].name), false);
        buf_putc(to, '\n');
        man_z(to, rows[i].text);
        buf_putc(to, '\n');
    }
}

void help_man_program(struct buf *to)
{
    man_title(to, NULL, HELP_TITLE);
    buf_puts(to, ".B benchwrap\n[OPTIONS] \\-\\- PROGRAM [ARGUMENTS]\n.br\n.B benchwrap\nCOMMAND [OPTIONS] ...\n.SH DESCRIPTION\n");
    man_paragraphs(to, HELP_WHAT "\n\n" HELP_PROMISE);
    buf_puts(to, ".SH COMMANDS\n");
    for (size_t i = 0; i < cmds_count; i++) {
        if (cmds[i]->hidden)
            continue;
        buf_printf(to, ".TP\n.BR benchwrap\\-%s (1)\n", cmds[i]->name);
        man_z(to, cmds[i]->summary);
        buf_putc(to, '\n');
    }
    man_options(to, plan_rows, plan_rows_count);
    exit_statuses(to);
    man_environment(to);
    man_files(to);
    man_examples(to, HELP_EXAMPLES);
    buf_puts(to, ".SH SEE ALSO\n");
    for (size_t i = 0; i < cmds_count; i++)
        if (!cmds[i]->hidden)
            buf_printf(to, ".BR benchwrap\\-%s (1)%s\n", cmds[i]->name, i + 1 < cmds_count ? "," : "");
}
