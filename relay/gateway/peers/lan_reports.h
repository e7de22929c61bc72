// The exchange of LAN reports with one peer: who writes down flows asks for them, and is told of
// those that have ended, many in one message (docs/stp.md section 15). They are for records only:
// what finds no room is not told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/peers/lan_report.h"
#include "relay/gateway/peers/messages.h"

namespace satrelay::gateway {

class LanReports {
 public:
  // First octets of the metadata of its messages.
  static constexpr std::uint8_t kWishMessage = 0xc5;
  static constexpr std::uint8_t kReportsMessage = 0xc6;

  // `session` is the one with this number, `messages` are its. All of them outlive this.
  LanReports(stp::Session& session, std::size_t number, Messages& messages, LanReportReader& reader)
      : session_(session), number_(number), messages_(messages), reader_(reader) {}

  // --- from the peer ---------------------------------------------------------------------------
  // From now on the peer is asked, at once or when it is alive.
  void ask() { asks_ = true; }
  // What is to be said for that, at the beginning of each session; nothing to a peer that would
  // not understand it.
  bool wish_is_due() const { return asks_ && session_.lan_reports(); }
  // Whether the peer tells of each flow that it has with us.
  bool awaits() const { return wish_is_due(); }
  // A stream of reports that the peer has opened, and what comes of it: nothing unless it awaits.
  void handle_opened(stp::StreamId stream, Instant now);
  void handle_readable(stp::StreamId stream, Instant now) {
    if (stream == in_) read(now);
  }

  // --- to the peer -----------------------------------------------------------------------------
  // The peer asks.
  void handle_wish() { peer_asks_ = true; }
  // Of a flow that has ended here. False, and no effect: no room, or the peer has not asked.
  bool tell(const LanReport& report, Instant now);
  // False if the stream is not of reports.
  bool produce(stp::StreamId stream, Instant now);

  // --- both ------------------------------------------------------------------------------------
  // False if the stream is not of reports.
  bool handle_reset(stp::StreamId stream, stp::ResetReason reason, Instant now);
  // With another boot epoch of the peer, or after its CLOSE, streams have other names.
  void forget_session();
  void handle_timeout(Instant now);
  Instant next_timeout() const {
    if (reads_on_) return {};
    return is_due() ? next_try_ : Instant::never();
  }

 private:
  // A report: three numbers. So many octets wait at most, and as many are on their way; memory is
  // taken for those that there are, as most of many peers have none at any time.
  static constexpr std::size_t kLargestReport = 24;
  static constexpr std::size_t kRoom = 32 * 1024;

  bool is_due() const { return !out_ && !(waiting_.empty() && leaving_.empty()); }
  void send(Instant now);
  void read(Instant now);

  stp::Session& session_;
  std::size_t number_;
  Messages& messages_;
  LanReportReader& reader_;

  bool asks_ = false;
  std::optional<stp::StreamId> in_;
  bool reads_on_ = false;  // more of it is there to be read

  bool peer_asks_ = false;
  std::vector<std::byte> waiting_;  // as the message carries them
  std::vector<std::byte> leaving_;  // until the peer has taken them
  std::size_t written_ = 0;         // of these
  std::optional<stp::StreamId> out_;
  Instant next_try_;
};

}  // namespace satrelay::gateway
