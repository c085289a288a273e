// SPDX-License-Identifier: BSD-2-Clause
// The status page: asks for status.json every second and draws it. The daemon keeps the history,
// so that the graphs are complete when the page opens. Text from the daemon never becomes markup.
"use strict";
const kinds = ["read", "write", "other"];
const at = id => document.getElementById(id);
let last = null;

function make(tag, text, name) {
	const e = document.createElement(tag);
	if (text !== undefined) e.append(text);
	if (name) e.className = name;
	return e;
}
// The text of a name or message, which may break after punctuation: neither within a word nor within
// an address.
function breakable(text) {
	const out = document.createDocumentFragment();
	text.split(/(?<=\S[:,/_-])(?=[^\s.:,/_-])(?!\d+(?:$|[\s,)\]]))|(?<=\.)(?=[a-zA-Z])/).forEach((part, i) => {
		if (i) out.append(make("wbr"));
		out.append(part);
	});
	return out;
}

// A line and a smaller one below it.
function pair(text, below) {
	return [breakable(text), make("span", breakable(below), "two")];
}

// ---- numbers ----

function count(v) {
	return v >= 1e6 ? (v / 1e6).toFixed(2) + " M" : v >= 1e4 ? (v / 1e3).toFixed(1) + " k"
		: v.toFixed(v && v < 10 ? 1 : 0);
}
function rate(v) {
	return v >= 1e9 ? [(v / 1e9).toFixed(2), "GB/s"] : [(v / 1e6).toFixed(v && v < 1e8 ? 1 : 0), "MB/s"];
}
function time(us) {
	if (us === null) return "–";
	return us < 1000 ? us.toFixed(us < 10 ? 1 : 0) + " µs" : us < 1e6 ? (us / 1e3).toFixed(1) + " ms"
		: (us / 1e6).toFixed(1) + " s";
}
function span(s) {
	return s < 60 ? s + " s" : s < 3600 ? Math.floor(s / 60) + " min" : s < 86400
		? Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min"
		: Math.floor(s / 86400) + " d " + Math.floor(s % 86400 / 3600) + " h";
}
function size(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let i = 0;
	while (bytes >= 1024 && i < 5) { bytes /= 1024; i++; }
	return bytes.toFixed(i && bytes < 100 ? 1 : 0) + " " + units[i];
}
function number(n, one, many) {
	return n + " " + (n === 1 ? one : many || one + "s");
}

// What happened between two readings of one object's counters.
function change(now, before, seconds) {
	const ret = { iops: 0, read: 0, write: 0, latency: [] };
	if (!before || seconds <= 0) return ret;
	for (const kind of kinds) {
		const a = now[kind], b = before[kind];
		ret.iops += Math.max(0, a.commands - b.commands) / seconds;
		if (kind !== "other") ret[kind] = Math.max(0, a.bytes - b.bytes) / seconds;
		a.latency_log2_us.forEach((n, i) =>
			ret.latency[i] = (ret.latency[i] || 0) + Math.max(0, n - b.latency_log2_us[i]));
	}
	return ret;
}
// Bucket i counts commands below 2^i us; linear within a bucket.
function quantile(buckets, q) {
	const total = buckets.reduce((a, b) => a + b, 0);
	if (!total) return null;
	let left = q * total;
	for (let i = 0; i < buckets.length; i++) {
		if (left <= buckets[i]) {
			const low = i ? 2 ** (i - 1) : 0;
			return low + (2 ** i - low) * left / buckets[i];
		}
		left -= buckets[i];
	}
	return 2 ** (buckets.length - 1);
}
function add(sum, more) {
	sum.iops += more.iops; sum.read += more.read; sum.write += more.write;
	more.latency.forEach((n, i) => sum.latency[i] = (sum.latency[i] || 0) + n);
	return sum;
}

// ---- health ----

const waitingPortals = n => number(n, "portal") + " waiting";
// Classes of broken nodes: the tag, and the sentence about n of them.
const problemKinds = {
	"storage": ["disk", n => number(n, "disk needs", "disks need") + " attention"],
	"kept.storage": ["disk", n => number(n, "disk") + " of unsupported type"],
	"target": ["target", n => number(n, "target") + " waiting"],
	"srpt_target": ["SRP target", n => number(n, "SRP target") + " disabled or without portals"],
	"kept.target": ["target", n => number(n, "target") + " of unsupported fabric"],
	"tpg": ["portal group", n => number(n, "portal group") + " disabled"],
	"portal": ["portal", waitingPortals],
	"srpt_portal": ["portal", waitingPortals],
	"acl": ["ACL", n => number(n, "ACL") + " without credentials"],
};
const recentSeconds = 600;

