/* fact_text.h: facts as text: in the cache, and on the way from a side process. All texts carry their length:
 *   <kind> <bytes of key> <bytes of text>\n<key><text>\n
 * P param, T tag, M missing, W warning, V metric ("value unit direction step time"), A artifact (the text is the file's content),
 * F artifact (the text names the file in the spool), N a note for the reader. */
#ifndef PROBES_FACT_TEXT_H
#define PROBES_FACT_TEXT_H
#include "probes/probe.h"

struct fact_text {
    char kind;
    struct str key, text;
};

void fact_text_add(struct buf *to, char kind, struct str key, struct str text);
/* Appends a fact of any kind; artifacts by the file's name. */
void fact_text_add_fact(struct buf *to, const struct fact *f);
/* Cuts one off the text. 1: done, 0: the end, -1: not understood, or not all of it is there. */
int fact_text_next(struct str *rest, struct fact_text *ret);
/* Tells it to the record. A is written into h->spool; nothing is told of N. False: not understood. */
bool fact_text_replay(const struct host *h, struct record *r, const struct fact_text *f);
#endif
