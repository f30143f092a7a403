/* sentencepiece_calls.h: what sentencepiece.cc offers to sentencepiece.c: plain C functions. */
#ifndef LLMLOAD_SENTENCEPIECE_CALLS_H
#define LLMLOAD_SENTENCEPIECE_CALLS_H
#include <stddef.h>
#include <stdint.h>

/* The model, or NULL with a reason in why[size]. */
typedef void *llmload_pieces_open_fn(const char *path, char *why, size_t size);
typedef void llmload_pieces_close_fn(void *model);
/* Number of ids, at most `max` of them in ids; -1: it failed. */
typedef long llmload_pieces_encode_fn(void *model, const char *text, size_t n, uint32_t *ids, size_t max);
typedef int llmload_pieces_size_fn(void *model);
/* The piece, NUL-terminated; NULL for control, unknown, unused and byte pieces, and ids out of
 * bounds. */
typedef const char *llmload_pieces_text_fn(void *model, int id);
#endif
