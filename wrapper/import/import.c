/* import.c: makes a run from an existing output. */
#include "import/import.h"
#include "import/reframe.h"

#include "base/clock.h"
#include "base/exit_words.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/sha256.h"
#include "launch/peel.h"
#include "run/make.h"
#include "run/redaction.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMMAND_WORDS_MAX = 1000 };

/* ---- whose rules ---- */

/* Loads a rule file and adds it with its absolute path, in the arena; import_deinit frees the
 * rules. Returns -1 with err. */
static int add_rules(struct importer *im, const char *path, struct arena *a, struct err *err)
{
    struct rules *rules;
    char real[PATH_MAX];
    if (rules_load(&rules, path, err))
        return -1;
    if (realpath(path, real)) /* the run may be finished later, from elsewhere */
        path = arena_dup(a, real, strlen(real));
    im->rules[im->count] = rules;
    im->paths[im->count++] = path;
    return path ? 0 : err_memory(err, "a run");
}

static int import_alloc_rules(struct importer *im, size_t n, struct arena *a, struct err *err)
{
    im->rules = arena_get(a, n * sizeof *im->rules);
    im->paths = arena_get(a, n * sizeof *im->paths);
    return im->rules && im->paths ? 0 : err_memory(err, "a run");
}

int import_catalogue(struct importer *im, struct arena *a, void (*note)(void *, const char *), void *context, struct err *err)
{
    size_t n = 0;
    struct catalogue_entry *list = catalogue_list(&im->plan->catalogue, a, &n);
    if (!list || import_alloc_rules(im, n + 1, a, err))
        return err_memory(err, "a run");
    for (size_t i = 0; i < n; i++) {
        struct err why = {0};
        if (list[i].hidden)
            continue;
        if (add_rules(im, list[i].path, a, &why)) {
            note(context, arena_printf(a, "%s; these rules are not used", why.text));
            continue;
        }
        if (!rules_recognise(im->rules[im->count - 1]))
            rules_free(im->rules[--im->count]);
    }
    return 0;
}

int import_rules(struct importer *im, const char *name, struct arena *a, struct err *err)
{
    const char *path = catalogue_find(&im->plan->catalogue, name, a);
    im->named = true;
    if (!path)
        return err_set(err, ERR_USAGE, "--rules: \"%s\" is neither an entry of the catalogue nor a file", name);
    if (import_alloc_rules(im, 1, a, err) == 0 && add_rules(im, path, a, err) == 0)
        return 0;
    if (err && err->kind == ERR_INPUT)
        err->kind = ERR_USAGE;
    return err_wrap(err, "--rules");
}

void import_deinit(struct importer *im)
{
    for (size_t i = 0; i < im->count; i++)
        rules_free(im->rules[i]);
    im->count = 0;
    fs_close(&im->root);
}

/* ---- the file ---- */

