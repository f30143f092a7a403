/* rules_case.h: unit tests of the rule engine: rules and an output as text -> the facts as lines. */
#ifndef TESTS_LIB_RULES_CASE_H
#define TESTS_LIB_RULES_CASE_H
#include "base/buf.h"
#include "benchmarks/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* tables of cases leave out what is as usual */
struct rules_case {
    const char *name, *rules, *text, *facts;
    int exit_code;      /* as rules_end takes it; 0: ended well */
    const char *source; /* NULL: stdout */
    char *const *argv;
};

/* Loads rules that stand in a text; the head is added. */
static inline int rules_case_load(struct rules **ret, const char *text, struct err *err)
{
    char path[] = "/tmp/benchwrap-rules-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f, "name: x\nversion: '1'\n%s", text);
    assert_int_equal(fclose(f), 0);
    int rc = rules_load(ret, path, err);
    unlink(path);
    return rc;
}

/* "metric KEY[@STEP] VALUE", "param KEY VALUE", "missing KEY: WHY", "warning TEXT", "pass", "fail: WHY" or "none: WHY", a line each. */
static inline void rules_case_print(const struct record *record, const struct rules_outcome *out, struct buf *to)
{
    for (const struct fact *f = record->first; f; f = f->next) {
        if (f->kind == FACT_METRIC && f->step)
            buf_printf(to, "metric " STR_FMT "@%lld %.9g\n", STR_ARG(f->key), (long long)f->step, f->value);
        else if (f->kind == FACT_METRIC)
            buf_printf(to, "metric " STR_FMT " %.9g\n", STR_ARG(f->key), f->value);
        else if (f->kind == FACT_PARAM)
            buf_printf(to, "param " STR_FMT " " STR_FMT "\n", STR_ARG(f->key), STR_ARG(f->text));
        else if (f->kind == FACT_MISSING)
            buf_printf(to, "missing " STR_FMT ": " STR_FMT "\n", STR_ARG(f->key), STR_ARG(f->text));
        else if (f->kind == FACT_WARNING)
            buf_printf(to, "warning " STR_FMT "\n", STR_ARG(f->text));
    }
    buf_printf(to, "%s%s%s\n", out->verdict == VERDICT_PASS ? "pass" : out->verdict == VERDICT_NONE ? "none" : "fail", out->reason[0] ? ": " : "", out->reason);
}

static inline void rules_case_read(const struct rules *rules, const struct rules_case *c, size_t piece, struct buf *to)
{
    struct rules_run *run;
    struct rules_outcome out;
    struct record record;
    struct err err = {0};
    size_t n = strlen(c->text);
    assert_int_equal(rules_begin(&run, rules, c->argv, NULL, &err), 0);
    for (size_t at = 0; at < n; at += piece)
        rules_feed(run, c->source ? c->source : "stdout", c->text + at, n - at < piece ? n - at : piece);
    record_init(&record, "00000000000000000000000000000000", 1);
    if (rules_end(run, c->exit_code, 0, 1, &record, &out, &err))
        fail_msg("%s: %s", c->name, err.text);
    rules_case_print(&record, &out, to);
    record_deinit(&record);
}

/* Each case in one piece and byte by byte. */
static inline void rules_cases_hold(const struct rules_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct rules *rules;
        struct err err = {0};
        if (rules_case_load(&rules, cases[i].rules, &err))
            fail_msg("%s: %s", cases[i].name, err.text);
        for (size_t piece = 1 << 20; piece; piece = piece > 1 ? 1 : 0) {
            struct buf got;
            buf_init(&got, 1 << 20);
            rules_case_read(rules, &cases[i], piece, &got);
            if (strcmp(got.p, cases[i].facts))
                fail_msg("%s (pieces of %zu)\ngot:\n%s\nwanted:\n%s", cases[i].name, piece, got.p, cases[i].facts);
            buf_deinit(&got);
        }
        rules_free(rules);
    }
}

/* Rules that must be refused: `text` stands in the message. */
static inline void rules_refused(const char *rules_text, const char *message)
{
    struct rules *rules;
    struct err err = {0};
    if (rules_case_load(&rules, rules_text, &err) == 0)
        fail_msg("taken, but must be refused with \"%s\": %s", message, rules_text);
    if (!strstr(err.text, message))
        fail_msg("got \"%s\", wanted \"%s\"", err.text, message);
}
#endif
