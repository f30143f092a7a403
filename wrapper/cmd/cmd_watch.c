/* cmd_watch.c: `benchwrap watch`: the runs in progress, updated in place. */
#include "base/clock.h"
#include "cmd/active_table.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LINES_USUAL = 24, INTERVAL_MOST = 3600 };

/* Lines that fit on the terminal, besides the heading and the line below the table. */
static size_t rows_of_terminal(FILE *out)
{
    struct winsize size;
    size_t rows = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : LINES_USUAL;
    return rows > 5 ? rows - 4 : 1;
}

static size_t count_watch_lines(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

/* Replaces what was printed before by the state now. */
static int watch_show(struct cmd_context *c, const struct active_runs *a, const struct active_choice *of, bool in_place, size_t *lines)
{
    CLEANUP_BUF struct buf b;
    const struct screen screen = screen_of_file(c->out);
    buf_init(&b, 64 << 20);
    int rc = 0;
    if (!in_place)
        active_table_lines(a, of, &b);
    else if (active_table_count(a, of))
        rc = active_table_print(a, of, rows_of_terminal(c->out), &screen, &b);
    else
        buf_puts(&b, "no runs in progress\n");
    if (rc < 0 || b.failed)
        return err_memory(c->err, "the list of runs in progress");
    if (in_place && *lines)
        fprintf(c->out, "\r\033[%zuA\033[J", *lines); /* a table is never wider than the terminal */
    fwrite(b.p ? b.p : "", 1, b.n, c->out);
    if (fflush(c->out) != 0)
        return 1;
    *lines = count_watch_lines(buf_text(&b));
    return 0;
}

/* Shows the running runs every `interval` seconds until none is left; follow: until stopped.
 * Returns 0, also when the reader of the output has closed it; -1 with c->err. */
static int watch_loop(struct cmd_context *c, struct active_runs *a, const struct active_choice *of, double interval, bool follow)
{
    const struct screen screen = screen_of_file(c->out);
    size_t lines = 0;
    for (;;) {
        int rc = watch_show(c, a, of, screen.is_terminal, &lines);
        if (rc != 0)
            return rc < 0 ? -1 : 0; /* the reader has gone */
        if (!follow && !active_table_count(a, of))
            return 0;
        struct pollfd reader = {.fd = fileno(c->out)};
        if (poll(&reader, 1, (int)(interval * 1000)) > 0 && reader.revents & (POLLERR | POLLHUP))
            return 0;
        active_runs_refresh(a, SIZE_MAX);
    }
}

static int watch_print_json(struct cmd_context *c, const struct active_runs *a, const struct active_choice *of)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256 << 20);
    active_table_json(a, of, &b);
    fwrite(b.p ? b.p : "", 1, b.n, c->out);
    return b.failed ? err_memory(c->err, "the list of runs in progress") : 0;
}

/* Reads --interval in seconds. -1 with c->err: not from 0.1s to 1h. */
static int read_interval(struct cmd_context *c, double *ret)
{
    const char *typed = opt_text(&c->opts, OPTION_INTERVAL);
    if (!str_duration(str_of(typed), ret) || !(*ret >= 0.1) || *ret > INTERVAL_MOST)
        return err_set(c->err, ERR_USAGE, "--interval: expected a duration from 0.1s to 1h, got \"%.40s\"", typed);
    return 0;
}

/* Shows the runs in progress once, or until a signal. -1 with c->err. */
static int watch_command(struct cmd_context *c)
{
    struct active_choice of = {
        .experiment = opt_text(&c->opts, OPTION_EXPERIMENT), .job = opt_text(&c->opts, OPTION_JOB), .ids = c->argv, .count = c->argc};
    double interval;
    for (int i = 0; i < c->argc; i++)
        if (strlen(c->argv[i]) < 4 || strspn(c->argv[i], "0123456789abcdef") != strlen(c->argv[i]))
            return err_set(c->err, ERR_USAGE, "expected the beginning of a run's id, 4 digits or more, got \"%.60s\"", c->argv[i]);
    if (read_interval(c, &interval) < 0)
        return -1;
    struct active_runs *a = active_table_open(c);
    if (!a)
        return -1;
    int rc = 0;
    size_t lines = 0;
    bool follow = opt_on(&c->opts, OPTION_FOLLOW), once = opt_on(&c->opts, OPTION_ONCE);
    if (opt_on(&c->opts, OPTION_JSON))
        rc = watch_print_json(c, a, &of);
    else if (!active_table_count(a, &of) && !follow)
        fputs("benchwrap: watch: no runs in progress\n", c->notes);
    else if (once)
        rc = watch_show(c, a, &of, screen_of_file(c->out).is_terminal, &lines);
    else
        rc = watch_loop(c, a, &of, interval, follow);
    active_runs_free(a);
    return rc < 0 ? -1 : 0;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_EXPERIMENT("Selection", "Show only runs of this experiment"),
    {.name = OPTION_JOB, .kind = OPT_TEXT, .arg = "ID", .group = "Selection", .help = "Show only runs of this job of the scheduler"},
    {.name = OPTION_INTERVAL, .kind = OPT_DURATION, .arg = "DURATION", .value = "2s", .group = "Output", .help = "Update at this interval"},
    {.name = OPTION_FOLLOW, .kind = OPT_FLAG, .group = "Output", .help = "Continue when no run is in progress, and wait for the next"},
    {.name = OPTION_ONCE, .kind = OPT_FLAG, .group = "Output", .help = "Print the state now, and end"},
    CMD_ROW_JSON,
};

const struct cmd cmd_watch = {
    .name = "watch",
    .summary = "Show the runs in progress",
    .usage = "[OPTIONS] [RUN...]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "Shows your runs of this tree that have not ended: elapsed time, nodes, processor time and memory of the program by the last sample, bytes of output "
        "and their rate, and the last values that the program logged (benchwrap log). On a terminal the table is updated in place; elsewhere each update is "
        "a line for each run. It ends when the last run has ended.\n\n"
        "--json prints the state now, with the last value of each sampled metric. The first output rate is the average since the start.\n\n"
        "Nothing of a run is touched: its journal and stored output are only read. The samples are as old as the recorder's interval (--sample of the run). "
        "A run on another host whose lock cannot be seen is shown until its journal has been silent for 15 minutes.",
    .examples = "$ benchwrap watch\nUntil the runs have ended.\n"
                "$ benchwrap watch --once\nThe state now.\n"
                "$ benchwrap watch --json\nFor a program to read.\n",
    .run = watch_command,
};
