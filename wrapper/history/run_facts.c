/* run_facts.c: the facts of many runs in memory.
 *
 * A run's benchwrap.json has all of its params, metrics and tags in one file, whose folder would have a file for each. Texts become hashes: who prints
 * one reads it from the run. A run without that file, as others write them, is read by the files of its folder. The index has the facts of that
 * file, so that it is scanned once. */
#include "history/detail_facts.h"
#include "history/run_facts.h"
#include "history/run_lines.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/json_scan.h"
#include "base/stats.h"
#include "mlruns-format/annotation.h"
#include "runs/inputs.h"
#include "runs/metric_way.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64, DETAIL_READ_MAX = 64 << 20, STEPS_MAX = 4096 /* of a table */, PARAM_NAME_MAX = 256 };

/* ---- keys ---- */

struct key_table {
    struct fact_key *list;
    size_t count, capacity;
    uint32_t *slots; /* index + 1; 0: empty */
    size_t slot_count;
    struct arena *a;
    bool failed;
};

/* Makes the table twice as large, in the arena, and enters all keys again. Returns false when out
 * of memory; the table is then unchanged. */
static bool grow_slots(struct key_table *t)
{
    size_t n = t->slot_count ? t->slot_count * 2 : 512;
    uint32_t *slots = arena_get(t->a, n * sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = t->list[i].hash & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = (uint32_t)i + 1;
    }
    t->slots = slots;
    t->slot_count = n;
    return true;
}

/* Returns the index of a key, which is added if it is new; UINT32_MAX: out of memory. A metric has
 * one for each unit, all with one hash. */
static uint32_t fact_key_of(struct key_table *t, enum fact_kind kind, struct str name, int64_t step, struct str unit)
{
    uint64_t h = hash_bytes((uint64_t)kind * 31 + (uint64_t)(step + 1), name.p, name.n);
    if (t->count * 2 >= t->slot_count && !grow_slots(t)) {
        t->failed = true;
        return UINT32_MAX;
    }
    size_t at = h & (t->slot_count - 1);
    for (; t->slots[at]; at = (at + 1) & (t->slot_count - 1))
        if (t->list[t->slots[at] - 1].hash == h && str_is(unit, t->list[t->slots[at] - 1].unit))
            return t->slots[at] - 1;
    const char *copy = arena_dup(t->a, name.p, name.n), *own_unit = unit.n ? arena_dup(t->a, unit.p, unit.n) : "";
    if (!copy || !own_unit || !ARRAY_FITS_IN(t->a, t->list, t->capacity, t->count + 1)) {
        t->failed = true;
        return UINT32_MAX;
    }
    t->list[t->count] = (struct fact_key){.kind = kind, .name = copy, .step = step, .unit = own_unit, .hash = h};
    t->slots[at] = (uint32_t)t->count + 1;
    return (uint32_t)t->count++;
}

/* Returns the index of the key with the only unit that this metric has in the runs; `key`: it has a
 * unit itself, or the runs have none or several. */
static uint32_t key_with_unit(const struct key_table *t, uint32_t key)
{
    const struct fact_key *k = &t->list[key];
    uint32_t found = key;
    if (k->kind != FACT_METRIC || *k->unit)
        return key;
    for (size_t at = k->hash & (t->slot_count - 1); t->slots[at]; at = (at + 1) & (t->slot_count - 1)) {
        uint32_t other = t->slots[at] - 1;
        if (other == key || t->list[other].hash != k->hash)
            continue;
        if (found != key)
            return key;
        found = other;
    }
    return found;
}

/* ---- one run ---- */

struct reading {
    const struct runs *runs;
    bool texts;
    struct facts_run *list; /* as runs->all */
    struct key_table *tables; /* of each chunk */
    struct arena *arena;
};

/* The facts of an artifact's lines. Most runs have the same lines as the run before. */
struct lines_read {
    struct buf text;
    struct run_fact *list;
    size_t count, capacity;
};

