import assert from "node:assert/strict";
import {test} from "node:test";

import {FlowRates, RateMeter} from "../../../../../relay/satpanel/assets/rates.js";

const overview = (uptime_ms, bytes, boot_epoch = "1764082060000000001") => ({
  status: {uptime_ms, boot_epoch},
  ports: {
    lan: {rx_bytes: bytes, tx_bytes: 2 * bytes},
    wan: {rx_bytes: 3 * bytes, tx_bytes: 4 * bytes},
  },
  peers: [{name: "far", counters: {bytes_out: 5 * bytes, bytes_in: 6 * bytes}}],
});

test("a rate is the increase of a counter by the gateway's own clock", () => {
  const meter = new RateMeter();
  meter.add(overview(1000, 0));
  assert.equal(meter.of("lan in"), NaN);
  meter.add(overview(3000, 1000));
  assert.equal(meter.of("lan in"), 4000);
  assert.equal(meter.of("lan out"), 8000);
  assert.equal(meter.of("wan in"), 12_000);
  assert.equal(meter.of("wan out"), 16_000);
  assert.equal(meter.of("peer far out"), 20_000);
  assert.equal(meter.of("peer far in"), 24_000);
  assert.equal(meter.of("peer near out"), NaN);
});

test("a repeated reading changes nothing", () => {
  const meter = new RateMeter();
  meter.add(overview(1000, 0));
  meter.add(overview(2000, 1000));
  meter.add(overview(2000, 1000));
  assert.equal(meter.of("lan in"), 8000);
});

test("a rate covers the last seconds only", () => {
  const meter = new RateMeter();
  for (let second = 0; second <= 10; ++second) meter.add(overview(1000 * second, 0));
  for (let second = 11; second <= 13; ++second) {
    meter.add(overview(1000 * second, 1000 * (second - 10)));
  }
  assert.equal(meter.of("lan in"), 8000);
});

test("a gateway that restarts, or that is gone, begins anew", () => {
  const meter = new RateMeter();
  for (const after of [overview(5000, 9000, "1764082060000000002"), overview(500, 9000), {status: {}}]) {
    meter.add(overview(1000, 1000));
    meter.add(overview(2000, 2000));
    assert.equal(meter.of("lan in"), 8000);
    meter.add(after);
    assert.equal(meter.of("lan in"), NaN);
    meter.add({status: {}});
  }
});

const flow = (id, age_ms, bytes) => ({
  id,
  age_ms,
  from_lan_bytes: bytes,
  to_lan_bytes: 2 * bytes,
});

test("each flow has rates by its own age", () => {
  const rates = new FlowRates();
  rates.add([flow(1, 1000, 0), flow(2, 10, 0)]);
  assert.deepEqual(rates.of({id: 1}), {age: 1000, up: 0, down: 0, fromLan: NaN, toLan: NaN});
  rates.add([flow(1, 2000, 500), flow(3, 1, 0)]);
  assert.equal(rates.of({id: 1}).fromLan, 4000);
  assert.equal(rates.of({id: 1}).toLan, 8000);
  assert.deepEqual(rates.of({id: 2}), {fromLan: NaN, toLan: NaN}); // forgotten
  rates.add([flow(1, 2000, 500)]); // the same answer
  assert.equal(rates.of({id: 1}).fromLan, 4000);
});
