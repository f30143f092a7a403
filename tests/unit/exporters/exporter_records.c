/* Records that are no runs: they arrive in order, a refused one is found among many, and an endpoint that fails loses none. */
#include "exporters/exporter_records.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RECORDS = 300 };

/* A destination: at most `most` records in a request; refuses those in `refused`, fails with those in `failing`, and is away for so many requests. */
static struct {
    size_t most, away, requests, opens;
    bool refused[RECORDS], failing[RECORDS];
    int got[2 * RECORDS], refusals[RECORDS];
    size_t got_count, refusal_count;
} there;
static char texts[RECORDS][16];
static struct str records[RECORDS];

static int number_of(struct str record)
{
    return (int)((record.p - texts[0]) / (ptrdiff_t)sizeof texts[0]);
}

static enum exporter_answer fake_open(struct exporter_link *l, struct err *err)
{
    (void)l;
    (void)err;
    there.opens++;
    return EXPORTER_SENT;
}

static enum exporter_answer fake_send(struct exporter_link *l, const struct exporter_batch *b, size_t *taken, struct err *err)
{
    there.requests++;
    *taken = b->count < there.most ? b->count : there.most;
    l->retry_after_s = 0.001;
    if (there.away && there.away--)
        return err_set(err, ERR_REMOTE, "away"), EXPORTER_LATER;
    for (size_t i = 0; i < *taken; i++)
        if (there.refused[number_of(b->records[i])])
            return err_set(err, ERR_REMOTE, "refused"), EXPORTER_REFUSED;
    for (size_t i = 0; i < *taken; i++)
        if (there.failing[number_of(b->records[i])])
            return err_set(err, ERR_REMOTE, "failed"), EXPORTER_FAILED;
    for (size_t i = 0; i < *taken; i++)
        there.got[there.got_count++] = number_of(b->records[i]);
    return EXPORTER_SENT;
}

static void note_refusal(void *context, struct str record, const char *why)
{
    (void)context;
    assert_true(*why);
    there.refusals[there.refusal_count++] = number_of(record);
}

static const struct exporter kind = {.type = "fake", .open = fake_open, .send_records = fake_send};
static const struct exporter runs_only = {.type = "runs"};

static int setup(void **state)
{
    (void)state;
    memset(&there, 0, sizeof there);
    there.most = 100;
    for (int i = 0; i < RECORDS; i++) {
        snprintf(texts[i], sizeof texts[i], "{\"n\":%d}", i);
        records[i] = str_of(texts[i]);
    }
    return 0;
}

static enum exporter_answer send_all(double seconds, size_t *handled, struct err *err)
{
    const struct exporter_config config = {.name = "x", .kind = &kind};
    const struct exporter_records_config c = {.exporter = &config, .cancel_fd = -1, .refused = note_refusal};
    struct exporter_records *s;
    assert_int_equal(exporter_records_open(&s, &c, err), 0);
    enum exporter_answer answer =
        exporter_records_send(s, &(struct exporter_batch){.records = records, .count = RECORDS}, clock_mono_ns() + (int64_t)(seconds * 1e9), handled, err);
    exporter_records_close(s);
    return answer;
}

/* Every record but the refused ones, once and in order. */
static void check_got(size_t until)
{
    size_t at = 0;
    for (size_t i = 0; i < until; i++)
        if (!there.refused[i] && !there.failing[i])
            assert_int_equal(there.got[at++], i);
    assert_int_equal(at, there.got_count);
}

static void test_plain(void **state)
{
    size_t handled;
    (void)state;
    assert_int_equal(send_all(5, &handled, NULL), EXPORTER_SENT);
    assert_int_equal(handled, RECORDS);
    assert_int_equal(there.requests, 3);
    assert_int_equal(there.opens, 1);
    check_got(RECORDS);
}

static void test_refused(void **state)
{
    size_t handled;
    (void)state;
    there.refused[0] = there.refused[137] = there.refused[138] = there.refused[RECORDS - 1] = true;
    assert_int_equal(send_all(5, &handled, NULL), EXPORTER_SENT);
    assert_int_equal(handled, RECORDS);
    assert_int_equal(there.refusal_count, 4);
    assert_int_equal(there.refusals[1], 137);
    check_got(RECORDS);
    assert_true(there.requests < 60);
}

static void test_away(void **state)
{
    size_t handled;
    (void)state;
    there.away = 20;
    assert_int_equal(send_all(5, &handled, NULL), EXPORTER_SENT);
    check_got(RECORDS);
    assert_int_equal(there.opens, 21); /* secrets are read again */
    assert_int_equal(there.refusal_count, 0);
}

static void test_failing(void **state)
{
    size_t handled;
    (void)state;
    there.failing[150] = true;
    assert_int_equal(send_all(5, &handled, NULL), EXPORTER_SENT);
    assert_int_equal(there.refusal_count, 1);
    assert_int_equal(there.refusals[0], 150);
    check_got(RECORDS);
}

/* Where nothing is accepted, no record is at fault. */
static void test_all_fail(void **state)
{
    size_t handled;
    struct err err = {0};
    (void)state;
    memset(there.failing, true, sizeof there.failing);
    assert_int_equal(send_all(0.2, &handled, &err), EXPORTER_LATER);
    assert_int_equal(handled, 0);
    assert_int_equal(there.refusal_count, 0);
    assert_string_equal(err.text, "failed");
}

static void test_last_fails(void **state)
{
    size_t handled;
    (void)state;
    there.failing[RECORDS - 1] = true;
    assert_int_equal(send_all(0.3, &handled, NULL), EXPORTER_LATER);
    assert_int_equal(handled, RECORDS - 1);
    assert_int_equal(there.refusal_count, 0);
    check_got(RECORDS - 1);
}

static void test_runs_only(void **state)
{
    const struct exporter_config config = {.name = "x", .kind = &runs_only};
    struct exporter_records *s;
    struct err err = {0};
    (void)state;
    assert_int_equal(exporter_records_open(&s, &(struct exporter_records_config){.exporter = &config, .cancel_fd = -1}, &err), -1);
    assert_non_null(strstr(err.text, "delivers runs only"));
    exporter_records_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_plain, setup),    cmocka_unit_test_setup(test_refused, setup),
                                       cmocka_unit_test_setup(test_away, setup),     cmocka_unit_test_setup(test_failing, setup),
                                       cmocka_unit_test_setup(test_all_fail, setup), cmocka_unit_test_setup(test_last_fails, setup),
                                       cmocka_unit_test_setup(test_runs_only, setup)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
