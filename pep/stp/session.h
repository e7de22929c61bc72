// One STP session: one lane of one peer, both directions. Wire format: docs/stp-wire.md.
//
// Verbs: handle_* take input, mutators act for the relay, poll_* give output, getters only look.
// After any handle_* or mutator, call poll_packets() until it returns 0 and poll_event() until it
// returns nullopt. Call again no later than next_timeout(). `now` must never go backwards.
//
// poll_packets() asks the source for bytes (StreamSource::produce()). Meanwhile only these calls
// are allowed: write(), write_whole(), wait_for_room(), set_ready(), set_rest(), finish(),
// confirm(), reset(), and getters.
//
// Offsets and credit count encoded bytes (the bytes given to write()), with 64 bits, from 0 in each
// direction of each stream.
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
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/turn.h"
#include "pep/stp/config.h"
#include "pep/stp/counters.h"
#include "pep/stp/path/rate_cuts.h"
#include "pep/stp/path/reception.h"
#include "pep/stp/streams/stream_source.h"
#include "pep/stp/types.h"
#include "pep/stp/wire/capabilities.h"
#include "pep/stp/wire/packet_observer.h"

namespace satrelay::stp {

struct SessionCore;

// A packet that was polled.
struct PolledPacket {
  std::uint16_t size = 0;    // UDP payload
  std::uint8_t classes = 0;  // classes with bytes of streams in it
  control::Priority priority{};
};

class Session {
  struct Impl;

 public:
  // The streams, for the relay: how it opens, writes, reads and ends them. Without the stream a
  // mutator does nothing, and a getter returns zero or nothing, unless its comment says otherwise.
  class StreamAccess {
   public:
    StreamAccess(const StreamAccess&) = delete;
    StreamAccess& operator=(const StreamAccess&) = delete;

    // Opens a stream at once (0-RTT). nullopt without a peer, a place or memory. If the peer is
    // suspect, the OPEN waits. `metadata` (at most kMaxMetadata bytes) reaches the peer with
    // kOpened, before any byte of the stream. It is sent again if it is lost.
    [[nodiscard]] std::optional<StreamId> open(ConstBytes metadata, std::uint32_t context,
                                               Instant now);
    // Frees heap memory that the stream needs only while bytes are in flight. For a stream that is
    // quiet.
    void trim(StreamId stream);
    void set_context(StreamId stream, std::uint32_t context);
    // Hosts take turns within a class, and streams within a host. Class and host are 0 until this
    // is called. `host` is only compared for equality.
    void set_group(StreamId stream, schedule::ClassId stream_class, std::uint64_t host);
    // The delay of the stream's bytes in order matters. So repairs accompany them all the time, if
    // the peer understands repairs.
    void set_prompt(StreamId stream, bool prompt);
    // Ends both directions at once and forgets the stream. The peer gets kReset.
    void reset(StreamId stream, ResetReason reason, Instant now);
    // The same with ResetReason::kIcmp. Requires agreed().icmp_refusals().
    void reset(StreamId stream, const IcmpRefusal& refusal, Instant now);
    // Forgets a stream once both directions are over: received to the end and consumed, finished
    // and acknowledged. The session keeps what its protocol still needs.
    void release(StreamId stream, Instant now);

    // --- the writer
    // The relay has bytes for this stream, or has none any more. If it has, produce() will be
    // called.
    void set_ready(StreamId stream, bool ready);
    // Stores encoded bytes to send. Returns how many were taken: all of them, unless they exceed
    // send_room().
    [[nodiscard]] std::size_t write(StreamId stream, ConstBytes bytes, Instant now);
    // Stores all of `parts`, one behind the other, or nothing. False if there is too little room.
    [[nodiscard]] bool write_whole(StreamId stream, std::span<const ConstBytes> parts, Instant now);
    // The writer needs room for `bytes` before it writes anything. produce() is called, and
    // kWritable reported, once there is that much. `bytes` must not exceed what a stream has for
    // itself, or the writer may wait for ever.
    void wait_for_room(StreamId stream, std::uint64_t bytes, Instant now);
    // The writer has at least `bytes` more bytes. The session repairs losses in the last flight of
    // a stream.
    void set_rest(StreamId stream, std::uint64_t bytes, Behind behind);
    // No write() follows. The stream ends behind the last byte.
    void finish(StreamId stream);
    // Tells the peer the state of our host: soon, and again if it is lost. Only the newest state
    // counts.
    void confirm(StreamId stream, const Confirmation& confirmation, Instant now);
    // The peer has all that we said with confirm(). True without the stream.
    bool confirmed(StreamId stream) const;
    // The bytes that write() would take. A writer that needs more calls wait_for_room().
    std::uint64_t send_room(StreamId stream) const;
    // The bytes of a stream that leave before another stream has the turn, for a stream that was
    // asked for bytes. No limit if no other stream waits in its class. Bytes beyond that stay in
    // memory until the stream's next turn.
    std::uint64_t turn_left(StreamId stream) const;
    std::uint64_t unsent(StreamId stream) const;          // written and not sent yet
    std::uint64_t unacknowledged(StreamId stream) const;  // written and not known to be received
    std::uint64_t credit(StreamId stream) const;  // the bytes that flow control still lets it send
    // The rate that this stream gets while all streams that wait go on. share_of_new(): the rate of
    // a stream that begins to send. Other sessions are not counted. Not more than may be sent at
    // this moment.
    BitRate share(StreamId stream) const;
    BitRate share_of_new() const;