/* What a fact of the index means for its run. A metric's bytes end before its numbers. */
struct fact_meaning {
    struct str bytes;
    enum detail_kind kind;
    bool is_all; /* it has no other meaning than the following */
    uint32_t key;
    uint8_t way; /* of a metric */
    uint64_t value, inputs; /* of a metric: none */
};

/* The facts that the index has of a run. Most runs have the same ones as the run before, in the same order. */
struct facts_known {
    struct buf text;
    struct fact_meaning *list;
    size_t count, capacity;
};

struct run_builder { /* of one chunk, used again for each run */
    const struct reading *reading;
    struct key_table *keys;
    struct facts_run *to;
    struct run_fact *facts, *metrics;
    size_t fact_count, fact_capacity, metric_count, metric_capacity;
    struct arena *a; /* for what stays */
    struct buf known; /* what the index will have of the run */
    struct lines_read lines[LINES_KINDS];
    struct fact_meaning meaning; /* of the fact that is being added */
    struct facts_known now, before;
    struct param_rule { /* whether a param is an input, by the hash of its name and source; hash 0: not known */
        uint64_t hash;
        bool is_input;
    } rules[256];
    bool failed;
};

static void put_run_fact(struct run_builder *b, uint32_t key, uint64_t value)
{
    if (key == UINT32_MAX || !ARRAY_FITS(b->facts, b->fact_capacity, b->fact_count + 1))
        b->failed = true;
    else
        b->facts[b->fact_count++] = (struct run_fact){.key = key, .value = value};
}

static void put_run_metric(struct run_builder *b, uint32_t key, uint8_t way, double number)
{
    if (!isfinite(number))
        return;
    if (key == UINT32_MAX || !ARRAY_FITS(b->metrics, b->metric_capacity, b->metric_count + 1)) {
        b->failed = true;
        return;
    }
    b->metrics[b->metric_count++] = (struct run_fact){.key = key, .way = way, .number = number};
    b->to->content ^= hash_bytes(b->keys->list[key].hash, &number, sizeof number);
}

/* Adds a fact to the hash of the run's inputs, and to its list of facts if the reader collects texts. */
static void put_meaning(struct run_builder *b, const struct fact_meaning *m)
{
    b->to->inputs ^= m->inputs;
    if (b->reading->texts)
        put_run_fact(b, m->key, m->value);
}

static void put_named_fact(struct run_builder *b, enum fact_kind kind, struct str name, uint64_t value, uint64_t inputs)
{
    b->meaning.key = b->reading->texts ? fact_key_of(b->keys, kind, name, -1, STR("")) : 0;
    b->meaning.value = value;
    b->meaning.inputs = inputs;
    put_meaning(b, &b->meaning);
}

/* Returns whether the comparison key has the tag, as comparison_key.c defines it; the rules explain
 * arguments. */
static bool is_key_tag(struct str key)
{
    static const char *const names[] = {"benchmark", "site", "cluster", "benchwrap.rules", "benchwrap.rules_version"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(key, names[i]))
            return true;
    return false;
}

/* Returns whether the param is an input. The same params come with each run. */
static bool is_input_param(struct run_builder *b, struct str key, uint64_t key_hash, struct str source)
{
    uint64_t hash = hash_bytes(key_hash + !source.p, source.p, source.n) | 1;
    struct param_rule *rule = &b->rules[(hash >> 1) % (sizeof b->rules / sizeof *b->rules)];
    if (rule->hash == hash)
        return rule->is_input;
    char name[PARAM_NAME_MAX], from[64];
    memcpy(name, key.p, key.n);
    name[key.n] = 0;
    size_t n = source.n < sizeof from ? source.n : sizeof from - 1;
    memcpy(from, source.p ? source.p : "", n);
    from[n] = 0;
    *rule = (struct param_rule){hash, inputs_matter(name, source.p ? from : NULL, NULL)};
    return rule->is_input;
}

