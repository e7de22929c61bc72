// One STP session: one lane of one peer, both directions. Wire format: docs/stp.md.
//
// Verbs: handle_* feed input, mutators act for the relay, poll_* take output, getters look. After
// any handle_* or mutator, call poll_packet() until it answers 0 and poll_event() until it answers
// nullopt, then again no later than next_timeout(). `now` must never go backwards.
//
// Offsets and credit count encoded bytes (what write() was given), 64-bit, from 0 in each direction
// of each stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/containers/byte_queue.h"
#include "pep/base/containers/reassembler.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/budget.h"
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/host_share.h"
#include "pep/schedule/turn.h"
#include "pep/stp/connection/security.h"
#include "pep/stp/counters.h"
#include "pep/stp/packets/rate_cuts.h"
#include "pep/stp/packets/reception.h"
#include "pep/stp/packets/report_budget.h"
#include "pep/stp/streams/stream_source.h"
#include "pep/stp/types.h"
#include "pep/stp/wire/packet_observer.h"

namespace satrelay::stp {

class HelloBudget;
class SharedRepairs;

// What HELLOs and CLOSEs of all sessions on a carrier may take of it; nullptr: there is plenty.
struct HandshakeBudgets {
  control::Budget* hellos = nullptr;   // of our own accord
  control::Budget* answers = nullptr;  // to the peer's, and to a peer that is connected
  control::Budget* closes = nullptr;
};

struct Config {
  std::uint64_t boot_epoch = 0;  // larger at each start of this gateway (clock, nanoseconds)
  std::uint8_t lane = 0;
  std::uint8_t lane_count = 1;         // of all lanes to the peer, which must say the same
  bool opens_even_streams = true;      // exactly one of the two gateways
  std::uint16_t datagram_size = 1472;  // UDP payload, at most: `stp.mtu` less IP and UDP headers
  std::uint16_t datagram_base = 1172;  // and what nearly any path carries: 1200 IP bytes
  std::uint16_t datagram_floor = 548;  // and what any does: 576, or 1280 of IPv6
  // Whether the path is known to carry datagram_size; else it is searched for (docs/stp.md section
  // 13).
  bool path_mtu_known = true;
  std::uint16_t datagram_overhead = 28;  // IP and UDP headers, for the pacer
  std::uint32_t max_streams = 65536;
  // What the relay understands (docs/stp.md section 15).
  bool lan_reports = false;
  bool evidence = false;
  // And what RESET reason 13 says.
  bool other_vlan = false;
  // And urgent marks, of CONFIRM and of blocks (section 14).
  bool urgent_marks = false;
  // And to which MACs hosts address their frames (section 15).
  bool destinations = false;
  // And from which hosts the peer accepts connections (the same).
  bool accepted_sources = false;
  // And blocks that say that a host has reset its connection (section 5).
  bool reset_marks = false;
  // And what a host answers that is asked whether it is still there (section 14).
  bool host_words = false;
  // And RESET reason 14, with the ICMP error that it carries.
  bool icmp_refusals = false;
  // And which hosts of its own have answered on the LAN of the other (section 15).
  bool arrivals = false;
  // And whether an address belongs to a host of its LAN (section 15).
  bool between_gateways = false;
  // Each half of a stream has a reserve of the arena's, so that it goes on however little memory
  // the others leave.
  bool reserves = false;
  std::uint64_t lane_receive_limit = 64ULL << 20;    // credit granted to the peer for all streams
  std::uint64_t stream_receive_limit = 64ULL << 20;  // and for one
  std::uint64_t stream_send_limit = 64ULL << 20;     // stored and not yet acknowledged, per stream
  std::uint32_t max_packets_in_flight = 1 << 21;     // 64 bytes each, once so many are
  FeedbackMode feedback_mode = FeedbackMode::kAdaptive;
  FecMode fec = FecMode::kAuto;
  double prompt_share = 0;  // of repairs, to a byte of a prompt flow; 0: from the loss
  // Of all that shares the carrier with the session's streams; nullptr: nothing does. Outlives it.
  schedule::HostShares* host_shares = nullptr;
  // Of what reports take of the carrier, shared too; nullptr: `feedback_budget` is all.
  ReportBudget* report_budget = nullptr;
  HandshakeBudgets handshake_budgets = {};             // they outlive it
  std::uint64_t hash_secret = 0x9E37'79B9'7F4A'7C15U;  // no peer shall know where an id is kept
  std::optional<Security> security;  // nullopt: neither secret nor safe from forgery
  // What HELLOs may cost all sessions that have this, by peer; nullptr: this session alone.
  // Outlives it.
  HelloBudget* hello_budget = nullptr;
  std::uint32_t budget_peer = 0;  // the peer's number there, of all of its lanes
  // What repairs may cost all sessions that have this; nullptr: this session alone. Outlives it,
  // and its owner renews what is left of a call.
  SharedRepairs* repairs = nullptr;
  Duration feedback_minimum = Duration::milliseconds(25);
  Duration feedback_maximum = Duration::milliseconds(600);  // at most one RTT once that is known
  BitRate feedback_budget = BitRate::bits_per_second(50'000);
  Duration initial_rtt = Duration::milliseconds(600);
  Duration hello_interval = Duration::seconds(1);
  Duration ping_after = Duration::seconds(1);
  Duration suspect_after = Duration::seconds(3);
  Duration stream_linger =
      Duration::seconds(120);  // a stream that cannot finish is reset after this
};

// One of several packets of new bytes of one class.
struct RunPacket {
  std::uint16_t size = 0;    // UDP payload
  std::uint16_t bytes = 0;   // of them, of streams
  std::uint32_t booked = 0;  // as schedule::ClassBytes has it
  std::uint32_t hosts = 0;   // of its class that wait behind it
  control::Priority priority{};
};

class Session {
 public:
  // `arena`, `carrier`, `controller` and `source` must outlive the session. The carrier's pacer may
  // be shared; the controller's rate is kept by a pacer of the session's own.
  Session(const Config& config, Arena& arena, control::Pacer& carrier,
          control::RateController& controller, StreamSource& source, Instant now);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // One call settles so many objects of WorkCount, and leaves the others to the next.
  static constexpr std::uint64_t kSettledAtOnce = 1024;

