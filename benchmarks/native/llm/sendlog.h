/* sendlog.h: the file in which llmfake records when it sent each event. llmload's selftest compares its
 * own times with these. */
#ifndef LLM_SENDLOG_H
#define LLM_SENDLOG_H
#include <stdint.h>

#define SENDLOG_MAGIC "llmfake1" /* first 8 bytes; then records until the end, host byte order: both run on one machine */
struct sendlog_record {
    uint64_t request; /* the number in the request's header X-Request-Id (decimal; as llmload sends it), else the server's own count */
    int64_t at_ns; /* CLOCK_MONOTONIC just before the send call */
    uint32_t event; /* chunk with text, from 0; SENDLOG_RECEIVED: the request was complete; SENDLOG_END: end of the reply */
    uint32_t cost_ns; /* duration of the send call; of SENDLOG_RECEIVED: how long llmfake had not read it */
};
enum { SENDLOG_RECEIVED = 0x7fffffff, SENDLOG_END = 0x7ffffffe };
#endif
