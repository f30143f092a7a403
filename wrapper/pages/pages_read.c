/* pages_read.c: read runs for the pages, and write the page of each while it is read. */
#include "pages/pages_read.h"

#include "base/json_out.h"
#include "base/sha256.h"
#include "mlruns-format/disturbance.h"
#include "mlruns-format/headline.h"
#include "mlruns-format/verdict.h"
#include "report/report.h"
#include "runs/inherit.h"
#include "runs/stale.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PAGE_RUN_MAX = 32 << 20, CONDITIONS_MAX = 1000, CONDITION_TEXT = 200 };

/* ---- stamps ---- */

struct stamp_search {
    struct str name;
    struct arena *a;
    const char *found;
};

/* Notes the id of the entry with the name, in hexadecimal, and stops the listing. An entry without
 * an id, as on a disk, is ignored. */
static int stamp_entry(void *context, const struct folder_entry *e)
{
    struct stamp_search *s = context;
    if (!str_eq(e->name, s->name) || !e->id)
        return 0;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 200);
    for (size_t i = 0; i < e->id_size; i++)
        buf_printf(&b, "%02x", e->id[i]);
    s->found = arena_dup(s->a, b.p, b.n);
    return 1;
}

/* Returns git's id of the folder of a run that is in a commit, in the arena; "": none. */
static const char *stamp_of_object(const struct folder *tree, const struct tree_run *run, struct arena *a)
{
    const char *path = tree_run_path(run), *slash = strrchr(path, '/');
    struct stamp_search s = {.name = str_of(slash ? slash + 1 : path), .a = a};
    CLEANUP_FOLDER struct folder in = {0};
    const char *above = slash ? arena_dup(a, path, (size_t)(slash - path)) : NULL;
    if (above && folder_enter(tree, above, &in) == 0)
        folder_names(&in, stamp_entry, &s);
    return s.found ? s.found : "";
}

/* Appends a checksum of what annotations and corrections of other runs change of this one, and of its
 * experiment's name. */
static void put_stamp_of_others(const struct tree_run *run, struct buf *to)
{
    struct sha256 s;
    char hex[SHA256_HEX];
    sha256_init(&s);
    sha256_add(&s, run->experiment, strlen(run->experiment) + 1);
    for (const struct tree_entry *e = run->annotated; e; e = e->next) {
        sha256_add(&s, e->key, strlen(e->key) + 1);
        sha256_add(&s, e->value.p ? "=" : "", 1);
        sha256_add(&s, e->value.p ? e->value.p : "", e->value.p ? e->value.n : 0);
        sha256_add(&s, "", 1);
    }
    sha256_end(&s, hex);
    buf_printf(to, " %.16s", hex);
}

