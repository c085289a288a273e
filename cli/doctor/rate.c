// SPDX-License-Identifier: BSD-2-Clause
// Link rates by their names in sysfs, with expected throughput. Data rates are after encoding
// (8b/10b up to QDR, 64b/66b from FDR10 on); the last column is what RDMA reaches at best.
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "core/json/json.h"

// clang-format off
static const struct rate {
	const char *name;	     // as in "40 Gb/sec (4X QDR)"
	const char *sysfs;	     // with its lanes
	double data_gbit, gbyte;     // Gb/s of data, GB/s at most
	const char *reached;	     // GB/s
} rates[] = {
	{ "SDR", "10 Gb/sec (4X SDR)", 8, 1.00, "0.95" },
	{ "DDR", "20 Gb/sec (4X DDR)", 16, 2.00, "1.9" },
	{ "QDR", "40 Gb/sec (4X QDR)", 32, 4.00, "3.2 to 3.9; at most 3.3 over PCIe 2.0 x8" },
	{ "FDR10", "40 Gb/sec (4X FDR10)", 40, 5.00, "4.7" },
	{ "FDR", "56 Gb/sec (4X FDR)", 54.5, 6.82, "6.0 to 6.6" },
	{ "EDR", "100 Gb/sec (4X EDR)", 100, 12.5, "12.0" },
	{ "HDR100", "100 Gb/sec (2X HDR)", 100, 12.5, "12" },
	{ "HDR", "200 Gb/sec (4X HDR)", 200, 25, "24.3" },
	{ "NDR200", "200 Gb/sec (2X NDR)", 200, 25, "24" },
	{ "NDR", "400 Gb/sec (4X NDR)", 400, 50, "48" },
};
// clang-format on

void doctor_show_rates(FILE *out)
{
	fprintf(out, "%-6s %-21s %10s %8s  %s\n", "link", "as sysfs shows it", "data Gb/s", "GB/s",
		"GB/s reached by RDMA");
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
		fprintf(out, "%-6s %-21s %10.1f %8.2f  %s\n", rates[i].name, rates[i].sysfs,
			rates[i].data_gbit, rates[i].gbyte, rates[i].reached);
}

struct json_object *doctor_rates_json(void)
{
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		struct json_object *o = json_object_new_object();
		json_put_text(o, "link", rates[i].name);
		json_put_text(o, "sysfs", rates[i].sysfs);
		json_object_object_add(o, "data_gbit_s",
				       json_object_new_double(rates[i].data_gbit));
		json_object_object_add(o, "gbyte_s", json_object_new_double(rates[i].gbyte));
		json_put_text(o, "reached", rates[i].reached);
		json_object_array_add(list, o);
	}
	return list;
}

// "40 Gb/sec (4X QDR)": lanes and the row; false: another text.
static bool parse(const char *text, unsigned *ret_lanes, const struct rate **ret)
{
	const char *open = strchr(text, '(');
	char *end;
	if (!open)
		return false;
	*ret_lanes = (unsigned)strtoul(open + 1, &end, 10);
	if (*end != 'X' || end[1] != ' ' || !*ret_lanes || *ret_lanes > 12)
		return false;
	size_t len = strcspn(end + 2, ")");
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
		if (strlen(rates[i].name) == len && !strncmp(rates[i].name, end + 2, len)) {
			*ret = &rates[i];
			return true;
		}
	return false;
}

void check_rate(struct doctor *d, const struct doctor_port *p)
{
	char text[64];
	unsigned lanes;
	const struct rate *r;
	if (!doctor_read(d, text, sizeof text, "%s/rate", p->path))
		return;
	if (!parse(text, &lanes, &r)) {
		doctor_ok(d, p->object, "%s", text);
		return;
	}
	struct finding f =
		doctor_judge(lanes != 1 || !p->is_infiniband, DOCTOR_WARN, p->object,
			     "only one of four lanes works: the cable or a plug is faulty",
			     "replace the cable; iblinkinfo shows what the link supports");
	doctor_say(d, &f, "%s: at most %.2f GB/s of data", text, r->gbyte * lanes / 4);
}

double doctor_port_rate(struct doctor *d, const struct doctor_port *p)
{
	char text[64];
	unsigned lanes;
	const struct rate *r;
	bool is_known =
		doctor_read(d, text, sizeof text, "%s/rate", p->path) && parse(text, &lanes, &r);
	return is_known ? r->gbyte * 1e9 * lanes / 4 : 0;
}