/* Records a param of the run: its hash as a fact, and in the hash of inputs where it is an input.
 * Names of PARAM_NAME_MAX bytes or more are ignored. series.points states whether the run is a
 * sweep. */
static void take_param(struct run_builder *b, struct str key, struct str value, struct str source)
{
    uint64_t hash = hash_bytes(1, value.p, value.n), key_hash = hash_bytes(2, key.p, key.n);
    if (key.n >= PARAM_NAME_MAX)
        return;
    int64_t points;
    bool is_points = str_is(key, "series.points");
    if (is_points && str_int(value, &points))
        b->to->is_sweep = points > 1;
    b->meaning.is_all = !is_points;
    put_named_fact(b, FACT_PARAM, key, hash, is_input_param(b, key, key_hash, source) ? hash_bytes(key_hash, &hash, sizeof hash) : 0);
}

/* Records a tag of the run: its hash as a fact, and in the hash of inputs where the comparison key
 * has it. Tags that state what a run is set the run's flags. */
static void take_tag(struct run_builder *b, struct str key, struct str value)
{
    uint64_t hash = hash_bytes(1, value.p, value.n);
    bool is_parent = str_is(key, "mlflow.parentRunId"), is_repetition = str_is(key, "benchwrap.repetition"),
         is_annotation = str_is(key, ANNOTATION_TAG), is_warmup = str_is(key, "benchwrap.warmup");
    if (is_parent && record_is_id(value))
        memcpy(b->to->parent, value.p, 32);
    b->to->is_repetition = b->to->is_repetition || is_repetition;
    b->to->is_annotation = b->to->is_annotation || is_annotation;
    b->to->is_warmup = b->to->is_warmup || is_warmup;
    b->meaning.is_all = !is_parent && !is_repetition && !is_annotation && !is_warmup;
    put_named_fact(b, FACT_TAG, key, hash, is_key_tag(key) ? hash_bytes(hash_bytes(3, key.p, key.n), &hash, sizeof hash) : 0);
}

/* Records the samples of a metric. Repetitions count as their median; each step of a table size ->
 * value is a metric. */
static void take_metric_samples(struct run_builder *b, const struct detail_fact *f, const struct tree_sample *list, size_t n,
                                struct arena *scratch)
{
    double *values = arena_get(scratch, (n + 1) * sizeof *values);
    size_t known = 0;
    uint8_t way = (uint8_t)way_of(f->direction);
    bool sampled = str_starts(f->key, "system/"), table = !sampled && (b->to->is_sweep || (n > 1 && list[0].step > 1));
    for (size_t i = 0; i < n; i++)
        table = table || (!sampled && list[i].step != list[0].step + (int64_t)i);
    for (size_t i = 0; values && i < n; i++) {
        if (!isfinite(list[i].value))
            continue;
        if (table && i < STEPS_MAX) {
            put_run_metric(b, fact_key_of(b->keys, FACT_METRIC, f->key, list[i].step, f->unit), way, list[i].value);
        } else if (!table) {
            values[known++] = list[i].value;
        }
    }
    if (!known)
        return;
    struct stats of;
    stats_of(values, known, &of);
    put_run_metric(b, fact_key_of(b->keys, FACT_METRIC, f->key, -1, f->unit), way, of.median);
}

/* Reads the samples of a metric that has several from its own file, and records them. */
static void read_metric_samples(struct run_builder *b, const struct detail_fact *f, struct arena *scratch)
{
    struct tree_entry e;
    struct folder tree = runs_tree(b->reading->runs, b->to->run);
    const char *name = str_has(f->key, "..") ? NULL : arena_dup(scratch, f->key.p, f->key.n);
    if (name && tree_metric(&tree, b->to->run, name, scratch, &e) == 0)
        take_metric_samples(b, f, e.samples, e.count, scratch);
}

static bool is_wall_of_points(const struct run_builder *b, struct str key)
{
    return b->to->is_sweep && str_is(key, "run.wall_s");
}

/* ---- facts of benchwrap.json ---- */

