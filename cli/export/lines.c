// SPDX-License-Identifier: BSD-2-Clause
// Lines that attach an exported disk: open-iscsi, farblock-initiator, iPXE, dracut.
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"

// Size of a name in which each character is a quote.
enum { QUOTED_SIZE = 4 * EXPORT_NAME_SIZE + 3 };

// Quotes a word for a shell. Returns out.
static const char *quoted(const char *word, char out[QUOTED_SIZE])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_.,:/@%+=-";
	char *to = out;
	if (*word && !word[strspn(word, plain)])
		return memccpy(out, word, 0, QUOTED_SIZE) ? out : "";
	*to++ = '\'';
	for (; *word && to < out + QUOTED_SIZE - 6; word++)
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	memcpy(to, "'", 2);
	return out;
}

// Data for one initiator.
struct view {
	const struct export *x;
	const struct export_initiator *to;
	const char *secret; // "SECRET" if the user chose it
	char user[QUOTED_SIZE], name[QUOTED_SIZE];
};

static void open_iscsi(const struct view *v, FILE *out)
{
	const struct export *x = v->x;
	fprintf(out, "open-iscsi (InitiatorName=%s in /etc/iscsi/initiatorname.iscsi):\n",
		v->to->name);
	fprintf(out, "  iscsiadm -m discovery -t sendtargets -p %s:%s%s\n", x->address, x->port,
		x->has_iser ? " -I iser" : "");
	fprintf(out, "  N='iscsiadm -m node -T %s -p %s:%s'\n", x->target, x->address, x->port);
	fprintf(out, "  $N -o update -n node.session.auth.authmethod -v CHAP\n");
	fprintf(out, "  $N -o update -n node.session.auth.username -v %s\n", v->user);
	fprintf(out, "  $N -o update -n node.session.auth.password -v %s\n", v->secret);
	fprintf(out, "  $N -l\n");
}

static void initiator(const struct view *v, FILE *out)
{
	const struct export *x = v->x;
	fprintf(out, "farblock-initiator (secret in a file of mode 0600):\n");
	fprintf(out, "  farblock-initiator inquiry %s://%s:%s/%s/%s \\\n",
		x->has_iser ? "iser" : "iscsi", x->address, x->port, x->target, x->lun);
	fprintf(out, "      --initiator-name %s --chap-user %s --chap-secret-file FILE\n", v->name,
		v->user);
}

// iPXE reads LUNs as the hexadecimal digits of the first two of eight bytes [SAM-5 §4.7.7].
static void ipxe(const struct view *v, FILE *out)
{
	const struct export *x = v->x;
	unsigned long lun = strtoul(x->lun, NULL, 10);
	fprintf(out, "iPXE%s:\n", x->has_iser ? ", over TCP" : "");
	fprintf(out, "  set initiator-iqn %s\n  set username %s\n  set password %s\n", v->to->name,
		v->to->user, v->secret);
	fprintf(out, "  sanboot iscsi:%s::%s:%lx:%s\n", x->address, x->port,
		lun < 256 ? lun : lun | 0x4000, x->target);
}

static void dracut(const struct view *v, FILE *out)
{
	const struct export *x = v->x;
	const char *mark = strchr(v->to->user, ' ') ? "\"" : "";
	fprintf(out, "dracut, on the kernel command line with root= (every user can read it in "
		     "/proc/cmdline):\n");
	fprintf(out,
		"  ip=dhcp rd.neednet=1 rd.iscsi.initiator=%s rd.iscsi.username=%s%s%s "
		"rd.iscsi.password=%s%s netroot=iscsi:%s::%s:%s:%s\n",
		v->to->name, mark, v->to->user, mark, v->secret,
		x->has_iser ? " rd.iscsi.param=iface.transport_name=iser" : "", x->address, x->port,
		x->lun, x->target);
}

static void iscsi_lines(const struct export *x, const struct export_initiator *to, FILE *out)
{
	struct view v = { .x = x, .to = to, .secret = *to->secret ? to->secret : "SECRET" };
	quoted(to->user, v.user);
	quoted(to->name, v.name);
	if (*to->secret)
		fprintf(out, "CHAP name %s, secret %s (shown only once).\n", to->user, to->secret);
	fputc('\n', out);
	open_iscsi(&v, out);
	initiator(&v, out);
	if (x->has_tcp)
		ipxe(&v, out);
	dracut(&v, out);
}

void export_lines(const struct export *x, FILE *out)
{
	json_each (warning, x->warnings)
		fprintf(out, "%s\n\n", json_object_get_string(warning));
	if (*x->portal_waits)
		fprintf(out, "Portal %s:%s does not listen yet: %s\n\n", x->address, x->port,
			x->portal_waits);
	for (unsigned i = 0; i < x->count; i++) {
		if (i)
			fputc('\n', out);
		const struct export_initiator *to = &x->to[i];
		fprintf(out, "LUN %s of %s for %s%s.\n", x->lun, x->target, to->name,
			x->is_readonly ? ", read-only" : "");
		x->protocol->lines(x, to, out);
	}
}

static void put(struct json_object *o, const char *key, const char *text)
{
	if (*text)
		json_object_object_add(o, key, json_object_new_string(text));
}

static void iscsi_put(const struct export *x, const struct export_initiator *to,
		      struct json_object *ret)
{
	put(ret, "user", to->user);
	put(ret, "secret", to->secret);
}

// Names in lower case [RFC 7143 §4.2.7].
static int iscsi_name(const char *in, char out[EXPORT_NAME_SIZE], struct err *e)
{
	size_t i = 0;
	for (; in[i]; i++)
		out[i] = (char)(in[i] >= 'A' && in[i] <= 'Z' ? in[i] | 0x20 : in[i]);
	out[i] = 0;
	return 0;
}

const struct export_protocol export_iscsi = {
	.fabric = "/iscsi",
	.group = "/tpg1",
	.port = "3260",
	.has_credentials = true,
	.name_target = iscsi_name,
	.name_initiator = iscsi_name,
	.lines = iscsi_lines,
	.put = iscsi_put,
};

static void put_initiator(struct json_object *o, const struct export *x,
			  const struct export_initiator *to)
{
	put(o, "initiator", to->name);
	x->protocol->put(x, to, o);
}

struct json_object *export_json(const struct export *x)
{
	struct json_object *o = json_object_new_object(), *more = json_object_new_array();
	put(o, "target", x->target);
	put(o, "lun", x->lun);
	put(o, "name", x->name);
	put_initiator(o, x, &x->to[0]);
	put(o, "address", x->address);
	put(o, "port", x->port);
	put(o, "waits", x->portal_waits);
	if (x->warnings)
		json_object_object_add(o, "warnings", json_object_get(x->warnings));
	for (unsigned i = 1; i < x->count; i++) {
		struct json_object *one = json_object_new_object();
		put_initiator(one, x, &x->to[i]);
		json_object_array_add(more, one);
	}
	if (x->count > 1)
		json_object_object_add(o, "more", more);
	else
		json_object_put(more);
	return o;
}
