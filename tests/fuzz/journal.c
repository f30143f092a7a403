/* journal.c: any bytes as a journal. The first byte chooses: even: the file as it is; odd: each line gets its right sum, so that what
 * the lines say is reached. What was read must be legal, and read again the same. */
#include "base/fs.h"
#include "mlruns-format/crc32c.h"
#include "mlruns-format/journal.h"
#include "mlruns-format/key.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int folder(void)
{
    static int dir = -1;
    char path[] = "/dev/shm/bw-fuzz.XXXXXX";
    if (dir < 0 && mkdtemp(path))
        dir = open(path, O_RDONLY | O_DIRECTORY);
    return dir;
}

static void with_sums(struct buf *to, struct str text)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        buf_printf(to, "%08x ", crc32c_extend(0, line.p, line.n));
        buf_str(to, line);
        buf_putc(to, '\n');
    }
}

static void check(const struct record *r)
{
    struct record again;
    record_init(&again, r->id, r->start_ms);
    for (const struct fact *f = r->first; f; f = f->next) {
        if (f->kind != FACT_WARNING && f->kind != FACT_ARTIFACT && !key_legal(f->key))
            abort();
        if (!str_valid_utf8(f->text) || f->time_ms <= 0)
            abort();
        record_fact(&again, f);
    }
    const struct fact *a = r->first, *b = again.first;
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || !str_eq(a->key, b->key) || !str_eq(a->text, b->text) || a->time_ms != b->time_ms)
            abort();
    if (a || b)
        abort();
    record_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf b CLEANUP_BUF;
    struct record r;
    struct journal_head head;
    struct journal_state state;
    struct str text = {size ? (const char *)data + 1 : "", size ? size - 1 : 0};
    buf_init(&b, 64 << 20);
    if (size && data[0] % 2)
        with_sums(&b, text);
    else
        buf_str(&b, text);
    if (fs_write(folder(), "journal", buf_text(&b), 0600, false, NULL) < 0)
        abort();
    if (journal_read(folder(), &r, &head, &state, NULL) == 0) {
        if (state.good_bytes > state.all_bytes || state.all_bytes != b.n)
            abort();
        check(&r);
        record_deinit(&r);
    }
    return 0;
}
