/* finish_options.h: what the finish step needs to know again after a crash, as the journal's first line keeps it. */
#ifndef WRAPPER_FINISH_OPTIONS_H
#define WRAPPER_FINISH_OPTIONS_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "plan/references.h"

struct finish_options {
    uint64_t log_max, artifact_max; /* bytes of each stream, of all files of the run */
    const char *rules;          /* path of the rule file, NULL: none (as journal_path accepts it) */
    struct reference_files references;
    bool public_profile;        /* identities were left out of all texts before they were written */
    bool withheld;              /* found out by the finish step: the streams are not published */
    bool merged;                /* stdout.log holds both streams */
    bool made;                  /* from an old output or another run's facts: no wall time and no end of a program are known */
    bool told;                  /* the record is complete already (a run from a server): nothing is read, judged or added */
    bool archive;               /* the script, output and result of the job are kept as job/ */
    const char *archive_dir;    /* and in this folder, NULL: nowhere else (as journal_path accepts it) */
    bool series;                /* the run of a series: its facts are made from the notes of its repetitions */
    const char *exporters;      /* names of those that the run is delivered to, with blanks between them; NULL: none */
    const char *host;           /* made: where the program ran, "" if it is not known; the journal's host is the maker's */
};
/* Appends the options as a JSON object. */
void finish_options_print(const struct finish_options *o, struct buf *to);
/* Texts into the arena. -1: no JSON (err). */
int finish_options_parse(struct finish_options *ret, const char *text, struct arena *a, struct err *err);
#endif
