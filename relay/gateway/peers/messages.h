// Messages to one peer that the peer has not accepted yet. Each message needs a stream (docs/stp.md
// section 15), and a stream needs a slot and memory. So the number of such messages is limited.
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
  // If the peer has not accepted a message after this time, the message is withdrawn. The time is
  // longer than any outage that a flow survives. A live peer accepts a message at once.
  static constexpr Duration kPatience = Duration::seconds(std::int64_t{20} * 60);

  // `session` must outlive this object. `context`: a number that the session stores with each
  // stream of a message (stream_context.h).
  Messages(stp::Session& session, std::uint32_t context) : session_(session), context_(context) {}

  std::uint32_t context() const { return context_; }

  // Returns nullopt, without any effect, if too many messages are not accepted yet, or if the
  // session can open no stream.
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
  // Withdraws the next message that the peer has not accepted in time, and returns its stream.
  std::optional<stp::StreamId> withdraw_overdue(Instant now) {
    if (now < next_timeout()) return std::nullopt;
    const stp::StreamId stream = open_.front().stream;
    withdraw(stream, now);
    return stream;
  }
  Instant next_timeout() const { return open_.empty() ? Instant::never() : open_.front().until; }

  // Call this when the stream has ended.
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