/* Records a metric of the run; one with several samples has its samples read. Wall times over the
 * points of a sweep are ignored. */
static void take_metric_fact(struct run_builder *b, const struct detail_fact *f, struct arena *scratch)
{
    if (is_wall_of_points(b, f->key))
        return;
    if (f->samples > 1) {
        read_metric_samples(b, f, scratch);
        return;
    }
    uint32_t at = fact_key_of(b->keys, FACT_METRIC, f->key, -1, f->unit);
    b->meaning.is_all = at != UINT32_MAX && !str_is(f->key, "run.wall_s");
    b->meaning.key = at;
    b->meaning.way = (uint8_t)way_of(f->direction);
    put_run_metric(b, at, b->meaning.way, f->number);
}

static void take_detail(struct run_builder *b, const struct detail_fact *f, struct arena *scratch)
{
    switch (f->kind) {
    case DETAIL_PARAM: take_param(b, f->key, f->value, f->source); break;
    case DETAIL_TAG: take_tag(b, f->key, f->value); break;
    case DETAIL_METRIC: take_metric_fact(b, f, scratch); break;
    case DETAIL_HOST: b->to->content ^= hash_bytes(4, f->value.p, f->value.n); break;
    case DETAIL_ARGV:
        b->meaning.is_all = true;
        put_named_fact(b, FACT_PARAM, STR(FACT_COMMAND), hash_bytes(1, f->value.p, f->value.n), hash_bytes(5, f->value.p, f->value.n));
        break;
    }
}

/* Adds the first fact of *rest as `old` was added, if it is the same one, and sets *ret. False: it
 * is another. */
static bool take_same_fact(struct run_builder *b, const struct fact_meaning *old, struct str *rest, struct fact_meaning *ret)
{
    size_t n = old->bytes.n;
    if (!old->is_all || rest->n < n || memcmp(rest->p, old->bytes.p, n) != 0)
        return false;
    struct str behind = {rest->p + n, rest->n - n};
    if (old->kind == DETAIL_METRIC) {
        double number, samples;
        if (!detail_numbers_take(&behind, &number, &samples) || samples > 1)
            return false;
        put_run_metric(b, old->key, old->way, number);
    } else {
        put_meaning(b, old);
    }
    *ret = *old;
    ret->bytes.p = rest->p;
    *rest = behind;
    return true;
}

/* Records the facts of the index, in b->now. Returns false where they are damaged, and only a part
 * of them was added. */
static bool take_known_facts(struct run_builder *b, struct arena *scratch)
{
    struct facts_known *now = &b->now, *before = &b->before;
    struct str rest = buf_text(&now->text);
    for (now->count = 0; rest.n; now->count++) {
        if (!ARRAY_FITS(now->list, now->capacity, now->count + 1)) {
            b->failed = true;
            return false;
        }
        struct fact_meaning *m = &now->list[now->count];
        if (now->count < before->count && take_same_fact(b, &before->list[now->count], &rest, m))
            continue;
        struct detail_fact f;
        const char *p = rest.p;
        if (!detail_fact_take(&rest, &f))
            return false;
        b->meaning = (struct fact_meaning){0};
        take_detail(b, &f, scratch);
        *m = b->meaning;
        m->kind = f.kind;
        m->bytes = (struct str){p, (size_t)(rest.p - p) - (f.kind == DETAIL_METRIC ? DETAIL_NUMBERS : 0)};
    }
    struct facts_known swapped = *before;
    *before = *now;
    *now = swapped;
    return true;
}

/* ---- benchwrap.json ---- */

