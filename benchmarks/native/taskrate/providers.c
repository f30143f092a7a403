/* providers.c: the list of providers. */
#include "benchmarks/native/taskrate/provider.h"

#include <string.h>

#define PROVIDER(x) extern const struct task_provider provider_##x;
#include "benchmarks/native/taskrate/providers.def"
#undef PROVIDER
#define PROVIDER(x) &provider_##x,
const struct task_provider *const providers[] = {
#include "benchmarks/native/taskrate/providers.def"
};
#undef PROVIDER
const size_t provider_count = sizeof providers / sizeof providers[0];

const struct task_provider *provider_find(const char *name)
{
    for (size_t i = 0; i < provider_count; i++)
        if (strcmp(providers[i]->name, name) == 0)
            return providers[i];
    return NULL;
}
