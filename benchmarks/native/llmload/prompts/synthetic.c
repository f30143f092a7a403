/* synthetic.c: made-up prompts of the requested lengths: words that are one token each, drawn by
 * (seed, index), behind shared prefixes or a trace's blocks. */
#include "benchmarks/native/llmload/prompts/lengths.h"
#include "benchmarks/native/llmload/prompts/prompts.h"
#include "benchmarks/native/llmload/random.h"
#include "benchmarks/native/llmload/tokens/tokenizer.h"

#include <stdlib.h>

enum { PIECES_MAX = 4096, BLOCK_TOKENS = 512 /* of Mooncake's hash_ids */, CHECKS = 24, PREFIXES_MAX = 100000 };
/* Streams of random numbers; blocks and prefixes have one each, by their number. */
enum { STREAM_INPUT = 1, STREAM_OUTPUT, STREAM_WORDS, STREAM_CHECK, STREAM_PREFIX = 1 << 8, STREAM_BLOCK = 1 << 9 };

/* Frequent English words, a token or little more each, with the blank before it, in the
 * vocabularies in use. */
static const char *const common[] = {
    "time",      "people",   "way",      "day",      "man",     "thing",       "woman",   "life",   "child",    "world",     "school",
    "state",     "family",   "student",  "group",    "country", "problem",     "hand",    "part",   "place",    "case",      "week",
    "company",   "system",   "program",  "question", "work",    "number",      "night",   "point",  "home",     "water",     "room",
    "mother",    "area",     "money",    "story",    "fact",    "month",       "lot",     "right",  "study",    "book",      "eye",
    "job",       "word",     "business", "issue",    "side",    "kind",        "head",    "house",  "service",  "friend",    "father",
    "power",     "hour",     "game",     "line",     "end",     "member",      "law",     "car",    "city",     "community", "name",
    "president", "team",     "minute",   "idea",     "body",    "information", "back",    "parent", "face",     "others",    "level",
    "office",    "door",     "health",   "person",   "art",     "war",         "history", "party",  "result",   "change",    "morning",
    "reason",    "research", "girl",     "guy",      "moment",  "air",         "teacher", "force",  "education"};
enum { COMMON = sizeof common / sizeof *common };

struct token_piece {
    struct str text; /* with its blank */
    uint32_t id;
};

struct synthetic {
    struct prompt_source source;
    struct tokenizer *tokenizer;
    struct lengths input, output;
    const char *input_text, *output_text; /* as typed */
    bool by_trace; /* a trace's lengths go before them */
    struct arena arena;
    struct token_piece *pieces;
    size_t piece_count;
    uint64_t seed, prefixes;
    uint32_t prefix_tokens, id_low, id_high; /* ids without a tokenizer */
    bool as_ids, blank_first, exact; /* exact: so many words are so many tokens, as was tried */
};

static const struct synthetic *synthetic_of(const struct prompt_source *source)
{
    return (const struct synthetic *)(const void *)source;
}

uint32_t prompts_count(const struct tokenizer *tokenizer, struct str text)
{
    long n = tokenizer ? tokenizer_count(tokenizer, text, NULL) : 0;
    return n > 0 ? (uint32_t)n : 0;
}

static uint32_t synthetic_count_tokens(const struct prompt_source *source, struct str text)
{
    return prompts_count(synthetic_of(source)->tokenizer, text);
}

static bool comma_wanted(const struct buf *to)
{
    return to->n && to->p[to->n - 1] != '[';
}

/* So many tokens of one stream. */
static void synthetic_add_tokens(const struct synthetic *s, struct buf *to, uint64_t stream, uint64_t from, uint32_t tokens)
{
    for (uint32_t i = 0; i < tokens; i++) {
        uint64_t r = random_at(s->seed, stream, from + i);
        if (s->as_ids) {
            uint32_t id = s->piece_count ? s->pieces[random_below(r, s->piece_count)].id
                                         : s->id_low + (uint32_t)random_below(r, s->id_high - s->id_low);
            buf_printf(to, comma_wanted(to) ? ",%u" : "%u", id);
            continue;
        }
        struct str text = s->pieces[random_below(r, s->piece_count)].text;
        buf_str(to, !to->n && !s->blank_first ? str_sub(text, 1, text.n) : text);
    }
}