  // --- input ---------------------------------------------------------------------------------
  // A UDP payload from the peer's address, and how the port has fared that it came by.
  void handle_packet(ConstBytes datagram, Instant now, const Reception& reception = {});
  // `most`: that it settles, where other sessions share the call.
  void handle_timeout(Instant now, std::uint64_t most = kSettledAtOnce);

  // --- mutators ------------------------------------------------------------------------------
  // Opens a stream at once (0-RTT); nullopt without a peer, place or memory. With one
  // that is suspect the OPEN waits.
  // `metadata` (at most kMaxMetadata bytes) reaches the peer with kOpened, even if lost on the way
  // at first, and before any byte of the stream.
  static constexpr std::size_t kMaxMetadata = stp::kMaxMetadata;
  [[nodiscard]] std::optional<StreamId> open_stream(ConstBytes metadata, std::uint32_t context,
                                                    Instant now);
  // Gives back heap that the stream needs only while bytes are under way: of one that is quiet.
  void trim(StreamId stream);
  void set_context(StreamId stream, std::uint32_t context);
  // Within its class hosts take turns, and the streams of a host; 0 and 0 until it is set. Of
  // `host` it matters only whether it is the same.
  void set_group(StreamId stream, schedule::ClassId stream_class, std::uint64_t host);
  // The delay of its bytes in order matters: repairs go with them all along, as far as the peer
  // understands them.
  void set_prompt(StreamId stream, bool prompt);
  // The relay has (or no longer has) bytes for this stream: produce() will be called for it.
  void set_ready(StreamId stream, bool ready);
  // Stores encoded bytes to send; returns how many were taken: all of them, unless they exceed
  // send_room().
  [[nodiscard]] std::size_t write(StreamId stream, ConstBytes bytes, Instant now);
  // Stores all of `parts`, one behind the other, or nothing: false without the room.
  [[nodiscard]] bool write_whole(StreamId stream, std::span<const ConstBytes> parts, Instant now);
  // The writer begins nothing with less room than this: produce() is called, and kWritable told,
  // when there is so much. No more than a stream has to itself, or it may wait for ever.
  void wait_for_room(StreamId stream, std::uint64_t bytes, Instant now);
  // The writer has so many bytes more at least. The session repairs in place what the link loses
  // of the last flight of a stream.
  void set_rest(StreamId stream, std::uint64_t bytes, Behind behind);
  // No more write(): the end of the stream follows the last byte.
  void finish(StreamId stream);
  // Tells the peer how far our host is: soon, and again until it arrives. Only the newest counts.
  void confirm(StreamId stream, const Confirmation& confirmation, Instant now);
  // Ends both directions at once and forgets the stream; the peer sees kReset.
  void reset(StreamId stream, ResetReason reason, Instant now);
  // The same with ResetReason::kIcmp. Only if icmp_refusals().
  void reset(StreamId stream, const IcmpRefusal& refusal, Instant now);
  // Takes `count` readable bytes; grants credit to the peer.
  void consume(StreamId stream, std::uint64_t count, Instant now);
  // The reader can take nothing before `bytes` are there, until it next consumes: their credit is
  // granted in any case.
  void set_reader_needs(StreamId stream, std::uint64_t bytes, Instant now);
  // Forgets a stream of which both directions are over: received to the end and consumed, finished
  // and acknowledged. The session keeps what its protocol still needs.
  void release(StreamId stream, Instant now);
  // Tells the peer what the direction from it to us carries from now on; zero: what its
  // configuration says.
  void announce_capacity(BitRate capacity);
  // Shows the packets of this session in the clear; nullptr: to nobody.
  void set_observer(PacketObserver* observer);
  // The shared secrets of handshakes from now on; only if the session encrypts. A session that is
  // there goes on with the keys that it has.
  void set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other);
  // Packets that were polled from `began` on may have left as late as `ended`.
  void note_late_sending(Instant began, Instant ended);
  // What the direction to the peer carries, and who says so.
  void set_capacity(BitRate capacity, control::CutCause cause);
  // What of it this session may use, where several share it; zero: all.
  void set_share(BitRate share, Instant now);
  // Sends CLOSE (a few times) and refuses all else from now on.
  void close(Instant now);

