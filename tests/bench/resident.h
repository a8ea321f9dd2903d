/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a process holds, and what it has used of the processors. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Resident memory in MB; 0: this process; -1 if it cannot be read. */
double resident_mb(pid_t pid);

/* The most since the start or since peak_reset, in the same way; see
 * clear_refs in proc(5). */
double peak_mb(pid_t pid);
bool peak_reset(pid_t pid);

/* Processor time of all its threads, in seconds; -1 if it cannot be read. */
double cpu_s(pid_t pid);
