/* tags.c: check tags that MLflow acts on, that name other runs, or that repeat the record. */
#include "check/parts.h"

#include "base/site.h"
#include "mlruns-format/annotation.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

enum { PLAIN_MAX = 6000 /* bytes of a command: longer ones are cut here and there */ };

/* ---- MLflow's own ---- */

/* Returns whether benchwrap writes this tag of MLflow's. MLflow's pages read others as JSON, as
 * links, or as models to be shown. */
static bool is_written(const char *key)
{
    static const char *const keys[] = {"mlflow.runName",           "mlflow.user",
                                       "mlflow.source.name",       "mlflow.source.type",
                                       "mlflow.source.git.commit", "mlflow.source.git.branch",
                                       "mlflow.source.git.dirty",  "mlflow.source.git.repoURL",
                                       "mlflow.parentRunId",       "mlflow.note.content"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Returns whether the text has a link that is followed as a program. Ignores blanks and control
 * characters within the word, as browsers do. */
static bool leads_to_program(struct str text)
{
    static const char *const schemes[] = {"javascript:", "vbscript:", "data:text/html", "data:image/svg"};
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++)
        for (size_t i = 0; i < text.n; i++) {
            const char *wanted = schemes[s];
            for (size_t k = i; k < text.n && *wanted; k++) {
                unsigned char c = (unsigned char)text.p[k];
                if (c <= ' ' && k > i)
                    continue;
                if (strncasecmp((const char *)&text.p[k], wanted, 1) != 0)
                    break;
                wanted++;
            }
            if (!*wanted)
                return true;
        }
    return false;
}

/* Returns whether the text has Markdown or HTML that makes a browser load something. */
static bool loads_image(struct str text)
{
    static const char *const words[] = {"![",     "<img",   "<image", "<iframe", "<object",    "<embed",
                                        "<video", "<audio", "<link",  "<svg",    "background="};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t i = 0; i + strlen(words[w]) <= text.n; i++)
            if (strncasecmp(text.p + i, words[w], strlen(words[w])) == 0)
                return true;
    return false;
}

/* Reports tags "mlflow.…" that MLflow's page would act on, or that benchwrap does not write. */
static void check_mlflows(struct run_check *r)
{
    for (size_t i = 0; i < r->entry_count; i++) {
        const struct check_entry *e = &r->entries[i];
        char file[300];
        if (e->kind != 't' || strncmp(e->key, "mlflow.", 7) != 0)
            continue;
        snprintf(file, sizeof file, "tags/%.280s", e->key);
        if (leads_to_program(e->value))
            run_found(r, CHECK_TAG, file, 0, "it leads to a program (javascript: and similar addresses)");
        else if (!is_written(e->key))
            run_found(r, CHECK_TAG_ODD, file, 0, "benchwrap does not write this tag");
        else if (strcmp(e->key, "mlflow.note.content") == 0 && loads_image(e->value))
            run_found(r, CHECK_TAG_ODD, file, 0, "it loads an image from elsewhere, whose server learns who reads the note");
        else if (strcmp(e->key, "mlflow.source.type") == 0 && !str_is(e->value, "LOCAL"))
            run_found(r, CHECK_TAG_ODD, file, 0, "benchwrap writes LOCAL");
    }
}

/* Reports texts that an annotation sets and that do something when MLflow's pages show them as
 * any other tag. */
static void check_annotated_texts(struct run_check *r, const struct tree_entry *list, const char *file)
{
    for (const struct tree_entry *e = list; e; e = e->next) {
        if (e->value.p && strncmp(e->key, "mlflow.", 7) == 0 && leads_to_program(e->value))
            run_found(r, CHECK_TAG, file, 0, "%s leads to a program (javascript: and similar addresses)", e->key);
        if (e->value.p && strcmp(e->key, ANNOTATION_NOTE) == 0 && loads_image(e->value))
            run_found(r, CHECK_TAG_ODD, file, 0, "the note loads an image from elsewhere, whose server learns who reads it");
    }
}

/* ---- other runs ---- */

/* Reports a run that corrects one of another site: a site corrects its own runs only. The
 * reviewer decides who may act for a site. */
