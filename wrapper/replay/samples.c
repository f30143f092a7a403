/* samples.c: read the stored outputs of a rule file, and compare the facts with those expected. */
#include "replay/samples.h"
#include "base/fs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALL_MAX = 1 << 20, FACTS_MAX = 64 << 20, ARGUMENTS_MAX = 4096, SHOWN_MAX = 60 };

struct sample_place {
    const char *folder; /* of the case */
    const char *outside; /* root of outputs that are not kept in the tree */
    struct arena *arena;
};

/* Reads a small file of the case as lines in the arena; NULL: it does not exist. */
static struct str read_small_file(const struct sample_place *p, const char *name)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, SMALL_MAX);
    const char *path = arena_printf(p->arena, "%s/%s", p->folder, name);
    if (!path || fs_read(AT_FDCWD, path, SMALL_MAX, 0, &b, NULL))
        return (struct str){NULL, 0};
    return (struct str){arena_dup(p->arena, b.p ? b.p : "", b.n), b.n};
}

static bool next_sample_line(struct str *rest, struct str *ret)
{
    if (!rest->p || !rest->n)
        return false;
    *ret = str_cut(rest, '\n');
    if (str_ends(*ret, "\r"))
        ret->n--;
    return true;
}

/* Returns a small file's lines, ended by NULL; NULL: it does not exist. */
static char **read_sample_lines(const struct sample_place *p, const char *name)
{
    struct str rest = read_small_file(p, name), line;
    char **list = rest.p ? arena_get(p->arena, (ARGUMENTS_MAX + 1) * sizeof *list) : NULL;
    for (size_t n = 0; list && n < ARGUMENTS_MAX && next_sample_line(&rest, &line);)
        list[n++] = arena_dup(p->arena, line.p, line.n);
    return list;
}

/* Returns the path of a stream of the case: outside, in the case, or (NULL) nowhere. *ret_lost: it
 * should be outside and does not exist. */
static const char *sample_stream(const struct sample_place *p, const char *name, const char **ret_lost)
{
    struct str rest = read_small_file(p, "outside"), line;
    while (next_sample_line(&rest, &line)) {
        struct str path = line, key = str_cut(&path, '=');
        if (!str_is(key, name) || !path.p)
            continue;
        const char *at = arena_printf(p->arena, "%s/" STR_FMT, p->outside, STR_ARG(path));
        if (at && access(at, R_OK) != 0)
            *ret_lost = at;
        return at;
    }
    const char *at = arena_printf(p->arena, "%s/%s", p->folder, name);
    return at && access(at, R_OK) == 0 ? at : NULL;
}

/* Fills *ret from the files of a sample's folder, in the arena; *ret_lost names output that is
 * stored elsewhere and does not exist here. Returns -1 with err. */
static int describe_sample(const struct sample_place *p, struct replay_input *ret, const char **ret_lost, struct err *err)
{
    struct str status = str_trim(read_small_file(p, "status")), rest = read_small_file(p, "file"), line;
    struct replay_file **tail = &ret->files;
    int64_t number = -1;
    ret->out = sample_stream(p, "stdout", ret_lost);
    ret->errors = sample_stream(p, "stderr", ret_lost);
    ret->argv = read_sample_lines(p, "argv");
    ret->env = read_sample_lines(p, "environment");
    if (status.n && (!str_int(status, &number) || number < -1 || number > 255))
        return err_set(err, ERR_INPUT, "%s/status: expected an exit status from 0 to 255", p->folder);
    ret->status = (int)number;
    while (next_sample_line(&rest, &line)) {
        struct str file = line, pattern = str_cut(&file, '=');
        if (!(*tail = ARENA_NEW(p->arena, struct replay_file)))
            break;
        if (!file.p)
            return err_set(err, ERR_INPUT, "%s/file: expected PATTERN=FILE", p->folder);
        **tail = (struct replay_file){.pattern = arena_dup(p->arena, pattern.p, pattern.n),
                                      .path = arena_printf(p->arena, "%s/" STR_FMT, p->folder, STR_ARG(file))};
        tail = &(*tail)->next;
    }
    if (!ret->out && !ret->errors && !ret->files)
        return err_set(err, ERR_INPUT, "%s: there is no output: stdout, stderr or a line in `file`", p->folder);
    return p->arena->failed ? err_memory(err, "the samples") : 0;
}

static bool has_fact_line(struct str text, struct str line)
{
    for (struct str one; next_sample_line(&text, &one);)
        if (str_eq(one, line))
            return true;
    return false;
}

