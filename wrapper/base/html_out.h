/* html_out.h: foreign text in HTML and SVG: the one place that escapes it, and elements that hold only such text.
 *
 * Markup that the program itself writes goes into the buffer by buf_puts. Each text of a run passes one of these functions. What they append
 * has no character with a meaning in HTML, SVG or an attribute in double quotes, no control character and no change of direction, and is
 * valid UTF-8. */
#ifndef BASE_HTML_OUT_H
#define BASE_HTML_OUT_H
#include "base/buf.h"

/* Appends text, as content or between the double quotes of an attribute. Line ends and tabs become blanks, other control characters and changes of
 * direction are written out (\x1b, \u202e). At most max characters, "…" marks a cut. */
void html_text(struct buf *to, struct str text, size_t max);
/* Appends text as html_text does, for the lines of a <pre>: line ends and tabs stay, and escape
 * sequences that only set colours are left out. */
void html_lines(struct buf *to, struct str text);
/* Appends a relative path as the value of an attribute: what a URL does not allow is percent-encoded, "/" stays. Such a path never names a scheme. */
void html_path(struct buf *to, const char *path);
/* Appends <tag class="class">text</tag> and a line end. The text (NULL: empty) is escaped, and cut
 * after 4000 characters. tag and class (NULL: none) are not escaped, so they must be constants of
 * the program. */
void html_element(struct buf *to, const char *tag, const char *class, const char *text);
/* Appends <a href="path">text</a>. The path is escaped by html_path, the text as by
 * html_element. */
void html_link(struct buf *to, const char *path, const char *text);
#endif