static void check_site(struct run_check *r, const char *id, enum check_id finding, const char *file)
{
    CLEANUP_BUF struct buf b;
    const char *own = run_text(r, 't', "site");
    char path[120];
    buf_init(&b, 1 << 16);
    snprintf(path, sizeof path, "%.16s/%.40s/tags/site", r->experiment, id);
    if (folder_read(r->k->tree, path, 4096, &b) == 0 && b.n && strcmp(own ? own : "", b.p) != 0)
        run_found(r, finding, file, 0, "the run %.8s is of the site \"%.100s\", and this one of %s%.100s%s", id, b.p, own ? "\"" : "none",
                  own ? own : "", own ? "\"" : "");
}

/* Returns true if it is the id of another run, else reports the finding. */
static bool is_another(struct run_check *r, const char *id, enum check_id finding, const char *file)
{
    bool known = record_is_id(str_of(id)), own = strcmp(id, r->id) == 0;
    if (!known || own)
        run_found(r, finding, file, 0, known ? "it names the run itself" : "it is no id of a run");
    return known && !own;
}

/* Checks a tag that names the run that this one corrects: another run of the same experiment and of
 * the same site. Without a tree only the id is checked. */
static void check_corrects(struct run_check *r, const char *tag)
{
    const char *id = run_text(r, 't', tag);
    char path[120], file[64];
    struct folder_entry e;
    snprintf(file, sizeof file, "tags/%s", tag);
    if (!id || !is_another(r, id, CHECK_AMENDS, file) || !r->k->tree)
        return;
    snprintf(path, sizeof path, "%.16s/%.40s", r->experiment, id);
    if (folder_look(r->k->tree, path, &e, NULL) < 0 || e.kind != FOLDER_FOLDER)
        run_found(r, CHECK_AMENDS, file, 0, "there is no run %s in this experiment", id);
    else
        check_site(r, id, CHECK_AMENDS, file);
}

/* Checks the file of an annotation: it can be read, names the run `id` of the tag, and its texts
 * are allowed. */
static void check_annotation_file(struct run_check *r, const char *id)
{
    static const char file[] = "artifacts/" ANNOTATION_FILE;
    CLEANUP_BUF struct buf b;
    char run[33];
    struct tree_entry *list;
    struct err err = {0};
    buf_init(&b, ANNOTATION_MAX + (1 << 17));
    if (folder_read(r->folder, file, ANNOTATION_MAX, &b) < 0)
        run_found(r, CHECK_ANNOTATES, file, 0, "it is missing, or has over %d bytes", ANNOTATION_MAX);
    else if (annotation_parse(buf_text(&b), &r->a, run, &list, &err) < 0)
        run_found(r, CHECK_ANNOTATES, file, 0, "%s", err.text);
    else if (strcmp(run, id) != 0)
        run_found(r, CHECK_ANNOTATES, file, 0, "it names another run than the tag " ANNOTATION_TAG);
    else
        check_annotated_texts(r, list, file);
}

/* Checks the tag that names the run that this one annotates: another run of the same experiment,
 * of any site. */
static void check_annotates(struct run_check *r)
{
    static const char tag[] = "tags/" ANNOTATION_TAG;
    char path[120];
    struct folder_entry e;
    const char *id = run_text(r, 't', ANNOTATION_TAG);
    if (!id || !is_another(r, id, CHECK_ANNOTATES, tag))
        return;
    snprintf(path, sizeof path, "%.16s/%.40s", r->experiment, id);
    if (r->k->tree && (folder_look(r->k->tree, path, &e, NULL) < 0 || e.kind != FOLDER_FOLDER))
        run_found(r, CHECK_ANNOTATES, tag, 0, "there is no run %s in this experiment", id);
    if (run_text(r, 't', "benchwrap.amends") || run_text(r, 't', "benchwrap.retracts"))
        run_found(r, CHECK_ANNOTATES, tag, 0, "the run annotates one and corrects one: it can do one of the two");
    check_annotation_file(r, id);
}

/* Checks the tag of the parent run: another run, in this experiment, of the same site unless this
 * run is an annotation. Runs that are one test of a larger output are check_block's. */
