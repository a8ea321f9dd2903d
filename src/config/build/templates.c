/* SPDX-License-Identifier: Apache-2.0 */
/* Templates and keys are linked lists, like the zones. One key file usually
 * serves many sequences. */
#include "config/build/build.h"

#include <string.h>

#include "number/number.h"

struct compiled {
    struct compiled *next;
    struct template *template;
};

struct key_file {
    struct key_file *next;
    const char *name;
    struct shuffle_key key;
};

static const struct shuffle_key *find_key(const struct templates *templates,
                                          const char *name)
{
    for (const struct key_file *at = templates->keys; at != NULL;
         at = at->next) {
        if (strcmp(at->name, name) == 0)
            return &at->key;
    }
    return NULL;
}

static const struct shuffle_key *read_key(const struct build *build,
                                          const struct draft_text *file)
{
    struct templates *templates = build->templates;
    struct key_file *made = arena_take(templates->arena, 1, sizeof *made);

    if (made == NULL || !secret_shuffle_key(build, file, &made->key))
        return NULL;
    made->name = arena_format(templates->arena, "%s", file->text);
    if (made->name == NULL)
        return NULL;
    made->next = templates->keys;
    templates->keys = made;
    return &made->key;
}

/* True, with `*out` NULL, if the sequence has no key file. */
static bool key_of(const struct build *build,
                   const struct draft_sequence *sequence,
                   const struct shuffle_key **out)
{
    const struct draft_text *file = &sequence->shuffle_key_file;

    *out = NULL;
    if (file->text == NULL)
        return file->line == 0;
    *out = find_key(build->templates, file->text);
    if (*out == NULL)
        *out = read_key(build, file);
    return *out != NULL;
}

static struct template *compile(const struct build *build,
                                const struct template_rules *rules,
                                const struct draft_text *text)
{
    struct templates *templates = build->templates;
    struct compiled *made = arena_take(templates->arena, 1, sizeof *made);
    struct seqb_error err;

    if (made == NULL)
        return NULL;
    if (template_make(text->text, rules, &made->template, &err) != SEQB_OK) {
        if (err.status == SEQB_NO_MEMORY)
            templates->arena->is_out_of_memory = true;
        diagnostics_add(build->diagnostics, text->line, "template: %s",
                        err.text);
        return NULL;
    }
    made->next = templates->first;
    templates->first = made;
    return made->template;
}

/* Base and key are claimed, because a broker with another key or base would
 * give out codes that were given out already. */
static void add_attributes(struct arena *arena, int32_t base,
                           const struct shuffle_key *key,
                           struct queue_sequence_options *out)
{
    char fingerprint[SHUFFLE_FINGERPRINT_SIZE];

    out->claims_first = true;
    shuffle_fingerprint(key, fingerprint);
    out->attributes = arena_format(
        arena, "%s shuffle=%d/%s",
        out->attributes == NULL ? "" : out->attributes, (int)base, fingerprint);
}

void templates_add(const struct build *build,
                   const struct draft_sequence *sequence,
                   struct queue_sequence_options *out)
{
    struct template_rules rules = {.key = out->key,
                                   .period = out->period,
                                   .zone = sequence->zone,
                                   .ids = out->ids};
    const struct template *template;
    int32_t base;

    if (sequence->template.text == NULL ||
        !key_of(build, sequence, &rules.shuffle_key))
        return;
    template = compile(build, &rules, &sequence->template);
    if (template == NULL)
        return;
    out->template = template;
    base = template_shuffle_base(template);
    if (base != 0)
        add_attributes(build->arena, base, rules.shuffle_key, out);
    else if (rules.shuffle_key != NULL)
        diagnostics_add(
            build->diagnostics, sequence->shuffle_key_file.line,
            "'shuffle_key_file' is of no use: the template shuffles "
            "nothing: remove it");
}

void templates_free(struct templates *templates)
{
    for (struct compiled *at = templates->first; at != NULL; at = at->next)
        template_free(at->template);
    templates->first = NULL;
    for (struct key_file *at = templates->keys; at != NULL; at = at->next)
        explicit_bzero(&at->key, sizeof at->key);
    templates->keys = NULL;
}
