// SPDX-License-Identifier: BSD-2-Clause
// See svg.h. Two charts, one below the other, with a common legend. SVG 1.1.
#include "initiator/bench/svg.h"

#include <math.h>

enum {
	WIDTH = 760,
	HEIGHT = 640,
	LEFT = 80,
	RIGHT = 730,
	PANEL = 200,   // height of a chart
	TOP_TIME = 90, // of the charts
	TOP_LATENCY = 390,
	POINTS_MAX = 600,    // of a line: more seconds are joined
	BINS_PER_OCTAVE = 4, // of the histogram's 32 steps
	STEPS_PER_BIN = (1 << HISTOGRAM_STEP_BITS) / BINS_PER_OCTAVE,
	BINS = HISTOGRAM_BUCKETS / STEPS_PER_BIN,
};

// A chart: values of x and y at its corners.
struct chart {
	double top, x0, x1, y1;
	bool is_log; // x
};

static double at_x(const struct chart *c, double x)
{
	double part =
		c->is_log ? log(x / c->x0) / log(c->x1 / c->x0) : (x - c->x0) / (c->x1 - c->x0);
	return LEFT + part * (RIGHT - LEFT);
}

static double at_y(const struct chart *c, double y)
{
	return c->top + PANEL - y / c->y1 * PANEL;
}

static double round_up(double v, const double *ends, unsigned count)
{
	if (!(v > 0))
		return 1;
	double unit = pow(10, floor(log10(v)));
	for (unsigned i = 0; i < count; i++)
		if (v <= ends[i] * unit * 1.0000001)
			return ends[i] * unit;
	return 10 * unit;
}

double svg_axis_end(double max)
{
	static const double ends[] = { 1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8 };
	return round_up(max, ends, sizeof ends / sizeof *ends);
}

static double tick_step(double seconds)
{
	static const double steps[] = { 1, 2, 5 };
	double step = round_up(seconds / 10, steps, sizeof steps / sizeof *steps);
	return step < 1 ? 1 : step;
}

// --- frame ---

static void escaped(FILE *f, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '<' || c == '&' || c == '>' || c == '"' || c < 0x20 || c > 0x7e)
			fprintf(f, "&#%u;", c < 0x20 ? '?' : c);
		else
			fputc(c, f);
	}
}

static void head(FILE *f, const char *title)
{
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\">\n<style>\n"
		"text { font: 13px sans-serif; fill: #222 }\n"
		".title { font-size: 15px; font-weight: bold }\n"
		".mark { stroke: #666; stroke-width: 1; stroke-dasharray: 4 3 }\n"
		".on { stroke: #fff; stroke-width: 4; paint-order: stroke }\n"
		".back { fill: #fff }\n.grid { stroke: #ccc; stroke-width: 1 }\n"
		".r { stroke: #0063b1; fill: none; stroke-width: 2 }\n"
		".w { stroke: #c2410c; fill: none; stroke-width: 2 }\n"
		".rf { fill: #0063b1; fill-opacity: .25 }\n"
		".wf { fill: #c2410c; fill-opacity: .25 }\n"
		"@media (prefers-color-scheme: dark) {\n"
		"text { fill: #ddd }\n.mark { stroke: #aaa }\n.on { stroke: #16181c }\n.back { "
		"fill: #16181c }\n.grid { stroke: #444 }\n"
		".r { stroke: #5db0ff }\n.w { stroke: #ff9a5c }\n"
		".rf { fill: #5db0ff }\n.wf { fill: #ff9a5c }\n}\n</style>\n"
		"<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n"
		"<text class=\"title\" x=\"20\" y=\"28\">",
		WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
	escaped(f, title);
	fprintf(f, "</text>\n");
}

static void legend(FILE *f, const struct svg_run *run)
{
	int x = LEFT;
	const struct {
		const char *name, *class;
		bool is_shown;
	} entries[] = {
		{"reads",   "r rf", run->reads->count },
		{ "writes", "w wf", run->writes->count},
	};
	for (unsigned i = 0; i < 2; i++) {
		if (!entries[i].is_shown)
			continue;
		fprintf(f,
			"<rect class=\"%s\" x=\"%d\" y=\"42\" width=\"12\" height=\"12\"/>"
			"<text x=\"%d\" y=\"53\">%s</text>\n",
			entries[i].class, x, x + 18, entries[i].name);
		x += 90;
	}
}

// The horizontal lines, their figures, and what the axes show.
static void frame(FILE *f, const struct chart *c, const char *x_text, const char *y_text)
{
	for (int i = 0; i <= 4; i++) {
		double v = c->y1 * i / 4, y = at_y(c, v);
		fprintf(f,
			"<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n",
			LEFT, y, RIGHT, y, LEFT - 8, y + 4, v);
	}
	fprintf(f,
		"<text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n"
		"<text x=\"%d\" y=\"%.1f\">%s</text>\n",
		(LEFT + RIGHT) / 2, c->top + PANEL + 40, x_text, LEFT, c->top - 12, y_text);
}

static void tick(FILE *f, const struct chart *c, double x, const char *text)
{
	fprintf(f,
		"<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
		"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
		at_x(c, x), c->top, at_x(c, x), c->top + PANEL, at_x(c, x), c->top + PANEL + 18,
		text);
}

// --- throughput over time ---

// A point's mean rate in MB/s; a point is `each` seconds.
static double rate_at(const struct svg_run *run, unsigned point, unsigned each, bool is_write)
{
	uint64_t sum = 0;
	unsigned from = point * each, n = 0;
	for (; n < each && from + n < run->second_count; n++)
		sum += is_write ? run->seconds[from + n].writes : run->seconds[from + n].reads;
	return n ? (double)sum / n * run->bytes / 1e6 : 0;
}

