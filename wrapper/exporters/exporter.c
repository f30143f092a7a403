/* exporter.c: the list of exporters, and messages by one of them. */
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

int exporter_send_message(const struct exporter_config *c, char *const *env, const char *text, int64_t until_ns, int cancel_fd,
                          bool is_foreign, struct err *err)
{
    struct arena a;
    arena_init(&a, 0);
    struct exporter_link l = {
        .config = c, .env = env, .arena = &a, .until_ns = until_ns, .cancel_fd = cancel_fd, .retry_after_s = -1, .is_foreign = is_foreign};
    bool sent = c->kind->open(&l, err) == EXPORTER_SENT && c->kind->send_message(&l, text, err) == EXPORTER_SENT;
    if (c->kind->close)
        c->kind->close(&l);
    arena_deinit(&a);
    return sent ? 0 : -1;
}
