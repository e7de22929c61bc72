// Packet sockets of one interface that share what comes: the kernel shows each frame to one of
// them, which a small program chooses (PACKET_FANOUT with PACKET_FANOUT_CBPF, packet(7)).
//
// It computes the low bits of the symmetric Toeplitz hash. The key has a period of 16 bits, so the
// hash is a linear map of the XOR of all halfwords of addresses and ports: each bit of it is the
// parity of some bits of that. Fragments and what has no ports go by their addresses, what is no IP
// to the first socket.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "relay/dpdk/device/spread.h"

namespace satrelay::dpdk {

// Sees a packet from its network header on, as fanout programs do; returns the queue.
std::vector<sock_filter> fanout_program(const Spread& spread);

class Fanout {
 public:
  // The first socket of a new group; the sockets are bound, to the same interface that is up. What
  // a socket has received before it belonged to the group is forgotten, for others have it too.
  // Throws std::runtime_error.
  Fanout(int descriptor, const Spread& spread);
  // The next one: their order is that of the queues.
  void add(int descriptor);

 private:
  int group_ = 0;
};

}  // namespace satrelay::dpdk
