/* slurm_metrics: any output of Slurm's commands leaves a text of metrics that has lines of a name, labels and a number. */
#include "exporters/metric_text.h"
#include "exporters/slurm_metrics.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The first byte chooses the source. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct slurm_tally t;
    struct metric_set set;
    struct buf text = {0};
    if (n < 1)
        return 0;
    arena_init(&a, 64 << 20);
    buf_init(&text, 64 << 20);
    if (slurm_tally_init(&t, &a, data[0] & 4, NULL) == 0) {
        slurm_tally_add(&t, data[0] % SLURM_SOURCES, (struct str){(const char *)data + 1, n - 1});
        slurm_tally_state(&t, data[0] % SLURM_SOURCES, true);
        if (slurm_tally_end(&t, &set, NULL) == 0)
            metric_text_put(&set, METRIC_TEXT_OPENMETRICS, NULL, &text);
        for (struct str rest = buf_text(&text); rest.p;) {
            struct str line = str_cut(&rest, '\n');
            double value;
            if (!line.n || line.p[0] == '#')
                continue;
            const char *blank = memrchr(line.p, ' ', line.n);
            if (!blank || !str_double((struct str){blank + 1, (size_t)(line.p + line.n - blank - 1)}, &value) || memchr(line.p, '\r', line.n))
                abort();
        }
    }
    buf_deinit(&text);
    arena_deinit(&a);
    return 0;
}