/* Records one member of params, metrics or tags: {"value": …, "source": …}. */
static void scan_fact(struct json_scan *s, struct run_builder *b, enum detail_kind kind, struct str key, struct arena *scratch)
{
    struct str member, other;
    struct detail_fact f = {.kind = kind, .key = key, .unit = STR(""), .direction = STR(""), .number = NAN, .samples = 1};
    if (!json_scan_enter(s))
        return;
    while (json_scan_member(s, &member)) {
        if (str_is(member, "value") && kind == DETAIL_METRIC) {
            if (!json_scan_number(s, &f.number))
                json_scan_value(s, &other);
        } else if (str_is(member, "value")) {
            if (!json_scan_text(s, &f.value))
                json_scan_value(s, &f.value);
        } else if (str_is(member, "samples")) {
            if (!json_scan_number(s, &f.samples))
                json_scan_value(s, &other);
        } else {
            struct str *to = str_is(member, "source")      ? &f.source
                             : str_is(member, "unit")      ? &f.unit
                             : str_is(member, "direction") ? &f.direction
                                                           : &other;
            if (!json_scan_text(s, to))
                json_scan_value(s, to);
        }
    }
    if (s->damaged || !key.n || memchr(key.p, '\\', key.n))
        return;
    detail_fact_put(&b->known, &f);
    take_detail(b, &f, scratch);
}

/* Records "host" and "argv" of the record's "run" object, also in b->known. */
static void scan_run_member(struct json_scan *s, struct run_builder *b, struct arena *scratch)
{
    struct str member;
    if (!json_scan_enter(s))
        return;
    while (json_scan_member(s, &member)) {
        struct detail_fact f = {.kind = DETAIL_HOST};
        if (!str_is(member, "host") || !json_scan_text(s, &f.value)) {
            f.kind = DETAIL_ARGV;
            if (!json_scan_value(s, &f.value) || !str_is(member, "argv"))
                continue;
        }
        detail_fact_put(&b->known, &f);
        take_detail(b, &f, scratch);
    }
}

/* Records params, metrics, tags and run of a record. Returns false where the text is no complete
 * JSON object; facts before the damage are recorded. */
static bool scan_detail(struct str text, struct run_builder *b, struct arena *scratch)
{
    struct json_scan s = json_scan_of(text);
    struct str member, value;
    if (!json_scan_enter(&s))
        return false;
    while (json_scan_member(&s, &member)) {
        bool param = str_is(member, "params"), metric = str_is(member, "metrics");
        if (str_is(member, "run")) {
            scan_run_member(&s, b, scratch);
        } else if ((param || metric || str_is(member, "tags")) && json_scan_enter(&s)) {
            struct str key;
            while (json_scan_member(&s, &key))
                scan_fact(&s, b, param ? DETAIL_PARAM : metric ? DETAIL_METRIC : DETAIL_TAG, key, scratch);
        } else if (!json_scan_value(&s, &value)) {
            return false;
        }
    }
    return !s.damaged;
}

static void put_line_fact(struct run_builder *b, struct lines_read *to, struct str name, struct str value)
{
    uint32_t key = fact_key_of(b->keys, FACT_PARAM, name, -1, STR(""));
    if (key == UINT32_MAX || !ARRAY_FITS(to->list, to->capacity, to->count + 1))
        b->failed = true;
    else
        to->list[to->count++] = (struct run_fact){.key = key, .value = hash_bytes(1, value.p, value.n)};
}

/* Records the lines of an artifact as params. */
static void take_lines(struct run_builder *b, enum run_lines of, struct arena *scratch)
{
    struct lines_read *last = &b->lines[of];
    struct str text = run_lines_read(b->reading->runs, b->to->run, of, scratch);
    if (!str_eq(text, buf_text(&last->text))) {
        char key[LINE_KEY_MAX];
        struct str rest = text, value, all;
        buf_clear(&last->text);
        buf_str(&last->text, text);
        last->count = 0;
        for (size_t n; (n = run_lines_next(of, &rest, key, &value, &all));)
            put_line_fact(b, last, (struct str){key, n}, value);
    }
    for (size_t i = 0; i < last->count; i++)
        put_run_fact(b, last->list[i].key, last->list[i].value);
}

/* Records the facts of a run of another program, or of one that was deleted, from the files of its
 * folder. */
