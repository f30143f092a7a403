/* man.c: the parts of manual pages that are made from option rows; see man.h. */
#include "base/man.h"

#include <string.h>

void man_text(struct buf *to, struct str text, bool line_start)
{
    static const char dots[] = "\xe2\x80\xa6"; /* an ellipsis, which roff's terminals of ASCII lack */
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (str_starts(str_sub(text, i, text.n), dots)) {
            buf_puts(to, "\\&...");
            i += sizeof dots - 2;
            line_start = false;
            continue;
        }
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

void man_z(struct buf *to, const char *text)
{
    man_text(to, str_of(text), true);
}

void man_paragraphs(struct buf *to, const char *text)
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
            man_text(to, line, true);
            buf_putc(to, '\n');
        }
    }
    if (kept)
        buf_puts(to, ".fi\n");
}

/* Appends an option with its help. */
static void man_option(struct buf *to, const struct opt_row *row)
{
    buf_puts(to, ".TP\n");
    if (row->letter)
        buf_printf(to, "\\fB\\-%c\\fR, ", row->letter);
    buf_puts(to, "\\fB\\-\\-");
    man_z(to, row->name);
    buf_puts(to, "\\fR");
    if (row->kind != OPT_FLAG) {
        buf_puts(to, " \\fI");
        man_z(to, row->arg ? row->arg : "TEXT");
        buf_puts(to, "\\fR");
    }
    buf_putc(to, '\n');
    man_z(to, row->help);
    if (row->value) {
        buf_puts(to, " (default: ");
        man_z(to, row->value);
        buf_putc(to, ')');
    }
    if (row->env)
        buf_printf(to, " [$%s]", row->env);
    buf_putc(to, '\n');
}

void man_options(struct buf *to, const struct opt_row *rows, size_t count)
{
    const char *group = "";
    if (count)
        buf_puts(to, ".SH OPTIONS\n");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].group && strcmp(rows[i].group, group) != 0) {
            buf_puts(to, ".SS ");
            man_z(to, rows[i].group);
            buf_putc(to, '\n');
            group = rows[i].group;
        }
        man_option(to, &rows[i]);
    }
}

void man_examples(struct buf *to, const char *text)
{
    if (!text)
        return;
    buf_puts(to, ".SH EXAMPLES\n");
    for (struct str rest = str_of(text); rest.p;) {
        struct str line = str_cut(&rest, '\n');
        if (str_starts(line, "$ ")) {
            buf_puts(to, ".TP\n.B ");
            man_text(to, line, false);
            buf_putc(to, '\n');
        } else if (line.n) {
            man_text(to, line, true);
            buf_putc(to, '\n');
        }
    }
}

/* Appends the section of exit statuses; `text` has lines of status and meaning with a tab
 * between. */
static void man_statuses(struct buf *to, const char *text)
{
    buf_puts(to, ".SH EXIT STATUS\n");
    for (struct str rest = str_of(text); rest.p && rest.n;) {
        struct str line = str_cut(&rest, '\n'), status = str_cut(&line, '\t');
        buf_puts(to, ".TP\n.B ");
        man_text(to, status, false);
        buf_putc(to, '\n');
        if (line.p)
            man_text(to, line, true);
        buf_putc(to, '\n');
    }
}

void man_write_program(const struct man_program *p, struct buf *to)
{
    buf_puts(to, ".TH ");
    for (const char *c = p->name; *c; c++)
        buf_putc(to, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    buf_puts(to, " 1 \"\" \"benchwrap " BW_VERSION "\" \"benchwrap\"\n.SH NAME\n");
    man_z(to, p->name);
    buf_puts(to, " \\- ");
    man_text(to, str_of(p->summary), false);
    buf_puts(to, "\n.SH SYNOPSIS\n");
    for (struct str rest = str_of(p->usage); rest.p && rest.n;) {
        buf_puts(to, ".B ");
        man_z(to, p->name);
        buf_putc(to, '\n');
        man_text(to, str_cut(&rest, '\n'), true);
        buf_puts(to, rest.p && rest.n ? "\n.br\n" : "\n");
    }
    buf_puts(to, ".SH DESCRIPTION\n");
    man_paragraphs(to, p->description);
    man_options(to, p->rows, p->count);
    man_examples(to, p->examples);
    man_statuses(to, p->status);
    buf_puts(to, ".SH SEE ALSO\n.BR benchwrap (1)\n");
}
