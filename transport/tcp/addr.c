// SPDX-License-Identifier: BSD-2-Clause
// TCP addresses: parsing, formatting, comparison. Any thread; nothing blocks.
#include "transport/tcp/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "transport/tcp/addr_priv.h"

static int bad(struct err *e, const char *text, const char *cause)
{
	// Truncated: the input may be of any length.
	return err_set(e, -EINVAL, "address \"%.64s\": %s (give 1.2.3.4:3260 or [::1]:3260)", text,
		       cause);
}

// Decimal, 1 .. 65535, no sign, no leading zero.
static int parse_port(const char *s, uint16_t *ret)
{
	uint32_t v = 0;

	if (*s < '1' || *s > '9')
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		v = v * 10 + (uint32_t)(*s - '0');
		if (v > UINT16_MAX)
			return -EINVAL;
	}
	*ret = (uint16_t)v;
	return 0;
}

// "host", "[host]", "host:port", "[host]:port"; more than one colon outside brackets is IPv6.
static const char *split_host(struct host_port *hp, const char *text, const char **ret_port)
{
	const char *end, *colon;

	hp->is_bracketed = *text == '[';
	*ret_port = NULL;
	if (hp->is_bracketed) {
		text++;
		end = strchr(text, ']');
		if (!end)
			return "] is missing";
		if (end[1] && end[1] != ':')
			return "only :port may follow ]";
		*ret_port = end[1] ? end + 2 : NULL;
	} else {
		colon = strchr(text, ':');
		end = text + strlen(text);
		if (colon && !strchr(colon + 1, ':')) {
			end = colon;
			*ret_port = colon + 1;
		}
	}
	size_t n = (size_t)(end - text);
	if (!n)
		return "host is missing";
	if (n >= sizeof hp->host)
		return "host is too long";
	memcpy(hp->host, text, n);
	hp->host[n] = 0;
	return NULL;
}

int tcp_addr_split(struct host_port *ret, const char *text, uint16_t default_port, struct err *e)
{
	const char *port;
	const char *cause = split_host(ret, text, &port);

	if (cause)
		return bad(e, text, cause);
	ret->port = default_port;
	if (port && parse_port(port, &ret->port) < 0)
		return bad(e, text, "port must be 1 to 65535");
	return 0;
}

// "%eth0" or "%2" after an IPv6 address (RFC 4007 section 11).
static int parse_scope(const char *zone, uint32_t *ret)
{
	unsigned n = 0;
	char rest;

	if (!*zone || strlen(zone) >= IF_NAMESIZE)
		return -EINVAL;
	if (*zone >= '0' && *zone <= '9' && sscanf(zone, "%9u%c", &n, &rest) == 1 && n)
		*ret = n;
	else
		*ret = if_nametoindex(zone);
	return *ret ? 0 : -ENODEV;
}

// 0, -ENODEV for an interface that does not exist, -EINVAL if it is not an IPv6 address.
static int parse_in6(const char *host, struct sockaddr_in6 *ret)
{
	char ip[HOST_MAX];
	const char *zone = strchr(host, '%');
	size_t n = zone ? (size_t)(zone - host) : strlen(host);
	uint32_t scope = 0;

	memcpy(ip, host, n);
	ip[n] = 0;
	ret->sin6_family = AF_INET6;
	if (inet_pton(AF_INET6, ip, &ret->sin6_addr) != 1)
		return -EINVAL;
	int r = zone ? parse_scope(zone + 1, &scope) : 0;
	ret->sin6_scope_id = scope;
	return r;
}

int tcp_addr_from_host(struct tcp_addr *ret, const struct host_port *hp)
{
	struct tcp_addr a;
	int r = 0;

	memset(&a, 0, sizeof a);
	if (!hp->is_bracketed && inet_pton(AF_INET, hp->host, &a.in4.sin_addr) == 1)
		a.in4.sin_family = AF_INET;
	else
		r = parse_in6(hp->host, &a.in6);
	if (r < 0)
		return r;
	tcp_addr_set_port(&a, hp->port);
	*ret = a;
	return 0;
}

int tcp_addr_parse(struct tcp_addr *ret, const char *text, uint16_t default_port, struct err *e)
{
	struct host_port hp;
	int r = tcp_addr_split(&hp, text, default_port, e);

	if (r < 0)
		return r;
	r = tcp_addr_from_host(ret, &hp);
	if (r == -ENODEV)
		return err_set(e, r, "address \"%.64s\": no such interface", text);
	return r < 0 ? bad(e, text, "not an IPv4 or IPv6 address") : 0;
}

char *tcp_addr_format_ip(const struct tcp_addr *a, char *out)
{
	if (a->sa.sa_family == AF_INET) {
		inet_ntop(AF_INET, &a->in4.sin_addr, out, TCP_ADDR_TEXT);
	} else if (a->sa.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a->in6.sin6_addr, out, TCP_ADDR_TEXT);
		size_t n = strlen(out);
		char name[IF_NAMESIZE];
		uint32_t scope = a->in6.sin6_scope_id;
		if (scope && if_indextoname(scope, name))
			snprintf(out + n, TCP_ADDR_TEXT - n, "%%%s", name);
		else if (scope)
			snprintf(out + n, TCP_ADDR_TEXT - n, "%%%u", scope);
	} else {
		snprintf(out, TCP_ADDR_TEXT, "none");
	}
	return out;
}

