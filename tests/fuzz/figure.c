/* figure.c: any bytes as lines of a program that no rules know. Each figure has a name and a number. */
#include "benchmarks/figure.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct figure_context context = {0};
    struct figure found[FIGURES_MAX];
    for (struct str rest = {(const char *)data, size}; rest.p && rest.n;) {
        size_t n = figure_find(&context, str_cut(&rest, '\n'), found);
        for (size_t i = 0; i < n; i++) {
            double value;
            struct str number = str_of(found[i].value);
            if (n > FIGURES_MAX || !found[i].name[0] || !number.n || (!str_double(number, &value) && !memchr(number.p, ',', number.n)))
                abort();
        }
    }
    return 0;
}
