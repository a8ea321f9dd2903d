/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a topology: it is told what is wrong, in single lines, or it is
 * a topology that keeps its promises. */
#include "config/config.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

static void count_line(void *context, const char *line)
{
    size_t *lines = context;

    require(*line != '\0' && strchr(line, '\n') == NULL);
    ++*lines;
}

static void require_sequence(const struct queue_sequence_options *sequence,
                             size_t pools)
{
    require(sequence->pool >= 0 && (size_t)sequence->pool < pools);
    require(sequence->memory_bits >= 0 &&
            sequence->memory_bits <= QUEUE_MEMORY_BITS_MAX);
    require(sequence->max_unused >= (int64_t)1 << sequence->memory_bits);
    require(sequence->deadline_ms > 0 && sequence->runway_ms > 0);
}

static void require_sound(const struct config_topology *topology)
{
    const struct ha_options *ha = &topology->ha;

    require(topology->state_dir[0] == '/');
    require(ha->pool_count > 0 && ha->backend_count > 0);
    for (size_t i = 0; i < ha->pool_count; i++) {
        const struct layout *layout = &ha->pools[i].layout;

        require(layout->bits >= 0 && layout->bits <= HA_BITS_MAX);
        for (int32_t j = 0; j < 1 << layout->bits; j++) {
            const int32_t backend = layout->partitions[j];

            require(backend >= 0 && (size_t)backend < ha->backend_count);
        }
    }
    for (size_t i = 0; i < ha->backend_count; i++)
        require(ha->backends[i].ops != NULL &&
                ha->backends[i].options.timeout_ms > 0);
    for (size_t i = 0; i < topology->queue.sequence_count; i++)
        require_sequence(&topology->queue.sequences[i], ha->pool_count);
    if (topology->queue.automatic != NULL)
        require_sequence(topology->queue.automatic, ha->pool_count);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return setenv("SEQBROKER_STATE_DIR", "/state", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct config *config = NULL;
    struct seqb_error error;
    size_t lines = 0;
    const struct config_request request = {
        .path = "t.conf", .report = count_line, .context = &lines};

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (config_open_text(&request, text, &config, &error) == SEQB_OK) {
        require(lines == 0);
        require_sound(config_topology(config));
    } else {
        require(lines > 0 && config == NULL);
    }
    config_close(config);
    free(text);
    return 0;
}
