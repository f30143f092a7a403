/* since.c: --since, the time from which on runs are meant. */
#include "cmd/since.h"

#include "base/clock.h"
#include "benchmarks/rules.h"

int since_read(const struct cmd_context *c, int64_t *ret_ms)
{
    static const char *const formats[] = {
        "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "@%s"};
    const char *text = opt_text(&c->opts, "since");
    double age;
    *ret_ms = 0;
    if (!text)
        return 0;
    if (str_duration(str_of(text), &age) && age >= 0) {
        *ret_ms = clock_wall_ms() - (int64_t)(age * 1000);
        return 0;
    }
    for (size_t i = 0; !*ret_ms && i < sizeof formats / sizeof *formats; i++)
        rules_time(str_of(text), str_of(formats[i]), ret_ms);
    return *ret_ms
               ? 0
               : err_set(c->err, ERR_USAGE,
                         "--since: expected a past time like 2026-11-20 or \"2026-11-20 17:03\", or an age like 12h or 7d, got \"%.60s\"",
                         text);
}
