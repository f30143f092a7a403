/* share_text.c: title and text of a pull request: what it brings, as tables. Texts of runs are
 * foreign, also in Markdown. */
#include "base/show.h"
#include "base/markdown.h"
#include "share/range_text.h"
#include "share/share.h"

#include <stdio.h>
#include <string.h>

enum { RUNS_SHOWN = 60, VALUES_ROOM = 25000, CHECK_ROOM = 40000, TEXT_ROOM = 50000 /* GitHub: 65,536 */ };
enum { TITLE_NAMES = 4, SITE_SHOWN = 40, NAME_SHOWN = 28 }; /* forges refuse titles of more than 255 characters */
#define MARK_BEGIN "<!-- benchwrap: what stands between these two lines is written anew at each share -->"
#define MARK_END "<!-- benchwrap: end -->"

/* ---- by experiment ---- */

struct group {
    const char *experiment; /* its name; of runs that are in the branch only, its id */
    const char *benchmark;
    size_t runs, retractions, annotations; /* runs: that measure something */
    size_t pass, fail, redacted, withheld;
    uint64_t files, bytes;
    int64_t first_ms, last_ms;
};

static const char *experiment_of(const struct share_run *r)
{
    return r->run ? r->run->experiment : r->experiment;
}

/* The runs are sorted by experiment. Returns the index behind the group that begins at i. */
static size_t take_group(const struct share *s, size_t i, struct group *ret)
{
    const char *id = s->list[i].experiment;
    *ret = (struct group){.experiment = experiment_of(&s->list[i])};
    for (; i < s->count && strcmp(s->list[i].experiment, id) == 0; i++) {
        const struct share_run *r = &s->list[i];
        if (r->left_out)
            continue;
        ret->runs += !r->retracts && !r->annotates;
        ret->annotations += r->annotates != NULL;
        ret->retractions += r->retracts;
        ret->files += r->files;
        ret->bytes += r->bytes;
        ret->redacted += r->redacted;
        ret->withheld += r->withheld;
        ret->pass += r->verdict && strcmp(r->verdict, "pass") == 0;
        ret->fail += r->verdict && strcmp(r->verdict, "fail") == 0;
        ret->benchmark = ret->benchmark ? ret->benchmark : r->benchmark;
        if (r->run && r->run->start_ms && (!ret->first_ms || r->run->start_ms < ret->first_ms))
            ret->first_ms = r->run->start_ms;
        if (r->run && r->run->start_ms > ret->last_ms)
            ret->last_ms = r->run->start_ms;
    }
    return i;
}

static void put_day(struct buf *to, int64_t ms)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, 100);
    if (ms)
        show_time_utc(&b, ms);
    buf_str(to, str_sub(buf_text(&b), 0, 10));
}

static size_t count_retractions(const struct share *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += !s->list[i].left_out && s->list[i].retracts;
    return n;
}

static size_t count_annotations(const struct share *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += !s->list[i].left_out && s->list[i].annotates;
    return n;
}

void share_title(const struct share *s, struct buf *to)
{
    struct group g;
    size_t shown = 0;
    size_t retractions = count_retractions(s), annotations = count_annotations(s), runs = s->shared - retractions - annotations;
    if (runs)
        buf_printf(to, "%zu run%s of ", runs, str_plural(runs));
    buf_plain(to, str_of(s->site), SITE_SHOWN);
    if (retractions)
        buf_printf(to, "%s retracts %zu run%s", runs ? ", which" : "", retractions, str_plural(retractions));
    if (annotations)
        buf_printf(to, "%s %zu annotation%s",
                   retractions ? " and sends"
                   : runs      ? ", with"
                               : " sends",
                   annotations, str_plural(annotations));
    for (size_t i = 0; i < s->count;) {
        i = take_group(s, i, &g);
        if (!g.runs && !g.retractions && !g.annotations)
            continue;
        if (shown < TITLE_NAMES) {
            buf_puts(to, shown ? ", " : ": ");
            buf_plain(to, str_of(g.experiment), NAME_SHOWN);
        }
        shown++;
    }
    if (shown > TITLE_NAMES)
        buf_printf(to, " and %zu more", shown - TITLE_NAMES);
}

/* Appends a table with a row for each experiment with new runs, until the text has TEXT_ROOM bytes,
 * then how many experiments it lacks. */
static void put_groups(const struct share *s, struct buf *to)
{
    struct group g;
    size_t hidden = 0;
    buf_puts(
        to,
        "\n| experiment | benchmark | runs | pass | fail | retractions | first | last | files | size | redacted |\n|---|---|--:|--:|--:|--:|---|---|--:|--:|--:|\n");
    for (size_t i = 0; i < s->count;) {
        i = take_group(s, i, &g);
        if (!g.runs && !g.retractions && !g.annotations)
            continue;
        if (to->n >= TEXT_ROOM) {
            hidden++;
            continue;
        }
        buf_puts(to, "| ");
        markdown_text(to, g.experiment, 60);
        buf_puts(to, " | ");
        markdown_text(to, g.benchmark ? g.benchmark : "", 40);
        buf_printf(to, " | %zu | %zu | %zu | %zu | ", g.runs, g.pass, g.fail, g.retractions);
        put_day(to, g.first_ms);
        buf_puts(to, " | ");
        put_day(to, g.last_ms);
        buf_printf(to, " | %llu | ", (unsigned long long)g.files);
        show_size(to, g.bytes);
        buf_printf(to, " | %zu |\n", g.redacted + g.withheld);
    }
    if (hidden)
        buf_printf(to, "\n… and %zu more experiment%s.\n", hidden, str_plural(hidden));
}