// Of a portal group, which is the target for SRP.
const groupKinds = ["tpg", "srpt_target"];

// "/iscsi/TARGET/tpg1/acls/NAME", "/srpt/TARGET/acls/NAME": the name, and where it is.
function placeOf(path) {
	const [root, first, second, third, ...rest] = path.slice(1).split("/");
	if (root === "srpt" && third) return [[third, ...rest].join("/"), first];
	if (root === "backstores") return [first + "/" + path.split("/").slice(3).join("/"), ""];
	if (rest.length) return [rest.join("/"), first + " " + second];
	return second ? [second, first] : [first || path, ""];
}

function drawHealth(s) {
	const h = s.health, sums = new Map(), list = at("health-list");
	const recent = s.refusals.filter(r => r.last > s.time - recentSeconds);
	const line = (tag, name, where, text, state) => {
		const li = make("li"), label = make("b");
		label.append(...pair(name, where));
		li.append(make("span", tag, "tag " + state), label, make("span", breakable(text)));
		list.append(li);
	};
	list.replaceChildren();
	for (const p of h.problems) {
		const [tag, sentence] = problemKinds[p.class] || ["other", n => number(n, "other problem")];
		sums.set(sentence, (sums.get(sentence) || 0) + 1);
		if (list.childElementCount < 10)
			line(tag, ...placeOf(p.path), p.text, groupKinds.includes(p.class) ? "warn" : "bad");
	}
	if (h.problem_count > list.childElementCount)
		line("more", (h.problem_count - list.childElementCount) + " more", "", "see the tree below", "bad");
	for (const r of recent.slice(0, 3))
		line("refused", r.initiator || r.peer, r.target, r.reason, "warn");
	const title = [...sums].map(([sentence, n]) => sentence(n));
	if (h.problem_count > h.problems.length) title.unshift(h.problem_count + " problems");
	if (recent.length)
		title.push(number(recent.length, "initiator") + " refused in the last 10 minutes");
	const n = h.nodes, isEmpty = !n.storage && !n.target && !title.length;
	const isBad = h.problems.some(p => !groupKinds.includes(p.class));
	at("health").className = "health " + (isEmpty ? "" : isBad ? "bad" : title.length ? "warn" : "good");
	at("health-title").textContent = title.join(" · ") ||
		(isEmpty ? "Nothing is configured yet" : "All services available");
	at("health-counts").textContent = [number(n.storage, "disk"), number(n.target, "target"),
		number(n.portal, "portal"), number(n.acl, "ACL"),
		...(h.luns_unavailable ? [number(h.luns_unavailable, "LUN") + " without storage"] : [])].join(" · ");
	document.title = (isBad ? "✗ " : "") + (s.host || "farblock") + " · farblock";
}

// ---- tables ----

// heads: [text, class] of each column. A row that ends early has a last cell over the rest.
function table(id, heads, rows, none) {
	if (!rows.length) {
		at(id).replaceChildren(make("div", none, "none"));
		return;
	}
	const t = make("table"), top = make("tr");
	for (const [text, name] of heads) top.append(make("th", text, name === "title name" ? "name" : name));
	t.append(top);
	for (const cells of rows) {
		const r = make("tr");
		cells.forEach((cell, i) => {
			const d = make("td", undefined, heads[i][1] || ""), v = make("span");
			d.dataset.head = heads[i][0];
			if (cell instanceof Node) v.append(cell);
			else if (Array.isArray(cell)) v.append(...pair(...cell));
			else v.append(/name|wrap/.test(heads[i][1]) ? breakable(cell) : cell);
			if (i + 1 === cells.length && cells.length < heads.length) {
				d.colSpan = heads.length - i;
				d.className = "wrap cause-cell";
			}
			d.append(v);
			r.append(d);
		});
		t.append(r);
	}
	at(id).replaceChildren(t);
}
function rates(c) {
	return [count(c.iops), rate(c.read).join(" "), rate(c.write).join(" "),
		time(quantile(c.latency, .5)), time(quantile(c.latency, .99))];
}
const rateHeads = [["IOPS", "n"], ["read", "n"], ["written", "n"], ["p50", "n"], ["p99", "n"]];

