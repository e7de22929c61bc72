// Messages between a gateway and one peer, beside the flows: whether the sender accepts new flows,
// which dictionaries it has, whether a server has answered at all, which numbers a host has in a
// bridged connection, to which MACs hosts address their frames, which of the peer's hosts are on
// this LAN, whether a LAN has an address, from which hosts the sender accepts connections, how its
// LAN has fared and, after a restart of the peer, which flows there were. Each message is a stream
// of its own (docs/stp.md section 15). So it is repaired, paced and under flow control like any
// stream. The receiver ends the stream with RESET, reason none, when it has taken the message.
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
  // `session`, `prefixes` and `reader` must outlive this. `number`: of the session, for a lane to
  // the peer that has these prefixes. At most `most_flows` are listed.
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

  // Tells the peer, now or when it is alive.
  void announce(Admission admission, Instant now);
  // The same for the dictionaries with which the peer may compress blocks.
  void offer(const std::vector<DictionaryOffer>& dictionaries, Instant now);
  // Adds a flow to the list for the peer: the peer has forgotten the flow if it was started anew.
  // `client`: where the client is, from the peer's point of view.
  void remember(const OpenMetadata& flow, ClientSide client);
  // More flows are added one by one. The list does not leave before release_list().
  void hold_list() { list_is_held_ = true; }
  void release_list(Instant now);

  // Asks the peer whether its host has answered at all in this flow (docs/stp.md section 15). If
  // the question cannot leave now, it is dropped.
  void doubt(stp::StreamId flow, Instant now);
  // The peer's question, once.
  std::optional<stp::StreamId> take_doubt() { return std::exchange(doubted_, std::nullopt); }

  // Sends the peer a host's numbers in a bridged connection. False: the peer is not alive or does
  // not understand evidence, some was just sent, or the session has no stream to spare.
  bool tell(const HostEvidence& evidence, Instant now);
  bool understands_evidence() const { return session_.agreed().evidence(); }
  // The peer's evidence, once.
  std::optional<HostEvidence> take_evidence() { return std::exchange(evidence_, std::nullopt); }

  // From now on the peer must report how its LAN has fared in each flow that ends.
  void ask_for_reports();
  bool awaits_reports() const { return reports_.awaits(); }
  // Reports a flow that has ended here. False if the peer has not asked for reports, or there is no
  // room.
  bool report(const LanReport& report, Instant now) { return reports_.tell(report, now); }

  // Messages about the MACs to which hosts address their frames.
  LanDestinations& destinations() { return destinations_; }

  // Messages about the peer's hosts that have answered on this LAN, and the reverse.
  HostArrivals& arrivals() { return arrivals_; }

  // Questions whether the far LAN has an address, and the peer's questions about this LAN.
  LanQuestions& questions() { return questions_; }

  // The hosts from which the peer accepts connections.
  const AcceptedSources& sources() const { return sources_; }

  // The peer has opened a stream. True if it carries a message, and not a flow.
  bool handle_opened(stp::StreamId stream, Instant now);
  // Events of the session that concern no stream, or a stream of a message. Flows that the peer
  // lists go to `orphans`.
  void handle_event(const stp::Event& event, OrphanedFlows& orphans, Instant now);
  // Returns how many messages the peer has not taken in time.
  [[nodiscard]] unsigned handle_timeout(OrphanedFlows& orphans, Instant now);
  Instant next_timeout() const {
    if (reads_on_) return {};
    return earlier(earlier(earlier(retry_at_, messages_.next_timeout()), reports_.next_timeout()),
                   earlier(earlier(destinations_.next_timeout(), arrivals_.next_timeout()),
                           sources_.next_timeout()));
  }
  // The session asks for the next bytes of a message's stream.
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
  std::uint32_t sequence_ = 0;  // of our announcements; 0: none
  Admission peer_admission_ = Admission::kOpen;
  std::uint32_t peer_sequence_ = 0;

  std::vector<DictionaryOffer> dictionaries_;
  std::uint32_t dictionaries_sequence_ = 0;  // of our offers; 0: none
  std::vector<DictionaryOffer> peer_dictionaries_;
  std::uint32_t peer_dictionaries_sequence_ = 0;

  Instant next_doubt_;
  std::optional<stp::StreamId> doubted_;

  Instant next_evidence_;
  std::optional<HostEvidence> evidence_;

  // Flows to list, as the message carries them. Empty unless the peer may have been started anew.
  static constexpr std::size_t kChunk = 16 * 1024;
  using Chunk = std::array<std::byte, kChunk>;
  std::vector<std::unique_ptr<Chunk>> flows_;
  std::size_t flows_size_ = 0;
  bool list_is_held_ = false;
  std::uint32_t remembered_ = 0;
  bool peer_restarted_ = false;  // the list is due
  std::optional<stp::StreamId> list_out_;
  std::size_t written_ = 0;
  std::optional<stp::StreamId> list_in_;
  std::uint32_t listed_ = 0;
  bool list_refused_ = false;  // some entries were refused
  bool reads_on_ = false;      // more of the list can be read

  LanReports reports_;
  LanDestinations destinations_;
  HostArrivals arrivals_;
  AcceptedSources sources_;
  LanQuestions questions_;
};

}  // namespace satrelay::gateway
