// SPDX-License-Identifier: BSD-2-Clause
// pathloss_load SOCKET UNITS DEPTH SEED REISSUE FUA: writes and reads UNITS units of 4 KiB of an
// NBD export on a Unix socket, DEPTH requests at a time, FUA percent of the writes with FUA, and
// judges what it reads by initiator/history/. A unit that is being written is not written or read
// meanwhile, as hosts do. Each line of standard input is a command; its answer is a line of JSON.
//
//     rate N     requests a second       mix P     percent of writes
//     mark       a loss begins: gap, slowest and hits count from here
//     cover      writes each unit once more, before others
//     sweep      reads each unit once, before others
//     stat       nothing else            quit
//
// A server that has gone is connected to again. REISSUE 1: writes without an answer are sent again,
// as the kernel's ublk and nbd do; 0: their outcome is unknown.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "initiator/attach/nbd_wire.h"
#include "initiator/history/history.h"

enum { UNIT = 4096, SECTOR = 512, SECTORS = UNIT / SECTOR, DEPTH_MAX = 256, HIT_MS = 1000 };

struct slot {
	bool is_used, is_write, is_marked; // is_marked: its lateness has been counted
	int op;
	uint32_t unit;
	uint64_t start;
	uint8_t data[UNIT];
};

static struct {
	const char *path;
	uint32_t units, depth, used, fua;
	bool reissues, is_over;
	uint64_t seed, zero, rate, mix, next;
	struct history *history;
	struct slot slots[DEPTH_MAX];
	bool *is_writing, *is_uncovered, *is_unswept, *is_spoilt;
	uint16_t *reading; // reads under way
	uint32_t cover_left, sweep_left, cursor;
	int fd;
	uint64_t retry_at;
	uint8_t *out;
	size_t out_len, in_len;
	uint8_t in[NBD_REPLY_LEN + UNIT];
	uint64_t mark, last, gap, slowest, hits, marked_acked;
	uint64_t acked, reads, unknown, errors, connects, bad_blocks, bad_writes, bad_seq;
} w;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t random_below(uint64_t n) // splitmix64
{
	uint64_t z = w.seed += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % n;
}

static void on_violation(void *arg, const struct history_violation *v)
{
	char text[HISTORY_TEXT_MAX];
	uint64_t unit = v->block / SECTORS;
	if (v->kind == HISTORY_GARBAGE && w.is_spoilt[unit])
		return; // until it is written again each read finds it
	w.is_spoilt[unit] |= v->kind == HISTORY_GARBAGE;
	w.bad_blocks++;
	if (v->old.seq && v->old.seq == w.bad_seq)
		return;
	w.bad_seq = v->old.seq;
	w.bad_writes++;
	history_text(v, w.zero, text);
	printf("{\"violation\": \"%s\"}\n", text);
}

// --- requests ---

static void late(struct slot *s, uint64_t now)
{
	uint64_t since = s->start > w.mark ? s->start : w.mark;
	if (!w.mark || s->is_marked || !s->is_write || now - since < HIT_MS * 1000000u)
		return;
	s->is_marked = true;
	w.hits++;
}

static void finish(struct slot *s, enum history_outcome outcome, const void *data)
{
	uint64_t now = now_ns();
	late(s, now);
	if (w.mark && now - s->start > w.slowest)
		w.slowest = now - s->start;
	if (outcome == HISTORY_OK && w.last && w.mark && now - w.last > w.gap)
		w.gap = now - w.last;
	if (outcome == HISTORY_OK) {
		w.last = now;
		w.acked += s->is_write;
		w.marked_acked += s->is_write;
		w.reads += !s->is_write;
	}
	w.unknown += outcome == HISTORY_UNKNOWN && s->is_write;
	history_end(w.history, s->op, outcome, now, data);
	if (s->is_write)
		w.is_writing[s->unit] = false;
	else
		w.reading[s->unit]--;
	s->is_used = false;
	w.used--;
}

