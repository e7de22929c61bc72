// The figures are those of tests/unit/relay/text/numbers_test.cc: satrelayctl and the panel write
// numbers alike.
import assert from "node:assert/strict";
import {test} from "node:test";

import * as units from "../../../../../relay/satpanel/assets/units.js";

// cases: [argument, text]
function expectAll(write, cases) {
  for (const [argument, text] of cases) assert.equal(write(argument), text, String(argument));
}

test("bytes of memory", () => {
  expectAll(units.binaryBytes, [
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.00 KiB"],
    [1536, "1.50 KiB"],
    [64 * 2 ** 20, "64.0 MiB"],
    [2 ** 30 - 1, "1.00 GiB"],
    [2 ** 64, "16384 PiB"],
  ]);
});

test("rates have three digits and the prefix that fits", () => {
  expectAll(units.bitRate, [
    [0, "0 bit/s"],
    [999, "999 bit/s"],
    [999.6, "1.00 kbit/s"],
    [999_999, "1.00 Mbit/s"],
    [9_996_000, "10.0 Mbit/s"],
    [46_912_345, "46.9 Mbit/s"],
    [804e6, "804 Mbit/s"],
    [9.83e9, "9.83 Gbit/s"],
    [2e12, "2.00 Tbit/s"],
  ]);
});

test("durations of any length", () => {
  expectAll(units.duration, [
    [0, "0 us"],
    [551_400, "551 ms"],
    [1_500_000, "1.50 s"],
    [59_999_999, "60.0 s"],
    [61_000_000, "1 min 01 s"],
    [7_380_000_000, "2 h 03 min"],
    [180_000_000_000, "2 d 02 h"],
  ]);
  assert.equal(units.milliseconds(551.4), "551 ms");
});

test("counts in groups", () => {
  expectAll(units.count, [
    [0, "0"],
    [999, "999"],
    [1000, "1 000"],
    [1_234_567, "1 234 567"],
  ]);
});

test("shares and ratios", () => {
  expectAll(units.share, [
    [10_000, "1.00%"],
    [123, "0.01%"],
  ]);
  assert.equal(units.percent(0.5, 1), "50.0%");
  assert.equal(units.ratio(2.5), "2.50 : 1");
  assert.equal(units.oneDecimal(12.345), "12.3");
});

test("what is not known is a dash", () => {
  for (const write of [
    units.binaryBytes,
    units.bitRate,
    units.duration,
    units.milliseconds,
    units.count,
    units.percent,
    units.share,
    units.ratio,
    units.oneDecimal,
  ]) {
    for (const value of [undefined, null, NaN, Infinity, "12"]) {
      assert.equal(write(value), units.NONE, `${write.name} of ${value}`);
    }
  }
});

test("times of the reader's zone", () => {
  const time = new Date(2026, 1, 3, 4, 5, 6).getTime();
  assert.equal(units.clock(time), "04:05:06");
  assert.equal(units.clockOfMinutes(time), "04:05");
  assert.equal(units.dateAndClock(time), "2026-02-03 04:05:06");
});

test("an IPv6 address has brackets before a port", () => {
  assert.equal(units.endpoint("192.0.2.7", 443), "192.0.2.7:443");
  assert.equal(units.endpoint("2001:db8::7", 443), "[2001:db8::7]:443");
});
