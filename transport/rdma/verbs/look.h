// SPDX-License-Identifier: BSD-2-Clause
// The devices that librdmacm has open for us, and whether they are still there (look.c). Any
// thread.
#pragma once

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/list.h"

#define VERBS_LOOK_USEC 2000000u

// What a device is in sysfs.
struct verbs_node {
	dev_t dev;
	ino_t ino;
};

struct verbs_open {
	struct list link;
	struct ibv_context *context;
	struct rdma_cm_id *pin; // keeps the context; NULL: it stays as long as it is used
	struct verbs_node node; // when it was opened
	bool has_node;		// false where there is no sysfs: nobody can tell
	bool is_used, is_gone;	// is_gone: atomic
};

struct verbs_look_ops {
	const char *folder; // has a node for each device
	struct rdma_cm_id *(*pin)(struct rdma_cm_id *id);
	// It is not used any more; closed if it is gone. False: not possible now.
	bool (*let_go)(struct verbs_open *o);
};
extern const struct verbs_look_ops verbs_look_system;

struct verbs_look {
	pthread_mutex_t lock;
	struct list open;
	const struct verbs_look_ops *ops;
};

void verbs_look_init(struct verbs_look *l, const struct verbs_look_ops *ops);
// The device of id is used until verbs_look_unuse(), and may be used again after it. -ENODEV: it is
// gone; -ENOMEM.
int verbs_look_use(struct verbs_look *l, struct verbs_open **ret, struct rdma_cm_id *id);
void verbs_look_unuse(struct verbs_look *l, struct verbs_open *o);
// Looks for each device; one that is gone and not used is closed.
void verbs_look(struct verbs_look *l);
bool verbs_open_is_gone(const struct verbs_open *o);
