/* slurm_step.c: the step of one srun in the reply of `scontrol show step JOB`. */
#include "probes/slurm_step.h"

struct record_lines { /* of one step */
    struct str list;
    int64_t nodes, tasks;
    bool own;
    int sruns; /* lines that name one */
};

static bool slurm_step_parse_count(struct str line, const char *key, int64_t *ret)
{
    for (struct str word; (word = str_word(&line)).n;) {
        struct str value = word, name = str_cut(&value, '=');
        if (str_is(name, "Name")) /* the user's own text, to the end of the line */
            return false;
        if (str_is(name, key))
            return value.p && str_int(value, ret) && *ret > 0;
    }
    return false;
}

/* Reads one line of scontrol's reply, and calls `own` for each srun that the line names. */
static void slurm_step_parse_line(struct record_lines *r, struct str line, slurm_step_own *own, void *context)
{
    static const char state[] = "   State=", nodes[] = "   Nodes=", srun[] = "   SrunHost:Pid=";
    if (str_starts(line, state) && !r->list.p) {
        for (struct str word; (word = str_word(&line)).n;)
            if (str_starts(word, "NodeList="))
                r->list = str_sub(word, sizeof "NodeList=" - 1, word.n);
    } else if (str_starts(line, nodes) && r->list.p && !r->nodes) {
        if (!slurm_step_parse_count(line, "Nodes", &r->nodes) || !slurm_step_parse_count(line, "Tasks", &r->tasks))
            r->nodes = r->tasks = -1;
    } else if (str_starts(line, srun)) {
        struct str pid = str_trim(str_sub(line, sizeof srun - 1, line.n)), host = str_cut(&pid, ':');
        int64_t n;
        r->sruns++;
        r->own |= pid.p && str_int(pid, &n) && n > 0 && n < INT32_MAX && own(context, host, (pid_t)n);
    }
}

static int slurm_step_refuse(struct slurm_step *ret, struct err *err, const char *why)
{
    *ret = (struct slurm_step){0};
    return err_set(err, ERR_INPUT, "%s", why);
}

int slurm_step_parse(struct slurm_step *ret, struct str reply, slurm_step_own *own, void *context, struct err *err)
{
    size_t found = 0;
    *ret = (struct slurm_step){0};
    while (reply.p && reply.n) {
        struct str line = str_cut(&reply, '\n');
        struct record_lines r = {0};
        if (!str_starts(line, "StepId="))
            continue;
        while (reply.n && !str_starts(reply, "StepId="))
            slurm_step_parse_line(&r, str_cut(&reply, '\n'), own, context);
        if (!r.own)
            continue;
        if (r.sruns > 1 || ++found > 1)
            return slurm_step_refuse(ret, err, "scontrol's reply cannot be distinguished from text in the step's name");
        if (!r.list.n || r.nodes <= 0 || r.tasks <= 0)
            return slurm_step_refuse(ret, err, "scontrol reports no nodes and tasks of the step");
        struct str id = str_sub(line, sizeof "StepId=" - 1, line.n);
        *ret = (struct slurm_step){r.nodes, r.tasks, r.list, str_word(&id)};
    }
    return found > 0;
}
