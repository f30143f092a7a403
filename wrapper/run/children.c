/* children.c: the tests of one output as child runs. */
#include "run/children.h"

#include "run/make.h"

#include <stdio.h>

/* Returns whether the key is one of the block's ("t0.write.bw…"), and then removes the prefix from
 * *key. Facts about the machine can begin with the same word: only facts of the rules count. */
static bool is_of_block(const struct fact *f, const char *name, struct str *key)
{
    size_t n = strlen(name);
    if (!str_starts(str_of(f->source), "rule:") || !str_starts(f->key, name) || f->key.n <= n + 1 || f->key.p[n] != '.')
        return false;
    *key = str_sub(f->key, n + 1, f->key.n);
    return true;
}

static bool is_of_any_block(const struct fact *f, const struct rules_outcome *outcome)
{
    struct str key;
    for (size_t i = 0; i < outcome->blocks; i++)
        if (is_of_block(f, outcome->block[i].name, &key))
            return true;
    return false;
}

/* Returns whether a fact of the run holds for each of its tests too. Wall time, processor time and
 * samples of the machine do not. */
static bool is_of_each_block(const struct fact *f)
{
    static const char *const not_tags[] = {"benchwrap.verdict", "benchwrap.reason", "benchwrap.headline", "mlflow.runName"};
    if (f->kind == FACT_METRIC)
        return str_is(f->key, "run.exit_status") || str_is(f->key, "run.output_B");
    if (f->kind == FACT_ARTIFACT)
        return str_is(f->key, "rules.yaml");
    for (size_t i = 0; f->kind == FACT_TAG && i < sizeof not_tags / sizeof *not_tags; i++)
        if (str_is(f->key, not_tags[i]))
            return false;
    return f->kind == FACT_PARAM || (f->kind == FACT_TAG && !str_starts(f->key, "benchwrap.rules_file."));
}

/* Removes the prefix of the block whose key it is. False: it is of none, and is unchanged. */
static bool without_block(const struct rules_outcome *outcome, struct str *key)
{
    for (size_t i = 0; i < outcome->blocks; i++) {
        size_t n = strlen(outcome->block[i].name);
        if (str_starts(*key, outcome->block[i].name) && key->n > n + 1 && key->p[n] == '.') {
            *key = str_sub(*key, n + 1, key->n);
            return true;
        }
    }
    return false;
}

/* Records the test's headline metrics. The complete run's are those of its first test: without that
 * test's block, they are keys of this test. */
static void child_add_headline(struct record *to, const struct record *from, const struct rules_outcome *outcome)
{
    const struct fact *f = record_find(from, FACT_TAG, "benchwrap.headline");
    struct buf words CLEANUP_BUF;
    struct str rest = f ? f->text : STR("");
    char key[300];
    buf_init(&words, 8192);
    for (struct str word; (word = str_word(&rest)).n;) {
        if (!without_block(outcome, &word) || (size_t)snprintf(key, sizeof key, STR_FMT, STR_ARG(word)) >= sizeof key)
            continue;
        if (record_find(to, FACT_METRIC, key))
            buf_printf(&words, "%s%s", words.n ? " " : "", key);
    }
    if (words.n)
        record_tag(to, "benchwrap.headline", buf_text(&words));
}

/* Copies to a test's record the facts of its block, without the block's prefix, and those that hold
 * for each test. */
static void child_add_facts(struct record *to, const struct record *from, const struct rules_outcome *outcome,
                            const struct rules_block *block)
{
    for (const struct fact *f = from->first; f; f = f->next) {
        struct fact own = *f;
        size_t n = strlen(block->name);
        if (f->kind == FACT_WARNING) {
            if (str_starts(f->text, block->name) && f->text.n > n + 1 && f->text.p[n] == '.')
                record_warning(to, STR_FMT, STR_ARG(str_sub(f->text, n + 1, f->text.n)));
        } else if (is_of_block(f, block->name, &own.key) || (!is_of_any_block(f, outcome) && is_of_each_block(f)))
            record_fact(to, &own);
    }
}

static enum run_status block_status(const struct rules_block *block, enum run_status program)
{
    return program == RUN_FINISHED && !block->complete ? RUN_FAILED : program;
}

/* Makes the record of one test. False: out of memory. */
static bool child_make(struct finished *child, const struct finished *parent, const struct rules_outcome *outcome,
                       const struct rules_block *block, enum run_status program)
{
    const struct record *from = &parent->record;
    struct record *to = &child->record;
    char id[33], name[400];
    snprintf(name, sizeof name, "%s/%s", from->id, block->name);
    make_id(id, "child", str_of(name));
    *child = (struct finished){.head = parent->head, .verdict = "none", .reason = block->reason ? block->reason : ""};
    record_init(to, id, from->start_ms);
    to->end_ms = from->end_ms;
    to->status = block_status(block, program);
    to->source = "recorder";
    child_add_facts(to, from, outcome, block);
    child_add_headline(to, from, outcome);
    to->source = "recorder";
    child->verdict = to->status != RUN_FINISHED || block->verdict == VERDICT_FAIL ? "fail"
                     : block->verdict == VERDICT_PASS                             ? "pass"
                                                                                  : "none";
    snprintf(name, sizeof name, "%.300s %.64s", parent->head.run_name ? parent->head.run_name : "", block->name);
    char *run_name = arena_dup(&to->arena, name, strlen(name));
    child->head.run_name = run_name;
    memcpy(child->head.id, id, sizeof id);
    record_tag(to, "mlflow.parentRunId", str_of(from->id));
    record_tag(to, "benchwrap.run_id", str_of(id));
    record_tag(to, "benchwrap.block", str_of(block->name));
    record_tag(to, "benchwrap.verdict", str_of(child->verdict));
    if (child->reason[0])
        record_tag(to, "benchwrap.reason", str_of(child->reason));
    return run_name && !record_lost(to);
}

int children_publish(struct spool *s, const struct finished *parent, const struct finish_options *o, const struct rules_outcome *outcome,
                     enum run_status status, struct buf *places, struct err *err)
{
    for (size_t i = 0; i < outcome->blocks; i++) {
        const struct rules_block *block = &outcome->block[i];
        struct finished child;
        int rc = child_make(&child, parent, outcome, block, status) ? finish_publish(s, &child, o, err) : err_memory(err, "a child run");
        if (rc == 0)
            buf_printf(places, " %s", child.place);
        finished_deinit(&child);
        if (rc)
            return err_wrap(err, "child run %s", block->name);
    }
    return 0;
}
