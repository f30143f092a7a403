/* recipe_create.c: write a first recipe from answers. */
#include "recipe/recipe_create.h"

#include "recipe/recipe_keys.h"

#include <stdlib.h>

enum { ANSWER_MAX = 4096 };

struct question {
    const char *name, *text, *fallback;
    enum { ANSWER_TEXT, ANSWER_NUMBER, ANSWER_VALUES, ANSWER_DURATION, ANSWER_SERVICE } kind;
};

static const struct question questions[] = {
    {"name", "name of the campaign", "my-campaign", ANSWER_TEXT},
    {"service", "service (none: only a command)", "dummy", ANSWER_SERVICE},
    {"model", "model, where the service has one", "", ANSWER_TEXT},
    {"server_nodes", "nodes of the service", "1", ANSWER_NUMBER},
    {"gpus", "GPUs of the service on each node", "0", ANSWER_NUMBER},
    {"command", "command to measure (empty: llmload against the service)", "", ANSWER_TEXT},
    {"client_nodes", "nodes of the command", "1", ANSWER_NUMBER},
    {"concurrency", "concurrent requests, one value or several: 1,4,16 or 1..64*2", "1..16*2", ANSWER_VALUES},
    {"prompt_len", "tokens of a prompt, one value or several", "128", ANSWER_VALUES},
    {"duration", "time of each measurement", "30s", ANSWER_DURATION},
    {"repeat", "repetitions of each point", "1", ANSWER_NUMBER},
    {"runtime", "container: none, apptainer, singularity, podman or enroot", "none", ANSWER_TEXT},
    {"image", "image of the service, empty: that of the service file", "", ANSWER_TEXT},
    {"partition", "partition of the scheduler, empty: its default", "", ANSWER_TEXT},
    {"account", "account, empty: your default", "", ANSWER_TEXT},
    {"time", "time limit of the job", "01:00:00", ANSWER_TEXT},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

struct creation {
    const char *answers[QUESTIONS];
    struct arena *a;
    const struct recipe_places *places;
    struct err *err;
};

static const char *creation_answer(const struct creation *c, const char *name)
{
    for (size_t i = 0; i < QUESTIONS; i++)
        if (strcmp(questions[i].name, name) == 0)
            return c->answers[i];
    return "";
}

/* NULL: the answer is good; else what is expected. */
static const char *answer_problem(const struct creation *c, const struct question *q, const char *text)
{
    struct sweep_axis axis;
    struct recipe_file file;
    int64_t n;
    double seconds;
    switch (q->kind) {
    case ANSWER_NUMBER: return str_int(str_of(text), &n) && n >= 0 ? NULL : "a number";
    case ANSWER_DURATION: return str_duration(str_of(text), &seconds) ? NULL : "a duration such as 30s";
    case ANSWER_VALUES: {
        const char *option = arena_printf(c->a, "%s=%s", q->name, text);
        return option && sweep_read_axis(&axis, option, false, c->a, NULL) == 0 ? NULL : "values such as 1,4,16 or 1..64*2";
    }
    case ANSWER_SERVICE:
        return strcmp(text, "none") == 0 || recipe_file_find(&file, "services", text, c->places, c->a, NULL) == 0
                   ? NULL
                   : "a service file; benchwrap recipe list --services";
    default: return NULL;
    }
}

/* Reads the answers of a file into c->answers, in the arena, and checks each. 0; -1 with c->err: an
 * unknown question, a wrong value, or out of memory. */
static int take_answers(struct creation *c, const struct yaml *map, const char *file)
{
    if (map->kind != YAML_MAP)
        return yaml_complain(map, file, c->err, "expected answers: name: value");
    for (const struct yaml *y = map->child; y; y = y->next) {
        size_t i = 0, nearest = QUESTIONS;
        unsigned least = 4;
        for (; i < QUESTIONS && !str_is(y->key, questions[i].name); i++)
            if (str_distance(y->key, str_of(questions[i].name)) < least)
                least = str_distance(y->key, str_of(questions[i].name)), nearest = i;
        if (i == QUESTIONS && nearest < QUESTIONS)
            return yaml_complain(y, file, c->err, "there is no such question; did you mean \"%s\"?", questions[nearest].name);
        if (i == QUESTIONS || y->kind != YAML_SCALAR)
            return yaml_complain(y, file, c->err, i == QUESTIONS ? "there is no such question" : "expected a scalar");
        if (!(c->answers[i] = arena_dup(c->a, y->text.p, y->text.n)))
            return err_memory(c->err, "the answers");
        const char *expected = answer_problem(c, &questions[i], c->answers[i]);
        if (expected)
            return yaml_complain(y, file, c->err, "expected %s, got \"%.60s\"", expected, c->answers[i]);
    }
    return 0;
}

/* Prints each question with its default on `ask` and reads the answer from `in`; a wrong answer
 * repeats the question. 0; -1 with c->err: the input ended, or out of memory. */
static int ask_questions(struct creation *c, FILE *in, FILE *ask)
{
    char line[ANSWER_MAX];
    for (size_t i = 0; i < QUESTIONS;) {
        const struct question *q = &questions[i];
        fprintf(ask, "%s [%s]: ", q->text, q->fallback);
        fflush(ask);
        if (!fgets(line, sizeof line, in))
            return err_set(c->err, ERR_USAGE, "the answers ended at \"%s\"; nothing is written", q->name);
        struct str text = str_trim(str_of(line));
        if (strlen(line) == sizeof line - 1 && line[sizeof line - 2] != '\n') {
            for (int rest = 0; rest != '\n' && rest != EOF;)
                rest = getc(in);
            fprintf(ask, "  expected less than %zu bytes\n", sizeof line - 1);
            continue;
        }
        if (text.n) {
            const char *given = arena_dup(c->a, text.p, text.n), *expected = given ? answer_problem(c, q, given) : NULL;
            if (!given)
                return err_memory(c->err, "the answers");
            if (expected) {
                fprintf(ask, "  expected %s\n", expected);
                continue;
            }
            c->answers[i] = given;
        }
        i++;
    }
    return 0;
}

static void put_quoted(struct buf *to, const char *before, const char *text, const char *after)
{
    buf_puts(to, before);
    buf_json(to, str_of(text));
    buf_puts(to, after);
}

/* Appends the role of the service by the answers. */
static void put_service(const struct creation *c, struct buf *to)
{
    const char *model = creation_answer(c, "model"), *runtime = creation_answer(c, "runtime");
    put_quoted(to, "  server:\n    service: ", creation_answer(c, "service"), "\n");
    buf_printf(to, "    nodes: %s\n", creation_answer(c, "server_nodes"));
    if (model[0])
        put_quoted(to, "    with: {model: ", model, "}\n");
    if (strcmp(creation_answer(c, "gpus"), "0") != 0)
        buf_printf(to, "    resources: {gpus: %s}\n", creation_answer(c, "gpus"));
    if (strcmp(runtime, "none") != 0) {
        put_quoted(to, "    container:\n      runtime: ", runtime, "\n");
        if (creation_answer(c, "image")[0])
            put_quoted(to, "      image: ", creation_answer(c, "image"), "\n");
    }
}

/* Appends the recipe by the answers. */
static void put_recipe(const struct creation *c, struct buf *to)
{
    bool service = strcmp(creation_answer(c, "service"), "none") != 0, llm = !creation_answer(c, "command")[0];
    buf_printf(to, "# %s: check it with `benchwrap recipe check`, see what it does with `benchwrap recipe plan`.\nversion: 1\n",
               "A campaign");
    put_quoted(to, "name: ", creation_answer(c, "name"), "\n");
    buf_puts(to, "sweep:\n  grid:\n");
    put_quoted(to, "    concurrency: ", creation_answer(c, "concurrency"), "\n");
    if (llm)
        put_quoted(to, "    prompt_len: ", creation_answer(c, "prompt_len"), "\n");
    buf_printf(to, "repeat: %s\nroles:\n", creation_answer(c, "repeat"));
    if (service)
        put_service(c, to);
    buf_printf(to, "  client:\n    nodes: %s\n", creation_answer(c, "client_nodes"));
    if (llm) {
        buf_puts(
            to,
            "    command: [llmload, \"{server.url}\", --concurrency, \"{concurrency}\", --input-tokens, \"{prompt_len}\", --duration, ");
        buf_json(to, str_of(creation_answer(c, "duration")));
        if (creation_answer(c, "model")[0])
            put_quoted(to, ", --model, ", creation_answer(c, "model"), "");
        buf_puts(to, strcmp(creation_answer(c, "service"), "ollama") == 0 ? ", --api, ollama-generate]\n" : "]\n");
    } else
        put_quoted(to, "    command: ", creation_answer(c, "command"), "\n");
    put_quoted(to, "batch:\n  time: ", creation_answer(c, "time"), "\n");
    if (creation_answer(c, "partition")[0])
        put_quoted(to, "  partition: ", creation_answer(c, "partition"), "\n");
    if (creation_answer(c, "account")[0])
        put_quoted(to, "  account: ", creation_answer(c, "account"), "\n");
}

int recipe_create(const struct yaml *answers, const char *file, FILE *in, FILE *ask, const struct recipe_places *places, struct arena *a,
                  struct buf *to, struct err *err)
{
    struct creation c = {.a = a, .places = places, .err = err};
    struct recipe r;
    for (size_t i = 0; i < QUESTIONS; i++)
        c.answers[i] = questions[i].fallback;
    if (answers ? take_answers(&c, answers, file) : ask_questions(&c, in, ask))
        return -1;
    if (strcmp(creation_answer(&c, "service"), "none") == 0 && !creation_answer(&c, "command")[0])
        return err_set(err, ERR_USAGE, "without a service a command is needed: answer the question \"command\"");
    put_recipe(&c, to);
    if (to->failed)
        return err_memory(err, "the recipe");
    return recipe_read(&r, "the new recipe", buf_text(to), places, NULL, a, err);
}
