// The state that a stream needs only while something is in progress: its positions in the lists of
// Streams, and values that belong to them. Most streams are idle, and have no such object
// (Stream::cool()).
#pragma once

#include <cstdint>

#include "pep/base/containers/intrusive_list.h"
#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/stp/streams/schedule/round.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

struct Stream;
struct StreamGroup;

// The positions of a stream in the lists and in the schedule of Streams. They belong to Streams,
// and are not in the image of a stream.
struct StreamPlaces {
  // For the schedule: the first bytes of a stream have precedence over its later bytes.
  enum class Level : std::uint8_t { kYoung, kOlder };

  // For the schedule (stream_schedule.h).
  Level new_level = Level::kYoung;  // valid while the stream is in a list
  Level lost_level = Level::kYoung;
  // The group of the stream's class and host; nullptr if the stream is not counted there.
  StreamGroup* group = nullptr;
  std::int64_t deficit = 0;  // bytes left in the stream's turn
  RoundPlace round;          // position among the streams of the host

  // Hooks for the lists of streams. Each comment says why a stream is in the list. Hooks that are
  // used in every transfer come first, so that they share cache lines.
  ListHook<Stream> new_hook;  // has new bytes to send, or is ready to produce them
  ListHook<Stream> event_hook;
  ListHook<Stream> unread_hook;   // has bytes that the reader has not consumed
  ListHook<Stream> credit_hook;   // STREAM_CREDIT is due
  ListHook<Stream> lane_hook;     // has bytes to send, but waits for credit of the lane
  ListHook<Stream> memory_hook;   // its writer waits for arena blocks
  ListHook<Stream> lost_hook;     // has lost bytes to retransmit
  ListHook<Stream> fin_hook;      // the FIN must be sent without data
  ListHook<Stream> confirm_hook;  // CONFIRM is due
  ListHook<Stream> open_hook;     // OPEN is due
  ListHook<Stream> reset_hook;    // RESET is due
  ListHook<Stream> linger_hook;

  bool any() const {
    for (const ListHook<Stream>* hook :
         {&new_hook, &event_hook, &unread_hook, &credit_hook, &lane_hook, &memory_hook, &lost_hook,
          &fin_hook, &confirm_hook, &open_hook, &reset_hook, &linger_hook}) {
      if (hook->linked()) return true;
    }
    return group != nullptr;
  }
};

struct StreamHot {
  // For the writer:
  std::uint64_t rest = 0;  // number of bytes that the writer has announced, but not written yet
  std::uint32_t room_needed = 1;  // free bytes that the writer needs before it is called again

  // Events that were not polled yet.
  struct Pending {
    bool opened = false, readable = false, writable = false, delivered = false, confirmed = false,
         reset = false;
    bool any() const { return opened || readable || writable || delivered || confirmed || reset; }
    void image(Image& image) { image(opened, readable, writable, delivered, confirmed, reset); }
  } pending;
  ResetReason event_reason = ResetReason::kNone;
  bool is_brief = false;  // the object was created only to send one STREAM_CREDIT of an idle stream

  // For bytes that the reader has not consumed (parked_bytes.h):
  std::uint64_t reader_needs = 0;  // minimum number of bytes that the reader can consume at once
  std::uint64_t parked = 0;
  Instant unread_since;

  // For the end of the stream:
  std::uint64_t reset_final_size = 0;
  // The ICMP error of a RESET that is due, or of the event for the peer's RESET. A stream never has
  // both.
  IcmpRefusal icmp;
  Instant linger_deadline;

  StreamPlaces places;

  // Whether this object can be freed without a loss of state. A negative deficit may be lost, since
  // the stream was idle for a long time.
  bool is_idle() const {
    return !places.any() && !pending.any() && rest == 0 && room_needed == 1 && reader_needs == 0 &&
           parked == 0;
  }
  // Reads or writes all members but `places`.
  void image(Image& image) {
    image(rest, room_needed, pending, event_reason, is_brief, reader_needs, parked, unread_since,
          reset_final_size, icmp, linger_deadline);
  }
};

}  // namespace satrelay::stp
