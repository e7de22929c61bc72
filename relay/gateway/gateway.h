// The Relay Entity: an inline bridge that takes TCP flows off the LAN and joins each to one STP
// stream. Pure: frames and time come in, frames go out; see docs/architecture.md.
//
// Verbs: handle_frame() and handle_timeout() feed it; afterwards poll_frame() each port until it
// finds nothing, and again no later than next_timeout(). `now` must never go backwards.
// handle_frames() and poll_frames() do the same for many frames at once, with less work for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/stopwatch.h"
#include "pep/base/time.h"
#include "pep/base/work_budget.h"
#include "pep/compress/codec_work.h"
#include "relay/gateway/admission.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/port_id.h"
#include "relay/gateway/rules/explanation.h"
#include "relay/gateway/rules/rule_change.h"
#include "relay/gateway/rules/rule_index.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/snapshot.h"
#include "relay/gateway/steering/share.h"
#include "relay/gateway/uplink/class_change.h"
#include "relay/gateway/uplink/class_dictionaries.h"
#include "relay/gateway/uplink/command_result.h"
#include "relay/gateway/uplink/link_way.h"
#include "relay/gateway/uplink/polled.h"

namespace satrelay::gateway {

// What the host does with the frame it passed to handle_frame().
enum class Verdict : std::uint8_t {
  kConsumed,  // the engine has taken what it needs: free the frame
  kBridge,    // send this very frame out of the other port
  kQueued,    // keep this very frame in held_slot(), until poll_frame() lets it go
  kDrop,      // free the frame; a counter names the reason
};

// What the host knows of a frame's TCP or UDP checksum before the engine sees it. A device that
// says anything else than that it is right is not believed.
enum class Checksum : std::uint8_t { kUnknown, kVerified };

struct CommonKnowledge;  // addresses/common_knowledge.h

// What only the host can know.
struct Identity {
  std::uint64_t boot_epoch = 0;          // wall clock at start, nanoseconds: larger at each start
  std::uint64_t secret[2] = {0, 0};      // random key for initial sequence numbers (RFC 6528)
  MacAddress wan_mac;                    // source of what the gateway itself sends on the WAN
  Entropy* entropy = nullptr;            // for keys; needed if a peer's security is not `none`
  const Stopwatch* stopwatch = nullptr;  // to measure compression with; nullptr: is not measured
  // The LAN port completes TCP checksums: those of relayed data are left to it
  // (Polled::checksum_from).
  bool lan_port_sums = false;
  // What the workers learn together of hosts; nullptr: this engine learns alone.
  std::shared_ptr<CommonKnowledge> common = nullptr;
  // Which part of the gateway this engine is; of `config.worker.count`. All but this, the stopwatch
  // and the entropy is the same at all workers of a gateway.
  Share share = {};
};

// What a configuration is made into before it is taken over.
struct Prepared {
  std::shared_ptr<const RuleIndex> rules;
  ClassDictionaries dictionaries;
};

// Sees what STP carries in the clear: the packets as they are before they are encrypted and after
// they were decrypted, without their checksum or tag, behind the headers that they have on the WAN.
class PlainObserver {
 public:
  virtual ~PlainObserver() = default;
  virtual void see_plain(LinkWay way, ConstBytes frame) = 0;
};

class FlowRecorder;  // flows/flow_record.h
struct Frame;        // frames/frame.h

class Gateway {
 public:
  // `arena_memory` must outlive the gateway, and so must `journal`: there it writes down its flows,
  // and finds those of an earlier run (flow_journal.h); empty: nowhere. Throws
  // std::invalid_argument if the configuration contradicts itself (the loader has refused such a
  // one with its place already).
  Gateway(const config::Gateway& config, const Identity& identity, MutableBytes arena_memory,
          Instant now, MutableBytes journal = {});
  ~Gateway();

