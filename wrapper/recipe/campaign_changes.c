/* campaign_changes.c: what a finished point started, compared with what it would start today; see campaign_changes.h. */
#include "recipe/campaign_changes.h"

#include "base/fs.h"
#include "base/place.h"
#include "base/search_path.h"
#include "recipe/campaign_images.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { HASH_WHOLE_MAX = 64 << 20 };

/* Sets ret to the identity of a program: a hash of its bytes, or of a large file's size and time; ""
 * where it cannot be read. */
static void hash_program(const char *path, char ret[SHA256_HEX])
{
    CLEANUP_BUF struct buf text;
    struct stat st;
    CLEANUP_FD int fd = place_open_named(path);
    buf_init(&text, HASH_WHOLE_MAX + 1);
    ret[0] = 0;
    if (fd < 0 || fstat(fd, &st))
        return;
    if (st.st_size <= HASH_WHOLE_MAX && fs_read_open(fd, path, HASH_WHOLE_MAX, 0, &text, NULL) == 0)
        sha256_of(text.p ? text.p : "", text.n, ret);
    else if (st.st_size > HASH_WHOLE_MAX) {
        buf_printf(&text, "%lld %lld", (long long)st.st_size, (long long)st.st_mtime);
        sha256_of(text.p, text.n, ret);
    }
}

static struct campaign_program *program_named(struct campaign_program *list, const char *path)
{
    while (list && strcmp(list->path, path) != 0)
        list = list->next;
    return list;
}

/* Adds the program that PATH has for this word, unless the list has it. 0, also where PATH has none;
 * -1: out of memory. */
static int add_program(struct campaign *c, struct campaign_program **list, const char *word)
{
    const char *path = search_path_find(getenv("PATH"), word, false, &c->state.arena);
    if (!path || program_named(*list, path))
        return 0;
    struct campaign_program *p = ARENA_NEW(&c->state.arena, struct campaign_program);
    if (!p || !(p->path = arena_dup(&c->state.arena, path, strlen(path))))
        return -1;
    hash_program(path, p->hash);
    p->next = *list;
    *list = p;
    return 0;
}

int campaign_changes_collect(struct campaign *c, struct campaign_program **ret, struct err *err)
{
    const char *last = NULL;
    *ret = NULL;
    for (size_t i = 0; i < c->planned.count; i++)
        for (size_t k = 0; k < c->planned.points[i].part_count; k++) {
            const struct recipe_part *part = &c->planned.points[i].parts[k];
            for (size_t n = 0; !part->srun && n < part->process_count; n++) {
                const char *word = part->processes[n].words[0];
                if ((!last || strcmp(last, word) != 0) && add_program(c, ret, last = word))
                    return err_memory(err, "the campaign");
            }
        }
    return campaign_images_collect(c, ret, err);
}

bool campaign_is_finished(const struct campaign *c, const struct campaign_point *p)
{
    return p->outcome == OUTCOME_VALID || (p->outcome == OUTCOME_INVALID && !c->was_closed);
}

int campaign_changes_check(struct campaign *c, struct campaign_program *now, struct err *err)
{
    CLEANUP_BUF struct buf what;
    size_t finished = 0, differ = 0;
    buf_init(&what, 4096);
    for (size_t i = 0; i < c->planned.count; i++) {
        const struct campaign_point *p = campaign_point_find(&c->state, c->planned.points[i].id);
        if (!p || !campaign_is_finished(c, p))
            continue;
        finished++;
        differ += strcmp(p->hash, c->planned.points[i].hash) != 0;
    }
    if (differ)
        buf_printf(&what, "what %zu of %zu finished points start has changed in the recipe", differ, finished);
    for (const struct campaign_program *p = now; finished && p; p = p->next) {
        const struct campaign_program *before = program_named(c->state.programs, p->path);
        if (before && before->hash[0] && p->hash[0] && strcmp(before->hash, p->hash) != 0)
            buf_printf(&what, "%sthe %s %.300s has changed", what.n ? "; " : "", p->is_image ? "image" : "program", p->path);
    }
    if (!what.n || c->options.resume)
        return 0;
    err_set(err, ERR_USAGE, "%.800s", what.p);
    return err_hint(err, "--resume keeps the %zu finished point%s and measures the others, --new measures all of them again", finished,
                    str_plural(finished));
}
