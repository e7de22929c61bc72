// The memory of one endpoint: its reserves in the arena, and the memory that it can free.
#pragma once

#include <cstddef>

#include "pep/tcp/block/tcb.h"

namespace satrelay::tcp {

// Valid as long as the endpoint exists. Use: endpoint.memory().trim().
class Memory {
 public:
  explicit Memory(Tcb& tcb) : tcb_(tcb) {}

  // Takes a reserve of the arena for each direction, before any byte is stored. The endpoint keeps
  // its reserves even if other endpoints use up the rest of the arena. Returns false, and takes
  // none, if the arena has too few reserves.
  [[nodiscard]] bool own() {
    if (!tcb_.sender.own()) return false;
    if (tcb_.receiver.own()) return true;
    tcb_.sender.disown();
    return false;
  }
  // Frees each reserve that holds no bytes: for an endpoint in TIME-WAIT or CLOSED.
  void give_up() {
    if (tcb_.sender.queue().empty()) tcb_.sender.disown();
    if (tcb_.receiver.stream().stored() == 0) tcb_.receiver.disown();
  }
  // Frees heap memory that is needed only while bytes are in flight: for an idle connection.
  void trim() {
    tcb_.sender.trim(tcb_.timers());
    tcb_.receiver.trim();
    tcb_.timers().trim();
  }
  // While set, arriving bytes are stored in the reserve only. All other bytes are dropped, as if
  // the LAN had lost them.
  void set_frugal(bool frugal) { tcb_.receiver.set_frugal(frugal); }

  // The number of arena blocks in use. Counting them costs O(bytes stored).
  struct Blocks {
    std::size_t received = 0;
    std::size_t to_send = 0;
    std::size_t reserves = 0;  // reserves taken; each is a part of a block
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
