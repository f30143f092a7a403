/* runs_grep.c: search the stored text of runs: output, job script, environment. */
#include "runs/runs_grep.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { GREP_FILES_MAX = 4096, GREP_DEPTH_MAX = 4, GREP_NAME_MAX = 512 };

int grep_pattern(struct pattern **ret, const char *text, bool is_fixed, bool any_case, struct err *err)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    buf_puts(&b, any_case ? "(?i)" : "");
    for (const char *p = text; is_fixed && *p; p++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ", *p) && (unsigned char)*p < 0x80)
            buf_putc(&b, '\\');
        buf_putc(&b, *p);
    }
    buf_puts(&b, is_fixed ? "" : text);
    if (b.failed) /* too long, or out of memory: a part of the text would match other lines */
        return err_set(err, ERR_INPUT, "the text is too long");
    return pattern_new(ret, buf_text(&b), err);
}

/* ---- which files ---- */

struct grep_files {
    struct arena *arena;
    const char *pattern; /* of names (fnmatch); NULL: those that is_searched_name knows */
    const char *prefix; /* of the names in this folder: "job/" */
    const struct folder *in; /* the folder that is read */
    unsigned depth;
    const char **names; /* [GREP_FILES_MAX] of the caller; the texts are in the arena */
    size_t count;
};

/* Returns whether the file matches the pattern, or (NULL) has the name of a log, a script or
 * another text of a program or a job. */
static bool is_searched_name(const char *pattern, const char *name)
{
    static const char *const ends[] = {".log", ".txt", ".sh", ".out", ".err", ".slurm", ".sbatch", ".pbs"};
    struct str s = str_of(name);
    if (pattern)
        return fnmatch(pattern, name, 0) == 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends(s, ends[i]))
            return true;
    return false;
}

/* Called by folder_names: adds a file that is searched to the names, and enters a folder. Entries
 * that cannot be entered, or exceed one of the maxima, are left out silently. Not 0: out of memory,
 * which ends the walk. */
static int add_grep_file(void *context, const struct folder_entry *e)
{
    struct grep_files *f = context;
    bool strange = !e->name.n || memchr(e->name.p, '/', e->name.n) || str_is(e->name, "..") || str_is(e->name, ".");
    if (strange || e->name.n + strlen(f->prefix) >= GREP_NAME_MAX)
        return 0;
    const char *name = arena_printf(f->arena, "%s%s", f->prefix, e->name.p);
    if (!name)
        return 1;
    if ((e->kind == FOLDER_FILE || e->kind == FOLDER_PROGRAM) && f->count < GREP_FILES_MAX && is_searched_name(f->pattern, name))
        f->names[f->count++] = name;
    if (e->kind == FOLDER_FOLDER && f->depth < GREP_DEPTH_MAX) {
        CLEANUP_FOLDER struct folder in = {0};
        struct grep_files deeper = *f;
        deeper.prefix = arena_printf(f->arena, "%s/", name);
        deeper.in = &in;
        deeper.depth++;
        if (deeper.prefix && folder_enter(f->in, e->name.p, &in) == 0)
            folder_names(&in, add_grep_file, &deeper);
        f->count = deeper.count;
    }
    return f->arena->failed;
}

static int by_file_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns whether the file below job/ is a copy of one that the run has, too: job/stdout.log. */
static bool is_job_copy(const struct grep_files *f, const char *name)
{
    for (size_t i = 0; strncmp(name, "job/", 4) == 0 && i < f->count; i++)
        if (strcmp(f->names[i], name + 4) == 0)
            return true;
    return false;
}

/* ---- lines ---- */

struct grep_lines {
    struct grep_search *s;
    struct grep_hit hit;
    struct buf begun; /* of a line that a piece of the file has cut */
    bool is_long, stop; /* the line is longer than what is searched; enough has been found */
    size_t found;
};

