// SPDX-License-Identifier: BSD-2-Clause
// See status.h.
#include "initiator/tool/status.h"

#include <errno.h>
#include <stddef.h>

// clang-format off
const struct tool_status_row tool_status_rows[] = {
	{TOOL_OK, "success"},
	{TOOL_FAILED, "failure; the message has the cause"},
	{TOOL_USAGE, "wrong command, option or value"},
	{TOOL_NO_MEMORY, "no memory"},
	{TOOL_TRANSPORT, "no connection: refused, reset, or no such host or route"},
	{TOOL_LOGIN, "login refused, may succeed later: the target has no resources or is not available"},
	{TOOL_RECORD, "a record or an entry is wrong or cannot be read"},
	{TOOL_TIMEOUT, "no answer in time"},
	{TOOL_NO_WAY, "this machine cannot make a local disk: module or device missing"},
	{TOOL_PERMISSION, "permission denied on this machine"},
	{TOOL_LOGGED_IN, "logged in or attached already"},
	{TOOL_LOGIN_FATAL, "login refused: no such target, or a violation of the protocol"},
	{TOOL_NOT_FOUND, "no record, entry, session, attachment or logical unit was found"},
	{TOOL_AUTHORIZATION, "login refused: CHAP has failed, or the target has no ACL of this initiator"},
	{TOOL_BUSY, "the disk is mounted, open, or written by another process"},
	{0},
};
// clang-format on

static const struct {
	int code, status;
} codes[] = {
	{-ENOMEM,	   TOOL_NO_MEMORY	  },
	{ -ECONNREFUSED,	 TOOL_TRANSPORT	},
	{ -ECONNRESET,    TOOL_TRANSPORT    },
	{ -EPIPE,	  TOOL_TRANSPORT	 },
	{ -ENOTCONN,	     TOOL_TRANSPORT    },
	{ -EHOSTUNREACH,	 TOOL_TRANSPORT	},
	{ -ENETUNREACH,	TOOL_TRANSPORT    },
	{ -EADDRNOTAVAIL, TOOL_TRANSPORT	 },
	{ -ECONNABORTED,	 TOOL_LOGIN	    },
	{ -ETIMEDOUT,     TOOL_TIMEOUT	   },
	{ -ENODEV,	   TOOL_NO_WAY       },
	{ -EACCES,	   TOOL_PERMISSION   },
	{ -EPERM,	  TOOL_PERMISSION	  },
	{ -EEXIST,	   TOOL_LOGGED_IN	  },
	{ -ESRCH,	  TOOL_NOT_FOUND	 },
	{ -ENXIO,	  TOOL_LOGIN_FATAL  },
	{ -EPROTO,	   TOOL_LOGIN_FATAL  },
	{ -EKEYREJECTED,	 TOOL_AUTHORIZATION},
	{ -EBUSY,	  TOOL_BUSY	    },
	{ -EADDRINUSE,    TOOL_BUSY	 },
};

int tool_status_of(const struct err *e)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].code == e->code)
			return codes[i].status;
	return TOOL_FAILED;
}
