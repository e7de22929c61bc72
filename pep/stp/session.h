// One STP session: one lane of one peer, in both directions. Wire format: docs/stp-wire.md.
//
// Verbs: handle_* pass input to the session, mutators act for the relay, poll_* return output, and
// getters only read. After any handle_* or mutator, call poll_packets() until it returns 0, and
// poll_event() until it returns nullopt. At next_timeout() at the latest, call handle_timeout().
// `now` must never go backwards.
//
// poll_packets() asks the source for bytes (StreamSource::produce()). During that call only the
// following calls are allowed: write(), write_whole(), wait_for_room(), set_ready(), set_rest(),
// finish(), confirm(), reset(), and getters.
//
// Offsets and credit count encoded bytes, which are the bytes given to write(). They have 64 bits,
// and begin at 0 in each direction of each stream.
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

// Describes a packet of poll_packets().
struct PolledPacket {
  std::uint16_t size = 0;    // UDP payload in bytes
  std::uint8_t classes = 0;  // number of classes that have stream bytes in the packet
  control::Priority priority{};
};

class Session {
  struct Impl;

 public:
  // The interface for streams: the relay opens, writes, reads and ends them here. If the stream
  // does not exist, a mutator does nothing, and a getter returns zero or nothing, unless its
  // comment says otherwise.
  class StreamAccess {
   public:
    StreamAccess(const StreamAccess&) = delete;
    StreamAccess& operator=(const StreamAccess&) = delete;

    // Opens a stream without waiting for the peer (0-RTT). Returns nullopt if there is no peer, no
    // slot or no memory. If the peer is suspect, the OPEN waits. The peer gets `metadata` (at most
    // kMaxMetadata bytes) with kOpened, before any byte of the stream, even if packets are lost.
    [[nodiscard]] std::optional<StreamId> open(ConstBytes metadata, std::uint32_t context,
                                               Instant now);
    // Frees heap memory that the stream needs only while bytes are in flight. Call it for an idle
    // stream.
    void trim(StreamId stream);
    void set_context(StreamId stream, std::uint32_t context);
    // Sets the class and the host of a stream. Hosts take turns within a class, and streams within
    // a host. Class and host are 0 until this call. `host` is only compared for equality.
    void set_group(StreamId stream, schedule::ClassId stream_class, std::uint64_t host);
    // Sets whether the delay of the stream's in-order bytes matters. If it does, and the peer
    // supports repairs, repairs are sent continuously with these bytes.
    void set_prompt(StreamId stream, bool prompt);
    // Ends both directions at once, and forgets the stream. The peer gets the event kReset.
    void reset(StreamId stream, ResetReason reason, Instant now);
    // Does the same with ResetReason::kIcmp. agreed().icmp_refusals() must be true.
    void reset(StreamId stream, const IcmpRefusal& refusal, Instant now);
    // The relay needs the stream no more. The session forgets it when both directions have ended:
    // all bytes up to the end are consumed, and the peer has acknowledged all our bytes and the
    // FIN.
    void release(StreamId stream, Instant now);

    // --- the writer
    // Sets whether the relay has bytes for this stream. If it has, produce() will be called.
    void set_ready(StreamId stream, bool ready);
    // Stores encoded bytes to send. Returns how many were stored: all of them, unless they exceed
    // send_room().
    [[nodiscard]] std::size_t write(StreamId stream, ConstBytes bytes, Instant now);
    // Stores all of `parts` in order, or nothing. Returns false if they exceed send_room().
    [[nodiscard]] bool write_whole(StreamId stream, std::span<const ConstBytes> parts, Instant now);
    // The writer needs `bytes` free bytes before it writes anything. When this number of bytes is
    // free, kWritable is reported, and produce() is called. `bytes` must fit into the memory
    // reserved for one stream, or the writer may wait for ever.
    void wait_for_room(StreamId stream, std::uint64_t bytes, Instant now);
    // Announces that the writer has at least `bytes` more bytes. `behind` says what follows these
    // bytes. The session uses this to repair losses among the last bytes of a stream.
    void set_rest(StreamId stream, std::uint64_t bytes, Behind behind);
    // Ends the stream after the last byte. No write() may follow.
    void finish(StreamId stream);
    // Sends the state of our host to the peer soon, and retransmits it if it is lost. A newer state
    // replaces an older one.
    void confirm(StreamId stream, const Confirmation& confirmation, Instant now);
    // Whether the peer has acknowledged the newest state that was given to confirm(). True if the
    // stream does not exist.
    bool confirmed(StreamId stream) const;
    // How many bytes write() would store now. A writer that needs more calls wait_for_room().
    std::uint64_t send_room(StreamId stream) const;
    // To be called from produce(). Returns how many bytes the stream may still send in its current
    // turn of the scheduler. If more bytes are written, they stay in memory until the next turn of
    // the stream. Returns StreamSchedule::kNoLimit if no other stream of its class waits.
    std::uint64_t turn_left(StreamId stream) const;
    std::uint64_t unsent(StreamId stream) const;          // bytes written and not sent yet
    std::uint64_t unacknowledged(StreamId stream) const;  // bytes written and not acknowledged yet
    std::uint64_t credit(StreamId stream) const;          // bytes that flow control allows to send
    // share() is the rate that this stream gets if all waiting streams continue to send.
    // share_of_new() is the rate that a new stream would get. Other sessions are ignored. Neither
    // result is above the rate that is allowed now.
    BitRate share(StreamId stream) const;
    BitRate share_of_new() const;

