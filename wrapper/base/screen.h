/* screen.h: what a terminal shows: its width, its colours, and the columns that text occupies.
 *
 * A pipe or file has no width, so nothing is cut and nothing is coloured. NO_COLOR and TERM=dumb switch
 * colours off. A colour never appears alone: a word always has the same meaning. */
#ifndef BASE_SCREEN_H
#define BASE_SCREEN_H
#include "base/buf.h"

#include <stdio.h>

enum { SCREEN_DEFAULT = 80 };

struct screen {
    size_t width; /* columns; SIZE_MAX: unlimited (no terminal) */
    bool is_terminal, has_colour;
};

/* One meaning each. */
enum style {
    STYLE_PLAIN,
    STYLE_MAIN, /* the main number, a heading: bold */
    STYLE_DIM, /* ids, hints, what did not change */
    STYLE_GOOD, /* better, pass: green */
    STYLE_BAD, /* worse, failed: red */
    STYLE_WARN, /* a warning: yellow */
};

/* Returns the screen of an open descriptor. COLUMNS (20 to 10000) overrides the terminal's own
 * width. */
struct screen screen_of(int fd);
/* Returns the screen of a stream's descriptor. */
struct screen screen_of_file(FILE *out);
/* Writes data, such as CSV. On a terminal, control characters and marks that change the direction of text are written as buf_plain does, but for
 * the ends of lines; elsewhere all bytes stay. */
void screen_write_data(FILE *out, struct str data);
/* Returns the width to design for: SCREEN_DEFAULT where it is unlimited. */
size_t screen_columns(const struct screen *s);

/* Appends the text in a style. It is not escaped: foreign text must pass buf_plain first. */
void screen_puts(const struct screen *s, enum style style, const char *text, struct buf *to);
void screen_style_begin(const struct screen *s, enum style style, struct buf *to);
void screen_style_end(const struct screen *s, enum style style, struct buf *to);
/* Appends n blanks. */
void screen_fill(struct buf *to, size_t n);

/* Returns how many columns the text occupies on a terminal (UTF-8; combining marks 0, wide characters
 * 2). It has no escape sequences. */
size_t screen_text_width(struct str text);
/* Returns whether each byte is a printable ASCII character, and thus one column. */
bool screen_is_ascii(struct str text);
/* Appends text, cut to max columns (>= 1) with a visible "…" at the end, or in the middle: keys,
 * ids and paths differ at both ends. */
void screen_clip(struct buf *to, struct str text, size_t max);
void screen_clip_middle(struct buf *to, struct str text, size_t max);
/* Appends text, broken at blanks where it is wider than the screen. `first`: columns used on the
 * first line; further lines begin with `indent` blanks. No line end is added. A word is never
 * broken. */
void screen_wrap(const struct screen *s, struct str text, size_t first, size_t indent, struct buf *to);
/* Appends a line of its own: `first` blanks, then the text without control characters, wrapped. */
void screen_wrap_plain(const struct screen *s, struct str text, size_t first, size_t indent, struct buf *to);
/* Appends a message of several lines. On a terminal "PREFIX: " appears once, before the first line.
 * Elsewhere it begins every line and blank lines are left out, so that grep finds all of them. */
void screen_prefix(const struct screen *s, const char *prefix, struct str text, struct buf *to);
#endif
