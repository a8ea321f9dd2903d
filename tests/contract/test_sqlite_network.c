/* SPDX-License-Identifier: Apache-2.0 */
/* The sqlite engine on file systems that other machines reach: what statfs(2)
 * says is the test's. */
#include "contract/sqlite_case.h"

#include <string.h>
#include <sys/vfs.h>

#include "backends/backends.h"
#include "support/test.h"
#include "support/wrap.h"

static uint32_t magic; /* 0: what the system says */

WRAPPED(int, statfs64, const char *path, struct statfs *out)
{
    const int result = __real_statfs64(path, out);

    if (result == 0 && magic != 0)
        out->f_type = (__typeof__(out->f_type))magic;
    return result;
}

static const struct {
    uint32_t magic;
    const char *words;
} networks[] = {
    {0x6969, "(nfs)"},      {0x517b, "(smb)"},       {0xfe534d42, "(smb2)"},
    {0xff534d42, "(cifs)"}, {0x01021997, "(9p)"},    {0x65735546, "(fuse)"},
    {0x5346414f, "(afs)"},  {0x00c36400, "(ceph)"},  {0x0bd00bd0, "(lustre)"},
    {0x01161970, "(gfs2)"}, {0x7461636f, "(ocfs2)"}, {0x47504653, "(gpfs)"},
};

TEST_WITH(SQLITE_CASE, file_on_a_network_is_refused)
{
    magic = 0;
    sqlite_case_close(sqlite_case_open(files));
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        magic = networks[i].magic;
        sqlite_case_open_fails(&files->options, SEQB_UNSAFE, networks[i].words);
        sqlite_case_open_fails(&files->options, SEQB_UNSAFE, "accept_loss");
    }
    magic = 0;
    sqlite_case_close(sqlite_case_open(files));
}

TEST_WITH(SQLITE_CASE, no_file_is_made_on_a_network)
{
    magic = 0x6969;
    sqlite_case_open_fails(&files->options, SEQB_UNSAFE, "(nfs)");
    assert_false(sqlite_case_is_there(files->path));
}

TEST_WITH(SQLITE_CASE, accepted_network_is_told_of)
{
    struct seqb_backend *backend;

    magic = 0x6969;
    files->options.accept_loss = true;
    backend = sqlite_case_open(files);
    assert_non_null(strstr(backend->loss, "(nfs)"));
    sqlite_case_take(backend, 5, 0);
    sqlite_case_close(backend);
    magic = 0;
    backend = sqlite_case_open(files);
    assert_string_equal(backend->loss, "");
}
