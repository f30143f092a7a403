/* prompts.c: lengths, made-up prompts, data sets of every kind, mistakes named by line, scoring by log-probabilities. */
#include "benchmarks/native/llmload/prompts/dataset.h"
#include "benchmarks/native/llmload/prompts/lengths.h"
#include "benchmarks/native/llmload/prompts/rows.h"
#include "benchmarks/native/llmload/prompts/scoring.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct opt_row rows[] = {
#define OPTION(name, letter, kind, arg, env, value, group, help) {name, letter, kind, arg, env, value, group, help, 0},
    OPTION("requests", 0, OPT_INT, "N", NULL, NULL, "", "") OPTION("duration", 0, OPT_DURATION, "D", NULL, NULL, "", "")
#include "benchmarks/native/llmload/prompts/prompts.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The first prompt of these options; the error's text where there is one. */
static struct prompt_source *open_source(struct load *load, const char *line, struct err *err)
{
    static struct opt_value values[ROWS];
    static char text[1000], *argv[20];
    static struct opt_kept *kept; /* sources point into it */
    struct opt_set set = {.rows = rows, .count = ROWS, .values = values, .kept = kept};
    struct prompt_source *source = NULL;
    int argc = 1, next;
    snprintf(text, sizeof text, "%s", line);
    argv[0] = text + strlen(text);
    for (char *p = strtok(text, " "); p; p = strtok(NULL, " "))
        argv[argc++] = p;
    argv[argc] = NULL;
    opt_defaults(&set, NULL);
    assert_int_equal(opt_parse(&set, argc, argv, &next, NULL), 0);
    kept = set.kept;
    if (prompts_open(&source, &set, load, err) < 0)
        return NULL;
    return source;
}

static struct prompt get(struct prompt_source *s, uint64_t index, struct buf *scratch)
{
    struct prompt p;
    buf_clear(scratch);
    assert_int_equal(s->make(s, &(struct prompt_want){.index = index, .session = index}, scratch, &p, NULL), 0);
    return p;
}

static size_t words(struct str s)
{
    size_t n = 0;
    while (str_word(&s).n)
        n++;
    return n;
}

