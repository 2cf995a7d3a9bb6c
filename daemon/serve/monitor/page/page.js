
"use strict";
// The daemon's strings are only ever set as text, never as HTML: names and messages can contain anything.
const kEveryMs = 2000, kTrainersShown = 200;
// What requests to the source waited for, by the reasons of status.json.
const kWaitReasons = {
  limit: "for the limit of requests at once", throttled: "because the store asked for fewer requests",
  unreachable: "because the store could not be reached", stalled: "for answers that stalled",
  broken: "to repeat broken answers", imitated: "for the configured throttle (read.throttle)",
  credentials: "for credentials"};
const kCauses = ["fetch", "prep", "publish", "peer", "daemon"], kStates = ["busy", "starved", "blocked"];
const open = new Set();

function make(tag, options, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options || {})) {
    if (name === "text") element.textContent = value;
    else if (name === "field") element.dataset.field = value;
    else if (name === "value") element.dataset.value = value;
    else element.className = value;
  }
  element.append(...children);
  return element;
}

const counted = (n, one) => whole(n) + " " + one + (n === 1 ? "" : "s");
const whole = (n) => Math.round(n).toLocaleString("en");
const decimal = (n) => n.toLocaleString("en", {maximumFractionDigits: n < 10 ? 2 : n < 100 ? 1 : 0});
const percent = (share) => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";
const orUnknown = (value, show) => value === null ? "not known yet" : show(value);

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let place = 0;
  for (; n >= 1024 && place < units.length - 1; ++place) n /= 1024;
  return decimal(n) + " " + units[place];
}

function time(seconds) {
  const s = Math.floor(seconds), parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([length]) => s >= length);
  if (first < 0) return decimal(seconds) + " s";
  const show = ([length, unit], before) => Math.floor((before ? s % before : s) / length) + " " + unit;
  const next = parts[first + 1];
  return show(parts[first]) + (next ? " " + show(next, parts[first][0]) : "");
}

function facts(list) {
  const element = make("dl");
  for (const [name, shown, field, value] of list) {
    element.append(make("dt", {text: name}), make("dd", field ? {text: shown, field, value} : {text: shown}));
  }
  return element;
}

// parts: [class, share, name]; the sum of the shares is at most 1.
function bar(parts) {
  const element = make("div", {class: "bar"});
  for (const [kind, share, name] of parts) {
    const part = make("i", {class: kind});
    part.style.width = 100 * share + "%";
    part.title = name + " " + percent(share);
    element.append(part);
  }
  return element;
}

function key(parts) {
  return make("div", {class: "key"}, ...parts.map(([kind, text]) => make("span", {}, make("i", {class: kind}), text)));
}

const causeClass = (cause) => cause === "daemon" ? "away" : cause;

function stalls(recent) {
  const waits = kCauses.map((cause) => [causeClass(cause), recent.waits[cause], cause]);
  const parts = [["training", 1 - recent.stall_share, "training"], ...waits];
  return make("div", {}, make("h3", {text: "What trainers do"}), bar(parts),
              key(parts.filter(([kind, share]) => kind === "training" || share >= 0.001)
                      .map(([kind, share, name]) => [kind, (kind === "training" ? name : "wait: " + name) + " " + percent(share)])));
}

function stages(recent) {
  const element = make("div", {}, make("h3", {text: "Stages"}));
  for (const stage of recent.stages) {
    element.append(make("div", {class: "row"}, stage.name,
                        bar(kStates.map((state) => [state, stage[state], stage.name + " " + state])),
                        make("span", {text: percent(stage.busy) + " busy"})));
  }
  element.append(key(kStates.map((state) => [state, state])));
  return element;
}

function table(heads, rows) {
  const element = make("table", {}, make("tr", {}, ...heads.map((text) => make("th", {text}))));
  for (const row of rows) element.append(make("tr", {}, ...row.map((text) => make("td", {text}))));
  return make("div", {class: "wide"}, element);
}

function trainers(stream) {
  const sum = (waits) => Object.values(waits).reduce((a, b) => a + b, 0);
  const worst = (waits) => sum(waits) < 0.01 ? "" : kCauses.reduce((a, b) => waits[a] >= waits[b] ? a : b);
  const rows = stream.consumers.slice(0, kTrainersShown).map((one) => [
    one.job + " " + one.rank + "/" + one.world_size, one.epoch + ":" + whole(one.step), whole(one.lag_rows), time(sum(one.wait_seconds)), worst(one.wait_seconds)]);
  const more = stream.consumers.length - rows.length;
  return make("div", {}, make("h3", {text: "Trainers"}),
              rows.length ? table(["job, rank", "epoch:step", "lag (rows)", "waited", "mostly for"], rows)
                          : make("p", {text: "none"}),
              ...(more > 0 ? [make("p", {text: "and " + whole(more) + " more"})] : []));
}

