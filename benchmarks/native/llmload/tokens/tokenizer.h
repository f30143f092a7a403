/* tokenizer.h: how many tokens a text has, by the model's own tokenizer file: tokenizer.json
 * (byte-pair encoding) or a SentencePiece model.
 *
 * tokenizer.json is read here, since no maintained C library reads it. SentencePiece models go to
 * libsentencepiece. */
#ifndef LLMLOAD_TOKENIZER_H
#define LLMLOAD_TOKENIZER_H
#include "base/buf.h"
#include "base/err.h"
#include "benchmarks/native/llmload/tokens/ids.h"

struct tokenizer;

/* path: a tokenizer.json, a SentencePiece model (*.model), or a folder with one of them. ERR_INPUT:
 * what in the file is not understood; ERR_SYSTEM: a library is missing. */
int tokenizer_open(struct tokenizer **ret, const char *path, struct err *err);
void tokenizer_free(struct tokenizer *t); /* NULL is allowed */
/* "bpe" or "sentencepiece": for the result. */
const char *tokenizer_kind(const struct tokenizer *t);
/* SHA-256 of its file. */
const char *tokenizer_hash(const struct tokenizer *t);
/* Appends the ids of text, without the special tokens that begin and end a prompt. Bytes that are
 * no UTF-8 count as U+FFFD. Several threads may do so at once. */
int tokenizer_encode(const struct tokenizer *t, struct str text, struct ids *to, struct err *err);
/* The number of them; -1 with err. */
long tokenizer_count(const struct tokenizer *t, struct str text, struct err *err);
/* Ids are below this. */
uint32_t tokenizer_size(const struct tokenizer *t);
/* Appends the text of one token inside a sentence, so " word" has its blank. false: no such id, a
 * special token, or half a character. */
bool tokenizer_text(const struct tokenizer *t, uint32_t id, struct buf *to);
#endif