    // --- the reader
    // Consumes `count` readable bytes, and grants credit to the peer.
    void consume(StreamId stream, std::uint64_t count, Instant now);
    // The reader cannot consume anything before `bytes` bytes are readable. So the session grants
    // at least the credit for these bytes. The next consume() cancels this request.
    void set_reader_needs(StreamId stream, std::uint64_t bytes, Instant now);
    const Reassembler* received(StreamId stream) const;  // nullptr if there is no such stream
    bool received_end(StreamId stream) const;  // whether all bytes up to the end have arrived
    Confirmation confirmation(StreamId stream) const;  // the newest state that the peer has sent

    // --- more getters
    // The metadata of the OPEN. Valid after kOpened, until the first mutator is called for the
    // stream.
    ConstBytes metadata(StreamId stream) const;
    // The value that open() or set_context() has set; nullopt if the stream does not exist.
    std::optional<std::uint32_t> context(StreamId stream) const;
    std::size_t count() const;
    std::uint64_t bytes_stored() const;  // bytes received and not consumed, in all streams
    // Whether one more stream would make progress in both directions, even if the readers of all
    // other streams stop reading (docs/stp.md section 6).
    bool has_lane_share() const;

   private:
    friend class Session;
    explicit StreamAccess(SessionCore& core) : core_(core) {}
    SessionCore& core_;
  };

  // The path to the peer, as measured by the session.
  class PathView {
   public:
    PathView(const PathView&) = delete;
    PathView& operator=(const PathView&) = delete;

    Duration smoothed_rtt() const;
    // The smoothed RTT; nullopt until an RTT was measured.
    std::optional<Duration> measured_rtt() const;
    // The shortest RTT since the session began, which approximates the RTT without queues.
    std::optional<Duration> shortest_rtt() const;
    // The rate that the controller allows now, in bytes as the modem counts them.
    BitRate send_rate() const;
    const std::optional<RateCut>& last_rate_cut() const;  // the last cut of send_rate()
    BitRate found_capacity() const;  // capacity that the controller has measured; zero if unknown
    // Size of the packet train that measures the capacity of the link now; zero if there is none.
    ByteCount train() const;
    // Since when reports about our packets are missing; never() if no report is missing.
    Instant unreported_since() const;
    // Loss ratio of about the last 10,000 packets that we sent, from 0 to 1.
    double loss_ratio() const;
    bool knows_loss() const;             // whether loss_ratio() has been measured
    std::size_t datagram_limit() const;  // UDP payload in bytes that the path is known to carry
    std::uint64_t packets_in_flight() const;

   private:
    friend class Session;
    explicit PathView(const SessionCore& core) : core_(core) {}
    const SessionCore& core_;
  };

  // `arena`, `carrier`, `controller` and `source` must outlive the session. A packet waits for two
  // pacers: the pacer of the carrier, which several sessions may share, and the pacer of the
  // session, which keeps the rate of the controller.
  Session(const Config& config, Arena& arena, control::Pacer& carrier,
          control::RateController& controller, StreamSource& source, Instant now);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Maximum number of objects that one call settles (WorkCount). The remaining objects wait for the
  // next call.
  static constexpr std::uint64_t kSettledAtOnce = 1024;

  // --- input ---------------------------------------------------------------------------------
  // Handles a UDP payload from the peer's address. `reception` describes the port at which it
  // arrived.
  void handle_packet(ConstBytes datagram, Instant now, const Reception& reception = {});
  // Sets the number of objects that one call may settle. Pass a lower number if other sessions are
  // served in the same call of the engine.
  void handle_timeout(Instant now, std::uint64_t most = kSettledAtOnce);

