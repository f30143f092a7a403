/* tokenizer.c: tokenizer.json by hand: merges by rank, cutting, added tokens, bytes; and what is refused. The libraries themselves are compared
 * with in tests/cli/t1330. */
#include "benchmarks/native/llmload/tokens/bpe_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* Ids as "1 2 3"; the error's text where there is one. */
static const char *encode(const char *json, const char *text)
{
    static char line[400];
    struct bpe_file *f = NULL;
    struct err err = {0};
    struct ids ids CLEANUP_IDS = {0};
    size_t n = 0;
    line[0] = 0;
    if (bpe_file_parse(&f, str_of(json), &err) < 0 || bpe_file_encode(f, str_of(text), &ids, &err) < 0)
        snprintf(line, sizeof line, "%.390s", err.text);
    for (size_t i = 0; i < ids.n && n < sizeof line - 12; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%u", i ? " " : "", ids.id[i]);
    bpe_file_free(f);
    return line;
}

#define VOCAB "{\"a\":0,\"b\":1,\"c\":2,\"ab\":3,\"bc\":4,\"abc\":5,\"\u0120\":6,\"\u0120a\":7,\"\u00c3\":8,\"\u00a9\":9}"
#define MODEL(vocab, merges, more) "\"model\":{\"type\":\"BPE\",\"vocab\":" vocab ",\"merges\":" merges more "}"
#define BYTES "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"

static void merges_go_by_rank(void **state)
{
    (void)state;
    assert_string_equal(encode("{" MODEL(VOCAB, "[\"b c\",\"a b\",\"a bc\"]", "") "," BYTES "}", "abc ab"), "5 6 3");
    assert_string_equal(encode("{" MODEL(VOCAB, "[[\"a\",\"b\"],[\"b\",\"c\"]]", "") "," BYTES "}", "abcbc"), "3 2 4");
    assert_string_equal(encode("{" MODEL(VOCAB, "[\"\u0120 a\"]", "") "," BYTES "}", "a a"), "0 7");
    assert_string_equal(encode("{" MODEL(VOCAB, "[]", ",\"ignore_merges\":true") "," BYTES "}", "abc"), "5");
}

static void bytes_and_unknown(void **state)
{
    (void)state;
    assert_string_equal(encode("{" MODEL(VOCAB, "[]", "") "," BYTES "}", "\xc3\xa9z"), "8 9"); /* z is not there, and no token for that either */
    assert_string_equal(encode("{" MODEL("{\"<u>\":0,\"a\":1}", "[]", ",\"unk_token\":\"<u>\",\"fuse_unk\":true") "}", "xyaz"), "0 1 0");
    assert_string_equal(encode("{" MODEL("{\"<u>\":0,\"a\":1}", "[]", ",\"unk_token\":\"<u>\"") "}", "xya"), "0 0 1");
}

static void added_tokens_are_cut_out(void **state)
{
    (void)state;
    const char *json = "{" MODEL(VOCAB, "[\"a b\"]", "") "," BYTES ",\"added_tokens\":[{\"id\":20,\"content\":\"<x>\",\"special\":true},"
                       "{\"id\":21,\"content\":\"<x>>\",\"lstrip\":true,\"rstrip\":true}],\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":"
                       "[{\"SpecialToken\":{\"id\":\"<x>\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}]}}";
    struct bpe_file *f = NULL;
    assert_string_equal(encode(json, "ab<x>ab <x>>\xc2\xa0 a<x"), "3 20 3 21 0");
    assert_int_equal(bpe_file_parse(&f, str_of(json), NULL), 0);
    assert_int_equal(bpe_file_size(f) > 21, true);
    struct buf b CLEANUP_BUF;
    buf_init(&b, 100);
    assert_true(bpe_file_text(f, 7, &b));
    assert_string_equal(b.p, " a");
    assert_false(bpe_file_text(f, 20, &b) || bpe_file_text(f, 15, &b) || bpe_file_text(f, 4000000, &b));
    bpe_file_free(f);
}

static void what_would_count_wrongly_is_refused(void **state)
{
    static const char *const rows[][2] = {
        {"[]", "model/vocab is missing"},
        {"{\"model\":{\"type\":\"WordPiece\",\"vocab\":{}}}", "the model is of type \"WordPiece\""},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":-1}}}", "model/vocab, \"a\": the token id -1"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1,\"b\":1}}}", "two tokens have the id 1"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[\"a b\"]}}", "model/merges: merge 1: it or a part of it"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"continuing_subword_prefix\":\"##\"}}", "continuing_subword_prefix is not supported"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{}},\"normalizer\":{\"type\":\"Precompiled\"}}", "normalizer: the step \"Precompiled\" is not known"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{}},\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"},\"behavior\":\"Isolated\"}}", "missing closing parenthesis"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{}},\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Never\"}}", "the behavior \"Never\""},
        {"{", "not valid JSON"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strstr(encode(rows[i][0], "a"), rows[i][1]))
            fail_msg("row %zu: %s", i, encode(rows[i][0], "a"));
}

static void a_hostile_pattern_gives_up(void **state)
{
    char text[4001];
    (void)state;
    memset(text, 'a', 4000);
    text[4000] = 0;
    const char *json = "{" MODEL(VOCAB, "[]", "") ",\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a|a)*(a|a)*(a|a)*[!?]\"},\"behavior\":\"Isolated\"}}";
    assert_string_equal(encode(json, text), "a pattern of the tokenizer failed in a text of 4000 bytes: match limit exceeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_go_by_rank), cmocka_unit_test(bytes_and_unknown), cmocka_unit_test(added_tokens_are_cut_out),
        cmocka_unit_test(what_would_count_wrongly_is_refused), cmocka_unit_test(a_hostile_pattern_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
