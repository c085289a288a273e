// SPDX-License-Identifier: BSD-2-Clause
// The saved file: when it is replaced, and detection of edits. Control thread.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/config/change.h"
#include "target/config/file.h"
#include "target/config/model.h"

bool model_is_empty(const struct config *c)
{
	for (unsigned i = 0; i < c->type_count; i++)
		if (c->types[i].node.child_count)
			return false;
	// Content that could not be read and is kept for the saved file.
	if (json_field(c->root.kept, "targets") || json_field(c->root.kept, "storage_objects"))
		return false;
	// Kept fabrics are next to backstores, iscsi and srpt.
	return !c->iscsi.child_count && !c->srpt.child_count && c->root.child_count <= 3 &&
	       c->backstores.child_count == c->type_count;
}

static bool is_same_file(const struct config *c, const char *file)
{
	struct stat st;
	return stat(file, &st) < 0 || ((uint64_t)st.st_ino == c->saved.inode &&
				       st.st_mtim.tv_sec == c->saved.mtime.tv_sec &&
				       st.st_mtim.tv_nsec == c->saved.mtime.tv_nsec);
}

void config_note_file(struct config *c)
{
	struct stat st;
	if (stat(c->file, &st) < 0)
		return;
	c->saved.inode = st.st_ino;
	c->saved.mtime = st.st_mtim;
}

const char *config_named_file(const struct config *c, const char *path)
{
	char *named = path ? realpath(path, NULL) : NULL;
	char *own = named ? realpath(c->file, NULL) : NULL;
	bool is_own = !path || (own && !strcmp(named, own));
	free(named);
	free(own);
	return is_own ? c->file : path;
}

// Whether the file contains objects, or something that we cannot read and must not replace.
static bool has_objects(const char *file)
{
	char *text;
	size_t len;
	int r = file_read(file, &text, &len, NULL);
	if (r < 0)
		return r != -ENOENT;
	struct json_object *doc = json_read(text, len, file, NULL);
	struct json_object *a = json_field(doc, "storage_objects"), *b = json_field(doc, "targets");
	bool has = !doc ||
		   (json_object_is_type(a, json_type_array) && json_object_array_length(a)) ||
		   (json_object_is_type(b, json_type_array) && json_object_array_length(b));
	json_object_put(doc);
	free(text);
	return has;
}

static int write_tree(struct config *c, const char *file, int backups, struct err *e)
{
	size_t len;
	char *text = save_text(c, &len);
	if (!text)
		return err_set(e, -ENOMEM, "%s: out of memory", file);
	int r = file_write(file, text, len, backups, e);
	explicit_bzero(text, len);
	free(text);
	return r;
}

static void note_change(struct config *c, struct json_object *change)
{
	json_object_put(c->change.saved);
	c->change.saved = change;
}

int config_save(struct config *c, const char *file, bool may_be_empty, struct err *e)
{
	bool is_ours = !strcmp(file, c->file), is_kept = is_ours && !c->skips_backup;
	bool is_edited = false;
	if (model_is_empty(c) && !may_be_empty && has_objects(file))
		return err_set(
			e, -EPERM,
			"%s: not empty, and the running configuration is empty (restoreconfig to "
			"read it, clearconfig confirm=true to drop it)",
			file);
	if (is_ours && !is_same_file(c, file)) {
		is_edited = true;
		log_warn("%s: changed by another program; that version is kept in backup/", file);
		is_kept = true;
	}
	struct json_object *before = json_object_get(c->change.saved);
	if (is_kept) // otherwise undo would skip the origin of the edited file
		note_change(c, change_json(c));
	if (is_edited)
		change_mark_edit(c->change.saved);
	c->generation += is_ours;
	int r = write_tree(c, file,
			   is_kept   ? (int)c->prefs.max_backup_files
			   : is_ours ? FILE_NO_BACKUP
				     : FILE_ELSEWHERE,
			   e);
	if (r < 0) {
		c->generation -= is_ours;
		note_change(c, before);
		return r;
	}
	json_object_put(before);
	c->has_replaced_edit |= is_edited;
	if (is_ours)
		config_note_file(c);
	return 0;
}
