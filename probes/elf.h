/* elf.h: reads the description that an ELF file has of itself. The file is untrusted: every offset
 * and length is checked, nothing is mapped. */
#ifndef PROBES_ELF_H
#define PROBES_ELF_H
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <sys/types.h>

enum { ELF_NEEDED = 64, ELF_TEXT = 16384 };

struct elf {
    bool wide, big; /* 64 bits; big endian */
    unsigned machine, type; /* e_machine, e_type */
    bool dynamic; /* has a dynamic section */
    char build_id[129]; /* hexadecimal, "" for none */
    const char *interpreter, *soname, *rpath, *runpath; /* NULL: none */
    const char *needed[ELF_NEEDED];
    size_t needed_count;
    struct str comment; /* the compilers' notes, NUL-separated; n 0: none */
    char text[ELF_TEXT]; /* the texts above */
    size_t used;
};

/* Reads up to n bytes at an offset. Returns how many, or -1. */
typedef ssize_t elf_read_at(void *context, void *to, size_t n, uint64_t offset);
/* Reads the headers. Returns 0; 1: not an ELF file; -1: damaged, with *err. */
int elf_read(struct elf *ret, elf_read_at *read_at, void *context, struct err *err);
/* The same from a file. */
int elf_read_fd(struct elf *ret, int fd, struct err *err);
#endif
