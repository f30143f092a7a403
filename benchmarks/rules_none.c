/* rules_none.c: stands in for the engine of rules.h until benchmarks/rules.c lands: knows no rules. Remove it together with that. */
#include "benchmarks/rules.h"
#include "mlruns-format/tree.h"
int rules_load(struct rules **r, const char *p, struct err *e){(void)r;(void)p;return err_set(e,ERR_SYSTEM,"stub");}
void rules_free(struct rules *r){(void)r;}
const char *rules_name(const struct rules *r){(void)r;return "stub";}
const char *rules_version(const struct rules *r){(void)r;return "0";}
const char *rules_summary(const struct rules *r){(void)r;return "";}
struct str rules_text(const struct rules *r){(void)r;return STR("");}
const char *catalogue_for_program(const char *c, const char *u, const char *p, struct arena *a){(void)c;(void)u;(void)p;(void)a;return NULL;}
const char *catalogue_by_name(const char *c, const char *u, const char *p, struct arena *a){(void)c;(void)u;(void)p;(void)a;return NULL;}
int rules_begin(struct rules_run **r, const struct rules *x, char *const *a, char *const *v, struct err *e){(void)r;(void)x;(void)a;(void)v;return err_set(e,ERR_SYSTEM,"stub");}
void rules_feed(struct rules_run *r, const char *s, const void *p, size_t n){(void)r;(void)s;(void)p;(void)n;}
void rules_cut(struct rules_run *r, const char *s, uint64_t b){(void)r;(void)s;(void)b;}
const char *rules_file(const struct rules *r, size_t i){(void)r;(void)i;return NULL;}
int rules_end(struct rules_run *r, int a, int b, int64_t c, struct record *d, struct rules_outcome *o, struct err *e){(void)r;(void)a;(void)b;(void)c;(void)d;(void)o;return err_set(e,ERR_SYSTEM,"stub");}
