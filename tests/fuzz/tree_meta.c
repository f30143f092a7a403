/* tree_meta.c: any bytes as a meta.yaml and as a name: what is written is read back the same, by the fast way and as YAML alike. */
#include "base/yaml.h"
#include "mlruns-format/tree_meta.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fast way must agree with the parser: a long comment line makes the file one for the parser alone. */
static void both_ways(struct str text)
{
    struct arena a;
    struct tree_meta fast, slow;
    struct buf b CLEANUP_BUF;
    arena_init(&a, 64 << 20);
    buf_init(&b, 8 << 20);
    buf_puts(&b, "# by the parser\n");
    buf_str(&b, text);
    int rc = tree_meta_parse(&fast, "f", text, &a, NULL);
    if (rc == 0 && !a.failed && text.n < 4096 && tree_meta_parse(&slow, "s", buf_text(&b), &a, NULL) == 0)
        if (!str_eq(fast.run_id, slow.run_id) || !str_eq(fast.name, slow.name) || !str_eq(fast.artifact_uri, slow.artifact_uri) || fast.start_ms != slow.start_ms || fast.status != slow.status)
            abort();
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {size ? (const char *)data : "", size};
    both_ways(text);
    struct arena a;
    struct tree_meta m;
    struct buf b CLEANUP_BUF, name CLEANUP_BUF;
    arena_init(&a, 64 << 20);
    buf_init(&b, 1 << 20);
    buf_init(&name, 1 << 20);
    buf_utf8(&name, str_sub(text, 0, 250));
    tree_meta_run(&b, 7, "0123456789abcdef0123456789abcdef", buf_text(&name), STR("u"), 5, 6, RUN_FINISHED, false);
    if (tree_meta_parse(&m, "w", buf_text(&b), &a, NULL) < 0 || !str_eq(m.name, buf_text(&name)) || m.start_ms != 5 || m.status != RUN_FINISHED)
        abort();
    arena_deinit(&a);
    return 0;
}