static void read_folder(struct run_builder *b, struct arena *scratch)
{
    struct tree_run full = *b->to->run;
    struct folder tree = runs_tree(b->reading->runs, b->to->run);
    tree_fill(&tree, &full, TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE, scratch);
    b->to->is_gone = tree_is_gone(&tree, b->to->run);
    for (const struct tree_entry *e = full.params; e; e = e->next)
        take_param(b, str_of(e->key), e->value, (struct str){NULL, 0});
    for (const struct tree_entry *e = full.tags; e; e = e->next)
        take_tag(b, str_of(e->key), e->value);
    for (const struct tree_entry *e = full.metrics; e; e = e->next) {
        const struct detail_fact f = {.kind = DETAIL_METRIC, .key = str_of(e->key), .unit = STR(""), .direction = STR("")};
        if (e->count && !is_wall_of_points(b, f.key))
            take_metric_samples(b, &f, e->samples, e->count, scratch);
    }
}

/* Copies the facts and metrics that were read into the run, in the arena. Out of memory: the run
 * has none, and the arena has failed. */
static void keep_facts(struct run_builder *b)
{
    struct facts_run *to = b->to;
    to->facts = arena_get(b->a, (b->fact_count + 1) * sizeof *to->facts);
    to->metrics = arena_get(b->a, (b->metric_count + 1) * sizeof *to->metrics);
    if (!to->facts || !to->metrics)
        return;
    if (b->fact_count)
        memcpy(to->facts, b->facts, b->fact_count * sizeof *to->facts);
    if (b->metric_count)
        memcpy(to->metrics, b->metrics, b->metric_count * sizeof *to->metrics);
    to->fact_count = b->fact_count;
    to->metric_count = b->metric_count;
}

/* Where facts are from, in the order of the attempts. */
enum facts_source { FACTS_FROM_INDEX, FACTS_FROM_DETAIL, FACTS_FROM_FOLDER };

/* Records the facts of one source. Returns false where there are none, or they are damaged; a part
 * of them may have been added. */
static bool take_facts_from(struct run_builder *b, enum facts_source from, uint64_t *stamp, struct buf *text, struct arena *scratch)
{
    static const char detail[] = "artifacts/benchwrap.json";
    const struct runs *runs = b->reading->runs;
    const char *run = tree_run_path(b->to->run);
    char path[256];
    struct folder tree = runs_tree(runs, b->to->run);
    buf_clear(text);
    buf_clear(&b->now.text);
    if (from == FACTS_FROM_INDEX)
        return tree_index_derived(runs->index, run, detail, DETAIL_FACTS, &b->now.text, stamp) && take_known_facts(b, scratch);
    if (from == FACTS_FROM_FOLDER)
        return read_folder(b, scratch), true;
    buf_clear(&b->known);
    snprintf(path, sizeof path, "%s/%s", run, detail);
    if (folder_read(&tree, path, DETAIL_READ_MAX, text) < 0 || !scan_detail(buf_text(text), b, scratch))
        return false;
    if (!b->known.failed)
        tree_index_derive(runs->index, run, detail, DETAIL_FACTS, *stamp, buf_text(&b->known));
    return true;
}

/* Fills *to with the run's facts: from the index, else from its record, else from the files of its
 * folder. Errors are noted in b->failed. text: a work buffer. */
static void read_run_facts(struct run_builder *b, const struct tree_run *run, struct facts_run *to, struct buf *text)
{
    struct arena scratch;
    uint64_t stamp = 0;
    bool done = false;
    arena_init(&scratch, 0);
    for (int from = FACTS_FROM_INDEX; from <= FACTS_FROM_FOLDER && !done; from++) {
        *to = (struct facts_run){
            .run = run, .content = hash_bytes(6, &run->start_ms, sizeof run->start_ms) ^ hash_bytes(7, &run->end_ms, sizeof run->end_ms)};
        b->to = to;
        b->fact_count = b->metric_count = 0;
        done = take_facts_from(b, (enum facts_source)from, &stamp, text, &scratch);
    }
    if (b->reading->texts)
        for (int of = 0; of < LINES_KINDS; of++)
            take_lines(b, (enum run_lines)of, &scratch);
    b->failed = b->failed || scratch.failed;
    arena_deinit(&scratch);
    keep_facts(b);
}