static void lengths_have_their_moments(void **state)
{
    static const struct {
        const char *text;
        double mean, sd;
    } cases[] = {
        {"128", 128, 0}, {"64-512", 288, 129.6}, {"uniform:10,20", 15, 3.162}, {"normal:500,50", 500, 50}, {"lognormal:512,256", 512, 256},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lengths l;
        double sum = 0, squares = 0;
        enum { N = 200000 };
        assert_int_equal(lengths_read(&l, cases[i].text, "x", NULL, NULL), 0);
        for (uint64_t k = 0; k < N; k++) {
            double v = lengths_at(&l, 7, 1, k);
            sum += v;
            squares += v * v;
        }
        double mean = sum / N, sd = sqrt(fmax(squares / N - mean * mean, 0));
        if (fabs(mean - cases[i].mean) > 0.01 * cases[i].mean || fabs(sd - cases[i].sd) > 0.03 * cases[i].sd + 0.01)
            fail_msg("%s: mean %g, deviation %g", cases[i].text, mean, sd);
    }
    struct lengths l;
    struct err err = {0};
    assert_int_equal(lengths_read(&l, "normal:100,90@50-120", "x", NULL, NULL), 0);
    for (uint64_t k = 0; k < 1000; k++)
        assert_true(lengths_at(&l, 1, 1, k) >= 50 && lengths_at(&l, 1, 1, k) <= 120);
    static const char *const bad[] = {"", "-5", "0", "5-", "9-3", "normal:5", "lognormal:0,3", "1.5", "5@", "5@9-3", "abc", "99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (lengths_read(&l, bad[i], "x", NULL, &err) == 0)
            fail_msg("\"%s\" was taken", bad[i]);
}

static void made_up_prompts_are_as_long_as_wanted(void **state)
{
    struct load load = {.seed = 3, .dialect = DIALECT_COMPLETIONS};
    struct buf a CLEANUP_BUF, b CLEANUP_BUF;
    struct err err = {0};
    (void)state;
    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    struct prompt_source *s = open_source(&load, "--input-tokens 40 --output-tokens 7 --prefix-tokens 10 --prefixes 2", &err), *again;
    assert_non_null(s);
    struct prompt p = get(s, 5, &a), q = get(s, 6, &b);
    assert_int_equal(p.input_tokens, 50);
    assert_int_equal(p.output_tokens, 7);
    assert_int_equal(words(p.text), 50);
    assert_false(str_eq(p.text, q.text));
    again = open_source(&load, "--input-tokens 40 --output-tokens 7 --prefix-tokens 10 --prefixes 2", &err);
    q = get(again, 5, &b);
    assert_true(str_eq(p.text, q.text)); /* on every machine, whatever was made before */
    uint64_t blocks[] = {77, 78};
    struct prompt_want want = {.index = 1, .input_tokens = 600, .blocks = blocks, .block_count = 2},
                       other = {.index = 2, .input_tokens = 520, .blocks = blocks, .block_count = 2};
    s->close(s);
    again->close(again);
    s = open_source(&load, "--input-tokens 40", &err);
    buf_clear(&a), buf_clear(&b);
    s->make(s, &want, &a, &p, NULL);
    s->make(s, &other, &b, &q, NULL);
    assert_int_equal(words(p.text), 600);
    assert_int_equal(words(q.text), 520);
    assert_true(str_starts(p.text, b.p)); /* equal blocks are equal text */
    s->close(s);
    s = open_source(&load, "--input-tokens 12 --prompt-ids --vocabulary 1000", &err);
    p = get(s, 0, &a);
    assert_int_equal(p.input_source, TOKENS_IDS);
    assert_true(p.ids.p[0] == '[' && p.ids.p[p.ids.n - 1] == ']');
    size_t commas = 0;
    for (size_t i = 0; i < p.ids.n; i++)
        commas += p.ids.p[i] == ',';
    assert_int_equal(commas, 11);
    s->close(s);
}

static const char *write_file(const char *text)
{
    static char path[] = "/tmp/benchwrap-prompts-XXXXXX";
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    fputs(text, f);
    fclose(f);
    return path;
}

static struct prompt_source *open_rows(struct load *load, const char *text, const char *more, struct err *err)
{
    char line[400];
    const char *path = write_file(text);
    snprintf(line, sizeof line, "--dataset %s %s", path, more);
    struct prompt_source *s = open_source(load, line, err);
    remove(path);
    return s;
}

static void rows_of_every_kind_are_read(void **state)
{
    static const struct {
        enum dialect dialect;
        const char *rows, *name, *text, *messages;
        uint32_t output;
    } cases[] = {
        {DIALECT_CHAT, "{\"instruction\":\"do\",\"input\":\"\",\"output\":\"x\"}", "prompts", "do", "", 0},
        {DIALECT_CHAT, "{\"instruction\":\"do\",\"input\":\"this\",\"output\":\"x\"}", "prompts", "do\n\nthis", "", 0},
        {DIALECT_CHAT, "{\"instruction\":\"do\",\"context\":\"that\",\"response\":\"x\"}", "prompts", "do\n\nthat", "", 0},
        {DIALECT_CHAT,
         "[\n {\"id\":1,\"conversations\":[]},{\"conversations\":[{\"from\":\"human\",\"value\":\"hi\"},{\"from\":\"gpt\",\"value\":\"yo\"},{\"from\":\"human\",\"value\":\"more\"}]}]",
         "sharegpt", "hi", "", 0},
        {DIALECT_CHAT,
         "{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":\"a\"}],\"max_tokens\":9}",
         "openai", "", "{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"u\"}", 9},
        {DIALECT_COMPLETIONS,
         "{\"custom_id\":\"x\",\"body\":{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"u\"},{\"type\":\"text\",\"text\":\"v\"}]}]}}",
         "openai", "u\nv", "", 0},
        {DIALECT_COMPLETIONS, "\n{\"prompt\":\"p\xc3\xa9\",\"output_tokens\":3}\n", "prompts", "p\xc3\xa9", "", 3},
        {DIALECT_CHAT, "{\"prompt\":\"a\",\"output_tokens\":null,\"max_tokens\":4.0}", "prompts", "a", "", 4},
        {DIALECT_CHAT,
         "{\"ctx_a\":\"A man [x]is.\",\"ctx_b\":\"he  Runs\",\"activity_label\":\"Sport\",\"endings\":[\"a\",\"b\"],\"label\":\"\"}",
         "choices", "Sport: A man is. He runs", "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct load load = {.dialect = cases[i].dialect};
        struct err err = {0};
        struct prompt_source *s = open_rows(&load, cases[i].rows, "", &err);
        if (!s)
            fail_msg("row %zu: %s", i, err.text);
        struct buf scratch CLEANUP_BUF;
        buf_init(&scratch, 1000);
        struct prompt p = get(s, 0, &scratch);
        assert_string_equal(s->name, cases[i].name);
        assert_true(str_is(p.text, cases[i].text));
        assert_true(str_is(p.messages, cases[i].messages));
        assert_int_equal(p.output_tokens, cases[i].output);
        if (i == 3) {
            assert_int_equal(s->make(s, &(struct prompt_want){.turn = 1}, &scratch, &p, NULL), 0);
            assert_true(str_is(p.text, "more"));
        }
        s->close(s);
    }
}

static void mistakes_are_named_by_line(void **state)
{
    static const struct {
        const char *rows, *more, *want;
    } cases[] = {
        {"{\"prompt\":\"a\"}\n\n{\"prompt\":}\n", "", ", line 3: column 11: not valid JSON"},
        {"{\"prompt\":\"a\"}\n{\"no\":1}\n", "", ", line 2: no prompt, messages"},
        {"[{\"prompt\":\"a\"},\n\n{\"prompt\":5}]", "", ", line 3: no prompt"},
        {"[{\"prompt\":\"a\"}", "", ", line 1: expected a comma or the end of the array, got the end of the file"},
        {"{\"prompt\":\"a\\u0000b\"}", "", "holds no prompt; of the first row skipped: its text holds a NUL"},
        {"{\"conversations\":[{\"from\":\"gpt\",\"value\":\"a\"}]}", "",
         "holds no prompt; of the first row skipped: it has no turn of a human"},
        {"{\"prompt\":null}\n{\"prompt\":\"\"}", "", "of the first row skipped: its prompt is empty"},
        {"{\"conversations\":[{\"from\":\"human\",\"value\":null}]}", "", "of the first row skipped: a turn of the conversation has no text"},
        {"{\"prompt\":\"\xff\"}", "", ", line 1: not valid UTF-8"},
        {"{\"prompt\":[1,-2]}", "", "token ids as a prompt: only the completions API"},
        {"{\"prompt\":\"a\"}", "--score letters", "--score: expected a row with choices"},
        {"{\"question\":\"a\",\"choices\":[\"x\",\"y\"]}", "--score letters", "does not state which choice is right"},
        {"{\"question\":\"a\",\"choices\":[\"x\",\"y\"],\"answer\":5}", "--score letters", "does not state which choice is right"},
        {"{\"prompt\":\"a\",\"max_tokens\":-1}", "", "of the first row skipped: its \"max_tokens\" is no integer from 1 to 10000000"},
        {"{\"prompt\":\"a\",\"max_tokens\":\"7\"}", "", "its \"max_tokens\" is no integer"},
        {"{\"prompt\":\"a\",\"output_tokens\":2.5,\"max_tokens\":3}", "", "its \"output_tokens\" is no integer"},
        {"{\"question\":\"a\",\"choices\":[\"x\",\"y\"],\"max_tokens\":0}", "", "its \"max_tokens\" is no integer"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"max_tokens\":1e12}", "", "its \"max_tokens\" is no integer"},
        {"{\"conversations\":[{\"from\":\"human\",\"value\":\"a\"}],\"max_tokens\":true}", "", "its \"max_tokens\" is no integer"},
        {"{\"messages\":[{\"role\":\"user\"}]}", "", "expected a message with role and content"},
        {"\n\n", "", "holds no prompt"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct load load = {.dialect = DIALECT_CHAT};
        struct err err = {0};
        struct prompt_source *s = open_rows(&load, cases[i].rows, cases[i].more, &err);
        if (s || !strstr(err.text, cases[i].want))
            fail_msg("row %zu: %s", i, s ? "taken" : err.text);
    }
}

static int count_row(void *to, const struct json *row, struct str text, size_t line, struct err *err)
{
    (void)row, (void)text, (void)line, (void)err;
    ++*(int *)to;
    return 0;
}

/* A NUL would cut a text off: its row is skipped, counted, and the first one named. Bytes that are no text end the reading. */
static void rows_of_strange_bytes_are_not_taken(void **state)
{
    static const struct {
        struct str rows;
        bool as_text;
        size_t skipped, line;
        int taken;
        const char *want;
    } cases[] = {
        {STR("{\"prompt\":\"a\0b\"}"), false, 1, 1, 0, ""},
        {STR("[{\"a\":1},\n{\"prompt\":\"a\0b\"},{\"prompt\":\"a\\u0000b\"},\n{\"a\":2}]"), false, 2, 2, 2, ""},
        {STR("{\"a\":1}\n\n{\"b\":\"\\u0000\"}\n{\"c\":\"\\\\u0000\"}\n"), false, 1, 3, 2, ""},
        {STR("one\ntwo\0\nthree\n"), true, 1, 2, 2, ""},
        {STR("[\n{\"prompt\":\"\xff\"}]"), false, 0, 0, 0, "f, line 2: not valid UTF-8"},
        {STR("{\"p\":\"\\ud83d\\ude00\"}\n{\"p\":\"a\\ud800b\"}\n{\"p\":\"\\uDE00\"}\n{\"p\":\"\\\\ud800\"}\n{\"p\":\"\\ud800\\u0041\"}"), false, 3, 2, 2, ""},
        {STR("[{\"p\":\"}\\\"\\ud800\",\"q\":[{}]},\n{\"p\":\"b\"}]"), false, 1, 1, 1, ""},
        {STR("[{\"p\":\"\\ud800\"]"), false, 1, 1, 0, "f, line 1: expected a comma or the end of the array, got the end of the file"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct rows_skipped skipped;
        int taken = 0;
        assert_int_equal(rows_parse("f", cases[i].rows, cases[i].as_text, count_row, &taken, &skipped, &err), *cases[i].want ? -1 : 0);
        assert_non_null(strstr(err.text, cases[i].want));
        assert_int_equal(taken, cases[i].taken);
        assert_int_equal(skipped.count, cases[i].skipped);
        assert_int_equal(skipped.line, cases[i].line);
        assert_int_equal(*skipped.why != 0, skipped.count != 0);
    }
}

static void each_row_comes_once_when_shuffled(void **state)
{
    struct load load = {.dialect = DIALECT_CHAT, .seed = 5};
    struct buf text CLEANUP_BUF, scratch CLEANUP_BUF;
    int seen[100] = {0}, moved = 0;
    (void)state;
    buf_init(&text, 10000);
    buf_init(&scratch, 1000);
    for (int i = 0; i < 100; i++)
        buf_printf(&text, "{\"prompt\":\"%d\"}\n", i);
    struct prompt_source *s = open_rows(&load, text.p, "--shuffle", NULL);
    for (int i = 0; i < 100; i++) {
        struct prompt p = get(s, (uint64_t)i, &scratch);
        seen[p.item]++;
        moved += p.item != (uint64_t)i;
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    assert_true(moved > 80);
    s->close(s);
}

static void answer(struct scoring *score, uint64_t item, const char *body)
{
    struct request_result r = {.item = item, .body = str_of(body)};
    scoring_sink(score)->take(scoring_sink(score), 0, &r);
}

static void endings_are_scored_by_their_tokens(void **state)
{
    struct load load = {.dialect = DIALECT_COMPLETIONS, .stream = true};
    struct scoring *score;
    struct score_figures f;
    struct err err = {0};
    (void)state;
    struct prompt_source *s = open_rows(
        &load,
        "{\"ctx\":\"\xc3\xa9t\",\"endings\":[\"a\",\"long ending\"],\"label\":1}\n{\"ctx\":\"x\",\"endings\":[\"a\",\"b\"],\"label\":\"0\"}\n",
        "--score endings", &err);
    if (!s)
        fail_msg("%s", err.text);
    assert_int_equal(load.requests, 4);
    assert_false(load.stream);
    assert_int_equal(scoring_new(&score, s, NULL), 0);
    /* The ending begins behind 2 characters; the token made after the prompt does not count. */
    answer(score, 0, "{\"choices\":[{\"logprobs\":{\"token_logprobs\":[null,-1.0,-2.0,-50],\"text_offset\":[0,1,2,4]}}]}");
    answer(score, 1, "{\"choices\":[{\"logprobs\":{\"token_logprobs\":[null,-1.0,-2.0,-2.5,-50],\"text_offset\":[0,1,2,7,14]}}]}");
    answer(score, 2, "{\"choices\":[{\"logprobs\":{\"token_logprobs\":[null,-1.0],\"text_offset\":[0,1]}}]}");
    answer(score, 3, "{\"choices\":[{\"logprobs\":null}]}");
    scoring_figures(score, &f);
    assert_int_equal(f.scored, 1);
    assert_int_equal(f.right, 0); /* -2 is more than -4.5 */
    assert_int_equal(f.right_normal, 1); /* -4.5 / 11 is more than -2 / 1 */
    assert_non_null(strstr(f.why, "does not echo"));
    scoring_free(score);
    s->close(s);
}

static void letters_are_scored_by_the_best(void **state)
{
    struct load load = {.dialect = DIALECT_CHAT};
    struct scoring *score;
    struct score_figures f;
    (void)state;
    struct prompt_source *s = open_rows(
        &load,
        "{\"question\":\"q\",\"choices\":{\"text\":[\"a\",\"b\"],\"label\":[\"1\",\"2\"]},\"answerKey\":\"2\"}\n{\"question\":\"q\",\"options\":[\"a\",\"b\"],\"answer\":\"B\"}\n",
        "--score letters", NULL);
    assert_int_equal(scoring_new(&score, s, NULL), 0);
    answer(
        score, 0,
        "{\"choices\":[{\"logprobs\":{\"content\":[{\"token\":\"x\",\"top_logprobs\":[{\"token\":\" B\",\"logprob\":-0.5},{\"token\":\"A\",\"logprob\":-0.9}]}]}}]}");
    answer(score, 1, "{\"choices\":[{\"logprobs\":{\"top_logprobs\":[{\" A\":-0.1,\"B\":-3}]}}]}");
    scoring_figures(score, &f);
    assert_int_equal(f.scored, 2);
    assert_int_equal(f.right, 1);
    assert_true(f.low > 0 && f.low < 0.5 && f.high > 0.5 && f.high < 1);
    scoring_free(score);
    s->close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_have_their_moments),          cmocka_unit_test(made_up_prompts_are_as_long_as_wanted),
        cmocka_unit_test(rows_of_every_kind_are_read),         cmocka_unit_test(mistakes_are_named_by_line),
        cmocka_unit_test(rows_of_strange_bytes_are_not_taken), cmocka_unit_test(each_row_comes_once_when_shuffled),
        cmocka_unit_test(endings_are_scored_by_their_tokens),  cmocka_unit_test(letters_are_scored_by_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
