/* show.c (test): values as people read them. */
#include "base/show.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void values_read_well(void **state)
{
    static const struct { double seconds; const char *shown; } durations[] = {
        {0.0000125, "12.5 us"}, {0.5, "500 ms"}, {0.9999, "1.0 s"}, {59.94, "59.9 s"}, {120, "2 min 0 s"}, {7199.6, "120 min 0 s"}, {7200, "2 h 0 min"}, {-1, "?"},
    };
    static const struct { uint64_t bytes; const char *shown; } sizes[] = {
        {0, "0 B"}, {1023, "1023 B"}, {1536, "1.5 KiB"}, {104857600, "100 MiB"}, {UINT64_MAX, "16.0 EiB"},
    };
    static const struct { double v; const char *shown; } numbers[] = {
        {3, "3"}, {1234567.25, "1234567.2"}, {0.001234567, "0.00123457"}, {1e300, "1e+300"}, {-INFINITY, "-inf"},
    };
    struct buf b;
    (void)state;
    buf_init(&b, 256);
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++, buf_clear(&b)) {
        show_duration(&b, durations[i].seconds);
        assert_string_equal(b.p, durations[i].shown);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++, buf_clear(&b)) {
        show_size(&b, sizes[i].bytes);
        assert_string_equal(b.p, sizes[i].shown);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++, buf_clear(&b)) {
        show_double(&b, numbers[i].v);
        assert_string_equal(b.p, numbers[i].shown);
    }
    show_time_utc(&b, -1);
    assert_string_equal(b.p, "1969-12-31T23:59:59.999Z");
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_read_well),
    };
    return cmocka_run_group_tests_name("base/show", tests, NULL, NULL);
}
