// The memory of one endpoint: its reserves of the arena, and what it can give back.
#pragma once

#include <cstddef>

#include "pep/tcp/block/tcb.h"

namespace satrelay::tcp {

// Valid as long as the endpoint: endpoint.memory().trim().
class Memory {
 public:
  explicit Memory(Tcb& tcb) : tcb_(tcb) {}

  // Takes a reserve of the arena for each direction, before anything is stored. The endpoint keeps
  // its reserves however little memory others leave. False, with none taken, if the arena has too
  // few.
  [[nodiscard]] bool own() {
    if (!tcb_.sender.own()) return false;
    if (tcb_.receiver.own()) return true;
    tcb_.sender.disown();
    return false;
  }
  // Gives back each reserve that holds no bytes: for an endpoint in TIME-WAIT or CLOSED.
  void give_up() {
    if (tcb_.sender.queue().empty()) tcb_.sender.disown();
    if (tcb_.receiver.stream().stored() == 0) tcb_.receiver.disown();
  }
  // Frees heap memory that is needed only while bytes are in flight: for a quiet connection.
  void trim() {
    tcb_.sender.trim(tcb_.timers());
    tcb_.receiver.trim();
    tcb_.timers().trim();
  }
  // While set, arriving bytes are stored in the reserve only. The rest counts as lost.
  void set_frugal(bool frugal) { tcb_.receiver.set_frugal(frugal); }

  // Blocks of the arena, counted one by one: O(bytes stored).
  struct Blocks {
    std::size_t received = 0;
    std::size_t to_send = 0;
    std::size_t reserves = 0;  // taken; each is a part of a block
  };
  Blocks blocks_held() const {
    const ByteQueue& queue = tcb_.sender.queue();
    const Reassembler& stream = tcb_.receiver.stream();
    return {stream.blocks_held(), queue.blocks_held(),
            (stream.has_reserve() ? 1U : 0U) + (queue.has_reserve() ? 1U : 0U)};
  }

 private:
  Tcb& tcb_;
};

}  // namespace satrelay::tcp
