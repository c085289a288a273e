// SPDX-License-Identifier: BSD-2-Clause
// A schema in the daemon's form, and a tree of three nodes, for tests of the shell.
#pragma once

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/edit/complete.h"

#define ROW(name, type, rest) "{\"name\":\"" name "\",\"type\":\"" type "\"" rest "}"

static const char
	schema_text[] = "{\"every_node\":["
			" {\"name\":\"set\",\"help\":\"h\",\"params\":["
			"   " ROW("group",
				  "group", ",\"required\":true") "]},"
								 " {\"name\":\"info\",\"help\":"
								 "\"h\",\"params\":[]}],"
								 "\"classes\":{"
								 " \"root\":{\"commands\":[],"
								 "\"groups\":{\"global\":["
								 "   " ROW("auto_save",
									   "bool", ",\"range\":\"0 or 1\"") "]}},"
													    " \"ramdisk\":{\"commands\":["
													    "  {\"name\":\"create\",\"help\":\"makes one\",\"params\":["
													    "   " ROW("name", "string", ",\"required\":true") ","
																			      "   " ROW("size", "size", ",\"required\":true") ","
																									      "   " ROW("nullio", "bool", ",\"required\":false,\"default\":\"false\"") ","
																																		       "   " ROW("mode", "string", ",\"choices\":\"fast|slow|safe\"") ","
																																										      "   " ROW("dev",
																																												"file",
																																												",\"alias\":\"file_or_dev\"") "]},"
																																															      "  {\"name\":\"delete\",\"help\":\"h\",\"params\":["
																																															      "   " ROW("name", "child", ",\"required\":true") "]}],"
																																																					       " \"groups\":{"
																																																					       "  \"attribute\":["
																																																					       "   " ROW("block_size",
																																																							 "number", ",\"range\":\"512..4096\",\"unit\":\"bytes\",\"default\":\"512\"") ","
																																																																      "   " ROW("state",
																																																																		"choice", ",\"range\":\"good|bad\"") ","
																																																																						     "   " ROW(
																																																																							     "hw",
																																																																							     "number",
																																																																							     ",\"readonly\":true") "],"
																																																																										   "  \"auth\":["
																																																																										   "   " ROW("userid", "string", "") ","
																																																																														     "   " ROW("password", "string", ",\"secret\":true") ","
																																																																																					 "   " ROW("token",
																																																																																						   "string",
																																																																																						   ",\"secret\":true") "]}}}}";

static struct json_object *fake_schema(void)
{
	struct json_object *o = json_tokener_parse(schema_text);
	struct json_object *root =
		json_field(json_field(json_field(o, "classes"), "root"), "groups");
	json_object_object_add(o, "every_node_groups", json_object_get(root));
	json_object_object_add(o, "shell", shell_commands_json(shell_commands));
	return o;
}

static inline char *fake_class(void *arg, const char *path)
{
	return !strcmp(path, "/")     ? strdup("root")
	       : !strcmp(path, "/rd") ? strdup("ramdisk")
				      : NULL;
}

static inline struct json_object *fake_children(void *arg, const char *path)
{
	return json_tokener_parse(!strcmp(path, "/") ? "[{\"text\":\"rd\"},{\"text\":\"iscsi\"}]"
						     : "[{\"text\":\"disk 1\"}]");
}

static inline struct json_object *fake_files(void *arg, const char *prefix)
{
	return json_tokener_parse("[{\"text\":\"/dev/\"},{\"text\":\"/data file\"}]");
}

static inline struct json_object *fake_bookmarks(void *arg)
{
	return json_tokener_parse("[{\"text\":\"@disks\",\"note\":\"/rd\"}]");
}

static inline char *fake_bookmark(void *arg, const char *name)
{
	return !strcmp(name, "disks") ? strdup("/rd") : NULL;
}

// Returns its request, so that tests can check it.
static inline struct json_object *fake_values(void *arg, const char *path, const char *command,
					      const char *parameter, const char *prefix)
{
	struct json_object *list = json_object_new_array(), *o = json_object_new_object();
	char *text = NULL;
	if (asprintf(&text, "%s.%s.%s", path + 1, command, parameter) > 0)
		json_object_object_add(o, "text", json_object_new_string(text));
	free(text);
	json_object_array_add(list, o);
	return list;
}

static inline struct complete_source fake_source(struct json_object *schema, const char *cwd)
{
	return (struct complete_source){
		.schema = schema,
		.cwd = cwd,
		.bookmark = fake_bookmark,
		.class_of = fake_class,
		.children = fake_children,
		.files = fake_files,
		.bookmarks = fake_bookmarks,
		.values = fake_values,
	};
}