  Verdict handle_frame(PortId port, ConstBytes frame, Instant now,
                       Checksum checksum = Checksum::kUnknown);
  struct Arrived {
    ConstBytes bytes;
    Checksum checksum = Checksum::kUnknown;
    // What look_at() has made of it, if the host has looked; the engine may write there.
    Frame* seen = nullptr;
  };
  // What becomes of a frame of many, and with kQueued where it is kept.
  struct Handled {
    Verdict verdict = Verdict::kConsumed;
    std::size_t slot = 0;
  };
  // Frames that have come together, in their order; `handled` has as many. The same as one by one:
  // either way what frames of one flow or of one peer have in common is done after the last of
  // them, in the next call that is about something else; a question counts as one.
  void handle_frames(PortId port, std::span<const Arrived> frames, std::span<Handled> handled,
                     Instant now);
  // A frame that another worker handles and all must know of (Steering, Route::all): where hosts
  // and neighbours are is learnt from it, and nothing else happens.
  void overhear(PortId port, ConstBytes frame, Instant now);
  // How the WAN port has fared by the time of the frames that are shown next: the peers are told,
  // who else took the delay and the losses of this machine for those of the link.
  void set_wan_reception(const stp::Reception& reception);
  // What poll_frame() wrote for the WAN port from `began` on left it as late as `ended`.
  void note_late_sending(Instant began, Instant ended);
  void handle_timeout(Instant now);
  // Writes the next frame to send on `port` into `out` (at least max_frame_size() bytes), or says
  // that a held one may leave. Only frames from the LAN are ever held.
  Polled poll_frame(PortId port, MutableBytes out, Instant now);
  // The next ones, each of which has the room to be written of the same place; `polled` has as
  // many. How many there are: fewer than there is room for if there is nothing more to send now.
  std::size_t poll_frames(PortId port, std::span<const MutableBytes> rooms,
                          std::span<Polled> polled, Instant now);
  Instant next_timeout() const;
  static constexpr std::size_t kMostHeldFrames = gateway::kMostHeldFrames;
  std::size_t held_frames() const;  // kept by the host now, at most kMostHeldFrames
  // Where the frame is to be kept that was last answered with kQueued: below kMostHeldFrames, and
  // free.
  std::size_t held_slot() const;
  std::size_t max_frame_size() const;  // header and VLAN tags included, no FCS

  // The modem carries another rate from now on (adaptive coding and modulation). kSend: obeyed at
  // once; kReceive: the peers on the link are told, and obey. Zero: as configured, which is also
  // the most, as memory was sized for it.
  using CapacityResult = gateway::CapacityResult;
  CapacityResult set_capacity(std::string_view link, LinkWay way, BitRate capacity, Instant now);

  // No more than this is sent to a peer from now on, whatever its link carries, at least 1 kbit/s;
  // zero: all there is. False if there is no peer of that name.
  bool set_peer_rate(std::string_view peer, BitRate most, Instant now);

  // What the link carries towards the peers as far as is known, in the order of the configuration.
  BitRate link_rate(std::size_t link) const;
  // So many bytes beyond that may leave at once, as a controller measures it now.
  ByteCount link_train(std::size_t link) const;

  // What set_capacity() has said of a link, and set_peer_rate() of a peer; zero: nothing that
  // differs from what is configured, or no such link or peer.
  BitRate commanded_capacity(std::string_view link, LinkWay way) const;
  BitRate commanded_rate(std::string_view peer) const;

  // What this worker has sent and what waits, and what it may send from then on
  // (shares/division.h). Until it is given shares first, and for ever if it is alone, each link is
  // all its own.
  void write_demands(Demands& demands, Instant now) const;
  void take_shares(const Shares& shares, Instant now);

  // Changes a class until the next reconfigure().
  using ClassResult = gateway::ClassResult;
  ClassResult set_class(std::string_view name, const ClassChange& change, Instant now);

  // Takes over what of a configuration can change while flows go on: rules, classes,
  // limits.half_open, idle_timeout and half_close_timeout, stp.give_up_after, tcp, of each peer the
  // keys, and of each link bridged_queue and send_rate, up to that of the start. The rest must be
  // as it was (config/checks/changes.h tells).
  // `prepared`: what prepare() made of `next`, which takes long with many rules and may be done by
  // another thread; without it, that is done now. What set_rule() has changed is as configured.
  void reconfigure(const config::Gateway& next, Instant now, const Prepared& prepared);
  void reconfigure(const config::Gateway& next, Instant now);
  static Prepared prepare(const config::Gateway& next);

