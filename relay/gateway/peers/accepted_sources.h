// Sends the peer a list of the hosts from which this gateway accepts relayed connections, and
// receives the peer's list (docs/stp.md section 15). If a gateway relayed a connection that the
// peer does not accept, the peer would reset the connection after the client has seen a complete
// handshake. Thanks to the list, the gateway bridges such a connection instead.
//
// The list has the prefixes that this gateway has configured for the peer. They change only with a
// restart. A gateway sends the list once in each session. Until the list has arrived, the peer
// assumes that all hosts are accepted.
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
  // The first octet of the metadata of its messages.
  static constexpr std::uint8_t kMessage = 0xc9;
  // Maximum number of prefixes in a list, in both directions. A list that is longer is cut, and a
  // flag then says that further sources are accepted.
  static constexpr std::size_t kMostPrefixes = 1024;

  // `session`, `messages` and the peer's `prefixes` must outlive this object.
  AcceptedSources(stp::Session& session, Messages& messages, const std::vector<IpPrefix>& prefixes)
      : session_(session), messages_(messages), prefixes_(prefixes) {}

  // --- from the peer ---------------------------------------------------------------------------
  // If a list is not complete within this time, it is refused, and the peer sends it again.
  static constexpr Duration kReadWithin = Duration::seconds(60);

  // Whether the peer has sent its list in this session, or does not send lists.
  bool are_known() const { return heard_ || !session_.agreed().accepted_sources(); }
  // Whether the peer accepts connections of this host. True until the peer's list has arrived.
  bool allow(const IpAddress& source) const {
    return !heard_ || !heard_->is_complete || has(source);
  }
  // handle_opened(): the peer has opened a stream with its list. handle_readable(): bytes of the
  // list have arrived.
  void handle_opened(stp::StreamId stream, Instant now);
  void handle_readable(stp::StreamId stream, Instant now) {
    if (stream == in_) read(now);
  }

  // --- to the peer -----------------------------------------------------------------------------
  // Sends the list if the peer is alive, understands it, and has not confirmed it in this session.
  void tell(Instant now);
  // Returns false if the stream does not carry a list.
  bool produce(stp::StreamId stream, Instant now);

  // --- both directions -------------------------------------------------------------------------
  // Returns false if the stream does not carry a list.
  bool handle_reset(stp::StreamId stream, stp::ResetReason reason, Instant now);
  // Call this when the peer has a new boot epoch, or has sent CLOSE.
  void forget_session();
  void handle_timeout(Instant now);
  Instant next_timeout() const { return reads_on_ ? Instant() : earlier(retry_at_, read_until_); }

 private:
  // An entry: IP version, length in bits, and the octets of the address that contain any of these
  // bits.
  static constexpr std::size_t kEntryHeader = 2;
  static constexpr std::size_t kLargestEntry = kEntryHeader + 16;

  struct List {
    // The prefixes of the list, without overlaps, in ascending order.
    std::vector<IpPrefix> v4, v6;
    bool is_complete = true;  // false if the sender also accepts sources that are not in the list
  };
  bool has(const IpAddress& source) const;
  static List list_of(std::vector<IpPrefix> prefixes, bool is_complete);
  void read(Instant now);
  void end_reading(stp::ResetReason reason, Instant now);
  void forget_incoming();

  stp::Session& session_;
  Messages& messages_;
  const std::vector<IpPrefix>& prefixes_;

  std::optional<List> heard_;  // the peer's list, once it has arrived in this session
  std::optional<stp::StreamId> in_;
  std::vector<IpPrefix> incoming_;
  bool incoming_is_complete_ = true;
  bool reads_on_ = false;  // whether more entries have arrived and can be read
  Instant read_until_ = Instant::never();

  std::vector<std::byte> leaving_;  // the encoded list, until all of it was written
  std::size_t written_ = 0;         // bytes of `leaving_` that were written
  std::optional<stp::StreamId> out_;
  bool is_taken_ = false;
  Instant retry_at_ = Instant::never();
};

}  // namespace satrelay::gateway
