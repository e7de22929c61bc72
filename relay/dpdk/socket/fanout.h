// Several packet sockets of one interface share the received frames. For each frame, a small
// program chooses the socket that gets the frame (PACKET_FANOUT with PACKET_FANOUT_CBPF,
// packet(7)).
//
// The program computes the low bits of the symmetric Toeplitz hash. The key has a period of 16
// bits. So the hash is a linear map of the XOR of all halfwords of addresses and ports: each bit of
// the hash is the parity of some bits of that XOR. Fragments and packets without ports are spread
// by their addresses alone. Frames that are not IP go to the first socket.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "relay/dpdk/device/spread.h"

namespace satrelay::dpdk {

// Builds the program, which returns the number of the queue. As in every fanout program, offset 0
// is the beginning of the network header.
std::vector<sock_filter> fanout_program(const Spread& spread);

class Fanout {
 public:
  // Starts a group with its first socket. The sockets must be bound to the same interface, which
  // must be up. Throws std::runtime_error.
  Fanout(int descriptor, const Spread& spread);
  // Adds a socket, which gets the number of the next queue. The sockets must not have begun to
  // receive: otherwise each would keep the frames that came before it joined the group.
  void add(int descriptor);

 private:
  int group_ = 0;
};

}  // namespace satrelay::dpdk
