/* provider_local.c: the row of the local provider; local.c does its work. */
#include "benchmarks/native/taskrate/local.h"
#include "benchmarks/native/taskrate/provider.h"

static enum provider_how local_how(const struct bench *b)
{
    (void)b;
    return HOW_LOCAL;
}

/* Sets the number of slots to that of the processors that this process may use. Always 0. */
static int local_begin(struct bench *b, struct err *err)
{
    (void)err;
    b->slots = local_processors();
    b->slots_from = "processors this process may use";
    return 0;
}

const struct task_provider provider_local = {.name = "local",
                                             .summary = "this process starts the tasks itself: the floor of all others",
                                             .path = "client -> process",
                                             .live = true,
                                             .tasks = 1000,
                                             .chain = 200,
                                             .clients = 1,
                                             .how = local_how,
                                             .begin = local_begin};
