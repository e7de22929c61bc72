// The Relay Entity: an inline bridge that takes TCP flows off the LAN and carries each in an STP
// stream. It is pure: frames and time are its input, and frames are its output. See
// docs/architecture.md.
//
// Usage: pass input to handle_frame() and handle_timeout(). Afterwards call poll_frame() for each
// port until it returns kNothing, and again no later than next_timeout(). `now` must never go
// backwards. handle_frames() and poll_frames() do the same for many frames at once, with less work
// for each frame.
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
#include "relay/gateway/handled_frame.h"
#include "relay/gateway/identity.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/plain_observer.h"
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

// A configuration in the form that reconfigure() needs, made by prepare().
struct Prepared {
  std::shared_ptr<const RuleIndex> rules;
  ClassDictionaries dictionaries;
};

class FlowRecorder;  // flows/flow_record.h

class Gateway {
  class Engine;

 public:
  // `arena_memory` and `journal` must outlive the gateway. The gateway records its flows in
  // `journal`, and finds the flows of an earlier run there (flow_journal.h). Without a `journal` it
  // records none. Throws std::invalid_argument if the configuration contradicts itself; the loader
  // refuses such a configuration earlier, and names the place.
  Gateway(const config::Gateway& config, const Identity& identity, MutableBytes arena_memory,
          Instant now, MutableBytes journal = {});
  ~Gateway();

  Verdict handle_frame(PortId port, ConstBytes frame, Instant now,
                       Checksum checksum = Checksum::kUnknown);
  using Arrived = gateway::Arrived;
  using Handled = gateway::Handled;
  // Handles frames that arrived together, in order. `handled` has as many elements as `frames`. The
  // result is the same as with one call for each frame. If consecutive frames belong to the same
  // flow or peer, the engine does their common work once, after the last of them. It may defer this
  // work until a call concerns something else, or until a getter shows the results.
  void handle_frames(PortId port, std::span<const Arrived> frames, std::span<Handled> handled,
                     Instant now);
  // Learns from a frame where hosts and neighbours are. Another worker handles the frame, but all
  // workers must see it (Steering, Route::all). So this function neither bridges nor answers it.
  void overhear(PortId port, ConstBytes frame, Instant now);
  // Sets the delay and the losses of the WAN port for the frames that are passed next. The sessions
  // report both values to the peers. Otherwise a peer would attribute this machine's delay and
  // losses to the link.
  void set_wan_reception(const stp::Reception& reception);
  // The caller was delayed: frames for the WAN port that poll_frame() has written since `began` may
  // not have been sent before `ended`.
  void note_late_sending(Instant began, Instant ended);
  void handle_timeout(Instant now);
  // Writes the next frame to send on `port` into `out` (at least max_frame_size() bytes), or
  // reports that a held frame (Verdict::kQueued) may be sent or was dropped. Only frames from the
  // LAN are ever held.
  Polled poll_frame(PortId port, MutableBytes out, Instant now);
  // Does the same for several frames, and writes each frame to its own element of `rooms`. `polled`
  // has as many elements as `rooms`. Returns the number of frames, which is less than
  // `rooms.size()` if no more frames can be sent now.
  std::size_t poll_frames(PortId port, std::span<const MutableBytes> rooms,
                          std::span<Polled> polled, Instant now);
  Instant next_timeout() const;
  static constexpr std::size_t kMostHeldFrames = gateway::kMostHeldFrames;
  // Number of frames that the caller holds after Verdict::kQueued, at most kMostHeldFrames.
  std::size_t held_frames() const;
  // The slot in which the caller must keep the frame that was last answered with kQueued. The slot
  // is below kMostHeldFrames, and free.
  std::size_t held_slot() const;
  std::size_t max_frame_size() const;  // including header and VLAN tags, without FCS

