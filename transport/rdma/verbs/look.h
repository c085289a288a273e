// SPDX-License-Identifier: BSD-2-Clause
// The devices that librdmacm has opened for us, and whether they still exist (look.c). Any thread.
#pragma once

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/list.h"

#define VERBS_LOOK_USEC 2000000u

// A device in sysfs.
struct verbs_node {
	dev_t dev;
	ino_t ino;
};

struct verbs_open {
	struct list link;
	struct ibv_context *context;
	struct rdma_cm_id *pin; // keeps the context; NULL: the context exists while it is used
	struct verbs_node node; // when it was opened
	bool has_node;		// false: no sysfs, cannot tell
	bool is_used, is_gone;	// is_gone: atomic
};

struct verbs_look_ops {
	const char *folder; // has a node for each device
	struct rdma_cm_id *(*pin)(struct rdma_cm_id *id);
	// Ends a use; closes the device if it was removed. False: not possible now.
	bool (*let_go)(struct verbs_open *o);
};
extern const struct verbs_look_ops verbs_look_system;

struct verbs_look {
	pthread_mutex_t lock;
	struct list open;
	const struct verbs_look_ops *ops;
};

void verbs_look_init(struct verbs_look *l, const struct verbs_look_ops *ops);
// Uses the device of id until verbs_look_unuse(); it may be used again later. -ENODEV: it was
// removed; -ENOMEM.
int verbs_look_use(struct verbs_look *l, struct verbs_open **ret, struct rdma_cm_id *id);
void verbs_look_unuse(struct verbs_look *l, struct verbs_open *o);
// Checks each device; closes those that were removed and are not in use.
void verbs_look(struct verbs_look *l);
bool verbs_open_is_gone(const struct verbs_open *o);