static void queue(const struct slot *s)
{
	uint8_t *p = w.out + w.out_len;
	put_be32(p, NBD_REQUEST_MAGIC);
	put_be16(p + 4, s->is_write && random_below(100) < w.fua ? NBD_FUA : 0);
	put_be16(p + 6, s->is_write ? NBD_WRITE : NBD_READ);
	put_be64(p + 8, (uint64_t)(s - w.slots));
	put_be64(p + 16, (uint64_t)s->unit * UNIT);
	put_be32(p + 24, UNIT);
	w.out_len += NBD_REQUEST_LEN;
	if (s->is_write) {
		memcpy(w.out + w.out_len, s->data, UNIT);
		w.out_len += UNIT;
	}
}

// A unit to write that is not being written: uncovered ones first.
static bool pick_write(uint32_t *ret)
{
	for (uint32_t i = 0; i < w.units; i++) {
		uint32_t unit = w.cursor++ % w.units;
		if (w.is_writing[unit] || w.reading[unit] ||
		    (w.cover_left && !w.is_uncovered[unit]))
			continue;
		*ret = unit;
		return true;
	}
	*ret = (uint32_t)random_below(w.units);
	return !w.is_writing[*ret] && !w.reading[*ret];
}

// A unit to read that is not being written: a RAM disk gives half of a block then.
static bool pick_read(uint32_t *ret)
{
	for (uint32_t i = 0; w.sweep_left && i < w.units; i++)
		if (w.is_unswept[i] && !w.is_writing[i]) {
			w.is_unswept[i] = false;
			w.sweep_left--;
			*ret = i;
			return true;
		}
	*ret = (uint32_t)random_below(w.units);
	return !w.is_writing[*ret];
}

static void start_one(struct slot *s)
{
	uint64_t now = now_ns();
	uint32_t unit = 0;
	s->op = -1;
	bool writes = !w.sweep_left && (w.cover_left || random_below(100) < w.mix);
	if (writes && pick_write(&unit))
		s->op = history_write(w.history, (uint64_t)unit * SECTORS, SECTORS, 1, now,
				      s->data);
	else {
		writes = false;
		if (pick_read(&unit))
			s->op = history_read(w.history, (uint64_t)unit * SECTORS, SECTORS, now);
	}
	if (s->op < 0)
		return;
	s->is_used = true;
	s->is_write = writes;
	s->is_marked = false;
	s->unit = unit;
	s->start = now;
	w.used++;
	w.is_writing[unit] |= writes;
	w.is_spoilt[unit] &= !writes;
	w.reading[unit] += !writes;
	if (writes && w.cover_left && w.is_uncovered[unit]) {
		w.is_uncovered[unit] = false;
		w.cover_left--;
	}
	queue(s);
}

static void start_due(void)
{
	uint64_t now = now_ns();
	if (w.next + 50000000 < now)
		w.next = now - 50000000; // what could not be sent is not made up for
	for (uint32_t i = 0; i < w.depth && w.next <= now; i++) {
		if (w.slots[i].is_used)
			continue;
		start_one(&w.slots[i]);
		w.next += 1000000000u / w.rate;
	}
}

// --- the connection ---

static bool exchange(int fd, const void *out, size_t out_len, void *in, size_t in_len)
{
	return (!out_len || send(fd, out, out_len, MSG_NOSIGNAL) == (ssize_t)out_len) &&
	       (!in_len || recv(fd, in, in_len, MSG_WAITALL) == (ssize_t)in_len);
}

// Fixed newstyle, NBD_OPT_EXPORT_NAME of the default export.
static bool negotiate(int fd)
{
	static const uint8_t answer[] = "\0\0\0\3IHAVEOPT\0\0\0\1\0\0\0\0";
	struct timeval limit = { .tv_sec = 10 };
	uint8_t in[18];
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return exchange(fd, NULL, 0, in, 18) && !memcmp(in, "NBDMAGICIHAVEOPT", 16) &&
	       exchange(fd, answer, sizeof answer - 1, in, 10) &&
	       get_be64(in) >= (uint64_t)w.units * UNIT;
}

