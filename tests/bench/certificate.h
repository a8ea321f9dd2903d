/* SPDX-License-Identifier: Apache-2.0 */
/* A certificate for servers that are measured: ECDSA, P-256, its own CA. */
#pragma once

#define CERTIFICATE_PATH_SIZE 96

struct certificate {
    char folder[48];
    char cert_file[CERTIFICATE_PATH_SIZE];
    char key_file[CERTIFICATE_PATH_SIZE];
};

/* Makes it in a folder of its own. What fails ends the program. */
void certificate_make(struct certificate *out);

/* Removes the folder. */
void certificate_remove(struct certificate *certificate);