  // --- output --------------------------------------------------------------------------------
  // Writes the next UDP payload into `out` (at least datagram_size bytes) and debits the carrier; 0
  // if nothing may leave at `now`. `turn`: whose bytes of streams may be in it.
  std::size_t poll_packet(MutableBytes out, Instant now, const schedule::Turn& turn = {});
  // After poll_packet() has written something, at the same instant and with the same turn: what it
  // would write next, call after call, as long as that is nothing but new bytes of class
  // `turn.first`, and raises no event. Each goes into one of `rooms`, behind `before` bytes, and is
  // told in one of `packets`, of which there are as many. The count of those written.
  std::size_t poll_run(std::span<const MutableBytes> rooms, std::size_t before,
                       std::span<RunPacket> packets, Instant now, const schedule::Turn& turn);
  control::Priority last_priority() const;  // of the packet just polled
  // And the bytes of streams in it, by class.
  std::span<const schedule::ClassBytes> last_classes() const;
  // The classes of which bytes could leave when pacers allow, as far as is known; and whether they
  // do. Ask may_send() only for what waits.
  schedule::ClassSet waiting() const;
  bool may_send(Instant now) const;
  bool may_send_but_for_carrier(Instant now) const;
  bool shut_by_share(Instant now) const;
  // The hosts of a class that waits.
  std::size_t waiting_hosts(schedule::ClassId stream_class) const;
  std::optional<Event> poll_event();
  // The earliest of timers, feedback and the pacer's next opening when something waits for it.
  Instant next_timeout() const;

