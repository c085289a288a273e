// SPDX-License-Identifier: BSD-2-Clause
// Name resolution, for the side that connects. Blocks: never on a worker that serves data.
#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "transport/tcp/addr_priv.h"

static const struct {
	int eai, code;
} codes[] = {
	{EAI_AGAIN,	     -EAGAIN},
	 { EAI_MEMORY,     -ENOMEM},
	  { EAI_NONAME,	-ENOENT},
	{ EAI_NODATA,     -ENOENT},
	 { EAI_FAIL,	     -EIO	  },
	  { EAI_ADDRFAMILY, -ENOENT},
};

static int resolve_failed(struct err *e, const char *host, int eai)
{
	int code = -EIO;

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].eai == eai)
			code = codes[i].code;
	return err_set(e, code, "host \"%.64s\": resolve: %s", host,
		       eai == EAI_SYSTEM ? strerror(errno) : gai_strerror(eai));
}

static int resolve_name(struct tcp_addr *ret, int max, const struct host_port *hp, struct err *e)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC };
	struct addrinfo *list;
	int n = 0, r = getaddrinfo(hp->host, NULL, &hints, &list);

	if (r)
		return resolve_failed(e, hp->host, r);
	for (const struct addrinfo *ai = list; ai && n < max; ai = ai->ai_next) {
		tcp_addr_from_sockaddr(&ret[n], ai->ai_addr, ai->ai_addrlen);
		if (ret[n].sa.sa_family == AF_UNSPEC)
			continue;
		tcp_addr_set_port(&ret[n], hp->port);
		n++;
	}
	freeaddrinfo(list);
	return n ? n : resolve_failed(e, hp->host, EAI_NODATA);
}

int tcp_addr_resolve(struct tcp_addr *ret, int max, const char *text, uint16_t default_port,
		     struct err *e)
{
	struct host_port hp;
	int r = tcp_addr_split(&hp, text, default_port, e);

	if (r < 0)
		return r;
	if (max < 1)
		return err_set(e, -EINVAL, "host \"%.64s\": resolve: no room for the result", text);
	r = tcp_addr_from_host(ret, &hp);
	if (r == 0)
		return 1;
	// Brackets, a colon or a zone mean an invalid address; so do only digits and dots, which
	// the resolver would parse as inet_aton(3) (octal, fewer parts).
	if (hp.is_bracketed || strpbrk(hp.host, ":%") ||
	    strspn(hp.host, "0123456789.") == strlen(hp.host))
		return tcp_addr_parse(ret, text, default_port, e);
	return resolve_name(ret, max, &hp, e);
}
