/* pages_feed.c: an Atom feed of new runs and changes, and SVG badges. */
#include "pages/pages_parts.h"

#include "base/screen.h"
#include "base/show.h"

#include <string.h>

enum { ENTRIES_MAX = 40 };

static void put_feed_link(const struct page_book *book, const char *path, struct buf *to)
{
    buf_puts(to, "<link href=\"");
    if (book->request->url) {
        html_text(to, str_of(book->request->url), 1000);
        buf_puts(to, str_ends(str_of(book->request->url), "/") ? "" : "/");
    }
    html_path(to, path);
    buf_puts(to, "\"/>");
}

static void put_feed_run(const struct page_book *book, const struct page_run *run, struct buf *to)
{
    char path[PAGE_PATH];
    CLEANUP_BUF struct buf when, text;
    buf_init(&when, 100);
    buf_init(&text, 1 << 14);
    show_time_utc(&when, run->start_ms);
    page_path_run(run->id, ".html", path);
    buf_printf(&text, "%s, %s: %s", run->experiment, page_site_text(run->site), page_state_text(run));
    for (size_t i = 0; i < run->value_count && i < 2; i++) {
        buf_puts(&text, ", ");
        page_put_metric(&text, &run->values[i]);
        buf_putc(&text, ' ');
        page_put_quantity(&text, run->values[i].value, run->values[i].unit);
    }
    buf_printf(to, "<entry><id>urn:benchwrap:run:%s</id><updated>%s</updated>", run->id, when.p ? when.p : "1970-01-01T00:00:00Z");
    html_element(to, "title", NULL, text.p);
    put_feed_link(book, path, to);
    buf_puts(to, "</entry>\n");
}

/* Appends the entry of a regression or improvement. Its id depends on run, measurement and metric
 * alone, so that readers of the feed see it once. */
static void put_feed_notice(const struct page_book *book, const struct page_notice *n, struct buf *to)
{
    char path[PAGE_PATH];
    CLEANUP_BUF struct buf when, text;
    buf_init(&when, 100);
    buf_init(&text, 1 << 14);
    show_time_utc(&when, n->run->start_ms);
    page_path_of("measurement", n->measurement->group.id, ".html", path);
    buf_printf(&text, "%s: %s, %s, ", n->news.change == PAGE_CHANGE_WORSE ? "Regression" : "Improvement", n->measurement->experiment,
               page_site_text(n->run->site));
    page_put_metric(&text, n->metric);
    buf_puts(&text, " is ");
    page_put_quantity(&text, n->news.value, n->metric->unit);
    buf_puts(&text, ", expected ");
    page_put_quantity(&text, n->news.low, n->metric->unit);
    buf_puts(&text, " … ");
    page_put_quantity(&text, n->news.high, n->metric->unit);
    buf_printf(to, "<entry><id>urn:benchwrap:change:%s:%s:", n->run->id, n->measurement->group.id);
    html_path(to, n->metric->key);
    buf_printf(to, "</id><updated>%s</updated>", when.p ? when.p : "1970-01-01T00:00:00Z");
    html_element(to, "title", NULL, text.p);
    put_feed_link(book, path, to);
    buf_puts(to, "</entry>\n");
}

int page_write_feed(const struct page_book *book, struct err *err)
{
    CLEANUP_BUF struct buf to, when;
    buf_init(&to, PAGE_MAX);
    buf_init(&when, 100);
    if (book->data.count)
        show_time_utc(&when, book->runs[0]->start_ms);
    buf_puts(&to, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
    html_element(&to, "title", NULL, book->request->title);
    buf_puts(&to, "<id>urn:benchwrap:pages:");
    html_path(&to, book->request->title);
    buf_printf(&to, "</id>\n<updated>%s</updated>\n<author><name>benchwrap</name></author>\n", when.p ? when.p : "1970-01-01T00:00:00Z");
    put_feed_link(book, "index.html", &to);
    buf_putc(&to, '\n');
    for (size_t i = 0; i < book->notice_count && i < ENTRIES_MAX; i++)
        put_feed_notice(book, &book->notices[i], &to);
    for (size_t i = 0; i < book->data.count && i < ENTRIES_MAX; i++)
        put_feed_run(book, book->runs[i], &to);
    buf_puts(&to, "</feed>\n");
    return page_file_put(book->files, "feed.xml", &to, err);
}

/* ---- badges ---- */

/* Appends a badge as SVG, "ior | 1085 MiB/s". Label and value are escaped; the colour is not. */
static void put_badge(struct buf *to, const char *label, const char *value, const char *colour)
{
    enum { CHARACTER = 7, MARGIN = 12, HEIGHT = 20 };
    size_t left = screen_text_width(str_of(label)) * CHARACTER + MARGIN, right = screen_text_width(str_of(value)) * CHARACTER + MARGIN;
    buf_printf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%d\" role=\"img\" aria-label=\"", left + right,
               HEIGHT);
    html_text(to, str_of(label), 60);
    buf_puts(to, ": ");
    html_text(to, str_of(value), 60);
    buf_printf(to, "\">\n<rect width=\"%zu\" height=\"%d\" fill=\"#444c56\"/><rect x=\"%zu\" width=\"%zu\" height=\"%d\" fill=\"%s\"/>\n",
               left, HEIGHT, left, right, HEIGHT, colour);
    buf_puts(to, "<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" text-anchor=\"middle\">\n");
    buf_printf(to, "<text x=\"%zu\" y=\"14\">", left / 2);
    html_text(to, str_of(label), 60);
    buf_printf(to, "</text><text x=\"%zu\" y=\"14\">", left + right / 2);
    html_text(to, str_of(value), 60);
    buf_puts(to, "</text>\n</g></svg>\n");
}

int page_write_badge(const struct page_book *book, const struct page_experiment *e, struct err *err)
{
    CLEANUP_BUF struct buf to, value, label;
    char path[PAGE_PATH];
    bool worse = false;
    buf_init(&to, 1 << 16);
    buf_init(&value, 1 << 12);
    buf_init(&label, 1 << 12);
    const struct page_run *newest = e->group.runs[0];
    for (size_t i = 0; i < book->notice_count; i++)
        worse = worse || (book->notices[i].experiment == e && book->notices[i].news.change == PAGE_CHANGE_WORSE);
    if (newest->value_count && page_run_counts(newest))
        page_put_quantity(&value, newest->values[0].value, newest->values[0].unit);
    else
        buf_puts(&value, page_state_text(newest));
    screen_clip(&label, str_of(e->group.id), 40);
    put_badge(&to, label.p ? label.p : "", value.p, worse || !page_run_counts(newest) ? "#b3261e" : "#116329");
    page_path_of("badge", newest->experiment_id, ".svg", path);
    return page_file_put_group(book->files, path, &to, err);
}
