// SPDX-License-Identifier: BSD-2-Clause
// Clients of the control socket and their transactions (begin.c). Control thread.
#pragma once

#include "target/config/tree/class.h"

// Sets the client of the following commands; without it they have no client and no transaction.
void config_set_caller(struct config *c, const struct config_client *client);
// Undoes the client's open transaction.
void config_client_gone(struct config *c, uint64_t id);

// Whether the caller has an open transaction.
bool config_has_transaction(const struct config *c);

// The number of the last saved change; and -ESTALE if the client has seen another one.
uint64_t config_revision(const struct config *c);
int config_check_revision(const struct config *c, uint64_t revision, struct err *e);
