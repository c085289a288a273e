// SPDX-License-Identifier: BSD-2-Clause
// Preloaded into ibsim: the first port whose client asks for IsSM (SIM_SET_ISSM) gets
// IsDeviceManagementSupported instead. On a real fabric a kernel module sets that; ibsim has no
// other way to change the capability mask of one port.
#include <dlfcn.h>
#include <infiniband/mad.h>
#include <stdbool.h>
#include <stddef.h>

enum { IS_SM = 1 << 1, IS_DEVICE_MANAGEMENT = 1 << 19 };

__attribute__((visibility("default"))) void mad_set_field(void *buf, int base,
							  enum MAD_FIELDS field, uint32_t value)
{
	static void (*real)(void *, int, enum MAD_FIELDS, uint32_t);
	static bool is_done;

	if (!real)
		real = (void (*)(void *, int, enum MAD_FIELDS, uint32_t))dlsym(RTLD_NEXT,
									       "mad_set_field");
	if (field == IB_PORT_CAPMASK_F && value & IS_SM && !is_done) {
		is_done = true;
		value = (value & ~(uint32_t)IS_SM) | IS_DEVICE_MANAGEMENT;
	}
	real(buf, base, field, value);
}