    // --- the reader
    // Takes `count` readable bytes, and grants credit to the peer.
    void consume(StreamId stream, std::uint64_t count, Instant now);
    // Until it next consumes, the reader takes nothing before `bytes` are readable. Credit for them
    // is granted in any case.
    void set_reader_needs(StreamId stream, std::uint64_t bytes, Instant now);
    const Reassembler* received(StreamId stream) const;  // nullptr if there is no such stream
    bool received_end(StreamId stream) const;  // all bytes up to the end are readable or consumed
    Confirmation confirmation(StreamId stream) const;  // the newest from the peer

    // --- more getters
    // Valid after kOpened, until the first mutator on the stream.
    ConstBytes metadata(StreamId stream) const;
    // The value that was set; nullopt if there is no such stream.
    std::optional<std::uint32_t> context(StreamId stream) const;
    std::size_t count() const;
    std::uint64_t bytes_stored() const;  // received and not consumed, over all streams
    // Whether one more stream would go on in both directions, even if the readers of all others
    // took nothing any more (docs/stp.md section 6).
    bool has_lane_share() const;

   private:
    friend class Session;
    explicit StreamAccess(SessionCore& core) : core_(core) {}
    SessionCore& core_;
  };

  // The path to the peer, as the session knows it.
  class PathView {
   public:
    PathView(const PathView&) = delete;
    PathView& operator=(const PathView&) = delete;

    Duration smoothed_rtt() const;
    // The same, but nullopt while the round trip is only assumed.
    std::optional<Duration> measured_rtt() const;
    // The shortest round trip since the session began: that of the path without queues.
    std::optional<Duration> shortest_rtt() const;
    BitRate send_rate() const;  // the rate that the controller allows now, as the modem counts
    const std::optional<RateCut>& last_rate_cut() const;  // the last cut of send_rate()
    BitRate found_capacity() const;  // found by the controller; zero: it has not found any
    ByteCount train() const;         // length of the train that measures the link now
    // The time since which reports on sent packets are missing; never: none is missing.
    Instant unreported_since() const;
    double loss_ratio() const;           // of our packets, over about the last 10,000; 0 to 1
    bool knows_loss() const;             // whether the fate of any packet is known
    std::size_t datagram_limit() const;  // UDP payload that the path is known to carry
    std::uint64_t packets_in_flight() const;

   private:
    friend class Session;
    explicit PathView(const SessionCore& core) : core_(core) {}
    const SessionCore& core_;
  };

  // `arena`, `carrier`, `controller` and `source` must outlive the session. Sessions may share the
  // carrier's pacer. A pacer of the session's own keeps the controller's rate.
  Session(const Config& config, Arena& arena, control::Pacer& carrier,
          control::RateController& controller, StreamSource& source, Instant now);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The most objects (WorkCount) that one call settles. The rest waits for the next call.
  static constexpr std::uint64_t kSettledAtOnce = 1024;

  // --- input ---------------------------------------------------------------------------------
  // Handles a UDP payload from the peer's address. `reception` describes the port that it came by.
  void handle_packet(ConstBytes datagram, Instant now, const Reception& reception = {});
  // `most`: the most objects to settle, if other sessions share the call.
  void handle_timeout(Instant now, std::uint64_t most = kSettledAtOnce);

