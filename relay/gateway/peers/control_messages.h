// Messages between a gateway and one peer that do not belong to flows. About the gateway: whether
// it accepts new flows, which dictionaries it has, and from which hosts it accepts connections.
// About hosts: whether a server has answered at all, which sequence numbers a host has in a bridged
// connection, to which MACs hosts address their frames, which of the peer's hosts are on this LAN,
// and whether a LAN has an address. About flows: how much was retransmitted on the LAN and, if the
// peer has restarted, which flows existed. Each message is a stream of its own (docs/stp.md section
// 15), with the same repair, pacing and flow control as other streams. To accept a message, the
// receiver ends the stream with RESET, reason none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/admission.h"
#include "relay/gateway/frames/open_metadata.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/accepted_sources.h"
#include "relay/gateway/peers/dictionaries.h"
#include "relay/gateway/peers/host_arrivals.h"
#include "relay/gateway/peers/host_evidence.h"
#include "relay/gateway/peers/lan_destinations.h"
#include "relay/gateway/peers/lan_questions.h"
#include "relay/gateway/peers/lan_reports.h"
#include "relay/gateway/peers/messages.h"
#include "relay/gateway/peers/stream_context.h"
#include "relay/gateway/recovery/orphaned_flows.h"
#include "relay/gateway/steering/lane_addresses.h"

namespace satrelay::gateway {

class ControlMessages {
 public:
  // `session`, `prefixes` and `reader` must outlive this object. `id`, `lane`: the lane that the
  // session serves. `prefixes`: the prefixes of the lane's peer. `most_flows`: the maximum number
  // of flows in a list.
  ControlMessages(stp::Session& session, LaneId id, const LaneAddress& lane,
                  const std::vector<IpPrefix>& prefixes, std::uint32_t most_flows,
                  LanReportReader& reader)
      : session_(session),
        lane_(lane),
        messages_(session, StreamContext::of_messages(id).number()),
        most_flows_(most_flows),
        reports_(session, id, messages_, reader),
        destinations_(session, messages_),
        arrivals_(session, messages_),
        sources_(session, messages_, prefixes),
        questions_(session, messages_) {}

  // Tells the peer whether this gateway accepts new flows. If the peer is not alive, the message is
  // sent when it is alive again.
  void announce(Admission admission, Instant now);
  // Tells the peer with which dictionaries it may compress blocks. If the peer is not alive, the
  // message is sent when it is alive again.
  void offer(const std::vector<DictionaryOffer>& dictionaries, Instant now);
  // Adds a flow to a list. If the peer turns out to have restarted, it no longer knows the flow and
  // gets the list. `client`: kHere means that the client is on the peer's LAN.
  void remember(const OpenMetadata& flow, ClientSide client);
  // Call this before flows are added one by one. The list is then not sent before release_list().
  void hold_list() { list_is_held_ = true; }
  void release_list(Instant now);

  // Asks the peer whether the host of the flow on the peer's LAN has answered at all (docs/stp.md
  // section 15). Has no effect if the question cannot be sent now.
  void doubt(stp::StreamId flow, Instant now);
  // If the peer has asked such a question since the last call, returns the stream of the flow.
  std::optional<stp::StreamId> take_doubt() { return std::exchange(doubted_, std::nullopt); }

  // Sends the peer a host's sequence numbers in a bridged connection. Returns false if the peer is
  // not alive or does not understand evidence, if evidence was just sent, or if the session can
  // open no stream.
  bool tell(const HostEvidence& evidence, Instant now);
  bool understands_evidence() const { return session_.agreed().evidence(); }
  // Returns new evidence from the peer; nullopt if there is none.
  std::optional<HostEvidence> take_evidence() { return std::exchange(evidence_, std::nullopt); }

  // Asks the peer to send a LAN report (lan_report.h) for each flow that ends from now on.
  void ask_for_reports();
  bool awaits_reports() const { return reports_.awaits(); }
  // Reports a flow that has ended here. Returns false if the peer has not asked for reports, or if
  // there is no room.
  bool report(const LanReport& report, Instant now) { return reports_.tell(report, now); }

