/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reloads a topology: it is read, compared, prepared in the queue and the ha,
 * and then put in place. Nothing changes before that last step.
 */
#include <seqbroker/reload.h>

#include <stdlib.h>
#include <string.h>

#include "api/broker.h"
#include "api/sized.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"

/* A topology to which sequences, or their parts, still point. */
struct kept_config {
    struct config *config;
    struct kept_config *next;
};

/* A reload in progress. */
struct reload {
    struct seqb_broker *broker;
    const struct seqb_reload_options *options;
    struct config *next;
    struct config_changes *changes; /* of `next` */
    struct queue_reload *of_queue;
    struct ha_reload *of_ha;
    struct kept_config *kept; /* allocated in advance */
    size_t refused;           /* sequences */
};

static bool is_kept(const struct seqb_broker *broker,
                    const struct config *config)
{
    const struct kept_config *at = broker->kept;

    while (at != NULL && at->config != config)
        at = at->next;
    return at != NULL || config == broker->first;
}

void configs_close(struct seqb_broker *broker)
{
    if (!is_kept(broker, broker->config))
        config_close(broker->config);
    while (broker->kept != NULL) {
        struct kept_config *kept = broker->kept;

        broker->kept = kept->next;
        config_close(kept->config);
        free(kept);
    }
    config_close(broker->first);
}

/* Reads the topology, and reports how it differs. */
static enum seqb_status reload_read(struct reload *reload, const char *topology,
                                    struct seqb_error *err)
{
    const struct seqb_reload_options *options = reload->options;
    const struct config_request request = {.path = topology,
                                           .engines = reload->broker->engines,
                                           .report = options->diagnostic,
                                           .context = options->context};
    enum seqb_status status = config_open(&request, &reload->next, err);

    if (status == SEQB_OK)
        status = config_compare(reload->broker->config, reload->next,
                                &reload->changes, err);
    if (status == SEQB_OK && options->change != NULL)
        config_report_changes(reload->changes, options->change,
                              options->context);
    return status;
}

/* Settings that need a restart stay as the broker has them. */
static enum seqb_status reload_keep(const struct reload *reload,
                                    struct seqb_error *err)
{
    const struct seqb_broker *broker = reload->broker;
    const struct ha_options *ha = &config_topology(reload->next)->ha;
    int32_t *pools = calloc(ha->pool_count + 1, sizeof *pools);
    const struct config_kept kept = {
        .changes = reload->changes,
        .queue = &config_topology(broker->config)->queue,
        .pools = pools};
    enum seqb_status status;

    if (pools == NULL)
        return error_set(err, SEQB_NO_MEMORY, "reload: out of memory");
    ha_map_pools(broker->ha, ha, pools);
    status = config_keep(reload->next, &kept, err);
    free(pools);
    return status;
}

/* The program's part, which may refuse as well. */
static enum seqb_status program_prepare(const struct reload *reload,
                                        struct seqb_error *err)
{
    const struct seqb_reload_options *options = reload->options;

    if (options->setting != NULL)
        daemon_settings_report(reload->next, options->setting,
                               options->context);
    return options->prepare == NULL ? SEQB_OK
                                    : options->prepare(options->context, err);
}

static void refusal_add(void *context, const struct seqb_error *why)
{
    struct reload *reload = context;
    const struct seqb_reload_options *options = reload->options;

    reload->refused++;
    if (options->diagnostic != NULL)
        options->diagnostic(options->context, why->text);
}

/* The queue's part; without `is_dry` new sequences are made and claimed. */
static enum seqb_status sequences_prepare(struct reload *reload, bool is_dry,
                                          struct seqb_error *err)
{
    const struct queue_refusals refusals = {refusal_add, reload};
    const struct queue_options *options = &config_topology(reload->next)->queue;
    struct queue *queue = reload->broker->queue;
    const enum seqb_status status =
        is_dry
            ? queue_check(queue, options, &refusals, err)
            : queue_prepare(queue, options, &refusals, &reload->of_queue, err);

    if (status == SEQB_LAYOUT && reload->refused == 0)
        refusal_add(reload, err);
    if (reload->refused == 2)
        (void)text_append(err->text, sizeof err->text, "; and 1 more sequence");
    else if (reload->refused > 2)
        (void)text_append(err->text, sizeof err->text,
                          "; and %zu more sequences", reload->refused - 1);
    return status;
}

/* What a reload refuses without asking a store. */
static enum seqb_status reload_check(struct reload *reload,
                                     struct seqb_error *err)
{
    const enum seqb_status status = reload_keep(reload, err);

    return status == SEQB_OK ? sequences_prepare(reload, true, err) : status;
}

static enum seqb_status reload_prepare(struct reload *reload,
                                       struct seqb_error *err)
{
    const struct config_topology *topology = config_topology(reload->next);
    enum seqb_status status = reload_keep(reload, err);

