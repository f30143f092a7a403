/* The test vectors of annotations: what readers show, and what is no annotation. Damaged ones change nothing. */
#include "runs/annotations.h"
#include "base/fs.h"
#include "base/json.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct json *read_vectors(void)
{
    CLEANUP_BUF struct buf b;
    struct json *doc = NULL;
    struct err err = {0};
    buf_init(&b, 1 << 20);
    assert_int_equal(fs_read(AT_FDCWD, "mlruns-format/vectors/annotations.json", 1 << 19, 0, &b, NULL), 0);
    if (json_parse(&doc, buf_text(&b), NULL, &err) < 0)
        fail_msg("%s", err.text);
    return doc;
}

static struct str text_of(const struct json *j, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    json_print(j, &b);
    return (struct str){arena_dup(a, b.p, b.n), b.n};
}

/* The tags as a list sorted by key. */
static struct tree_entry *entries_of(const struct json *tags, struct arena *a)
{
    struct tree_entry *list = NULL;
    for (const struct json *t = json_first(tags); t; t = json_next(t)) {
        struct tree_entry *e = ARENA_NEW(a, struct tree_entry);
        *e = (struct tree_entry){.key = json_key(t), .value = str_of(json_string(t, ""))};
        list = annotation_merge(list, e, a);
    }
    return list;
}

static void add_vector_run(const struct json *r, struct corrections *corrections, struct annotations *annotations, struct arena *a)
{
    struct tree_run run = {.start_ms = json_integer(json_get(r, "start_ms"), 0)};
    const char *amends = json_string(json_get(r, "amends"), NULL), *retracts = json_string(json_get(r, "retracts"), NULL),
               *target = json_string(json_get(r, "annotates"), NULL);
    memcpy(run.id, json_string(json_get(r, "id"), ""), 33);
    assert_true(correction_possible(run.id));
    corrections_add(corrections, &run, amends ? amends : retracts, retracts != NULL);
    if (!target)
        return;
    char of[33];
    struct tree_entry *changes;
    struct err err = {0};
    if (annotation_parse(text_of(json_get(r, "annotation"), a), a, of, &changes, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(of, target);
    annotations_add(annotations, &run, target, changes);
}

static void test_vectors(void **state)
{
    struct json *doc = read_vectors();
    (void)state;
    for (const struct json *c = json_first(json_get(doc, "cases")); c; c = json_next(c)) {
        struct arena a;
        struct corrections corrections = {0};
        struct annotations annotations = {0};
        arena_init(&a, 0);
        for (const struct json *r = json_first(json_get(c, "runs")); r; r = json_next(r))
            add_vector_run(r, &corrections, &annotations, &a);
        corrections_sort(&corrections);
        annotations_sort(&annotations, &corrections);
        struct tree_run run = {.name = "recorded", .tags = entries_of(json_get(c, "recorded"), &a)};
        memcpy(run.id, json_string(json_get(c, "shown"), ""), 33);
        tree_annotate(&run, annotations_of(&annotations, &corrections, run.id, &a, NULL), TREE_TAGS, &a);
        const struct tree_entry *is = run.tags, *wanted = entries_of(json_get(c, "tags"), &a);
        for (; is && wanted; is = is->next, wanted = wanted->next)
            if (strcmp(is->key, wanted->key) != 0 || !str_eq(is->value, wanted->value))
                fail_msg("%s: %s=%s instead of %s=%s", json_string(json_get(c, "name"), ""), is->key, is->value.p, wanted->key,
                         wanted->value.p);
        if (is || wanted)
            fail_msg("%s: the tag %s is too %s", json_string(json_get(c, "name"), ""), is ? is->key : wanted->key, is ? "much" : "few");
        annotations_deinit(&annotations);
        corrections_deinit(&corrections);
        arena_deinit(&a);
    }
    json_free(doc);
}

static void test_invalid(void **state)
{
    struct json *doc = read_vectors();
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    for (const struct json *c = json_first(json_get(doc, "invalid")); c; c = json_next(c)) {
        char of[33];
        struct tree_entry *changes;
        struct err err = {0};
        struct str text = text_of(c, &a);
        if (annotation_parse(text, &a, of, &changes, &err) == 0)
            fail_msg("accepted: %s", text.p);
        assert_true(err.text[0]);
    }
    arena_deinit(&a);
    json_free(doc);
}

/* What is written is read back. */
static void test_round(void **state)
{
    struct arena a;
    CLEANUP_BUF struct buf b;
    struct tree_entry removed = {.key = "b"}, set = {.key = "a", .value = STR("x \"y\"\n<b>"), .next = &removed}, *got;
    char of[33];
    struct err err = {0};
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, 1 << 16);
    annotation_print("a0000000000040008000000000000001", &set, &b);
    if (annotation_parse(buf_text(&b), &a, of, &got, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(of, "a0000000000040008000000000000001");
    assert_string_equal(got->value.p, set.value.p);
    assert_string_equal(got->next->key, "b");
    assert_null(got->next->value.p);
    assert_null(got->next->next);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_invalid), cmocka_unit_test(test_round)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
