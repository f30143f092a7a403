/* load.h: what the parts of loading a rule file share, the readers' own too. Texts are copied into the rules' arena.
 *
 * All return 0, or -1 with a message that names file, line and column. */
#ifndef BENCHMARKS_LOAD_H
#define BENCHMARKS_LOAD_H
#include "benchmarks/engine.h"

/* load_words.c */
/* Sets ERR_INPUT "file:line:column: message"; y NULL: line 1. Returns -1. */
int rules_complain(const struct yaml *y, const struct rules *rules, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets "out of memory for the rules of FILE". Returns -1. */
int load_no_memory(const struct rules *rules, struct err *err);
/* Checks that `map` is a map, and each of its keys one of the words (NULL-terminated). */
int load_keys(const struct yaml *map, const char *const *words, const struct rules *rules, struct err *err);
/* Compiles a scalar as a pattern, which the caller frees with pattern_free. */
int load_pattern(struct pattern **ret, const struct yaml *y, const struct rules *rules, struct err *err);
/* Reads a scalar or a list of scalars, max of them at most; y may be NULL: none. The texts are those of
 * y, not copies. */
int load_texts(const struct yaml *y, struct str *ret, size_t max, size_t *ret_n, const struct rules *rules, struct err *err);
/* Reads map's key as true or false; *ret stays as it is if the key is not there. */
int load_flag(const struct yaml *map, const char *key, bool *ret, const struct rules *rules, struct err *err);
/* Returns the index of the text of map's key in a list of words, `otherwise` if the key is not there;
 * -1 with err. */
int load_choice(const struct yaml *map, const char *key, const char *const *words, int otherwise, const struct rules *rules,
                struct err *err);
/* Compiles a scalar as an expression in the rules' arena. NULL: *ret is unchanged. -1 with err,
 * which names file and line. */
int load_expr(struct expr **ret, const struct yaml *y, struct rules *rules, struct err *err);
/* Loads each item of a list by `load`. An item with `each: {x: [a, b]}` is loaded once for a and
 * once for b. max: items at most. -1 with err; where `rules->tell` is set, wrong items are reported
 * and counted instead. */
int load_items(const struct yaml *list, size_t max,
               int (*load)(const struct yaml *y, struct reader *r, struct rules *rules, struct err *err), struct reader *r,
               struct rules *rules, struct err *err);
/* Returns how often load_items calls load at most: memory for so many is enough. */
size_t load_items_count(const struct yaml *list, size_t max);

/* load_reader.c */
/* Returns the number of the cell of this name, which the reader has from now on; -1 with err: too many
 * cells. The name is not copied. */
int reader_cell(struct reader *r, struct str name, const struct yaml *at, const struct rules *rules, struct err *err);
/* Sets *ret to the number of the cell that map's key names; to -1 if the key is not there. */
int load_cell(struct reader *r, const struct yaml *map, const char *key, int *ret, const struct rules *rules, struct err *err);
/* load_metric.c */
/* Reads "{access}.bw" into *ret: literal parts, and in braces context variables or cells of the
 * reader. */
int load_template(struct name *ret, struct str text, struct reader *r, const struct yaml *at, const struct rules *rules, struct err *err);
/* Makes the reader read lines with one of the pattern's literals, besides those that it reads already;
 * any line, if the pattern has none or the reader no place for them. */
void reader_wants(struct reader *r, const struct pattern *p);
/* Adds the conditions of y, which may be NULL, to the list *ret. Returns 0, or another value with
 * *err. */
int load_where(struct where **ret, const struct yaml *y, struct reader *r, struct rules *rules, struct err *err);
/* Sets *ret to the index of the file of this pattern in rules->file, which has it from now on. */
int load_file(const struct yaml *file, size_t *ret, struct rules *rules, struct err *err);
/* Adds the bits of the sources to *ret: 1 stdout, 2 stderr, 4 << index of a file. Absent: 3.
 * Returns 0, or another value with *err. */
int load_source(const struct yaml *y, unsigned *ret, struct rules *rules, struct err *err);
/* Adds the names of `set` to the context, before any reader uses them. */
int load_set_names(const struct yaml *y, struct rules *rules, struct err *err);
/* Loads the map y as a reader, and adds it to the rules. unused: an array of items needs this
 * parameter, NULL. -1 with err, which names file and line. */
int load_reader(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err);
extern const char *const load_types[];
extern const char *const load_scopes[]; /* of params: words, NULL at the end */

/* load_slice.c */
/* Loads the map `slices`; y NULL: none. */
int load_slices(const struct yaml *y, struct rules *rules, struct err *err);
/* Sets *ret to the number of the slice that map's key `slice` names; to -1 if the key is not there. */
int load_slice(const struct yaml *map, int *ret, const struct rules *rules, struct err *err);
/* Checks, once all is loaded, what is bound to slices of which the last counts. */
int load_slices_check(struct rules *rules, struct err *err);

/* load_metric.c */
/* Load one item of a list, and add it to the reader or the rules. unused: NULL. */
int load_metric(const struct yaml *y, struct reader *r, struct rules *rules, struct err *err);
int load_computed(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err);
/* load_check.c */
int load_check(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err);
int load_required(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err);
int load_derived(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err);
/* load_arguments.c */
/* Loads the map `arguments`; y NULL: none. */
int load_arguments(const struct yaml *y, struct rules *rules, struct err *err);
/* Loads one rule for variables of the environment, and adds it. unused: NULL. -1 with err, which
 * names file and line. */
int load_environment(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err);
/* recognise.c */
/* Loads the map `recognise`; y NULL: none. */
int load_recognise(const struct yaml *y, struct rules *rules, struct err *err);
#endif
