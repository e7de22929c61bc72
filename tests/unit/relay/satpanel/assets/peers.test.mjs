import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";

import * as peers from "../../../../../relay/satpanel/assets/peers.js";

const peer = (state, more = {}) => ({state, counters: {}, ...more});

// The states that docs/statistics.md lists.
function documentedStates() {
  const text = readFileSync(new URL("../../../../../docs/statistics.md", import.meta.url), "utf8");
  const list = text.split("\nValues of `state`:\n")[1].split("\n`counters` of a peer:")[0];
  return [...list.matchAll(/^- `(\w+)`/gm)].map(([, state]) => state);
}

test("each documented state has words, and all but alive say what to do", () => {
  const states = documentedStates();
  assert.ok(states.length >= 6);
  for (const state of states) {
    const found = peers.stateOf(peer(state));
    assert.notEqual(found.what, "is in another state", state);
    assert.equal(found.tone === "good", state === "alive", state);
    if (state !== "alive") assert.ok(found.what && found.todo, state);
  }
});

test("a state of another version is shown with a warning", () => {
  assert.equal(peers.stateWords(peer("dancing")), "dancing");
  assert.equal(peers.stateOf(peer("dancing")).tone, "warn");
});

test("the counters of a refused peer say why", () => {
  const words = (counters) => peers.stateWords(peer("refused", {counters}));
  assert.equal(words({security_mismatch: 1, lanes_mismatch: 1}), "refused (only one encrypts)");
  assert.equal(words({security_mismatch: 0, lanes_mismatch: 1}), "refused (other workers)");
  assert.equal(words({security_mismatch: 0, lanes_mismatch: 0}), "refused (another version)");
});

test("the words of a peer name what else keeps flows away", () => {
  assert.equal(peers.stateWords(peer("alive", {new_flows: "open"})), "alive");
  assert.equal(peers.stateWords(peer("alive", {new_flows: "bypass"})), "alive (bypass)");
  assert.equal(
    peers.stateWords(peer("suspect", {next_hop: "unresolved"})),
    "suspect (next hop unresolved)",
  );
});

test("peers in each state are counted", () => {
  assert.equal(peers.countedStates({alive: 2, wrong_key: 1}), "2 alive, 1 wrong key?");
  assert.equal(peers.countedStates(undefined), "");
});

test("the worst peers are first, and equals keep their order", () => {
  const given = [
    peer("alive", {name: "a"}),
    peer("suspect", {name: "b"}),
    peer("refused", {name: "c"}),
    peer("closed", {name: "d"}),
    peer("alive", {name: "e"}),
  ];
  const names = (list) => list.map(({name}) => name).join("");
  assert.equal(names(peers.worstFirst(given)), "cbdae");
  assert.equal(names(given), "abcde");
});
