/* tree_parts.h: what the files that build a run's folder share; private to mlruns-format. */
#ifndef MLRUNS_FORMAT_TREE_PARTS_H
#define MLRUNS_FORMAT_TREE_PARTS_H
#include "mlruns-format/record_index.h"
#include "mlruns-format/tree.h"

enum { SERIES_MAX = 1000 /* points of a series in a published tree */ };

/* One metric key with its samples in order of arrival. */
struct metric_series {
    struct str key;
    const struct fact **samples;
    size_t count;
    const struct fact **points; /* what is written to metrics/: all samples, or min and max of each bucket */
    size_t n_points;
    size_t width;               /* samples in a bucket; 1: not thinned */
};

struct building {
    const struct record *r;
    const struct journal_head *head;
    uint32_t experiment;
    struct str experiment_name;
    struct str run_name, user;
    int64_t end_ms;             /* 0: not ended */
    int spool, dir;             /* dir: the run's folder */
    struct arena arena;
    struct metric_series *series;
    size_t n_series;
    struct manifest_file *files; /* written so far */
    size_t n_files;
    struct fact *extra;         /* facts that the tree itself adds: params, metrics, tags, missing, warnings */
};

/* Returns the facts in order, the tree's own last; NULL after the last. Start with NULL. Tags
 * overwritten by later ones are skipped. */
const struct fact *building_next(const struct building *b, const struct fact *at);

/* Sorts the metric facts into b->series and thins the long ones. */
int series_collect(struct building *b, struct err *err);
/* Writes artifacts/series.jsonl with all samples of the thinned series, if there are any. */
int series_write_all(struct building *b, struct err *err);
/* Writes artifacts/benchwrap.json. */
int detail_write(struct building *b, struct err *err);
/* Writes a file of the run (path below its folder) and notes it for the manifest. 0; -1 with
 * err. */
int building_write(struct building *b, const char *path, struct str data, struct err *err);
/* Notes a file that was linked or written in pieces once it is made: reads it for its sum. 0; -1
 * with err. */
int building_written(struct building *b, const char *path, struct err *err);
/* Writes artifacts/manifest.json: size and SHA-256 of every file noted. The last act. */
int manifest_write(struct building *b, struct err *err);
#endif
