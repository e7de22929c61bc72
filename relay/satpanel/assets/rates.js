// Computes rates from counters: the increase over the last seconds, measured by the gateway's own
// clock.

const SPAN_MS = 3000;

export class RateMeter {
  constructor() {
    this.samples = [];
  }

  // Adds an answer to GET /overview. Ignores a reading that was added before. Discards earlier
  // readings if the gateway has restarted.
  add(overview) {
    if (!overview.ports || !overview.peers) {
      this.samples = [];
      return;
    }
    const {uptime_ms, boot_epoch} = overview.status;
    const last = this.samples.at(-1);
    if (last && (last.boot_epoch !== boot_epoch || uptime_ms < last.uptime_ms)) this.samples = [];
    else if (last && uptime_ms === last.uptime_ms) return;
    const bytes = new Map();
    for (const name of ["lan", "wan"]) {
      bytes.set(`${name} in`, overview.ports[name]?.rx_bytes);
      bytes.set(`${name} out`, overview.ports[name]?.tx_bytes);
    }
    for (const peer of overview.peers) {
      bytes.set(`peer ${peer.name} out`, peer.counters.bytes_out);
      bytes.set(`peer ${peer.name} in`, peer.counters.bytes_in);
    }
    this.samples.push({uptime_ms, boot_epoch, bytes});
    while (this.samples.length > 2 && uptime_ms - this.samples[0].uptime_ms > SPAN_MS) {
      this.samples.shift();
    }
  }

  // Returns the bits a second of a name like "lan in" or "peer NAME out"; NaN: not known yet.
  of(name) {
    if (this.samples.length < 2) return NaN;
    const [from, to] = [this.samples[0], this.samples.at(-1)];
    const bytes = to.bytes.get(name) - from.bytes.get(name);
    return bytes >= 0 ? (bytes * 8000) / (to.uptime_ms - from.uptime_ms) : NaN;
  }
}

// Computes rates of flows by id. Each flow contains its own age, which serves as the clock.
export class FlowRates {
  constructor() {
    this.seen = new Map();
  }

  // Adds flows as GET /flows lists them. Forgets flows that are not in the list.
  add(flows) {
    const before = this.seen;
    this.seen = new Map();
    for (const flow of flows) {
      const old = before.get(flow.id);
      const entry = {age: flow.age_ms, up: flow.from_lan_bytes, down: flow.to_lan_bytes};
      const passed = old ? entry.age - old.age : 0;
      if (old && passed <= 0) {
        // the same answer again
        this.seen.set(flow.id, old);
        continue;
      }
      entry.fromLan = old ? ((entry.up - old.up) * 8000) / passed : NaN;
      entry.toLan = old ? ((entry.down - old.down) * 8000) / passed : NaN;
      this.seen.set(flow.id, entry);
    }
  }

  of(flow) {
    return this.seen.get(flow.id) ?? {fromLan: NaN, toLan: NaN};
  }
}
