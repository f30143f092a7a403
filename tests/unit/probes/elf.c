/* elf: what is said about a program is what its own headers say; damaged files are refused, never believed. */
#include "base/fs.h"
#include "probes/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static ssize_t read_at(void *context, void *to, size_t n, uint64_t offset)
{
    const struct str *file = context;
    if (offset >= file->n)
        return 0;
    size_t left = file->n - (size_t)offset;
    memcpy(to, file->p + offset, n < left ? n : left);
    return (ssize_t)(n < left ? n : left);
}

static bool needs(const struct elf *e, const char *prefix)
{
    for (size_t i = 0; i < e->needed_count; i++)
        if (strncmp(e->needed[i], prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

static void this_program_is_known(void **state)
{
    (void)state;
    static struct elf e;
    struct err err = {0};
    int fd CLEANUP_FD = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(elf_read_fd(&e, fd, &err), 0);
    assert_int_equal(e.wide, sizeof(void *) == 8);
    assert_true(e.dynamic);
    assert_true(needs(&e, "libcmocka.so"));
    assert_true(needs(&e, "libc.so"));
    assert_non_null(e.interpreter);
    assert_true(str_has(e.comment, "GCC") || str_has(e.comment, "clang"));
}

static void what_is_no_elf_is_told(void **state)
{
    (void)state;
    static struct elf e;
    static const char *const rows[] = {"", "#!/bin/sh\n", "\177ELF", "PK\003\004 and so on, and so on, and so on, and so on, and so on"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str file = str_of(rows[i]);
        assert_int_equal(elf_read(&e, read_at, &file, NULL), 1);
    }
}

/* A 64 bit little endian file with one note segment that holds a build id, cut at every length. */
static void a_cut_file_has_no_build_id(void **state)
{
    (void)state;
    static struct elf e;
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr segment;
        Elf64_Nhdr note;
        char name[4];
        unsigned char id[8];
    } file = {
        .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB}, .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1},
        .segment = {.p_type = PT_NOTE, .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), .p_filesz = sizeof(Elf64_Nhdr) + 12},
        .note = {4, 8, NT_GNU_BUILD_ID},
        .name = "GNU",
        .id = {1, 2, 3, 4, 5, 0xaa, 0xbb, 0xff},
    };
    struct str whole = {(const char *)&file, sizeof file};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    assert_int_equal(elf_read(&e, read_at, &whole, NULL), 0);
    assert_string_equal(e.build_id, "0102030405aabbff");
    assert_false(e.dynamic);
    for (size_t n = 0; n < whole.n; n++) {
        struct str cut = {whole.p, n};
        if (elf_read(&e, read_at, &cut, NULL) == 0)
            assert_string_equal(e.build_id, "");
    }
    file.note.n_descsz = 0xfffffff0;
    assert_int_equal(elf_read(&e, read_at, &whole, NULL), 0);
    assert_string_equal(e.build_id, "");
    file.head.e_phnum = 0xffff;
    assert_int_equal(elf_read(&e, read_at, &whole, NULL), -1);
#else
    (void)whole;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_program_is_known),
        cmocka_unit_test(what_is_no_elf_is_told),
        cmocka_unit_test(a_cut_file_has_no_build_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
