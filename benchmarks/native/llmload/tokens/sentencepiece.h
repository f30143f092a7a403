/* sentencepiece.h: a SentencePiece model, encoded by libsentencepiece.
 *
 * That library is C++: a small shared object (libexec/benchwrap/llmload-sentencepiece.so, from
 * sentencepiece.cc) calls it, and is loaded only when a model is named. */
#ifndef LLMLOAD_SENTENCEPIECE_H
#define LLMLOAD_SENTENCEPIECE_H
#include "base/buf.h"
#include "base/err.h"
#include "benchmarks/native/llmload/tokens/ids.h"

struct sentencepiece;

/* ERR_INPUT: not a model; ERR_SYSTEM: this build or machine cannot read models. Free with
 * sentencepiece_free. */
int sentencepiece_open(struct sentencepiece **ret, const char *path, struct err *err);
/* 0, or -1 with ERR_SYSTEM where this build cannot read such models; the text names the step that
 * adds it. */
int sentencepiece_check(struct err *err);
void sentencepiece_free(struct sentencepiece *s); /* NULL is allowed */
int sentencepiece_encode(const struct sentencepiece *s, struct str text, struct ids *to, struct err *err);
/* These two as tokenizer_size and tokenizer_text. */
uint32_t sentencepiece_size(const struct sentencepiece *s);
bool sentencepiece_text(const struct sentencepiece *s, uint32_t id, struct buf *to);
#endif