function drawSessions(s, before, seconds) {
	const old = new Map((before ? before.sessions : []).map(o => [o.sid, o]));
	table("session-table", [["initiator", "title name"], ["target", "name"], ["transport", "full"], ["authentication", "full"],
		...rateHeads, ["in flight", "n"], ["age", "n"], ["sid", "n"]],
		s.sessions.map(o => [[o.initiator, o.alias ? o.alias + " · " + o.peer : o.peer],
			[o.target, o.type === "Discovery" ? "discovery" : "tpg" + o.tpg + " · " + number(o.lun_count, "LUN")],
			[o.transport, o.carrier === o.transport ? "" : o.carrier],
			[o.auth, (o.dynamic_acl ? "dynamic" : "static") + " ACL"],
			...rates(change(o, old.get(o.sid), seconds)),
			o.commands_in_flight + " / " + o.window, span(o.age_s), String(o.sid)]),
		"No initiator is logged in.");
}
function drawDisks(s, before, seconds) {
	const rows = [], sum = { iops: 0, read: 0, write: 0, latency: [] };
	const broken = new Map(s.health.problems.filter(p => p.class.endsWith("storage")).map(p => [p.path, p.text]));
	const name = (path, isBroken) => {
		const v = make("span", breakable(path.replace("/backstores/", "")));
		if (isBroken) v.append(make("span", "problem", "tag bad"));
		return v;
	};
	for (const [path, disk] of Object.entries(s.storage_objects)) {
		const c = change(disk, before && before.storage_objects[path], seconds);
		add(sum, c);
		rows.push([broken.has(path) ? 1e12 : c.iops, [name(path, broken.has(path)), size(disk.size),
			disk.cache || "", ...rates(c), String(disk.errors)]]);
		broken.delete(path);
	}
	for (const [path, text] of broken)
		rows.push([1e13, [name(path, true), make("span", breakable(text), "cause")]]);
	rows.sort((a, b) => b[0] - a[0]);
	const most = 200;
	table("disk-table", [["disk", "title name"], ["size", "n"], ["cache"], ...rateHeads, ["errors", "n"]],
		rows.slice(0, most).map(r => r[1]), "No disks.");
	if (rows.length > most)
		at("disk-table").append(make("div", (rows.length - most) + " more disks, all quieter", "none"));
	return sum;
}
function drawProgress(s) {
	at("progress-part").hidden = !s.progress.length;
	table("progress", [["disk", "title name"], ["operation"], ["done", "n"], [""]], s.progress.map(p => {
		const bar = make("progress");
		bar.max = 100;
		bar.value = p.percent;
		return [p.storage_object.replace("/backstores/", ""), p.operation, p.percent.toFixed(1) + " %", bar];
	}), "");
}
function drawRefusals(s) {
	at("refusal-part").hidden = !s.refusals.length;
	table("refusals", [["initiator", "title name"], ["target", "name"], ["status", "full"], ["reason", "wrap"],
		["times", "n"], ["last", "n"]],
		s.refusals.slice(0, 10).map(r => [[r.initiator || "(no name)", r.peer], r.target || "(discovery)",
			make("span", r.status.toString(16).padStart(4, "0"), "tag bad"), r.reason,
			String(r.count), span(Math.max(0, s.time - r.last)) + " ago"]), "");
}

// ---- numbers and graphs ----

