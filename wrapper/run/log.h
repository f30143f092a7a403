/* log.h: facts that the program itself tells by `benchwrap log` over its datagram socket. */
#ifndef WRAPPER_RUN_LOG_H
#define WRAPPER_RUN_LOG_H
#include "mlruns-format/record.h"
#include "probes/redact.h"

/* Reads every datagram waiting on fd (non-blocking) and records what it says: {"metric": key, "value": number or "NaN", "step", "time", "unit"},
 * {"param": key, "value": text}, {"tag": key, "value": text}, {"artifact": absolute path}. What is wrong with one becomes a warning fact. Artifacts are
 * copied into `spool` at once, as long as *keep_left bytes last. */
void log_receive(int fd, int spool, uint64_t *keep_left, struct redact *redact, struct record *record);
#endif