const char *page_stamp(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    static const char *const parts[] = {"", "/meta.yaml", "/params", "/metrics", "/tags", "/artifacts"};
    CLEANUP_BUF struct buf b;
    const struct folder tree = runs_tree(runs, run);
    char path[300];
    buf_init(&b, 1000);
    if (runs->root < 0)
        buf_puts(&b, stamp_of_object(&tree, run, a));
    for (size_t i = 0; runs->root >= 0 && i < sizeof parts / sizeof *parts; i++) {
        struct stat st;
        snprintf(path, sizeof path, "%s%s", tree_run_path(run), parts[i]);
        if (fstatat(runs->root, path, &st, AT_SYMLINK_NOFOLLOW))
            buf_puts(&b, "-");
        else
            buf_printf(&b, "%llx.%llx.%llx ", (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
                       (unsigned long long)st.st_mtim.tv_sec * 1000000000 + (unsigned long long)st.st_mtim.tv_nsec);
    }
    if (b.n)
        put_stamp_of_others(run, &b);
    const char *stamp = arena_dup(a, b.p, b.n);
    return stamp ? stamp : "";
}

/* ---- facts ---- */

/* Returns whether the fact may explain why two systems differ, and stays the same from run to
 * run. */
static bool is_condition(const char *key)
{
    static const char *const starts[] = {
        "machine.", "cloud.",    "os.",       "kernel.",  "cpu.",         "cache.",       "numa.nodes",    "numa.memory", "memory.total",
        "dimm.",    "gpu.",      "net.card",  "fs.",      "net.fabric",   "mpi.",         "software.",     "env.",        "job.scheduler",
        "limits.",  "node.type", "cgroup.cp", "cgroup.m", "program.comp", "program.sha2", "slurm.version", "step."};
    static const char *const never[] = {"frequency_Hz", "cmdline", "free", "used", "available", "bound_list", "throttled", "inode"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(key, never[i]))
            return false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(key, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static const char *page_text(struct str text, size_t max, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8 * max + 64);
    buf_utf8(&b, str_sub(text, 0, max)); /* a character cut in two becomes U+FFFD */
    const char *copy = arena_dup(a, b.p ? b.p : "", b.n);
    return copy ? copy : "";
}

/* Returns the value as valid UTF-8 in the arena. One of more than CONDITION_TEXT bytes is cut, with a
 * checksum behind it: pages compare values, and these may differ behind the cut. */
static const char *condition_text(struct str value, struct arena *a)
{
    char hex[SHA256_HEX];
    struct sha256 s;
    size_t n = CONDITION_TEXT;
    if (value.n <= CONDITION_TEXT)
        return page_text(value, CONDITION_TEXT, a);
    while (n > CONDITION_TEXT - 4 && (value.p[n] & 0xc0) == 0x80)
        n--;
    sha256_init(&s);
    sha256_add(&s, value.p, value.n);
    sha256_end(&s, hex);
    const char *text = arena_printf(a, "%s... (%.8s)", page_text(value, n, a), hex);
    return text ? text : "";
}

/* A set of facts while it is read. */
struct fact_set {
    struct page_fact *list; /* CONDITIONS_MAX and one more, in the arena */
    size_t count, more; /* more: behind CONDITIONS_MAX */
};

static void add_page_fact(struct fact_set *set, const char *name, struct str value, struct arena *a)
{
    if (set->count == CONDITIONS_MAX)
        set->more++;
    else if (set->list)
        set->list[set->count++] = (struct page_fact){page_text(str_of(name), 100, a), condition_text(value, a)};
}

/* Returns the set with this id in the arena; facts that it lacks are counted in a last one. NULL: out
 * of memory. */
static const struct page_facts *facts_new(struct fact_set *set, const char *id, struct arena *a)
{
    struct page_facts *facts = ARENA_NEW(a, struct page_facts);
    if (!facts || !set->list || !id)
        return NULL;
    if (set->more)
        set->list[set->count++] = (struct page_fact){"(not kept)", arena_printf(a, "%zu more", set->more)};
    *facts = (struct page_facts){id, set->list, set->count};
    return set->more && !set->list[set->count - 1].value ? NULL : facts;
}

static struct fact_set fact_set_for(size_t n, struct arena *a)
{
    return (struct fact_set){.list = arena_get(a, ((n < CONDITIONS_MAX ? n : CONDITIONS_MAX) + 1) * sizeof(struct page_fact))};
}

/* Returns the params of the run that are conditions, with a hash of them, in the arena. NULL: out
 * of memory. */
static const struct page_facts *page_conditions_of(const struct tree_run *run, struct arena *a)
{
    struct sha256 s;
    char hex[SHA256_HEX];
    size_t n = 0;
    sha256_init(&s);
    for (const struct tree_entry *e = run->params; e; e = e->next)
        n += is_condition(e->key);
    struct fact_set set = fact_set_for(n, a);
    for (const struct tree_entry *e = run->params; e; e = e->next)
        if (is_condition(e->key))
            add_page_fact(&set, e->key, e->value, a);
    for (size_t i = 0; i < set.count; i++) {
        sha256_add(&s, set.list[i].name, strlen(set.list[i].name) + 1);
        sha256_add(&s, set.list[i].value, strlen(set.list[i].value) + 1);
    }
    sha256_add(&s, &set.more, sizeof set.more);
    sha256_end(&s, hex);
    return facts_new(&set, arena_printf(a, "c%.16s", hex), a);
}

static const struct page_facts *inputs_of_key(const struct comparison_key *key, struct arena *a)
{
    struct fact_set set = fact_set_for(key->count, a);
    for (size_t i = 0; i < key->count; i++)
        if (key->facts[i].part == COMPARISON_MEASURED)
            add_page_fact(&set, key->facts[i].name, key->facts[i].value, a);
    return facts_new(&set, arena_printf(a, "i%s", key->id[COMPARISON_MEASURED]), a);
}

/* ---- values ---- */

static const char *direction_of_key(const struct json *detail, const char *key)
{
    const char *better = json_string(json_get(json_get(json_get(detail, "metrics"), key), "direction"), "");
    return strcmp(better, "higher") == 0 || strcmp(better, "lower") == 0 ? better : "";
}

/* Returns the unit: the record may know one that the key does not have. */
static const char *unit_of_headline(const struct json *detail, const struct headline *h)
{
    const char *unit = json_string(json_get(json_get(json_get(detail, "metrics"), h->key), "unit"), NULL);
    return unit && *unit ? unit : h->unit;
}

static void read_headlines(const struct folder *tree, const struct tree_run *run, const struct json *detail, struct arena *a,
                           struct page_run *ret)
{
    struct headline found[HEADLINES_MAX];
    size_t n = headlines_of(tree, run, PAGE_VALUES, a, found);
    for (size_t i = 0; i < n && ret->value_count < PAGE_VALUES; i++)
        if (isfinite(found[i].value))
            ret->values[ret->value_count++] =
                (struct page_value){page_text(str_of(found[i].key), 200, a), page_text(str_of(unit_of_headline(detail, &found[i])), 40, a),
                                    arena_printf(a, "%s", direction_of_key(detail, found[i].key)), found[i].value};
}

/* Returns the first warning that is not about a disturbance, which has a tag. */
static const char *other_warning(const struct json *detail, struct arena *a)
{
    for (const struct json *w = json_first(json_get(detail, "warnings")); w; w = json_next(w)) {
        const char *text = json_string(json_get(w, "text"), "");
        if (strncmp(text, "disturbed: ", 11) != 0)
            return page_text(str_of(text), 300, a);
    }
    return "";
}

static const char *page_tag_text(const struct tree_run *run, const char *key, struct arena *a)
{
    const struct tree_entry *e = runs_entry(run->tags, key);
    return e ? page_text(e->value, 300, a) : "";
}

static const char *page_param_text(const struct tree_run *run, const char *key, struct arena *a)
{
    const struct tree_entry *e = runs_entry(run->params, key);
    return e ? page_text(e->value, 300, a) : "";
}

/* ---- the run's own pages ---- */

static void put_run_json(const struct tree_run *run, const struct json *detail, const struct comparison_key *key, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    json_text(&j, "run", run->id);
    json_text(&j, "experiment", run->experiment);
    json_text(&j, "name", run->name);
    json_text(&j, "status", runs_status(run));
    json_int(&j, "start_time", run->start_ms);
    if (run->end_ms)
        json_int(&j, "end_time", run->end_ms);
    comparison_key_json(key, &j);
    json_open(&j, "metrics", '{');
    for (const struct tree_entry *e = run->metrics; e; e = e->next) {
        const struct json *m = json_get(json_get(detail, "metrics"), e->key);
        if (!e->count)
            continue;
        json_open_row(&j, e->key, '{');
        json_double(&j, "value", tree_entry_latest(e)->value);
        json_text(&j, "unit", json_string(json_get(m, "unit"), NULL));
        json_text(&j, "direction", json_string(json_get(m, "direction"), NULL));
        json_uint(&j, "samples", e->count);
        json_close(&j, '}');
    }
    json_close(&j, '}');
    const struct {
        const char *name;
        const struct tree_entry *list;
    } texts[] = {{"params", run->params}, {"tags", run->tags}};
    for (size_t i = 0; i < 2; i++) {
        json_open(&j, texts[i].name, '{');
        for (const struct tree_entry *e = texts[i].list; e; e = e->next)
            json_str(&j, e->key, e->value);
        json_close(&j, '}');
    }
    json_close(&j, '}');
}

/* Returns the id of the system, with that of a program of another name than the benchmark. Results
 * of two programs are no results of one system. NULL: out of memory. */
static const char *id_of_system(const struct comparison_key *key, struct arena *a)
{
    bool named = comparison_key_program(key).p != NULL;
    return arena_printf(a, "%s%s%s", key->id[COMPARISON_SYSTEM], named ? "-" : "", named ? key->id[COMPARISON_PROGRAM] : "");
}

/* Writes the page and the JSON document of one run. -1 with err. */
static int write_run_pages(struct runs *runs, struct tree_run *run, const struct json *detail, const struct comparison_key *key,
                           struct page_files *files, struct arena *a, struct err *err)
{
    struct doc doc = {.a = a};
    char path[PAGE_PATH], json[PAGE_PATH];
    CLEANUP_BUF struct buf to;
    buf_init(&to, PAGE_RUN_MAX);
    page_path_run(run->id, ".html", path);
    page_path_run(run->id, ".json", json);
    put_run_json(run, detail, key, &to);
    if (page_file_put(files, json, &to, err) < 0)
        return -1;
    buf_clear(&to);
    CLEANUP_BUF struct buf number;
    char experiment[PAGE_PATH];
    buf_init(&number, 64);
    buf_printf(&number, "%llu", (unsigned long long)run->experiment_id);
    page_path_of("../../experiment", number.p, ".html", experiment);
    doc.above = run->experiment;
    doc.above_path = experiment;
    if (report_run(&doc, runs, run, &(struct report_options){0}, err) < 0)
        return -1;
    doc.foot = arena_printf(a, "Comparison key: measurement %s, system %s.", key->id[COMPARISON_MEASURED], id_of_system(key, a));
    return doc_html(&doc, &to) < 0 ? err_memory(err, "the page of run %.8s", run->id) : page_file_put(files, path, &to, err);
}

int page_run_read(struct runs *runs, struct comparison_reader *reader, const struct tree_run *run, struct page_files *files,
                  struct arena *a, struct page_run *ret, struct err *err)
{
    const struct folder tree = runs_tree(runs, run);
    struct tree_run whole = *run;
    struct comparison_key key;
    const char *problem = NULL;
    tree_fill(&tree, &whole, TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE, a);
    inherit_params(runs, &whole, a);
    struct json *detail = runs_detail(runs, &whole, &problem, a);
    if (whole.problem)
        problem = whole.problem;
    if (comparison_key_of(reader, &whole, detail, a, &key, err) < 0) {
        json_free(detail);
        return -1;
    }
    const char *verdict = verdict_shown(&tree, &whole, a), *failed = page_tag_text(&whole, "benchwrap.verdict", a),
               *unjudged = disturbance_unjudged(detail);
    *ret = (struct page_run){
        .id = arena_printf(a, "%s", whole.id),
        .experiment = page_text(str_of(whole.experiment), 200, a),
        .experiment_id = arena_printf(a, "%llu", (unsigned long long)whole.experiment_id),
        .name = page_text(str_of(whole.name), 200, a),
        .status = runs_status(&whole),
        .verdict = verdict                       ? page_text(str_of(verdict), 20, a)
                   : strcmp(failed, "fail") == 0 ? "fail"
                                                 : "",
        .reason = page_tag_text(&whole, "benchwrap.reason", a),
        .start_ms = whole.start_ms,
        .site = page_tag_text(&whole, "site", a),
        .cluster = page_tag_text(&whole, "cluster", a),
        .partition = page_param_text(&whole, "job.partition", a),
        .machine = page_param_text(&whole, "node.type", a),
        .version = page_tag_text(&whole, "benchmark.version", a),
        .measured = arena_printf(a, "%s", key.id[COMPARISON_MEASURED]),
        .system = id_of_system(&key, a),
        .problem = problem ? page_text(str_of(problem), 400, a) : "",
        .stale = page_tag_text(&whole, STALE_TAG, a),
        .noisy = page_tag_text(&whole, "benchwrap.noisy", a),
        .warning = other_warning(detail, a),
        .unjudged = unjudged ? page_text(str_of(unjudged), 300, a) : "",
        .inputs = inputs_of_key(&key, a),
        .conditions = page_conditions_of(&whole, a),
        .is_parent = runs_entry(whole.tags, "benchwrap.series") != NULL,
        .is_warmup = runs_entry(whole.tags, "benchwrap.warmup") != NULL,
    };
    read_headlines(&tree, &whole, detail, a, ret);
    int status = write_run_pages(runs, &whole, detail, &key, files, a, err);
    json_free(detail);
    if (a->failed)
        return err_memory(err, "the run %.8s", run->id);
    return status < 0 ? -1 : tree_is_gone(&tree, run);
}
