// Messages to one peer that the peer has not taken yet. Each message is a stream (docs/stp.md
// section 15), which needs a place and memory. So a peer that takes no messages is sent only a few.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"

namespace satrelay::gateway {

class Messages {
 public:
  static constexpr std::size_t kMost = 24;
  // Longer than any outage that a flow survives. A live peer takes a message at once.
  static constexpr Duration kPatience = Duration::seconds(std::int64_t{20} * 60);

  // `session` must outlive this. `context`: for the streams of messages.
  Messages(stp::Session& session, std::uint32_t context) : session_(session), context_(context) {}

  std::uint32_t context() const { return context_; }

  // nullopt, with no effect: the peer has too many messages to take, or the session has no stream
  // to spare.
  std::optional<stp::StreamId> open(ConstBytes metadata, Instant now) {
    if (open_.size() == kMost) return std::nullopt;
    const auto stream = session_.streams().open(metadata, context_, now);
    if (stream) open_.push_back({*stream, now + kPatience});
    return stream;
  }
  void withdraw(stp::StreamId stream, Instant now) {
    session_.streams().reset(stream, stp::ResetReason::kTimeout, now);
    forget(stream);
  }
  // Withdraws the next message that the peer has not taken in time, and returns its stream.
  std::optional<stp::StreamId> withdraw_overdue(Instant now) {
    if (now < next_timeout()) return std::nullopt;
    const stp::StreamId stream = open_.front().stream;
    withdraw(stream, now);
    return stream;
  }
  Instant next_timeout() const { return open_.empty() ? Instant::never() : open_.front().until; }

  // The stream has ended.
  void forget(stp::StreamId stream) {
    std::erase_if(open_, [stream](const Open& each) { return each.stream == stream; });
  }
  // Call this when the peer has a new boot epoch, or has sent CLOSE: stream ids begin anew.
  void forget_session() { open_.clear(); }

 private:
  struct Open {
    stp::StreamId stream{};
    Instant until;
  };

  stp::Session& session_;
  std::uint32_t context_;
  std::vector<Open> open_;  // the oldest first
};

}  // namespace satrelay::gateway
