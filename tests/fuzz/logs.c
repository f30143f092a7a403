/* logs.c: any bytes as log lines of each format, as a configuration of ship-logs, and as names of files: records are valid JSON on one line. */
#include "base/json.h"
#include "logs/logs_generation.h"
#include "logs/logs_record.h"
#include "logs/logs_ship_config.h"
#include "logs/logs_time.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_ignore_warning(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static void fuzz_one_line(struct str line, enum logs_format format, bool is_parsed)
{
    const struct logs_record_form form = {format, is_parsed, "host", 1000000000};
    const struct logs_record_line of = {.text = line, .path = "/f", .now_ns = INT64_C(1757365895) * 1000000000, .has_more = line.n > 9};
    struct json *j = NULL;
    struct buf b CLEANUP_BUF;
    buf_init(&b, 64 << 20);
    logs_record_write(&form, &of, &b);
    if (b.failed || memchr(b.p, '\n', b.n) || !str_valid_utf8(buf_text(&b)) || json_parse(&j, buf_text(&b), NULL, NULL) || json_count(j) < (format == LOGS_FORMAT_JSON ? 0 : 4))
        abort();
    json_free(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct ship_config c;
    struct arena a;
    struct err err = {0};
    for (struct str rest = text, line; rest.p && (line = str_cut(&rest, '\n'), true);)
        for (int f = LOGS_FORMAT_RAW; f < LOGS_FORMAT_AUTO; f++) {
            fuzz_one_line(line, (enum logs_format)f, true);
            fuzz_one_line(line, (enum logs_format)f, false);
            logs_line_severity(line);
        }
    generation_is_rotated_name(text, STR("app.log"));
    arena_init(&a, 64 << 20);
    ship_config_init(&c);
    ship_config_parse(&c, "fuzz", text, &a, fuzz_ignore_warning, NULL, &err);
    ship_config_deinit(&c);
    struct json *j = NULL;
    struct generation_line g;
    if (json_parse(&j, text, NULL, NULL) == 0)
        generation_read(j, &g);
    json_free(j);
    arena_deinit(&a);
    return 0;
}
