/* clock: the end of something whose wall clock was set while it lasted. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void set_back(void **state)
{
    (void)state;
    int64_t now_ms = clock_wall_ms(), now_ns = clock_mono_ns();
    int64_t start_ms = now_ms + 5000 - 2000; /* two seconds ago, and the clock was set back by five since */
    int64_t end_ms = clock_wall_after_ms(start_ms, now_ns - INT64_C(2000000000));
    assert_true(end_ms >= start_ms + 2000 && end_ms < start_ms + 120000);
}

static void set_forward(void **state)
{
    (void)state;
    int64_t now_ms = clock_wall_ms();
    assert_true(clock_wall_after_ms(now_ms - 3600000, clock_mono_ns()) >= now_ms); /* suspended, or set: not known */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(set_back), cmocka_unit_test(set_forward)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
