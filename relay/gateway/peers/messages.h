// The messages to one peer that it has yet to take. Each is a stream (docs/stp.md section 15),
// which has a place and memory: a peer that takes none is sent only a few.
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
  // Longer than any outage that a flow outlives. A peer that is heard takes a message at once.
  static constexpr Duration kPatience = Duration::seconds(std::int64_t{20} * 60);

  // `session` must outlive it. `context`: of the streams of messages.
  Messages(stp::Session& session, std::uint32_t context) : session_(session), context_(context) {}

  std::uint32_t context() const { return context_; }

  // nullopt, and no effect: the peer has yet to take too many, or the session has no stream to
  // spare.
  std::optional<stp::StreamId> open(ConstBytes metadata, Instant now) {
    if (open_.size() == kMost) return std::nullopt;
    const auto stream = session_.open_stream(metadata, context_, now);
    if (stream) open_.push_back({*stream, now + kPatience});
    return stream;
  }
  void withdraw(stp::StreamId stream, Instant now) {
    session_.reset(stream, stp::ResetReason::kTimeout, now);
    forget(stream);
  }
  // The next one that the peer has not taken in time, which is withdrawn.
  std::optional<stp::StreamId> withdraw_overdue(Instant now) {
    if (now < next_timeout()) return std::nullopt;
    const stp::StreamId stream = open_.front().stream;
    withdraw(stream, now);
    return stream;
  }
  Instant next_timeout() const { return open_.empty() ? Instant::never() : open_.front().until; }

  // It has ended.
  void forget(stp::StreamId stream) {
    std::erase_if(open_, [stream](const Open& each) { return each.stream == stream; });
  }
  // With another boot epoch of the peer, or after its CLOSE, streams have other names.
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
