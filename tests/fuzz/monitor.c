/* monitor.c: any bytes as what a monitor reads: a service's page of metrics, and the lines of collectors. Every sample is a number with a name. */
#include "collector/collector_lines.h"
#include "recipe/monitor_sources.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sample(void *context, const char *node, const char *component, struct str metric, double value)
{
    size_t *count = context;
    if (!node[0] || !component[0] || !metric.n || (!*count && !isfinite(value)))
        abort();
}

/* The lines of the input, whose checks of damage are added. */
static void read_lines_of_nodes(struct str text)
{
    struct monitor_nodes n = {.step = QUERY_NONE};
    size_t lines = 1;
    buf_init(&n.step.text, 16 << 20);
    n.step.end = QUERY_DONE;
    for (struct str rest = text; rest.p;)
        node_line(&n.step.text, lines++ % 3 ? "n1" : "n2", str_cut(&rest, '\n'));
    buf_puts(&n.step.text, "a line that is cut");
    monitor_nodes_read(&n, check_sample, &lines);
    monitor_nodes_end(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {size ? (const char *)data : "", size};
    size_t none = 0;
    monitor_page_read(text, "n1", "server.0", check_sample, &none);
    read_lines_of_nodes(text);
    return 0;
}