/* Reads the facts of CHUNK runs into r->list, with a table of keys for this chunk alone. Workers
 * call it in parallel; out of memory: the arena has failed. */
static void read_facts_chunk(void *context, size_t chunk, struct arena *a)
{
    struct reading *r = context;
    struct run_builder b = {.reading = r, .keys = &r->tables[chunk], .a = a};
    CLEANUP_BUF struct buf text;
    buf_init(&text, DETAIL_READ_MAX + (1 << 17));
    buf_init(&b.known, DETAIL_READ_MAX);
    buf_init(&b.now.text, DETAIL_READ_MAX + (1 << 17));
    buf_init(&b.before.text, DETAIL_READ_MAX + (1 << 17));
    for (int of = 0; of < LINES_KINDS; of++)
        buf_init(&b.lines[of].text, LINES_READ_MAX + 1);
    *b.keys = (struct key_table){.a = a};
    size_t end = (chunk + 1) * CHUNK < r->runs->count ? (chunk + 1) * CHUNK : r->runs->count;
    for (size_t i = chunk * CHUNK; i < end && !a->failed; i++)
        read_run_facts(&b, r->runs->all[i], &r->list[i], &text);
    free(b.facts);
    free(b.metrics);
    free(b.now.list);
    free(b.before.list);
    buf_deinit(&b.now.text);
    buf_deinit(&b.before.text);
    buf_deinit(&b.known);
    for (int of = 0; of < LINES_KINDS; of++) {
        free(b.lines[of].list);
        buf_deinit(&b.lines[of].text);
    }
    if (b.failed || b.keys->failed)
        a->failed = true;
}

/* ---- all runs ---- */

/* Moves values of runs that know no unit of their metric to the key of the others, where these have
 * one unit. */
static void join_units(struct reading *r, const struct key_table *all)
{
    bool any = false;
    for (uint32_t k = 0; k < all->count && !any; k++)
        any = key_with_unit(all, k) != k;
    for (size_t i = 0; any && i < r->runs->count; i++)
        for (size_t k = 0; k < r->list[i].metric_count; k++)
            r->list[i].metrics[k].key = key_with_unit(all, r->list[i].metrics[k].key);
}

/* Joins the chunks' keys to one list. */
static bool merge_keys(struct reading *r, size_t chunks, struct run_facts *ret)
{
    struct key_table all = {.a = r->arena};
    for (size_t c = 0; c < chunks; c++) {
        const struct key_table *t = &r->tables[c];
        uint32_t *index = malloc((t->count + 1) * sizeof *index);
        for (size_t k = 0; index && k < t->count; k++) {
            const struct fact_key *from = &t->list[k];
            index[k] = fact_key_of(&all, from->kind, str_of(from->name), from->step, str_of(from->unit));
        }
        size_t end = (c + 1) * CHUNK < r->runs->count ? (c + 1) * CHUNK : r->runs->count;
        for (size_t i = c * CHUNK; index && !all.failed && i < end; i++) {
            for (size_t k = 0; k < r->list[i].fact_count; k++)
                r->list[i].facts[k].key = index[r->list[i].facts[k].key];
            for (size_t k = 0; k < r->list[i].metric_count; k++)
                r->list[i].metrics[k].key = index[r->list[i].metrics[k].key];
        }
        if (!index || all.failed)
            return free(index), false;
        free(index);
    }
    join_units(r, &all);
    ret->keys = all.list;
    ret->key_count = all.count;
    return true;
}

static int by_facts_id(const void *a, const void *b)
{
    const struct facts_run *const *x = a, *const *y = b;
    return strcmp((*x)->run->id, (*y)->run->id);
}