static void rate_line(FILE *f, const struct chart *c, const struct svg_run *run, unsigned each,
		      bool is_write)
{
	unsigned points = (run->second_count + each - 1) / each;
	fprintf(f, "<path class=\"%s\" d=\"", is_write ? "w" : "r");
	// A horizontal piece for each point: a run of one second has a line, too.
	for (unsigned i = 0; i < points; i++) {
		double y = at_y(c, rate_at(run, i, each, is_write)), end = (i + 1.0) * each;
		end = end > run->second_count ? run->second_count : end;
		fprintf(f, "%c%.1f %.1fH%.1f", i ? 'L' : 'M', at_x(c, (double)i * each), y,
			at_x(c, end));
	}
	fprintf(f, "\"/>\n");
}

static void throughput(FILE *f, const struct svg_run *run)
{
	unsigned each = run->second_count / POINTS_MAX + 1;
	double most = 0, seconds = run->second_count ? run->second_count : 1;
	for (unsigned i = 0; i * each < run->second_count; i++)
		for (int w = 0; w < 2; w++)
			most = fmax(most, rate_at(run, i, each, w));
	struct chart c = { TOP_TIME, 0, seconds, svg_axis_end(most), false };
	frame(f, &c, "time (s)", "throughput (MB/s)");
	for (double x = 0, step = tick_step(seconds); x <= seconds; x += step) {
		char text[32];
		snprintf(text, sizeof text, "%.6g", x);
		tick(f, &c, x, text);
	}
	if (run->reads->count && run->second_count)
		rate_line(f, &c, run, each, false);
	if (run->writes->count && run->second_count)
		rate_line(f, &c, run, each, true);
}

// --- latencies ---

static double share(const struct histogram *h, unsigned bin)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < STEPS_PER_BIN; i++)
		sum += h->buckets[bin * STEPS_PER_BIN + i];
	return h->count ? (double)sum * 100 / (double)h->count : 0;
}

// The outline of its bins, filled: two of them stay readable over each other.
static void outline(FILE *f, const struct chart *c, const struct histogram *h, const char *class)
{
	if (!h->count)
		return;
	fprintf(f, "<path class=\"%s\" d=\"M%d %.1f", class, LEFT, c->top + PANEL);
	for (unsigned i = 0; i < BINS; i++) {
		double from = fmax(histogram_bucket_us(i * STEPS_PER_BIN), c->x0);
		double to = fmin(histogram_bucket_us((i + 1) * STEPS_PER_BIN), c->x1);
		if (from < to)
			fprintf(f, "V%.1fH%.1f", at_y(c, share(h, i)), at_x(c, to));
	}
	fprintf(f, "V%.1fZ\"/>\n", c->top + PANEL);
}

static void latency_text(char *ret, size_t size, double us, int digits)
{
	if (us >= 1e6)
		snprintf(ret, size, "%.*g s", digits, us / 1e6);
	else if (us >= 1e3)
		snprintf(ret, size, "%.*g ms", digits, us / 1e3);
	else
		snprintf(ret, size, "%.*g us", digits, us);
}

// Where shares of all commands have ended: the tail is too thin to be seen.
static void marks(FILE *f, const struct chart *c, const struct svg_run *run)
{
	static const struct {
		const char *name;
		double share;
	} rows[] = {
		{"p50",	 0.5  },
		{ "p99",	 0.99 },
		 { "p99.9", 0.999}
	};
	struct histogram all = *run->reads;
	histogram_merge(&all, run->writes);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows && all.count; i++) {
		double us = histogram_us(&all, rows[i].share);
		double x = at_x(c, fmin(fmax(us, c->x0), c->x1));
		bool is_left = x > RIGHT - 110; // of its line
		char text[32];
		latency_text(text, sizeof text, us, 3);
		fprintf(f,
			"<line class=\"mark\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"on\" x=\"%.1f\" y=\"%.1f\"%s>%s %s</text>\n",
			x, c->top, x, c->top + PANEL, is_left ? x - 5 : x + 5, c->top + 16 + 18 * i,
			is_left ? " text-anchor=\"end\"" : "", rows[i].name, text);
	}
}

static void latencies(FILE *f, const struct svg_run *run)
{
	const struct histogram *both[] = { run->reads, run->writes };
	double low = 0, high = 0, most = 0;
	for (unsigned i = 0; i < 2; i++) {
		const struct histogram *h = both[i];
		if (!h->count)
			continue;
		low = !low || (double)h->min_ns < low ? (double)h->min_ns : low;
		high = fmax(high, (double)h->max_ns);
		for (unsigned bin = 0; bin < BINS; bin++)
			most = fmax(most, share(h, bin));
	}
	// Whole decades, at least one.
	double x0 = low > 100 ? pow(10, floor(log10(low / 1e3))) : 0.1;
	double x1 = pow(10, ceil(log10(fmax(high / 1e3, x0 * 10))));
	struct chart c = { TOP_LATENCY, x0, x1, svg_axis_end(most), true };
	frame(f, &c, "latency (logarithmic)", "share of the commands (%)");
	for (double x = x0; x <= x1 * 1.01; x *= 10) {
		char text[32];
		latency_text(text, sizeof text, x, 6);
		tick(f, &c, x, text);
	}
	outline(f, &c, run->reads, "r rf");
	outline(f, &c, run->writes, "w wf");
	marks(f, &c, run);
}

void svg_write(FILE *f, const struct svg_run *run)
{
	head(f, run->title);
	legend(f, run);
	throughput(f, run);
	latencies(f, run);
	fprintf(f, "</svg>\n");
}
