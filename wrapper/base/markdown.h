/* markdown.h: foreign text on the page of a forge. */
#ifndef BASE_MARKDOWN_H
#define BASE_MARKDOWN_H
#include "base/buf.h"

/* Appends `text` as one code span, cut behind `max` characters; nothing for NULL or an empty text. Forges link no people, issues, commits or addresses in code, and every
 * character with a meaning in Markdown, HTML or a table is an entity. */
void markdown_text(struct buf *to, const char *text, size_t max);
#endif