/* Returns a shared run that corrects this one, so that readers do not see it as it is; NULL: none
 * does. */
static const struct share_run *corrected_by(const struct share *s, const struct share_run *r)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].left_out && s->list[i].corrects && strcmp(s->list[i].corrects, r->id) == 0)
            return &s->list[i];
    return NULL;
}

/* Appends the row of one run. The last cell has what amends or retracts it, what it annotates, or
 * its headline metric. */
static void put_run_line(const struct share *s, struct buf *to, const struct share_run *r)
{
    const struct share_run *by = corrected_by(s, r);
    struct buf time CLEANUP_BUF;
    buf_init(&time, 100);
    if (r->run && r->run->start_ms)
        show_time_utc(&time, r->run->start_ms);
    buf_printf(to, "| `%.8s` | ", r->id);
    markdown_text(to, experiment_of(r), 40);
    buf_puts(to, " | ");
    markdown_text(to, r->run && r->run->name ? r->run->name : "", 40);
    buf_printf(to, " | " STR_FMT " | %s | ", STR_ARG(str_sub(buf_text(&time), 0, 16)), r->run ? runs_status(r->run) : "");
    markdown_text(to, r->verdict ? r->verdict : "", 20);
    buf_puts(to, " | ");
    if (by)
        buf_printf(to, "%s by `%.8s`", by->retracts ? "retracted" : "amended", by->id);
    else if (r->annotates)
        buf_printf(to, "annotates `%.8s`", r->annotates);
    else
        markdown_text(to, r->headline ? r->headline : "", 120);
    buf_puts(to, " |\n");
}

/* Appends a folded table of up to RUNS_SHOWN runs, then how many more there are. */
static void put_runs(const struct share *s, struct buf *to)
{
    size_t shown = 0;
    buf_printf(
        to,
        "\n<details><summary>%s</summary>\n\n| run | experiment | name | start | status | verdict | metrics |\n|---|---|---|---|---|---|---|\n",
        s->shared > RUNS_SHOWN ? "The first runs" : "The runs");
    for (size_t i = 0; i < s->count && shown < RUNS_SHOWN && to->n < TEXT_ROOM; i++)
        if (!s->list[i].left_out) {
            put_run_line(s, to, &s->list[i]);
            shown++;
        }
    if (shown < s->shared)
        buf_printf(to, "\n… and %zu more.\n", s->shared - shown);
    buf_puts(to, "\n</details>\n");
}

static void put_check(const struct share *s, struct buf *to)
{
    const struct check_subject range = {"range", arena_printf(s->arena, "%s/%s..%s", s->remote, s->base, s->branch)};
    buf_putc(to, '\n');
    if (s->no_check) {
        buf_puts(to, "**The site sends runs that check refuses**, for this reason: ");
        markdown_text(to, s->no_check, 1000);
        buf_puts(to, "\n\n");
    }
    check_report_markdown(&s->check, &range, CHECK_ROOM, to);
}

static void put_other_sites(const struct share *s, struct buf *to)
{
    struct buf names CLEANUP_BUF;
    buf_init(&names, 4096);
    size_t runs = share_other_sites(s, &names);
    if (!runs)
        return;
    buf_printf(to, " **%zu run%s bear%s another site's name**: ", runs, str_plural(runs), runs == 1 ? "s" : "");
    markdown_text(to, names.p, 400);
    buf_putc(to, '.');
}

int share_text(struct share *s, struct buf *to, struct err *err)
{
    uint64_t files = 0, bytes = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].left_out)
            files += s->list[i].files, bytes += s->list[i].bytes;
    buf_puts(to, MARK_BEGIN "\n\n");
    size_t retractions = count_retractions(s), runs = s->shared - retractions;
    if (runs || !retractions)
        buf_printf(to, "**%zu run%s**%s", runs, str_plural(runs), retractions ? " and " : "");
    if (retractions)
        buf_printf(to, "**%zu retraction%s**", retractions, str_plural(retractions));
    buf_puts(to, " of site **");
    markdown_text(to, s->site, 60);
    buf_printf(to, "**, %llu file%s, ", (unsigned long long)files, str_plural(files));
    show_size(to, bytes);
    buf_puts(to, ". Only run folders are added.");
    put_other_sites(s, to);
    buf_puts(to, "\n\n");
    if (range_text(s->repo, &s->target, &s->tip, s->results.prefix, &s->check, VALUES_ROOM, to, s->arena, err))
        return -1;
    put_check(s, to);
    put_groups(s, to);
    put_runs(s, to);
    buf_puts(to, "\nTo check them in a clone:\n\n    git fetch ");
    if (strcmp(s->to, s->remote) != 0 && s->source_place.web)
        buf_printf(to, "%s/%s.git %s", s->source_place.web, s->source_place.path, s->branch);
    else
        buf_printf(to, "origin %s", s->branch);
    buf_printf(to, "\n    benchwrap check --range origin/%s..FETCH_HEAD\n\n", s->base);
    buf_puts(to, MARK_END);
    return 0;
}

bool share_text_refresh(const char *old, struct str ours, struct buf *to)
{
    struct str s = str_of(old);
    ptrdiff_t begin = str_find(s, STR(MARK_BEGIN)), end = begin < 0 ? -1 : str_find(str_sub(s, (size_t)begin, s.n), STR(MARK_END));
    if (begin < 0 || end < 0)
        return false;
    buf_str(to, str_sub(s, 0, (size_t)begin));
    buf_str(to, ours);
    buf_str(to, str_sub(s, (size_t)(begin + end) + strlen(MARK_END), s.n));
    return true;
}
