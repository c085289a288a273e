// SPDX-License-Identifier: BSD-2-Clause
// export: one line that shares a disk, and what it prints for those who attach it.
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct json_object;

enum { EXPORT_SECRET_SIZE = 17 };

struct export
{
	char *device;		      // from / on
	const char *size;	      // of a file that is made
	const char *initiator, *user; // who may log in, and its CHAP name
	const char *portal;	      // address[:port] that the lines name
	const char *password;	      // made when none is given
	bool is_readonly, has_iser;
	char name[64]; // of the storage object
	char target[224], lun[8];
	char secret[EXPORT_SECRET_SIZE]; // that was made, "" none
	char address[80], port[8];	 // of portal
};

// What attaches the disk, for several programs. Secrets are in it once: where one was made.
void export_lines(const struct export *x, FILE *out);
// The same for programs. For json_object_put().
struct json_object *export_json(const struct export *x);
