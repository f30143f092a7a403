/* An output gives the same values with colours, ranks, time stamps, CRLF or a byte order mark around its lines, in all entries of the catalogue: terminals,
 * launchers, log collectors and editors put them there. WRAPPED=NAME: that entry alone. */
/* quick: no, because every sample of the catalogue is wrapped */
#include "rules_sample.h"

#include <stdlib.h>

struct wrap {
    const char *what, *first, *head, *tail; /* before the text, before each line, behind each line */
};
static const struct wrap wraps[] = {
    {"colours", "", "\x1b[1;32m", "\x1b[0m"},
    {"colours around a carriage return", "", "\x1b[36m", "\r\x1b[0m"},
    {"CRLF", "", "", "\r"},
    {"CRLF of a terminal's log", "", "", "\r\r"},
    {"byte order mark", "\xef\xbb\xbf", "", ""},
    {"byte order mark and CRLF", "\xef\xbb\xbf", "", "\r"},
    {"srun --label", "", "1: ", ""},
    {"mpiexec -prepend-rank", "", "[3] ", ""},
    {"mpirun --tag-output", "", "[1,0]<stdout>:", ""},
    {"prterun --output tag", "", "[prterun-n1-77@1,0]<stdout>: ", ""},
    {"Open MPI 5, --output tag-detailed", "", "[1,0][n1:77]<stdout>: ", ""},
    {"Open MPI 5, --timestamp-output", "", "[Mon Nov 23 12:00:01 2026]<stdout>: ", ""},
    {"Open MPI 5, both", "", "[Mon Nov 23 12:00:01 2026][1,0]<stdout>: ", ""},
    {"mpirun --timestamp-output", "", "Mon Nov 23 12:00:01 2026<stdout>:", ""},
    {"mpirun --timestamp-output --tag-output", "", "Mon Nov  2 12:00:01 2026[1,0]<stdout>:", ""},
    {"ts", "", "Nov 23 12:00:01 ", ""},
    {"ts, a day of one digit", "", "Nov  3 12:00:01 ", ""},
    {"ts %H:%M:%.S", "", "12:00:01.123456 ", ""},
    {"brackets", "", "[12:00:01] ", ""},
    {"date in brackets", "", "[2026-11-23 12:00:01,250] ", ""},
    {"a CI system", "", "2026-11-23T12:00:01.1234567Z ", ""},
    {"a container, with a zone", "", "2026-11-23T12:00:01.123456789+01:00 ", ""},
    {"slashes", "", "2026/11/23 12:00:01 ", ""},
    {"ranks with time stamps", "", "12: 12:00:01 ", ""},
    {"time stamps with ranks", "", "[12:00:01] [1,0]<stdout>:", ""},
    {"colours, time stamps, ranks, CRLF", "", "\x1b[2m2026-11-23 12:00:01\x1b[0m  7: ", "\r"},
};

static void text_wrap(struct str text, const struct wrap *w, struct buf *ret)
{
    buf_init(ret, (size_t)16 << 20);
    buf_puts(ret, w->first);
    while (text.n) {
        bool ends = memchr(text.p, '\n', text.n) != NULL;
        struct str line = str_cut(&text, '\n');
        buf_puts(ret, w->head);
        buf_add(ret, line.p, line.n);
        if (!ends)
            break; /* torn */
        buf_puts(ret, w->tail);
        buf_puts(ret, "\n");
    }
    assert_false(ret->failed);
}

/* Only metrics: messages quote lines as they stand there. */
static const struct fact *next_metric(const struct fact *f)
{
    while (f && f->kind != FACT_METRIC)
        f = f->next;
    return f;
}

static bool answer_equal(const struct answer *a, const struct answer *b)
{
    const struct fact *x = next_metric(a->record.first), *y = next_metric(b->record.first);
    for (; x && y; x = next_metric(x->next), y = next_metric(y->next))
        if (!str_eq(x->key, y->key) || x->step != y->step || x->value != y->value)
            return false;
    return !x && !y && a->out.verdict == b->out.verdict;
}

static bool is_known(const struct rules *rules, struct str text, struct rules_seen *ret)
{
    struct arena a;
    arena_init(&a, 64 << 20);
    rules_see(rules, text, &a, ret);
    arena_deinit(&a);
    return ret->known;
}

/* Lines that have a rank already get no other one. */
static bool is_double(const struct sample *s, const struct wrap *w)
{
    return strpbrk(w->head, ":]") && (strstr(s->name, "launcher") || strstr(s->name, "ranks") || strstr(s->name, "tagoutput"));
}

static size_t sample_wrap(struct sample *s)
{
    struct answer plain, wrapped;
    size_t wrong = 0;
    answer_get(s, SIZE_MAX, &plain);
    for (size_t i = 0; i < sizeof(wraps) / sizeof(wraps[0]); i++) {
        struct sample changed = *s;
        struct rules_seen seen, seen_plain;
        if (is_double(s, &wraps[i]))
            continue;
        for (size_t k = 0; k < s->sources; k++) {
            text_wrap(buf_text(&s->text[k]), &wraps[i], &changed.text[k]);
            bool was = is_known(s->rules, buf_text(&s->text[k]), &seen_plain), is = is_known(s->rules, buf_text(&changed.text[k]), &seen);
            if (was != is || seen.banners != seen_plain.banners) {
                print_message("wrong: %s/%s, %s, %s: known %d (%zu), was %d (%zu)\n", s->entry, s->name, wraps[i].what, s->source[k], is,
                              seen.banners, was, seen_plain.banners);
                wrong++;
            }
        }
        answer_get(&changed, SIZE_MAX, &wrapped);
        if (!answer_equal(&plain, &wrapped)) {
            print_message("wrong: %s/%s, %s: %s\n", s->entry, s->name, wraps[i].what, wrapped.out.reason ? wrapped.out.reason : "");
            wrong++;
        }
        record_deinit(&wrapped.record);
        for (size_t k = 0; k < s->sources; k++)
            buf_deinit(&changed.text[k]);
    }
    record_deinit(&plain.record);
    return wrong;
}

static void wrapped_outputs(void **state)
{
    (void)state;
    size_t outputs = 0, wrong = samples_each(getenv("WRAPPED"), sample_wrap, &outputs);
    print_message("%zu outputs wrapped in %zu ways\n", outputs, sizeof(wraps) / sizeof(wraps[0]));
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrapped_outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
