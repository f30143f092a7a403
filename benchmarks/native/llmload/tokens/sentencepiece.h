/* sentencepiece.h: a SentencePiece model, encoded by libsentencepiece.
 *
 * That library is C++: a small object of our own (libexec/benchwrap/llmload-sentencepiece.so, from sentencepiece.cc) stands between, and is
 * loaded when a model is named, so that nobody else needs either. */
#ifndef LLMLOAD_SENTENCEPIECE_H
#define LLMLOAD_SENTENCEPIECE_H
#include "base/buf.h"
#include "base/err.h"
#include "benchmarks/native/llmload/tokens/ids.h"

struct sentencepiece;

int sentencepiece_open(struct sentencepiece **ret, const char *path, struct err *err);
/* 0, or -1 with ERR_SYSTEM where this build cannot read such models; the text names the step that adds it. */
int sentencepiece_check(struct err *err);
void sentencepiece_free(struct sentencepiece *s); /* NULL is allowed */
int sentencepiece_encode(const struct sentencepiece *s, struct str text, struct ids *to, struct err *err);
uint32_t sentencepiece_size(const struct sentencepiece *s);
bool sentencepiece_text(const struct sentencepiece *s, uint32_t id, struct buf *to);
#endif
