/* added.h: tokens that are cut out of a text before all other steps ("<|im_start|>"). */
#ifndef LLMLOAD_ADDED_H
#define LLMLOAD_ADDED_H
#include "base/json.h"
#include "benchmarks/native/llmload/tokens/steps.h"

struct added_token;
struct added_list {
    struct added_token *token; /* longest first */
    size_t count;
    bool first_byte[2][256]; /* [normalized]: a token of that kind begins with it */
};

/* Adds one member of "added_tokens". Those marked normalized are searched in normalized text, in
 * their own normalized form. ERR_INPUT, ERR_SYSTEM. */
int added_read(struct added_list *a, const struct json *spec, uint32_t id, const struct steps *normal, struct err *err);
void added_deinit(struct added_list *a);
/* Returns whether the id is one of the added tokens. */
bool added_has(const struct added_list *a, uint32_t id);
/* Calls `piece` for each stretch between tokens (id -1) and each token, in order; the leftmost and
 * there the longest is used. */
void added_cut(const struct added_list *a, bool normalized, struct str text, void (*piece)(void *to, struct str text, int64_t id),
               void *to);
#endif