  // Sets functions of a rule, named by its name or its number, until the next reconfigure().
  // `compress` holds for connections that are there, too, the modes for new ones.
  enum class SetResult : std::uint8_t { kSet, kUnknownRule, kNotAccelerated, kContradiction };
  SetResult set_rule(std::string_view rule, const RuleChange& change);
  // As it is in force; nullptr if there is none of that name or number.
  const config::Rule* rule(std::string_view name_or_number) const;
  // The rule for a packet or a connection, and why; its peer is found out.
  Explanation explain(const PolicyKey& asked, Instant now) const;

  // Whether new flows are taken; the peers are told, and bridge theirs too. Flows that are there go
  // on. A gateway that drains has none left when unfinished_flows() is 0.
  void set_admission(Admission admission, Instant now);
  std::size_t unfinished_flows() const;  // without those in TIME-WAIT

  // Tells peers with CLOSE that this gateway stops and resets all flows towards its hosts. Poll
  // frames afterwards until none come.
  void shut_down(Instant now);
  // After shut_down(): whether a CLOSE is left, which waits for the link.
  bool has_final_segments() const;

  // nullptr: nobody.
  void observe_plain(PlainObserver* observer);
  void record_flows(FlowRecorder* recorder);

  const Counters& counters() const;
  // Objects that the engine went over since its start: frames of packets, packets that reports
  // settle, streams, flows, timers, entries of lists. No call of handle_*() or poll_*() goes over
  // more than kMostVisited, or that for each frame of many, however many there are; what is more
  // follows in the next calls, for which next_timeout() asks at once.
  static constexpr std::uint64_t kMostVisited = 2048;
  std::uint64_t visited() const;
  // What it has done to octets beside that, weighed (pep/base/work_budget.h). A call ends with the
  // piece of work with which it exceeds WorkBudget::kOfACall: at most kMostWorked, unless
  // `compress_level` is above 9. A block that does not pay is copied, too. Calls at one instant
  // count as one.
  static constexpr Work kMostWorked = WorkBudget::kOfACall + compress::kMostEncodingWork +
                                      compress::kBeginningWork + compress::kProbingWork +
                                      compress::kBlockWork + copying_work(64 << 10);
  Work worked() const;
  Status status(Instant now) const;
  // Lanes [first, first + count), those of a peer one after the other.
  std::vector<PeerSnapshot> peers(
      std::size_t first = 0, std::size_t count = std::numeric_limits<std::size_t>::max()) const;
  // As configured.
  std::vector<LinkSnapshot> links() const;
  // Rules [first, first + count) of the configuration; behind the last one stands "none".
  std::vector<RuleSnapshot> rules(std::size_t first, std::size_t count) const;
  // In the order of the configuration; behind them the two without a name.
  std::vector<ClassSnapshot> classes() const;
  // How long things take: the compression of a block, and of each class the wait for the link.
  std::vector<HistogramSnapshot> histograms() const;
  // The latest connections from the LAN that were bridged instead of relayed, newest first.
  static constexpr std::size_t kMostBridged = 100;
  std::vector<BridgedSnapshot> bridged(Instant now) const;
  // Flows [first, first + count) in table order.
  std::vector<FlowSnapshot> flows(std::size_t first, std::size_t count, Instant now) const;
  // The one of that number; nullopt if there is none, or no more.
  std::optional<FlowSnapshot> flow(std::uint64_t id, Instant now) const;
  std::size_t flow_count() const;

  // --- to check the accounts, O(flows and what they store); a build with checks does so by itself,
  // at intervals ------------------------------------------------------------------------------
  // Memory, credit and flows counted anew: the first that differs from what is kept of it, in
  // words.
  std::optional<std::string> audit() const;
  ArenaUse arena_use() const;

 private:
  void audit_at_intervals();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satrelay::gateway