  // --- rates -----------------------------------------------------------------------------------
  using CapacityResult = gateway::CapacityResult;
  // The rates of links and peers, and the division of links among workers (gateway_rates.cc).
  class Rates {
   public:
    explicit Rates(Engine& engine) : engine_(engine) {}

    // Sets the rate that the modem carries from now on (adaptive coding and modulation). With
    // kSend, this gateway obeys at once. With kReceive, the sessions announce the rate to the peers
    // on the link, and those peers obey it. A rate of zero restores the configured rate. The
    // configured rate is also the maximum, since memory was sized for it.
    CapacityResult set_capacity(std::string_view link, LinkWay way, BitRate capacity, Instant now);
    // Limits the sending rate towards a peer, in addition to the rate of its link. Zero removes the
    // limit. Other limits below 1 kbit/s count as 1 kbit/s. Returns false if no peer has that name.
    bool set_peer_rate(std::string_view peer, BitRate most, Instant now);
    // The limit of a link that set_capacity() has set, and the limit of a peer that set_peer_rate()
    // has set. Zero if the limit does not differ from the configuration, or if no link or peer has
    // that name.
    BitRate commanded_capacity(std::string_view link, LinkWay way) const;
    BitRate commanded_rate(std::string_view peer) const;

    // The sending rate of the link that is in force: the lowest of the configured rate, the
    // commanded rate, the rate that a peer has announced, and the rate that a controller has
    // measured.
    BitRate link_rate(LinkId link) const;
    // Size of the packet train with which a controller now measures the link's capacity. This many
    // bytes may be sent at once in addition to link_rate().
    ByteCount link_train(LinkId link) const;

    // write_demands() reports how much this worker has sent and how much waits to be sent.
    // take_shares() sets how much this worker may send from now on (shares/division.h). A worker
    // may use the whole of each link until it gets shares, and always if it is the only worker.
    void write_demands(Demands& demands, Instant now) const;
    void take_shares(const Shares& shares, Instant now);

   private:
    Engine& engine_;
  };
  Rates& rates() { return rates_; }
  const Rates& rates() const { return rates_; }

  // Changes a class until the next reconfigure().
  using ClassResult = gateway::ClassResult;
  ClassResult set_class(std::string_view name, const ClassChange& change, Instant now);

  // Applies the parts of a configuration that can change while flows exist: rules, classes,
  // limits.half_open, idle_timeout and half_close_timeout, stp.give_up_after, tcp, the keys of each
  // peer, and bridged_queue and send_rate of each link. A send_rate may not exceed the send_rate at
  // the start. The other parts must be unchanged (config/checks/changes.h checks that). `prepared`
  // is the result of prepare(next), which takes long with many rules, and may run in another
  // thread. The second form calls prepare() itself. Changes by set_rule() and set_class() are
  // undone.
  void reconfigure(const config::Gateway& next, Instant now, const Prepared& prepared);
  void reconfigure(const config::Gateway& next, Instant now);
  static Prepared prepare(const config::Gateway& next);

  // Changes functions of a rule until the next reconfigure(). `rule` is its name or its number.
  // `compress` also applies to existing connections, the modes only to new ones.
  enum class SetResult : std::uint8_t { kSet, kUnknownRule, kNotAccelerated, kContradiction };
  SetResult set_rule(std::string_view rule, const RuleChange& change);
  // The rule as it is in force; nullptr if no rule has that name or number.
  const config::Rule* rule(std::string_view name_or_number) const;
  // Returns the rule for a packet or a connection, and the reason. The engine sets the peer of
  // `asked` itself.
  Explanation explain(const PolicyKey& asked, Instant now) const;

  // Sets whether this gateway accepts new flows, and informs the peers. While it accepts none, the
  // peers bridge new connections to the hosts of this LAN. Existing flows continue. A draining
  // gateway has no flow left when unfinished_flows() is 0.
  void set_admission(Admission admission, Instant now);
  // Number of flows, without flows in TIME-WAIT.
  std::size_t unfinished_flows() const;

