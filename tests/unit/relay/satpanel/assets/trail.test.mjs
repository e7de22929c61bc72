import assert from "node:assert/strict";
import {afterEach, test} from "node:test";

import {Trail, whatChanged} from "../../../../../relay/satpanel/assets/trail.js";

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

test("a change shows its values and its detail", () => {
  assert.equal(whatChanged({text: "drained"}), "drained");
  assert.equal(whatChanged({text: "rate", new: "2Mbit"}), "rate: 2Mbit");
  assert.equal(whatChanged({text: "rate", old: "1Mbit", new: "2Mbit"}), "rate: 1Mbit → 2Mbit");
  assert.equal(whatChanged({text: "drained", detail: "by hand"}), "drained (by hand)");
});

test("the trail has what users have caused, the latest first, and asks for what is new", async () => {
  const event = (name, user, subject) => ({name, user, subject});
  const answers = [
    {events: [event("rule_off", "ann", "rule web"), event("peer_lost")], next: 2},
    {events: [event("rule_on", "otto", "rule web"), event("drain_on", "ann", "gateway")], next: 4},
  ];
  const asked = [];
  globalThis.fetch = async (address) => {
    asked.push(String(address));
    return Response.json(answers.shift());
  };
  const trail = new Trail();
  await trail.follow();
  await trail.follow();
  assert.match(asked[0], /\/events\?from=0&/);
  assert.match(asked[1], /\/events\?from=2&/);
  assert.deepEqual(
    trail.changes.map(({name}) => name),
    ["drain_on", "rule_on", "rule_off"],
  );
  assert.equal(trail.latestAbout(["rule web", "rule all"]).user, "otto");
  assert.equal(trail.latestAbout(["rule bulk"]), undefined);
  assert.equal(trail.latestOf("drain").user, "ann");
});
