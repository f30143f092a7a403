/* crc32c.h: CRC-32C (Castagnoli), the check sum of journal lines. */
#ifndef MLRUNS_FORMAT_CRC32C_H
#define MLRUNS_FORMAT_CRC32C_H
#include <stddef.h>
#include <stdint.h>

/* Returns the CRC-32C of n more bytes. crc: 0 at first, else the result for the bytes before.
 * crc32c_extend(0, "123456789", 9) is 0xe3069283. */
uint32_t crc32c_extend(uint32_t crc, const void *p, size_t n);
#endif
