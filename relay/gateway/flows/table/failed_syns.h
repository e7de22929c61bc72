// ICMP errors that wait to be sent to clients on the LAN, because their SYNs failed behind the far
// gateway. The queue is short. If the queue is full, an error is dropped, and the client repeats
// its SYN.
#pragma once

#include <cstddef>
#include <deque>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/frames/failed_syn.h"
#include "relay/gateway/frames/path_error.h"

namespace satrelay::gateway {

class FailedSyns {
 public:
  static constexpr std::size_t kMost = 256;
  struct Error {
    wire::EthernetHeader to_host;
    IpAddress sender;
    IcmpCode code;
    FailedSyn syn;
  };

  bool empty() const { return waiting_.empty(); }
  bool full() const { return waiting_.size() >= kMost; }
  void push(const Error& error) { waiting_.push_back(error); }  // the queue must not be full
  // Writes the frame of the first error into `out`, and removes the error. Returns the size of the
  // frame; 0 if there is none.
  std::size_t poll_frame(MutableBytes out) {
    if (waiting_.empty()) return 0;
    const Error& first = waiting_.front();
    const std::size_t size =
        write_failed_syn(first.to_host, first.sender, first.code, first.syn, out);
    waiting_.pop_front();
    return size;
  }

 private:
  std::deque<Error> waiting_;
};

}  // namespace satrelay::gateway
