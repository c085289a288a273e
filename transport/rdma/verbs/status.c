// SPDX-License-Identifier: BSD-2-Clause
// Translates completion statuses, events of connection management and registration failures to
// an errno and a text. Any thread.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "transport/rdma/verbs/priv.h"

static const struct {
	enum ibv_wc_status status;
	struct verbs_status is;
} wc_statuses[] = {
	{IBV_WC_LOC_LEN_ERR,	      { -EMSGSIZE, "message longer than its buffer" }		      },
	{ IBV_WC_LOC_QP_OP_ERR,	{ -EIO, "request refused by the device" }			  },
	{ IBV_WC_LOC_PROT_ERR,      { -EIO, "memory of the request is not registered" }	   },
	{ IBV_WC_WR_FLUSH_ERR,      { -ECANCELED, "flushed" }					 },
	{ IBV_WC_MW_BIND_ERR,	      { -EIO, "cannot bind a memory window" }			      },
	{ IBV_WC_BAD_RESP_ERR,      { -EPROTO, "invalid response from the peer" }		     },
	{ IBV_WC_LOC_ACCESS_ERR,	 { -EACCES, "the peer violated memory access rights" }	       },
	{ IBV_WC_REM_INV_REQ_ERR,	  { -EACCES, "request rejected by the peer as invalid" }	 },
	{ IBV_WC_REM_ACCESS_ERR,	 { -EACCES, "key, range or access right rejected by the peer" }},
	{ IBV_WC_REM_OP_ERR,	     { -EIO, "the peer failed to execute the request" }		},
	{ IBV_WC_RETRY_EXC_ERR,
	  { -ETIMEDOUT, "no response from the peer (transport retries exceeded)" }		   },
	{ IBV_WC_RNR_RETRY_EXC_ERR,
	  { -ETIMEDOUT, "no receive buffer at the peer (RNR retries exceeded)" }			 },
	{ IBV_WC_REM_ABORT_ERR,	{ -ECONNRESET, "operation aborted by the peer" }		 },
	{ IBV_WC_FATAL_ERR,	    { -EIO, "the device failed" }				  },
	{ IBV_WC_RESP_TIMEOUT_ERR,  { -ETIMEDOUT, "no response to the device" }		       },
};

struct verbs_status verbs_wc_status(enum ibv_wc_status s)
{
	if (s == IBV_WC_SUCCESS)
		return (struct verbs_status){ 0, "" };
	for (size_t i = 0; i < sizeof wc_statuses / sizeof *wc_statuses; i++)
		if (wc_statuses[i].status == s)
			return wc_statuses[i].is;
	return (struct verbs_status){ -EIO, ibv_wc_status_str(s) };
}

// Code 0: use the event's own status.
static const struct {
	enum rdma_cm_event_type type;
	int fallback;
	bool has_own; // the event's status is a negative errno
	const char *text;
} ends[] = {
	{RDMA_CM_EVENT_ADDR_ERROR,	    -EHOSTUNREACH,  true,	 "no RDMA device or path for the address"},
	{ RDMA_CM_EVENT_ROUTE_ERROR,    -EHOSTUNREACH,  true,  "no route to the address"		    },
	{ RDMA_CM_EVENT_CONNECT_ERROR,  -ECONNRESET,    true,  "connection failed"		      },
	{ RDMA_CM_EVENT_UNREACHABLE,    -ETIMEDOUT,	 true,  "no response from the peer"		   },
	{ RDMA_CM_EVENT_REJECTED,	  -ECONNREFUSED,	 false, "the peer refused the connection"	  },
	{ RDMA_CM_EVENT_DISCONNECTED,   -ECONNRESET,	   false, "the peer closed the connection"	   },
	{ RDMA_CM_EVENT_TIMEWAIT_EXIT,  -ECONNRESET,    false, "the connection has ended"	      },
	{ RDMA_CM_EVENT_DEVICE_REMOVAL, -ENODEV,	 false, "the device was removed"		 },
	{ RDMA_CM_EVENT_ADDR_CHANGE,    -EADDRNOTAVAIL, false, "the address moved to another device"	  },
};

struct verbs_status verbs_cm_status(enum rdma_cm_event_type type, int status)
{
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends[i].type == type)
			return (struct verbs_status){ ends[i].has_own && status < 0 &&
								      status > -4096
							      ? status
							      : ends[i].fallback,
						      ends[i].text };
	return (struct verbs_status){ 0, "" };
}

const char *verbs_reject_reason(int status)
{
	static const struct {
		int reason;
		const char *text;
	} reasons[] = {
		{1,   "no queue pair available"	       },
		{ 3,  "out of resources"			},
		{ 4,  "timeout"			       },
		{ 5,  "unsupported request"		   },
		{ 8,  "nothing listens on the port"	   },
		{ 10, "stale connection with the same numbers"},
		{ 24, "redirected to another port"		   },
		{ 25, "redirected to another port"		   },
		{ 28, "rejected by the application"	    },
	};

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].reason == status)
			return reasons[i].text;
	return NULL;
}

// Beyond RLIMIT_MEMLOCK the kernel returns -ENOMEM, or -EPERM if the limit is 0; memory pinned by
// several devices counts several times.
int verbs_register_error(struct err *e, int error, const char *device, uint64_t len)
{
	struct rlimit limit;

	if ((error != ENOMEM && error != EPERM) || getrlimit(RLIMIT_MEMLOCK, &limit) < 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return err_errno(e, error > 0 ? -error : -EIO, "%s: register %llu bytes", device,
				 (unsigned long long)len);
	return err_set(e, -ENOMEM,
		       "%s: register %llu bytes: out of memory, or beyond the memlock limit of "
		       "%llu bytes (raise it: LimitMEMLOCK=infinity or ulimit -l unlimited)",
		       device, (unsigned long long)len, (unsigned long long)limit.rlim_cur);
}
