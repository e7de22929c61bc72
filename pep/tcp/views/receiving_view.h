// A view of the receiving half of an endpoint for its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/tcp/block/tcb.h"
#include "pep/tcp/input/urgent_mark.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// Valid as long as the endpoint exists. Use: endpoint.receiving().window().
class ReceivingView {
 public:
  explicit ReceivingView(const Tcb& tcb) : tcb_(tcb) {}

  std::uint64_t limit() const { return tcb_.receiver.window().limit(); }  // bytes
  // The window that we advertised last, less the bytes received since, in bytes.
  std::uint64_t window() const { return tcb_.receive_window(); }
  // The peer's FIN and every byte before it have arrived.
  bool has_finished() const { return tcb_.receiver.fin_taken(); }
  // The FIN has arrived, but we do not acknowledge it yet.
  bool holds_fin() const { return tcb_.receiver.holds_fin(); }
  std::optional<std::uint64_t> urgent_mark_of(const wire::TcpHeader& header,
                                              std::size_t payload_size) const {
    return tcp::urgent_mark_of(tcb_, header, payload_size);
  }

 private:
  const Tcb& tcb_;
};

}  // namespace satrelay::tcp
