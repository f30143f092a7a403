/* counted.c: the words for what programs count per second, and for multiples of it. */
#include "base/counted.h"

#include <string.h>

/* In the singular; a plural ends in s, es or ies. */
static const char *const nouns[] = {"action",      "addition",  "alloc",        "allocation",  "answer",     "append",     "arc",
                                    "atom",        "attempt",   "base",         "batch",       "block",      "body",       "bond",
                                    "box",         "branch",    "buffer",       "call",        "candidate",  "case",       "cell",
                                    "char",        "character", "check",        "chunk",       "client",     "collision",  "column",
                                    "command",     "commit",    "comparison",   "compile",     "conn",       "connection", "context",
                                    "copy",        "create",    "creation",     "cycle",       "datagram",   "decision",   "delete",
                                    "delivery",    "digest",    "doc",          "document",    "dof",        "draw",       "edge",
                                    "elem",        "element",   "entry",        "episode",     "epoch",      "ev",         "evaluation",
                                    "event",       "example",   "exchange",     "execution",   "experiment", "face",       "fault",
                                    "fetch",       "field",     "file",         "float",       "fork",       "frame",      "function",
                                    "game",        "gate",      "gene",         "generation",  "get",        "grain",      "graph",
                                    "grid",        "group",     "hash",         "history",     "hit",        "image",      "img",
                                    "inference",   "input",     "insert",       "insn",        "inst",       "instance",   "instr",
                                    "instruction", "int",       "integer",      "interaction", "interrupt",  "invocation", "io",
                                    "iter",        "iteration", "it",           "item",        "job",        "join",       "kernel",
                                    "key",         "keyword",   "kmer",         "leaf",        "letter",     "line",       "link",
                                    "load",        "lock",      "log",          "lookup",      "loop",       "lup",        "map",
                                    "match",       "matrix",    "measurement",  "member",      "merge",      "mesh",       "message",
                                    "metric",      "migration", "model",        "molecule",    "move",       "msg",        "multiplication",
                                    "mutation",    "node",      "number",       "object",      "obj",        "op",         "operation",
                                    "option",      "order",     "output",       "packet",      "page",       "pair",       "particle",
                                    "pass",        "path",      "pattern",      "permutation", "photon",     "ping",       "pix",
                                    "pixel",       "pkt",       "player",       "point",       "poll",       "polygon",    "pop",
                                    "position",    "post",      "prediction",   "prime",       "primitive",  "probe",      "process",
                                    "product",     "program",   "proof",        "publish",     "pull",       "push",       "put",
                                    "pxl",         "query",     "question",     "ray",         "read",       "rec",        "receive",
                                    "record",      "relation",  "render",       "reply",       "req",        "request",    "response",
                                    "rotation",    "round",     "roundtrip",    "route",       "row",        "run",        "sample",
                                    "scan",        "search",    "send",         "sentence",    "seq",        "sequence",   "session",
                                    "set",         "sign",      "signature",    "sim",         "simulation", "site",       "solution",
                                    "sort",        "span",      "spike",        "start",       "state",      "stat",       "step",
                                    "string",      "sub",       "swap",         "switch",      "symbol",     "synapse",    "syscall",
                                    "table",       "task",      "term",         "test",        "text",       "texel",      "thread",
                                    "tick",        "tile",      "timestep",     "tok",         "token",      "train",      "transaction",
                                    "transfer",    "transform", "transition",   "tree",        "triangle",   "tri",        "trial",
                                    "trip",        "triple",    "tuple",        "turn",        "tx",         "txn",        "unit",
                                    "update",      "upload",    "upsert",       "url",         "user",       "utterance",  "value",
                                    "variable",    "vector",    "verification", "verify",      "vert",       "vertex",     "vertices",
                                    "visit",       "voxel",     "walk",         "word",        "write",      "yield",      "zone"};
/* Their multiples are units of their own: 1000 or 1024, bits or bytes. Never counted one by one. */
static const char *const sizes[] = {"bit", "bits", "byte", "bytes", "flop", "flops", "ib"};

