/* pages_index.h: the index of the pages' folder: what was known of each run when they were written.
 *
 * It saves reading runs again. It is only a cache: one that is missing, of another version or damaged is empty, and the runs are read. */
#ifndef PAGES_PAGES_INDEX_H
#define PAGES_PAGES_INDEX_H
#include "base/err.h"
#include "pages/pages_data.h"

#define PAGES_INDEX_NAME ".benchwrap-pages"

/* Reads the index of the open folder into the arena. Nothing in it is trusted: it is text of any origin. -1: out of memory. */
int pages_index_read(int folder, struct arena *a, struct page_data *ret, struct err *err);
/* Writes the index into the open folder, in place of the old one. 0; -1 with err. */
int pages_index_write(int folder, const struct page_data *data, struct err *err);
/* Reads the index of the pages from a text into *ret, in the arena. False: the text is no complete
 * index of this version; *ret has no runs then. */
bool pages_index_parse(struct str text, struct arena *a, struct page_data *ret);
/* Appends the index of the pages as a text. */
void pages_index_print(const struct page_data *data, struct buf *to);
/* Makes equal sets of facts of all runs one object. -1: out of memory. */
int pages_facts_share(struct page_data *data, struct err *err);
#endif