static void dial(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	w.retry_at = now_ns() + 50000000;
	snprintf(a.sun_path, sizeof a.sun_path, "%s", w.path);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0 || !negotiate(fd)) {
		close(fd);
		return;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	w.fd = fd;
	w.out_len = w.in_len = 0;
	w.connects++;
	for (uint32_t i = 0; i < w.depth; i++)
		if (w.slots[i].is_used)
			queue(&w.slots[i]);
}

static void hang_up(void)
{
	close(w.fd);
	w.fd = -1;
	for (uint32_t i = 0; i < w.depth; i++) {
		struct slot *s = &w.slots[i];
		if (s->is_used && !(w.reissues && s->is_write))
			finish(s, HISTORY_UNKNOWN, NULL);
	}
}

static void flush_out(void)
{
	ssize_t n = send(w.fd, w.out, w.out_len, MSG_NOSIGNAL);
	if (n > 0) {
		memmove(w.out, w.out + n, w.out_len - (size_t)n);
		w.out_len -= (size_t)n;
	} else if (errno != EAGAIN)
		hang_up();
}

// False: not a reply to anything.
static bool take_reply(void)
{
	uint64_t cookie = get_be64(w.in + 8);
	uint32_t error = get_be32(w.in + 4);
	if (get_be32(w.in) != NBD_REPLY_MAGIC || cookie >= w.depth || !w.slots[cookie].is_used)
		return false;
	struct slot *s = &w.slots[cookie];
	if (!s->is_write && !error && w.in_len < sizeof w.in)
		return true;
	w.errors += error != 0;
	finish(s, error ? HISTORY_UNKNOWN : HISTORY_OK, w.in + NBD_REPLY_LEN);
	w.in_len = 0;
	return true;
}

