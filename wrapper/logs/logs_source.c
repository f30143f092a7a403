/* logs_source.c: reads raw streams of a campaign line by line; see logs_source.h. */
#include "logs/logs_source.h"

#include "base/fs.h"
#include "base/place.h"
#include "probes/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SOURCE_BLOCK = 16 << 10, SOURCE_LINE_MAX = 128 << 10 };

int64_t logs_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* COMPONENT.INSTANCE.NODE.out */
bool logs_source_name_read(struct str name, struct logs_source_name *ret)
{
    uint64_t instance;
    if (name.n >= LOGS_NAME_MAX || (!str_ends(name, ".out") && !str_ends(name, ".err")))
        return false;
    ret->is_error = str_ends(name, ".err");
    name.n -= 4;
    struct str component = str_cut(&name, '.'), number = name.p ? str_cut(&name, '.') : STR("");
    if (!name.p || !str_uint(number, &instance) || instance > 1000000 || !logs_name_is_legal(component, false) ||
        !logs_name_is_legal(name, true))
        return false;
    ret->instance = (unsigned)instance;
    snprintf(ret->component, sizeof ret->component, STR_FMT, STR_ARG(component));
    snprintf(ret->node, sizeof ret->node, STR_FMT, STR_ARG(name));
    return true;
}

