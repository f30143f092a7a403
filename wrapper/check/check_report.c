/* check_report.c: the findings of `check` as table, Markdown, JSON and SARIF. */
#include "check/check_report.h"
#include "base/markdown.h"

#include "base/json_out.h"
#include "base/listing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MARKDOWN_ROWS = 200, PATH_SHOWN = 120 };
static const char *severity_of(const struct check_state *k, const struct check_finding *f)
{
    return check_severity_word(k->severity[f->id]);
}

bool check_report_run(const char *at, const char *path, struct str *ret_experiment, struct str *ret_id, const char **ret_file)
{
    size_t n = strlen(at);
    if (strncmp(path, at, n) != 0 || path[n] != '/')
        return false;
    struct str rest = str_of(path + n + 1);
    *ret_experiment = str_cut(&rest, '/');
    *ret_id = str_cut(&rest, '/');
    *ret_file = rest.n ? rest.p : "";
    return ret_id->n == 32;
}

/* Orders findings by path, line, kind and text. */
static int compare_findings(const void *a, const void *b)
{
    const struct check_finding *x = *(const struct check_finding *const *)a, *y = *(const struct check_finding *const *)b;
    int c = strcmp(x->path, y->path);
    if (c || x->line != y->line)
        return c ? c : x->line < y->line ? -1 : 1;
    return x->id != y->id ? (int)x->id - (int)y->id : strcmp(x->text, y->text);
}

int check_report_sort(struct check_state *k)
{
    size_t n = 0;
    const struct check_finding **list = arena_get(k->arena, (k->count + 1) * sizeof *list);
    if (!list)
        return -1;
    for (const struct check_finding *f = k->first; f; f = f->next)
        list[n++] = f;
    if (n)
        qsort(list, n, sizeof *list, compare_findings);
    struct check_finding **at = &k->first;
    for (size_t i = 0; i < n; i++) {
        *at = (struct check_finding *)(uintptr_t)list[i];
        at = &(*at)->next;
    }
    *at = NULL;
    return 0;
}

static void count_words(struct buf *to, size_t n, const char *word, const char **sep)
{
    if (n) {
        buf_printf(to, "%s%zu %s%s", *sep, n, word, str_plural(n));
        *sep = ", ";
    }
}

static void count_corrections(struct buf *to, size_t n, const char *verb)
{
    if (n)
        buf_printf(to, ", %zu %s%s", n, verb, n == 1 ? "s another run" : " other runs");
}

/* Appends "2 of 300 runs have errors: 3 errors, 1 warning". */
static void check_report_words(const struct check_state *k, struct buf *to)
{
    const char *sep = ": ";
    if (k->runs_bad)
        buf_printf(to, "%zu of %zu run%s ha%s errors", k->runs_bad, k->runs, str_plural(k->runs), k->runs_bad == 1 ? "s" : "ve");
    else
        buf_printf(to, "%zu run%s checked", k->runs, str_plural(k->runs));
    count_corrections(to, k->runs_retracting, "retract");
    count_corrections(to, k->runs_amending, "amend");
    count_corrections(to, k->runs_annotating, "annotate");
    if (k->runs_unverifiable)
        buf_printf(to, ", %zu %s values that cannot be verified", k->runs_unverifiable, k->runs_unverifiable == 1 ? "has" : "have");
    for (int s = CHECK_ERROR; s >= CHECK_NOTE; s--)
        count_words(to, k->by_severity[s], check_severity_word((enum check_severity)s), &sep);
    if (!k->by_severity[CHECK_ERROR] && !k->by_severity[CHECK_WARNING] && !k->by_severity[CHECK_NOTE])
        buf_puts(to, ": no problem found");
    if (k->dropped)
        buf_printf(to, "; the first %zu are shown", k->count);
}

/* ---- a table ---- */