/* Appends so many tokens: those of the trace's blocks first, the rest by the request's index. */
static void add_blocks(const struct synthetic *s, struct buf *to, const struct prompt_want *want, uint32_t tokens)
{
    for (size_t i = 0; i < want->block_count && tokens; i++) {
        uint32_t part = tokens < BLOCK_TOKENS ? tokens : BLOCK_TOKENS;
        synthetic_add_tokens(s, to, random_at(s->seed, STREAM_BLOCK, want->blocks[i]), 0, part);
        tokens -= part;
    }
    synthetic_add_tokens(s, to, random_at(s->seed, STREAM_WORDS, want->index), 0, tokens);
}

/* Where words are not one token each: as many words as come nearest to the requested number from
 * below, found by halving. */
static void add_fitting(const struct synthetic *s, struct buf *to, const struct prompt_want *want, uint32_t tokens, uint32_t already)
{
    uint32_t low = 1, high = tokens;
    size_t begin = to->n;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        to->n = begin;
        add_blocks(s, to, want, middle);
        if (to->failed || prompts_count(s->tokenizer, buf_text(to)) > tokens + already)
            high = middle - 1;
        else
            low = middle;
    }
    to->n = begin;
    add_blocks(s, to, want, low);
}

/* Writes the prompt of the wished length into `scratch`, which owns its text. Returns 0, or another
 * value with *err when it does not fit. */
static int synthetic_make_prompt(const struct prompt_source *source, const struct prompt_want *want, struct buf *scratch,
                                 struct prompt *ret, struct err *err)
{
    const struct synthetic *s = synthetic_of(source);
    uint32_t tokens = want->input_tokens ? want->input_tokens : lengths_at(&s->input, s->seed, STREAM_INPUT, want->index);
    *ret = (struct prompt){.item = UINT64_MAX,
                           .output_tokens =
                               want->output_tokens ? want->output_tokens : lengths_at(&s->output, s->seed, STREAM_OUTPUT, want->index)};
    if (s->as_ids)
        buf_putc(scratch, '[');
    if (s->prefix_tokens) {
        uint64_t which = random_below(random_at(s->seed, STREAM_PREFIX, want->session), s->prefixes);
        synthetic_add_tokens(s, scratch, random_at(s->seed, STREAM_PREFIX + 1, which), 0, s->prefix_tokens);
    }
    if (s->tokenizer && !s->exact && !s->as_ids)
        add_fitting(s, scratch, want, tokens, prompts_count(s->tokenizer, buf_text(scratch)));
    else
        add_blocks(s, scratch, want, tokens);
    if (s->as_ids)
        buf_putc(scratch, ']');
    if (scratch->failed)
        return err_set(err, ERR_SYSTEM, "a prompt of %u tokens is longer than %zu MiB (or out of memory)", tokens + s->prefix_tokens,
                       scratch->max >> 20);
    ret->input_tokens = tokens + s->prefix_tokens;
    if (s->as_ids) {
        ret->ids = buf_text(scratch);
        ret->input_source = TOKENS_IDS;
        return 0;
    }
    ret->text = buf_text(scratch);
    ret->input_source = s->tokenizer ? TOKENS_FILE : TOKENS_ASKED;
    if (s->tokenizer && !s->exact && !(ret->input_tokens = prompts_count(s->tokenizer, ret->text)))
        ret->input_source = TOKENS_UNKNOWN;
    return 0;
}

