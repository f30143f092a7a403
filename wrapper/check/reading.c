/* reading.c: feed a run's stored output to rules again, as the recorder did at the run's end. */
#include "check/verify.h"

#include "benchmarks/rules.h"
#include "launch/peel.h"
#include "mlruns-format/stream.h"

#include <fnmatch.h>
#include <stdio.h>

enum { FILES_MAX = 64 };

struct reading_source {
    struct rules_run *run;
    const char *name;
    uint64_t skip;
};

static void reading_feed_piece(void *context, const void *p, size_t n)
{
    struct reading_source *s = context;
    size_t skip = s->skip < n ? (size_t)s->skip : n;
    s->skip -= skip;
    rules_feed(s->run, s->name, (const char *)p + skip, n - skip);
}

static void reading_feed_file(const struct run_check *r, struct rules_run *run, const char *source, const char *path, uint64_t skip)
{
    struct reading_source s = {run, source, skip};
    if (run_file(r, path))
        folder_feed(r->folder, path, r->k->limits.file_B, reading_feed_piece, &s);
}

static uint64_t reading_tag_count(const struct run_check *r, const char *before, const char *name, const char *behind)
{
    char key[48];
    uint64_t n = 0;
    snprintf(key, sizeof key, "%s%s%s", before, name, behind);
    return run_text(r, 't', key) && str_uint(str_of(run_text(r, 't', key)), &n) ? n : 0;
}

/* Reads the file into b and returns the place in it of the line that marks `cut` lost bytes; NULL:
 * there is none. *ret_bytes: the length of that line. */
static const char *place_of_cut(const struct run_check *r, const char *name, struct buf *b, uint64_t cut, size_t *ret_bytes)
{
    char mark[STREAM_CUT_BYTES];
    *ret_bytes = stream_cut_line(mark, cut);
    ptrdiff_t at = folder_read(r->folder, name, r->k->limits.file_B, b) < 0 ? -1 : str_find(buf_text(b), str_of(mark));
    return at < 0 ? NULL : b->p + at;
}

/* Feeds a stream with its gaps where the recorder had them: a line of benchwrap's own marks what was
 * cut, and dropped bytes count as before the first one. */
static void feed_stream(const struct run_check *r, struct rules_run *run, const char *source, const char *name)
{
    uint64_t cut = reading_tag_count(r, "benchwrap.", name, "_cut_B"), dropped = reading_tag_count(r, "benchwrap.dropped.", name, "");
    CLEANUP_BUF struct buf b;
    char path[40];
    size_t bytes;
    snprintf(path, sizeof path, "artifacts/%s.log", name);
    buf_init(&b, r->k->limits.file_B + (1 << 20));
    const char *at = cut ? place_of_cut(r, path, &b, cut, &bytes) : NULL;
    if (dropped)
        rules_cut(run, source, dropped);
    if (!at) {
        reading_feed_file(r, run, source, path, 0);
        return;
    }
    rules_feed(run, source, b.p, (size_t)(at - b.p));
    rules_cut(run, source, cut);
    rules_feed(run, source, at + bytes, b.n - (size_t)(at - b.p) - bytes);
}

void verify_cuts(struct run_check *r)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (size_t i = 0; i < 2; i++) {
        uint64_t cut = reading_tag_count(r, "benchwrap.", names[i], "_cut_B");
        CLEANUP_BUF struct buf b;
        char path[40];
        size_t bytes;
        snprintf(path, sizeof path, "artifacts/%s.log", names[i]);
        buf_init(&b, r->k->limits.file_B + (1 << 20));
        if (cut && run_file(r, path) && !place_of_cut(r, path, &b, cut, &bytes))
            run_found(r, CHECK_RECORD, path, 0, "the record says that %llu byte%s %s not kept, and no line stands for it",
                      (unsigned long long)cut, str_plural(cut), cut == 1 ? "is" : "are");
    }
}

/* Finds the kept file that the i-th file of the rules is: the one of its name. Returns how many
 * could be it: 0, 1, or 2 for more; *ret is one of them, in r->a. */
static int kept_file(const struct run_check *r, const struct rules *rules, size_t i, char *const *argv, struct arena *a, const char **ret)
{
    const char *name = rules_file_kept(rules, i, argv, a);
    int n = 0;
    for (size_t k = 0; name && k < r->count; k++)
        if (str_starts(r->files[k].path, "artifacts/files/") && fnmatch(name, str_base_name(r->files[k].path.p), 0) == 0) {
            *ret = r->files[k].path.p;
            n++;
        }
    return n > 1 ? 2 : n;
}

