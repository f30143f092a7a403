/* logs_check.c: checks the merged logs of a campaign; see logs.h. */
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "logs/logs_format.h"
#include "logs/logs_lines.h"
#include "logs/logs_source.h"
#include "probes/secrets.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct listing_column logs_check_columns[] = {
    {"check", "CHECK", .whole = true}, {"result", "RESULT", .whole = true}, {"found", "FOUND", .wrap = true}};
const size_t logs_check_columns_count = sizeof logs_check_columns / sizeof *logs_check_columns;

/* What one merged file was found to be. */
struct checked_file {
    const char *name; /* path from the folder of the logs; NULL: it is not written */
    bool is_there, is_rotated, is_closed; /* closed: other users cannot read it */
    uint64_t lines, bad_form, bad_time, late, secrets, bad_utf8;
    uint64_t first_bad; /* line number */
    uint64_t by_stream[2]; /* of JSON lines: stdout, stderr */
    char last_time[LOGS_TIME_SIZE];
    struct secrets_state state;
};
struct checking {
    int folder;
    struct listing *l;
    size_t bad;
    struct checked_file out, error, json, *now;
    struct checked_names {
        char names[256][LOGS_COMPONENT_SIZE];
        size_t n;
    } components, nodes; /* that the JSON lines have; more than 256 are not counted */
    uint64_t raw[2], missing; /* lines of the raw streams: stdout, stderr; of streams that JSON lines lack */
    uint64_t streams, ended, indexed;
    struct buf block; /* the lines of the raw streams, to be compared */
    int compare_fd[2];
    bool differs[2];
    uint64_t differs_line[2];
};

/* ---- rows ---- */

static void check_add(struct checking *g, const char *name, const char *result, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void check_add(struct checking *g, const char *name, const char *result, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    listing_text(g->l, name);
    listing_text(g->l, result);
    listing_text(g->l, text);
    g->bad += strcmp(result, "bad") == 0;
}

static const char *check_result_word(bool good)
{
    return good ? "good" : "bad";
}

/* ---- merged files ---- */

static void check_remember(struct checked_names *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->names[i], name) == 0)
            return;
    if (set->n < sizeof set->names / sizeof *set->names)
        snprintf(set->names[set->n++], sizeof set->names[0], "%s", name);
}

static bool check_names_full(const struct checked_names *set)
{
    return set->n == sizeof set->names / sizeof *set->names;
}

/* Returns whether the set has the name; true, too, where it is full, since the name may be one of
 * those that were not counted. */
static bool check_has(const struct checked_names *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->names[i], name) == 0)
            return true;
    return check_names_full(set);
}

static void check_time(struct checked_file *f, const char *time)
{
    int64_t ns;
    if (strlen(time) != LOGS_TIME_SIZE - 1 || !logs_line_time(str_of(time), 0, &ns)) {
        f->bad_time++;
        return;
    }
    f->late += strcmp(time, f->last_time) < 0;
    memcpy(f->last_time, time, LOGS_TIME_SIZE);
}

static void check_count_secret(void *context, const struct secret *s)
{
    (void)s;
    ++*(uint64_t *)context;
}

static void check_form(struct checked_file *f, bool good)
{
    if (!good && !f->bad_form++)
        f->first_bad = f->lines;
}

/* "[time] [node] [component] text" */
static int check_text_line(void *context, struct str line, struct err *err)
{
    struct checked_file *f = ((struct checking *)context)->now;
    char time[LOGS_TIME_SIZE] = "";
    struct str rest = line;
    (void)err;
    f->lines++;
    struct str first = str_cut(&rest, ']'), node = rest.p ? str_cut(&rest, ']') : STR(""),
               component = rest.p ? str_cut(&rest, ']') : STR("");
    bool good = rest.p && rest.n && rest.p[0] == ' ' && first.n == LOGS_TIME_SIZE && first.p[0] == '[' && str_starts(node, " [") &&
                str_starts(component, " [");
    check_form(f, good);
    if (good) {
        memcpy(time, first.p + 1, LOGS_TIME_SIZE - 1);
        check_time(f, time);
    }
    secrets_find(line, &f->state, check_count_secret, &f->secrets);
    return 0;
}