static void synthetic_describe(const struct prompt_source *source, struct json_out *j)
{
    const struct synthetic *s = synthetic_of(source);
    if (s->by_trace)
        json_text(j, "prompt_lengths", "the trace's, where its row has one");
    json_str(j, "prompt_input_tokens", str_of(s->input_text));
    if (s->output_text)
        json_text(j, "prompt_output_tokens", s->output_text);
    if (s->prefix_tokens) {
        json_uint(j, "prompt_prefix_tokens", s->prefix_tokens);
        json_uint(j, "prompt_prefixes", s->prefixes);
    }
    if (s->tokenizer) {
        json_text(j, "prompt_tokenizer", tokenizer_kind(s->tokenizer));
        json_flag(j, "prompt_exact", s->exact || s->as_ids);
    }
}

static void synthetic_close(struct prompt_source *source)
{
    struct synthetic *s = (struct synthetic *)(void *)source;
    if (!s)
        return;
    tokenizer_free(s->tokenizer);
    lengths_deinit(&s->input);
    lengths_deinit(&s->output);
    arena_deinit(&s->arena);
    free(s->pieces);
    free(s);
}

/* " word" in small letters: such tokens follow each other without merging. */
static bool plain_word(struct str text)
{
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i] < 'a' || text.p[i] > 'z')
            return false;
    return text.n >= 3 && text.n <= 24 && text.p[0] == ' ';
}

/* Is text one token at the end of another text, and twice two, and (at the beginning) one alone? */
static bool is_single_token(const struct synthetic *s, struct str text, struct buf *scratch, long before)
{
    buf_clear(scratch);
    buf_puts(scratch, " time");
    buf_str(scratch, text);
    if (tokenizer_count(s->tokenizer, buf_text(scratch), NULL) != before + 1)
        return false;
    buf_str(scratch, text);
    if (tokenizer_count(s->tokenizer, buf_text(scratch), NULL) != before + 2)
        return false;
    return tokenizer_count(s->tokenizer, s->blank_first ? text : str_sub(text, 1, text.n), NULL) == 1;
}

/* Tokens of the vocabulary that are single words, at most PIECES_MAX of them, chosen at even
 * distances. */
static void choose_pieces(struct synthetic *s)
{
    struct buf text CLEANUP_BUF, scratch CLEANUP_BUF;
    uint32_t size = tokenizer_size(s->tokenizer);
    buf_init(&text, 256);
    buf_init(&scratch, 1024);
    long before = tokenizer_count(s->tokenizer, STR(" time"), NULL);
    for (uint32_t k = 0; k < size && s->piece_count < PIECES_MAX; k++) {
        uint32_t id = (uint32_t)random_below(random_mix(k), size); /* anywhere; some twice, some never */
        buf_clear(&text);
        if (!tokenizer_text(s->tokenizer, id, &text) || text.failed || !plain_word(buf_text(&text)) ||
            !is_single_token(s, buf_text(&text), &scratch, before))
            continue;
        char *copy = arena_dup(&s->arena, text.p, text.n);
        if (copy)
            s->pieces[s->piece_count++] = (struct token_piece){{copy, text.n}, id};
    }
}

/* Made-up prompts counted by the tokenizer: true if each has the requested length. */
static bool pieces_add_up(const struct synthetic *s)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 20);
    for (uint64_t i = 0; i < CHECKS; i++) {
        uint32_t tokens = 1 + (uint32_t)random_below(random_at(s->seed, STREAM_CHECK, i), 300);
        buf_clear(&text);
        synthetic_add_tokens(s, &text, random_at(s->seed, STREAM_CHECK + 1, i), 0, tokens);
        if (tokenizer_count(s->tokenizer, buf_text(&text), NULL) != (long)tokens)
            return false;
    }
    return true;
}

/* Chooses the words of prompts: tokens of the tokenizer, or common words. Returns 0, or another
 * value with *err. */
