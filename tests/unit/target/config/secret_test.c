// SPDX-License-Identifier: BSD-2-Clause
// Secrets in files of their own: who may read them, what is saved of them, and who gets in without.
#include <sys/stat.h>

#include "target/config/config_bench.h"
#include "target/config/targets/credentials.h"

#define TPG "/iscsi/iqn.2025-06.org.example:t/tpg1"

#define WITH_TARGET(f) cmocka_unit_test_setup_teardown(f, setup_target, teardown)

static char path[100];
static char secret[256];

// A file with that text and mode.
static void put(const char *text, mode_t mode)
{
	snprintf(path, sizeof path, "%s/secret", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static int read_it(void)
{
	error = (struct err){ 0 };
	return secret_read(path, secret, &error);
}

// Sets the portal group's file.
static int set_file(void)
{
	char values[200];
	snprintf(values, sizeof values, "\"userid\": \"u\", \"password_file\": \"%s\"", path);
	return set(TPG, "auth", values);
}

static int filled(struct view_auth *out)
{
	struct tpg *tpg = NODE_OF(struct tpg, config_node(config, TPG));
	error = (struct err){ 0 };
	return secret_fill(&tpg->auth, out, &error);
}

static int setup_target(void **state)
{
	int r = setup(state);
	return r ? r : run("/iscsi", "create", "[\"iqn.2025-06.org.example:t\"]");
}

static void the_first_line_is_the_secret(void **state)
{
	put("open sesame 12\nnot this\n", 0600);
	assert_int_equal(read_it(), 0);
	assert_string_equal(secret, "open sesame 12");
}

static void a_file_that_others_can_read_is_refused(void **state)
{
	put("open sesame 12\n", 0640);
	assert_int_equal(read_it(), -EACCES);
	put("open sesame 12\n", 0604);
	assert_int_equal(read_it(), -EACCES);
	assert_non_null(strstr(error.text, "chmod 600"));
	assert_string_equal(secret, "");
}

static void a_secret_is_one_line_of_255_bytes_at_most(void **state)
{
	char text[300] = "";
	memset(text, 'x', 256);
	put(text, 0600);
	assert_int_equal(read_it(), -EINVAL);
	text[255] = 0;
	put(text, 0600);
	assert_int_equal(read_it(), 0);
	put("", 0600);
	assert_int_equal(read_it(), -EINVAL);
}

static void what_is_no_regular_file_is_refused(void **state)
{
	snprintf(path, sizeof path, "%s", dir);
	assert_int_equal(read_it(), -EINVAL);
	snprintf(path, sizeof path, "relative");
	assert_int_equal(read_it(), -EINVAL);
}

static void the_saved_file_has_the_path_and_not_the_secret(void **state)
{
	put("open sesame 12\n", 0600);
	assert_int_equal(set_file(), 0);
	char *text = saved_text();
	assert_non_null(strstr(text, path));
	assert_null(strstr(text, "open sesame"));
	assert_null(strstr(text, "chap_password"));
	free(text);
}

static void the_secret_is_there_again_after_a_restart(void **state)
{
	struct view_auth v;
	put("open sesame 12\n", 0600);
	assert_int_equal(set_file(), 0);
	restart();
	assert_string_equal(get(TPG, "auth", "password_file"), path);
	assert_int_equal(filled(&v), 0);
	assert_string_equal(v.password, "open sesame 12");
}

static void a_file_that_cannot_be_read_is_not_set(void **state)
{
	snprintf(path, sizeof path, "%s/absent", dir);
	assert_int_equal(set_file(), -ENOENT);
	assert_string_equal(get(TPG, "auth", "password_file"), "");
}

static void a_password_and_a_file_are_one_too_many(void **state)
{
	put("open sesame 12\n", 0600);
	assert_int_equal(set(TPG, "auth", "\"password\": \"another one 12\""), 0);
	assert_int_equal(set_file(), -EINVAL);
	assert_non_null(strstr(error.text, "password and password_file are both set"));
}

static void credentials_whose_file_is_gone_prove_nothing(void **state)
{
	struct view_auth v;
	put("open sesame 12\n", 0600);
	assert_int_equal(set_file(), 0);
	unlink(path);
	restart();
	assert_int_equal(filled(&v), -ENOENT);
	assert_string_equal(v.userid, "u");
	assert_string_equal(v.password, "");
}

static void a_difference_of_paths_is_shown(void **state)
{
	put("open sesame 12\n", 0600);
	char other[120];
	snprintf(other, sizeof other, "[\"%s/other.json\"]", dir);
	assert_int_equal(run("/", "saveconfig", other), 0);
	assert_int_equal(set_file(), 0);
	assert_int_equal(run("/", "diff", other), 0);
	assert_non_null(strstr(json_object_to_json_string(reply.messages), "secret"));
	assert_null(
		strstr(json_object_to_json_string(reply.messages), "password_file: nothing -> *"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TARGET(the_first_line_is_the_secret),
		WITH_TARGET(a_file_that_others_can_read_is_refused),
		WITH_TARGET(a_secret_is_one_line_of_255_bytes_at_most),
		WITH_TARGET(what_is_no_regular_file_is_refused),
		WITH_TARGET(the_saved_file_has_the_path_and_not_the_secret),
		WITH_TARGET(the_secret_is_there_again_after_a_restart),
		WITH_TARGET(a_file_that_cannot_be_read_is_not_set),
		WITH_TARGET(a_password_and_a_file_are_one_too_many),
		WITH_TARGET(credentials_whose_file_is_gone_prove_nothing),
		WITH_TARGET(a_difference_of_paths_is_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