/* Searches one line, without its line end, and reports a hit to the caller's function. A line that
 * was cut, or that the pattern cannot be applied to, counts in l->s->unsearched. */
static void search_line(struct grep_lines *l, struct str line)
{
    struct match m;
    l->hit.line++;
    if (str_ends(line, "\r"))
        line.n--;
    int found = pattern_match(l->s->pattern, line, &m);
    l->s->unsearched += found < 0 || l->is_long;
    l->is_long = false;
    if (found <= 0)
        return;
    l->hit.text = line;
    l->hit.from = (size_t)(m.whole.p - line.p);
    l->hit.to = l->hit.from + m.whole.n;
    l->s->hits++;
    l->stop = l->s->each(l->s->context, &l->hit) != 0 || ++l->found == l->s->most;
}

static void add_to_line(struct grep_lines *l, struct str part)
{
    size_t capacity = GREP_LINE_MAX - l->begun.n;
    l->is_long = l->is_long || part.n > capacity;
    buf_str(&l->begun, str_sub(part, 0, capacity));
}

/* Searches the lines of a part of the file. A line that the part cuts is continued by the next
 * part; of a line above GREP_LINE_MAX the beginning is searched. */
static void search_piece(void *context, const void *p, size_t n)
{
    struct grep_lines *l = context;
    struct str rest = {p, n};
    while (rest.n && !l->stop) {
        const char *end = memchr(rest.p, '\n', rest.n);
        struct str line = str_sub(rest, 0, end ? (size_t)(end - rest.p) : rest.n);
        rest = str_sub(rest, line.n + (end != NULL), rest.n);
        if (end && !l->begun.n && line.n <= GREP_LINE_MAX) {
            search_line(l, line);
            continue;
        }
        add_to_line(l, line);
        if (end) {
            search_line(l, buf_text(&l->begun));
            buf_clear(&l->begun);
        }
    }
}

/* Searches one file. Returns false with errno where it cannot be read; a file that does not exist
 * has no hits. */
static bool search_file(struct grep_lines *l, const struct folder *artifacts, const char *name)
{
    l->hit.file = name;
    l->hit.line = 0;
    l->found = 0;
    l->stop = l->is_long = false;
    buf_clear(&l->begun);
    int rc = folder_feed(artifacts, name, UINT64_MAX, search_piece, l);
    if (rc == 0 && l->begun.n && !l->stop)
        search_line(l, buf_text(&l->begun));
    return rc == 0 || errno == ENOENT;
}

int grep_run(struct grep_search *s, struct tree_run *run)
{
    CLEANUP_FOLDER struct folder artifacts = {0};
    struct folder tree = runs_tree(s->runs, run);
    struct arena a;
    char path[200];
    arena_init(&a, 0);
    struct grep_files f = {.arena = &a, .pattern = s->files, .prefix = "", .in = &artifacts};
    struct grep_lines l = {.s = s, .hit = {.run = run, .job = tree_file(&tree, run, "tags/job.id", 200, &a)}};
    buf_init(&l.begun, GREP_LINE_MAX + 4096);
    f.names = arena_get(&a, GREP_FILES_MAX * sizeof *f.names);
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(run));
    if (f.names && folder_enter(&tree, path, &artifacts) == 0)
        folder_names(&artifacts, add_grep_file, &f);
    if (f.count)
        qsort(f.names, f.count, sizeof *f.names, by_file_name);
    s->files_found += f.count;
    for (size_t i = 0; i < f.count && !a.failed; i++)
        if (!is_job_copy(&f, f.names[i]) && !search_file(&l, &artifacts, f.names[i]) && !run->problem)
            run->problem = arena_printf(s->arena, "artifacts/%s cannot be read: %s", f.names[i], err_words(errno));
    bool failed = a.failed || l.begun.failed || !f.names, is_gone = !f.count && tree_is_gone(&tree, run);
    buf_deinit(&l.begun);
    arena_deinit(&a);
    return failed ? -1 : is_gone;
}
