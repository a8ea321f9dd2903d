/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a process holds, and what it has used of the processors. */
#pragma once

#include <sys/types.h>

/* Resident memory in MB; 0: this process; -1 if it cannot be read. */
double resident_mb(pid_t pid);

/* Processor time of all its threads, in seconds; -1 if it cannot be read. */
double cpu_s(pid_t pid);
