/* An output gives the same values with colours, ranks, time stamps, CRLF or a byte order mark around its lines, in all entries of the catalogue: terminals,
 * launchers, log collectors and editors put them there. WRAPPED=NAME: that entry alone. */
/* quick: no, because every sample of the catalogue is wrapped */
#include "rules_sample.h"

#include <ctype.h>
#include <math.h>
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
    {"docker compose", "", "solver-1  | ", ""},
    {"docker compose, a name of its own", "", "solver    | ", ""},
    {"docker compose, time stamps", "", "solver-1  | 2026-11-23T12:00:01.123456789Z ", ""},
    {"pdsh", "", "qq07: ", ""},
    {"syslog", "", "Nov 23 12:00:01 qq07 job[77]: ", ""},
    {"syslog, ISO 8601", "", "2026-11-23T12:00:01.123456+01:00 qq07 job[77]: ", ""},
    {"quoted", "", "> ", ""},
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

/* Of one or two lines with "word: " or "word | " in front nothing says that the word is a host or a container. */
static bool is_short(const struct sample *s, const struct wrap *w)
{
    bool plain = strcmp(w->what, "pdsh") == 0 || strcmp(w->what, "docker compose, a name of its own") == 0;
    size_t most = 0;
    for (size_t k = 0; k < s->sources; k++) {
        size_t lines = 0;
        for (struct str rest = buf_text(&s->text[k]); rest.n && memchr(rest.p, '\n', rest.n);)
            lines += str_trim(str_cut(&rest, '\n')).n > 0;
        if (lines < 3 && s->text[k].n)
            return plain;
        most = lines > most ? lines : most;
    }
    return most < 3 && plain;
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
        if (is_double(s, &wraps[i]) || is_short(s, &wraps[i]))
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

/* How programs print numbers in locales: between groups of three digits, and before the fraction. */
static const struct notation {
    const char *group, *point;
} notations[] = {{" ", "."},  {",", "."},           {" ", ","},           {".", ","}, {"", ","},
                 {"'", "."}, {"\xe2\x80\xaf", ","}, {"\xc2\xa0", ","}, {"\xe2\x80\x89", "."}, {"\xe2\x80\x99", "."}};

/* A failed run has these values from another line of the output, which prints them with other digits or below another name. */
static const char *const doubled[] = {"criterion/long-name",  "hpcg/made-two-reports", "hyperfine/list",         "md-workbench/made-two-runs",
                                      "redis-benchmark/made-two-formats", "reframe/report", "taskrate/local-answer", "taskrate/local-sweep-text",
                                      "taskrate/local-table"};

static bool is_doubled(const struct sample *s)
{
    char name[200];
    snprintf(name, sizeof(name), "%s/%s", s->entry, s->name);
    for (size_t i = 0; i < sizeof(doubled) / sizeof(doubled[0]); i++)
        if (strcmp(doubled[i], name) == 0)
            return true;
    return false;
}

/* A decimal comma is a field's end as well where commas separate fields. */
static bool is_ambiguous(const struct sample *s, const struct notation *w)
{
    return strcmp(s->entry, "ior") == 0 && strstr(s->name, "-csv-") && w->point[0] == ',';
}

/* Length of "1234.5" or longer at i; *ret: of its digits before the point. 0: no such number. */
static size_t long_number(struct str text, size_t i, size_t least, size_t *ret)
{
    size_t to = i;
    if (i && (isalnum((unsigned char)text.p[i - 1]) || strchr("._-", text.p[i - 1])))
        return 0;
    while (to < text.n && isdigit((unsigned char)text.p[to]))
        to++;
    *ret = to - i;
    if (*ret > 9 || (*ret == 4 && str_starts(str_sub(text, i, text.n), "20"))) /* a time, a year: programs print these in all locales alike */
        return 0;
    if (*ret < least || to + 1 >= text.n || text.p[to] != '.' || !isdigit((unsigned char)text.p[to + 1]))
        return 0;
    for (to++; to < text.n && isdigit((unsigned char)text.p[to]); to++)
        ;
    return to < text.n && !isblank((unsigned char)text.p[to]) && text.p[to] != '\n' && text.p[to] != ',' && text.p[to] != ']' &&
                   text.p[to] != '}'
               ? 0
               : to - i;
}

/* The text with its numbers in this notation, or, if one, the number of this place alone. Returns how many numbers there are. */
static size_t text_group(struct str text, const struct notation *w, size_t one, struct buf *ret)
{
    size_t n = 0, whole = 0, length;
    buf_init(ret, (size_t)16 << 20);
    for (size_t i = 0; i < text.n; i++) {
        if (!isdigit((unsigned char)text.p[i]) || !(length = long_number(text, i, w->group[0] ? 4 : 1, &whole)) || (++n != one && one)) {
            buf_putc(ret, text.p[i]);
            continue;
        }
        for (size_t k = 0; k < whole; k++) {
            if (k && (whole - k) % 3 == 0)
                buf_puts(ret, w->group);
            buf_putc(ret, text.p[i + k]);
        }
        buf_puts(ret, w->point);
        buf_add(ret, text.p + i + whole + 1, length - whole - 1);
        i += length - 1;
    }
    assert_false(ret->failed);
    return n;
}

/* A metric of a that b does not have. rough: a value with fewer digits is the same, because a failed run may have the program's second print of it. */
static const struct fact *other_value(const struct answer *a, const struct answer *b, bool rough)
{
    for (const struct fact *f = next_metric(a->record.first), *w; f; f = next_metric(f->next)) {
        for (w = next_metric(b->record.first); w; w = next_metric(w->next))
            if (str_eq(f->key, w->key) && f->step == w->step && (f->value == w->value || (rough && fabs(f->value - w->value) <= 0.2 * fabs(w->value))))
                break;
        if (!w)
            return f;
    }
    return NULL;
}

static size_t sample_notation(struct sample *s, const struct answer *plain, const struct notation *w, size_t one, size_t *ret_n)
{
    struct sample changed = *s;
    struct answer answer;
    *ret_n = 0;
    for (size_t k = 0; k < s->sources; k++) {
        size_t n = text_group(buf_text(&s->text[k]), w, one, &changed.text[k]);
        *ret_n = n > *ret_n ? n : *ret_n;
    }
    answer_get(&changed, SIZE_MAX, &answer);
    const struct fact *other = other_value(&answer, plain, answer.out.verdict == VERDICT_FAIL);
    if (other && answer.out.verdict == VERDICT_FAIL && is_doubled(s))
        other = NULL;
    bool passes = answer.out.verdict == VERDICT_PASS && !answer_equal(plain, &answer);
    bool fewer = passes && other_value(plain, &answer, false) && answer.out.metrics == plain->out.metrics;
    if (other || fewer)
        print_message("wrong: %s/%s, group \"%s\", point \"%s\", number %zu: " STR_FMT " = %.17g, %s: %s\n", s->entry, s->name, w->group,
                      w->point, one, STR_ARG(other ? other->key : str_of("fewer values")), other ? other->value : 0,
                      passes ? "passes" : "fails", answer.out.reason ? answer.out.reason : "");
    record_deinit(&answer.record);
    for (size_t k = 0; k < s->sources; k++)
        buf_deinit(&changed.text[k]);
    return other || fewer;
}

static size_t sample_group(struct sample *s)
{
    struct answer plain;
    size_t wrong = 0, n;
    answer_get(s, SIZE_MAX, &plain);
    for (size_t i = 0; i < sizeof(notations) / sizeof(notations[0]); i++) {
        if (is_ambiguous(s, &notations[i]))
            continue;
        wrong += sample_notation(s, &plain, &notations[i], 0, &n);
        for (size_t k = 0; k < 3 && n > 1; k++) { /* the first, one in the middle, the last */
            size_t again;
            wrong += sample_notation(s, &plain, &notations[i], 1 + (n - 1) * k / 2, &again);
        }
    }
    record_deinit(&plain.record);
    return wrong;
}

/* A number in a notation that the rules do not know leaves no other value behind, and no statistic of fewer rows. */
static void grouped_numbers(void **state)
{
    (void)state;
    size_t outputs = 0, wrong = samples_each(getenv("WRAPPED"), sample_group, &outputs);
    print_message("%zu outputs with numbers in %zu notations\n", outputs, sizeof(notations) / sizeof(notations[0]));
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrapped_outputs), cmocka_unit_test(grouped_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
