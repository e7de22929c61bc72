import assert from "node:assert/strict";
import {test} from "node:test";

import {findingsOf} from "../../../../../relay/satpanel/assets/findings.js";

const peer = (name, state, more = {}) => ({name, state, counters: {}, ...more});
const well = () => ({
  status: {age_ms: 10, new_flows: "open", flows: 3, arena_used_bytes: 1, arena_bytes: 100},
  ports: {lan: {name: "lan", link: "up"}, wan: {name: "wan", link: "up"}},
  peers: [peer("far", "alive")],
  alarms: [],
});
const alarm = (subject, matter, more = {}) => ({
  subject,
  matter,
  severity: "warning",
  text: "is odd",
  since_ms: new Date(2026, 1, 3, 4, 5, 6).getTime(),
  ...more,
});
const texts = (overview) => findingsOf(overview).map(({what}) => what);

test("a gateway that is well has no finding", () => {
  assert.deepEqual(findingsOf(well()), []);
});

test("each thing that is wrong is found", () => {
  const found = (part, more) => texts({...well(), [part]: more});
  const status = (more) => found("status", {...well().status, ...more});
  assert.match(status({age_ms: 3000})[0], /^The worker has not reported for 3\.00 s\.$/);
  assert.match(status({new_flows: "bypass"})[0], /^Bypass is on/);
  assert.match(status({new_flows: "draining"})[0], /Open flows: 3\.$/);
  assert.match(status({arena_used_bytes: 91})[0], /^Memory is low: 91\.00%/);
  assert.deepEqual(status({arena_used_bytes: 90}), []);
  const port = (link) => found("ports", {lan: {name: "lan", link}});
  assert.match(port("down")[0], /^Port lan: the link is down/);
  assert.match(port("gone")[0], /its device is gone/);
  assert.match(found("peers", [])[0], /^No peer is configured/);
  assert.deepEqual(found("peers", [peer("far", "suspect")]), [
    "Peer far is silent: new connections are bridged, open ones wait.",
  ]);
  assert.match(found("peers", [peer("far", "alive", {new_flows: "bypass"})])[0], /no new flows/);
  assert.deepEqual(found("error", "no flows"), ["The gateway did not answer all requests: no flows."]);
});

test("five peers are named, and the others are counted", () => {
  const peers = Array.from({length: 7}, (_, i) => peer(`p${i}`, "suspect"));
  const found = texts({...well(), peers});
  assert.equal(found.length, 6);
  assert.equal(found[5], "2 more peers are not alive.");
});

test("an alarm that a finding already tells is not repeated", () => {
  const overview = {
    ...well(),
    peers: [peer("far", "suspect")],
    alarms: [alarm("peer far", "heard"), alarm("rule web", "match", {advice: "look at it"})],
  };
  const found = findingsOf(overview);
  assert.equal(found.length, 2);
  assert.equal(found[1].what, "Rule web: is odd, since 2026-02-03 04:05:06.");
  assert.equal(found[1].todo, "Look at it.");
});

test("twenty alarms are shown, and the others are counted", () => {
  const alarms = Array.from({length: 23}, (_, i) => alarm(`rule ${i}`, "match"));
  const found = texts({...well(), alarms});
  assert.equal(found.length, 21);
  assert.equal(found[20], "3 more alarms are open.");
});

test("the worst findings are first", () => {
  const found = findingsOf({
    ...well(),
    status: {...well().status, new_flows: "bypass"},
    ports: {lan: {name: "lan", link: "down"}},
    alarms: [alarm("rule web", "match", {severity: "error"})],
  });
  assert.deepEqual(
    found.map(({tone}) => tone),
    ["bad", "bad", "warn"],
  );
});
