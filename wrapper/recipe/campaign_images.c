/* campaign_images.c: find the digests of container images; see campaign_images.h. */
#include "recipe/campaign_images.h"

#include "base/fs.h"
#include "base/place.h"
#include "base/query.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IMAGES_MAX = 1 << 20, IMAGE_PIECE = 1 << 20, IMAGE_TURN = 256, IMAGE_LARGE = 1 << 30, IMAGE_QUERY_MS = 10000, IMAGE_ANSWER = 4096 };
static const char known_file[] = "images"; /* a line for each file: SHA256 SIZE MTIME_NS INODE PATH */

/* ---- digests of files ---- */

/* What identifies the file's bytes without reading them, as in known_file. */
static void put_file_identity(struct buf *to, const struct stat *st, const char *path)
{
    buf_printf(to, "%lld %lld %llu %s\n", (long long)st->st_size, (long long)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
               (unsigned long long)st->st_ino, path);
}

/* Copies the digest of an earlier execution from known_file. False: it has none for this file. */
static bool find_known_digest(const struct campaign *c, struct str identity, char ret[SHA256_HEX])
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, IMAGES_MAX + 1);
    if (fs_read(c->state.dir, known_file, IMAGES_MAX, 0, &text, NULL))
        return false;
    for (struct str rest = buf_text(&text); rest.p && rest.n;) {
        struct str line = str_cut(&rest, '\n');
        if (line.n == SHA256_HEX + identity.n - 1 && memcmp(line.p + SHA256_HEX, identity.p, identity.n - 1) == 0) {
            snprintf(ret, SHA256_HEX, "%.*s", SHA256_HEX - 1, line.p);
            return true;
        }
    }
    return false;
}

/* Adds a digest to known_file, which never grows beyond what find_known_digest reads. Without effect
 * where that fails. */