  // Messages about the MACs to which hosts address their frames.
  LanDestinations& destinations() { return destinations_; }

  // Messages about the peer's hosts that have answered on this LAN, and about hosts of this LAN
  // that have answered on the peer's LAN.
  HostArrivals& arrivals() { return arrivals_; }

  // Questions whether the far LAN has an address, and the peer's questions about this LAN.
  LanQuestions& questions() { return questions_; }

  // The hosts from which the peer accepts connections.
  const AcceptedSources& sources() const { return sources_; }

  // Call this when the peer has opened a stream. Returns true if the stream carries a message, and
  // not a flow.
  bool handle_opened(stp::StreamId stream, Instant now);
  // Handles an event of the session that concerns no stream, or the stream of a message. If the
  // peer lists flows that it had before this gateway restarted, they are added to `orphans`.
  void handle_event(const stp::Event& event, OrphanedFlows& orphans, Instant now);
  // Returns the number of messages that were withdrawn because the peer did not accept them in
  // time.
  [[nodiscard]] unsigned handle_timeout(OrphanedFlows& orphans, Instant now);
  Instant next_timeout() const {
    if (reads_on_) return {};
    return earlier(earlier(earlier(retry_at_, messages_.next_timeout()), reports_.next_timeout()),
                   earlier(earlier(destinations_.next_timeout(), arrivals_.next_timeout()),
                           sources_.next_timeout()));
  }
  // Call this when the session can send further bytes of a message's stream.
  void produce(stp::StreamId stream, Instant now);

  Admission peer_admission() const { return peer_admission_; }
  const std::vector<DictionaryOffer>& peer_dictionaries() const { return peer_dictionaries_; }

 private:
  void say(Instant now);
  void say(ConstBytes message, Instant now);
  void handle_reset(stp::StreamId stream, stp::ResetReason reason, Instant now);
  bool hear_admission(ConstBytes bytes);
  bool hear_dictionaries(ConstBytes bytes);
  void list(Instant now);
  void read_list(OrphanedFlows& orphans, Instant now);
  void forget_flows();

  stp::Session& session_;
  LaneAddress lane_;
  Messages messages_;
  std::uint32_t most_flows_;
  Instant retry_at_ = Instant::never();

  Admission admission_ = Admission::kOpen;
  std::uint32_t sequence_ = 0;  // number of our latest announcement; 0 if there was none
  Admission peer_admission_ = Admission::kOpen;
  std::uint32_t peer_sequence_ = 0;

  std::vector<DictionaryOffer> dictionaries_;
  std::uint32_t dictionaries_sequence_ = 0;  // number of our latest offer; 0 if there was none
  std::vector<DictionaryOffer> peer_dictionaries_;
  std::uint32_t peer_dictionaries_sequence_ = 0;

  Instant next_doubt_;
  std::optional<stp::StreamId> doubted_;

  Instant next_evidence_;
  std::optional<HostEvidence> evidence_;

  // The list for the peer, encoded as in the message. It is empty unless the peer may have
  // restarted.
  static constexpr std::size_t kChunk = 16 * 1024;
  using Chunk = std::array<std::byte, kChunk>;
  std::vector<std::unique_ptr<Chunk>> flows_;
  std::size_t flows_size_ = 0;
  bool list_is_held_ = false;
  std::uint32_t remembered_ = 0;
  bool peer_restarted_ = false;  // whether the peer has restarted, so that the list must be sent
  std::optional<stp::StreamId> list_out_;
  std::size_t written_ = 0;
  std::optional<stp::StreamId> list_in_;
  std::uint32_t listed_ = 0;
  bool list_refused_ = false;  // whether some entries of the incoming list were refused
  bool reads_on_ = false;      // whether more entries have arrived and can be read

  LanReports reports_;
  LanDestinations destinations_;
  HostArrivals arrivals_;
  AcceptedSources sources_;
  LanQuestions questions_;
};

}  // namespace satrelay::gateway