char *tcp_addr_format(const struct tcp_addr *a, char *out)
{
	char ip[TCP_ADDR_TEXT];

	tcp_addr_format_ip(a, ip);
	// The longest is 39 + 1 + 15 characters of address, 2 brackets, 6 of port.
	if (a->sa.sa_family == AF_INET)
		snprintf(out, TCP_ADDR_TEXT, "%.15s:%u", ip, tcp_addr_port(a));
	else if (a->sa.sa_family == AF_INET6)
		snprintf(out, TCP_ADDR_TEXT, "[%.61s]:%u", ip, tcp_addr_port(a));
	else
		snprintf(out, TCP_ADDR_TEXT, "%s", ip);
	return out;
}

uint16_t tcp_addr_port(const struct tcp_addr *a)
{
	if (a->sa.sa_family == AF_INET)
		return ntohs(a->in4.sin_port);
	return a->sa.sa_family == AF_INET6 ? ntohs(a->in6.sin6_port) : 0;
}

void tcp_addr_set_port(struct tcp_addr *a, uint16_t port)
{
	if (a->sa.sa_family == AF_INET)
		a->in4.sin_port = htons(port);
	else if (a->sa.sa_family == AF_INET6)
		a->in6.sin6_port = htons(port);
}

bool tcp_addr_is_wildcard(const struct tcp_addr *a)
{
	if (a->sa.sa_family == AF_INET)
		return a->in4.sin_addr.s_addr == htonl(INADDR_ANY);
	return a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
}

bool tcp_addr_is_loopback(const struct tcp_addr *a)
{
	if (a->sa.sa_family == AF_INET)
		return ntohl(a->in4.sin_addr.s_addr) >> 24 == 127;
	return a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr);
}

bool tcp_addr_is_link_local(const struct tcp_addr *a)
{
	if (a->sa.sa_family == AF_INET)
		return ntohl(a->in4.sin_addr.s_addr) >> 16 == 0xa9fe;
	return a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr);
}

static const char *why_not_local(const struct tcp_addr *a)
{
	if (a->sa.sa_family == AF_INET) {
		uint32_t ip = ntohl(a->in4.sin_addr.s_addr);
		return ip == INADDR_BROADCAST ? "broadcast address"
		       : IN_MULTICAST(ip)     ? "multicast address"
					      : NULL;
	}
	const struct in6_addr *ip = &a->in6.sin6_addr;
	if (IN6_IS_ADDR_MULTICAST(ip))
		return "multicast address";
	if (IN6_IS_ADDR_V4MAPPED(ip))
		return "IPv4-mapped IPv6 address (give it as 1.2.3.4)";
	if (IN6_IS_ADDR_LINKLOCAL(ip) && !a->in6.sin6_scope_id)
		return "link-local address without an interface (give it as fe80::1%eth0)";
	return NULL;
}

int tcp_addr_check_local(const struct tcp_addr *a, struct err *e)
{
	char text[TCP_ADDR_TEXT];
	const char *why = why_not_local(a);
	return why ? err_set(e, -EINVAL, "address %s: %s", tcp_addr_format_ip(a, text), why) : 0;
}

static int compare_uint(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_ip(const struct tcp_addr *a, const struct tcp_addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return compare_uint(a->sa.sa_family, b->sa.sa_family);
	if (a->sa.sa_family == AF_INET)
		return compare_uint(ntohl(a->in4.sin_addr.s_addr), ntohl(b->in4.sin_addr.s_addr));
	if (a->sa.sa_family != AF_INET6)
		return 0;
	int r = memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof a->in6.sin6_addr);
	return r ? r : compare_uint(a->in6.sin6_scope_id, b->in6.sin6_scope_id);
}

int tcp_addr_compare(const struct tcp_addr *a, const struct tcp_addr *b)
{
	int r = compare_ip(a, b);

	return r ? r : compare_uint(tcp_addr_port(a), tcp_addr_port(b));
}

bool tcp_addr_same_ip(const struct tcp_addr *a, const struct tcp_addr *b)
{
	return compare_ip(a, b) == 0;
}

socklen_t tcp_addr_len(const struct tcp_addr *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof a->in6 : sizeof a->in4;
}

static void unmap_in4(struct tcp_addr *a)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = a->in6.sin6_port };

	memcpy(&in4.sin_addr, &a->in6.sin6_addr.s6_addr[12], sizeof in4.sin_addr);
	memset(a, 0, sizeof *a);
	a->in4 = in4;
}

void tcp_addr_from_sockaddr(struct tcp_addr *ret, const struct sockaddr *sa, socklen_t len)
{
	memset(ret, 0, sizeof *ret);
	if (len < sizeof sa->sa_family)
		return;
	if (sa->sa_family == AF_INET && len >= sizeof ret->in4)
		memcpy(&ret->in4, sa, sizeof ret->in4);
	else if (sa->sa_family == AF_INET6 && len >= sizeof ret->in6)
		memcpy(&ret->in6, sa, sizeof ret->in6);
	if (ret->sa.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ret->in6.sin6_addr))
		unmap_in4(ret);
}

static void addr_by(int (*get)(int fd, struct sockaddr *sa, socklen_t *len), struct tcp_addr *ret,
		    int fd)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof ss;

	if (get(fd, (struct sockaddr *)&ss, &len) < 0)
		len = 0;
	tcp_addr_from_sockaddr(ret, (struct sockaddr *)&ss, len);
}

void tcp_addr_of_socket(struct tcp_addr *ret, int fd)
{
	addr_by(getsockname, ret, fd);
}

void tcp_addr_of_peer(struct tcp_addr *ret, int fd)
{
	addr_by(getpeername, ret, fd);
}
