/* dataset.c: prompts of a file, in their order or shuffled; see dataset.h. */
#include "benchmarks/native/llmload/prompts/dataset.h"

#include "benchmarks/native/llmload/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { STREAM_ORDER = 16 };

static const struct dataset *dataset_of(const struct prompt_source *source)
{
    return (const struct dataset *)(const void *)source;
}

/* Returns the item of the session, and its next turn. The dataset owns the texts. */
static int dataset_make_prompt(const struct prompt_source *source, const struct prompt_want *want, struct buf *scratch, struct prompt *ret,
                               struct err *err)
{
    const struct dataset *d = dataset_of(source);
    uint64_t at = want->session % d->item_count;
    (void)scratch;
    (void)err;
    if (d->order)
        at = d->order[at];
    const struct item *i = &d->items[at];
    bool later = want->turn && i->turn_count;
    *ret = (struct prompt){.text = later ? i->turns[(want->turn - 1) % i->turn_count] : i->text,
                           .messages = i->messages,
                           .ids = i->ids,
                           .extra = i->extra,
                           .options = i->options,
                           .output_tokens = want->output_tokens ? want->output_tokens : i->output_tokens,
                           .item = at};
    if (!later) {
        ret->input_tokens = i->input_tokens;
        ret->input_source = !i->input_tokens ? TOKENS_UNKNOWN : i->ids.n ? TOKENS_IDS : TOKENS_FILE;
    }
    return 0;
}

static uint32_t dataset_count_tokens(const struct prompt_source *source, struct str text)
{
    return prompts_count(dataset_of(source)->tokenizer, text);
}

static void dataset_describe(const struct prompt_source *source, struct json_out *j)
{
    const struct dataset *d = dataset_of(source);
    if (d->tokenizer)
        json_text(j, "prompt_tokenizer", tokenizer_kind(d->tokenizer));
    if (!d->path)
        return;
    json_text(j, "dataset_path", d->path);
    json_text(j, "dataset_kind", d->kind);
    json_uint(j, "dataset_rows", d->row_count);
    json_uint(j, "dataset_rows_skipped", d->skipped.count);
    if (d->order)
        json_flag(j, "dataset_shuffled", true);
}

static void dataset_close(struct prompt_source *source)
{
    struct dataset *d = (struct dataset *)(void *)source;
    tokenizer_free(d->tokenizer);
    json_free(d->body);
    arena_deinit(&d->arena);
    free(d->items);
    free(d->answers);
    free(d->order);
    free(d);
}

struct dataset *prompts_dataset_of(struct prompt_source *source)
{
    return source && source->make == dataset_make_prompt ? (struct dataset *)(void *)source : NULL;
}

/* Fisher and Yates */
static int dataset_shuffle(struct dataset *d, uint64_t seed, struct err *err)
{
    d->order = calloc(d->item_count, sizeof *d->order);
    if (!d->order)
        return err_memory(err, "the prompts of the data set");
    for (size_t i = 0; i < d->item_count; i++) {
        size_t k = (size_t)random_below(random_at(seed, STREAM_ORDER, i), i + 1);
        d->order[i] = d->order[k];
        d->order[k] = i;
    }
    return 0;
}

/* Each item once, complete, and nothing else: metrics of a scored run are of accuracy first. */
static int prepare_scoring(const struct dataset *d, const struct opt_set *set, struct load *load, struct err *err)
{
    if (d->score == SCORE_ENDINGS && load->dialect != DIALECT_COMPLETIONS)
        return err_set(
            err, ERR_USAGE,
            "--score endings needs the completions API with echo (--api openai-completions; vLLM has it); --score letters works with chat");
    if (load->dialect != DIALECT_COMPLETIONS && load->dialect != DIALECT_CHAT)
        return err_set(
            err, ERR_USAGE,
            "--score: Ollama's own API returns no log-probabilities of a prompt: use its OpenAI API (--api openai-chat --score letters)");
    load->stream = false;
    load->ignore_eos = false;
    load->turns = 1;
    load->warmup_requests = 0;
    load->warmup_s = 0;
    if (!opt_text(set, OPTION_REQUESTS) && !opt_text(set, OPTION_DURATION))
        load->requests = d->item_count;
    return 0;
}