/* Checks one line of the merged JSON lines, and counts what is wrong with it. Returns 0. */
static int check_json_line(void *context, struct str line, struct err *err)
{
    struct checking *g = context;
    struct checked_file *f = g->now;
    struct json *j = NULL;
    (void)err;
    f->lines++;
    f->bad_utf8 += !str_valid_utf8(line);
    if (json_parse(&j, line, NULL, NULL)) {
        check_form(f, false);
        return 0;
    }
    const char *time = json_string(json_get(j, "timestamp"), NULL), *node = json_string(json_get(j, "node"), NULL),
               *component = json_string(json_get(j, "component"), NULL), *stream = json_string(json_get(j, "stream"), NULL);
    check_form(f, time && node && component && stream && json_is_string(json_get(j, "message")));
    if (time)
        check_time(f, time);
    if (component)
        check_remember(&g->components, component);
    if (node)
        check_remember(&g->nodes, node);
    if (stream)
        f->by_stream[strcmp(stream, "stderr") == 0]++;
    json_free(j);
    return 0;
}

/* Stops with 1 at the name of a compressed piece: NAME.NUMBER.gz. */
static int check_is_piece(void *context, const char *name, unsigned char type)
{
    const char *base = context;
    size_t n = strlen(base), whole = strlen(name);
    uint64_t number;
    (void)type;
    return whole > n + 4 && strncmp(name, base, n) == 0 && name[n] == '.' && strcmp(name + whole - 3, ".gz") == 0 &&
           str_uint((struct str){name + n + 1, whole - n - 4}, &number);
}

/* Returns whether older lines of a merged file are in compressed pieces. The first of them may have
 * been removed. */
static bool check_has_pieces(int folder, const char *name)
{
    char dir[4200];
    const char *base = str_base_name(name);
    if (base - name >= (ptrdiff_t)sizeof dir)
        return false;
    snprintf(dir, sizeof dir, "%.*s", (int)(base - name), name);
    return fs_each_name(folder, dir[0] ? dir : ".", check_is_piece, (void *)(uintptr_t)base) > 0;
}