/* Feeds the stored output files that the rules read, by the run's tags benchwrap.rules_file.N,
 * to the rules again. *ret_sure becomes false where such a file is not in the run's folder any
 * more. */
static void reading_feed_rule_files(struct run_check *r, struct rules_run *run, const struct rules *rules, char *const *argv,
                                    bool *ret_sure)
{
    const char *pattern, *path = NULL;
    rules_files_known(run);
    for (size_t i = 0; i < FILES_MAX && (pattern = rules_file(rules, i)); i++) {
        char key[48];
        uint64_t from = 0;
        snprintf(key, sizeof key, "benchwrap.rules_file.%zu", i);
        if (!run_text(r, 't', key))
            continue;
        snprintf(key, sizeof key, "benchwrap.rules_file_from.%zu", i);
        if (run_text(r, 't', key))
            str_uint(str_of(run_text(r, 't', key)), &from);
        rules_found(run, pattern);
        if (!rules_file_is_read(rules, i))
            continue;
        if (kept_file(r, rules, i, argv, &r->a, &path) == 1)
            reading_feed_file(r, run, pattern, path, from);
        else
            *ret_sure = false;
    }
}

/* Returns the command line of the record in the run's arena; NULL: out of memory. */
static char **reading_argv(struct run_check *r)
{
    const struct json *list = json_pointer(r->record, "/run/argv");
    char **argv = arena_get(&r->a, (json_count(list) + 1) * sizeof *argv);
    size_t n = 0;
    for (const struct json *e = argv ? json_first(list) : NULL; e; e = json_next(e)) {
        const char *word = json_string(e, "");
        argv[n++] = arena_dup(&r->a, word, strlen(word));
    }
    return argv;
}

static bool from_arguments(const struct json *param)
{
    static const char tail[] = ":arguments";
    const char *source = json_string(json_get(param, "source"), "");
    size_t n = strlen(source);
    return verify_is_from_rules(source) && n >= sizeof tail - 1 && strcmp(source + n - (sizeof tail - 1), tail) == 0;
}

bool verify_argv_is_withheld(const struct run_check *r)
{
    const char *profile = run_text(r, 't', "benchwrap.profile"), *benchmark = run_text(r, 't', "benchmark");
    const struct json *argv = json_pointer(r->record, "/run/argv");
    if (!profile || strcmp(profile, "public") != 0 || !benchmark || json_count(argv) != 1 ||
        strcmp(json_string(json_first(argv), ""), benchmark) != 0)
        return false;
    for (const struct json *p = json_first(json_get(r->record, "params")); p; p = json_next(p))
        if (from_arguments(p))
            return true;
    return false;
}

/* Adds what the record states about the withheld arguments. */
static void feed_withheld_arguments(const struct run_check *r, struct rules_run *run)
{
    for (const struct json *p = json_first(json_get(r->record, "params")); p; p = json_next(p)) {
        const char *value = json_string(json_get(p, "value"), "");
        if (from_arguments(p))
            rules_argument(run, json_key(p), value);
        else if (verify_is_from_rules(json_string(json_get(p, "source"), "")))
            rules_argument_printed(run, json_key(p), value);
    }
}

int verify_reread(struct run_check *r, const struct rules *rules, struct record *record, struct rules_outcome *ret, bool *ret_sure,
                  struct err *err)
{
    struct rules_run *run;
    char **argv = reading_argv(r);
    const char *streams = run_text(r, 't', "benchwrap.streams"), *number = run_text(r, 't', "benchwrap.signal_number");
    bool merged = streams && strcmp(streams, "merged") == 0;
    uint64_t signal = 0;
    *ret_sure = true;
    record_init(record, r->id, r->meta.start_ms > 0 ? r->meta.start_ms : 1);
    char *const *program = argv ? (char *const *)peel_program((char *const *)argv) : NULL;
    if (rules_begin(&run, rules, program, NULL, err) < 0)
        return -1;
    if (verify_argv_is_withheld(r))
        feed_withheld_arguments(r, run);
    feed_stream(r, run, merged ? "merged" : "stdout", "stdout");
    feed_stream(r, run, "stderr", "stderr");
    reading_feed_rule_files(r, run, rules, program, ret_sure);
    if (number)
        str_uint(str_of(number), &signal);
    double status = run_number(r, "run.exit_status", -1);
    return rules_end(run, signal || !(status >= -1 && status < 256) ? -1 : (int)status, signal < 128 ? (int)signal : 0, r->meta.end_ms,
                     record, ret, err);
}
