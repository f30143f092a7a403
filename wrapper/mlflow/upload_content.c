/* upload_content.c: the files in a run's folder besides its entries: names that a server accepts,
 * the sum of it all, data sets. */
#include "base/fs.h"
#include "base/sha256.h"
#include "base/yaml.h"
#include "mlflow/upload_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, FILES_MAX = 1000000, META_MAX = 4 << 20, INPUTS_MAX = 1000, STAMP_FILE_MAX = 256 << 20 };

/* ---- names ---- */

/* Returns the name under which a server accepts an artifact: the same, or one made legal, which is
 * noted. */
static const char *upload_file_name(struct upload *u, const char *id, const char *path, struct arena *a)
{
    size_t n = strlen(path);
    char *name = arena_dup(a, path, n);
    bool changed = false;
    for (size_t i = 0; name && i < n;) {
        size_t k = str_utf8(path + i, n - i);
        if (k == 0 || (k == 1 && (strchr("#\\%?", path[i]) || (unsigned char)path[i] < 0x20 || path[i] == 0x7f))) {
            name[i] = '_'; /* a '%' too: the server decodes names, some of them twice */
            changed = true;
        }
        i += k ? k : 1;
    }
    if (!changed || !name)
        return name;
    unsigned sum = 2166136261u; /* FNV-1a: two names that become alike stay two */
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ (unsigned char)path[i]) * 16777619u;
    const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    int stem = (int)(dot && (!slash || dot > slash + 1) ? dot - name : (ptrdiff_t)n);
    const char *made = arena_printf(a, "%.*s-%08x%s", stem, name, sum, name + stem);
    upload_note(u, "run %.8s: the server rejects the file name \"%.100s\": it is \"%.100s\" there", id, path, made ? made : "");
    return made;
}

/* ---- files ---- */

struct upload_file_list {
    struct upload *u;
    struct arena *a;
    const char *id;
    struct upload_file **end;
    size_t count;
};

/* Appends the regular files below the folder to the list, in the arena. Others are reported and
 * left out. Returns -1 with err, also above FILES_MAX files. */
static int upload_list_folder(struct upload_file_list *f, int dir, const char *folder, const char *prefix, int depth, struct err *err)
{
    struct fs_names list;
    int rc = 0;
    if (fs_list(dir, folder, &list, err))
        return -1;
    for (size_t i = 0; i < list.count && rc == 0; i++) {
        struct stat st;
        const char *path = arena_printf(f->a, "%s%s", prefix, list.names[i]), *full = arena_printf(f->a, "%s/%s", folder, list.names[i]);
        if (!path || !full)
            rc = err_memory(err, "the names of files");
        else if (fstatat(dir, full, &st, AT_SYMLINK_NOFOLLOW))
            rc = err_sys(err, "cannot inspect %s", full);
        else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            rc = upload_list_folder(f, dir, full, arena_printf(f->a, "%s/", path), depth + 1, err);
        else if (!S_ISREG(st.st_mode))
            upload_note(f->u, "run %.8s: artifacts/%.100s is no regular file and stays here", f->id, path);
        else if (f->count++ == FILES_MAX)
            rc = err_set(err, ERR_INPUT, "there are more than %d artifacts", FILES_MAX);
        else {
            struct upload_file *file = ARENA_NEW(f->a, struct upload_file);
            if (!file)
                return fs_names_deinit(&list), err_memory(err, "the names of files");
            *file = (struct upload_file){.path = path, .name = upload_file_name(f->u, f->id, path, f->a), .size = (uint64_t)st.st_size};
            *f->end = file;
            f->end = &file->next;
        }
    }
    fs_names_deinit(&list);
    return rc;
}

int upload_files(struct upload *u, int dir, const char *id, struct arena *a, struct upload_file **ret, struct err *err)
{
    struct upload_file_list f = {.u = u, .a = a, .id = id, .end = ret};
    *ret = NULL;
    if (faccessat(dir, "artifacts", F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
        return 0;
    return upload_list_folder(&f, dir, "artifacts", "", 0, err);
}

/* ---- the sum ---- */

/* Adds path, length and content of a file to the hash. Returns false where it cannot be read or is
 * too large. */
static bool upload_hash_file(struct sha256 *s, int dir, const char *path)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, STAMP_FILE_MAX);
    if (fs_read(dir, path, STAMP_FILE_MAX - 4096, 0, &b, NULL))
        return false;
    sha256_add(s, path, strlen(path) + 1);
    char length[32];
    snprintf(length, sizeof length, "%zu", b.n);
    sha256_add(s, length, strlen(length) + 1);
    sha256_add(s, b.p ? b.p : "", b.n);
    return true;
}