    if (status == SEQB_OK)
        status =
            ha_prepare(reload->broker->ha, &topology->ha, &reload->of_ha, err);
    if (status != SEQB_OK)
        return status;
    reload->kept = calloc(1, sizeof *reload->kept);
    if (reload->kept == NULL)
        return error_set(err, SEQB_NO_MEMORY, "reload: out of memory");
    return sequences_prepare(reload, false, err);
}

/* The program names its reasons, too, if the library refuses already. */
static enum seqb_status program_ask(const struct reload *reload,
                                    enum seqb_status status,
                                    struct seqb_error *err)
{
    struct seqb_error why = {.text = ""};

    if (status == SEQB_OK)
        return program_prepare(reload, err);
    if (status == SEQB_LAYOUT && program_prepare(reload, &why) != SEQB_OK &&
        strlen(err->text) + strlen("; ") + strlen(why.text) < sizeof err->text)
        (void)text_append(err->text, sizeof err->text, "; %s", why.text);
    return status;
}

/* If sequences point to the next topology, `reload->kept` remembers it. */
static void config_keep_next(struct reload *reload)
{
    struct seqb_broker *broker = reload->broker;

    if (!queue_keeps_options(reload->of_queue))
        return;
    reload->kept->config = reload->next;
    reload->kept->next = broker->kept;
    broker->kept = reload->kept;
    reload->kept = NULL;
}

/* Puts the next topology in place, and closes the one in use unless something
 * still points to it. */
static void config_replace(struct reload *reload)
{
    struct seqb_broker *broker = reload->broker;
    struct config *before;

    config_keep_next(reload);
    pthread_mutex_lock(&broker->config_lock);
    before = broker->config;
    broker->config = reload->next;
    pthread_mutex_unlock(&broker->config_lock);
    reload->next = NULL;
    if (!is_kept(broker, before))
        config_close(before);
}

/* The queue is first: it may find that a sequence was created in the
 * meantime. */
static enum seqb_status reload_commit(struct reload *reload,
                                      struct seqb_error *err)
{
    const enum seqb_status status = queue_commit(reload->of_queue, err);

    if (status != SEQB_OK)
        return status;
    ha_commit(reload->of_ha);
    reload->of_ha = NULL;
    config_replace(reload);
    return SEQB_OK;
}

static enum seqb_status reload_run(struct reload *reload, const char *topology,
                                   struct seqb_error *err)
{
    enum seqb_status status = reload_read(reload, topology, err);

    if (status != SEQB_OK)
        return status;
    status = config_allow(reload->changes, err);
    if (status == SEQB_OK)
        status = reload->options->dry_run ? reload_check(reload, err)
                                          : reload_prepare(reload, err);
    status = program_ask(reload, status, err);
    return status == SEQB_OK && !reload->options->dry_run
               ? reload_commit(reload, err)
               : status;
}

/* After a failure the queue may have abandoned sequences that point to the next
 * topology. */
static void reload_end(struct reload *reload)
{
    if (reload->next != NULL && reload->of_queue != NULL)
        config_keep_next(reload);
    if (reload->next != NULL && !is_kept(reload->broker, reload->next))
        config_close(reload->next);
    queue_reload_free(reload->of_queue);
    ha_reload_free(reload->of_ha);
    free(reload->kept);
}

static void report_applied(const struct config_changes *changes)
{
    log_line(SEQB_LOG_INFO, "event=reloaded applied=%zu restart=%zu",
             config_count(changes, SEQB_RELOAD_NOTHING),
             config_count(changes, SEQB_RELOAD_RESTART));
}

enum seqb_status seqb_reload(struct seqb_broker *broker, const char *topology,
                             const struct seqb_reload_options *options,
                             struct seqb_error *err)
{
    const struct seqb_reload_options none = {.size = sizeof none};
    struct seqb_reload_options copy;
    struct reload reload = {.broker = broker, .options = &none};
    struct seqb_error why = {.text = ""}; /* filled by the program's
                                             callbacks */
    enum seqb_status status;

    if (queue_is_forked(broker->queue))
        return queue_forked(err);
    if (options != NULL)
        reload.options =
            sized_read(options, &copy, sizeof copy, "seqb_reload_options", err);
    if (reload.options == NULL)
        return SEQB_INVALID;
    pthread_mutex_lock(&broker->reload_lock);
    status = reload_run(&reload, topology, &why);
    if (status == SEQB_OK && !reload.options->dry_run)
        report_applied(reload.changes);
    reload_end(&reload);
    pthread_mutex_unlock(&broker->reload_lock);
    return status == SEQB_OK ? status : error_copy(err, &why);
}

const char *seqb_reload_need_name(enum seqb_reload_need need)
{
    static const char *const names[] = {[SEQB_RELOAD_RESTART] = "restart",
                                        [SEQB_RELOAD_NOTHING] = "nothing",
                                        [SEQB_RELOAD_REFUSED] = "refused"};

    return (size_t)need < sizeof names / sizeof names[0] ? names[need]
                                                         : "unknown";
}

enum seqb_reload_need seqb_setting_need(const char *section, const char *name)
{
    return config_need(section, name);
}
