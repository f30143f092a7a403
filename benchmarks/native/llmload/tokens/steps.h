/* steps.h: what a text goes through before byte-pair encoding: normalizers, and the cutting into
 * words.
 *
 * The kinds are those of tokenizer.json (Hugging Face's tokenizers 0.23: normalizers NFC NFD NFKC
 * NFKD Prepend Replace; pre-tokenizers ByteLevel Split Digits Metaspace). Each is a row in a list;
 * a piece of text is handed from one to the next, and what leaves the last is a word. */
#ifndef LLMLOAD_STEPS_H
#define LLMLOAD_STEPS_H
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum { STEPS_MAX = 24 };

struct step;
struct steps {
    struct step *step[STEPS_MAX];
    size_t count;
};
/* Gets one word, valid UTF-8 that lives for the call alone. */
typedef void steps_word(void *to, struct str word);

/* Appends the steps of a "normalizer" or "pre_tokenizer" of tokenizer.json (NULL and null:
 * nothing). ERR_INPUT names a kind that is not known: a tokenizer that counts wrongly is worse than
 * none. */
int steps_add(struct steps *s, const struct json *spec, struct err *err);
void steps_deinit(struct steps *s);
/* Runs one stretch of valid UTF-8 through all steps. first: it is the beginning of the text.
 * ERR_INPUT: a regular expression reached its limit. */
int steps_run(const struct steps *s, struct str text, bool first, steps_word *word, void *to, struct err *err);
/* The character that stands for a byte in byte-level vocabularies (GPT-2's table), as UTF-8 of 1 or
 * 2 bytes; returns its length. */
size_t steps_byte(unsigned char byte, char ret[2]);
/* The other way round: text of such characters as bytes. false: one of them stands for no byte. */
bool steps_bytes(struct str text, struct buf *to);
#endif
