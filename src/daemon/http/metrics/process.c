/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of the process, by the names that the client libraries of
 * Prometheus give them; see metrics.h. Its memory is a field of the status. */
#include <dirent.h>
#include <sys/resource.h>

#include "daemon/http/metrics/metrics.h"
#include "daemon/http/snapshot.h"

/* -1: not known. */
static int64_t files_count(void)
{
    DIR *files = opendir("/proc/self/fd");
    int64_t count = -1; /* the folder itself is one of them */

    if (files == NULL)
        return -1;
    for (const struct dirent *file = readdir(files); file != NULL;
         file = readdir(files)) {
        count += file->d_name[0] != '.';
        snapshot_yield();
    }
    closedir(files);
    return count;
}

static void files_write(struct buffer *out)
{
    const int64_t count = files_count();
    struct rlimit limit;

    metric_begin(out, "process_open_fds", "open files and sockets");
    if (count >= 0)
        metric_sample(out, "process_open_fds", NULL, count);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        metric_single(out, "process_max_fds",
                      "files and sockets that may be open",
                      (int64_t)limit.rlim_cur);
}

void metrics_write_process(struct buffer *out)
{
    static const char name[] = "process_cpu_seconds_total";
    struct rusage used;

    if (getrusage(RUSAGE_SELF, &used) == 0) {
        metric_begin(out, name, "processor time of user and system");
        buffer_format(
            out, "%s %.6f\n", name,
            (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    }
    files_write(out);
}
