/* fact_text.h: facts as text: in the cache, and between a child process and the recorder. All texts
 * carry their length:
 *   <kind> <bytes of key> <bytes of text>\n<key><text>\n
 * P param, T tag, M missing, W warning, V metric ("value unit direction step time"), A artifact
 * (the text is the file's content), F artifact (the text names the file in the spool), N a note
 * for the reader. */
#ifndef PROBES_FACT_TEXT_H
#define PROBES_FACT_TEXT_H
#include "probes/probe.h"

struct fact_text {
    char kind;
    struct str key, text; /* within the text that was read */
};

/* Appends one entry in the form above. key and text are copied as they are, with any bytes in
 * them. */
void fact_text_add(struct buf *to, char kind, struct str key, struct str text);
/* Appends a fact of any kind as an entry. Of an artifact the entry has the file's name only (F). */
void fact_text_add_fact(struct buf *to, const struct fact *f);
/* Cuts one entry off the text. Returns 1; 0 at the end; -1 where it is invalid or incomplete
 * (*rest is then unchanged). */
int fact_text_next(struct str *rest, struct fact_text *ret);
/* Adds the fact to the record. N adds nothing. The content of A is written into h->spool; without a
 * spool A adds nothing. Returns false where it is invalid, or the file cannot be created. */
bool fact_text_replay(const struct host *h, struct record *r, const struct fact_text *f);
#endif
