// Receives LAN reports from one peer, and sends LAN reports to the peer. A gateway that writes flow
// records asks its peer for reports. The peer then sends a report for each flow that ends, and many
// reports in one message (docs/stp.md section 15). Reports are used only in flow records, so a
// report is dropped if there is no room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/lan_report.h"
#include "relay/gateway/peers/messages.h"

namespace satrelay::gateway {

class LanReports {
 public:
  // The first octets of the metadata of its messages.
  static constexpr std::uint8_t kWishMessage = 0xc5;
  static constexpr std::uint8_t kReportsMessage = 0xc6;

  // `lane` is the lane of `session`. All references must outlive this object.
  LanReports(stp::Session& session, LaneId lane, Messages& messages, LanReportReader& reader)
      : session_(session), lane_(lane), messages_(messages), reader_(reader) {}

  // --- from the peer ---------------------------------------------------------------------------
  // Asks the peer for reports. If the peer is not alive, it is asked when it is alive again.
  void ask() { asks_ = true; }
  // Whether the peer must be asked for reports. A peer that would not understand the request is not
  // asked.
  bool wish_is_due() const { return asks_ && session_.agreed().lan_reports(); }
  // Whether the peer sends a report for each flow that ends.
  bool awaits() const { return wish_is_due(); }
  // handle_opened(): the peer has opened a stream of reports, which is refused unless awaits().
  // handle_readable(): bytes of reports have arrived.
  void handle_opened(stp::StreamId stream, Instant now);
  void handle_readable(stp::StreamId stream, Instant now) {
    if (stream == in_) read(now);
  }

  // --- to the peer -----------------------------------------------------------------------------
  // Call this when the peer asks for reports.
  void handle_wish() { peer_asks_ = true; }
  // Reports a flow that has ended here. Returns false, without any effect, if there is no room, or
  // if the peer has not asked for reports.
  bool tell(const LanReport& report, Instant now);
  // Returns false if the stream does not carry reports.
  bool produce(stp::StreamId stream, Instant now);

  // --- both directions -------------------------------------------------------------------------
  // Returns false if the stream does not carry reports.
  bool handle_reset(stp::StreamId stream, stp::ResetReason reason, Instant now);
  // Call this when the peer has a new boot epoch, or has sent CLOSE: stream ids begin anew.
  void forget_session();
  void handle_timeout(Instant now);
  Instant next_timeout() const {
    if (reads_on_) return {};
    return is_due() ? next_try_ : Instant::never();
  }

 private:
  // A report consists of three numbers. At most kRoom octets of reports wait, and at most kRoom
  // octets are in flight. A gateway may have many peers, and most of them have no reports at any
  // time, so memory is allocated only when there are reports.
  static constexpr std::size_t kLargestReport = 24;
  static constexpr std::size_t kRoom = 32 * 1024;

  bool is_due() const { return !out_ && !(waiting_.empty() && leaving_.empty()); }
  void send(Instant now);
  void read(Instant now);

  stp::Session& session_;
  LaneId lane_;
  Messages& messages_;
  LanReportReader& reader_;

  bool asks_ = false;
  std::optional<stp::StreamId> in_;
  bool reads_on_ = false;  // whether more reports have arrived and can be read

  bool peer_asks_ = false;
  std::vector<std::byte> waiting_;  // encoded reports
  std::vector<std::byte> leaving_;  // encoded reports that the peer has not accepted yet
  std::size_t written_ = 0;         // bytes of `leaving_` that were written
  std::optional<stp::StreamId> out_;
  Instant next_try_;
};

}  // namespace satrelay::gateway
