// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: TCP or iSER, from the URL and the options.
#include <errno.h>
#include <string.h>

#include "initiator/program/iscsi.h"
#include "initiator/program/providers.h"

_Static_assert((int)PROVIDERS_MAX <= (int)INI_PROVIDERS_MAX, "a session can try all of them");

int iscsi_transport(const struct tool *t, bool is_iser, struct ini_config *ret, struct err *e)
{
	const char *name = t->o.transport;
	if (!tool_is_mixed(t) && (t->o.channels != TOOL_UNSET || t->o.initiator_port))
		return err_set(e, -EINVAL, "--%s: only for SRP (srp://)",
			       t->o.initiator_port ? "initiator-port" : "channels");
	if (name && strcmp(name, "tcp") && strcmp(name, "iser"))
		return err_set(e, -EINVAL, "--transport %.32s: must be tcp or iser", name);
	if (name ? !strcmp(name, "iser") : is_iser)
		return providers_set(t->o.provider, ret->providers, &ret->provider_count, e);
	if (t->o.provider && !tool_is_mixed(t))
		return err_set(e, -EINVAL,
			       "--provider: only for RDMA (iser://, --transport iser, srp://)");
	return 0;
}
