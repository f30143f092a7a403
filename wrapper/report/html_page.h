/* html_page.h: the frame of a page: head with style and script, tables that can be sorted and filtered, and the end.
 *
 * A page loads nothing: style and script are part of it, and its content security policy allows no request and no other script. It is
 * readable without the script. Light and dark follow the reader's system. See base/html_out.h for the text between. */
#ifndef REPORT_HTML_PAGE_H
#define REPORT_HTML_PAGE_H
#include "base/html_out.h"

struct html_page {
    const char *title;
    const char *above, *above_path; /* a link above the title, to the page that this one belongs to; NULL: none */
    const char *head; /* markup for <head>, such as a link to a feed; NULL: none */
    bool has_charts; /* the style of chart_svg_inline is part of the page */
    const char *policy; /* further directives of the content security policy, such as "connect-src 'self'"; NULL: none */
    const char *script; /* behind the page's own script; NULL: none. The policy allows these two alone, by their hash */
};
/* Appends everything before the content, with the title as heading. */
void html_page_begin(struct buf *to, const struct html_page *page);
/* Appends a line at the foot (text; NULL: none), the script and the end. page: as for html_page_begin. */
void html_page_end(struct buf *to, const struct html_page *page, const char *foot);

struct html_column {
    const char *heading, *unit; /* unit: below the heading, as people write it; NULL: none */
    bool is_number;
};
struct html_table {
    struct buf *to;
    const struct html_column *columns;
    size_t count, at; /* at: the column of the next cell */
};
/* Begins a table. caption: for readers of a screen; NULL: none. class: of the program, such as "data" (sorted and filtered by the script) or "facts"
 * (names and values). Cells follow row by row. */
void html_table_begin(struct html_table *t, struct buf *to, const struct html_column *columns, size_t count, const char *class,
                      const char *caption);
/* Adds the next cell. NULL: not known. */
void html_cell_text(struct html_table *t, const char *text);
/* Adds a cell that shows `shown` and is sorted by its value. NaN: the value is not known. */
void html_cell_number(struct html_table *t, double value, const char *shown);
/* Adds a cell with markup of the program. key: what the cell is sorted by; NULL: its text. */
void html_cell_markup(struct html_table *t, const char *key, struct str markup);
void html_table_end(struct html_table *t);
#endif
