/* elf.c: reads headers, dynamic section, notes and compiler comments of an ELF file of any width and byte order. */
#include "probes/elf.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

enum { HEADERS_MAX = 65536, DYNAMIC_MAX = 16384, NOTE_MAX = 8192, COMMENT_MAX = 4096, PATH_MAX_TEXT = 4096, LOADS = 16 };

struct elf_reader {
    struct elf *elf;
    elf_read_at *read_at;
    void *context;
    struct load {
        uint64_t address, offset, size;
    } loads[LOADS]; /* places of addresses in the file */
    size_t load_count;
    uint64_t dynamic_at, dynamic_size;
};

static uint64_t elf_number(const struct elf *e, const unsigned char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[e->big ? i : n - 1 - i];
    return v;
}

static bool elf_read_bytes(struct elf_reader *r, void *to, size_t n, uint64_t offset)
{
    return offset < (uint64_t)1 << 62 && r->read_at(r->context, to, n, offset) == (ssize_t)n;
}

/* A text of the file, cut at its NUL, kept in elf->text. NULL if it does not end within max or does
 * not fit. */
static const char *elf_store_text(struct elf_reader *r, uint64_t offset, size_t max)
{
    struct elf *e = r->elf;
    char *to = e->text + e->used;
    size_t room = sizeof e->text - e->used;
    if (max > room)
        max = room;
    if (max == 0 || offset >= (uint64_t)1 << 62)
        return NULL;
    ssize_t got = r->read_at(r->context, to, max, offset);
    char *end = got > 0 ? memchr(to, 0, (size_t)got) : NULL;
    if (!end)
        return NULL;
    e->used += (size_t)(end - to) + 1;
    return to;
}

static bool elf_file_offset(const struct elf_reader *r, uint64_t address, uint64_t *ret)
{
    for (size_t i = 0; i < r->load_count; i++)
        if (address >= r->loads[i].address && address - r->loads[i].address < r->loads[i].size) {
            *ret = r->loads[i].offset + (address - r->loads[i].address);
            return true;
        }
    return false;
}

/* Stores the build id of these notes in hexadecimal digits. Stores nothing where they cannot be
 * read, or hold no build id of 1 to 64 bytes. */
static void elf_read_notes(struct elf_reader *r, uint64_t offset, uint64_t size)
{
    unsigned char notes[NOTE_MAX];
    size_t n = size < sizeof notes ? (size_t)size : sizeof notes;
    if (r->elf->build_id[0] || !elf_read_bytes(r, notes, n, offset))
        return;
    for (size_t at = 0; at + 12 <= n;) {
        uint64_t name = elf_number(r->elf, notes + at, 4), text = elf_number(r->elf, notes + at + 4, 4),
                 type = elf_number(r->elf, notes + at + 8, 4);
        uint64_t name_room = (name + 3) & ~3ull, text_room = (text + 3) & ~3ull;
        if (name > n || text > n || at + 12 + name_room + text_room > n)
            return;
        const unsigned char *id = notes + at + 12 + name_room;
        if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(notes + at + 12, "GNU", 4) == 0 && text > 0 && text <= 64) {
            for (size_t i = 0; i < text; i++)
                snprintf(r->elf->build_id + 2 * i, 3, "%02x", id[i]);
            return;
        }
        at += 12 + name_room + text_room;
    }
}

/* Reads one program header, whose fields have other places in the 32 and the 64 bit form. */
static void elf_read_segment(struct elf_reader *r, const unsigned char *p)
{
    struct elf *e = r->elf;
    size_t w = e->wide ? 8 : 4;
    uint64_t type = elf_number(e, p, 4), offset = elf_number(e, p + (e->wide ? 8 : 4), w),
             address = elf_number(e, p + (e->wide ? 16 : 8), w);
    uint64_t size = elf_number(e, p + (e->wide ? 32 : 16), w);
    if (type == PT_LOAD && r->load_count < LOADS)
        r->loads[r->load_count++] = (struct load){address, offset, size};
    else if (type == PT_DYNAMIC) {
        e->dynamic = true;
        r->dynamic_at = offset;
        r->dynamic_size = size;
    } else if (type == PT_INTERP && !e->interpreter)
        e->interpreter = elf_store_text(r, offset, size < PATH_MAX_TEXT ? (size_t)size : PATH_MAX_TEXT);
    else if (type == PT_NOTE)
        elf_read_notes(r, offset, size);
}

/* Reads the libraries and paths of the dynamic section, in two passes: first the string table's
 * address, then the entries that point into it. Returns 0, or another value with err. */
