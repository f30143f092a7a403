/* json_scan: any text ends the scan, within its bounds. */
#include "base/json_scan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void scan_some(struct json_scan *s, int depth)
{
    struct str key, value;
    double number;
    while (json_scan_member(s, &key)) {
        if (depth < 5 && json_scan_enter(s))
            scan_some(s, depth + 1);
        else if (!json_scan_number(s, &number) && !json_scan_text(s, &value))
            json_scan_value(s, &value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *copy = malloc(n ? n : 1); /* of its exact length: the sanitizer sees each byte too far */
    struct str value;
    if (!copy)
        return 0;
    memcpy(copy, data, n);
    struct json_scan s = json_scan_of((struct str){copy, n});
    if (json_scan_enter(&s))
        scan_some(&s, 0);
    s = json_scan_of((struct str){copy, n});
    json_scan_value(&s, &value);
    free(copy);
    return 0;
}