static void lines_only_in(struct buf *to, struct str here, struct str other, char mark, size_t *shown)
{
    for (struct str line; next_sample_line(&here, &line);)
        if (!has_fact_line(other, line) && (*shown)++ < SHOWN_MAX) {
            buf_putc(to, mark);
            buf_str(to, line);
            buf_putc(to, '\n');
        }
}

/* Returns the lines that only one side has, with "-" (expected) or "+" before each, up to
 * SHOWN_MAX, in the arena. */
static const char *facts_difference(struct str expected, struct str got, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    size_t shown = 0;
    buf_init(&b, SMALL_MAX);
    lines_only_in(&b, expected, got, '-', &shown);
    lines_only_in(&b, got, expected, '+', &shown);
    if (shown > SHOWN_MAX)
        buf_printf(&b, "and %zu more line%s\n", shown - SHOWN_MAX, str_plural(shown - SHOWN_MAX));
    if (!shown)
        buf_puts(&b, "the same lines in another order or number\n");
    return b.p ? arena_dup(a, b.p, b.n) : "they differ";
}

/* Compares the facts with the file `expect`, and with update replaces the file. Sets s->state and
 * s->text. Returns -1 with err where it cannot be written. */
static int compare_sample(struct sample_case *s, const struct sample_place *p, struct str got, bool update, struct err *err)
{
    CLEANUP_BUF struct buf expected;
    const char *path = arena_printf(p->arena, "%s/expect", p->folder);
    buf_init(&expected, FACTS_MAX);
    bool there = path && fs_read(AT_FDCWD, path, FACTS_MAX, 0, &expected, NULL) == 0;
    bool same = there && str_eq(buf_text(&expected), got);
    s->state = same || update ? SAMPLE_SAME : SAMPLE_DIFFERS;
    if (!same && update)
        return fs_write(AT_FDCWD, path, got, 0644, false, err);
    if (!same)
        s->text =
            there ? facts_difference(buf_text(&expected), got, p->arena) : "there is no `expect` yet: --update writes it; then read it";
    return 0;
}

/* Reads the sample by the rules and compares the facts. A sample whose output does not exist here
 * is SAMPLE_SKIPPED. Returns -1 with err. */
static int run_sample(struct sample_case *s, const struct rules *rules, const struct sample_place *p, bool update,
                      struct coverage *coverage, struct err *err)
{
    CLEANUP_BUF struct buf facts;
    struct replay_input what = {.coverage = coverage, .name = s->name};
    struct rules_outcome out;
    struct record record;
    const char *lost = NULL;
    buf_init(&facts, FACTS_MAX);
    if (describe_sample(p, &what, &lost, err))
        return -1;
    if (lost) {
        s->state = SAMPLE_SKIPPED;
        s->text = arena_printf(p->arena, "its output has no licence and is stored elsewhere: %s does not exist", lost);
        return 0;
    }
    int rc = replay_read(rules, &what, &record, &out, err);
    if (!rc)
        replay_print_facts(&facts, &record, &out);
    record_deinit(&record);
    if (!rc && facts.failed)
        rc = err_memory(err, "the facts");
    return rc ? -1 : compare_sample(s, p, buf_text(&facts), update, err);
}

int samples_run(const struct rules *rules, const char *folder, bool update, struct coverage *coverage, struct arena *a,
                struct sample_case **ret, struct err *err)
{
    const char *samples = arena_printf(a, "%s/samples", folder), *outside = getenv("BENCHWRAP_SAMPLES");
    struct sample_case **tail = ret;
    struct fs_names list;
    *ret = NULL;
    if (!outside || !*outside) /* <source>/benchmarks/catalogue/<name> */
        outside = arena_printf(a, "%s/../../../../shared/samples", folder);
    if (!samples || access(samples, F_OK) != 0)
        return 0;
    if (fs_list(AT_FDCWD, samples, &list, err))
        return -1;
    for (size_t i = 0; i < list.count && !a->failed; i++) {
        struct sample_place p = {arena_printf(a, "%s/%s", samples, list.names[i]), outside, a};
        struct sample_case *s = ARENA_NEW(a, struct sample_case);
        struct err why = {0};
        if (!s || !p.folder || access(p.folder, X_OK) != 0)
            continue;
        s->name = arena_printf(a, "%s/samples/%s", rules_name(rules), list.names[i]);
        if (run_sample(s, rules, &p, update, coverage, &why)) {
            s->state = SAMPLE_BROKEN;
            s->text = arena_printf(a, "%s", why.text);
        }
        *tail = s;
        tail = &s->next;
    }
    fs_names_deinit(&list);
    return a->failed ? err_memory(err, "the samples") : 0;
}
