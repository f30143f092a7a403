/* message.c: the message of a commit of runs; see message.h. */
#include "results/message.h"

#include "base/fs.h"
#include "mlruns-format/headline.h"
#include "mlruns-format/verdict.h"

#include <fcntl.h>
#include <stdio.h>

enum { LINES_MAX = 50, WORD_MAX = 80, KINDS_MAX = 3 };

static const char *message_text_of(const struct folder *tree, const struct tree_run *run, const char *file, struct arena *a)
{
    const char *text = tree_file(tree, run, file, 400, a);
    struct str trimmed = str_trim(str_of(text));
    return text && trimmed.n ? arena_dup(a, trimmed.p, trimmed.n) : NULL;
}

/* Appends the experiment's name from its meta.yaml, harmless for a terminal; the folder's name
 * where it cannot be read. */
static void message_add_experiment(struct buf *to, int root, const char *experiment)
{
    char path[64];
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1 << 16);
    snprintf(path, sizeof path, "%.24s/meta.yaml", experiment);
    if (fs_read(root, path, (1 << 16) - 1, 0, &text, NULL) == 0)
        for (struct str rest = buf_text(&text); rest.p;) {
            struct str line = str_trim(str_cut(&rest, '\n'));
            if (!str_starts(line, "name:"))
                continue;
            line = str_trim(str_sub(line, 5, line.n));
            if (line.n > 1 && line.p[0] == '"' && line.p[line.n - 1] == '"')
                line = str_sub(line, 1, line.n - 2);
            buf_plain(to, line, WORD_MAX);
            return;
        }
    buf_puts(to, experiment);
}

struct message_run {
    struct folder tree;
    struct tree_run run;
    struct arena arena;
    char path[80];
};

static void place_init(struct message_run *p, int root, const struct scan_run *run)
{
    *p = (struct message_run){.tree = folder_disk(root)};
    snprintf(p->path, sizeof p->path, "mlruns/%.24s/%s", run->experiment, run->id);
    p->run.path = p->path;
    arena_init(&p->arena, 1 << 20);
}

static void print_benchmark(struct buf *to, struct message_run *p, int root, const struct scan_run *run)
{
    const char *benchmark = message_text_of(&p->tree, &p->run, "tags/benchmark", &p->arena);
    if (benchmark)
        buf_plain(to, str_of(benchmark), WORD_MAX);
    else
        message_add_experiment(to, root, run->experiment);
}

/* Appends "ior: write.bw.max 1150.92 MiB_per_s, c5.large, pass", from the run's folder; valid UTF-8
 * in one line. */
static void message_subject(struct buf *to, int root, const struct scan_run *run)
{
    struct message_run p;
    struct headline found[HEADLINES_SHOWN];
    CLEANUP_BUF struct buf numbers;
    place_init(&p, root, run);
    buf_init(&numbers, 2000);
    print_benchmark(to, &p, root, run);
    size_t n = headlines_of(&p.tree, &p.run, HEADLINES_SHOWN, &p.arena, found);
    for (size_t i = 0; i < n; i++)
        headline_show(&numbers, &found[i]);
    if (numbers.n) {
        buf_puts(to, ": ");
        buf_plain(to, buf_text(&numbers), 160);
    }
    const char *const words[] = {message_text_of(&p.tree, &p.run, "params/node.type", &p.arena), verdict_shown(&p.tree, &p.run, &p.arena)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = words[i];
        if (!word || strcmp(word, "none") == 0)
            continue;
        bool sum =
            i == 0 && strspn(word, "0123456789abcdef") == strlen(word) && strlen(word) > 8; /* of what the node has: its begin will do */
        buf_puts(to, i == 0 && !numbers.n ? ": " : ", ");
        buf_puts(to, sum ? "node " : "");
        buf_plain(to, str_sub(str_of(word), 0, sum ? 8 : WORD_MAX), WORD_MAX);
    }
    arena_deinit(&p.arena);
}

/* Appends "37 runs: ior, stream". */
static void print_batch_subject(struct buf *to, int root, const struct scan_run *const *runs, size_t count)
{
    size_t kinds = 0, more = 0;
    buf_printf(to, "%zu runs: ", count);
    for (size_t i = 0; i < count; i++) {
        if (i && strcmp(runs[i]->experiment, runs[i - 1]->experiment) == 0)
            continue;
        if (kinds == KINDS_MAX) {
            more++;
            continue;
        }
        buf_puts(to, kinds++ ? ", " : "");
        message_add_experiment(to, root, runs[i]->experiment);
    }
    if (more)
        buf_printf(to, " and %zu more", more);
}

void message_print(struct buf *to, int root, const struct scan_run *const *runs, size_t count)
{
    if (count == 1)
        message_subject(to, root, runs[0]);
    else
        print_batch_subject(to, root, runs, count);
    buf_puts(to, "\n\n");
    for (size_t i = 0; i < count && i < LINES_MAX; i++) {
        if (count > 1) {
            message_subject(to, root, runs[i]);
            buf_putc(to, '\n');
        }
        buf_printf(to, "%smlruns/%s/%s\n", count > 1 ? "  " : "", runs[i]->experiment, runs[i]->id);
    }
    if (count > LINES_MAX)
        buf_printf(to, "and %zu more\n", count - LINES_MAX);
}
