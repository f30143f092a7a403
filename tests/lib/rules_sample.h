/* Samples of the catalogue for tests that change them: their outputs in memory, and what the rules make of them. */
#ifndef TESTS_RULES_SAMPLE_H
#define TESTS_RULES_SAMPLE_H
#include "base/fs.h"
#include "benchmarks/catalogue.h"
#include "benchmarks/rules.h"

#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { SAMPLE_MAX = 1 << 20, SOURCES_MAX = 8 };

struct sample {
    struct rules *rules;
    const char *entry, *name;
    const char *source[SOURCES_MAX];
    struct buf text[SOURCES_MAX];
    size_t sources, target; /* target: the one that is cut */
};

struct answer {
    struct record record;
    struct rules_outcome out;
};

/* What stands where a part of the output is not there: a notice, as where benchwrap itself kept head and tail alone, or zeros, as in a file with a hole. */
enum gap { GAP_KNOWN, GAP_ZEROS };

static void target_feed(struct rules_run *run, const char *source, struct str text, size_t until, size_t from, enum gap gap)
{
    static const char zeros[4096];
    rules_feed(run, source, text.p, until);
    if (gap == GAP_KNOWN && from > until)
        rules_cut(run, source, from - until);
    for (size_t left = gap == GAP_ZEROS ? from - until : 0; left;) {
        size_t n = left < sizeof(zeros) ? left : sizeof(zeros);
        rules_feed(run, source, zeros, n);
        left -= n;
    }
    rules_feed(run, source, text.p + from, text.n - from);
}

/* Of the target the bytes from `until` to `from` are not there. */
static void answer_with_gap(const struct sample *s, size_t until, size_t from, enum gap gap, struct answer *ret)
{
    struct rules_run *run;
    struct err err = {0};
    record_init(&ret->record, "00000000000000000000000000000000", 1);
    if (rules_begin(&run, s->rules, NULL, NULL, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < s->sources; i++) {
        struct str text = {s->text[i].p ? s->text[i].p : "", s->text[i].n};
        if (i == s->target)
            target_feed(run, s->source[i], text, until, from, gap);
        else
            rules_feed(run, s->source[i], text.p, text.n);
        rules_found(run, s->source[i]);
    }
    if (s->sources > 1)
        rules_files_known(run);
    if (rules_end(run, -1, 0, 1, &ret->record, &ret->out, &err))
        fail_msg("%s/%s: %s", s->entry, s->name, err.text);
}

/* n: so many bytes of the target; SIZE_MAX: all. */
static inline void answer_get(const struct sample *s, size_t n, struct answer *ret)
{
    size_t all = s->text[s->target].n;
    answer_with_gap(s, n < all ? n : all, all, GAP_KNOWN, ret);
}

static void sample_file(struct sample *s, const char *folder, const char *source, const char *name)
{
    char path[600];
    struct buf *b = &s->text[s->sources];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    buf_init(b, SAMPLE_MAX + 1);
    if (s->sources + 1 == SOURCES_MAX || fs_read(AT_FDCWD, path, SAMPLE_MAX, 0, b, NULL) != 0) {
        buf_deinit(b);
        return;
    }
    s->source[s->sources] = source;
    s->sources++;
}

/* Reads the sample and calls the test with it. Returns what the test returned; 0 if there is no output. */
static size_t sample_call(struct sample *s, const char *folder, size_t (*test)(struct sample *s), size_t *outputs)
{
    CLEANUP_BUF struct buf files;
    char path[500], pattern[SOURCES_MAX][200];
    size_t n = 0, wrong = 0;
    buf_init(&files, 1 << 16);
    snprintf(path, sizeof(path), "%s/%s", folder, s->name);
    sample_file(s, path, "stdout", "stdout");
    sample_file(s, path, "stderr", "stderr");
    snprintf(path, sizeof(path), "%s/%s/file", folder, s->name);
    if (fs_read(AT_FDCWD, path, 1 << 16, 0, &files, NULL) == 0) {
        snprintf(path, sizeof(path), "%s/%s", folder, s->name);
        for (struct str rest = buf_text(&files); rest.p && rest.n && n < SOURCES_MAX;) {
            struct str file = str_cut(&rest, '\n'), source = str_cut(&file, '=');
            char copy[200];
            snprintf(pattern[n], sizeof(pattern[n]), STR_FMT, STR_ARG(source));
            snprintf(copy, sizeof(copy), STR_FMT, STR_ARG(file));
            sample_file(s, path, pattern[n++], copy);
        }
    }
    if (s->sources) {
        wrong = test(s);
        ++*outputs;
    }
    for (size_t i = 0; i < s->sources; i++)
        buf_deinit(&s->text[i]);
    return wrong;
}

/* Sanitizers make a sample five times as expensive, and each is read by them elsewhere, too: one of four, but for the slow tier. */
#ifdef __SANITIZE_ADDRESS__
enum { SAMPLE_STRIDE = 4 };
#else
enum { SAMPLE_STRIDE = 1 };
#endif

/* Calls the test with each sample of the entries that give a verdict; only: of this entry alone, NULL: of all. Returns the sum of what the calls returned. */
static size_t samples_each(const char *only, size_t (*test)(struct sample *s), size_t *outputs)
{
    size_t wrong = 0, at = 0, stride = SAMPLE_STRIDE;
    const char *every = getenv("BENCHWRAP_SANITIZE_ALL");
    if (every)
        stride = 1;
    mallopt(M_TRIM_THRESHOLD, 1 << 28); /* else half of the time goes into giving memory back */
    for (const struct catalogue_shipped *e = catalogue_shipped; e->name; e++) {
        struct fs_names list;
        struct err err = {0};
        struct rules *rules;
        char path[300], address[300];
        snprintf(path, sizeof(path), "benchmarks/catalogue/%s/samples", e->name);
        if ((only && strcmp(only, e->name) != 0) || access(path, R_OK) != 0 || fs_list(AT_FDCWD, path, &list, NULL) < 0)
            continue;
        snprintf(address, sizeof(address), "shipped:%s", e->name);
        if (rules_load(&rules, address, &err))
            fail_msg("%s", err.text);
        for (size_t i = 0; i < list.count && !rules_without_verdict(rules); i++) {
            if (at++ % stride)
                continue;
            struct sample s = {.rules = rules, .entry = e->name, .name = list.names[i]};
            wrong += sample_call(&s, path, test, outputs);
        }
        rules_free(rules);
        fs_names_deinit(&list);
    }
    return wrong;
}
#endif
