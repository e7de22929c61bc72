// The words of /satrelay/flow for what the next byte of a flow waits for, and the sentences for
// them, which are those of satrelayctl.

const TOWARDS_PEER = {
  handshake: "the connection with the host does not stand yet",
  peer: "the peer is silent, or is being greeted after a restart",
  source: "the host sends nothing more at present",
  our_window: "the host may not send: memory is low, or the far side takes no more",
  credit: "the far host reads more slowly than this one writes: no credit is left",
  store: "as much as may be stored is under way, and waits to be acknowledged",
  link: "it waits for its turn on the link",
  acknowledgment: "all has left, and the peer is yet to say that it has come",
  lost_bytes: "the LAN has lost a segment, which the host is to send again",
  nothing: "over: all has arrived, or the flow has ended",
};

const TOWARDS_HOST = {
  handshake: "the connection with the host does not stand yet",
  peer: "the peer is silent, or is being greeted after a restart",
  source: "nothing more has come from the peer",
  lost_bytes: "the link has lost bytes before those that have come; they come again",
  rest_of_block: "a compressed block is not complete yet",
  host_window: "the host does not read, or more slowly than bytes come",
  host_path: "congestion control on the LAN: the host is yet to acknowledge",
  memory: "the gateway's memory is low",
  acknowledgment: "all has left, and the host is yet to acknowledge it",
  nothing: "over: the host has all of it, or the flow has ended",
};

// A word of another version is shown unchanged.
export const waitTowardsPeer = (word) => TOWARDS_PEER[word] ?? String(word);
export const waitTowardsHost = (word) => TOWARDS_HOST[word] ?? String(word);
