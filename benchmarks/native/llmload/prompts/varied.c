/* varied.c: the default prompt: a short request that begins differently each time, so that no cache
 * of prefixes answers it. */
#include "benchmarks/native/llmload/prompts/prompts.h"
#include "benchmarks/native/llmload/random.h"
#include "benchmarks/native/llmload/tokens/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 5, BITS = 6, WORDS = 4, LENGTH = WORDS * (WORD + 1) };

/* All of one length, so that a request's bytes are in the place of another's. */
static const char words[1 << BITS][WORD + 1] = {
    "apple", "beach", "bread", "brick", "canal", "chair", "child", "clock", "cloud", "coast", "cover", "dance", "dream",
    "earth", "field", "flame", "fleet", "floor", "fruit", "ghost", "glass", "grain", "grass", "green", "heart", "horse",
    "hotel", "house", "judge", "knife", "lemon", "light", "metal", "month", "mouse", "music", "night", "ocean", "paint",
    "paper", "party", "phone", "piano", "pilot", "plant", "plate", "queen", "radio", "river", "robot", "round", "salad",
    "sheep", "shirt", "snake", "stone", "storm", "sugar", "table", "tiger", "tower", "train", "voice", "water"};
static const char rest[] = "tell a story.";

struct varied {
    struct prompt_source source;
    struct tokenizer *tokenizer; /* NULL: none */
    uint64_t offset;
};

static const struct varied *varied_of(const struct prompt_source *source)
{
    return (const struct varied *)(const void *)source;
}

/* "river stone table cloud:"; no two of 2^24 indexes in a row have the same, no two of 64 the same
 * first word. */
static void varied_write_head(const struct prompt_source *source, uint64_t index, char *to)
{
    uint64_t v = index * 0x9e3779b1u + varied_of(source)->offset;
    for (int i = 0; i < WORDS; i++, v >>= BITS) {
        memcpy(to + i * (WORD + 1), words[v & ((1 << BITS) - 1)], WORD);
        to[i * (WORD + 1) + WORD] = i + 1 < WORDS ? ' ' : ':';
    }
}

static int varied_make_prompt(const struct prompt_source *source, const struct prompt_want *want, struct buf *scratch, struct prompt *ret,
                              struct err *err)
{
    char head[LENGTH + 1] = "";
    varied_write_head(source, want->index, head);
    buf_printf(scratch, "%s %s", head, rest);
    if (scratch->failed)
        return err_memory(err, "the prompt");
    ret->text = buf_text(scratch);
    ret->input_tokens = prompts_count(varied_of(source)->tokenizer, ret->text);
    ret->input_source = ret->input_tokens ? TOKENS_FILE : TOKENS_UNKNOWN;
    return 0;
}

static uint32_t varied_count_tokens(const struct prompt_source *source, struct str text)
{
    return prompts_count(varied_of(source)->tokenizer, text);
}

static void varied_close(struct prompt_source *source)
{
    struct varied *v = (struct varied *)(void *)source;
    tokenizer_free(v->tokenizer);
    free(v);
}

int prompts_varied(struct prompt_source **ret, const struct load *load, struct tokenizer *tokenizer, struct err *err)
{
    struct varied *v = calloc(1, sizeof *v);
    if (!v) {
        tokenizer_free(tokenizer);
        return err_memory(err, "the prompt");
    }
    v->source = (struct prompt_source){
        .name = "varied", .make = varied_make_prompt, .vary = varied_write_head, .varied = LENGTH, .close = varied_close};
    v->source.constant = !tokenizer; /* the length in tokens may differ */
    v->source.count = tokenizer ? varied_count_tokens : NULL;
    v->tokenizer = tokenizer;
    v->offset = random_mix(load->seed);
    *ret = &v->source;
    return 0;
}
