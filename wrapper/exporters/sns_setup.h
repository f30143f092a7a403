/* sns_setup.h: a shell script that makes a topic of Amazon SNS, a subscription and a policy for the exporter sns. */
#ifndef EXPORTERS_SNS_SETUP_H
#define EXPORTERS_SNS_SETUP_H
#include "base/buf.h"
#include "base/err.h"

/* topic: its name; one that ends in .fifo is first in, first out. -1 with ERR_INPUT: it is no name of a topic. */
int sns_setup_print(const char *topic, struct buf *to, struct err *err);
#endif