  // --- getters -------------------------------------------------------------------------------
  PeerState peer_state() const;
  std::uint64_t peer_epoch() const;  // 0 while unknown
  Duration smoothed_rtt() const;
  // The same, and nothing while it is only assumed.
  std::optional<Duration> measured_rtt() const;
  // The shortest that was measured since the session began: that of the path alone.
  std::optional<Duration> shortest_rtt() const;
  BitRate send_rate() const;  // what the controller allows now, as the modem counts
  // A stream gets so much of it while all that wait go on to: this one, and one that begins to
  // send. Other sessions are not counted. No more than what may be sent at this moment.
  BitRate share(StreamId stream) const;
  BitRate share_of_new() const;
  // Since when the peer should have reported what was sent, and has not; never: nothing is missing.
  Instant unreported_since() const;
  BitRate found_capacity() const;  // by the controller; zero: it has not found any
  ByteCount train() const;         // the length of one that measures the link now
  const std::optional<RateCut>& last_rate_cut() const;  // of that rate
  double loss_ratio() const;           // of our packets, over about the last 10,000, 0 to 1
  bool knows_loss() const;             // whether anything is known of what became of them
  std::size_t datagram_limit() const;  // UDP payload that the path is known to carry
  // Whether it gives back what is lost from repairs.
  bool repairs() const;
  // Both relays understand LAN reports, or evidence (docs/stp.md section 15).
  bool lan_reports() const;
  bool evidence() const;
  // Both relays understand RESET reason 13.
  bool other_vlan() const;
  bool urgent_marks() const;
  // Both relays understand destinations.
  bool destinations() const;
  // Both relays understand from which hosts the other accepts connections.
  bool accepted_sources() const;
  bool reset_marks() const;
  bool host_words() const;
  // Both relays understand RESET reason 14.
  bool icmp_refusals() const;
  // Both relays understand which of their hosts have arrived at the other LAN.
  bool arrivals() const;
  // Both relays understand questions about addresses.
  bool between_gateways() const;
  // Somebody greets in its name, and it has not been heard since: it may have been started anew,
  // and what is opened now be lost. Over with the next kPeerAlive, or when it is suspect.
  bool doubts_peer() const;
  // It does not answer, and HELLOs come in its name that no secret of ours opens.
  bool doubts_key(Instant now) const;
  // What the peer says that the direction towards it carries; zero if it has said nothing.
  BitRate peer_capacity() const;
  std::uint64_t packets_in_flight() const;
  std::uint64_t bytes_stored() const;  // received and not consumed, all streams
  std::size_t stream_count() const;
  // The HELLO of the present association has granted us so much: for all streams, and for each.
  struct FirstCredit {
    std::uint64_t lane = 0;
    std::uint64_t stream = 0;
  };
  FirstCredit first_credit() const;
  // Whether one stream more would go on in both directions, though the readers of all others took
  // nothing any more (docs/stp.md section 6).
  bool has_lane_share() const;
  // After kOpened and until the first mutator on the stream.
  ConstBytes metadata(StreamId stream) const;
  const Reassembler* received(StreamId stream) const;  // nullptr if there is no such stream
  bool received_end(StreamId stream) const;  // everything up to the end is readable or consumed
  Confirmation confirmation(StreamId stream) const;  // the newest of the peer
  bool confirmed(StreamId stream) const;             // the peer has all that we said with confirm()
  // What write() would take. Whom that is too little for asks with wait_for_room().
  std::uint64_t send_room(StreamId stream) const;
  // What is sent of it, whose bytes were asked for, before another stream has the turn; no limit if
  // no other waits in its class. More lies in memory until its next turn.
  std::uint64_t turn_left(StreamId stream) const;
  std::uint64_t unsent(StreamId stream) const;          // written and never sent yet
  std::uint64_t unacknowledged(StreamId stream) const;  // written and not known to be received
  std::uint64_t credit(StreamId stream) const;          // what flow control still lets it send
  Counters counters() const;
  bool has_events() const;  // for poll_event()
  // As set; nullopt if there is no such stream.
  std::optional<std::uint32_t> context(StreamId stream) const;
  // What was begun at once is done some at a time: handle_timeout() goes on with it, even while
  // nothing can be sent.
  bool work_waits() const;
  // Of that: repairs, for which the call had no time; and to use them as far as the budget of this
  // call allows, before handle_timeout() does.
  bool repairs_wait() const;
  void work_off_repairs(Instant now);
  // Objects that it went over since the start (work_count.h).
  std::uint64_t visited() const;

  // --- to check the accounts: O(streams and what they store) ----------------------------------
  // Credit, streams and memory counted anew: the first that differs from what is kept of it, in
  // words.
  std::optional<std::string> audit() const;
  BlocksHeld blocks_held() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satrelay::stp
