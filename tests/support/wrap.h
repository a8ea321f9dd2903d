/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function that takes the place of another one, which the linker is told by
 * --wrap=write:
 *
 *     WRAPPED(ssize_t, write, int file, const void *bytes, size_t size)
 *     {
 *         return is_full ? -1 : __real_write(file, bytes, size);
 *     }
 */
#pragma once

#define WRAPPED(type, name, ...)                                               \
    type __real_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)
