/* SPDX-License-Identifier: Apache-2.0 */
/* A checksum against damage: torn writes, flipped bits. None against malice. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* CRC-64/XZ (ECMA-182, reflected) of the bytes. */
uint64_t checksum_of(const char *bytes, size_t size);
