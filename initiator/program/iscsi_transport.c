// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: TCP or iSER, and the provider of RDMA; from the URL and the options.
#include <errno.h>
#include <string.h>

#include "initiator/program/iscsi.h"
#include "transport/rdma/rnic.h"

// In the order of attempts: a device is faster, if one reaches the portal.
static const struct {
	const char *name;
	const struct rnic_provider *provider;
} providers[] = {
#ifdef HAS_VERBS
	{"verbs",  &rnic_verbs},
#endif
	{ "iwarp", &rnic_iwarp},
};
#define PROVIDER_COUNT (sizeof providers / sizeof *providers)

_Static_assert(PROVIDER_COUNT <= INI_PROVIDERS_MAX, "a session can try all of them");

static int set_providers(const struct tool *t, struct ini_config *c, struct err *e)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (!t->o.provider || !strcmp(t->o.provider, providers[i].name))
			c->providers[c->provider_count++] = providers[i].provider;
	if (c->provider_count)
		return 0;
	return err_set(e, -EINVAL, "--provider %.32s: must be iwarp%s", t->o.provider,
		       PROVIDER_COUNT > 1 ? " or verbs" : " (built without libibverbs)");
}

int iscsi_transport(const struct tool *t, bool is_iser, struct ini_config *ret, struct err *e)
{
	const char *name = t->o.transport;
	if (name && strcmp(name, "tcp") && strcmp(name, "iser"))
		return err_set(e, -EINVAL, "--transport %.32s: must be tcp or iser", name);
	if (name ? !strcmp(name, "iser") : is_iser)
		return set_providers(t, ret, e);
	if (t->o.provider)
		return err_set(e, -EINVAL,
			       "--provider: only for iSER (iser:// or --transport iser)");
	return 0;
}
