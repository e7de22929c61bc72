// Draws LAN, gateway, link and peers as a picture: from left to right, or downwards on a narrow
// page.
import {makeSvg} from "./dom.js";
import {countedStates, stateOf, stateWords, worstFirst} from "./peers.js";
import * as units from "./units.js";

const MOST_PEERS = 5;

function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

// Draws a box with a title and lines of text. Each line is a text or {text, tone}.
function box(x, y, width, height, tone, title, lines) {
  const parts = [
    makeSvg("rect", {x, y, width, height, rx: 8, class: "box", "data-tone": tone}),
    makeSvg("text", {x: x + 12, y: y + 23, class: "title"}, title),
  ];
  lines.forEach((line, i) => {
    const {text, tone: toneOfLine} = typeof line === "string" ? {text: line, tone: null} : line;
    parts.push(
      makeSvg(
        "text",
        {x: x + 12, y: y + 43 + i * 18, class: "small", "data-tone": toneOfLine},
        text,
      ),
    );
  });
  return parts;
}

function wire(from, to, tone, isRadio) {
  return makeSvg("path", {
    d: `M${from.join(" ")} L${to.join(" ")}`,
    class: `wire${isRadio ? " radio" : ""}`,
    "data-tone": tone,
  });
}

const label = (x, y, text, anchor = "middle") =>
  makeSvg("text", {x, y, class: "small", "text-anchor": anchor}, text);

function portTone(port) {
  return port?.link === "up" ? "good" : "bad";
}

function portWords(port) {
  if (!port) return "not known";
  const speed = port.link_mbit_per_s ? ` ${units.bitRate(port.link_mbit_per_s * 1e6)}` : "";
  return `${port.link}${speed}`;
}

function gatewayLines(status) {
  const isOpen = status.new_flows === "open";
  return [
    `up ${units.milliseconds(status.uptime_ms)}`,
    `${units.count(status.flows)} flows`,
    `memory ${units.percent(status.arena_used_bytes / status.arena_bytes)}`,
    ...(isOpen ? [] : [{text: `new flows: ${status.new_flows}`, tone: "warn"}]),
  ];
}

function peerLines(peer, rates) {
  const path =
    peer.rtt_us === undefined || peer.rtt_us === null
      ? ""
      : `RTT ${units.duration(peer.rtt_us)}, loss ${units.share(peer.loss_ppm)}`;
  const sends = units.bitRate(rates.of(`peer ${peer.name} out`));
  return [
    {text: cut(stateWords(peer), 34), tone: stateOf(peer).tone},
    path || `at ${peer.address}`,
    `sends ${sends} of ${units.bitRate(peer.send_rate_bps)}`,
  ];
}

function linkWords(peers) {
  const names = [...new Set(peers.map((peer) => peer.link))];
  return names.length > 2 ? `${names.length} links` : cut(names.join(", "), 14);
}

function summary({status, ports}) {
  return (
    `LAN port ${portWords(ports?.lan)}; gateway up ${units.milliseconds(status.uptime_ms)} with ` +
    `${units.count(status.flows)} flows; WAN port ${portWords(ports?.wan)}; peers: ` +
    `${countedStates(status.peers) || "none"}.`
  );
}

function wide(overview, rates, peers, more) {
  const {status, ports} = overview;
  const [boxHeight, gap] = [94, 12];
  const rows = Math.max(peers.length + (more ? 0.4 : 0), 2);
  const height = Math.max(rows * (boxHeight + gap) + 10, 190);
  const middle = height / 2;
  const top = peers.length > 1 ? 8 : middle - boxHeight / 2;
  const parts = [
    wire([170, middle], [330, middle], portTone(ports?.lan)),
    label(250, middle - 26, `in ${units.bitRate(rates.of("lan in"))}`),
    label(250, middle - 10, `out ${units.bitRate(rates.of("lan out"))}`),
    wire([530, middle], [660, middle], portTone(ports?.wan)),
    label(595, middle - 26, `out ${units.bitRate(rates.of("wan out"))}`),
    label(595, middle - 10, `in ${units.bitRate(rates.of("wan in"))}`),
    label(595, middle + 22, portWords(ports?.wan)),
  ];
  peers.forEach((peer, i) => {
    const y = top + i * (boxHeight + gap);
    parts.push(
      wire([760, middle], [840, y + boxHeight / 2], stateOf(peer).tone, true),
      box(840, y, 330, boxHeight, stateOf(peer).tone, cut(peer.name, 30), peerLines(peer, rates)),
    );
  });
  parts.push(
    box(10, middle - 36, 160, 72, portTone(ports?.lan), "LAN", [portWords(ports?.lan)]),
    box(330, middle - 56, 200, 112, "good", "gateway", gatewayLines(status)),
    box(650, middle - 30, 130, 60, "quiet", "link", [linkWords(peers)]),
  );
  if (more) parts.push(label(840, height - 8, more, "start"));
  return {width: 1180, height, parts};
}

function narrow(overview, rates, peers, more) {
  const {status, ports} = overview;
  const [boxHeight, gap, first] = [94, 10, 350];
  const height = first + peers.length * (boxHeight + gap) + (more ? 20 : 0);
  const parts = [
    wire([60, 60], [60, 120], portTone(ports?.lan)),
    label(80, 84, `in ${units.bitRate(rates.of("lan in"))}`, "start"),
    label(80, 102, `out ${units.bitRate(rates.of("lan out"))}`, "start"),
    wire([60, 222], [60, 284], portTone(ports?.wan)),
    label(80, 246, `out ${units.bitRate(rates.of("wan out"))}`, "start"),
    label(80, 264, `in ${units.bitRate(rates.of("wan in"))}, ${portWords(ports?.wan)}`, "start"),
    wire([20, 320], [20, height - boxHeight], "quiet", true),
    box(4, 4, 352, 58, portTone(ports?.lan), "LAN", [portWords(ports?.lan)]),
    box(4, 118, 352, 108, "good", "gateway", gatewayLines(status)),
    box(4, 280, 352, 56, "quiet", "link", [linkWords(peers)]),
  ];
  peers.forEach((peer, i) => {
    parts.push(
      box(
        34,
        first + i * (boxHeight + gap),
        322,
        boxHeight,
        stateOf(peer).tone,
        cut(peer.name, 28),
        peerLines(peer, rates),
      ),
    );
  });
  if (more) parts.push(label(34, height - 4, more, "start"));
  return {width: 360, height, parts};
}

// Draws the state of a gateway that answers, as GET /overview returns it. `rates`: a RateMeter.
export function picture(overview, rates, isNarrow) {
  const all = worstFirst(overview.peers ?? []);
  const peers = all.slice(0, MOST_PEERS);
  const more =
    all.length > peers.length ? `and ${all.length - peers.length} more: see the table` : "";
  const {width, height, parts} = (isNarrow ? narrow : wide)(overview, rates, peers, more);
  return makeSvg(
    "svg",
    {
      class: "picture",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": summary(overview),
    },
    parts.flat(),
  );
}