static void add_str(struct sha256 *s, struct str text)
{
    char length[24], *at = length + sizeof length; /* "12:": printf would cost more than the sum of a short text */
    size_t n = text.n;
    *--at = ':';
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    sha256_add(s, at, (size_t)(length + sizeof length - at));
    sha256_add(s, text.p ? text.p : "", text.n);
}

static void add_entries(struct sha256 *s, const char *kind, const struct tree_entry *e)
{
    add_str(s, str_of(kind));
    for (; e; e = e->next) {
        add_str(s, str_of(e->key));
        add_str(s, e->value);
        add_str(s, (struct str){(const char *)e->samples, e->count * sizeof *e->samples});
    }
}

bool upload_has_manifest(int dir)
{
    return faccessat(dir, "artifacts/manifest.json", R_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void upload_stamp(int dir, const struct tree_run *run, const struct upload_file *files, char ret[65])
{
    struct sha256 s;
    ret[0] = 0;
    sha256_init(&s);
    if (!upload_hash_file(&s, dir, "meta.yaml"))
        return;
    add_entries(&s, "tags", run->tags);
    if (!upload_hash_file(&s, dir, "artifacts/manifest.json")) {
        add_entries(&s, "params", run->params);
        add_entries(&s, "metrics", run->metrics);
        for (const struct upload_file *f = files; f; f = f->next) {
            add_str(&s, str_of(f->path));
            add_str(&s, (struct str){(const char *)&f->size, sizeof f->size});
        }
    }
    sha256_end(&s, ret);
}

/* ---- data sets ---- */

static const char *upload_yaml_text(const struct yaml *map, const char *key, struct arena *a)
{
    const struct yaml *y = yaml_get(map, key);
    return y && y->kind == YAML_SCALAR && !yaml_is_null(y) ? arena_dup(a, y->text.p, y->text.n) : "";
}

/* Returns the document of a file of at most META_MAX bytes, in the arena. NULL with err: it cannot
 * be read, or is no YAML. */
static struct yaml *read_yaml(int dir, const char *path, struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf b;
    struct yaml *y = NULL;
    buf_init(&b, META_MAX + 4096);
    if (fs_read(dir, path, META_MAX, 0, &b, err))
        return NULL;
    const char *kept = arena_dup(a, b.p ? b.p : "", b.n);
    return kept && yaml_parse(&y, path, (struct str){kept, b.n}, a, err) == 0 ? y : NULL;
}

enum mlflow_answer upload_inputs(struct upload_place *p, int experiment_dir, const char *id, struct err *err)
{
    struct fs_names list;
    char path[600];
    enum mlflow_answer answer = MLFLOW_FINE;
    snprintf(path, sizeof path, "%.33s/inputs", id);
    struct err unread = {0};
    if (faccessat(experiment_dir, path, F_OK, AT_SYMLINK_NOFOLLOW))
        return MLFLOW_FINE;
    if (fs_list(experiment_dir, path, &list, &unread)) {
        upload_note(p->u, "run %.8s: the data sets of its inputs cannot be read: %s", id, unread.text);
        return MLFLOW_FINE;
    }
    if (list.count > INPUTS_MAX)
        upload_note(p->u, "run %.8s: only %d of its %zu inputs are sent", id, INPUTS_MAX, list.count);
    for (size_t i = 0; i < list.count && i < INPUTS_MAX && answer == MLFLOW_FINE; i++) {
        struct err why = {0};
        snprintf(path, sizeof path, "%.33s/inputs/%.255s/meta.yaml", id, list.names[i]);
        const struct yaml *input = read_yaml(experiment_dir, path, &p->arena, &why), *set = NULL;
        const char *from = upload_yaml_text(input, "source_id", &p->arena);
        if (input && strcmp(upload_yaml_text(input, "source_type", &p->arena), "DATASET") != 0)
            continue; /* a model's */
        if (input && *from && !strchr(from, '/')) {
            snprintf(path, sizeof path, "datasets/%.255s/meta.yaml", from);
            set = read_yaml(experiment_dir, path, &p->arena, &why);
        }
        if (!set) {
            upload_note(p->u, "run %.8s: a data set of its inputs cannot be read: %s", id, why.text);
            continue;
        }
        struct mlflow_dataset d = {.name = upload_yaml_text(set, "name", &p->arena),
                                   .digest = upload_yaml_text(set, "digest", &p->arena),
                                   .source_type = upload_yaml_text(set, "source_type", &p->arena),
                                   .source = upload_yaml_text(set, "source", &p->arena),
                                   .context = upload_yaml_text(yaml_get(input, "tags"), "mlflow.data.context", &p->arena)};
        d.context = d.context && *d.context ? d.context : NULL;
        answer = mlflow_log_input(p->u->m, p->run.id, &d, err);
    }
    fs_names_deinit(&list);
    return answer;
}
