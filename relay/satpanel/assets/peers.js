// The words for a peer's state, and what to do about it. docs/statistics.md lists the states.

const STATES = {
  alive: {tone: "good", words: "alive"},
  connecting: {
    tone: "warn",
    words: "connecting",
    what: "has not been heard since the start",
    todo: "Check its address, the link, and whether the far gateway runs.",
  },
  suspect: {
    tone: "warn",
    words: "suspect",
    what: "is silent: new connections are bridged, open ones wait",
    todo: "Check the link and the far gateway.",
  },
  refused: {
    tone: "bad",
    words: "refused",
    what: "does not match this gateway: nothing is relayed",
    todo: "Run the same version at both ends, and set security and workers to match.",
  },
  closed: {
    tone: "warn",
    words: "closed",
    what: "was shut down: new connections are bridged",
    todo: "Start the far gateway again.",
  },
  wrong_key: {
    tone: "bad",
    words: "wrong key?",
    what: "sends packets that fail authentication with our key",
    todo:
      "Compare psk_file at both ends, then reload the gateway that has the wrong one. " +
      "An attacker can imitate this.",
  },
};

export function stateOf(peer) {
  return (
    STATES[peer.state] ?? {tone: "warn", words: String(peer.state), what: "is in an unknown state"}
  );
}

// Returns why the peer was refused, as the peer's counters show.
function refusal(peer) {
  if (peer.state !== "refused") return "";
  if (peer.counters.security_mismatch > 0) return " (only one encrypts)";
  return peer.counters.lanes_mismatch > 0 ? " (other workers)" : " (another version)";
}

export function stateWords(peer) {
  let words = stateOf(peer).words + refusal(peer);
  if (peer.new_flows && peer.new_flows !== "open") words += ` (${peer.new_flows})`;
  if (peer.next_hop === "unresolved") words += " (next hop unresolved)";
  return words;
}

// Returns the number of peers in each state, like "2 alive, 1 suspect".
export function countedStates(counts) {
  return Object.entries(counts ?? {})
    .map(([state, number]) => `${number} ${STATES[state]?.words ?? state}`)
    .join(", ");
}

const TONES = ["bad", "warn", "good"];

// Sorts peers by state, the worst first. Peers of equal state stay in the configured order.
export function worstFirst(peers) {
  return [...peers].sort((a, b) => TONES.indexOf(stateOf(a).tone) - TONES.indexOf(stateOf(b).tone));
}
