#include "check/parts.h"
void check_bounds(struct run_check *r) { (void)r; }
void check_privacy(struct run_check *r, const char *file, struct str text) { (void)r; (void)file; (void)text; }
void check_signature(struct run_check *r) { (void)r; }