static void receive(void)
{
	for (;;) {
		size_t want = w.in_len < NBD_REPLY_LEN ? NBD_REPLY_LEN : sizeof w.in;
		ssize_t n = recv(w.fd, w.in + w.in_len, want - w.in_len, 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			return hang_up();
		w.in_len += (size_t)n;
		if (w.in_len >= NBD_REPLY_LEN && !take_reply())
			return hang_up();
	}
}

// --- commands ---

static void print_stat(void)
{
	uint64_t now = now_ns(), oldest = now, open = 0;
	for (uint32_t i = 0; i < w.depth; i++)
		if (w.slots[i].is_used) {
			late(&w.slots[i], now);
			open += w.slots[i].is_write;
			oldest = w.slots[i].start < oldest ? w.slots[i].start : oldest;
		}
	printf("{\"connected\": %d, \"used\": %u, \"open_writes\": %llu, \"oldest\": %.3f, "
	       "\"acked\": %llu, \"since_mark\": %llu, \"reads\": %llu, \"unknown\": %llu, "
	       "\"errors\": %llu, \"connects\": %llu, \"hits\": %llu, \"gap\": %.4f, "
	       "\"slowest\": %.4f, \"cover_left\": %u, \"sweep_left\": %u, \"bad_blocks\": %llu, "
	       "\"bad_writes\": %llu}\n",
	       w.fd >= 0, w.used, (unsigned long long)open, (double)(now - oldest) / 1e9,
	       (unsigned long long)w.acked, (unsigned long long)w.marked_acked,
	       (unsigned long long)w.reads, (unsigned long long)w.unknown,
	       (unsigned long long)w.errors, (unsigned long long)w.connects,
	       (unsigned long long)w.hits, (double)w.gap / 1e9, (double)w.slowest / 1e9,
	       w.cover_left, w.sweep_left, (unsigned long long)w.bad_blocks,
	       (unsigned long long)w.bad_writes);
}

static void command(const char *line)
{
	unsigned long long n = 0;
	if (sscanf(line, "rate %llu", &n) == 1 && n)
		w.rate = n;
	else if (sscanf(line, "mix %llu", &n) == 1)
		w.mix = n;
	else if (!strncmp(line, "mark", 4)) {
		w.mark = now_ns();
		w.gap = w.slowest = w.hits = w.marked_acked = 0;
	} else if (!strncmp(line, "cover", 5)) {
		memset(w.is_uncovered, 1, w.units);
		w.cover_left = w.units;
	} else if (!strncmp(line, "sweep", 5)) {
		memset(w.is_unswept, 1, w.units);
		w.sweep_left = w.units;
	} else if (!strncmp(line, "quit", 4))
		w.is_over = true;
	print_stat();
}

static void read_commands(void)
{
	static char line[256];
	static size_t len;
	ssize_t n = read(0, line + len, sizeof line - 1 - len);
	char *end;
	if (n <= 0) {
		w.is_over = true;
		return;
	}
	len += (size_t)n;
	while ((end = memchr(line, '\n', len))) {
		*end = 0;
		command(line);
		len -= (size_t)(end + 1 - line);
		memmove(line, end + 1, len);
	}
	if (len == sizeof line - 1)
		len = 0;
}

static void run(void)
{
	while (!w.is_over) {
		if (w.fd < 0 && now_ns() >= w.retry_at)
			dial();
		if (w.fd >= 0)
			start_due();
		struct pollfd p[2] = {
			{.fd = 0,	   .events = POLLIN},
			       { .fd = w.fd, .events = POLLIN}
		};
		if (w.fd >= 0 && w.out_len)
			p[1].events |= POLLOUT;
		int64_t wait = (int64_t)(w.next - now_ns());
		struct timespec t = { .tv_nsec = wait < 0 || w.used == w.depth || w.fd < 0 ? 5000000
						 : wait > 5000000			   ? 5000000
											   : wait };
		ppoll(p, 2, &t, NULL);
		if (p[0].revents)
			read_commands();
		if (w.fd >= 0 && (p[1].revents & ~POLLOUT))
			receive();
		if (w.fd >= 0 && w.out_len)
			flush_out();
	}
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	if (argc != 7) {
		fprintf(stderr, "usage: pathloss_load SOCKET UNITS DEPTH SEED REISSUE FUA\n");
		return 2;
	}
	w.path = argv[1];
	w.units = (uint32_t)atoi(argv[2]);
	w.depth = (uint32_t)atoi(argv[3]);
	w.seed = strtoull(argv[4], NULL, 10);
	w.reissues = atoi(argv[5]);
	w.fua = (uint32_t)atoi(argv[6]);
	w.fd = -1;
	w.rate = 100;
	w.mix = 50;
	w.zero = w.next = now_ns();
	struct history_config c = { .disk = w.seed,
				    .blocks = (uint64_t)w.units * SECTORS,
				    .block_size = SECTOR,
				    .ops_max = DEPTH_MAX,
				    .violation = on_violation };
	if (w.depth < 1 || w.depth > DEPTH_MAX || history_new(&w.history, &c, &e)) {
		fprintf(stderr, "pathloss_load: %s\n", e.text[0] ? e.text : "depth: 1 to 256");
		return 1;
	}
	w.is_writing = calloc(w.units, 1);
	w.is_uncovered = calloc(w.units, 1);
	w.is_unswept = calloc(w.units, 1);
	w.is_spoilt = calloc(w.units, 1);
	w.reading = calloc(w.units, sizeof *w.reading);
	w.out = malloc((size_t)w.depth * 2 * (NBD_REQUEST_LEN + UNIT));
	setvbuf(stdout, NULL, _IOLBF, 0);
	run();
	history_free(w.history);
	return w.bad_blocks ? 1 : 0;
}