static void store_known_digest(const struct campaign *c, struct str identity, const char *digest)
{
    CLEANUP_BUF struct buf line;
    CLEANUP_FD int fd = place_open(c->state.dir, known_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    struct stat st;
    buf_init(&line, IMAGES_MAX);
    buf_printf(&line, "%s " STR_FMT, digest, STR_ARG(identity));
    if (fd < 0 || line.failed || fstat(fd, &st))
        return;
    if (st.st_size + (off_t)line.n <= IMAGES_MAX || ftruncate(fd, 0) == 0) /* a full file begins again */
        fs_write_all(fd, line.p, line.n); /* else the file is read again next time */
}

/* Sets ret to the SHA-256 of the file; "": it cannot be read. 0; -1 with err: a signal has come. */
static int hash_file(struct campaign *c, int fd, char ret[SHA256_HEX], struct err *err)
{
    static char piece[IMAGE_PIECE];
    struct sha256 h;
    ssize_t n;
    sha256_init(&h);
    for (size_t turn = 1; (n = read(fd, piece, sizeof piece)) > 0; turn++) {
        sha256_add(&h, piece, (size_t)n);
        if (turn % IMAGE_TURN == 0)
            campaign_wait(c, 0);
        if (c->signal)
            return err_set(err, ERR_SYSTEM, "cancelled while reading an image");
    }
    ret[0] = 0;
    if (n == 0)
        sha256_end(&h, ret);
    return 0;
}

/* Sets ret to the SHA-256 of an image file, from an earlier execution where the file has not
 * changed. 0, also with ret unchanged where the file cannot be opened or is not a regular file; -1
 * with err: a signal, or out of memory. */
static int digest_of_file(struct campaign *c, const char *path, char ret[SHA256_HEX], struct err *err)
{
    struct stat st;
    CLEANUP_BUF struct buf identity;
    CLEANUP_FD int fd = place_open_named(path);
    buf_init(&identity, IMAGES_MAX);
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        return 0;
    put_file_identity(&identity, &st, path);
    if (identity.failed)
        return err_memory(err, "the images");
    if (find_known_digest(c, buf_text(&identity), ret))
        return 0;
    if (st.st_size >= IMAGE_LARGE)
        campaign_say(c, "reading %s for its digest (%.1f GB)", path, (double)st.st_size / 1e9);
    if (hash_file(c, fd, ret, err))
        return -1;
    if (ret[0])
        store_known_digest(c, buf_text(&identity), ret);
    return 0;
}

/* ---- digests of references ---- */

/* Copies the 64 digits behind "sha256:" in the text. False: it has none. */
static bool digest_in_text(struct str text, char ret[SHA256_HEX])
{
    ptrdiff_t at = str_find(text, STR("sha256:"));
    struct str digits = at < 0 ? STR("") : str_sub(text, (size_t)at + 7, SHA256_HEX - 1);
    for (size_t i = 0; i < digits.n; i++)
        if (!str_is_digit(digits.p[i]) && !(digits.p[i] >= 'a' && digits.p[i] <= 'f'))
            return false;
    if (digits.n != SHA256_HEX - 1)
        return false;
    snprintf(ret, SHA256_HEX, STR_FMT, STR_ARG(digits));
    return true;
}

static void query_podman(struct campaign *c, const char *image, char ret[SHA256_HEX])
{
    char *const words[] = {
        (char *)"podman", (char *)"image", (char *)"inspect", (char *)"--format={{.Digest}}", (char *)"--", (char *)image, NULL};
    struct query q = QUERY_NONE;
    if (query_start(&q, words, environ, IMAGE_ANSWER, IMAGE_QUERY_MS, 0, NULL) == 0 &&
        campaign_query_wait(c, &q, IMAGE_QUERY_MS) == QUERY_DONE && q.status == 0)
        digest_in_text(buf_text(&q.text), ret);
    query_close(&q);
}

static int digest_of_image(struct campaign *c, const struct recipe_container *image, char ret[SHA256_HEX], struct err *err)
{
    ret[0] = 0;
    if (strchr(image->image, '@') && digest_in_text(str_of(strchr(image->image, '@')), ret))
        return 0;
    if (strcmp(image->runtime, "podman") != 0)
        return strstr(image->image, "://") ? 0 : digest_of_file(c, image->image, ret, err);
    query_podman(c, image->image, ret);
    return 0;
}

/* ---- all images ---- */

static struct campaign_program *image_named(struct campaign_program *list, const char *image)
{
    while (list && (!list->is_image || strcmp(list->path, image) != 0))
        list = list->next;
    return list;
}

int campaign_images_collect(struct campaign *c, struct campaign_program **list, struct err *err)
{
    for (size_t i = 0; i < c->planned.count; i++)
        for (size_t k = 0; k < c->planned.points[i].part_count; k++) {
            const struct recipe_container *image = &c->planned.points[i].parts[k].container;
            if (!image->runtime || image_named(*list, image->image))
                continue;
            struct campaign_program *p = ARENA_NEW(&c->state.arena, struct campaign_program);
            if (!p || !(p->path = arena_dup(&c->state.arena, image->image, strlen(image->image))))
                return err_memory(err, "the images");
            p->is_image = true;
            p->next = *list;
            *list = p;
            if (digest_of_image(c, image, p->hash, err))
                return -1;
        }
    return 0;
}

/* Returns true if the role has this image at a point before this one. */
static bool is_image_of_earlier_point(const struct campaign *c, size_t role, size_t point, const char *image)
{
    for (size_t i = point; i-- > 0;) { /* most often it is that of the point before */
        const struct recipe_container *other = &c->planned.points[i].parts[role].container;
        if (other->runtime && strcmp(other->image, image) == 0)
            return true;
    }
    return false;
}

/* The images of a role over all points, separated by commas, and their digests. */
static void record_images_of_role(struct campaign *c, size_t role)
{
    struct record *r = &c->repeat.run.record;
    CLEANUP_BUF struct buf images, digests, key;
    const struct recipe_container *unknown = NULL;
    buf_init(&images, IMAGES_MAX);
    buf_init(&digests, IMAGES_MAX);
    buf_init(&key, 400);
    for (size_t i = 0; i < c->planned.count; i++) {
        const struct recipe_container *image = &c->planned.points[i].parts[role].container;
        const struct campaign_program *p = image->runtime ? image_named(c->state.programs, image->image) : NULL;
        if (!p || is_image_of_earlier_point(c, role, i, image->image))
            continue;
        buf_printf(&images, "%s%s", images.n ? "," : "", p->path);
        buf_printf(&digests, "%ssha256:%s", digests.n ? "," : "", p->hash);
        unknown = unknown || p->hash[0] ? unknown : image;
    }
    if (!images.n || images.failed || digests.failed)
        return;
    buf_printf(&key, "image.%s", c->recipe->roles[role].name);
    record_param(r, key.p, buf_text(&images));
    buf_puts(&key, ".digest");
    if (unknown)
        record_missing(r, key.p,
                       strcmp(unknown->runtime, "podman") == 0 ? "podman reports no digest of the image %.200s"
                                                               : "%.200s contains no digest, and is not a file that can be read",
                       unknown->image);
    else
        record_param(r, key.p, buf_text(&digests));
}

void campaign_images_record(struct campaign *c)
{
    for (size_t i = 0; i < c->recipe->role_count; i++)
        record_images_of_role(c, i);
}
