/* SPDX-License-Identifier: Apache-2.0 */
/* What is claimed in the file: claim and swap of counter_file.c's engine. */
#pragma once

#include <seqbroker/backend.h>

enum seqb_status claims_claim(struct seqb_backend *backend, const char *name,
                              const char *text, char *standing, size_t size,
                              struct seqb_error *err);
enum seqb_status claims_swap(struct seqb_backend *backend,
                             const struct seqb_swap *swap, char *standing,
                             size_t size, struct seqb_error *err);