static int find_pieces(struct synthetic *s, struct err *err)
{
    s->pieces = calloc(PIECES_MAX, sizeof *s->pieces);
    if (!s->pieces)
        return err_memory(err, "synthetic prompts");
    for (int blank = 1; s->tokenizer && blank >= 0 && s->piece_count < 16; blank--) {
        s->blank_first = blank;
        s->piece_count = 0;
        choose_pieces(s);
    }
    s->exact = s->tokenizer && s->piece_count && !s->as_ids && pieces_add_up(s);
    if (s->piece_count || (s->as_ids && !s->tokenizer))
        return 0;
    if (s->as_ids)
        return err_set(err, ERR_INPUT, "--prompt-ids: the tokenizer has no plain words; use --vocabulary instead of --tokenizer");
    for (size_t i = 0; i < COMMON; i++) {
        char *text = arena_printf(&s->arena, " %s", common[i]);
        if (text)
            s->pieces[s->piece_count++] = (struct token_piece){str_of(text), 0};
    }
    return s->piece_count == COMMON ? 0 : err_memory(err, "synthetic prompts");
}

/* Reads the options of made-up prompts. Returns 0, or -1 with *err; synthetic_close frees s in both
 * cases. */
static int read_options(struct synthetic *s, const struct opt_set *set, const struct load *load, struct err *err)
{
    int64_t prefix = opt_text(set, OPTION_PREFIX_TOKENS) ? opt_integer(set, OPTION_PREFIX_TOKENS) : 0,
            prefixes = opt_integer(set, OPTION_PREFIXES);
    int64_t vocabulary = opt_text(set, OPTION_VOCABULARY) ? opt_integer(set, OPTION_VOCABULARY) : 0;
    s->input_text = opt_text(set, OPTION_INPUT_TOKENS) ? opt_text(set, OPTION_INPUT_TOKENS) : "128";
    s->output_text = opt_text(set, OPTION_OUTPUT_TOKENS);
    s->by_trace = load->trace != NULL;
    s->as_ids = opt_on(set, OPTION_PROMPT_IDS);
    if (prefix < 0 || prefix > LENGTHS_MOST || prefixes < 1 || prefixes > PREFIXES_MAX)
        return err_set(err, ERR_USAGE, "--prefix-tokens is at most %d, and --prefixes from 1 to %d", LENGTHS_MOST, PREFIXES_MAX);
    if (s->as_ids && load->dialect != DIALECT_COMPLETIONS)
        return err_set(err, ERR_USAGE, "--prompt-ids: only the completions API (--api openai-completions) accepts token ids");
    if (s->as_ids && !s->tokenizer && (vocabulary < 100 || vocabulary > INT32_MAX))
        return err_set(err, ERR_USAGE, "--prompt-ids needs the number of token ids: add --vocabulary N or --tokenizer");
    s->prefix_tokens = (uint32_t)prefix;
    s->prefixes = (uint64_t)prefixes;
    s->id_low = (uint32_t)(vocabulary / 10); /* special tokens are at either end */
    s->id_high = (uint32_t)(vocabulary - vocabulary / 10);
    s->seed = load->seed;
    if (lengths_read(&s->input, s->input_text, "input-tokens", load->inputs, err) < 0)
        return -1;
    return lengths_read(&s->output, s->output_text, "output-tokens", load->inputs, err);
}

int prompts_synthetic(struct prompt_source **ret, const struct opt_set *set, const struct load *load, struct tokenizer *tokenizer,
                      struct err *err)
{
    struct synthetic *s = calloc(1, sizeof *s);
    if (!s) {
        tokenizer_free(tokenizer);
        return err_memory(err, "synthetic prompts");
    }
    *s = (struct synthetic){
        .tokenizer = tokenizer,
        .source = {.name = "synthetic", .make = synthetic_make_prompt, .describe = synthetic_describe, .close = synthetic_close}};
    s->source.count = tokenizer ? synthetic_count_tokens : NULL;
    arena_init(&s->arena, 64 << 20);
    if (read_options(s, set, load, err) < 0 || find_pieces(s, err) < 0) {
        synthetic_close(&s->source);
        return -1;
    }
    *ret = &s->source;
    return 0;
}
