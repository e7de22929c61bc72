// The receiving half of an endpoint, as its owner sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/tcp/block/tcb.h"
#include "pep/tcp/input/urgent_mark.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// Valid as long as the endpoint: endpoint.receiving().window().
class ReceivingView {
 public:
  explicit ReceivingView(const Tcb& tcb) : tcb_(tcb) {}

  std::uint64_t limit() const { return tcb_.receiver.window().limit(); }  // bytes
  std::uint64_t window() const { return tcb_.receive_window(); }          // last advertised, bytes
  // FIN received and every byte before it readable/consumed.
  bool has_finished() const { return tcb_.receiver.fin_taken(); }
  bool holds_fin() const { return tcb_.receiver.holds_fin(); }  // it has come, unacknowledged
  std::optional<std::uint64_t> urgent_mark_of(const wire::TcpHeader& header,
                                              std::size_t payload_size) const {
    return tcp::urgent_mark_of(tcb_, header, payload_size);
  }

 private:
  const Tcb& tcb_;
};

}  // namespace satrelay::tcp