  // --- mutators ------------------------------------------------------------------------------
  StreamAccess& streams() { return streams_; }
  // Tells the peer the present capacity of the direction from the peer to us; zero: the configured
  // capacity.
  void announce_capacity(BitRate capacity);
  // Shows the packets of this session in the clear to the observer; nullptr: to none.
  void set_observer(PacketObserver* observer);
  // Sets the shared secrets for later handshakes. Has an effect only if the session encrypts. An
  // established session goes on with its keys.
  void set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other);
  // Packets that were polled from `began` on may have left as late as `ended`.
  void note_late_sending(Instant began, Instant ended);
  // Sets the capacity of the direction to the peer, and the reason for the change.
  void set_capacity(BitRate capacity, control::CutCause cause);
  // Sets the part of the rate that this session may use, if several share it; zero: all.
  void set_share(BitRate share, Instant now);
  // Sends CLOSE (a few times), and accepts nothing else from now on.
  void close(Instant now);

  // --- output --------------------------------------------------------------------------------
  // Writes the next UDP payloads, and debits the carrier. Each goes into one of `rooms`, behind
  // `before` bytes, and is described in one of `packets`. There is at least one room, each has at
  // least datagram.size bytes behind `before`, and `packets` has as many places. `turn`: which
  // streams may have bytes in them. Returns the number of packets; 0 if nothing may leave at `now`.
  // Behind the first packet there are only packets with nothing but new bytes of class
  // `turn.first`, while no other class has any, and while the relay has no event to handle.
  std::size_t poll_packets(std::span<const MutableBytes> rooms, std::size_t before,
                           std::span<PolledPacket> packets, Instant now,
                           const schedule::Turn& turn = {});
  // The same for one packet. Returns its size.
  std::size_t poll_packet(MutableBytes out, Instant now, const schedule::Turn& turn = {}) {
    PolledPacket packet;
    poll_packets({&out, 1}, 0, {&packet, 1}, now, turn);
    return packet.size;
  }
  control::Priority last_priority() const;  // of the last packet
  // The stream bytes in the packets of the last poll, by packet, and by class in each packet.
  std::span<const schedule::ClassBytes> last_classes() const;
  // The classes that have bytes which could leave if the pacers allow it, as far as is known.
  // may_send(): whether the pacers allow it. Call may_send() only for classes that wait.
  schedule::ClassSet waiting() const;
  bool may_send(Instant now) const;
  bool may_send_but_for_carrier(Instant now) const;
  bool shut_by_share(Instant now) const;
  // Hosts that wait in a class.
  std::size_t waiting_hosts(schedule::ClassId stream_class) const;
  std::optional<Event> poll_event();
  // The earliest of the timers, the next report, and the next opening of the pacer if something
  // waits for it.
  Instant next_timeout() const;

  // --- getters -------------------------------------------------------------------------------
  const StreamAccess& streams() const { return streams_; }
  const PathView& path() const { return path_; }
  PeerState peer_state() const;
  std::uint64_t peer_epoch() const;  // 0 while unknown
  // What both ends understand; nothing without a peer.
  Capabilities agreed() const;
  // A newcomer greets in the peer's name, and the peer has not been heard since. The peer may have
  // restarted, and streams opened now may be lost. The doubt ends with the next kPeerAlive, or when
  // the peer is suspect.
  bool doubts_peer() const;
  // The peer does not answer, and HELLOs come in its name that none of our secrets opens.
  bool doubts_key(Instant now) const;
  // The capacity of the direction towards the peer, as the peer has announced it; zero: it has
  // announced none.
  BitRate peer_capacity() const;
  // The credit that the peer's present HELLO has granted us: for all streams, and for each.
  struct FirstCredit {
    std::uint64_t lane = 0;
    std::uint64_t stream = 0;
  };
  FirstCredit first_credit() const;
  Counters counters() const;
  bool has_events() const;  // whether poll_event() returns one
  // Work is left of which each call does a part. handle_timeout() continues it, even while nothing
  // can be sent.
  bool work_waits() const;
  // Among that work are repairs that the call had no time for. work_off_repairs() uses them as far
  // as the budget of this call allows, before handle_timeout() does.
  bool repairs_wait() const;
  void work_off_repairs(Instant now);
  // Objects that the session has visited since the start (work_count.h).
  std::uint64_t visited() const;

  // --- to check the accounts: O(streams and what they store) ----------------------------------
  // Counts credit, streams and memory anew. Describes the first value that differs from the kept
  // account.
  std::optional<std::string> audit() const;
  BlocksHeld blocks_held() const;

 private:
  friend class StreamImage;  // stream_image.h

  std::unique_ptr<Impl> impl_;
  StreamAccess streams_;
  PathView path_;
};

}  // namespace satrelay::stp
