// Says in words what is wrong with the gateway now, and what to do.
import {sentence} from "./notices.js";
import {stateOf, worstFirst} from "./peers.js";
import * as units from "./units.js";

const STALE_MS = 2000;
const MEMORY_LOW = 0.9;
const MOST_PEERS = 5;
const MOST_ALARMS = 20;

const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);

function ofStatus(status) {
  const found = [];
  if (status.age_ms > STALE_MS) {
    found.push({
      tone: "bad",
      what: `The worker has not reported for ${units.milliseconds(status.age_ms)}.`,
      todo: "Find what uses its core. If the worker stays stuck, restart the gateway.",
      covers: ["gateway worker"],
    });
  }
  if (status.new_flows === "bypass") {
    found.push({
      tone: "warn",
      what: "Bypass is on: new connections are bridged, not accelerated.",
      todo: "Switch it off on the page Controls when it is no longer needed.",
    });
  }
  if (status.new_flows === "draining") {
    found.push({
      tone: "warn",
      what:
        "The gateway is draining: it stops when its last flow has ended. " +
        `Open flows: ${units.count(status.flows)}.`,
      todo: "If this is not intended, start the gateway again when it has stopped.",
    });
  }
  const used = status.arena_used_bytes / status.arena_bytes;
  if (used > MEMORY_LOW) {
    found.push({
      tone: "warn",
      what: `Memory is low: ${units.percent(used)} of it is used.`,
      todo: "Raise limits.memory.",
      covers: ["gateway memory"],
    });
  }
  return found;
}

function ofPorts(ports) {
  return Object.values(ports)
    .filter((port) => port.link !== "up")
    .map((port) => ({
      tone: "bad",
      what:
        `Port ${port.name}: ${port.link === "gone" ? "its device is gone" : "the link is down"}; ` +
        "nothing passes.",
      todo:
        port.link === "gone"
          ? "Bring the device back."
          : "Check the cable and the device at its other end.",
      covers: [`port ${port.name} link`],
    }));
}

function ofPeers(peers) {
  const found = [];
  if (peers.length === 0) {
    found.push({
      tone: "warn",
      what: "No peer is configured: everything is bridged.",
      todo: "Add peers to the configuration, and reload it.",
    });
  }
  const wrong = worstFirst(peers).filter((peer) => stateOf(peer).tone !== "good");
  for (const peer of wrong.slice(0, MOST_PEERS)) {
    const {tone, what, todo} = stateOf(peer);
    const hop =
      peer.next_hop === "unresolved"
        ? " Its next hop does not answer: check gateway in the configuration, and the modem."
        : "";
    found.push({
      tone,
      what: `Peer ${peer.name} ${what}.`,
      todo: (todo ?? "") + hop,
      covers: [`peer ${peer.name} heard`],
    });
  }
  const more = wrong.slice(MOST_PEERS);
  if (more.length > 0) {
    found.push({
      tone: "warn",
      what: `${more.length} more peers are not alive.`,
      todo: "The table below lists them.",
      covers: more.map((peer) => `peer ${peer.name} heard`),
    });
  }
  for (const peer of peers.filter((each) => each.new_flows && each.new_flows !== "open")) {
    found.push({
      tone: "warn",
      what:
        `Peer ${peer.name} accepts no new flows (${peer.new_flows}): ` +
        "new connections to it are bridged.",
      todo: "Ask the operator of the far gateway.",
    });
  }
  return found;
}

// Returns findings for the open alarms in satpanel's book of alarms that no other finding covers.
function ofAlarms(alarms, covered) {
  const others = alarms.filter(({subject, matter}) => !covered.has(`${subject} ${matter}`));
  const found = others.slice(0, MOST_ALARMS).map((alarm) => ({
    tone: alarm.severity === "error" ? "bad" : "warn",
    what:
      `${capital(alarm.subject)}: ${alarm.text}` +
      `${alarm.detail ? ` (${alarm.detail})` : ""}, since ${units.dateAndClock(alarm.since_ms)}.`,
    todo: alarm.advice && sentence(alarm.advice),
  }));
  if (others.length > MOST_ALARMS) {
    found.push({
      tone: "warn",
      what: `${others.length - MOST_ALARMS} more alarms are open.`,
      todo: "The page Events lists them.",
    });
  }
  return found;
}

// Returns the findings in the GET /overview of a gateway that answers, the worst first. A finding's
// `covers` names the alarms that say the same, by subject and matter.
export function findingsOf({status, ports, peers, alarms, error}) {
  const found = [...ofStatus(status), ...ofPorts(ports ?? {}), ...(peers ? ofPeers(peers) : [])];
  found.push(...ofAlarms(alarms, new Set(found.flatMap(({covers = []}) => covers))));
  if (error)
    found.push({tone: "bad", what: `The gateway did not answer all requests: ${error}.`, todo: ""});
  return found.sort((a, b) => (a.tone === b.tone ? 0 : a.tone === "bad" ? -1 : 1));
}
