/* cmd_pages.c: `benchwrap pages -o DIR`: static web pages of the runs. */
#include "pages/pages.h"
#include "cmd/selection.h"

/* Executes `benchwrap pages`. 0; 1: a run is damaged; -1 with c->err. */
static int pages_command(struct cmd_context *c)
{
    struct runs runs;
    struct runs_filter filter;
    struct pages_result result;
    const char *out = opt_text(&c->opts, OPTION_OUTPUT);
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected options only, got \"%.60s\"", c->argv[0]);
    if (!out)
        return err_set(c->err, ERR_USAGE, "expected the folder of the pages: benchwrap pages -o DIR");
    if (selection_filter(c, &filter) < 0 || selection_open(&runs, c, c->err) < 0)
        return -1;
    const struct pages_request request = {.runs = &runs,
                                          .filter = &filter,
                                          .out = out,
                                          .title = opt_text(&c->opts, OPTION_TITLE),
                                          .url = opt_text(&c->opts, OPTION_URL),
                                          .rebuild = opt_on(&c->opts, OPTION_REBUILD),
                                          .notes = c->notes,
                                          .arena = c->arena};
    int status = pages_write(&request, &result, c->err);
    for (const struct tree_run *run = runs.unjudged; run; run = run->next)
        fprintf(c->notes, "benchwrap: pages: %s: damaged and left out\n", run->path);
    runs_close(&runs);
    if (status < 0)
        return -1;
    fprintf(c->out, "%zu run%s, %zu of them read; %zu file%s written, %zu removed: %s/index.html\n", result.runs, str_plural(result.runs),
            result.read, result.written, str_plural(result.written), result.removed, out);
    if (result.damaged)
        fprintf(c->notes, "benchwrap: pages: %zu damaged run%s, see \"Damaged runs\" on the start page\n", result.damaged,
                str_plural(result.damaged));
    return result.damaged ? 1 : 0;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_OUTPUT, .letter = 'o', .kind = OPT_TEXT, .arg = "DIR", .group = "Output", .help = "Write the pages to this folder"},
    {.name = OPTION_TITLE,
     .kind = OPT_TEXT,
     .arg = "TEXT",
     .value = "Benchmark results",
     .group = "Output",
     .help = "Heading of the start page"},
    {.name = OPTION_URL,
     .kind = OPT_TEXT,
     .arg = "URL",
     .group = "Output",
     .help = "Where the pages are published: for the links of the feed"},
    {.name = OPTION_REBUILD, .kind = OPT_FLAG, .group = "Output", .help = "Read every run again, instead of only those that changed"},
};

const struct cmd cmd_pages = {
    .name = "pages",
    .summary = "Write static web pages of all runs",
    .usage = "[OPTIONS] -o DIR",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Writes pages that open from a folder (file://) or any web server, and load nothing else: a start page (best results, regressions, sites, latest "
        "runs), a page for each experiment, each measurement (its leaderboard of sites, and what differs between them), each kind of machine and each run. "
        "Behind each page is a JSON file of the same name. feed.xml is an Atom feed, badge/ has an SVG badge for each experiment.\n\n"
        "A measurement is a comparison key: results with other inputs are never ranked against each other, and neither are versions of the benchmark.\n\n"
        "A second call reads only runs that are new or have changed, by the file .benchwrap-pages in the folder, and touches only files whose content "
        "changes. Without that file, or where it is damaged, all runs are read. --rebuild reads them in any case.\n\n"
        "The exit status is 1 if a run is damaged; the pages of all others are written.",
    .examples = "$ benchwrap pages -o public\n"
                "Pages of ./mlruns.\n"
                "benchwrap pages --ref origin/main -o public --title 'Results of three sites'\n"
                "Pages of what is published; nothing is checked out.\n",
    .run = pages_command,
};
