/* manifest.c: check that artifacts/manifest.json lists every file with its size and SHA-256. */
#include "check/parts.h"

#include "mlruns-format/schema.h"

#include <math.h>
#include <stdlib.h>

enum { COMPLAINTS_MAX = 5 };
static const char file[] = "artifacts/manifest.json";

static void report_manifest_problem(void *context, const char *where, const char *what)
{
    run_found(context, CHECK_MANIFEST, file, 0, "%s %s", where, what);
}

/* Returns whether the file is not in the manifest: the manifest itself, and the signature, which
 * is made over it. */
static bool is_beside(struct str path)
{
    return str_is(path, file) || str_is(path, "artifacts/manifest.json.sig");
}

static int by_listed(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Compares the files that the manifest lists with those of the run, and reports differences, files
 * listed twice and files not listed, COMPLAINTS_MAX at most. */
static void check_files(struct run_check *r, const struct json *list)
{
    size_t n = 0, count = json_count(list), told = 0;
    const char **paths = arena_get(&r->a, (count + 1) * sizeof *paths);
    for (const struct json *e = paths ? json_first(list) : NULL; e; e = json_next(e)) {
        const char *path = json_string(json_get(e, "path"), "");
        const struct check_file *f = run_file(r, path);
        double size = json_number(json_get(e, "size"), -1);
        paths[n++] = path;
        if (!f && !r->limited)
            run_found(r, CHECK_MANIFEST, file, 0, "%s is listed and not there", path);
        else if (f && f->sha256[0] && (size != (double)f->size || strcmp(f->sha256, json_string(json_get(e, "sha256"), "")) != 0))
            run_found(r, CHECK_MANIFEST, path, 0, "%s differs from the manifest", size != (double)f->size ? "the size" : "SHA-256");
        else
            continue;
        if (++told == COMPLAINTS_MAX)
            break;
    }
    if (!paths || told == COMPLAINTS_MAX)
        return;
    if (n)
        qsort(paths, n, sizeof *paths, by_listed);
    for (size_t i = 1; i < n && told < COMPLAINTS_MAX; i++)
        if (strcmp(paths[i - 1], paths[i]) == 0) {
            run_found(r, CHECK_MANIFEST, file, 0, "%s is listed twice", paths[i]);
            told++;
        }
    for (size_t i = 0; i < r->count && told < COMPLAINTS_MAX; i++) {
        const char *own = r->files[i].path.p;
        if (!is_beside(r->files[i].path) && (!n || !bsearch(&own, paths, n, sizeof *paths, by_listed))) {
            run_found(r, CHECK_MANIFEST, own, 0, "the file is not in the manifest");
            told++;
        }
    }
}

void check_manifest(struct run_check *r)
{
    struct json *j = NULL;
    struct err why = {0};
    if (!r->manifest_text.p) {
        run_found(r, CHECK_MANIFEST, file, 0, "it is missing or too large");
        return;
    }
    if (str_starts(r->manifest_text, "\xef\xbb\xbf"))
        run_found(r, CHECK_MANIFEST, file, 0, "it begins with a byte order mark");
    else if (json_parse(&j, r->manifest_text, NULL, &why) < 0)
        run_found(r, CHECK_MANIFEST, file, 0, "%s", why.text);
    else if (schema_check(SCHEMA_MANIFEST, j, COMPLAINTS_MAX, report_manifest_problem, r) == 0) {
        if (strcmp(json_string(json_get(j, "run_id"), ""), r->id) != 0)
            run_found(r, CHECK_IDENTITY, file, 0, "run_id is not that of the folder");
        check_files(r, json_get(j, "files"));
    }
    json_free(j);
}
