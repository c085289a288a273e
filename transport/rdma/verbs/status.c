// SPDX-License-Identifier: BSD-2-Clause
// What completion statuses, events of connection management and failures of registration mean, as
// an errno and words. Any thread.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "transport/rdma/verbs/priv.h"

static const struct {
	enum ibv_wc_status status;
	struct verbs_status is;
} wc_statuses[] = {
	{IBV_WC_LOC_LEN_ERR,	      { -EMSGSIZE, "a message is longer than the buffer for it" }	  },
	{ IBV_WC_LOC_QP_OP_ERR,	{ -EIO, "the device refused the request" }			   },
	{ IBV_WC_LOC_PROT_ERR,      { -EIO, "memory of a request is not registered" }		 },
	{ IBV_WC_WR_FLUSH_ERR,      { -ECANCELED, "flushed" }					 },
	{ IBV_WC_MW_BIND_ERR,	      { -EIO, "a memory window could not be bound" }		     },
	{ IBV_WC_BAD_RESP_ERR,      { -EPROTO, "the peer answered with nonsense" }		      },
	{ IBV_WC_LOC_ACCESS_ERR,	 { -EACCES, "the peer reached for memory it has no rights to" }},
	{ IBV_WC_REM_INV_REQ_ERR,	  { -EACCES, "the peer found the request invalid" }		    },
	{ IBV_WC_REM_ACCESS_ERR,
	  { -EACCES, "the peer refused the key, the range or the rights of a request" }		},
	{ IBV_WC_REM_OP_ERR,	     { -EIO, "the peer could not carry out a request" }		},
	{ IBV_WC_RETRY_EXC_ERR,	{ -ETIMEDOUT, "the peer answers no more" }			   },
	{ IBV_WC_RNR_RETRY_EXC_ERR, { -ETIMEDOUT, "the peer had no receive buffer for too long" } },
	{ IBV_WC_REM_ABORT_ERR,	{ -ECONNRESET, "the peer gave up" }			    },
	{ IBV_WC_FATAL_ERR,	    { -EIO, "the device failed" }				  },
	{ IBV_WC_RESP_TIMEOUT_ERR,  { -ETIMEDOUT, "the device got no answer" }		      },
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

// Codes of 0 are those that the event's own status gives.
static const struct {
	enum rdma_cm_event_type type;
	int fallback;
	bool has_own; // the event's status is a negative errno
	const char *text;
} ends[] = {
	{RDMA_CM_EVENT_ADDR_ERROR,	    -EHOSTUNREACH,  true,	 "no way to the address"		 },
	{ RDMA_CM_EVENT_ROUTE_ERROR,    -EHOSTUNREACH,  true,  "no route to the address"	    },
	{ RDMA_CM_EVENT_CONNECT_ERROR,  -ECONNRESET,    true,  "the connection could not be made"   },
	{ RDMA_CM_EVENT_UNREACHABLE,    -ETIMEDOUT,	 true,  "the peer does not answer"		  },
	{ RDMA_CM_EVENT_REJECTED,	  -ECONNREFUSED,	 false, "the peer refused the connection"	  },
	{ RDMA_CM_EVENT_DISCONNECTED,   -ECONNRESET,	   false, "the peer closed the connection"	   },
	{ RDMA_CM_EVENT_TIMEWAIT_EXIT,  -ECONNRESET,    false, "the connection is over"		    },
	{ RDMA_CM_EVENT_DEVICE_REMOVAL, -ENODEV,	 false, "the device was removed"		 },
	{ RDMA_CM_EVENT_ADDR_CHANGE,    -EADDRNOTAVAIL, false, "the address moved to another device"},
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
		{1,   "it has no queue pair left"			 },
		{ 3,  "it is short of resources"				},
		{ 4,  "it took too long"					},
		{ 5,  "it does not know such a request"		       },
		{ 8,  "nobody listens there"				    },
		{ 10, "it holds an older connection with the same numbers"},
		{ 24, "it names another port"			      },
		{ 25, "it names another port"			      },
		{ 28, "its program said no"				    },
	};

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].reason == status)
			return reasons[i].text;
	return NULL;
}

// The kernel answers -ENOMEM, or -EPERM with a limit of 0, to what exceeds RLIMIT_MEMLOCK, and
// counts what several devices pin several times.
int verbs_register_error(struct err *e, int error, const char *device, uint64_t len)
{
	struct rlimit limit;

	if ((error != ENOMEM && error != EPERM) || getrlimit(RLIMIT_MEMLOCK, &limit) < 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return err_errno(e, error > 0 ? -error : -EIO, "%s: register %llu bytes", device,
				 (unsigned long long)len);
	return err_set(
		e, -ENOMEM,
		"%s: register %llu bytes: memory is short or the memlock limit of %llu bytes "
		"is reached (raise it: LimitMEMLOCK=infinity or ulimit -l unlimited)",
		device, (unsigned long long)len, (unsigned long long)limit.rlim_cur);
}
