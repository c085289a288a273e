// SPDX-License-Identifier: BSD-2-Clause
// The providers of RDMA: see providers.h.
#include "initiator/program/providers.h"

#include <errno.h>
#include <string.h>

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

_Static_assert(PROVIDER_COUNT <= PROVIDERS_MAX, "all fit");

int providers_set(const char *name, const struct rnic_provider **ret, unsigned *ret_count,
		  struct err *e)
{
	*ret_count = 0;
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (!name || !strcmp(name, providers[i].name))
			ret[(*ret_count)++] = providers[i].provider;
	if (*ret_count)
		return 0;
	return err_set(e, -EINVAL, "--provider %.32s: must be iwarp%s", name,
		       PROVIDER_COUNT > 1 ? " or verbs" : " (built without libibverbs)");
}