static void check_parent(struct run_check *r)
{
    const char *id = run_text(r, 't', "mlflow.parentRunId");
    static const char file[] = "tags/mlflow.parentRunId";
    char path[120];
    struct folder_entry e;
    if (!id || !is_another(r, id, CHECK_PARENT, file) || !r->k->tree || run_text(r, 't', "benchwrap.block"))
        return;
    snprintf(path, sizeof path, "%.16s/%.40s", r->experiment, id);
    if (folder_look(r->k->tree, path, &e, NULL) < 0)
        run_found(r, CHECK_PARENT_ODD, file, 0, "there is no run %s in this experiment", id);
    else if (!run_text(r, 't', ANNOTATION_TAG))
        check_site(r, id, CHECK_PARENT, file);
}

/* Reports a name of a site that is not legal, since one that resembles another site's misleads
 * readers; for what earlier builds recorded with --site it is a warning. */
static void check_site_name(struct run_check *r)
{
    static const char file[] = "tags/site";
    const struct check_entry *e = run_entry(r, 't', "site");
    if (!e || site_is_legal(e->value))
        return;
    bool plain = e->value.n > 0;
    for (size_t i = 0; i < e->value.n; i++)
        plain = plain && (isalnum((unsigned char)e->value.p[i]) || memchr("._-", e->value.p[i], 3));
    const char *version = run_text(r, 't', "benchwrap.version");
    if (plain)
        run_found(r, CHECK_TAG_ODD, file, 0, "the name of the site is not legal (%s); benchwrap %.20s recorded such names", SITE_LEGAL,
                  version ? version : "");
    else
        run_found(r, CHECK_TAG, file, 0, "the name of the site is not legal (%s)", SITE_LEGAL);
}

/* ---- tags that the record has, too ---- */

static bool was_redacted(const char *text)
{
    return strstr(text, "**") || strstr(text, "[redacted") || strstr(text, "(redacted");
}

/* Returns whether the tag has the words of the command, one blank between. True also where
 * either was redacted, or is too long to be known. */
static bool same_command(struct run_check *r, const char *tag)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (const struct json *e = json_first(json_pointer(r->record, "/run/argv")); e; e = json_next(e))
        buf_printf(&b, "%s%s", b.n ? " " : "", json_string(e, ""));
    return b.failed || b.n > PLAIN_MAX || was_redacted(tag) || (b.p && was_redacted(b.p)) || str_is(buf_text(&b), tag);
}

/* Compares the tags that repeat facts of benchwrap.json with these: host, name, command and
 * experiment. */
static void check_repeated_facts(struct run_check *r)
{
    const struct json *tags = json_get(r->record, "tags"), *run = json_get(r->record, "run");
    const struct {
        const char *key, *source, *member;
    } rows[] = {{"hostname", "probe:host", "host"}, {"mlflow.runName", "tree", "name"}};
    char file[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct json *tag = json_get(tags, rows[i].key);
        const char *is = json_string(json_get(tag, "value"), ""), *wanted = json_string(json_get(run, rows[i].member), "");
        snprintf(file, sizeof file, "tags/%s", rows[i].key);
        if (tag && *wanted && strcmp(json_string(json_get(tag, "source"), ""), rows[i].source) == 0 && strcmp(is, wanted) != 0)
            run_found(r, CHECK_RECORD, file, 0, "it is not the run's %s in benchwrap.json", rows[i].member);
    }
    const struct json *command = json_get(tags, "benchwrap.command");
    if (command && strcmp(json_string(json_get(command, "source"), ""), "recorder") == 0 &&
        !same_command(r, json_string(json_get(command, "value"), "")))
        run_found(r, CHECK_RECORD, "tags/benchwrap.command", 0, "it is not the command (argv) of benchwrap.json");
    const char *experiment = json_string(json_pointer(r->record, "/run/experiment/name"), "");
    char id[16];
    snprintf(id, sizeof id, "%u", tree_experiment_id(str_of(experiment)));
    if (strcmp(id, r->experiment) != 0)
        run_found(r, CHECK_IDENTITY, "artifacts/benchwrap.json", 0, "the experiment \"%.130s\" has the id %s, not that of the folder",
                  experiment, id);
}