/* Reads the rows of --dataset. Returns 0, or another value with *err, also without any prompt. */
static int dataset_fill(struct dataset *d, const struct opt_set *set, struct load *load, struct err *err)
{
    static const char *const scores[] = {"no", "endings", "letters"};
    int64_t rows = opt_text(set, OPTION_DATASET_ROWS) ? opt_integer(set, OPTION_DATASET_ROWS) : 0;
    while (strcmp(opt_text(set, OPTION_SCORE), scores[d->score]) != 0)
        d->score++;
    if (rows < 0 || (opt_text(set, OPTION_DATASET_ROWS) && rows == 0))
        return err_set(err, ERR_USAGE, "--dataset-rows: expected a number >= 1, got \"%.40s\"", opt_text(set, OPTION_DATASET_ROWS));
    d->path = opt_text(set, OPTION_DATASET);
    d->dialect = load->dialect;
    d->load = load;
    if (opt_text(set, OPTION_BODY) && json_parse(&d->body, str_of(opt_text(set, OPTION_BODY)), NULL, err) < 0)
        return err_wrap(err, "--body");
    d->rows_max = (size_t)rows;
    if (rows_read(d->path, strcmp(opt_text(set, OPTION_DATASET_FORMAT), "text") == 0, dataset_row, d, load->inputs, &d->skipped, err) < 0)
        return err_wrap(err, "--dataset");
    if (!d->item_count)
        return err_set(err, ERR_INPUT, "--dataset: %.300s holds no prompt%s%s", d->path,
                       d->skipped.count ? "; of the first row skipped: " : "", d->skipped.why);
    for (size_t i = 0; d->tokenizer && i < d->item_count; i++)
        if (d->items[i].text.n && !d->items[i].input_tokens)
            d->items[i].input_tokens = prompts_count(d->tokenizer, d->items[i].text);
    if (d->score != SCORE_NO && prepare_scoring(d, set, load, err) < 0)
        return -1;
    return opt_on(set, OPTION_SHUFFLE) ? dataset_shuffle(d, load->seed, err) : 0;
}

/* Returns an empty data set, which owns the tokenizer and is freed by source.close. NULL with err:
 * out of memory; the tokenizer is freed. */
static struct dataset *dataset_new(struct tokenizer *tokenizer, struct err *err)
{
    struct dataset *d = calloc(1, sizeof *d);
    if (!d) {
        tokenizer_free(tokenizer);
        err_memory(err, "the prompts of the data set");
        return NULL;
    }
    d->tokenizer = tokenizer;
    d->source = (struct prompt_source){.name = "dataset",
                                       .make = dataset_make_prompt,
                                       .describe = dataset_describe,
                                       .close = dataset_close,
                                       .count = tokenizer ? dataset_count_tokens : NULL};
    arena_init(&d->arena, (size_t)16 << 30);
    return d;
}

int prompts_dataset(struct prompt_source **ret, const struct opt_set *set, struct load *load, struct tokenizer *tokenizer, struct err *err)
{
    struct dataset *d = dataset_new(tokenizer, err);
    if (!d)
        return -1;
    if (dataset_fill(d, set, load, err) < 0) {
        dataset_close(&d->source);
        return -1;
    }
    d->source.name = d->kind;
    d->source.rows = d->row_count;
    if (d->skipped.count) {
        snprintf(d->warning, sizeof d->warning, "%zu of %zu rows of the data set were skipped, the first in line %zu: %s", d->skipped.count,
                 d->skipped.count + d->row_count, d->skipped.line, d->skipped.why);
        d->source.warning = d->warning;
    }
    *ret = &d->source;
    return 0;
}

int prompts_text(struct prompt_source **ret, const char *text, struct tokenizer *tokenizer, struct err *err)
{
    struct dataset *d = dataset_new(tokenizer, err);
    if (!d)
        return -1;
    if (dataset_row(d, NULL, str_of(text), 1, err) < 0) {
        dataset_close(&d->source);
        return -1;
    }
    d->items[0].input_tokens = prompts_count(tokenizer, d->items[0].text);
    d->source.name = "fixed";
    d->source.constant = true;
    *ret = &d->source;
    return 0;
}
