/* tree_manifest.c: the files of a run as they are written, and artifacts/manifest.json with their sizes and SHA-256. */
#include "base/fs.h"
#include "base/place.h"
#include "base/sha256.h"
#include "mlruns-format/tree_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { MANIFEST_MAX = 64 << 20, PIECE = 32 * 1024 };

struct manifest_file {
    const char *path;
    uint64_t size;
    char hex[SHA256_HEX];
    struct manifest_file *next;
};

/* Adds a file without a hash yet to the manifest. The arena owns it and the path's copy. NULL with
 * err: out of memory. */
static struct manifest_file *manifest_add_file(struct building *b, const char *path, struct err *err)
{
    struct manifest_file *f = ARENA_NEW(&b->arena, struct manifest_file);
    const char *own = arena_dup(&b->arena, path, strlen(path));
    if (!f || !own) {
        err_memory(err, "artifacts/manifest.json");
        return NULL;
    }
    f->path = own;
    f->next = b->files;
    b->files = f;
    b->n_files++;
    return f;
}

int building_write(struct building *b, const char *path, struct str data, struct err *err)
{
    struct manifest_file *f = manifest_add_file(b, path, err);
    if (!f)
        return -1;
    sha256_of(data.p, data.n, f->hex);
    f->size = data.n;
    return fs_create(b->dir, path, data, 0666, err);
}

int building_written(struct building *b, const char *path, struct err *err)
{
    unsigned char piece[PIECE];
    struct sha256 sum;
    ssize_t k;
    struct manifest_file *f = manifest_add_file(b, path, err);
    if (!f)
        return -1;
    CLEANUP_FD int fd = place_open(b->dir, path, O_RDONLY, 0);
    if (fd < 0)
        return err_sys(err, "cannot read %s", path);
    sha256_init(&sum);
    while ((k = read(fd, piece, sizeof piece)) != 0) {
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(err, "cannot read %s", path);
        sha256_add(&sum, piece, (size_t)k);
        f->size += (uint64_t)k;
    }
    sha256_end(&sum, f->hex);
    return 0;
}

static int compare_manifest_paths(const void *a, const void *b)
{
    return strcmp((*(struct manifest_file *const *)a)->path, (*(struct manifest_file *const *)b)->path);
}

int manifest_write(struct building *b, struct err *err)
{
    struct buf t CLEANUP_BUF;
    buf_init(&t, MANIFEST_MAX);
    struct manifest_file **sorted = arena_get(&b->arena, (b->n_files + 1) * sizeof *sorted);
    if (!sorted)
        return err_memory(err, "artifacts/manifest.json");
    size_t n = 0;
    for (struct manifest_file *f = b->files; f; f = f->next)
        sorted[n++] = f;
    qsort(sorted, n, sizeof *sorted, compare_manifest_paths);
    struct json_out j = json_begin(&t, JSON_BLOCK, '{');
    json_int(&j, "format", MLRUNS_FORMAT);
    json_text(&j, "run_id", b->r->id);
    json_open(&j, "files", '[');
    for (size_t i = 0; i < n; i++) {
        json_open_row(&j, NULL, '{');
        json_text(&j, "path", sorted[i]->path);
        json_uint(&j, "size", sorted[i]->size);
        json_text(&j, "sha256", sorted[i]->hex);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    if (t.failed)
        return err_memory(err, "artifacts/manifest.json");
    return fs_create(b->dir, "artifacts/manifest.json", buf_text(&t), 0666, err);
}
