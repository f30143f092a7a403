/* checked_run.h: a run in memory with given facts, and the findings of one part of check about it. */
#ifndef UNIT_CHECKED_RUN_H
#define UNIT_CHECKED_RUN_H
#include "check/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ENTRIES_MAX = 20 };

struct checked_run {
    struct arena arena;
    struct check_state k;
    struct run_check r;
    struct check_entry entries[ENTRIES_MAX];
    struct check_sample samples[ENTRIES_MAX];
};

static inline int order_facts(const void *a, const void *b)
{
    const struct check_entry *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind : strcmp(x->key, y->key);
}

/* Checks a copy of `run` with these facts: "p:KEY=TEXT", "t:KEY=TEXT" and "m:KEY=NUMBER@SECONDS" (after the start; 0 without), blanks between; metrics with their unit in `record`. Returns its findings. */
static inline const char *checked_findings(void (*part)(struct run_check *r), const struct run_check *run, const char *facts, const char *record)
{
    static char out[2000], text[1000];
    struct checked_run *b = calloc(1, sizeof *b);
    struct err err = {0};
    arena_init(&b->arena, 0);
    b->k = run->k ? *run->k : (struct check_state){0};
    b->k.arena = &b->arena;
    b->k.limits.findings = 10;
    b->r = *run;
    b->r.k = &b->k;
    b->r.path = "run";
    b->r.entries = b->entries;
    snprintf(text, sizeof text, "%s", facts);
    for (char *rest = text, *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        *value++ = 0;
        struct check_entry *e = &b->entries[b->r.entry_count];
        struct check_sample *s = &b->samples[b->r.entry_count++];
        *e = (struct check_entry){.kind = word[0], .key = word + 2, .value = str_of(value), .samples = s, .count = word[0] == 'm'};
        char *at = word[0] == 'm' ? strchr(value, '@') : NULL;
        double after_s = 0;
        if (at) {
            *at = 0;
            assert_true(str_double(str_of(at + 1), &after_s));
            e->value = str_of(value);
        }
        s->time_ms = run->meta.start_ms + (int64_t)(after_s * 1e3);
        str_double(str_of(value), &s->value);
    }
    qsort(b->entries, b->r.entry_count, sizeof *b->entries, order_facts);
    if (json_parse(&b->r.record, str_of(record), NULL, &err) < 0)
        fail_msg("%s", err.text);
    part(&b->r);
    out[0] = 0;
    for (const struct check_finding *f = b->k.first; f; f = f->next)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s %s: %s", out[0] ? "\n" : "", check_kinds[f->id].word, f->path,
                 f->text);
    json_free(b->r.record);
    arena_deinit(&b->arena);
    free(b);
    return out;
}
#endif
