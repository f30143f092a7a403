/* pages_read.h: read runs for the pages, and write the page of each while it is read. */
#ifndef PAGES_PAGES_READ_H
#define PAGES_PAGES_READ_H
#include "compare/comparison_key.h"
#include "pages/pages_data.h"
#include "pages/pages_files.h"

/* Returns what the run's page shows as a text that changes with it: ids of git, or times and sizes of the run's folders, and a hash of run->annotated and the
 * experiment's name. In the arena; "": not known. */
const char *page_stamp(const struct runs *runs, const struct tree_run *run, struct arena *a);
/* Reads what the pages show of the run into *ret, and writes run/XX/ID.html and .json. runs: the
 * caller's own copy, one for each thread, as the reader. Texts are in the arena. 1: the run was
 * deleted since the listing, and its pages are of no use. -1: err. */
int page_run_read(struct runs *runs, struct comparison_reader *reader, const struct tree_run *run, struct page_files *files,
                  struct arena *a, struct page_run *ret, struct err *err);
#endif
