/* prompts.h: opens the source of prompts that the options name; the interface is prompt.h. */
#ifndef LLMLOAD_PROMPTS_H
#define LLMLOAD_PROMPTS_H
#include "benchmarks/native/llmload/load.h"

struct dataset;

/* By the rows of prompts.def in set. With --score the load becomes what scoring needs (not
 * streamed, each item once). ERR_USAGE, or ERR_INPUT with file and line. Closed by its own
 * close. */
int prompts_open(struct prompt_source **ret, const struct opt_set *set, struct load *load, struct err *err);

/* synthetic.c */
struct tokenizer;
/* Makes prompts of random words. The tokenizer, which may be NULL, belongs to the source from now
 * on, also on error. */
int prompts_synthetic(struct prompt_source **ret, const struct opt_set *set, const struct load *load, struct tokenizer *tokenizer, struct err *err);
/* varied.c: the default; the tokenizer, which may be NULL, belongs to the source from now on, also
 * on error */
int prompts_varied(struct prompt_source **ret, const struct load *load, struct tokenizer *tokenizer, struct err *err);
/* dataset.c; the tokenizer, which may be NULL, belongs to the source from now on, also on error */
int prompts_dataset(struct prompt_source **ret, const struct opt_set *set, struct load *load, struct tokenizer *tokenizer, struct err *err);
/* One text for all requests, counted by a tokenizer, which belongs to the source from now on, also
 * on error. */
int prompts_text(struct prompt_source **ret, const char *text, struct tokenizer *tokenizer, struct err *err);
/* The data set behind a source; NULL: it is none. */
struct dataset *prompts_dataset_of(struct prompt_source *source);
/* Tokens of text, 0 where they are not known. Thread-safe. */
uint32_t prompts_count(const struct tokenizer *tokenizer, struct str text);
#endif
