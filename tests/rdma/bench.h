// SPDX-License-Identifier: BSD-2-Clause
// Shared by the cases of the RDMA contract: both ends of connections on one worker, whose loop runs
// on the test's thread, only while the test waits.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "transport/rdma/rnic.h"

#define ENDS_MAX  2048
#define NOTES_MAX 256
#define OUT_SIZE  (1u << 20)

// Given on the command line.
extern const struct rnic_provider *bench_provider;
extern struct tcp_addr bench_addr;
extern unsigned bench_connections;
extern const char *device_lose, *device_find, *device_down, *device_up; // shell commands or NULL

// A received message, with its first bytes.
struct note {
	uint32_t len, rkey;
	bool is_invalidated;
	unsigned when;
	uint8_t head[64];
};

// One end of a connection.
struct end {
	struct rnic_qp *qp; // NULL after it was closed and freed
	bool is_established, is_closed, is_rejected;
	unsigned closed_when;
	struct err why;
	uint8_t words[256]; // private data that came with established or rejected
	uint32_t words_len;
	struct note notes[NOTES_MAX];
	unsigned received;
	bool keeps; // receive buffers stay in kept
	struct rnic_rx *kept[NOTES_MAX];
	unsigned kept_count, outstanding;
	void (*on_established)(struct end *e);
	void (*on_received)(struct end *e);
	uint8_t *out; // OUT_SIZE bytes for local use, and in for received data
	uint8_t *in;
	struct rnic_mr *out_mr, *in_mr;
};

// A request and how it ended.
struct op {
	struct rnic_wr wr;
	struct rnic_sge sge[32];
	struct end *end;
	int res;
	unsigned done, when; // how often it was done
	void (*on_done)(struct op *op);
};

enum answer { ANSWER_ACCEPT, ANSWER_REJECT, ANSWER_HOLD };

struct bench {
	struct worker *worker;
	struct rnic_listener *listener;
	struct tcp_addr addr; // its address
	enum answer answer;
	struct rnic_qp_options accept, connect;
	uint8_t reject[RNIC_PRIVATE_REJ_MAX];
	uint32_t reject_len;
	struct rnic_request *held;
	struct rnic_qp_ops ops;
	unsigned requests, gone, clock;
	uint8_t asked[256]; // private data of the last request
	uint32_t asked_len, asked_reads_out, asked_reads_in;
	struct tcp_addr asked_peer, asked_local;
	char carrier[32];
	struct rnic *rnic; // of the last request; a reservation keeps it
	uint32_t reserved;
	struct err failed; // the listener's report
	bool is_late;	   // the time limit has expired
	struct end *ends[ENDS_MAX];
	unsigned end_count;
	struct end *server; // the last that was accepted
};

extern struct bench *b; // of the running case

// cmocka's set-up and tear-down of each case: worker and listener; checks that nothing is left.
int bench_setup(void **state);
int bench_teardown(void **state);

// Slots of the listener that b has, for others; arg is b.
void bench_request(void *arg, struct rnic_request *q);
void bench_gone(void *arg, struct rnic_request *q);

// Runs the worker's loop until condition holds; fails the case if it takes too long.
#define UNTIL(condition)                                                                           \
	do                                                                                         \
		while (!(condition))                                                               \
			bench_step(__FILE__, __LINE__, #condition);                                \
	while (0)
void bench_step(const char *file, int line, const char *what);
void bench_run_once(struct worker *w); // a round of its loop, on this thread
void bench_stir(void);		       // something happened: the loop returns to the test

struct end *end_new(void);
struct end *bench_connect(void); // starts to connect; b->connect has the options
struct end *bench_connect_to(const struct tcp_addr *addr);
struct end *bench_answer_held(void); // accepts the held request
// Connects, waits for both ends, and sends the client's first message, which iWARP requires. Fills
// *ret with the accepting end.
struct end *bench_pair(struct end **ret_server);
void end_close(struct end *e, bool linger); // with -ESHUTDOWN, "the test says so"

// More receive buffers than some, for cases that send many messages at once.
void bench_reserve(uint32_t count);

// Memory for local use on both ends, OUT_SIZE each.
void end_memory(struct end *e);
struct rnic_mr *bench_register(struct end *e, void *addr, uint64_t len, unsigned access);
// Page-aligned, zeroed; from here so that the tear-down frees it.
void *bench_pages(uint64_t len);
void bench_fill(void *at, uint64_t len, unsigned seed);
bool bench_is_filled(const void *at, uint64_t len, unsigned seed);

// Fills op and posts it: one piece of e->out at offset. Returns rnic_post()'s answer.
struct op *op_new(struct end *e, enum rnic_opcode opcode, unsigned flags);
void op_piece(struct op *op, void *addr, uint32_t len, struct rnic_mr *mr);
void op_remote(struct op *op, uint64_t addr, uint32_t rkey);
int op_post(struct op *op);
struct op *send_text(struct end *e, const char *text); // from e->out

bool is_iwarp_adapter(void); // iWARP in hardware or kernel: no receiver-not-ready, no write acks
bool is_iwarp(void);
bool is_siw(void); // Linux's: peers can read all registered memory

extern const struct CMUnitTest connect_cases[], message_cases[], rdma_cases[], protection_cases[],
	close_cases[], device_cases[], late_cases[];
extern const size_t connect_case_count, message_case_count, rdma_case_count, protection_case_count,
	close_case_count, device_case_count, late_case_count;
#define CASE(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
