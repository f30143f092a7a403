/* man.h: manual pages (man macros), made from the same rows as the help. */
#ifndef BASE_MAN_H
#define BASE_MAN_H
#include "base/opt.h"

/* Appends text with everything escaped that roff would read as an order; at the start of a line
 * also the control characters. */
void man_text(struct buf *to, struct str text, bool line_start);
/* Appends a text that begins a line, as man_text does. */
void man_z(struct buf *to, const char *text);
/* Appends paragraphs: blank lines part them, lines with two leading blanks stay unchanged. */
void man_paragraphs(struct buf *to, const char *text);
/* Appends the section OPTIONS of a manual page, with a heading for each group; nothing where there
 * are no options. */
void man_options(struct buf *to, const struct opt_row *rows, size_t count);
/* Appends "$ command" lines, each followed by lines of plain explanation; NULL: none. */
void man_examples(struct buf *to, const char *text);

/* A separate program (benchmarks/native/NAME), and its complete page. */
struct man_program {
    const char *name, *summary, *usage; /* usage: lines behind the name */
    const char *description, *examples; /* as above */
    const struct opt_row *rows;
    size_t count;
    const char *status; /* "0\tdone\n1\t…\n": exit statuses, a tab between */
};
/* Appends the complete page of the program. */
void man_write_program(const struct man_program *p, struct buf *to);
#endif
