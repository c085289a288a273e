// SPDX-License-Identifier: BSD-2-Clause
// Options of the backstore types: parses text into struct bs_config and checks a whole
// config against the option rows of its type. Any thread; nothing blocks.
#include "backstores/option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/attr.h"

// All options of all types, to detect those that a type does not take.
static const struct {
	const char *name;
	enum bs_option_type type;
	size_t offset;
} fields[] = {
	{"dev",	 BS_OPT_PATH,   offsetof(struct bs_config, dev)	      },
	{ "size",	  BS_OPT_SIZE,   offsetof(struct bs_config, size)	},
	{ "readonly",   BS_OPT_BOOL,   offsetof(struct bs_config, readonly)	},
	{ "write_back", BS_OPT_BOOL,   offsetof(struct bs_config, write_back)},
	{ "cache",	   BS_OPT_CHOICE, offsetof(struct bs_config, cache)	    },
	{ "nullio",	    BS_OPT_BOOL,	 offsetof(struct bs_config, nullio)    },
	{ "hugepages",  BS_OPT_BOOL,   offsetof(struct bs_config, hugepages) },
	{ "sparse",	    BS_OPT_BOOL,	 offsetof(struct bs_config, sparse)    },
	{ "exclusive",  BS_OPT_BOOL,   offsetof(struct bs_config, exclusive) },
	{ "iopoll",	    BS_OPT_BOOL,	 offsetof(struct bs_config, iopoll)    },
	{ "force",	   BS_OPT_BOOL,	offsetof(struct bs_config, force)	  },
	{ "base",	  BS_OPT_PATH,   offsetof(struct bs_config, base)	},
	{ "overlay",    BS_OPT_CHOICE, offsetof(struct bs_config, overlay)	},
};

// The index of text in "a|b|c" from 1 on, 0: it is not there.
static uint32_t choice_of(const char *choices, const char *text)
{
	size_t len = strlen(text);
	for (uint32_t i = 1; choices; i++) {
		const char *end = strchr(choices, '|');
		size_t n = end ? (size_t)(end - choices) : strlen(choices);
		if (n == len && !memcmp(choices, text, n))
			return i;
		choices = end ? end + 1 : NULL;
	}
	return 0;
}

// Stores text in the field at; unchanged if text is invalid.
static int parse(const struct bs_option *o, const char *text, void *at, struct err *e)
{
	const struct attr_row row = { .name = o->name, .type = ATTR_BOOL };
	uint64_t size;
	uint32_t flag;
	int r = 0;
	switch (o->type) {
	case BS_OPT_STRING:
	case BS_OPT_PATH:
		if (!text[0])
			return err_set(e, -EINVAL, "%s: empty value (%s)", o->name, o->help);
		*(const char **)at = text;
		break;
	case BS_OPT_SIZE:
		r = parse_size(text, &size, e); // its texts begin with "size"
		if (r == 0 && !size)
			r = err_set(e, -EINVAL, "%s: invalid value '%.60s' (%s)", o->name, text,
				    o->help);
		if (r == 0)
			*(uint64_t *)at = size;
		break;
	case BS_OPT_BOOL:
		r = attr_set(&row, &flag, text, e);
		if (r == 0)
			*(bool *)at = flag;
		break;
	case BS_OPT_CHOICE:
		flag = choice_of(o->choices, text);
		if (!flag)
			return err_set(e, -EINVAL, "%s: invalid value '%.60s' (%s)", o->name, text,
				       o->choices);
		*(uint32_t *)at = flag;
		break;
	}
	return r;
}

static bool is_given(enum bs_option_type type, const void *at)
{
	switch (type) {
	case BS_OPT_STRING:
	case BS_OPT_PATH:
		return *(const char *const *)at != NULL;
	case BS_OPT_SIZE:
		return *(const uint64_t *)at != 0;
	case BS_OPT_BOOL:
		return *(const bool *)at;
	case BS_OPT_CHOICE:
		return *(const uint32_t *)at != 0;
	}
	return false;
}

static const struct bs_option *row_at(const struct backstore_type *type, size_t offset)
{
	for (const struct bs_option *o = type->options; o->name; o++)
		if (o->offset == offset)
			return o;
	return NULL;
}

// "dev, size, write_back"
static void list_names(const struct backstore_type *type, char *ret, size_t size)
{
	size_t used = 0;
	ret[0] = 0;
	for (const struct bs_option *o = type->options; o->name && used < size; o++)
		used += (size_t)snprintf(ret + used, size - used, "%s%s", used ? ", " : "",
					 o->name);
}

static int refuse_unknown(const struct backstore_type *type, const char *key, struct err *e)
{
	char names[120];
	list_names(type, names, sizeof(names));
	return err_set(e, -EINVAL, "%s: %s has no such option (options: %s)", key, type->name,
		       names);
}

void backstore_config_init(struct bs_config *config, const struct backstore_type *type)
{
	memset(config, 0, sizeof(*config));
	for (const struct bs_option *o = type->options; o->name; o++)
		if (o->default_text)
			parse(o, o->default_text, (char *)config + o->offset, NULL);
}

int backstore_config_set(struct bs_config *config, const struct backstore_type *type,
			 const char *key, const char *text, struct err *e)
{
	for (const struct bs_option *o = type->options; o->name; o++)
		if (strcmp(o->name, key) == 0)
			return parse(o, text, (char *)config + o->offset, e);
	return refuse_unknown(type, key, e);
}

static int check_block_size(uint32_t block_size, struct err *e)
{
	static const uint32_t possible[] = { 0, 512, 1024, 2048, 4096 };
	for (size_t i = 0; i < sizeof(possible) / sizeof(possible[0]); i++)
		if (block_size == possible[i])
			return 0;
	return err_set(e, -EINVAL, "block_size: invalid value %u (512, 1024, 2048 or 4096)",
		       block_size);
}

int option_check(const struct backstore_type *type, const struct bs_config *config, struct err *e)
{
	if (!config->name || !config->name[0])
		return err_set(e, -EINVAL, "name: missing");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const void *at = (const char *)config + fields[i].offset;
		if (is_given(fields[i].type, at) && !row_at(type, fields[i].offset))
			return refuse_unknown(type, fields[i].name, e);
	}
	for (const struct bs_option *o = type->options; o->name; o++)
		if (o->is_required && !is_given(o->type, (const char *)config + o->offset))
			return err_set(e, -EINVAL, "%s: missing (%s)", o->name, o->help);
	return check_block_size(config->block_size, e);
}
