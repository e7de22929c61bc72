import assert from "node:assert/strict";
import {test} from "node:test";

import {currentText, currentValue} from "../../../../../relay/satpanel/assets/fields.js";

test("the current value of a setting is where the gateway lists it", () => {
  assert.equal(currentValue({weight: 3}, "weight"), 3);
  assert.equal(currentValue({modes: {compress: "auto"}}, "compress"), "auto");
  assert.equal(currentValue({rate_bps: 5}, "rate"), 5);
  assert.equal(currentValue({weight: 0, weight_bps: 5}, "weight"), 0);
  assert.equal(currentValue({}, "weight"), undefined);
  assert.equal(currentValue(undefined, "weight"), undefined);
});

test("a current rate has its unit, and 0 is the word in its place", () => {
  const rate = {type: "rate", name: "rate", instead: "off"};
  assert.equal(currentText({rate_bps: 12e6}, rate), "12.0 Mbit/s");
  assert.equal(currentText({rate_bps: 0}, rate), "off");
  assert.equal(currentText({rate_bps: 0}, {...rate, instead: undefined}), "-");
  assert.equal(currentText({}, rate), "-");
  assert.equal(currentText({weight: 3}, {type: "number", name: "weight"}), "3");
  assert.equal(currentText({weight: 0}, {type: "number", name: "weight"}), "-");
});
