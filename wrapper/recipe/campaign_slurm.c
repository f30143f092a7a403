/* campaign_slurm.c: start processes of a campaign on nodes of a Slurm allocation. */
#include "recipe/campaign.h"

static char *join_nodes(const struct campaign_seat *seats, size_t nodes, size_t instances, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < nodes; i++)
        buf_printf(&b, "%s%s", i ? "," : "", seats[i * instances].node);
    return b.failed ? NULL : arena_dup(a, b.p ? b.p : "", b.n);
}

char **campaign_start_words(struct campaign *c, const struct recipe_part *part, const struct campaign_seat *seats, size_t seat, char **words,
                            struct arena *a)
{
    size_t n = 0, count = 0;
    if (!c->hosts.is_slurm || !words)
        return words;
    while (words[count])
        count++;
    char **line = arena_get(a, (count + 20) * sizeof *line);
    if (!line)
        return NULL;
    bool all = part->tasks > 0;
    line[n++] = (char *)"srun";
    line[n++] = (char *)"--overlap"; /* steps of other roles may share a node */
    line[n++] = (char *)"--kill-on-bad-exit=1";
    line[n++] = arena_printf(a, "--nodes=%zu", all ? part->nodes : 1);
    line[n++] = arena_printf(a, "--ntasks=%zu", all ? part->tasks : 1);
    line[n++] = all ? arena_printf(a, "--nodelist=%s", join_nodes(seats, part->nodes, part->instances, a))
                    : arena_printf(a, "--nodelist=%s", seats[seat].node);
    if (part->cpus)
        line[n++] = arena_printf(a, "--cpus-per-task=%u", part->cpus);
    if (part->gpus)
        line[n++] = arena_printf(a, "--gpus-per-node=%u", part->gpus);
    line[n++] = part->memory_B ? arena_printf(a, "--mem=%lluM", (unsigned long long)(part->memory_B >> 20)) : (char *)"--mem=0";
    for (size_t i = 0; i < count; i++)
        line[n++] = words[i];
    return a->failed ? NULL : line;
}
