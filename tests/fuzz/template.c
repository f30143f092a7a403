/* template.c: any bytes as a template of the exporter httpjson: with every value missing, what comes out ends, and one that is accepted as JSON has no {{KEY}} left. */
#include "exporters/httpjson_template.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct exporter_config config = {.name = "x"};
    const struct template_values nothing = {.config = &config};
    struct arena a;
    struct err err = {0};
    struct buf json, url;
    arena_init(&a, 16 << 20);
    buf_init(&json, 16 << 20);
    buf_init(&url, 16 << 20);
    const char *text = arena_dup(&a, size ? (const char *)data : "", size);
    if (!text)
        abort();
    int rc = template_expand(text, &nothing, &json, &err);
    if (rc && !err.text[0])
        abort();
    if (rc == 0 && json.p && template_has_keys(json.p) && !template_has_keys(text))
        abort();
    if (template_expand_url(text, &nothing, &url, &err) != rc)
        abort();
    buf_deinit(&json);
    buf_deinit(&url);
    arena_deinit(&a);
    return 0;
}