  // Announces the stop to the peers with CLOSE, and resets all flows towards their hosts. Poll
  // frames afterwards until there are none.
  void shut_down(Instant now);
  // After shut_down(), returns whether a CLOSE still waits to be sent on the link.
  bool has_final_segments() const;

  // Set the observer of packets and the recorder of ended flows. nullptr removes them.
  void observe_plain(PlainObserver* observer);
  void record_flows(FlowRecorder* recorder);

  const Counters& counters() const;
  // Number of objects that the engine has visited since its start: frames of packets, packets that
  // were acknowledged or declared lost, streams, flows, timers, and entries of lists. A call of
  // handle_*() or poll_*() visits at most kMostVisited objects for each of its frames, however many
  // objects exist. Later calls visit the rest, and next_timeout() requests these calls at once.
  static constexpr std::uint64_t kMostVisited = 2048;
  std::uint64_t visited() const;
  // Work on octets since the start, such as copying and compression, in nominal nanoseconds
  // (pep/base/work_budget.h). A call that has done WorkBudget::kOfACall begins no further piece of
  // work. So a call does at most kMostWorked, which includes the largest piece: compressing a
  // block, and copying it if it did not compress well. This holds for a `compress_level` up to 9.
  // Calls at the same instant count as one call.
  static constexpr Work kMostWorked = WorkBudget::kOfACall + compress::kMostEncodingWork +
                                      compress::kBeginningWork + compress::kProbingWork +
                                      compress::kBlockWork + copying_work(64 << 10);
  Work worked() const;
  Status status(Instant now) const;
  // Lanes [first, first + count). The lanes of a peer are consecutive.
  std::vector<PeerSnapshot> peers(
      std::size_t first = 0, std::size_t count = std::numeric_limits<std::size_t>::max()) const;
  // In the order of the configuration.
  std::vector<LinkSnapshot> links() const;
  // Rules [first, first + count) of the configuration. An entry for "no rule" follows the last
  // rule.
  std::vector<RuleSnapshot> rules(std::size_t first, std::size_t count) const;
  // In the order of the configuration, followed by the two classes without a configured name.
  std::vector<ClassSnapshot> classes() const;
  // Histograms of durations: the time to compress a block, the time until a flow is complete, and
  // the time that each class waits for the link.
  std::vector<HistogramSnapshot> histograms() const;
  // The latest connections from the LAN that were bridged instead of relayed, newest first.
  static constexpr std::size_t kMostBridged = 100;
  std::vector<BridgedSnapshot> bridged(Instant now) const;
  // Flows [first, first + count) in the order of the table.
  std::vector<FlowSnapshot> flows(std::size_t first, std::size_t count, Instant now) const;
  // The flow with that number; nullopt if it does not exist, or no longer exists.
  std::optional<FlowSnapshot> flow(std::uint64_t id, Instant now) const;
  std::size_t flow_count() const;

  // --- checks of the accounts ------------------------------------------------------------------
  // Both functions take time in proportion to the flows and the bytes that the flows store. A build
  // with checks calls audit() at intervals. audit() counts memory, credit and flows anew. If an
  // account differs from its count, audit() describes the first such account.
  std::optional<std::string> audit() const;
  ArenaUse arena_use() const;

 private:
  friend class FlowImages;  // flow_images.h

  void audit_at_intervals();
  struct Impl;
  // Gives access to the engine, which may have deferred work for earlier frames (handle_frames()).
  // Each function of Gateway chooses whether this work is done first (settled()) or stays deferred
  // (unsettled()).
  class Engine {
   public:
    explicit Engine(std::unique_ptr<Impl> impl);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    Impl& settled() const;  // does the deferred work first
    Impl& unsettled() { return *impl_; }
    const Impl& unsettled() const { return *impl_; }

   private:
    std::unique_ptr<Impl> impl_;
  };
  Engine engine_;
  Rates rates_{engine_};
};

}  // namespace satrelay::gateway