/* Returns why the text is none that rules can read; NULL: it may be one. */
static const char *import_unreadable_reason(struct str text)
{
    static const struct {
        const char *magic;
        size_t n;
        const char *why;
    } kinds[] = {{"\x1f\x8b", 2, "compressed: unpack it first (gunzip)"},
                 {"\x28\xb5\x2f\xfd", 4, "compressed: unpack it first (unzstd)"},
                 {"\xfd"
                  "7zXZ",
                  5, "compressed: unpack it first (unxz)"},
                 {"BZh", 3, "compressed: unpack it first (bunzip2)"},
                 {"\xff\xfe", 2, "UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"},
                 {"\xfe\xff", 2, "UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (text.n > kinds[i].n && memcmp(text.p, kinds[i].magic, kinds[i].n) == 0)
            return kinds[i].why;
    return NULL;
}

/* Reads the whole file at one moment, so that the hashed, the read and the stored content are the
 * same. Returns NULL, or the reason why it cannot be read (static or in the arena). */
static const char *read_whole(const struct importer *im, int dir, const char *path, struct buf *text, int64_t *ret_mtime, struct arena *a)
{
    CLEANUP_FD int fd = dir == AT_FDCWD ? place_open_found(path) : place_open(dir, path, O_RDONLY, 0);
    struct stat st = {0};
    if (fd < 0 && errno == ELOOP && fstatat(dir, path, &st, 0) == 0 && S_ISDIR(st.st_mode))
        return "a directory: -R goes through it";
    if (fd < 0 || fstat(fd, &st))
        return arena_printf(a, "cannot be opened: %s", err_words(errno));
    if (!S_ISREG(st.st_mode))
        return "not a regular file";
    if ((uint64_t)st.st_size > im->max)
        return arena_printf(a, "%lld bytes are more than --artifact-max (%" PRIu64 ")", (long long)st.st_size, im->max);
    *ret_mtime = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    char *to = buf_room(text, (size_t)st.st_size + 1);
    if (!to)
        return "out of memory for it";
    while (text->n < (size_t)st.st_size) {
        ssize_t n = read(fd, text->p + text->n, (size_t)st.st_size - text->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return arena_printf(a, "cannot be read: %s", err_words(errno));
        if (n == 0)
            break;
        text->n += (size_t)n;
    }
    if (text->n == 0)
        return "empty";
    return import_unreadable_reason(buf_text(text));
}

/* ---- whose is it ---- */

struct import_found {
    size_t index; /* of the rules */
    struct rules_seen seen;
};

struct import_known_rules { /* the rules that know a text */
    size_t *index, n;
};

/* Finds the rules that know the text, without those whose output is part of another program's; all
 * rules where the user named them. Returns NULL, else why it failed. ret->index is in the arena. */
static const char *find_known(const struct importer *im, struct str text, struct import_known_rules *ret, struct arena *a)
{
    struct rules_seen *seen = arena_get(a, (im->count + 1) * sizeof *seen);
    *ret = (struct import_known_rules){.index = arena_get(a, (im->count + 1) * sizeof *ret->index)};
    if (!seen || !ret->index)
        return "out of memory";
    for (size_t i = 0; i < im->count; i++)
        rules_see(im->rules[i], text, a, &seen[i]);
    for (size_t i = 0; i < im->count; i++) /* a line within another program's output does not count */
        for (size_t k = 0; k < im->count; k++)
            if (k != i && seen[k].known && seen[i].known && rules_over(im->rules[k], rules_name(im->rules[i])))
                seen[i].known = false;
    for (size_t i = 0; i < im->count; i++)
        if (seen[i].known || im->named)
            ret->index[ret->n++] = i;
    return NULL;
}

struct imported_piece { /* an output, alone in its file or one of several */
    struct import_found found;
    struct str text;
    size_t banner; /* which of the program's banners begins it */
    size_t line; /* its place, if that is known */
};

static int compare_pieces(const void *a, const void *b)
{
    const char *x = ((const struct imported_piece *)a)->text.p, *y = ((const struct imported_piece *)b)->text.p;
    return (x > y) - (x < y);
}

/* Finds the outputs of a file in their order: each begins where its program's outputs begin.
 * Consecutive outputs that their rules separate stay together. Returns how many; 0: it is not known
 * where they begin. */
static size_t cut_pieces(const struct importer *im, const struct import_known_rules *known, struct str text, struct arena *a,
                         struct imported_piece **ret)
{
    size_t n = 0, kept = 0, *count = arena_get(a, known->n * sizeof *count);
    struct rules_output_begin **begins = arena_get(a, known->n * sizeof *begins);
    if (!count || !begins)
        return 0;
    for (size_t k = 0; k < known->n; n += count[k++])
        if (!(count[k] = rules_begins(im->rules[known->index[k]], text, a, &begins[k])))
            return 0;
    struct imported_piece *p = *ret = arena_get(a, (n + 1) * sizeof *p);
    for (size_t k = 0, i = 0; p && k < known->n; k++)
        for (size_t b = 0; b < count[k]; b++)
            p[i++] = (struct imported_piece){
                .found.index = known->index[k], .text = str_sub(text, begins[k][b].offset, text.n), .banner = begins[k][b].banner};
    if (!p)
        return 0;
    qsort(p, n, sizeof *p, compare_pieces);
    for (size_t i = 0; i < n; i++) {
        bool same = kept && p[i].found.index == p[kept - 1].found.index, single = rules_single(im->rules[p[i].found.index]);
        if (same && single && p[i].banner != p[kept - 1].banner)
            return 0; /* one output that prints its name in two ways, or two outputs */
        if (!same || single)
            p[kept++] = p[i];
    }
    p[0].text = text; /* the text before the first belongs to it */
    for (size_t i = 0; i + 1 < kept; i++)
        p[i].text.n = (size_t)(p[i + 1].text.p - p[i].text.p);
    return kept;
}

/* Records of ReFrame's logs: a piece each, as run reports. */
static size_t reframe_pieces(const struct importer *im, struct str text, struct arena *a, struct imported_piece **ret)
{
    struct reframe_record *record;
    size_t index = 0, n;
    while (index < im->count && strcmp(rules_name(im->rules[index]), "reframe"))
        index++;
    if (index == im->count || !(n = reframe_records(text, a, &record)) || !(*ret = arena_get(a, n * sizeof **ret)))
        return 0;
    for (size_t i = 0; i < n; i++)
        (*ret)[i] = (struct imported_piece){.found = {index, {.known = true, .started_ms = record[i].time_ms, .host = record[i].host}},
                                            .text = record[i].report,
                                            .line = record[i].line};
    return n;
}

/* Finds the program of the text, or of each of its pieces. Returns NULL, or the reason for *ret_result:
 * IMPORT_UNKNOWN (no known program) or IMPORT_REFUSED (several are possible). */
static const char *import_find_pieces(const struct importer *im, struct str text, struct imported_piece **ret, size_t *ret_n,
                                      enum import_result *ret_result, struct arena *a)
{
    struct import_known_rules known;
    *ret_result = IMPORT_REFUSED;
    if ((*ret_n = reframe_pieces(im, text, a, ret)))
        return NULL;
    const char *why = find_known(im, text, &known, a);
    if (why)
        return why;
    if (!known.n) {
        *ret_result = IMPORT_UNKNOWN;
        return "no rules know it; name them with --rules";
    }
    struct imported_piece *one = *ret = ARENA_NEW(a, struct imported_piece);
    if (!one)
        return "out of memory";
    *one = (struct imported_piece){.found.index = known.index[0], .text = text};
    *ret_n = 1;
    rules_see(im->rules[known.index[0]], text, a, &one->found.seen);
    bool single = rules_single(im->rules[known.index[0]]);
    if (known.n == 1 && (one->found.seen.banners < 2 || !single || im->whole))
        return NULL;
    if (!im->whole && (*ret_n = cut_pieces(im, &known, text, a, ret)) > 1) {
        for (size_t i = 0; i < *ret_n; i++)
            rules_see(im->rules[(*ret)[i].found.index], (*ret)[i].text, a, &(*ret)[i].found.seen);
        return NULL;
    }
    struct buf names CLEANUP_BUF;
    buf_init(&names, 1000);
    for (size_t i = 0; i < known.n; i++)
        buf_printf(&names, "%s%s", i ? " and " : "", rules_name(im->rules[known.index[i]]));
    if (known.n > 1)
        return arena_printf(a, "%s know it; name the right ones with --rules, or cut the file", names.p);
    return arena_printf(a, "%zu outputs of %s in one file (lines %zu, %zu): cut it, or use --whole if it is one", one->found.seen.banners,
                        names.p, one->found.seen.line[0], one->found.seen.line[1]);
}

/* ---- when ---- */

/* Sets start and end in milliseconds: by option, else as the output states them, else by the time
 * of the file; and which of these it was. A time that the output lacks is that of the other one. */
static void find_times(const struct importer *im, const struct rules_seen *seen, int64_t mtime, int64_t *ret_start, int64_t *ret_end,
                       const char **ret_source)
{
    *ret_source = "output";
    *ret_start = seen->started_ms;
    *ret_end = seen->finished_ms;
    if (im->time_ms) {
        *ret_start = *ret_end = im->time_ms;
        *ret_source = "option";
    } else if (*ret_start && !*ret_end)
        *ret_end = *ret_start;
    else if (*ret_end && !*ret_start)
        *ret_start = *ret_end;
    else if (!*ret_start) {
        *ret_start = *ret_end = mtime > 0 ? mtime : 1;
        *ret_source = "file";
    }
}

/* ---- with what line: split at blanks; a line with quotes or the like is left alone, since its words are not sure ---- */

/* Divides a command into words at blanks, NULL-terminated, in the arena. NULL: none, one that only
 * a shell could divide, more than COMMAND_WORDS_MAX words, or out of memory. */
static char **command_words(const char *command, struct arena *a)
{
    char **argv = arena_get(a, (COMMAND_WORDS_MAX + 1) * sizeof *argv);
    size_t n = 0;
    if (!command || !argv || strpbrk(command, "'\"\\`$|;&<>"))
        return NULL;
    struct str rest = str_of(command);
    for (struct str word; (word = str_word(&rest)).n;) {
        if (n == COMMAND_WORDS_MAX)
            return NULL;
        if (!(argv[n++] = arena_dup(a, word.p, word.n)))
            return NULL;
    }
    return n ? argv : NULL;
}

/* ---- the run ---- */

static void import_record_pairs(struct record *r, const struct opt_value *v, void (*put)(struct record *, const char *, struct str),
                                struct redaction *names, struct arena *a)
{
    for (; v && v->text; v = v->next) {
        struct str rest = str_of(v->text), key = str_cut(&rest, '=');
        char *name = arena_dup(a, key.p, key.n), *value = redaction_text(names, rest.p, a);
        if (name && value)
            put(r, name, str_of(value));
    }
}

/* Records what the run is about without its output: origin, time, site, and the user's params and
 * tags. In the public profile without file name, host and command line. */
static void import_record_facts(struct record *r, const struct importer *im, const struct import_found *f, const char *name,
                                const char *hash, const char *time_source, size_t bytes, int64_t end_ms, struct redaction *names,
                                struct arena *a)
{
    const struct opt_set *o = &im->plan->opts;
    const char *site = opt_text(o, OPTION_SITE), *cluster = opt_text(o, OPTION_CLUSTER);
    bool public = strcmp(opt_text(o, OPTION_PROFILE), "public") == 0;
    r->source = "import";
    record_tag(r, "benchwrap.run_id", str_of(r->id));
    record_tag(r, "benchwrap.version", STR(BW_VERSION));
    record_tag(r, "benchwrap.format", str_of(arena_printf(a, "%d", MLRUNS_FORMAT)));
    record_tag(r, "benchwrap.imported", str_of(hash));
    record_tag(r, "benchwrap.time_source", str_of(time_source));
    record_tag(r, "benchwrap.streams", str_of(im->streams));
    record_tag(r, "mlflow.source.type", STR("LOCAL"));
    record_tag(r, "mlflow.source.name", str_of(rules_name(im->rules[f->index])));
    if (!public)
        record_tag(r, "benchwrap.import_file", str_of(str_base_name(name)));
    if (!public && f->seen.host)
        record_tag(r, "host", str_of(f->seen.host));
    if (!public && f->seen.command)
        record_tag(r, "benchwrap.command", str_of(f->seen.command));
    record_metric(r, "run.output_B", (double)bytes, "B", DIR_NONE, 0, end_ms);
    record_missing(r, "run.wall_s", "not measured: the run was made from its output");
    if (im->exit_status >= 0)
        record_metric(r, "run.exit_status", im->exit_status, "", DIR_NONE, 0, end_ms);
    r->source = "option";
    if (site)
        record_tag(r, "site", str_of(site));
    if (cluster)
        record_tag(r, "cluster", str_of(cluster));
    import_record_pairs(r, im->params, record_param, names, a);
    import_record_pairs(r, im->tags, record_tag, names, a);
    r->source = "recorder";
}

/* Returns the index of the rules' file that has this name. -1: none, so it is a stream. */
static int rule_file(const struct importer *im, const struct rules *rules, const char *base)
{
    const char *pattern;
    for (int i = 0; !im->stream_given && (pattern = rules_file(rules, (size_t)i)); i++) {
        if (pattern[0] != '{' && !rules_file_is_logged(rules, (size_t)i) && fnmatch(str_base_name(pattern), base, FNM_PERIOD) == 0)
            return i;
    }
    return -1;
}

/* Records the output itself: a stream, or a file that the rules read. */
static int put_output(struct made_run *m, const struct importer *im, const struct import_found *f, const char *base, struct str text,
                      struct arena *a, struct err *err)
{
    int i = rule_file(im, im->rules[f->index], base);
    if (i < 0)
        return make_text(m, strcmp(im->streams, "stderr") == 0 ? "stderr.log" : "stdout.log", text, err);
    const char *key = arena_printf(a, "benchwrap.rules_file.%d", i), *path = arena_printf(a, "files/%s", base);
    if (!key || !path)
        return err_memory(err, "a run");
    record_artifact(&m->record, path, "output");
    record_tag(&m->record, key, STR("output"));
    return make_text(m, "output", text, err);
}

/* Makes the run from the output, cleaned of secrets, and publishes it. Fills *ret with texts in the
 * arena. Returns 0; 1: another process is publishing a run of this id; -1 with err. */
static int make_run(const struct importer *im, const struct import_found *f, const char *name, struct str text, const char *hash,
                    int64_t end_ms, struct arena *a, struct imported *ret, struct err *err)
{
    bool public = strcmp(opt_text(&im->plan->opts, OPTION_PROFILE), "public") == 0;
    char host[256] = "", why[EXIT_WORDS_SIZE], *none[] = {NULL};
    struct redaction cleaned;
    struct made_run m;
    struct finished done = {0};
    if (redaction_begin_here(&cleaned, public, environ, err))
        return -1;
    char **words = command_words(f->seen.command, a), **argv = words ? redaction_argv(&cleaned, words, a) : none;
    if (!argv) {
        redaction_end(&cleaned);
        return err_memory(err, "a run");
    }
    gethostname(host, sizeof host - 1);
    struct make_plan plan = {.id = ret->id,
                             .spool = im->plan->spool,
                             .head = {.host = host,
                                      .experiment = im->experiment ? im->experiment : rules_name(im->rules[f->index]),
                                      .run_name = public ? rules_name(im->rules[f->index]) : str_base_name(name),
                                      .tree = im->plan->tree,
                                      .user = "",
                                      .job = "",
                                      .argv = argv,
                                      .start_ms = ret->start_ms},
                             .options = {.log_max = im->max,
                                         .rules = im->paths[f->index],
                                         .references = im->plan->references,
                                         .public_profile = public,
                                         .merged = strcmp(im->streams, "merged") == 0,
                                         .host = public || !f->seen.host ? "" : f->seen.host}};
    int begun = make_begin(&m, &plan, err);
    if (begun == 0)
        import_record_facts(&m.record, im, f, name, hash, ret->time_source, text.n, end_ms, &cleaned, a);
    if (begun == 0 && cleaned.hidden_arguments)
        record_tag(&m.record, "benchwrap.hidden_arguments", str_of(cleaned.hidden_arguments));
    redaction_end(&cleaned);
    if (begun)
        return -1;
    char *clean = redaction_output(text, public, environ, err); /* the id is that of the text as it was found */
    int kept = clean ? put_output(&m, im, f, str_base_name(name), (struct str){clean, text.n}, a, err) : -1;
    free(clean);
    if (kept) {
        make_drop(&m);
        return -1;
    }
    exit_words(why, im->exit_status, 0);
    int rc = make_end(&m, im->exit_status > 0 ? RUN_FAILED : RUN_FINISHED, why, end_ms, &done, err);
    if (rc == 0) {
        ret->status = record_status_name(done.record.status);
        ret->verdict = arena_dup(a, done.verdict, strlen(done.verdict));
        ret->why = arena_dup(a, done.reason, strlen(done.reason));
        ret->place = arena_dup(a, done.place, strlen(done.place));
    }
    finished_deinit(&done);
    return rc;
}

/* Returns whether the run is in the tree, or on its way there. */
static bool import_is_present(const struct importer *im, const char *id, struct arena *a, struct imported *ret)
{
    struct tree_run *run;
    if (im->root >= 0 && tree_find(im->root, id, TREE_META, a, &run, NULL) == 0) {
        ret->place = run->path;
        return true;
    }
    return access(arena_printf(a, "%s/%s/journal", im->plan->spool, id), F_OK) == 0;
}

/* Imports one output unless a run with its content and rules exists; the id depends on both. *ret
 * has the outcome, with ret->why on failure. With im->dry no run is made. */
static void import_piece(const struct importer *im, const struct imported_piece *piece, const char *name, int64_t mtime, struct arena *a,
                         struct imported *ret)
{
    const struct import_found *f = &piece->found;
    struct err err = {0};
    char hash[SHA256_HEX];
    int64_t end;
    sha256_of(piece->text.p, piece->text.n, hash);
    *ret = (struct imported){.result = IMPORT_THERE, .benchmark = rules_name(im->rules[f->index])};
    make_id(ret->id, "import", str_of(arena_printf(a, "%s/%s", hash, ret->benchmark)));
    find_times(im, &f->seen, mtime, &ret->start_ms, &end, &ret->time_source);
    if (import_is_present(im, ret->id, a, ret))
        return;
    int rc = im->dry ? 0 : make_run(im, f, name, piece->text, hash, end, a, ret, &err);
    ret->result = rc == 0 ? IMPORT_DONE : rc > 0 ? IMPORT_THERE : IMPORT_REFUSED;
    if (rc < 0)
        ret->why = arena_printf(a, "%s", err.text);
}

static size_t lines_in(struct str text)
{
    size_t n = 0;
    for (; text.p && text.n; n++)
        str_cut(&text, '\n');
    return n;
}

void import_file(const struct importer *im, int dir, const char *path, const char *name, struct arena *a, import_take *take, void *context)
{
    struct buf text CLEANUP_BUF;
    struct imported got = {.result = IMPORT_REFUSED};
    struct imported_piece *piece = NULL;
    int64_t mtime = 0;
    size_t n = 0, line = 1;
    buf_init(&text, (size_t)im->max + 2);
    got.why = read_whole(im, dir, path, &text, &mtime, a);
    if (!got.why)
        got.why = import_find_pieces(im, buf_text(&text), &piece, &n, &got.result, a);
    if (got.why) {
        take(context, name, &got);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        size_t lines = n > 1 && !piece[i].line ? lines_in(piece[i].text) : 0;
        const char *label = piece[i].line ? arena_printf(a, "%s (line %zu)", name, piece[i].line)
                            : n > 1       ? arena_printf(a, "%s (lines %zu-%zu)", name, line, line + lines - 1)
                                          : name;
        import_piece(im, &piece[i], name, mtime, a, &got);
        take(context, label ? label : name, &got);
        line += lines;
    }
}