/* Prints a line for each kind of finding that was stored: its meaning, and what to do. */
static void print_remedies(const struct check_state *k, FILE *out)
{
    bool said[CHECK_KINDS] = {false};
    fputc('\n', out);
    for (const struct check_finding *f = k->first; f; f = f->next)
        if (!said[f->id]) {
            const struct check_finding_kind *kind = &check_kinds[f->id];
            said[f->id] = true;
            fprintf(out, "%s: %s: %s.\n", kind->word, kind->meaning, kind->remedy);
        }
}

int check_report_table(const struct check_state *k, FILE *out, struct arena *a)
{
    static const struct listing_column columns[] = {{"severity", "SEVERITY", false, 0},
                                                    {"finding", "FINDING", false, 0},
                                                    {"where", "WHERE", false, PATH_SHOWN},
                                                    {"what", "WHAT", false, 0}};
    struct listing l;
    CLEANUP_BUF struct buf b;
    listing_init(&l, columns, sizeof columns / sizeof columns[0], a);
    for (const struct check_finding *f = k->first; f; f = f->next) {
        listing_text(&l, severity_of(k, f));
        listing_text(&l, check_kinds[f->id].word);
        listing_text(&l, f->line ? arena_printf(a, "%s:%u", f->path, f->line) : f->path);
        listing_text(&l, f->text);
    }
    int rc = listing_print(&l, out);
    listing_deinit(&l);
    if (rc == 0 && k->first)
        print_remedies(k, out);
    buf_init(&b, 4096);
    check_report_words(k, &b);
    fprintf(out, "%s%s\n", k->first ? "\n" : "", b.p ? b.p : "");
    return rc;
}

/* ---- Markdown, for the page of a pull request ---- */

void check_report_markdown(const struct check_state *k, const struct check_subject *of, size_t room, struct buf *to)
{
    size_t n = 0;
    bool good = k->by_severity[CHECK_ERROR] == 0;
    buf_printf(to, "### benchwrap check: %s\n\n", good ? "good" : "errors");
    check_report_words(k, to);
    buf_puts(to, " (");
    markdown_text(to, of->name, 200);
    buf_puts(to, ").\n");
    if (k->first)
        buf_puts(to, "\n| severity | finding | where | what |\n|---|---|---|---|\n");
    for (const struct check_finding *f = k->first; f && n < MARKDOWN_ROWS && to->n < room; f = f->next, n++) {
        buf_printf(to, "| %s | %s | ", severity_of(k, f), check_kinds[f->id].word);
        markdown_text(to, f->path, 300);
        if (f->line)
            buf_printf(to, " line %u", f->line);
        buf_puts(to, " | ");
        markdown_text(to, f->text, 600);
        buf_puts(to, " |\n");
    }
    if (k->count > n)
        buf_printf(to, "\n%zu more are not shown here.\n", k->count - n);
    bool said[CHECK_KINDS] = {false};
    if (k->first)
        buf_putc(to, '\n');
    for (const struct check_finding *f = k->first; f; f = f->next)
        if (!said[f->id]) {
            said[f->id] = true;
            const char *remedy = check_kinds[f->id].remedy; /* a sentence here */
            buf_printf(to, "- **%s**: %s. %c%s.\n", check_kinds[f->id].word, check_kinds[f->id].meaning, toupper((unsigned char)*remedy),
                       remedy + 1);
        }
}

/* ---- JSON ---- */

