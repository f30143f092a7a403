/* collector_lines.h: how a collector reports its node to the recorder: lines "<CRC-32C> <node>
 * <JSON array>", each shorter than what a scheduler passes on in one
 * piece, so that lines of many nodes in one stream stay complete.
 *
 *   ["h", wall ms]                the collector has begun
 *   ["p", key, text]              a fact;  ["x", key, why]: a fact that is missing
 *   ["k", n, name]                the series with the number n
 *   ["s", wall ms, n, value, …]   samples
 *   ["c", token, wall ms]         the answer to the clock's question
 *   ["e"]                         the collector has ended
 *   ["n", name]                   what Slurm calls the node whose name here is a number: for the recorder alone, it is not stored
 * The recorder adds lines, under the node's name: ["o", ms, ms]: the clock's offset to the
 * recorder's and how far it may be wrong; and under the
 * name "-": ["w", nodes, how, name]: so many nodes are expected besides its own, which has that
 * name, and by which way
 * ("step", "ranks"); a name of "": its own is none of them. With a fifth text, "launcher", not every node need have run the program:
 * ["u", 1] or ["u", 0] under a node's name reports whether it did, and ["u", 1 or 0, nodes] under "-" whether the recorder's did and how many. */
#ifndef COLLECTOR_COLLECTOR_LINES_H
#define COLLECTOR_COLLECTOR_LINES_H
#include "base/buf.h"
#include "base/json.h"

enum { NODE_LINE_MAX = 1000 /* bytes with its end: Slurm passes on 1,024 in one piece */, NODE_NAME_MAX = 64, NODE_TEXT_MAX = 900 };
/* The lines of all nodes of a run: so many nodes, so many bytes, in this file of the spool. */
enum { NODES_MAX = 4096, NODES_FILE_MAX = 256 << 20 };
#define NODES_LINES "nodes.lines"

/* Writes a name made legal: [A-Za-z0-9._-], at most NODE_NAME_MAX characters, never empty and never
 * "-". */
void node_name_make(char ret[NODE_NAME_MAX + 1], struct str name);
/* Appends a line; array is the JSON text. False, and nothing appended: it would be too long, or out
 * of memory. */
bool node_line(struct buf *to, const char *node, struct str array);
/* Appends the line ["p", key, text], or another of such; a text that is too long is cut at a
 * complete character and ends in "...". */
void node_line_text(struct buf *to, const char *node, const char *kind, struct str key, struct str text);

/* Returns whether this (without its end) is a complete, valid line. Then *ret_node and *ret_array
 * point into it. */
bool node_line_read(struct str line, struct str *ret_node, struct str *ret_array);
#endif
