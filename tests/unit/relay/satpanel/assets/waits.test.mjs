import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";

import {waitTowardsHost, waitTowardsPeer} from "../../../../../relay/satpanel/assets/waits.js";

// Rows of a table of satrelayctl: [word, sentence].
function rowsOf(table) {
  const source = readFileSync(
    new URL("../../../../../relay/satrelayctl/views/render_flow.cc", import.meta.url),
    "utf8",
  );
  const body = source.split(`constexpr Reason ${table}[] = {`)[1].split("\n};")[0];
  return [...body.matchAll(/\{"(\w+)",\s+"([^"]*)"\}/g)].map((match) => match.slice(1));
}

test("the sentences are those of satrelayctl", () => {
  for (const [table, sentenceOf] of [
    ["kTowardsPeer", waitTowardsPeer],
    ["kTowardsHost", waitTowardsHost],
  ]) {
    const rows = rowsOf(table);
    assert.ok(rows.length >= 10, table);
    for (const [word, sentence] of rows) assert.equal(sentenceOf(word), sentence, word);
  }
});

test("a word of another version is shown unchanged", () => {
  assert.equal(waitTowardsPeer("tea"), "tea");
  assert.equal(waitTowardsHost("tea"), "tea");
});
