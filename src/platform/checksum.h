/* SPDX-License-Identifier: Apache-2.0 */
/* A checksum against damage, such as torn writes and flipped bits. It does not
 * protect against malice. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* CRC-64/XZ (ECMA-182, reflected) of the bytes. */
uint64_t checksum_of(const char *bytes, size_t size);
