import assert from "node:assert/strict";
import {test} from "node:test";

import {joined, latest, points} from "../../../../../relay/satpanel/assets/series.js";

const answer = (time, more = {}) => ({
  step_seconds: 1,
  classes: ["web", "bulk"],
  samples: {
    time,
    flows: time.map((each) => 10 * each),
    class_rate: [time.map((each) => each + 1), time.map((each) => each + 2)],
  },
  ...more,
});

test("new samples follow the old ones", () => {
  const whole = joined(answer([1, 2, 3]), answer([3, 4]));
  assert.deepEqual(whole, answer([1, 2, 3, 4]));
});

test("an answer without new samples changes nothing", () => {
  const before = answer([1, 2, 3]);
  assert.equal(joined(before, answer([2, 3])), before);
});

test("other classes or another step begin anew", () => {
  const next = answer([3, 4]);
  assert.equal(joined(null, next), next);
  assert.equal(joined(answer([1, 2], {classes: ["web"]}), next), next);
  assert.equal(joined(answer([1, 2], {step_seconds: 60}), next), next);
  assert.equal(joined(answer([]), next), next);
});

test("samples of seconds are kept for an hour, and those of minutes for a day", () => {
  const times = (more) => joined(answer([0, 1, 2], more), answer([3601], more)).samples.time;
  assert.deepEqual(times({}), [2, 3601]);
  assert.deepEqual(times({step_seconds: 60}), [0, 1, 2, 3601]);
  assert.deepEqual(joined(answer([0, 1]), answer([9000])).samples.time, [9000]);
});

test("points are means, with a gap where a time has no sample", () => {
  assert.deepEqual(points([0, 1, 2, 3], [1, 3, 5, null], 2), [
    {x: 0, y: 2},
    {x: 2, y: 5},
  ]);
  assert.deepEqual(points([0, 6], [1, 2], 2), [
    {x: 0, y: 1},
    {x: 2, y: null},
    {x: 6, y: 2},
  ]);
  assert.deepEqual(points([0, 1], [null, undefined], 2), [{x: 0, y: null}]);
  assert.deepEqual(points([], [], 2), []);
});

test("the latest value", () => {
  assert.equal(latest([1, 2]), 2);
  assert.equal(latest([1, null]), NaN);
  assert.equal(latest([]), NaN);
});