  // --- mutators ------------------------------------------------------------------------------
  StreamAccess& streams() { return streams_; }
  // Tells the peer the current capacity of the direction from the peer to us. Zero means the
  // configured capacity.
  void announce_capacity(BitRate capacity);
  // Shows the unencrypted packets of this session to `observer`. nullptr removes the observer.
  void set_observer(PacketObserver* observer);
  // Sets the shared secrets for later handshakes. Has an effect only if the session encrypts. An
  // established session keeps its keys.
  void set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other);
  // The machine has stalled: packets that were polled at `began` or later may have been sent as
  // late as `ended`.
  void note_late_sending(Instant began, Instant ended);
  // Sets the capacity of the direction to the peer. `cause` is the reason for the change.
  void set_capacity(BitRate capacity, control::CutCause cause);
  // Limits the rate of this session, if several sessions share the controller's rate. Zero means no
  // such limit.
  void set_share(BitRate share, Instant now);
  // Sends CLOSE a few times. Afterwards the session accepts nothing else.
  void close(Instant now);

  // --- output --------------------------------------------------------------------------------
  // Writes the next UDP payloads, and debits the carrier. Each payload is written into one of
  // `rooms`, after `before` bytes, and is described in one of `packets`. There must be at least one
  // room. Each must have at least datagram.size bytes after `before`, and `packets` must have as
  // many elements as `rooms`. `turn` says which streams may have bytes in the packets. Returns the
  // number of packets; 0 if nothing may be sent at `now`. If several packets are written, all but
  // the first contain only new bytes of class `turn.first`. Writing stops when another class has
  // bytes, or when the relay has an event to handle.
  std::size_t poll_packets(std::span<const MutableBytes> rooms, std::size_t before,
                           std::span<PolledPacket> packets, Instant now,
                           const schedule::Turn& turn = {});
  // Does the same for one packet. Returns its size.
  std::size_t poll_packet(MutableBytes out, Instant now, const schedule::Turn& turn = {}) {
    PolledPacket packet;
    poll_packets({&out, 1}, 0, {&packet, 1}, now, turn);
    return packet.size;
  }
  control::Priority last_priority() const;  // priority of the last packet sent
  // The number of stream bytes in the packets of the last poll. The list has an element for each
  // class in each packet, in the order of the packets.
  std::span<const schedule::ClassBytes> last_classes() const;
  // waiting() returns the classes in which a stream has bytes to send, or its writer is ready to
  // produce bytes. It ignores the pacers. may_send() returns whether the pacers are open. Call
  // may_send() only if a class waits.
  schedule::ClassSet waiting() const;
  bool may_send(Instant now) const;
  bool may_send_but_for_carrier(Instant now) const;
  bool shut_by_share(Instant now) const;
  // Number of hosts that wait in a class; at least 1.
  std::size_t waiting_hosts(schedule::ClassId stream_class) const;
  std::optional<Event> poll_event();
  // The earliest time at which a timer expires, a report is due, or a pacer opens for which
  // something waits.
  Instant next_timeout() const;

  // --- getters -------------------------------------------------------------------------------
  const StreamAccess& streams() const { return streams_; }
  const PathView& path() const { return path_; }
  PeerState peer_state() const;
  std::uint64_t peer_epoch() const;  // 0 if unknown
  // The capabilities that both ends have; empty without a peer.
  Capabilities agreed() const;
  // Whether a newcomer (handshake.h) has sent a HELLO in the peer's name, and no packet of the peer
  // has arrived since then. The peer may have restarted, and new streams may be lost. The result
  // becomes false with the next kPeerAlive, or when the peer is suspect.
  bool doubts_peer() const;
  // Whether the peer may have another secret: it does not answer, and HELLOs arrive in its name
  // that cannot be opened with any of our secrets.
  bool doubts_key(Instant now) const;
  // The capacity of the direction to the peer, as the peer has announced it; zero if it has
  // announced none.
  BitRate peer_capacity() const;
  // The credit in bytes that the peer's HELLO has granted to us: for all streams together, and for
  // each stream.
  struct FirstCredit {
    std::uint64_t lane = 0;
    std::uint64_t stream = 0;
  };
  FirstCredit first_credit() const;
  Counters counters() const;
  bool has_events() const;  // whether poll_event() would return an event
  // Whether there is unfinished work, which is done in parts by several calls. handle_timeout()
  // continues this work, even while nothing can be sent.
  bool work_waits() const;
  // Whether received repairs wait, because earlier calls had no time for them. work_off_repairs()
  // uses them until the budget of the call is spent. It must be called before handle_timeout().
  bool repairs_wait() const;
  void work_off_repairs(Instant now);
  // Number of objects that the session has visited since its start (work_count.h).
  std::uint64_t visited() const;

  // --- checks of the accounts: they visit all streams and stored bytes -----------------------
  // Counts credit, streams and memory again, and compares the results with the counters. Returns a
  // description of the first difference; nullopt if there is none.
  std::optional<std::string> audit() const;
  BlocksHeld blocks_held() const;

 private:
  friend class StreamImage;  // stream_image.h

  std::unique_ptr<Impl> impl_;
  StreamAccess streams_;
  PathView path_;
};

}  // namespace satrelay::stp
