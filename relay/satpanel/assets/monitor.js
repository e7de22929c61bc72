// Reads the gateway's state once a second for the whole panel. Shows in the head of each page
// whether the gateway answers, and passes the state to the open page.
import {get} from "./api.js";
import {make, setAttribute, setText, showIfNew} from "./dom.js";
import {sentence} from "./notices.js";
import {Poll} from "./poll.js";
import {RateMeter} from "./rates.js";
import * as units from "./units.js";

const EVERY_MS = 1000;
// An answer about this many peers is long, so the panel requests it less often.
const MANY_PEERS = 50;
const EVERY_MS_OF_MANY = 5000;
const STALE_MS = 2000;

export class Monitor {
  constructor(badge, alarm) {
    this.badge = badge;
    this.alarm = alarm;
    this.listener = null;
    this.latest = null; // as GET /overview returns it; without peers if no page listens
    this.goneSince = 0;
    this.rates = new RateMeter();
    this.poll = null;
  }

  start() {
    this.stop();
    this.poll = new Poll(
      EVERY_MS,
      () => this.look(),
      (seen) => this.saw(seen),
      (error) => this.saw({up: false, error: error.message, isPanelGone: error.status === 0}),
    );
  }

  stop() {
    this.poll?.stop();
    this.poll = null;
    this.latest = null;
    showIfNew(this.alarm, "", () => null);
  }

  // Sets the page that gets the state; null: no page. Ports and peers are requested only if a page
  // listens.
  listen(listener) {
    this.listener = listener;
    this.poll?.now();
  }

  async look() {
    if (this.listener) return get("/overview");
    try {
      return {up: true, error: "", status: await get("/status")};
    } catch (error) {
      if (error.isGatewayGone) return {up: false, error: error.message};
      throw error;
    }
  }

  saw(seen) {
    this.latest = seen;
    if (this.poll)
      this.poll.interval_ms = seen.peers?.length > MANY_PEERS ? EVERY_MS_OF_MANY : EVERY_MS;
    if (seen.up) {
      this.goneSince = 0;
      this.rates.add(seen);
    } else {
      this.goneSince ||= Date.now();
    }
    this.head(seen);
    this.listener?.(seen, this.rates);
  }

  head({up, error, status, isPanelGone}) {
    const [tone, words] = this.wordsFor(up, status, isPanelGone);
    setAttribute(this.badge, "data-tone", tone);
    setText(this.badge, words);
    showIfNew(this.alarm, up ? "" : [this.goneSince, error], () =>
      up
        ? null
        : make(
            "p",
            {},
            make(
              "strong",
              {},
              isPanelGone ? "satpanel does not answer" : "The gateway does not answer",
            ),
            ` since ${units.clock(this.goneSince)}. `,
            isPanelGone ? "" : `${sentence(error)} `,
            "This page shows the last known state, and updates when the connection is back.",
          ),
    );
  }

  wordsFor(up, status, isPanelGone) {
    if (isPanelGone) return ["bad", "satpanel does not answer"];
    if (!up || !status) return ["bad", "gateway does not answer"];
    if (status.age_ms > STALE_MS) return ["bad", "gateway is stuck"];
    if (status.new_flows === "bypass") return ["warn", "gateway: bypass is on"];
    if (status.new_flows === "draining") return ["warn", "gateway: draining"];
    return ["good", `gateway up ${units.milliseconds(status.uptime_ms)}`];
  }
}
