// SPDX-License-Identifier: BSD-2-Clause
// Shared by the files of the load generator. One process, one thread: commands are queued and sent
// with few sendmsg calls, and responses drained with large receives, so that the target saturates
// first.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

enum {
	RX_BUFFER = 512 * 1024,	 // of a session that does I/O
	RX_SEGMENT = 256 * 1024, // our MaxRecvDataSegmentLength
	RX_IDLE = 16 * 1024,	 // of a session that only answers pings
	MAX_PIDS = 64,
	NS_PER_SEC = 1000000000,
};

struct options {
	char host[256], port[16], iqn[256];
	unsigned lun;	  // first logical unit
	unsigned luns;	  // spread commands over this many, from lun up
	bool is_raw;	  // tcp_limit's server: no login, no checks
	bool is_idle;	  // log in and do nothing
	uint32_t io_size; // bytes
	uint32_t depth;	  // commands in flight a session
	unsigned sessions;
	double seconds, ramp; // measured, and before it
	double rate;	      // offered commands/s of all sessions; 0: keep the queue full
	int read_percent;     // 100 read, 0 write
	bool is_sequential, is_spinning, is_verifying;
	bool has_header_digest, has_data_digest;
	bool initial_r2t, immediate_data, use_16;
	uint32_t first_burst, max_burst;
	uint64_t span;	      // bytes of the LUN to use; 0: all
	uint64_t max_ios;     // stop after this many; 0: by time
	int cpu;	      // pin to it; -1: do not
	pid_t pids[MAX_PIDS]; // whose CPU clock is read
	unsigned n_pids;
};

// A command in flight; its index is the initiator task tag.
struct slot {
	uint64_t start_ns, offset;
	uint8_t *data;
	unsigned lun;
	bool is_write, is_busy;
	bool is_wrong; // data differs from the pattern; counts if the status is GOOD
};

// An outgoing PDU: header with digest, data by reference, data digest.
struct out_pdu {
	uint8_t head[BHS_LEN + DIGEST_LEN], tail[DIGEST_LEN];
	uint32_t head_len, data_len, tail_len;
	const uint8_t *data;
};

struct session {
	int fd;
	unsigned index;
	// Negotiated.
	uint32_t max_send_segment, first_burst, max_burst;
	bool immediate_data, initial_r2t, has_header_digest, has_data_digest;
	uint32_t cmdsn, expstatsn, maxcmdsn;
	// Commands.
	struct slot *slots;
	uint32_t *free_slots, n_free;
	uint64_t next_sequential, random;
	unsigned unit_attentions;
	// Out: a ring of PDUs; head and tail only increase.
	struct out_pdu *out;
	uint32_t out_size, out_head, out_tail;
	size_t out_done; // bytes of the head PDU already sent
	bool wants_write;
	// In: complete PDUs, or the rest of one whose header was processed.
	uint8_t *rx;
	size_t rx_size, rx_len, rx_skip;
	uint8_t rx_held[BHS_LEN];
};

// The whole run.
struct load {
	struct options opt;
	struct session *sessions;
	uint32_t block_size;
	uint64_t n_slots; // I/O-sized places on the LUN
	uint64_t capacity;
	uint8_t *pattern; // data of writes; in verify mode one part per slot
	uint64_t t0, started;
	bool is_stopping, is_measuring;
	uint64_t all, errors, busy, mismatches;
	uint64_t rx_calls, tx_calls;
};

// options.c
void options_parse(struct options *opt, int argc, char **argv);
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

// login.c: blocking, before the clock starts.
int session_connect(const struct options *opt);
void session_login(struct session *s, const struct options *opt);
// SCSI status; at most len bytes of data arrive in ret_data.
int session_command(struct session *s, unsigned lun, const uint8_t cdb[16], uint8_t *ret_data,
		    uint32_t len);
void session_logout(struct session *s);

// outq.c
struct out_pdu *out_add(struct session *s);
void out_seal(struct session *s, struct out_pdu *pdu);
static inline bool out_is_empty(const struct session *s)
{
	return s->out_head == s->out_tail;
}
// True if the socket is full and must be watched.
bool out_flush(struct load *l, struct session *s);
uint32_t digest(const uint8_t *data, uint32_t len);

// command.c
void command_header(struct session *s, uint8_t *h, unsigned lun, uint32_t itt, uint8_t direction,
		    uint32_t edtl);
void command_start(struct load *l, struct session *s, uint32_t itt, bool is_retry, uint64_t now);
void command_send_data(struct session *s, uint32_t itt, uint32_t ttt, uint32_t offset,
		       uint32_t len);
void command_finish(struct load *l, struct session *s, uint32_t itt, int status, uint64_t now);
void command_refill(struct load *l, struct session *s, uint64_t now);
// When the next command of a fixed rate is due, in ns.
uint64_t command_due(const struct load *l);

// receive.c
// Drains the socket once; false: no data.
bool receive(struct load *l, struct session *s, bool may_sleep, uint64_t *ret_now);

// pattern.c: content that depends on every bit of its address.
void pattern_fill(uint8_t *data, unsigned lun, uint64_t offset, uint32_t len);
bool pattern_matches(const uint8_t *data, unsigned lun, uint64_t offset, uint32_t len);

// stats.c
uint64_t now_ns(void);
void stats_begin(struct load *l);
void stats_add(uint64_t latency_ns, bool is_write);
void stats_end(struct load *l);
// One line of JSON.
void stats_print(const struct load *l);
