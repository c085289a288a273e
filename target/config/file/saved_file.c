// SPDX-License-Identifier: BSD-2-Clause
// The saved file: when it is replaced, and detection of edits. Control thread.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/config/file/document.h"
#include "target/config/file/file.h"
#include "target/config/file/saved_file.h"

bool model_is_empty(const struct config *c)
{
	// Content that could not be read and is kept for the saved file.
	if (json_field(c->root.kept, "targets") || json_field(c->root.kept, "storage_objects"))
		return false;
	list_each (const struct node, fabric, &c->root.children, link)
		if (fabric != &c->backstores && fabric->child_count)
			return false;
	list_each (const struct node, type, &c->backstores.children, link)
		if (type->child_count)
			return false;
	return true;
}

// Whether nobody has replaced the file since.
static bool is_same_file(const struct config *c)
{
	struct stat st;
	return stat(c->file, &st) < 0 || ((uint64_t)st.st_ino == c->saved->inode &&
					  st.st_mtim.tv_sec == c->saved->mtime.tv_sec &&
					  st.st_mtim.tv_nsec == c->saved->mtime.tv_nsec);
}

void config_note_file(struct config *c)
{
	struct stat st;
	if (stat(c->file, &st) < 0)
		return;
	c->saved->inode = st.st_ino;
	c->saved->mtime = st.st_mtim;
}

bool document_has_objects(struct json_object *doc)
{
	return json_count(json_field(doc, "storage_objects")) ||
	       json_count(json_field(doc, "targets"));
}

// Whether the saved file contains objects, or something that we cannot read and must not replace.
static bool has_objects(const char *file)
{
	struct json_object *doc = NULL;
	int r = document_read(file, &doc, &(struct err){ 0 });
	bool has = r < 0 ? r != -ENOENT : document_has_objects(doc);
	json_object_put(doc);
	return has;
}

int config_refuse_empty(const char *file, struct err *e)
{
	return err_set(e, -EPERM,
		       "%s: not empty, and the running configuration is empty (restoreconfig to "
		       "read it, clearconfig confirm=true to drop it)",
		       file);
}

static int write_tree(struct config *c, int backups, struct err *e)
{
	size_t len;
	char *text = save_text(c, &len);
	if (!text)
		return err_set(e, -ENOMEM, "%s: out of memory", c->file);
	int r = file_write(c->file, text, len, backups, e);
	explicit_bzero(text, len);
	free(text);
	return r;
}

static void note_change(struct config *c, struct json_object *change)
{
	json_object_put(c->saved->origin);
	c->saved->origin = change;
}

int config_save(struct config *c, bool may_be_empty, struct err *e)
{
	bool is_kept = !c->saved->skips_backup, is_edited = !is_same_file(c);
	if (model_is_empty(c) && !may_be_empty && has_objects(c->file))
		return config_refuse_empty(c->file, e);
	if (is_edited) {
		log_warn("%s: changed by another program; that version is kept in backup/",
			 c->file);
		is_kept = true;
	}
	struct json_object *before = json_object_get(c->saved->origin);
	if (is_kept) // otherwise undo would skip the origin of the edited file
		note_change(c, change_json(c));
	if (is_edited)
		change_mark_edit(c->saved->origin);
	c->generation++;
	int r = write_tree(c, is_kept ? (int)c->prefs.max_backup_files : FILE_NO_BACKUP, e);
	if (r < 0) {
		c->generation--;
		note_change(c, before);
		return r;
	}
	json_object_put(before);
	c->saved->has_replaced_edit |= is_edited;
	config_note_file(c);
	return 0;
}