function put(id, value, unit) {
	at(id).replaceChildren(value, ...(unit ? [make("span", unit, "unit")] : []));
}
function drawTotals(s, before, seconds, sum) {
	put("iops", count(sum.iops));
	put("read", ...rate(sum.read));
	put("write", ...rate(sum.write));
	put("p99", ...time(quantile(sum.latency, .99)).split(" "));
	put("sessions", String(s.sessions.length));
	let cpu = 0;
	if (before) s.workers.forEach((w, i) => {
		const b = before.workers[i];
		cpu += b ? Math.max(0, w.cpu_us - b.cpu_us) / 1e4 / seconds : 0;
	});
	put("cpu", cpu.toFixed(0), "% of one core");
}
function svgMake(tag, attributes) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
	return e;
}
// The least of 1, 2, 5, 10, 20 ... that is not below v.
function roundUp(v) {
	const power = 10 ** Math.floor(Math.log10(v));
	return [1, 2, 5, 10].map(n => n * power).find(n => n >= v * .999999);
}
const pointers = {}; // graph: where the pointer is over it, 0 to 1
// lines: [name, values], newest last; the first is drawn in the accent colour.
function drawGraph(id, h, least, format, lines) {
	const steps = 299, len = lines[0][1].length, box = at(id);
	const top = roundUp(Math.max(least, ...lines.flatMap(l => l[1])));
	const svg = svgMake("svg", { viewBox: "0 0 " + steps + " 100", preserveAspectRatio: "none" });
	for (const y of [1, 50, 99]) svg.append(svgMake("line", { x1: 0, x2: steps, y1: y, y2: y }));
	lines.forEach(([, values], i) => svg.append(svgMake("path", { class: "ab"[i],
		d: values.map((v, n) => (n ? "L" : "M") + (steps + 1 - len + n) + " " + (99 - 97 * v / top).toFixed(1)).join("") +
			(len ? "h0" : "") })));
	const key = make("div", undefined, "key"), axis = make("div", undefined, "axis");
	const pick = id in pointers ? Math.round(pointers[id] * steps) - (steps + 1 - len) : -1;
	const isPicked = pick >= 0 && pick < len;
	if (isPicked) {
		const x = steps + 1 - len + pick;
		svg.append(svgMake("line", { class: "at", x1: x, x2: x, y1: 0, y2: 100 }));
	}
	lines.forEach(([name, values], i) => {
		const k = make("span", undefined, "ab"[i]);
		k.append(make("i"), name + (isPicked ? " " + format(values[pick]) : ""));
		key.append(k);
	});
	key.append(make("span", isPicked ? span((len - 1 - pick) * h.step_s) + " ago" : "max " + format(top), "most"));
	axis.append(make("span", span((steps + 1) * h.step_s) + " ago"), make("span", "now"));
	box.replaceChildren(key, svg, axis);
}
function drawGraphs(h) {
	drawGraph("throughput", h, 1e6, v => rate(v).join(" "), [["read", h.read], ["written", h.written]]);
	drawGraph("commands", h, 10, v => count(v) + " per second", [["commands", h.commands]]);
}
for (const id of ["throughput", "commands"]) {
	at(id).addEventListener("pointermove", e => {
		const r = at(id).querySelector("svg")?.getBoundingClientRect();
		if (r) pointers[id] = (e.clientX - r.left) / r.width;
		if (last) drawGraphs(last.history);
	});
	at(id).addEventListener("pointerleave", () => {
		delete pointers[id];
		if (last) drawGraphs(last.history);
	});
}

// ---- the tree ----

let treeText = "";
const shut = new Map(); // path: what the user chose
function drawTree(s) {
	const text = JSON.stringify(s.tree);
	if (text === treeText) return;
	treeText = text;
	const many = 40;
	const node = (n, above) => {
		const li = make("li"), row = make("div", undefined, "row"), path = above + "/" + n.name;
		const state = n.healthy === undefined ? "" : n.healthy ? "good" : "bad";
		row.append(make("b", breakable(n.name)), make("i", undefined, "fill"));
		if (n.summary) row.append(make("span", breakable("[" + n.summary + "]"), state));
		if (!n.children || !n.children.length) {
			li.append(row);
			return li;
		}
		const fold = make("details"), top = make("summary"), list = make("ul");
		fold.open = !(shut.has(path) ? shut.get(path) : n.class === "alua" || n.children.length > many);
		top.addEventListener("click", () => shut.set(path, fold.open));
		top.append(row);
		list.append(...n.children.map(c => node(c, path)));
		fold.append(top, list);
		li.append(fold);
		return li;
	};
	const list = make("ul");
	list.append(node(s.tree, ""));
	at("tree").replaceChildren(list);
}

// ---- every second ----

function draw(s) {
	const seconds = last ? (s.clock_us - last.clock_us) / 1e6 : 0;
	at("host").textContent = s.host || "farblock";
	at("version").textContent = "farblock " + s.version + " · up " + span(s.uptime_s);
	drawHealth(s);
	const sum = drawDisks(s, last, seconds);
	drawSessions(s, last, seconds);
	if (last) drawTotals(s, last, seconds, sum);
	drawGraphs(s.history);
	drawProgress(s);
	drawRefusals(s);
	drawTree(s);
}
function tell(state, name) {
	at("state").textContent = state;
	document.body.className = name;
}
async function look() {
	try {
		const got = await fetch("status.json", { cache: "no-store" });
		if (!got.ok) throw new Error("HTTP " + got.status);
		const s = await got.json();
		// Drawing would take the selection away from somebody who is about to copy it.
		if (!getSelection().isCollapsed) {
			tell("paused while text is selected", "paused");
		} else {
			if (!last || s.clock_us > last.clock_us) {
				draw(s);
				last = s;
			}
			tell("live, " + new Date(s.time * 1000).toLocaleTimeString(), "");
		}
	} catch (why) {
		tell("no answer (" + why.message + ")", "lost");
	}
	setTimeout(look, 1000);
}
look();
