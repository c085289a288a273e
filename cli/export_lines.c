// SPDX-License-Identifier: BSD-2-Clause
// Lines that attach an exported disk: open-iscsi, farblock-initiator, iPXE, dracut.
#include <json-c/json.h>
#include <string.h>

#include "cli/export.h"

// Written where a secret belongs that the user knows and nobody else has to see again.
static const char *secret_of(const struct export *x)
{
	return *x->secret ? x->secret : "SECRET";
}

static void open_iscsi(const struct export *x, FILE *out)
{
	const char *iface = x->has_iser ? " -I iser" : "";
	fprintf(out, "open-iscsi (InitiatorName=%s in /etc/iscsi/initiatorname.iscsi):\n",
		x->initiator);
	fprintf(out, "  iscsiadm -m discovery -t sendtargets -p %s:%s%s\n", x->address, x->port,
		iface);
	fprintf(out, "  N='iscsiadm -m node -T %s -p %s:%s'\n", x->target, x->address, x->port);
	fprintf(out, "  $N -o update -n node.session.auth.authmethod -v CHAP\n");
	fprintf(out, "  $N -o update -n node.session.auth.username -v %s\n", x->user);
	fprintf(out, "  $N -o update -n node.session.auth.password -v %s\n", secret_of(x));
	fprintf(out, "  $N -l\n");
}

static void initiator(const struct export *x, FILE *out)
{
	fprintf(out, "farblock-initiator (secret in a file of mode 0600):\n");
	fprintf(out, "  farblock-initiator inquiry %s://%s@%s:%s/%s/%s \\\n",
		x->has_iser ? "iser" : "iscsi", x->user, x->address, x->port, x->target, x->lun);
	fprintf(out, "      --initiator-name %s --chap-secret-file FILE\n", x->initiator);
}

static void ipxe(const struct export *x, FILE *out)
{
	fprintf(out, "iPXE:\n");
	fprintf(out, "  set initiator-iqn %s\n  set username %s\n  set password %s\n", x->initiator,
		x->user, secret_of(x));
	fprintf(out, "  sanboot iscsi:%s::%s:%s:%s\n", x->address, x->port, x->lun, x->target);
}

static void dracut(const struct export *x, FILE *out)
{
	fprintf(out, "dracut, on the kernel's command line:\n");
	fprintf(out, "  rd.iscsi.initiator=%s netroot=iscsi:%s:%s@%s::%s:%s:%s\n", x->initiator,
		x->user, secret_of(x), x->address, x->port, x->lun, x->target);
}

void export_lines(const struct export *x, FILE *out)
{
	fprintf(out, "LUN %s of %s for %s%s.\n", x->lun, x->target, x->initiator,
		x->is_readonly ? ", read-only" : "");
	if (*x->secret)
		fprintf(out, "CHAP name %s, secret %s (shown this once).\n", x->user, x->secret);
	fputc('\n', out);
	open_iscsi(x, out);
	initiator(x, out);
	if (x->has_iser)
		return; // neither of these speaks iSER
	ipxe(x, out);
	dracut(x, out);
}

struct json_object *export_json(const struct export *x)
{
	const char *const fields[][2] = {
		{"target",	    x->target   },
		       { "lun",	x->lun      },
		    { "name",      x->name     },
		{ "initiator", x->initiator},
		       { "user",	 x->user	 },
		    { "secret",	x->secret	  },
		{ "address",   x->address	},
		       { "port",	 x->port	 },
	};
	struct json_object *o = json_object_new_object();
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (*fields[i][1])
			json_object_object_add(o, fields[i][0],
					       json_object_new_string(fields[i][1]));
	return o;
}
