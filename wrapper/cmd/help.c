/* help.c: help texts for the terminal, made from the rows of the commands. */
#include "cmd/help.h"

#include "base/shell_word.h"
#include "base/utf8.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

void help_quote(struct buf *to, const char *word)
{
    struct str s = str_of(word);
    bool control = !str_valid_utf8(s);
    for (size_t i = 0; i < s.n; i++)
        control |= (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f || ((unsigned char)s.p[i] == 0xc2 && (unsigned char)s.p[i + 1] < 0xa0);
    if (control) { /* $'…': the only form that is both exact and harmless on a terminal */
        buf_puts(to, "$'");
        for (size_t i = 0; i < s.n; i++) {
            unsigned char c = (unsigned char)s.p[i];
            if (c == '\'' || c == '\\')
                buf_printf(to, "\\%c", c);
            else if (c < 0x20 || c >= 0x7f)
                buf_printf(to, "\\x%02x", c);
            else
                buf_putc(to, (char)c);
        }
        buf_putc(to, '\'');
    } else {
        shell_word_put(to, word);
    }
}

static void pad_with_blanks(struct buf *to, size_t n)
{
    while (n--)
        buf_putc(to, ' ');
}

/* Wraps paragraphs at width columns with an indent; lines that begin with two blanks stay. */
static void help_wrap(struct buf *to, const char *text, size_t indent, size_t width)
{
    struct str rest = str_of(text);
    size_t at = 0; /* columns used in the open line; 0: none open */
    while (rest.p) {
        struct str line = str_cut(&rest, '\n');
        bool kept = str_starts(line, "  ");
        if ((line.n == 0 || kept) && at) {
            buf_putc(to, '\n');
            at = 0;
        }
        if (line.n == 0) {
            if (rest.p)
                buf_putc(to, '\n');
            continue;
        }
        if (kept) {
            pad_with_blanks(to, indent);
            buf_str(to, line);
            buf_putc(to, '\n');
            continue;
        }
        for (struct str word; (word = str_word(&line)).n;) {
            size_t n = utf8_count(word);
            if (at && at + 1 + n > width) {
                buf_putc(to, '\n');
                at = 0;
            }
            if (at) {
                buf_putc(to, ' ');
                at += 1 + n;
            } else {
                pad_with_blanks(to, indent);
                at = indent + n;
            }
            buf_str(to, word);
        }
    }
    if (at)
        buf_putc(to, '\n');
}

#define USAGE "usage: benchwrap [OPTIONS] -- PROGRAM [ARGUMENTS]\n       benchwrap COMMAND [OPTIONS]\n"

void help_usage(struct buf *to)
{
    buf_puts(to, USAGE "see \"benchwrap help\"\n");
}

enum { GROUP_WIDTH = 12, COMMAND_WIDTH = 13 };

/* Commands with their group in the left column. */
static void list_commands(bool all, struct buf *to)
{
    const char *before = "";
    for (size_t i = 0; i < cmds_count; i++) {
        if (cmds[i]->hidden || !(all || cmd_places[i].is_first))
            continue;
        buf_printf(to, "%-*s%-*s%s\n", GROUP_WIDTH, strcmp(before, cmd_places[i].group) != 0 ? cmd_places[i].group : "", COMMAND_WIDTH,
                   cmds[i]->name, cmds[i]->summary);
        before = cmd_places[i].group;
    }
}

/* The options of a set of rows, as base/opt prints them. */
static void list_options(const struct opt_row *rows, size_t count, struct buf *to)
{
    struct opt_set set = {.rows = rows, .count = count};
    opt_help(&set, to);
}

/* "$ command" lines are emphasised, and their explanations are wrapped below. */
static void list_examples(const char *examples, struct buf *to)
{
    struct str rest = str_of(examples);
    while (rest.p) {
        struct str line = str_cut(&rest, '\n');
        if (str_starts(line, "$ ")) {
            buf_puts(to, "  ");
            buf_str(to, line);
            buf_putc(to, '\n');
        } else if (line.n) {
            char text[256];
            snprintf(text, sizeof text, STR_FMT, STR_ARG(line));
            help_wrap(to, text, 6, 80);
        }
    }
}

void help_program(struct buf *to)
{
    static const char *const common[] = {"experiment", "name", "param", "to", "reference", "timeout", "repeat", "sweep", "quiet", NULL};
    struct opt_set set = {.rows = plan_rows, .count = plan_rows_count};
    buf_puts(to, "benchwrap - " HELP_TITLE "\n\n" USAGE "\n"
                 "  benchwrap -- fio job.fio                       record one run in ./mlruns\n"
                 "  benchwrap --repeat 5 -- ./solver               with repetitions\n"
                 "  benchwrap --sweep t=1,2,4 -- ./stream -t {t}   one point for each value\n"
                 "  benchwrap compare last~1 last                  what changed\n\n");
    list_commands(false, to);
    buf_putc(to, '\n');
    opt_help_brief(&set, common, to);
    buf_puts(to, "\nAll options: \"benchwrap help options\".  All commands: \"benchwrap help commands\".\n"
                 "One command: \"benchwrap help COMMAND\".\n");
}

void help_options(struct buf *to)
{
    buf_puts(to, USAGE "\n");
    help_wrap(to, HELP_WHAT "\n\n" HELP_PROMISE, 0, 80);
    buf_puts(to, "\nExamples:\n");
    list_examples(HELP_EXAMPLES, to);
    buf_putc(to, '\n');
    list_options(plan_rows, plan_rows_count, to);
    buf_puts(to, "\n$COLUMNS sets the width of a terminal. Into a pipe or file nothing is wrapped or cut.\n"
                 "$NO_COLOR switches colours off.\n");
}

void help_commands(struct buf *to)
{
    buf_puts(to, USAGE "\n");
    list_commands(true, to);
    buf_puts(to, "\nOne command: \"benchwrap help COMMAND\".\n");
}

void help_command(const struct cmd *cmd, struct buf *to)
{
    buf_printf(to, "%s\n\nusage: benchwrap %s%s%s\n", cmd->summary, cmd->name, cmd->usage && *cmd->usage ? " " : "",
               cmd->usage ? cmd->usage : "");
    if (cmd->examples) {
        buf_putc(to, '\n');
        list_examples(cmd->examples, to);
    }
    if (cmd->description) {
        buf_putc(to, '\n');
        help_wrap(to, cmd->description, 0, 80);
    }
    if (cmd->count) {
        buf_putc(to, '\n');
        list_options(cmd->rows, cmd->count, to);
    }
}
