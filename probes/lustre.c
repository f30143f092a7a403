/* lustre.c: what this node's Lustre clients read, write and request from metadata servers while the
 * program runs. */
#include "probes/sample.h"

#include <errno.h>
#include <stdio.h>

extern const struct probe probe_lustre;

enum { MOUNTS_MAX = 8 };

struct lustre_mount {
    char folder[128], key[24];
    struct sampled_file file;
    bool active;
    struct sample_count read, written, metadata;
};

struct lustre_mounts {
    struct lustre_mount at[MOUNTS_MAX];
    int count;
    bool looked;
};

/* Where versions have it: /proc until 2.11, debugfs (root's alone) since. */
static const char *const places[] = {"proc/fs/lustre/llite", "sys/kernel/debug/lustre/llite"};

struct lustre_search {
    const struct host *h;
    struct lustre_mounts *l;
    const char *place;
};

/* Adds a mount: "scratch-ffff8a0c1234" is the file system's name and the client's number in memory.
 * In a public record, and where the name is no plain word, the key has a number. */
static void lustre_add_mount(void *context, const char *name)
{
    struct lustre_search *f = context;
    if (f->l->count == MOUNTS_MAX)
        return;
    struct lustre_mount *m = &f->l->at[f->l->count];
    snprintf(m->folder, sizeof m->folder, "%s/%.64s", f->place, name);
    snprintf(m->key, sizeof m->key, "lustre%d", ++f->l->count);
    if (f->h->public_profile)
        return;
    size_t n = 0; /* a site's own name for it would identify the site */
    for (; n < 16 && ((name[n] >= 'a' && name[n] <= 'z') || str_is_digit(name[n])); n++)
        ;
    bool good = n > 0 && (name[n] == '-' || name[n] == 0);
    for (int i = 0; i + 1 < f->l->count; i++) /* mounted twice: by number */
        good &= strlen(f->l->at[i].key) != n + 7 || strncmp(f->l->at[i].key + 7, name, n) != 0;
    if (good)
        snprintf(m->key, sizeof m->key, "lustre_%.*s", (int)n, name);
}

static void lustre_find_mounts(struct host *h, struct record *r, struct lustre_mounts *l)
{
    l->looked = true;
    for (size_t i = 0; i < sizeof places / sizeof *places && l->count == 0; i++) {
        struct lustre_search f = {h, l, places[i]};
        errno = 0;
        if (look_each_name(h, places[i], lustre_add_mount, &f) < 0 && errno == EACCES && look_exists(h, "sys/fs/lustre/llite"))
            emit_missing(h, r, "system/lustre", "the client's counters are in debugfs, which root alone may read");
    }
}

/* Parses the client's statistics: "read_bytes 12 samples [bytes] 4096 1048576 12345678" is how
 * often, and for bytes their sum. Other requests in the list are operations on metadata. */
static void lustre_parse_stats(struct str text, double *ret_read, double *ret_written, double *ret_metadata)
{
    static const char *const metadata[] = {"open",  "close", "getattr", "setattr", "create",  "link",     "unlink",   "symlink", "mkdir",
                                           "rmdir", "mknod", "rename",  "statfs",  "readdir", "getxattr", "setxattr", "fsync"};
    while (text.p) {
        struct str line = str_cut(&text, '\n'), name = str_word(&line);
        double count, sum = 0;
        if (!str_double(str_word(&line), &count))
            continue;
        for (int i = 0; i < 4; i++) /* samples [unit] min max */
            str_word(&line);
        bool has_sum = str_double(str_word(&line), &sum);
        if (str_is(name, "read_bytes") && has_sum)
            *ret_read = sum;
        else if (str_is(name, "write_bytes") && has_sum)
            *ret_written = sum;
        else
            for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++)
                *ret_metadata += str_is(name, metadata[i]) ? count : 0;
    }
}

/* Records the mount's rates, from the first sample on that shows a request. Nothing where its file
 * cannot be read. The file stays open in m until lustre_drop. */
static void lustre_emit_mount(struct host *h, struct record *r, struct lustre_mount *m)
{
    struct str text;
    double read = 0, written = 0, metadata = 0, rate;
    if (!sample_read(h, &m->file, &text, "%s/stats", m->folder))
        return;
    lustre_parse_stats(text, &read, &written, &metadata); /* a kind that is not in it had no request yet */
    m->active |= m->read.known && (read != m->read.last || written != m->written.last || metadata != m->metadata.last);
    if (sample_rate(&m->read, h, read, 0, &rate) && m->active)
        sample_emit_fine(h, r, rate / 1e6, "system/%s_read_megabytes_per_second", m->key);
    if (sample_rate(&m->written, h, written, 0, &rate) && m->active)
        sample_emit_fine(h, r, rate / 1e6, "system/%s_write_megabytes_per_second", m->key);
    if (sample_rate(&m->metadata, h, metadata, 0, &rate) && m->active)
        sample_emit_fine(h, r, rate, "system/%s_metadata_operations_per_second", m->key);
}

static int lustre_sample(struct host *h, struct record *r, struct err *err)
{
    struct lustre_mounts *l = probe_data(h, &probe_lustre);
    (void)err;
    if (!l)
        return 0;
    if (!l->looked)
        lustre_find_mounts(h, r, l);
    for (int i = 0; i < l->count; i++)
        lustre_emit_mount(h, r, &l->at[i]);
    return 0;
}

static void lustre_drop(void *kept)
{
    struct lustre_mounts *l = kept;
    for (int i = 0; i < l->count; i++)
        sample_close(&l->at[i].file);
}

const struct probe probe_lustre = {
    .name = "lustre",
    .summary = "what Lustre's client does while the program runs",
    .sample = lustre_sample,
    .keeps = sizeof(struct lustre_mounts),
    .drop = lustre_drop,
};
