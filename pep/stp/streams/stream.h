// One stream: both halves, its opening and its end. Members that are needed only while something is
// in progress are in StreamHot (stream_hot.h).
//
//   opened here:    open() ----------------------------------> kOpen --reset()/RESET--> kResetting
//   opened by peer: DATA first -> kAwaitingOpen --OPEN-------> kOpen                        |
//                   OPEN first ------------------------------> kOpen --both over--> (free) <+
//
// In kResetting the stream no longer exists for the relay. The session keeps it until the peer has
// acknowledged our RESET, and we know the final size of the peer's direction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/containers/intrusive_list.h"
#include "pep/schedule/class_set.h"
#include "pep/stp/streams/confirmation.h"
#include "pep/stp/streams/credit/lane_share.h"
#include "pep/stp/streams/receive_half.h"
#include "pep/stp/streams/send_half.h"
#include "pep/stp/streams/stream_hot.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

struct Stream {
  enum class Phase : std::uint8_t { kFree, kAwaitingOpen, kOpen, kResetting };
  using Level = StreamPlaces::Level;
  using Pending = StreamHot::Pending;

  static constexpr std::uint16_t kGenerationMask = 0x1ff;  // as many bits as SentItem stores

  explicit Stream(Arena& arena) : send(arena), receive(arena) {}

  std::uint64_t id = 0;
  std::uint64_t host = 0;  // hash of the host, for the schedule (stream_schedule.h)
  ConfirmationExchange confirmations;
  // The small members that follow `send`, `lane_share` and `receive` use the tail padding of these
  // three.
  [[no_unique_address]] SendHalf send;
  Phase phase = Phase::kFree;
  bool ready = false;    // the relay has bytes to write, so produce() may be called
  bool blocked = false;  // the writer waits for free space
  Behind behind_rest = Behind::kUnknown;  // what follows the bytes of hot().rest
  // The relay has released the stream; it is freed after both directions have ended.
  bool released = false;
  bool delivered = false;  // the event kDelivered is pending, or was polled
  bool prompt = false;     // shares no packet with other streams; FEC covers all its packets
  [[no_unique_address]] LaneShare lane_share;
  schedule::ClassId stream_class = 0;  // for the schedule
  ResetReason reset_reason = ResetReason::kNone;
  std::uint16_t generation = 0;
  std::uint16_t metadata_size = 0;  // size of metadata_bytes
  [[no_unique_address]] ReceiveHalf receive;
  std::uint32_t index = 0;  // slot in the table
  std::uint32_t context = 0;
  // Frames that the next packets must carry. Each frame is written from the state that the stream
  // has when the packet is built.
  bool open_due : 1 = false;
  bool open_acknowledged : 1 = false;
  bool confirm_behind_open : 1 = false;  // a CONFIRM is due after the OPEN was sent
  // A CONFIRM is due, and its only news is a keep-alive or probe of our host, or its answer to one
  // (HostAnswer).
  bool only_asks : 1 = false;
  bool reset_due : 1 = false;
  bool reset_acknowledged : 1 = false;
  // In kResetting: the final size of the peer's direction is known.
  bool final_size_known : 1 = false;
  bool quiet : 1 = false;  // cool() was called after the last write

  // Use hot() to read. If the stream has no StreamHot, hot() returns the values of an idle stream.
  // Use heat() to write. It creates the StreamHot if needed.
  const StreamHot& hot() const { return hot_ ? *hot_ : kIdle; }
  StreamHot& heat() {
    if (!hot_) [[unlikely]]
      hot_ = std::make_unique<StreamHot>();
    return *hot_;
  }
  bool is_hot() const { return hot_ != nullptr; }
  void forget_hot() { hot_.reset(); }
  // Frees the memory that an idle stream does not need.
  void cool() {
    if (hot_ && hot_->is_idle()) hot_.reset();
    send.trim();
    receive.trim();
  }

  // The metadata of the stream's OPEN, while packets or the relay need it.
  std::unique_ptr<std::byte[]> metadata_bytes;
  ConstBytes metadata() const { return {metadata_bytes.get(), metadata_size}; }
  void set_metadata(ConstBytes bytes) {
    make_metadata(bytes.size());
    std::copy(bytes.begin(), bytes.end(), metadata_bytes.get());
  }
  void forget_metadata() {
    metadata_bytes.reset();
    metadata_size = 0;
  }

  // Takes a reserve of the arena for each half. If the arena has fewer than two reserves left,
  // takes none and returns false.
  [[nodiscard]] bool own_memory() {
    if (!send.own()) return false;
    if (receive.own()) return true;
    send.disown();
    return false;
  }
  // Reads or writes both halves and their state. The positions in lists and in the schedule are
  // left out, as they belong to Streams. Host, class and context are left out, as these numbers are
  // only valid in one gateway. After a stream was written, it has no blocks any more. A stream is
  // read into its former slot. The caller then restores the values that are left out.
  void image(Image& image);
  void drop_memory() {
    send.reset();
    send.disown();
    receive.drop_memory();
  }
  std::size_t reserves_held() const {
    return (send.has_reserve() ? 1U : 0U) + (receive.bytes().has_reserve() ? 1U : 0U);
  }

  bool visible() const { return phase == Phase::kOpen; }
  // Number of new bytes of the stream, including the bytes that its writer has announced.
  std::uint64_t left() const { return send.unsent() + (send.finished() ? 0 : hot().rest); }
  // Whether the stream ends or pauses after left() bytes.
  bool left_is_all() const { return send.finished() || behind_rest == Behind::kNothing; }
  bool has_more() const { return !send.finished() && behind_rest == Behind::kMore; }

 private:
  void make_metadata(std::size_t size) {
    metadata_bytes = std::make_unique_for_overwrite<std::byte[]>(size);
    metadata_size = static_cast<std::uint16_t>(size);
  }
  static constexpr StreamHot kIdle{};
  std::unique_ptr<StreamHot> hot_;
};

// Destroys `stream`, and reads a stream from `image` into the same memory. The new stream keeps the
// positions of the old one in the lists and in the schedule, and also its host, class and context.
void read_into_place(Stream& stream, Arena& arena, Image& image);

template <ListHook<Stream> StreamPlaces::*Hook>
struct HotHook {
  static const ListHook<Stream>* find(const Stream& stream) { return &(stream.hot().places.*Hook); }
  static ListHook<Stream>& of(Stream& stream) { return stream.heat().places.*Hook; }
};

using NewList = HookedList<Stream, HotHook<&StreamPlaces::new_hook>>;
using LostList = HookedList<Stream, HotHook<&StreamPlaces::lost_hook>>;
using OpenList = HookedList<Stream, HotHook<&StreamPlaces::open_hook>>;
using FinList = HookedList<Stream, HotHook<&StreamPlaces::fin_hook>>;
using ResetList = HookedList<Stream, HotHook<&StreamPlaces::reset_hook>>;
using CreditList = HookedList<Stream, HotHook<&StreamPlaces::credit_hook>>;
using ConfirmList = HookedList<Stream, HotHook<&StreamPlaces::confirm_hook>>;
using EventList = HookedList<Stream, HotHook<&StreamPlaces::event_hook>>;
using LingerList = HookedList<Stream, HotHook<&StreamPlaces::linger_hook>>;
using MemoryList = HookedList<Stream, HotHook<&StreamPlaces::memory_hook>>;
using LaneList = HookedList<Stream, HotHook<&StreamPlaces::lane_hook>>;
using UnreadList = HookedList<Stream, HotHook<&StreamPlaces::unread_hook>>;

}  // namespace satrelay::stp
