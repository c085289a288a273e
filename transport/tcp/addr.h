// SPDX-License-Identifier: BSD-2-Clause
// TCP addresses, IPv4 and IPv6: text to sockaddr and back, comparison, name resolution.
//
// All but tcp_addr_resolve() work on any thread and never block.
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/err.h"

struct tcp_addr {
	union {
		struct sockaddr sa; // sa_family is AF_INET, AF_INET6 or, for no address, AF_UNSPEC
		struct sockaddr_in in4;
		struct sockaddr_in6 in6;
	};
};

#define TCP_ADDR_TEXT 72 // room for "[address%interface]:port" and its NUL

// Reads "1.2.3.4", "1.2.3.4:3260", "::1", "[::1]", "[::1]:3260", "[fe80::1%eth0]:3260" (RFC 3986,
// RFC 4007). No names. Without a port it is default_port. -EINVAL, or -ENODEV for an interface that
// does not exist (now); *ret is then unchanged.
int tcp_addr_parse(struct tcp_addr *ret, const char *text, uint16_t default_port, struct err *e);

// As tcp_addr_parse(), but also "name" and "name:port": calls the resolver, which may block for
// seconds. Not on a worker that serves data. Fills up to max addresses in the resolver's order of
// preference and returns how many; -EINVAL, -ENOENT (no such name), -EAGAIN, -ENOMEM.
int tcp_addr_resolve(struct tcp_addr *ret, int max, const char *text, uint16_t default_port,
		     struct err *e);

// "1.2.3.4:3260" or "[::1]:3260"; "none" for AF_UNSPEC. Returns out, of TCP_ADDR_TEXT bytes.
char *tcp_addr_format(const struct tcp_addr *a, char *out);
// The same without the port: "1.2.3.4", "::1".
char *tcp_addr_format_ip(const struct tcp_addr *a, char *out);

uint16_t tcp_addr_port(const struct tcp_addr *a); // 0 for AF_UNSPEC
void tcp_addr_set_port(struct tcp_addr *a, uint16_t port);
bool tcp_addr_is_wildcard(const struct tcp_addr *a);   // 0.0.0.0 or ::
bool tcp_addr_is_loopback(const struct tcp_addr *a);   // 127.0.0.0/8 or ::1
bool tcp_addr_is_link_local(const struct tcp_addr *a); // 169.254.0.0/16 or fe80::/10

// Whether a socket can listen there: 0, or -EINVAL with text for a multicast or broadcast address,
// a mapped IPv4 address, and an IPv6 link-local one without its interface.
int tcp_addr_check_local(const struct tcp_addr *a, struct err *e);

// A total order: IPv4 before IPv6, then address, scope, port. 0: equal.
int tcp_addr_compare(const struct tcp_addr *a, const struct tcp_addr *b);
// As compare() == 0, but ignores the ports.
bool tcp_addr_same_ip(const struct tcp_addr *a, const struct tcp_addr *b);

// Size of the sockaddr in use.
socklen_t tcp_addr_len(const struct tcp_addr *a);
// AF_UNSPEC if it is neither IPv4 nor IPv6, or truncated; IPv4 mapped into IPv6 becomes IPv4.
void tcp_addr_from_sockaddr(struct tcp_addr *ret, const struct sockaddr *sa, socklen_t len);
// The two ends of a socket; AF_UNSPEC if it has none.
void tcp_addr_of_socket(struct tcp_addr *ret, int fd);
void tcp_addr_of_peer(struct tcp_addr *ret, int fd);

// Checks a list of at most TCP_ADDR_LIST_MAX - 1 bytes: address[/prefix], comma-separated, such as
// "10.0.0.0/8,fd00::/16"; an empty one is fine. -EINVAL with text.
enum { TCP_ADDR_LIST_MAX = 512 };
int tcp_addr_list_check(const char *list, struct err *e);