static int elf_read_dynamic(struct elf_reader *r, struct err *err)
{
    struct elf *e = r->elf;
    unsigned char table[DYNAMIC_MAX];
    size_t w = e->wide ? 8 : 4, n = r->dynamic_size < sizeof table ? (size_t)r->dynamic_size : sizeof table;
    uint64_t strings = 0, at = 0, limit = 0;
    if (!elf_read_bytes(r, table, n, r->dynamic_at))
        return err_set(err, ERR_INPUT, "the dynamic section is outside of the file");
    for (size_t i = 0; i + 2 * w <= n; i += 2 * w) {
        uint64_t tag = elf_number(e, table + i, w), value = elf_number(e, table + i + w, w);
        if (tag == DT_STRTAB)
            strings = value;
        if (tag == DT_STRSZ)
            limit = value;
        if (tag == DT_NULL)
            break;
    }
    if (!elf_file_offset(r, strings, &at))
        return e->type == ET_EXEC || e->type == ET_DYN ? err_set(err, ERR_INPUT, "the dynamic string table is outside of the file") : 0;
    for (size_t i = 0; i + 2 * w <= n; i += 2 * w) {
        uint64_t tag = elf_number(e, table + i, w), value = elf_number(e, table + i + w, w);
        if (tag == DT_NULL)
            break;
        if ((tag != DT_NEEDED && tag != DT_SONAME && tag != DT_RPATH && tag != DT_RUNPATH) || value >= limit)
            continue;
        const char *text = elf_store_text(r, at + value, limit - value < PATH_MAX_TEXT ? (size_t)(limit - value) : PATH_MAX_TEXT);
        if (!text)
            continue;
        if (tag == DT_NEEDED && e->needed_count < ELF_NEEDED)
            e->needed[e->needed_count++] = text;
        else if (tag == DT_SONAME)
            e->soname = text;
        else if (tag == DT_RPATH)
            e->rpath = text;
        else if (tag == DT_RUNPATH)
            e->runpath = text;
    }
    return 0;
}

/* Stores the compilers' notes of the section .comment. It is known by its name alone, so the
 * section headers are walked; stripped files may have none. */
static void elf_read_comment(struct elf_reader *r, const unsigned char *header)
{
    struct elf *e = r->elf;
    size_t w = e->wide ? 8 : 4, size = e->wide ? 64 : 40;
    uint64_t table = elf_number(e, header + (e->wide ? 40 : 32), w), count = elf_number(e, header + (e->wide ? 60 : 48), 2);
    uint64_t names = elf_number(e, header + (e->wide ? 62 : 50), 2);
    unsigned char s[64];
    if (table == 0 || names >= count || elf_number(e, header + (e->wide ? 58 : 46), 2) != size ||
        !elf_read_bytes(r, s, size, table + names * size))
        return;
    uint64_t names_at = elf_number(e, s + (e->wide ? 24 : 16), w);
    for (uint64_t i = 0; i < count; i++) {
        char name[9] = "";
        if (!elf_read_bytes(r, s, size, table + i * size))
            return;
        if (elf_number(e, s + 4, 4) != SHT_PROGBITS || !elf_read_bytes(r, name, sizeof name, names_at + elf_number(e, s, 4)) ||
            memcmp(name, ".comment", 9) != 0)
            continue;
        uint64_t offset = elf_number(e, s + (e->wide ? 24 : 16), w), length = elf_number(e, s + (e->wide ? 32 : 20), w);
        size_t room = sizeof e->text - e->used;
        if (length > COMMENT_MAX)
            length = COMMENT_MAX;
        if (length > 0 && length <= room && elf_read_bytes(r, e->text + e->used, (size_t)length, offset)) {
            e->comment = (struct str){e->text + e->used, (size_t)length};
            e->used += (size_t)length;
        }
        return;
    }
}

int elf_read(struct elf *ret, elf_read_at *read_at, void *context, struct err *err)
{
    unsigned char header[64], segment[56];
    struct elf_reader r = {.elf = ret, .read_at = read_at, .context = context};
    memset(ret, 0, offsetof(struct elf, text));
    ret->used = 0;
    if (!elf_read_bytes(&r, header, 52, 0) || memcmp(header, ELFMAG, SELFMAG) != 0)
        return 1;
    ret->wide = header[EI_CLASS] == ELFCLASS64;
    ret->big = header[EI_DATA] == ELFDATA2MSB;
    if ((header[EI_CLASS] != ELFCLASS64 && header[EI_CLASS] != ELFCLASS32) ||
        (header[EI_DATA] != ELFDATA2MSB && header[EI_DATA] != ELFDATA2LSB))
        return err_set(err, ERR_INPUT, "its ELF class or byte order is unknown");
    if (ret->wide && !elf_read_bytes(&r, header, sizeof header, 0))
        return err_set(err, ERR_INPUT, "its ELF header is cut");
    ret->type = (unsigned)elf_number(ret, header + 16, 2);
    ret->machine = (unsigned)elf_number(ret, header + 18, 2);
    size_t w = ret->wide ? 8 : 4, size = ret->wide ? 56 : 32;
    uint64_t table = elf_number(ret, header + (ret->wide ? 32 : 28), w), count = elf_number(ret, header + (ret->wide ? 56 : 44), 2);
    if (elf_number(ret, header + (ret->wide ? 54 : 42), 2) != size || count > HEADERS_MAX / size)
        return count == 0 ? 0 : err_set(err, ERR_INPUT, "its program headers are not understood");
    for (uint64_t i = 0; i < count; i++) {
        if (!elf_read_bytes(&r, segment, size, table + i * size))
            return err_set(err, ERR_INPUT, "its program headers are outside of the file");
        elf_read_segment(&r, segment);
    }
    if (ret->dynamic && elf_read_dynamic(&r, err) != 0)
        return -1;
    elf_read_comment(&r, header);
    return 0;
}

/* Reads for elf_read at an offset of the descriptor *context. Returns fewer than n bytes only at
 * the end of the file, and -1 with errno. */
static ssize_t elf_pread(void *context, void *to, size_t n, uint64_t offset)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(*(int *)context, (char *)to + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int elf_read_fd(struct elf *ret, int fd, struct err *err)
{
    return elf_read(ret, elf_pread, &fd, err);
}
