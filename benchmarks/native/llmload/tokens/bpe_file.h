/* bpe_file.h: a tokenizer.json with a model of type BPE: what is in it, and encoding by it.
 *
 * The format has no specification but the library that writes it (Hugging Face's tokenizers, 0.23):
 * added_tokens, normalizer, pre_tokenizer, post_processor, model. Anything in it that is not
 * understood and changes counts is an error. */
#ifndef LLMLOAD_BPE_FILE_H
#define LLMLOAD_BPE_FILE_H
#include "base/buf.h"
#include "base/err.h"
#include "benchmarks/native/llmload/tokens/ids.h"

struct bpe_file;

/* Reads the file. ERR_INPUT: what in it is not understood. Free with bpe_file_free. */
int bpe_file_open(struct bpe_file **ret, const char *path, struct err *err);
/* The same from text, for tests. */
int bpe_file_parse(struct bpe_file **ret, struct str json, struct err *err);
void bpe_file_free(struct bpe_file *f); /* NULL is allowed */
int bpe_file_encode(const struct bpe_file *f, struct str text, struct ids *to, struct err *err); /* text is valid UTF-8 */
/* Ids are below this. */
uint32_t bpe_file_size(const struct bpe_file *f);
/* Appends the text of one token. False: the id has no text of its own: unknown, an added token, or
 * a single byte. */
bool bpe_file_text(const struct bpe_file *f, uint32_t id, struct buf *to);
#endif
