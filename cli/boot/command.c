// SPDX-License-Identifier: BSD-2-Clause
// boot-info: the command.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/boot/boot.h"
#include "cli/shell/command.h"

static int take(const char **to, const char *name, const char *text, struct err *e)
{
	if (*to)
		return err_set(e, -EBADRQC, "%s: given twice", name);
	*to = text;
	return 0;
}

// The value of a word "--initiator=NAME", or of the next word after "--initiator". NULL: neither.
static const char *dashed(const struct line *l, unsigned *i)
{
	static const char option[] = "--initiator";
	const char *text = l->values[*i].text;
	if (strncmp(text, option, strlen(option)))
		return NULL;
	const char *rest = text + strlen(option);
	if (*rest)
		return *rest == '=' ? rest + 1 : NULL;
	return *i + 1 < l->count && !l->values[*i + 1].name ? l->values[++*i].text : NULL;
}

static const char **named(struct boot_wish *w, const char *name)
{
	const struct {
		const char *name, **to;
	} all[] = {
		{"initiator", &w->initiator},
		{ "portal",   &w->portal   },
		{ "mac",	 &w->mac	 },
		{ "section",  &w->section	 },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(name, all[i].name))
			return all[i].to;
	return &w->path;
}

// boot-info [LUN] [NAME=VALUE...], also --initiator NAME. The path is as typed.
static int understand(struct boot_wish *w, const struct line *l, struct err *e)
{
	int r = 0;
	*w = (struct boot_wish){ 0 };
	for (unsigned i = 0; !r && i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		const char *initiator = v->name ? NULL : dashed(l, &i);
		if (initiator)
			r = take(&w->initiator, "initiator", initiator, e);
		else if (v->name)
			r = take(named(w, v->name), v->name, v->text, e);
		else if (!v->name && !strncmp(v->text, "--", 2))
			r = err_set(e, -EBADRQC, "Unexpected keyword parameter '%.60s'.", v->text);
		else
			r = take(&w->path, "lun", v->text, e);
	}
	return r;
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct boot_wish w;
	struct json_object *info = NULL;
	char *lun = NULL;
	int r = understand(&w, l, e);
	if (!r)
		r = shell_path(path, w.path ? w.path : ".", &lun, e);
	w.path = lun;
	if (!r)
		r = boot_info_of(s, &w, &info, e);
	if (!r && w.section)
		r = boot_show_section(info, w.section, s->look.out, e);
	else if (!r && s->is_json)
		show_json(&s->look, info);
	else if (!r)
		boot_show(info, s->look.out);
	json_object_put(info);
	free(lun);
	return r;
}

// clang-format off
static const struct shell_param params[] = {
	{"lun", "node", false, NULL, "path of a LUN or mapped LUN, or of a storage object, target or portal group with a single LUN; default: the current path"},
	{"initiator", "string", false, NULL, "name of the machine that boots; default: of the ACL that maps the LUN (also --initiator NAME)"},
	{"portal", "string", false, NULL, "ADDRESS[:PORT] at which the machine reaches the target, where there are several; default: all"},
	{"mac", "string", false, NULL, "address of the machine's network adapter, such as 52:54:00:12:34:56: the lines for dnsmasq are for that machine alone"},
	{"section", "string", false, NULL, "print this part alone, as it goes into a file: ipxe, root_path, dnsmasq, grub and the others that --json names"},
	{0},
};
// clang-format on

const struct shell_command command_boot_info = {
	"boot-info", params,
	"Print what firmware, DHCP server, initramfs and GRUB need to boot from a LUN.", run,
	.is_open = true
};
