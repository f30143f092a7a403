/* pages_parts.h: what the writers of single pages share; private to this module. */
#ifndef PAGES_PAGES_PARTS_H
#define PAGES_PAGES_PARTS_H
#include "pages/pages.h"
#include "pages/pages_files.h"
#include "pages/pages_group.h"
#include "report/html_page.h"

enum { PAGE_MAX = 64 << 20, PAGE_COLUMNS = 6 /* inputs that name a measurement */, RUNS_OF_LIST = 500 /* runs of one list page */ };

/* One measurement: the runs of one comparison key. */
struct page_measurement {
    struct page_group group; /* runs that count, newest first */
    const struct page_run **all; /* also failed ones, of the same key */
    size_t all_count;
    const char *name; /* "size 4, nodes 2": what distinguishes it in its experiment */
    const char *title; /* with the experiment before it: "ior: size 4, nodes 2" */
    const char *experiment;
    struct page_groups versions; /* of the benchmark: leaderboards do not mix them */
    struct page_value metrics[PAGE_VALUES]; /* headline metrics */
    size_t metric_count;
    struct page_board *boards; /* [versions.count] of the first metric; NULL where there is none */
    size_t sites; /* that have a value of the first metric in the newest version */
};
struct page_experiment {
    struct page_group group; /* every run */
    struct page_measurement *measurements; /* those of most sites, then most runs first */
    size_t count;
    const char *differing[PAGE_COLUMNS];
    size_t differing_count;
};
struct page_notice { /* news of one system */
    const struct page_experiment *experiment;
    const struct page_measurement *measurement;
    const struct page_run *run;
    const struct page_value *metric;
    struct page_news news;
};
struct page_book { /* everything that the pages show */
    const struct pages_request *request;
    struct page_files *files;
    struct page_data data;
    const struct page_run **runs; /* all, newest first */
    struct page_experiment *experiments; /* the newest first */
    size_t experiment_count;
    struct page_groups machines, sites;
    struct page_notice *notices; /* regressions, then improvements */
    size_t notice_count;
    struct arena *a;
};

/* Fills the book from its data. -1: err. */
int page_book_fill(struct page_book *book, struct err *err);

/* ---- pages: each writes its files, HTML and JSON ---- */
int page_write_start(const struct page_book *book, struct err *err);
int page_write_experiment(const struct page_book *book, const struct page_experiment *e, struct err *err);
int page_write_measurement(const struct page_book *book, const struct page_experiment *e, const struct page_measurement *m,
                           struct err *err);
int page_write_machine(const struct page_book *book, const struct page_group *machine, struct err *err);
int page_write_feed(const struct page_book *book, struct err *err); /* feed.xml */
int page_write_badge(const struct page_book *book, const struct page_experiment *e, struct err *err);

/* ---- pieces ---- */

/* The way from a page's folder ("../") to the start page; "" for the start page itself. */
#define PAGE_UP "../"
/* Appends a link to the run with its time. up: as above. */
void page_link_run(struct buf *to, const char *up, const struct page_run *run);
void page_link_experiment(struct buf *to, const char *up, const struct page_run *run, const char *text);
void page_link_measurement(struct buf *to, const char *up, const struct page_measurement *m, const char *text);
void page_link_machine(struct buf *to, const char *up, const struct page_run *run);
/* Adds a cell with markup that `put` has written into a buffer. */
void page_cell(struct html_table *t, const char *key, const struct buf *markup);
/* Returns the first place of a measurement's first metric, in its newest version; NULL: no site has
 * a value. */
const struct page_place *page_first_place(const struct page_measurement *m);
/* Appends "1 of 4 runs disturbed, 3 not judged": of the runs of a place. Nothing where all were
 * judged and none was disturbed. */
void page_put_disturbed(struct buf *to, const struct page_place *p);
/* Adds a cell for a measurement with a first place: "alpha", or "alpha = beta" for sites that share
 * it, and how many of the first one's runs were disturbed. */
void page_put_best_sites(struct html_table *t, const struct page_measurement *m);
/* Adds a value with its unit, scaled as show_quantity does. */
void page_cell_quantity(struct html_table *t, double value, const char *unit);
/* Appends what the machine of a run is, "cpu model, 2 x 32 cores"; nothing where nothing is known. */
void page_machine_text(struct buf *to, const struct page_run *run);
/* Returns the name of the site, or words for none. */
const char *page_site_text(const char *site);
/* Appends the value with its unit: "1085 MiB/s". */
void page_put_quantity(struct buf *to, double value, const char *unit);
/* Appends "write.bw.max" of write.bw_MiB_per_s.max. */
void page_put_metric(struct buf *to, const struct page_value *metric);
/* Returns the state of a run in a table: pass, fail, finished … */
const char *page_state_text(const struct page_run *run);
void page_put_state(struct buf *to, const struct page_run *run);
/* Writes a table of the runs, which are newest first: time, experiment (with `experiments`), name
 * (where one was given), site, state, two values. */
void page_put_runs(struct buf *to, const char *up, const struct page_run *const *runs, size_t n, const char *caption, bool experiments);
/* Draws the history of a metric over time as SVG, one series for each site. Nothing where there are
 * fewer than two values. */
void page_put_history(struct buf *to, const struct page_run *const *runs, size_t n, const struct page_value *metric, struct arena *a);
/* Writes a page that was built, and its JSON. 0; -1 with err. */
int page_put_both(const struct page_book *book, const char *folder, const char *id, const struct buf *html, const struct buf *json,
                  struct err *err);
#endif
