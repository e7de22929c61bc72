// Maps the words of /satrelay/flow, which say what the next byte of a flow waits for, to the
// sentences that satrelayctl also uses.

const TOWARDS_PEER = {
  handshake: "the handshake with the host is not complete",
  peer: "the peer is silent, or the session is set up again after a restart",
  source: "the host sends no data at present",
  our_window: "the window to the host is closed: memory is low, or the far side accepts no more",
  credit: "the far host reads more slowly than this host sends: no credit is left",
  store: "the store is full: the most that may be stored waits to be acknowledged",
  link: "the flow waits for its turn on the link",
  acknowledgment: "all bytes are sent, the peer has not acknowledged them yet",
  lost_bytes: "the LAN has lost a segment, the host has not retransmitted it yet",
  nothing: "this direction is over: all bytes have arrived, or the flow has ended",
};

const TOWARDS_HOST = {
  handshake: "the handshake with the host is not complete",
  peer: "the peer is silent, or the session is set up again after a restart",
  source: "the peer sends no data at present",
  lost_bytes: "the link has lost earlier bytes, the peer retransmits them",
  rest_of_block: "a compressed block is not complete yet",
  host_window: "the host does not read, or reads more slowly than bytes arrive",
  host_path: "congestion control on the LAN: the host has not acknowledged enough yet",
  memory: "the gateway's memory is low",
  acknowledgment: "all bytes are sent, the host has not acknowledged them yet",
  nothing: "this direction is over: the host has all bytes, or the flow has ended",
};

// A word of another version of the gateway is shown unchanged.
export const waitTowardsPeer = (word) => TOWARDS_PEER[word] ?? String(word);
export const waitTowardsHost = (word) => TOWARDS_HOST[word] ?? String(word);