void check_report_json(const struct check_state *k, const struct check_subject *of, struct buf *to)
{
    struct json_out j = {.to = to};
    json_open(&j, NULL, '{');
    json_int(&j, "format", 1);
    json_text(&j, "generator", "benchwrap " BW_VERSION);
    json_text(&j, "what", of->what);
    json_text(&j, "name", of->name);
    json_int(&j, "runs", (int64_t)k->runs);
    json_int(&j, "runs_with_errors", (int64_t)k->runs_bad);
    json_int(&j, "runs_unverifiable", (int64_t)k->runs_unverifiable);
    json_int(&j, "errors", (int64_t)k->by_severity[CHECK_ERROR]);
    json_int(&j, "warnings", (int64_t)k->by_severity[CHECK_WARNING]);
    json_int(&j, "notes", (int64_t)k->by_severity[CHECK_NOTE]);
    json_int(&j, "not_shown", (int64_t)k->dropped);
    json_open(&j, "findings", '[');
    for (const struct check_finding *f = k->first; f; f = f->next) {
        const struct check_finding_kind *kind = &check_kinds[f->id];
        json_open(&j, NULL, '{');
        json_text(&j, "severity", severity_of(k, f));
        json_text(&j, "finding", kind->word);
        json_text(&j, "path", f->path);
        if (f->line)
            json_int(&j, "line", f->line);
        else
            json_null(&j, "line");
        json_text(&j, "text", f->text);
        json_text(&j, "meaning", kind->meaning);
        json_text(&j, "remedy", kind->remedy);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(to, '\n');
}

/* ---- SARIF ---- */

static void sarif_message(struct json_out *j, const char *key, const char *text)
{
    json_open(j, key, '{');
    json_text(j, "text", text);
    json_close(j, '}');
}

/* Writes the path as a relative URI reference (RFC 3986) into `to`, and returns its text; "." for
 * an empty path. */
static const char *uri_of(const char *path, struct buf *to)
{
    buf_clear(to);
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("-._~/", *p))
            buf_putc(to, (char)*p);
        else
            buf_printf(to, "%%%02X", *p);
    return to->n ? to->p : ".";
}

/* Appends all kinds of findings, with the severity of this check, since SARIF's results refer to
 * them by their number. */
static void sarif_rules(const struct check_state *k, struct json_out *j)
{
    json_open(j, "rules", '[');
    for (size_t i = 0; i < CHECK_KINDS; i++) {
        const struct check_finding_kind *kind = &check_kinds[i];
        json_open(j, NULL, '{');
        json_text(j, "id", kind->word);
        sarif_message(j, "shortDescription", kind->meaning);
        sarif_message(j, "help", kind->remedy);
        json_open(j, "defaultConfiguration", '{');
        json_text(j, "level", check_severity_word(k->severity[i]));
        json_close(j, '}');
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* Appends one finding as a result of SARIF. `uri` is a buffer for its path. */
static void sarif_result(const struct check_state *k, struct json_out *j, const struct check_finding *f, struct buf *uri)
{
    json_open(j, NULL, '{');
    json_text(j, "ruleId", check_kinds[f->id].word);
    json_int(j, "ruleIndex", (int64_t)f->id);
    json_text(j, "level", severity_of(k, f));
    sarif_message(j, "message", f->text);
    json_open(j, "locations", '[');
    json_open(j, NULL, '{');
    json_open(j, "physicalLocation", '{');
    json_open(j, "artifactLocation", '{');
    json_text(j, "uri", uri_of(f->path, uri));
    json_close(j, '}');
    if (f->line) {
        json_open(j, "region", '{');
        json_int(j, "startLine", f->line);
        json_close(j, '}');
    }
    json_close(j, '}');
    json_close(j, '}');
    json_close(j, ']');
    json_close(j, '}');
}

void check_report_sarif(const struct check_state *k, struct buf *to)
{
    CLEANUP_BUF struct buf uri;
    struct json_out j = {.to = to};
    buf_init(&uri, 64 << 10);
    json_open(&j, NULL, '{');
    json_text(&j, "$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json");
    json_text(&j, "version", "2.1.0");
    json_open(&j, "runs", '[');
    json_open(&j, NULL, '{');
    json_open(&j, "tool", '{');
    json_open(&j, "driver", '{');
    json_text(&j, "name", "benchwrap check");
    json_text(&j, "version", BW_VERSION);
    sarif_rules(k, &j);
    json_close(&j, '}');
    json_close(&j, '}');
    json_open(&j, "results", '[');
    for (const struct check_finding *f = k->first; f; f = f->next)
        sarif_result(k, &j, f, &uri);
    json_close(&j, ']');
    json_text(&j, "columnKind", "utf16CodeUnits");
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(to, '\n');
}