static uint64_t source_number(const unsigned char *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* How many bytes an index knows. */
static uint64_t source_last_end(int index)
{
    unsigned char entry[LOGS_ENTRY];
    struct stat st;
    if (index < 0 || fstat(index, &st) || st.st_size < LOGS_ENTRY ||
        pread(index, entry, sizeof entry, st.st_size / LOGS_ENTRY * LOGS_ENTRY - LOGS_ENTRY) != LOGS_ENTRY)
        return 0;
    return source_number(entry) & ~LOGS_INDEX_END;
}

/* Removes what follows the last complete entry: a kill or a full disk cut it. */
static void index_trim(int index)
{
    struct stat st;
    if (fstat(index, &st) == 0 && st.st_size % LOGS_ENTRY && ftruncate(index, st.st_size / LOGS_ENTRY * LOGS_ENTRY))
        return; /* later entries are wrong, and no call can change that */
}

int logs_source_open(struct logs_source *ret, int folder, const char *file, const struct logs_source_name *name, bool stamps,
                     struct err *err)
{
    char index[LOGS_NAME_MAX + 8];
    struct stat st;
    *ret = (struct logs_source){.name = *name, .data = -1, .index = -1};
    ret->data = place_open(folder, file, O_RDONLY, 0);
    if (ret->data < 0 || fstat(ret->data, &st))
        return err_sys(err, "cannot read the log %s", file);
    snprintf(index, sizeof index, "%s%s", file, LOGS_INDEX_SUFFIX);
    ret->index = place_open(folder, index, O_RDONLY, 0);
    ret->is_clean = ret->index >= 0;
    if (ret->index < 0) {
        snprintf(index, sizeof index, "%s%s", file, LOGS_SEEN_SUFFIX);
        ret->index = place_open(folder, index, stamps ? O_RDWR | O_CREAT | O_APPEND : O_RDONLY, 0600);
        ret->stamps = stamps && ret->index >= 0;
        if (ret->stamps)
            index_trim(ret->index);
        ret->stamped = source_last_end(ret->index);
    }
    ret->has_index = ret->index >= 0;
    ret->file_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    ret->line = (struct logs_line){
        .component = ret->name.component, .instance = name->instance, .node = ret->name.node, .is_error = name->is_error};
    return 0;
}

void logs_source_close(struct logs_source *s)
{
    fs_close(&s->data);
    fs_close(&s->index);
    free(s->buffer);
    s->buffer = NULL;
}

/* The next entry becomes the current one. False: the index has no more yet. */
static bool source_next_entry(struct logs_source *s)
{
    if (s->entries_n - s->entries_used < LOGS_ENTRY) {
        ssize_t n = s->index < 0 ? 0 : pread(s->index, s->entries, sizeof s->entries, (off_t)s->index_at);
        s->entries_n = n > 0 ? (size_t)n / LOGS_ENTRY * LOGS_ENTRY : 0;
        s->entries_used = 0;
        s->index_at += s->entries_n;
    }
    if (s->entries_n == 0)
        return false;
    uint64_t end = source_number(s->entries + s->entries_used);
    int64_t ns = (int64_t)source_number(s->entries + s->entries_used + 8);
    s->entries_used += LOGS_ENTRY;
    s->is_ended = (end & LOGS_INDEX_END) != 0;
    s->entry_end = end & ~LOGS_INDEX_END;
    s->entry_ns = ns > s->entry_ns ? ns : s->entry_ns;
    return true;
}

/* When the byte before this offset arrived. 0: not known yet. */
static int64_t source_time_at(struct logs_source *s, uint64_t end, bool final)
{
    while (s->has_index && s->entry_end < end)
        if (!source_next_entry(s))
            return final ? s->entry_ns : 0;
    return s->has_index ? s->entry_ns : 0;
}

int logs_index_add(int index, uint64_t end, int64_t time_ns)
{
    unsigned char entry[LOGS_ENTRY];
    for (int i = 0; i < 8; i++) {
        entry[i] = (unsigned char)(end >> 8 * i);
        entry[8 + i] = (unsigned char)((uint64_t)time_ns >> 8 * i);
    }
    if (fs_write_all(index, entry, sizeof entry) == 0)
        return 0;
    int sys = errno;
    index_trim(index);
    errno = sys;
    return -1;
}

/* Stores that these bytes are there, unless an earlier call did. */
static void source_stamp(struct logs_source *s, uint64_t end)
{
    if (!s->stamps || s->stamped >= end)
        return;
    if (logs_index_add(s->index, end, logs_now_ns()) == 0)
        s->stamped = end;
}

/* Reads on. False: nothing came. */
static bool source_fill(struct logs_source *s)
{
    if (s->used) {
        memmove(s->buffer, s->buffer + s->used, s->n - s->used);
        s->at += s->used;
        s->n -= s->used;
        s->used = 0;
    }
    if (s->n == s->size) {
        size_t size = s->size ? 2 * s->size : SOURCE_BLOCK;
        char *p = size <= SOURCE_LINE_MAX ? realloc(s->buffer, size) : NULL;
        if (!p)
            return false;
        s->buffer = p;
        s->size = size;
    }
    ssize_t n = pread(s->data, s->buffer + s->n, s->size - s->n, (off_t)(s->at + s->n));
    if (n <= 0)
        return false;
    s->n += (size_t)n;
    source_stamp(s, s->at + s->n);
    return true;
}

/* Where a line that is too long for the buffer is divided: not within a character. */
static size_t source_part_end(const char *p, size_t n)
{
    size_t end = n;
    while (end > n - 4 && end > 1 && ((unsigned char)p[end - 1] & 0xc0) == 0x80)
        end--;
    if (end > 1 && (unsigned char)p[end - 1] >= 0xc0 && str_utf8(p + end - 1, n - end + 1) == 0)
        return end - 1;
    return n;
}

static void source_set_time(struct logs_source *s, const struct logs_clocks *clocks, int64_t arrived_ns)
{
    int64_t ns;
    if (!s->has_index && !logs_line_time(s->line.text, s->file_ns, &ns))
        ns = s->time_ns ? s->time_ns : s->file_ns;
    else if (s->has_index)
        ns = logs_clocks_correct(clocks, s->name.node, arrived_ns);
    s->time_ns = s->line.time_ns = ns > s->time_ns ? ns : s->time_ns;
}

bool logs_source_next(struct logs_source *s, const struct logs_clocks *clocks, bool final)
{
    const char *end = NULL;
    size_t searched = s->used;
    s->has_line = false;
    for (;;) {
        end = s->n > searched ? memchr(s->buffer + searched, '\n', s->n - searched) : NULL;
        if (end)
            break;
        searched = s->n - s->used; /* source_fill moves what is left to the front */
        if (!source_fill(s))
            break;
    }
    size_t left = s->n - s->used, n = end ? (size_t)(end - s->buffer) - s->used : left;
    bool is_full = !end && left == SOURCE_LINE_MAX;
    if (left == 0 || (!end && !is_full && !final))
        return false;
    if (is_full)
        n = source_part_end(s->buffer + s->used, left);
    size_t taken = n + (end ? 1 : 0);
    int64_t arrived_ns = source_time_at(s, s->at + s->used + taken, final);
    if (s->has_index && !arrived_ns && !final)
        return false;
    if (!s->is_clean)
        redact_secrets(s->buffer + s->used, n, &s->secrets, NULL, NULL);
    s->line.text = (struct str){s->buffer + s->used, n};
    s->line.has_more = is_full;
    source_set_time(s, clocks, arrived_ns);
    s->used += taken;
    s->lines++;
    s->bytes += taken;
    return s->has_line = true;
}

void logs_source_end(struct logs_source *s)
{
    if (s->stamps && !s->is_ended)
        logs_index_add(s->index, (s->at + s->n) | LOGS_INDEX_END, logs_now_ns());
}

void logs_source_see(struct logs_source *s)
{
    struct stat st;
    if (s->stamps && fstat(s->data, &st) == 0 && st.st_size > 0)
        source_stamp(s, (uint64_t)st.st_size);
}
