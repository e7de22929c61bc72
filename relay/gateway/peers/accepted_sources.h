// From which hosts a gateway relays connections, told to the peer and heard from it (docs/stp.md
// section 15). A peer that takes some sources only would reset the connections of all others, of
// which their hosts believe that they stand. The list lets a gateway bridge those instead.
//
// The list is that of the peer's own prefixes here, which change with a restart only. It is told
// once in each session, and until then nothing is known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/peers/messages.h"

namespace satrelay::gateway {

class AcceptedSources {
 public:
  // First octet of the metadata of its messages.
  static constexpr std::uint8_t kMessage = 0xc9;
  // A list has no more, told or heard. A peer with more may accept sources outside of its list.
  static constexpr std::size_t kMostPrefixes = 1024;

  // `session`, `messages` and `prefixes`, those of the peer, must outlive it.
  AcceptedSources(stp::Session& session, Messages& messages, const std::vector<IpPrefix>& prefixes)
      : session_(session), messages_(messages), prefixes_(prefixes) {}

  // --- from the peer ---------------------------------------------------------------------------
  // A list that is not there as a whole by then is refused, to be told again.
  static constexpr Duration kReadWithin = Duration::seconds(60);

  // Whether the peer has told its list in this session, or is one that never does.
  bool are_known() const { return heard_ || !session_.accepted_sources(); }
  // Whether the peer takes connections of this host, as far as is known.
  bool allow(const IpAddress& source) const {
    return !heard_ || !heard_->is_complete || has(source);
  }
  // A stream with a list that the peer has opened, and what comes of it.
  void handle_opened(stp::StreamId stream, Instant now);
  void handle_readable(stp::StreamId stream, Instant now) {
    if (stream == in_) read(now);
  }

  // --- to the peer -----------------------------------------------------------------------------
  // If the peer is alive, and understands the list, and has not taken it in this session.
  void tell(Instant now);
  // False if the stream is not one of a list.
  bool produce(stp::StreamId stream, Instant now);

  // --- both ------------------------------------------------------------------------------------
  // False if the stream is not one of a list.
  bool handle_reset(stp::StreamId stream, stp::ResetReason reason, Instant now);
  // With another boot epoch of the peer, or after its CLOSE.
  void forget_session();
  void handle_timeout(Instant now);
  Instant next_timeout() const { return reads_on_ ? Instant() : earlier(retry_at_, read_until_); }

 private:
  // IP version, length in bits, and the octets of the address that have some of them.
  static constexpr std::size_t kEntryHeader = 2;
  static constexpr std::size_t kLargestEntry = kEntryHeader + 16;

  struct List {
    // Neither overlaps another one; in ascending order.
    std::vector<IpPrefix> v4, v6;
    bool is_complete = true;  // the peer takes no other source
  };
  bool has(const IpAddress& source) const;
  static List list_of(std::vector<IpPrefix> prefixes, bool is_complete);
  void read(Instant now);
  void end_reading(stp::ResetReason reason, Instant now);
  void forget_incoming();

  stp::Session& session_;
  Messages& messages_;
  const std::vector<IpPrefix>& prefixes_;

  std::optional<List> heard_;  // in this session
  std::optional<stp::StreamId> in_;
  std::vector<IpPrefix> incoming_;
  bool incoming_is_complete_ = true;
  bool reads_on_ = false;  // more of it is there to be read
  Instant read_until_ = Instant::never();

  std::vector<std::byte> leaving_;  // as the message carries it, until the session has taken it
  std::size_t written_ = 0;         // of that
  std::optional<stp::StreamId> out_;
  bool is_taken_ = false;
  Instant retry_at_ = Instant::never();
};

}  // namespace satrelay::gateway
