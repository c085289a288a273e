// SPDX-License-Identifier: BSD-2-Clause
// A class is described once: a fabric of this test has targets with one row, and everything that
// concerns a setting follows from that row.
#include "target/config/config_bench.h"
#include "target/config/file/document.h"
#include "target/config/file/restore.h"

struct toy {
	struct node node;
	uint32_t colour;
};

static const char *const colours[] = { "red", "green", "blue", NULL };
static const struct attr_row rows[] = {
	{.name = "colour",
	  .type = ATTR_ENUM,
	  .max = 2,
	  .offset = offsetof(struct toy, colour),
	  .default_text = "red",
	  .choices = colours,
	  .help = "colour of the toy" },
	{ 0	    },
};
static const struct group_row groups[] = {
	{.name = "attribute",
	  .form = SAVED_NUMBERS,
	  .part = "attributes",
	  .rows = rows,
	  .offset = offsetof(struct toy, colour),
	  .size = sizeof(uint32_t) },
	{ 0},
};

static int saved_name(struct restore *r, struct node *n, struct json_object *o,
		      char out[SAVED_NAME_SIZE], struct err *e)
{
	snprintf(out, SAVED_NAME_SIZE, "%s", json_text(o, "wwn"));
	return 0;
}

static const struct node_class toy_class;

static int make(struct restore *r, struct node *n, const char *name, struct json_object *o,
		struct node **ret, struct err *e)
{
	struct toy *t = calloc(1, sizeof *t);
	node_init(&t->node, &toy_class, name);
	*ret = &t->node;
	return tree_add(r->c, n, &t->node, e, "exists");
}

static const struct saved_class toy_saved = {
	.list = "targets",
	.id = {"fabric", "wwn"},
	.between = "/",
	.name = saved_name,
	.make = make,
};
static const struct node_class toy_class = {
	.name = "toy",
	.help = "A toy",
	.groups = groups,
	.saved = &toy_saved,
	.free = tree_free,
};
static const struct saved_class shelf_saved = { .targets = &toy_class };
static const struct node_class shelf_class = {
	.name = "shelf",
	.help = "Toys",
	.counts = "Toys",
	.saved = &shelf_saved,
};

static struct node shelf;
static const struct node_class *classes[64];

static void put_on_shelf(void *arg)
{
	struct restore_options o = { .is_running = true };
	struct json_object *errors = json_object_new_array(), *doc = json_tokener_parse(arg);
	size_t n = 0;
	if (!shelf.name) {
		for (; node_classes[n]; n++)
			classes[n] = node_classes[n];
		classes[n] = &toy_class;
		config->classes = classes;
		node_init(&shelf, &shelf_class, "shelf");
		node_attach(&config->names, &config->root, &shelf);
	}
	assert_int_equal(restore_document(config, doc, &o, errors, &error), 0);
	assert_int_equal(config_commit(config, true, &error), 0);
	json_object_put(errors);
	json_object_put(doc);
}

static void clear_shelf(void *arg)
{
	while (!list_empty(&shelf.children))
		tree_remove(config, list_entry(shelf.children.next, struct node, link), &error);
	txn_commit(config);
	node_detach(&config->names, &shelf);
	node_done(&shelf);
	shelf = (struct node){ 0 };
}

static int setup_shelf(void **state)
{
	static char doc[] = "{\"targets\": [{\"fabric\": \"shelf\", \"wwn\": \"bear\"}]}";
	int r = setup(state);
	if (!r)
		worker_call(control, put_on_shelf, doc);
	return r;
}

static int teardown_shelf(void **state)
{
	worker_call(control, clear_shelf, NULL);
	return teardown(state);
}

static void it_is_got_and_set(void **state)
{
	assert_string_equal(get("/shelf/bear", "attribute", "colour"), "red");
	assert_int_equal(set("/shelf/bear", "attribute", "\"colour\": \"blue\""), 0);
	assert_string_equal(message(0), "Parameter colour is now 'blue'.");
	assert_string_equal(get("/shelf/bear", "attribute", "colour"), "blue");
}

static void a_value_outside_its_range_is_refused(void **state)
{
	assert_int_equal(set("/shelf/bear", "attribute", "\"colour\": \"pink\""), -EINVAL);
	assert_non_null(strstr(error.text, "red|green|blue"));
}

static void read_schema(void *arg)
{
	*(struct json_object **)arg = config_schema(config);
}

// Help, completion and the manual are made from it.
static void the_schema_has_it(void **state)
{
	struct json_object *schema;
	worker_call(control, read_schema, &schema);
	struct json_object *class = json_field(json_field(schema, "classes"), "toy");
	struct json_object *row =
		json_object_array_get_idx(json_field(json_field(class, "groups"), "attribute"), 0);
	assert_string_equal(json_text(row, "name"), "colour");
	assert_string_equal(json_text(row, "help"), "colour of the toy");
	assert_string_equal(json_text(row, "range"), "red|green|blue");
	assert_string_equal(json_text(row, "default"), "red");
	json_object_put(schema);
}

static void the_saved_file_has_it(void **state)
{
	assert_int_equal(set("/shelf/bear", "attribute", "\"colour\": \"green\""), 0);
	char *text = saved_text();
	assert_non_null(strstr(text, "\"colour\": \"green\""));
	free(text);
}

static void it_is_restored(void **state)
{
	static char doc[] = "{\"targets\": [{\"fabric\": \"shelf\", \"wwn\": \"cat\","
			    "\"attributes\": {\"colour\": \"blue\"}}]}";
	worker_call(control, put_on_shelf, doc);
	assert_string_equal(get("/shelf/cat", "attribute", "colour"), "blue");
}

static void a_difference_is_shown(void **state)
{
	struct json_object *lines = json_object_new_array();
	struct json_object *before = save_document(config);
	assert_int_equal(set("/shelf/bear", "attribute", "\"colour\": \"blue\""), 0);
	struct json_object *after = save_document(config);
	diff_documents(config, before, after, lines);
	assert_int_equal(json_object_array_length(lines), 1);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(lines, 0)),
			    "  /shelf/bear: attributes colour: red -> blue");
	json_object_put(before);
	json_object_put(after);
	json_object_put(lines);
}

static void undo_takes_it_back(void **state)
{
	assert_int_equal(set("/shelf/bear", "attribute", "\"colour\": \"green\""), 0);
	assert_int_equal(run("/", "undo", NULL), 0);
	assert_string_equal(message(0), "  /shelf/bear: attributes colour: green -> red");
	assert_string_equal(get("/shelf/bear", "attribute", "colour"), "red");
}

#define S(f) cmocka_unit_test_setup_teardown(f, setup_shelf, teardown_shelf)

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(it_is_got_and_set),  S(a_value_outside_its_range_is_refused),
		S(the_schema_has_it),  S(the_saved_file_has_it),
		S(it_is_restored),     S(a_difference_is_shown),
		S(undo_takes_it_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
