/* elf: any bytes are an ELF file, damaged, or none; nothing outside of them is read. */
#include "probes/elf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static ssize_t read_at(void *context, void *to, size_t n, uint64_t offset)
{
    const struct str *file = context;
    if (offset >= file->n)
        return 0;
    size_t left = file->n - (size_t)offset;
    memcpy(to, file->p + offset, n < left ? n : left);
    return (ssize_t)(n < left ? n : left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct elf e;
    struct str file = {(const char *)data, n};
    if (elf_read(&e, read_at, &file, NULL) != 0)
        return 0;
    for (size_t i = 0; i < e.needed_count; i++)
        if (strlen(e.needed[i]) >= ELF_TEXT)
            abort();
    if (e.used > sizeof e.text || e.comment.n > sizeof e.text)
        abort();
    return 0;
}