uint64_t run_facts_value(const struct facts_run *run, uint32_t key)
{
    for (size_t i = 0; i < run->fact_count; i++)
        if (run->facts[i].key == key)
            return run->facts[i].value;
    return 0;
}

struct id_index {
    const struct facts_run **sorted;
    size_t count;
};

/* Returns the run of this id in the sorted index; NULL: none. */
static struct facts_run *find_id(const struct id_index *index, const char *id)
{
    struct tree_run named = {0};
    const struct facts_run key = {.run = &named}, *at = &key;
    snprintf(named.id, sizeof named.id, "%s", id);
    const struct facts_run **found = index->count ? bsearch(&at, index->sorted, index->count, sizeof *index->sorted, by_facts_id) : NULL;
    return found ? (struct facts_run *)*found : NULL;
}

/* Removes the runs that no longer exist from both lists, and counts them in runs->gone. */
static void drop_gone_runs(struct runs *runs, struct run_facts *facts)
{
    size_t kept = 0;
    for (size_t i = 0; i < facts->count; i++) {
        if (facts->runs[i].is_gone) {
            runs->gone++;
            continue;
        }
        runs->all[kept] = runs->all[i];
        facts->runs[kept++] = facts->runs[i];
    }
    runs->count = facts->count = kept;
}

/* Adds what a parent run holds for its repetitions to each of them. Returns false when out of
 * memory. */
static bool inherit_all(struct run_facts *facts, struct arena *a)
{
    struct id_index index = {malloc((facts->count + 1) * sizeof *index.sorted), facts->count};
    if (!index.sorted)
        return false;
    for (size_t i = 0; i < facts->count; i++)
        index.sorted[i] = &facts->runs[i];
    qsort(index.sorted, index.count, sizeof *index.sorted, by_facts_id);
    for (size_t i = 0; i < facts->count; i++) {
        struct facts_run *r = &facts->runs[i];
        const struct facts_run *parent = r->is_repetition && *r->parent ? find_id(&index, r->parent) : NULL;
        if (!parent)
            continue;
        r->in_parent = !parent->is_sweep;
        r->inputs ^= hash_bytes(8, &parent->inputs, sizeof parent->inputs);
        struct run_fact *all = arena_get(a, (r->fact_count + parent->fact_count + 1) * sizeof *all);
        if (!all)
            break;
        memcpy(all, r->facts, r->fact_count * sizeof *all);
        size_t n = r->fact_count;
        for (size_t k = 0; k < parent->fact_count; k++) {
            const struct fact_key *key = &facts->keys[parent->facts[k].key];
            if (key->kind == FACT_PARAM && inputs_of_machine(key->name) && !run_facts_value(r, parent->facts[k].key))
                all[n++] = parent->facts[k];
        }
        r->facts = all;
        r->fact_count = n;
    }
    free(index.sorted);
    return !a->failed;
}

int run_facts_read(struct runs *runs, bool texts, struct arena *a, struct run_facts *ret, struct err *err)
{
    size_t chunks = (runs->count + CHUNK - 1) / CHUNK;
    struct reading r = {.runs = runs, .texts = texts, .arena = a};
    *ret = (struct run_facts){.count = runs->count};
    r.list = ret->runs = arena_get(a, (runs->count + 1) * sizeof *ret->runs);
    r.tables = arena_get(a, (chunks + 1) * sizeof *r.tables);
    if (!r.list || !r.tables)
        return err_memory(err, "the facts of runs");
    parallel_each(runs_workers(runs, runs->count), chunks, read_facts_chunk, &r, a);
    if (a->failed || !merge_keys(&r, chunks, ret))
        return err_memory(err, "the facts of runs");
    drop_gone_runs(runs, ret);
    return inherit_all(ret, a) ? 0 : err_memory(err, "the facts of runs");
}

double run_facts_number(const struct facts_run *run, uint32_t key)
{
    for (size_t i = 0; i < run->metric_count; i++)
        if (run->metrics[i].key == key)
            return run->metrics[i].number;
    return NAN;
}