/* Returns whether benchwrap recorded the run, and did not make it of something else. */
static bool is_recorded_run(const struct run_check *r)
{
    static const char *const made[] = {"benchwrap.imported", "benchwrap.retracts", "benchwrap.block",
                                       "benchwrap.amends",   "benchwrap.series",   ANNOTATION_TAG};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (run_text(r, 't', made[i]))
            return false;
    return run_text(r, 't', "benchwrap.scope") != NULL;
}

/* Reports a format that this program does not know, and facts that every run of the format has, or
 * every recorded run, and that are missing. */
static void check_required_facts(struct run_check *r)
{
    const char *format = run_text(r, 't', "benchwrap.format"), *id = run_text(r, 't', "benchwrap.run_id");
    if (format && strcmp(format, run_text(r, 't', ANNOTATION_TAG) ? "2" : "1") != 0)
        run_found(r, CHECK_RECORD, "tags/benchwrap.format", 0, "the format %.20s is none that this benchwrap knows", format);
    if (format && !id)
        run_found(r, CHECK_IDENTITY, "", 0, "the tag benchwrap.run_id is missing");
    if (!is_recorded_run(r))
        return;
    if (!run_entry(r, 'm', "run.wall_s"))
        run_found(r, CHECK_RECORD, "", 0, "the metric run.wall_s is missing, which every recorded run has");
    if (r->meta_good && r->meta.status == RUN_FINISHED && !run_entry(r, 'm', "run.exit_status"))
        run_found(r, CHECK_RECORD, "", 0, "the run claims to be FINISHED, and the metric run.exit_status is missing");
}

/* Reads "1.2.3". */
static bool version_parse(struct str text, uint64_t *ret)
{
    uint64_t part;
    *ret = 0;
    for (int i = 0; i < 3; i++) {
        if (!text.p || !str_uint(str_cut(&text, '.'), &part) || part > 999999)
            return false;
        *ret = *ret * 1000000 + part;
    }
    return !text.p;
}

static void check_version(struct run_check *r, struct str version, const char *file)
{
    uint64_t is, own;
    if (!version_parse(version, &is))
        run_found(r, CHECK_VERSION, file, 0, "\"%.40s\" is no version of benchwrap", version.p ? version.p : "");
    else if (version_parse(STR(BW_VERSION), &own) && is > own)
        run_found(r, CHECK_VERSION, file, 0, "benchwrap " STR_FMT " recorded the run, and this is " BW_VERSION, STR_ARG(version));
}

/* Reports versions of benchwrap that are later than this one, which may record what it does not
 * check. */
static void check_versions(struct run_check *r)
{
    static const char name[] = "benchwrap ";
    const struct check_entry *e = run_entry(r, 't', "benchwrap.version");
    struct str generator = str_of(json_string(json_get(r->record, "generator"), ""));
    if (e)
        check_version(r, e->value, "tags/benchwrap.version");
    if (str_starts(generator, name))
        check_version(r, str_sub(generator, strlen(name), generator.n), "artifacts/benchwrap.json");
    else
        run_found(r, CHECK_VERSION, "artifacts/benchwrap.json", 0, "\"%.60s\" built it, which is not benchwrap", generator.p);
}

void check_tags(struct run_check *r)
{
    check_mlflows(r);
    check_site_name(r);
    check_corrects(r, "benchwrap.amends");
    check_corrects(r, "benchwrap.retracts");
    check_annotates(r);
    r->k->runs_annotating += run_text(r, 't', ANNOTATION_TAG) != NULL;
    r->k->runs_retracting += run_text(r, 't', "benchwrap.retracts") != NULL;
    r->k->runs_amending += run_text(r, 't', "benchwrap.amends") != NULL;
    if (run_text(r, 't', "benchwrap.amends") && run_text(r, 't', "benchwrap.retracts"))
        run_found(r, CHECK_AMENDS, "tags/benchwrap.retracts", 0, "the run amends one and retracts one: it can do one of the two");
    check_parent(r);
    if (!r->record)
        return;
    check_repeated_facts(r);
    check_required_facts(r);
    check_versions(r);
}