static int check_read_file(struct checking *g, struct checked_file *f, const char *name,
                           int (*each)(void *context, struct str line, struct err *err), struct err *err)
{
    struct stat st;
    f->name = name;
    if (!name)
        return 0;
    f->is_there = fstatat(g->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
    f->is_closed = f->is_there && !(st.st_mode & (S_IRGRP | S_IROTH));
    f->is_rotated = check_has_pieces(g->folder, name);
    g->now = f;
    return f->is_there ? logs_each_line(g->folder, name, each, g, err) : 0;
}

/* Adds the rows of one merged file; without a name the one row states that the recipe leaves it out. */
static void check_report_file(struct checking *g, const struct checked_file *f, const char *prefix)
{
    char name[64];
    snprintf(name, sizeof name, "%s.exists", prefix);
    if (!f->name) {
        check_add(g, name, "none", "the recipe leaves this file out");
        return;
    }
    check_add(g, name, check_result_word(f->is_there), f->is_there ? "%s has %llu lines" : "%s does not exist", f->name,
              (unsigned long long)f->lines);
    if (!f->is_there)
        return;
    snprintf(name, sizeof name, "%s.form", prefix);
    check_add(g, name, check_result_word(!f->bad_form),
              f->bad_form ? "%llu lines have another form, the first is line %llu" : "each line has its form",
              (unsigned long long)f->bad_form, (unsigned long long)f->first_bad);
    snprintf(name, sizeof name, "%s.times", prefix);
    check_add(g, name, check_result_word(!f->bad_time), f->bad_time ? "%llu lines have no ISO time" : "each line has a time",
              (unsigned long long)f->bad_time);
    snprintf(name, sizeof name, "%s.order", prefix);
    check_add(g, name, check_result_word(!f->late), f->late ? "%llu lines are earlier than the line before" : "times never decrease",
              (unsigned long long)f->late);
    snprintf(name, sizeof name, "%s.closed", prefix);
    check_add(g, name, check_result_word(f->is_closed), "%s", f->is_closed ? "other users cannot read it" : "other users can read it");
}

/* ---- raw streams ---- */

/* Compares a line of the raw streams with the next bytes of the merged file, until one differs. */
static void check_compare(struct checking *g, int which, const struct logs_line *line)
{
    char block[8192];
    int fd = g->compare_fd[which];
    if (fd < 0 || g->differs[which])
        return;
    buf_clear(&g->block);
    logs_text_write(&g->block, line, false);
    g->differs_line[which]++;
    for (size_t at = 0; at < g->block.n && !g->differs[which];) {
        size_t want = g->block.n - at < sizeof block ? g->block.n - at : sizeof block;
        ssize_t n = read(fd, block, want);
        g->differs[which] = n <= 0 || memcmp(block, g->block.p + at, (size_t)n) != 0;
        at += n > 0 ? (size_t)n : 0;
    }
}

static int check_raw_line(void *context, const struct logs_line *line, struct err *err)
{
    struct checking *g = context;
    char component[LOGS_COMPONENT_SIZE];
    (void)err;
    g->raw[line->is_error]++;
    if (!check_has(&g->components, logs_component_text(line, component)) || !check_has(&g->nodes, line->node))
        g->missing++;
    check_compare(g, line->is_error, line);
    return 0;
}

/* Checks that the index of a raw stream marks it as complete. */
static int check_stream_end(void *context, const char *name, unsigned char type)
{
    struct checking *g = context;
    struct logs_source_name source;
    char index[LOGS_NAME_MAX + 8];
    unsigned char entry[LOGS_ENTRY];
    struct stat st;
    (void)type;
    if (!logs_source_name_read(str_of(name), &source))
        return 0;
    g->streams++;
    snprintf(index, sizeof index, "%s" LOGS_INDEX_SUFFIX, name);
    CLEANUP_FD int fd = place_open(g->folder, index, O_RDONLY, 0);
    snprintf(index, sizeof index, "%s" LOGS_SEEN_SUFFIX, name);
    if (fd < 0)
        fd = place_open(g->folder, index, O_RDONLY, 0);
    if (fd < 0 || fstat(fd, &st) || st.st_size < LOGS_ENTRY)
        return 0;
    g->indexed++;
    g->ended += pread(fd, entry, sizeof entry, st.st_size - LOGS_ENTRY) == LOGS_ENTRY && entry[7] & 0x80;
    return 0;
}

/* Adds the row that states whether a merged file equals the raw streams. */
static void check_report_same(struct checking *g, int which, const struct checked_file *f, const char *name)
{
    char more;
    if (!f->is_there || f->is_rotated) {
        check_add(g, name, "none", "%s",
                  f->is_rotated ? "older lines are in compressed files"
                  : f->name     ? "the file does not exist"
                                : "the recipe leaves this file out");
        return;
    }
    bool is_longer = !g->differs[which] && read(g->compare_fd[which], &more, 1) == 1;
    check_add(g, name, check_result_word(!g->differs[which] && !is_longer),
              g->differs[which] ? "line %llu differs from the raw streams"
              : is_longer       ? "it has more lines than the raw streams: %llu"
                                : "it equals the raw streams: %llu lines",
              (unsigned long long)g->differs_line[which]);
}

/* Adds the rows of the raw streams, and of their comparison with the merged files. */
static void check_report_streams(struct checking *g)
{
    bool can_count = g->json.is_there && !g->json.is_rotated;
    check_add(g, "raw.exist", check_result_word(g->streams > 0), "%llu raw streams", (unsigned long long)g->streams);
    check_add(g, "raw.indexed", g->indexed == g->streams ? "good" : "none", "%llu of %llu have arrival times",
              (unsigned long long)g->indexed, (unsigned long long)g->streams);
    check_add(g, "raw.ended", g->ended == g->indexed ? "good" : "bad", "%llu of %llu were closed", (unsigned long long)g->ended,
              (unsigned long long)g->indexed);
    check_report_same(g, 0, &g->out, "stdout.same");
    check_report_same(g, 1, &g->error, "stderr.same");
    if (!can_count) {
        check_add(g, "jsonl.counts", "none", "%s",
                  g->json.is_there ? "older lines are in compressed files"
                  : g->json.name   ? "the file does not exist"
                                   : "the recipe leaves this file out");
        return;
    }
    check_add(g, "jsonl.stdout", check_result_word(g->json.by_stream[0] == g->raw[0]), "%llu lines of stdout, the raw streams have %llu",
              (unsigned long long)g->json.by_stream[0], (unsigned long long)g->raw[0]);
    check_add(g, "jsonl.stderr", check_result_word(g->json.by_stream[1] == g->raw[1]), "%llu lines of stderr, the raw streams have %llu",
              (unsigned long long)g->json.by_stream[1], (unsigned long long)g->raw[1]);
    if (g->out.is_there && !g->out.is_rotated)
        check_add(g, "counts.stdout", check_result_word(g->out.lines == g->json.by_stream[0]), "%s and %s: %llu and %llu lines",
                  g->out.name, g->json.name, (unsigned long long)g->out.lines, (unsigned long long)g->json.by_stream[0]);
    if (g->error.is_there && !g->error.is_rotated)
        check_add(g, "counts.stderr", check_result_word(g->error.lines == g->json.by_stream[1]), "%s and %s: %llu and %llu lines",
                  g->error.name, g->json.name, (unsigned long long)g->error.lines, (unsigned long long)g->json.by_stream[1]);
    bool is_full = check_names_full(&g->components) || check_names_full(&g->nodes);
    check_add(g, "components", is_full && !g->missing ? "none" : check_result_word(!g->missing),
              is_full && !g->missing ? "there are more components or nodes than this check compares"
              : g->missing           ? "%llu lines are of components or nodes that %s lacks"
                                     : "every component and node occurs: %llu are missing in %s",
              (unsigned long long)g->missing, g->json.name);
}

/* ---- all checks ---- */

/* Adds the rows of the flag, the summary, the encoding and secrets. */
static void check_report_flags(struct checking *g)
{
    struct buf text CLEANUP_BUF;
    struct json *j = NULL;
    bool ready = faccessat(g->folder, LOGS_READY, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    uint64_t secrets = g->out.secrets + g->error.secrets;
    buf_init(&text, 64 << 20);
    check_add(g, "ready", check_result_word(ready), "%s", ready ? "loggers_ready exists" : "loggers_ready does not exist");
    bool summary = fs_read(g->folder, LOGS_SUMMARY, 32 << 20, 0, &text, NULL) == 0 && json_parse(&j, buf_text(&text), NULL, NULL) == 0;
    check_add(g, "summary", check_result_word(summary), "%s",
              summary ? "summary.json is complete" : "summary.json does not exist, or is damaged");
    json_free(j);
    check_add(g, "jsonl.utf8", check_result_word(!g->json.bad_utf8), "%llu lines are not UTF-8", (unsigned long long)g->json.bad_utf8);
    check_add(g, "secrets", check_result_word(!secrets), "%llu secrets found", (unsigned long long)secrets);
}

int logs_check_folder(int folder, const struct logs_outputs *outputs, struct listing *l, size_t *ret_bad, struct err *err)
{
    const struct logs_paths names = logs_paths_of(outputs);
    struct checking *g = calloc(1, sizeof *g);
    if (!g)
        return err_memory(err, "the checks");
    g->folder = folder;
    g->l = l;
    buf_init(&g->block, 4 << 20);
    int rc = check_read_file(g, &g->out, names.out, check_text_line, err) ||
                     check_read_file(g, &g->error, names.error, check_text_line, err) ||
                     check_read_file(g, &g->json, names.lines, check_json_line, err)
                 ? -1
                 : 0;
    for (int i = 0; i < 2; i++) {
        const struct checked_file *f = i ? &g->error : &g->out;
        g->compare_fd[i] = !f->is_there || f->is_rotated ? -1
                           : f->name[0] == '/'           ? place_open_named(f->name)
                                                         : place_open(folder, f->name, O_RDONLY, 0);
    }
    const struct logs_merge m = {.folder = folder, .stop_fd = -1, .each = check_raw_line, .context = g};
    if (rc == 0)
        rc = logs_merge_streams(&m, NULL, err);
    if (rc == 0 && fs_each_name(folder, NULL, check_stream_end, g))
        rc = err_sys(err, "cannot read the folder of the logs");
    if (rc == 0) {
        check_report_file(g, &g->out, "stdout");
        check_report_file(g, &g->error, "stderr");
        check_report_file(g, &g->json, "jsonl");
        check_report_flags(g);
        check_report_streams(g);
    }
    *ret_bad = g->bad;
    fs_close(&g->compare_fd[0]);
    fs_close(&g->compare_fd[1]);
    buf_deinit(&g->block);
    free(g);
    return rc;
}
