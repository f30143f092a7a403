/* nodes: any lines of collectors, and any answer of sacct, leave a readable nodes.json and finite figures. */
#include "base/fs.h"
#include "base/json.h"
#include "mlruns-format/crc32c.h"
#include "collector/nodes.h"
#include "run/collectors.h"
#include "probes/slurm_acct.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Every line of the input gets its sum, or nothing but sums would be tried. */
static void with_sums(struct str text, struct buf *to)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        if (line.n < NODE_LINE_MAX)
            buf_printf(to, "%08x ", crc32c_extend(0, line.p, line.n));
        buf_str(to, line);
        buf_putc(to, '\n');
    }
}

static void merge(struct str lines)
{
    static char path[] = "/dev/shm/benchwrap-fuzz.XXXXXX";
    static int dir = -1;
    struct record r;
    struct buf json CLEANUP_BUF;
    struct json *j = NULL;
    buf_init(&json, 64 << 20);
    if (dir < 0)
        dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY) : -1;
    must(dir >= 0);
    fs_write(dir, NODES_LINES, lines, 0600, false, NULL);
    record_init(&r, "00000000000000000000000000000000", 1000);
    nodes_finish(dir, &r, false);
    must(fs_read(dir, "nodes.json", 32 << 20, 0, &json, NULL) == 0 && json_parse(&j, buf_text(&json), NULL, NULL) == 0);
    for (const struct fact *f = r.first; f; f = f->next)
        must(f->kind != FACT_METRIC || isfinite(f->value));
    json_free(j);
    record_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = {(const char *)data, n};
    struct buf lines CLEANUP_BUF;
    struct slurm_acct acct;
    buf_init(&lines, 1 << 22);
    with_sums(text, &lines);
    if (!lines.failed)
        merge(buf_text(&lines));
    slurm_acct_parse(&acct, text, "1", 0, INT64_MAX);
    must(isfinite(acct.cpu_s) && isfinite(acct.max_rss_B) && isfinite(acct.energy_J) && strlen(acct.state) < sizeof acct.state);
    return 0;
}
