// One stream: both halves, its opening and its end, and its places in the lists of Streams.
//
//   opened here:    open_stream() ---------------------------> kOpen --reset()/RESET--> kResetting
//   opened by peer: DATA first -> kAwaitingOpen --OPEN-------> kOpen                        |
//                   OPEN first ------------------------------> kOpen --both over--> (free) <+
//
// kResetting: gone for the relay; kept until the peer has our RESET and we know how much it sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/intrusive_list.h"
#include "pep/base/time.h"
#include "pep/stp/streams/confirmation.h"
#include "pep/stp/streams/lane_share.h"
#include "pep/stp/streams/receive_half.h"
#include "pep/stp/streams/send_half.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

struct StreamGroup;

struct Stream {
  enum class Phase : std::uint8_t { kFree, kAwaitingOpen, kOpen, kResetting };
  // Of the schedule: the first bytes of a stream go ahead of the rest.
  enum class Level : std::uint8_t { kYoung, kOlder };

  static constexpr std::uint16_t kGenerationMask = 0x1ff;  // what packets remember of it

  explicit Stream(Arena& arena) : send(arena), receive(arena) {}

  std::uint64_t id = 0;
  std::uint32_t index = 0;  // slot in the table
  std::uint16_t generation = 0;
  Phase phase = Phase::kFree;
  bool ready = false;      // the relay has bytes: produce() may be called
  bool blocked = false;    // the writer found too little room
  bool released = false;   // the relay has let go; freed when both directions are over
  bool delivered = false;  // kDelivered is due or was told
  bool prompt = false;     // its packets are its own, and covered all along
  // What the next packets must carry, from the state and not from copies.
  bool open_due = false;
  bool open_acknowledged = false;
  bool reset_due = false;
  bool reset_acknowledged = false;
  bool final_size_known = false;  // of the peer's direction, while resetting
  ResetReason reset_reason = ResetReason::kNone;
  std::uint32_t context = 0;
  std::uint32_t room_needed = 1;  // by the writer, before it is asked for bytes again
  std::uint64_t rest = 0;         // what the writer has beyond what it wrote
  bool rest_is_all = false;       // and no more for now
  // Of the schedule (stream_schedule.h).
  StreamGroup* group = nullptr;     // its class and host
  Level new_level = Level::kYoung;  // valid while in a list
  Level lost_level = Level::kYoung;
  std::int64_t deficit = 0;  // bytes left of its turn
  std::uint64_t reset_final_size = 0;
  Instant linger_deadline;

  // Of what the reader has not taken (parked_bytes.h).
  std::uint64_t reader_needs = 0;  // at once, or it can take none of it
  std::uint64_t parked = 0;
  Instant unread_since;

  ConfirmationExchange confirmations;
  LaneShare lane_share;

  SendHalf send;
  ReceiveHalf receive;

  // Events not yet polled.
  struct Pending {
    bool opened = false, readable = false, writable = false, delivered = false, confirmed = false,
         reset = false;
    bool any() const { return opened || readable || writable || delivered || confirmed || reset; }
  } pending;
  ResetReason event_reason = ResetReason::kNone;

  // Those that bytes under way need come first: they share lines.
  ListHook<Stream> new_hook;  // new bytes to send, or ready to produce them
  ListHook<Stream> event_hook;
  ListHook<Stream> unread_hook;   // bytes wait for the reader
  ListHook<Stream> credit_hook;   // CREDIT due
  ListHook<Stream> lane_hook;     // what it has to send waits for credit of the lane
  ListHook<Stream> memory_hook;   // writer waits for arena blocks
  ListHook<Stream> lost_hook;     // lost bytes to send again
  ListHook<Stream> fin_hook;      // FIN due with no byte to carry it
  ListHook<Stream> confirm_hook;  // CONFIRM due
  ListHook<Stream> open_hook;     // OPEN due
  ListHook<Stream> reset_hook;    // RESET due
  ListHook<Stream> linger_hook;

  // Of its OPEN, while somebody needs it: our packets, or the relay.
  std::uint16_t metadata_size = 0;
  std::unique_ptr<std::byte[]> metadata_bytes;
  ConstBytes metadata() const { return {metadata_bytes.get(), metadata_size}; }
  void set_metadata(ConstBytes bytes) {
    metadata_bytes = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), metadata_bytes.get());
    metadata_size = static_cast<std::uint16_t>(bytes.size());
  }
  void forget_metadata() {
    metadata_bytes.reset();
    metadata_size = 0;
  }

  // Takes a reserve of the arena for each half; false, and none, if there are too few.
  [[nodiscard]] bool own_memory() {
    if (!send.own()) return false;
    if (receive.own()) return true;
    send.disown();
    return false;
  }
  void drop_memory() {
    send.reset();
    send.disown();
    receive.drop_memory();
  }
  std::size_t reserves_held() const {
    return (send.has_reserve() ? 1U : 0U) + (receive.bytes().has_reserve() ? 1U : 0U);
  }

  bool visible() const { return phase == Phase::kOpen; }
  // New bytes that are there.
  std::uint64_t left() const { return send.unsent() + (send.finished() ? 0 : rest); }
  // It ends or pauses behind them.
  bool left_is_all() const { return send.finished() || rest_is_all; }
};

using NewList = IntrusiveList<Stream, &Stream::new_hook>;
using LostList = IntrusiveList<Stream, &Stream::lost_hook>;
using OpenList = IntrusiveList<Stream, &Stream::open_hook>;
using FinList = IntrusiveList<Stream, &Stream::fin_hook>;
using ResetList = IntrusiveList<Stream, &Stream::reset_hook>;
using CreditList = IntrusiveList<Stream, &Stream::credit_hook>;
using ConfirmList = IntrusiveList<Stream, &Stream::confirm_hook>;
using EventList = IntrusiveList<Stream, &Stream::event_hook>;
using LingerList = IntrusiveList<Stream, &Stream::linger_hook>;
using MemoryList = IntrusiveList<Stream, &Stream::memory_hook>;
using LaneList = IntrusiveList<Stream, &Stream::lane_hook>;
using UnreadList = IntrusiveList<Stream, &Stream::unread_hook>;

}  // namespace satrelay::stp