function caches(stream) {
  if (!stream.caches.length) return [];
  const rows = stream.caches.map((one) => [
    one.level, one.hits + one.misses ? percent(one.hits / (one.hits + one.misses)) : "", bytes(one.held_bytes),
    time(one.saved_seconds), whole(Object.values(one.failures).reduce((a, b) => a + b, 0))]);
  return [make("h3", {text: "Cache"}), table(["level", "hits", "holds", "saved", "failures"], rows)];
}

function source(stream) {
  const from = stream.source;
  const waits = Object.entries(from.wait_seconds).filter(([, seconds]) => seconds >= 0.001);
  const wait = ([reason, seconds]) => time(seconds) + " " + (kWaitReasons[reason] || reason);
  return [make("h3", {text: "Source: " + from.scheme}), facts([
    ["requests", whole(from.requests_ok) + " good, " + whole(from.requests_retried) + " retried, " +
      whole(from.requests_failed) + " failed", "requests_ok", from.requests_ok],
    ["mean time", orUnknown(from.mean_request_seconds, (seconds) => decimal(1000 * seconds) + " ms")],
    ["in flight", whole(from.in_flight) + (from.limit ? " of " + whole(from.limit) : "")],
    ["read", bytes(from.bytes), "source_bytes", from.bytes],
    ["requests waited", waits.length ? "in sum " + waits.map(wait).join(", ") : "not at all"]])];
}

function numbers(stream) {
  const recent = stream.recent, echo = stream.echo;
  return facts([
    ["data", counted(stream.records, "record") + " in " + counted(stream.shards, "shard"), "records", stream.records],
    ["epoch", whole(stream.rows_per_epoch) + " rows, " + whole(stream.batches_per_epoch) + " batches of " +
      whole(stream.batch_size)],
    ["echo", echo.point === "none" ? "none" : echo.point + " x " + decimal(echo.factor), "echo_factor", echo.factor],
    ["R", orUnknown(stream.upstream_downstream_ratio, decimal)],
    ["samples/s", recent ? decimal(recent.fresh_per_second) + " fresh, " + decimal(recent.echoed_per_second) +
      " echoed" : "not known yet"],
    ["batches/s", recent ? decimal(recent.batches_per_second) : "not known yet"],
    ["batches", whole(stream.batches), "batches", stream.batches],
    ["read from the store", recent ? bytes(recent.source_bytes_per_second) + "/s" : "not known yet"],
    ["bad records", whole(Object.values(stream.records_bad).reduce((a, b) => a + b, 0))],
    ["ring slots", whole(stream.ring.free) + " free, " + whole(stream.ring.filling) + " filling, " +
      whole(stream.ring.published) + " published"],
    ["memory in use", Object.entries(stream.memory_bytes).map(([use, n]) => use + " " + bytes(n)).join(", ")]]);
}

function config(stream) {
  const details = make("details", {}, make("summary", {text: "Configuration in force"}),
                       make("pre", {text: stream.config}));
  details.open = open.has(stream.name);
  details.addEventListener("toggle", () => details.open ? open.add(stream.name) : open.delete(stream.name));
  return details;
}

function card(stream) {
  const known = stream.state !== "opening", recent = stream.recent;
  const element = make("section", {}, make("div", {class: "title"}, make("h2", {text: stream.name}),
      make("span", {text: stream.state, class: "state " + stream.state})),
      make("p", {text: stream.verdict.text, class: "verdict " + stream.verdict.limit}));
  if (!known) return element;
  element.append(make("div", {class: "columns"},
      make("div", {}, ...(recent && recent.stall_share !== null ? [stalls(recent)] : []),
           ...(recent ? [stages(recent)] : []), trainers(stream)),
      make("div", {}, make("h3", {text: "Stream"}), numbers(stream), ...caches(stream), ...source(stream))),
      config(stream));
  return element;
}

function show(status) {
  const daemon = status.daemon, memory = daemon.memory;
  document.getElementById("daemon").textContent = "version " + daemon.version + ", up " + time(daemon.uptime_seconds) +
      (daemon.draining ? ", draining" : "") + "; " + bytes(memory.reserved_bytes) + " of " + bytes(memory.budget_bytes) +
      " reserved, " + bytes(memory.resident_bytes) + " in RAM; " + counted(daemon.workers, "worker") + ", " +
      counted(daemon.connections, "connection");
  document.getElementById("streams").replaceChildren(...(status.streams.length ? status.streams.map(card)
      : [make("section", {text: "no streams"})]));
}

async function refresh() {
  const trouble = document.getElementById("trouble");
  try {
    const answer = await fetch("status.json", {cache: "no-store"});
    if (!answer.ok) throw new Error("status " + answer.status);
    show(await answer.json());
    trouble.hidden = true;
  } catch (error) {
    trouble.textContent = "The daemon does not answer; this page shows old numbers. (" + error.message + ")";
    trouble.hidden = false;
  }
  setTimeout(refresh, kEveryMs);
}
refresh();
