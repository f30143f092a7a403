/* exporter.c: the list of exporters. */
#include "exporters/exporter.h"

/* The list is read twice: once to declare the structs, once to collect their addresses. */
#define EXPORTER(x) extern const struct exporter exporter_##x;
#include "exporters/exporters.def"
#undef EXPORTER

const struct exporter *const exporters[] = {
#define EXPORTER(x) &exporter_##x,
#include "exporters/exporters.def"
#undef EXPORTER
};
const size_t exporters_count = sizeof exporters / sizeof *exporters;

const struct exporter *exporter_find(struct str type)
{
    for (size_t i = 0; i < exporters_count; i++)
        if (str_is(type, exporters[i]->type))
            return exporters[i];
    return NULL;
}
