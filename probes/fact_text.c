/* fact_text.c: facts as text, and back. */
#include "probes/fact_text.h"

#include "base/fs.h"

#include <stdio.h>

void fact_text_add(struct buf *to, char kind, struct str key, struct str text)
{
    buf_printf(to, "%c %zu %zu\n", kind, key.n, text.n);
    buf_str(to, key);
    buf_str(to, text);
    buf_putc(to, '\n');
}

static char fact_text_letter(const struct fact *f)
{
    static const char letters[] = {
        [FACT_PARAM] = 'P', [FACT_METRIC] = 'V', [FACT_TAG] = 'T', [FACT_ARTIFACT] = 'F', [FACT_MISSING] = 'M', [FACT_WARNING] = 'W'};
    return letters[f->kind];
}

void fact_text_add_fact(struct buf *to, const struct fact *f)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 256);
    if (f->kind != FACT_METRIC) {
        fact_text_add(to, fact_text_letter(f), f->key, f->text);
        return;
    }
    buf_double(&text, f->value);
    buf_printf(&text, " %s %d %lld %lld", f->unit && *f->unit ? f->unit : "-", (int)f->direction, (long long)f->step,
               (long long)f->time_ms);
    fact_text_add(to, 'V', f->key, buf_text(&text));
}

int fact_text_next(struct str *rest, struct fact_text *ret)
{
    uint64_t key_n, text_n;
    struct str all = *rest;
    if (all.n == 0)
        return 0;
    struct str line = str_cut(&all, '\n');
    if (line.n < 5 || !all.p)
        return -1;
    ret->kind = line.p[0];
    line = str_sub(line, 2, line.n);
    struct str first = str_cut(&line, ' ');
    if (!str_uint(first, &key_n) || !line.p || !str_uint(line, &text_n) || key_n > all.n || text_n > all.n - key_n ||
        all.n - key_n - text_n < 1 || all.p[key_n + text_n] != '\n')
        return -1;
    ret->key = str_sub(all, 0, key_n);
    ret->text = str_sub(all, key_n, text_n);
    *rest = str_sub(all, key_n + text_n + 1, all.n);
    return 1;
}

/* Records a metric from "value unit direction step time". Returns false, and records nothing, where
 * the text has another form. */
static bool fact_text_replay_metric(struct record *r, const char *key, struct str text)
{
    double value;
    int64_t direction, step, time_ms;
    char unit[32];
    if (!str_double(str_word(&text), &value))
        return false;
    struct str name = str_word(&text);
    if (name.n >= sizeof unit || !str_int(str_word(&text), &direction) || direction < DIR_NONE || direction > DIR_LOWER ||
        !str_int(str_word(&text), &step) || !str_int(str_word(&text), &time_ms))
        return false;
    snprintf(unit, sizeof unit, STR_FMT, STR_ARG(str_is(name, "-") ? STR("") : name));
    record_metric(r, key, value, unit, (enum direction)direction, step, time_ms);
    return true;
}

bool fact_text_replay(const struct host *h, struct record *r, const struct fact_text *f)
{
    char key[512], file[512];
    if (f->key.n >= sizeof key || (f->key.n == 0 && f->kind != 'W' && f->kind != 'N'))
        return false;
    memcpy(key, f->key.p, f->key.n);
    key[f->key.n] = 0;
    switch (f->kind) {
    case 'P': record_param(r, key, f->text); return true;
    case 'T': record_tag(r, key, f->text); return true;
    case 'M': record_missing(r, key, STR_FMT, STR_ARG(f->text)); return true;
    case 'W': record_warning(r, STR_FMT, STR_ARG(f->text)); return true;
    case 'V': return fact_text_replay_metric(r, key, f->text);
    case 'N': return true;
    case 'F':
        if (f->text.n >= sizeof file)
            return false;
        snprintf(file, sizeof file, STR_FMT, STR_ARG(f->text));
        record_artifact(r, key, file);
        return true;
    case 'A':
        if (h->spool < 0)
            return true;
        if (fs_create(h->spool, key, f->text, 0600, NULL) != 0)
            return false;
        record_artifact(r, key, key);
        return true;
    default: return false;
    }
}