static const struct {
    const char *word;
    double factor;
    bool long_form; /* any case, and also alone without a doubt */
} multiples[] = {{"Ki", 0x1p10, false},  {"Mi", 0x1p20, false},    {"Gi", 0x1p30, false},  {"Ti", 0x1p40, false},   {"k", 1e3, false},
                 {"K", 1e3, false},      {"M", 1e6, false},        {"G", 1e9, false},      {"T", 1e12, false},      {"kilo", 1e3, true},
                 {"mega", 1e6, true},    {"giga", 1e9, true},      {"tera", 1e12, true},   {"peta", 1e15, true},    {"kibi", 0x1p10, true},
                 {"mebi", 0x1p20, true}, {"gibi", 0x1p30, true},   {"tebi", 0x1p40, true}, {"thousand", 1e3, true}, {"million", 1e6, true},
                 {"billion", 1e9, true}, {"trillion", 1e12, true}, {"mio", 1e6, true},     {"mln", 1e6, true},      {"bn", 1e9, true}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_noun_once(struct str word)
{
    for (size_t i = 0; i < COUNT(nouns); i++)
        if (str_is_anycase(word, nouns[i]))
            return true;
    return false;
}

bool counted_is_noun(struct str word)
{
    char singular[40];
    if (word.n < 2 || word.n >= sizeof singular)
        return false;
    if (is_noun_once(word) || (str_ends_anycase(word, "s") && is_noun_once(str_sub(word, 0, word.n - 1))) ||
        (str_ends_anycase(word, "es") && is_noun_once(str_sub(word, 0, word.n - 2))))
        return true;
    if (!str_ends_anycase(word, "ies"))
        return false;
    memcpy(singular, word.p, word.n - 3);
    singular[word.n - 3] = 'y';
    return is_noun_once((struct str){singular, word.n - 2});
}

/* Returns whether the word is a size that a long multiple may count, such as kilobytes. */
static bool is_size_word(struct str word)
{
    for (size_t i = 0; i < COUNT(sizes); i++)
        if (str_is_anycase(word, sizes[i]))
            return true;
    return false;
}

static bool is_multiple(struct str word, size_t i)
{
    if (!word.n || str_lower(word.p[0]) != str_lower(multiples[i].word[0]))
        return false;
    return multiples[i].long_form ? str_is_anycase(word, multiples[i].word) : str_is(word, multiples[i].word);
}

double counted_multiple(struct str word)
{
    for (size_t i = 0; i < COUNT(multiples); i++)
        if (is_multiple(word, i))
            return multiples[i].factor;
    return 0;
}

double counted_split(struct str word, struct str *ret_noun)
{
    for (size_t i = 0; i < COUNT(multiples) && !counted_is_noun(word); i++) {
        size_t n = strlen(multiples[i].word);
        if (n >= word.n || !is_multiple(str_sub(word, 0, n), i))
            continue;
        *ret_noun = str_sub(word, n, word.n - n);
        if (counted_is_noun(*ret_noun) || (multiples[i].long_form && is_size_word(*ret_noun)))
            return multiples[i].factor;
    }
    return 0;
}

/* Returns whether the letter, of a multiple in lower case, is followed by one that no word has
 * there: "mfoos", not "moves". */
static bool is_odd_pair(char first, char second)
{
    static const char *const pairs[] = {"maeiouy", "gaeiouylrnhw", "taeiouyhrwsc", "paeiouylrhsny"};
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (pairs[i][0] == first)
            return !strchr(pairs[i] + 1, second);
    return false;
}

bool counted_may_hide(struct str word)
{
    if (!word.n || counted_is_noun(word))
        return false;
    for (size_t i = 0; i < COUNT(sizes); i++)
        if (str_ends_anycase(word, sizes[i]))
            return true;
    if (counted_multiple(word) > 0 || strchr("kKMGTP", word.p[0]))
        return true;
    struct str rest = str_sub(word, 1, word.n - 1);
    return strchr("mgtpE", word.p[0]) && rest.n && (counted_is_noun(rest) || is_odd_pair(word.p[0], rest.p[0]));
}
