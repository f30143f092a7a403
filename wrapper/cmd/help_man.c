/* help_man.c: manual pages (man macros), made from the same rows as the help. */
#include "cmd/help.h"
#include "plan.h"

#include <string.h>

/* Text with everything escaped that roff would read as an order. At the start of a line also the control characters. */
static void roff(struct buf *to, struct str text, bool line_start)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (line_start && (c == '.' || c == '\''))
            buf_puts(to, "\\&");
        line_start = c == '\n';
        if (c == '\\')
            buf_puts(to, "\\e");
        else if (c == '-')
            buf_puts(to, "\\-");
        else if (c == '\'')
            buf_puts(to, "\\(aq");
        else if (c == '`')
            buf_puts(to, "\\(ga");
        else if (c == '^')
            buf_puts(to, "\\(ha");
        else if (c == '~')
            buf_puts(to, "\\(ti");
        else
            buf_putc(to, c);
    }
}

static void roff_z(struct buf *to, const char *text)
{
    roff(to, str_of(text), true);
}

/* Paragraphs as in struct cmd: blank lines part them, lines with two leading blanks are kept. */
static void paragraphs(struct buf *to, const char *text)
{
    bool kept = false;
    for (struct str rest = str_of(text); rest.p;) {
        struct str line = str_cut(&rest, '\n');
        bool keep = str_starts(line, "  ");
        if (keep != kept)
            buf_puts(to, keep ? ".PP\n.nf\n" : ".fi\n.PP\n");
        else if (!line.n && rest.p)
            buf_puts(to, ".PP\n");
        kept = keep;
        if (line.n) {
            roff(to, line, true);
            buf_putc(to, '\n');
        }
    }
    if (kept)
        buf_puts(to, ".fi\n");
}

static void option(struct buf *to, const struct opt_row *row)
{
    buf_puts(to, ".TP\n");
    if (row->letter)
        buf_printf(to, "\\fB\\-%c\\fR, ", row->letter);
    buf_puts(to, "\\fB\\-\\-");
    roff_z(to, row->name);
    buf_puts(to, "\\fR");
    if (row->kind != OPT_FLAG) {
        buf_puts(to, " \\fI");
        roff_z(to, row->arg ? row->arg : "TEXT");
        buf_puts(to, "\\fR");
    }
    buf_putc(to, '\n');
    roff_z(to, row->help);
    if (row->value) {
        buf_puts(to, " (default: ");
        roff_z(to, row->value);
        buf_putc(to, ')');
    }
    if (row->env)
        buf_printf(to, " [$%s]", row->env);
    buf_putc(to, '\n');
}

static void options(struct buf *to, const struct opt_row *rows, size_t count)
{
    const char *group = "";
    if (count)
        buf_puts(to, ".SH OPTIONS\n");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].group && strcmp(rows[i].group, group) != 0) {
            buf_puts(to, ".SS ");
            roff_z(to, rows[i].group);
            buf_putc(to, '\n');
            group = rows[i].group;
        }
        option(to, &rows[i]);
    }
}

static void examples(struct buf *to, const char *text)
{
    if (!text)
        return;
    buf_puts(to, ".SH EXAMPLES\n");
    for (struct str rest = str_of(text); rest.p;) {
        struct str line = str_cut(&rest, '\n');
        if (str_starts(line, "$ ")) {
            buf_puts(to, ".TP\n.B ");
            roff(to, line, false);
            buf_putc(to, '\n');
        } else if (line.n) {
            roff(to, line, true);
            buf_putc(to, '\n');
        }
    }
}

static void title(struct buf *to, const char *verb, const char *summary)
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
    roff(to, str_of(summary), false);
    buf_puts(to, "\n.SH SYNOPSIS\n");
}

void help_man_command(const struct cmd *cmd, struct buf *to)
{
    title(to, cmd->name, cmd->summary);
    buf_printf(to, ".B benchwrap %s\n", cmd->name);
    if (cmd->usage && *cmd->usage) {
        roff_z(to, cmd->usage);
        buf_putc(to, '\n');
    }
    buf_puts(to, ".SH DESCRIPTION\n");
    paragraphs(to, cmd->description ? cmd->description : cmd->summary);
    options(to, cmd->rows, cmd->count);
    examples(to, cmd->examples);
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
        roff_z(to, rows[i].text);
        buf_putc(to, '\n');
    }
    buf_puts(to,
             ".PP\nThe commands end with 0, with 1 when the answer is no or something failed, and with 125 when their line is wrong.\n");
}

static void environment(struct buf *to)
{
    static const struct {
        const char *name, *text;
    } others[] = {
        {"MLFLOW_TRACKING_URI", "the tree, if it is a path or a file: URI and neither --tree nor BENCHWRAP_TREE is given"},
        {"BENCHWRAP_RUN_ID, BENCHWRAP_SOCKET", "set for the program: its run, and where \"benchwrap log\" sends facts to"},
        {"NO_COLOR", "no colours"},
    };
    buf_puts(to, ".SH ENVIRONMENT\n");
    for (size_t i = 0; i < plan_rows_count; i++)
        if (plan_rows[i].env)
            buf_printf(to, ".TP\n.B %s\nas \\-\\-%s\n", plan_rows[i].env, plan_rows[i].name);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        buf_printf(to, ".TP\n.B %s\n", others[i].name);
        roff_z(to, others[i].text);
        buf_putc(to, '\n');
    }
}

static void files(struct buf *to)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"./mlruns", "the tree: one folder for each experiment, one below it for each run, as MLflow's file store reads them"},
        {"./.benchwrap/spool", "beside the tree: runs that are not finished"},
        {"/etc/benchwrap.yaml, ~/.config/benchwrap/config.yaml", "options, one \"name: value\" a line, by their long names"},
        {"benchwrap.yaml",
         "the same in a results repository, for all who use it; options that could run or send something are not taken from it"},
        {"~/.config/benchwrap/catalogue/NAME/rules.yaml, /etc/benchwrap/catalogue/NAME/rules.yaml", "rule files of one's own, before those that come with benchwrap"},
    };
    buf_puts(to, ".SH FILES\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buf_puts(to, ".TP\n.B ");
        roff(to, str_of(rows[i].name), false);
        buf_putc(to, '\n');
        roff_z(to, rows[i].text);
        buf_putc(to, '\n');
    }
}

void help_man_program(struct buf *to)
{
    title(to, NULL, "run a benchmark and record it as an MLflow run");
    buf_puts(to, ".B benchwrap\n[OPTIONS] \\-\\- PROGRAM [ARGUMENTS]\n.br\n.B benchwrap\nCOMMAND [OPTIONS] ...\n.SH DESCRIPTION\n");
    paragraphs(to, HELP_WHAT "\n\n" HELP_PROMISE);
    buf_puts(to, ".SH COMMANDS\n");
    for (size_t i = 0; i < cmds_count; i++) {
        if (cmds[i]->hidden)
            continue;
        buf_printf(to, ".TP\n.BR benchwrap\\-%s (1)\n", cmds[i]->name);
        roff_z(to, cmds[i]->summary);
        buf_putc(to, '\n');
    }
    options(to, plan_rows, plan_rows_count);
    exit_statuses(to);
    environment(to);
    files(to);
    examples(to, HELP_EXAMPLES);
    buf_puts(to, ".SH SEE ALSO\n");
    for (size_t i = 0; i < cmds_count; i++)
        if (!cmds[i]->hidden)
            buf_printf(to, ".BR benchwrap\\-%s (1)%s\n", cmds[i]->name, i + 1 < cmds_count ? "," : "");
}
