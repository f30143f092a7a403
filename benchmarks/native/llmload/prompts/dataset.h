/* dataset.h: a prompt file read into items, and the scoring of those with choices. */
#ifndef LLMLOAD_DATASET_H
#define LLMLOAD_DATASET_H
#include "base/json.h"
#include "benchmarks/native/llmload/prompts/prompts.h"
#include "benchmarks/native/llmload/prompts/rows.h"
#include "benchmarks/native/llmload/tokens/tokenizer.h"

enum score { SCORE_NO, SCORE_ENDINGS, SCORE_LETTERS };

/* One prompt. A row with choices that is scored by its endings makes one item for each. */
struct item {
    struct str text, messages, ids, extra, options; /* options: members of Ollama's "options" */
    struct str *turns;      /* of a conversation: the user's turns, from the second on */
    uint32_t turn_count, input_tokens, output_tokens;
    uint32_t row;           /* from 0; of the rows that were used */
    uint16_t choice;        /* ENDINGS: which one */
    uint32_t from, until;   /* ENDINGS: place of the ending in text, in characters */
    uint32_t length;        /* ENDINGS: its characters, without the blank */
};

struct row_answer {
    uint16_t right, choices; /* choices 0: nothing to score */
};

struct dataset {
    struct prompt_source source;
    struct arena arena;
    struct tokenizer *tokenizer;
    const char *path, *kind; /* kind: of the first row: "sharegpt", "openai", "choices", "prompts", "text" */
    struct item *items;
    size_t item_count, item_size;
    struct row_answer *answers; /* [row_count] */
    size_t row_count, row_size, rows_max;
    struct rows_skipped skipped;
    char warning[500];
    uint64_t *order;         /* NULL: unchanged */
    enum score score;
    enum dialect dialect;
    const struct load *load;
    struct json *body; /* of --body: its members go before a row's; NULL */
    bool is_body; /* the row is a complete request body */
};

/* members.c: the members of a row that belong into the request, besides the prompt: those that
 * requests have, or all of a complete body. */
int row_members(struct dataset *d, struct item *i, const struct json *row, bool is_body, struct err *err);

/* row.c: reads one row of the file (rows_take; to: the data set). A conversation without a turn of
 * a human is skipped. */
int dataset_row(void *to, const struct json *j, struct str text, size_t line, struct err *err);
#endif
