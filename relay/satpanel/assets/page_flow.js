// The page of one flow: the flow's two directions, and what each direction waits for.
import {get} from "./api.js";
import {make, setText} from "./dom.js";
import {NoticePlace, loading, nothing} from "./notices.js";
import {Poll} from "./poll.js";
import {FlowRates} from "./rates.js";
import {Pairs} from "./table.js";
import * as units from "./units.js";
import {waitTowardsHost, waitTowardsPeer} from "./waits.js";

export const title = "Flow";

const EVERY_MS = 1000;
const bytes = units.binaryBytes;

function ruleOf({rule, rule_name: name}) {
  if (!rule) return "none";
  return name ? `${rule} (${name})` : String(rule);
}

function modesOf({modes}) {
  return Object.entries(modes ?? {})
    .map(([name, word]) => `${name}: ${word}`)
    .join(", ");
}

function compressionOf(flow) {
  let text = flow.dictionary ? `${flow.compress}, dictionary ${flow.dictionary}` : flow.compress;
  if (flow.from_lan_bytes > 0) {
    text += `, ${bytes(flow.from_lan_bytes)} became ${bytes(flow.encoded_bytes)}`;
  }
  return text;
}

function commonTexts(flow) {
  return [
    units.endpoint(flow.client, flow.client_port),
    units.endpoint(flow.server, flow.server_port),
    flow.client_side === "lan" ? "on the LAN" : "on the peer's LAN",
    `${units.milliseconds(flow.age_ms)}, idle for ${units.milliseconds(flow.idle_ms)}`,
    `${ruleOf(flow)}; compress ${flow.compress}, class ${flow.class || "none"}`,
    modesOf(flow),
    `${flow.tcp_state}, RTT ${units.duration(flow.lan_rtt_us)}, ` +
      `segments of ${flow.lan_segment_bytes} bytes`,
    `peer ${flow.peer}, RTT ${units.duration(flow.path_rtt_us)}, ` +
      `loss ${units.share(flow.path_loss_ppm)}, ` +
      units.bitRate(flow.path_rate_bps),
  ];
}

function towardsPeerTexts(flow, rate) {
  return [
    `${bytes(flow.from_lan_bytes)}, now ${units.bitRate(rate)}`,
    `window ${bytes(flow.lan_window_bytes)}, waiting ${bytes(flow.lan_stored_bytes)}`,
    compressionOf(flow),
    `unsent ${bytes(flow.stp_unsent_bytes)}, ` +
      `not acknowledged ${bytes(flow.stp_unacknowledged_bytes)}, ` +
      `credit ${bytes(flow.stp_credit_bytes)}`,
  ];
}

function towardsHostTexts(flow, rate) {
  return [
    `${bytes(flow.to_lan_bytes)}, now ${units.bitRate(rate)}`,
    `arrived ${bytes(flow.stp_stored_bytes)}, of which in order ${bytes(flow.stp_in_order_bytes)}`,
    `not acknowledged ${bytes(flow.lan_unacknowledged_bytes)}, ` +
      `its window ${bytes(flow.host_window_bytes)}, ` +
      `congestion window ${bytes(flow.lan_congestion_window_bytes)}`,
  ];
}

function explainAddress(flow) {
  const query = new URLSearchParams({
    source: flow.client,
    destination: units.endpoint(flow.server, flow.server_port),
    direction: flow.client_side === "lan" ? "outbound" : "inbound",
  });
  return `#/explain?${query}`;
}

export function open({argument}) {
  const notices = new NoticePlace();
  notices.show(loading(`flow ${argument}`), "loading");
  const common = new Pairs([
    "client",
    "server",
    "client is",
    "age",
    "rule",
    "modes",
    "host",
    "path",
  ]);
  const towardsPeer = new Pairs(["carried", "from the host", "compression", "to the peer"]);
  const towardsHost = new Pairs(["carried", "from the peer", "to the host"]);
  const peerWait = make("p", {class: "waits"});
  const hostWait = make("p", {class: "waits"});
  const explain = make("a", {}, "Which rule applies to such a connection now?");
  const rates = new FlowRates();
  const half = (name, wait, pairs) =>
    make(
      "section",
      {class: "card", "aria-label": name},
      make("h2", {}, name),
      make("h3", {}, "Why it waits"),
      wait,
      pairs.element,
    );
  const whole = make(
    "div",
    {hidden: true},
    make(
      "div",
      {class: "grid"},
      half("Host to peer", peerWait, towardsPeer),
      half("Peer to host", hostWait, towardsHost),
    ),
    make(
      "section",
      {class: "card", "aria-label": "The connection"},
      make("h2", {}, `Flow ${argument}`),
      common.element,
      make("p", {}, explain),
    ),
  );

  const poll = new Poll(
    EVERY_MS,
    () => get(`/flows/${encodeURIComponent(argument)}`),
    (flow) => {
      notices.clear();
      whole.hidden = false;
      whole.classList.remove("stale");
      rates.add([flow]);
      const {fromLan, toLan} = rates.of(flow);
      setText(peerWait, waitTowardsPeer(flow.waits_towards_peer));
      setText(hostWait, waitTowardsHost(flow.waits_towards_host));
      common.update(commonTexts(flow));
      towardsPeer.update(towardsPeerTexts(flow, fromLan));
      towardsHost.update(towardsHostTexts(flow, toLan));
      explain.href = explainAddress(flow);
    },
    (error) => {
      whole.classList.add("stale");
      if (error.status !== 404) {
        notices.fail(error);
        return;
      }
      notices.show(
        nothing(
          "This flow is over.",
          whole.hidden ? error.message : "This page shows its last known state.",
        ),
        "over",
      );
      poll.stop();
    },
  );

  return {
    element: [
      make("p", {class: "lead"}, make("a", {href: "#/flows"}, "All flows")),
      notices.element,
      whole,
    ],
    close: () => poll.stop(),
  };
}
