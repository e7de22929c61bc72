// The state that a stream needs only while something of it is in progress: its places in the lists
// of Streams, and the values for these. If there are very many streams, most are idle and have none
// of this (Stream::cool()).
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

// The places of a stream in the lists and in the schedule of Streams. They belong to these, and are
// no part of a stream's image.
struct StreamPlaces {
  // For the schedule: the first bytes of a stream go ahead of the rest.
  enum class Level : std::uint8_t { kYoung, kOlder };

  // For the schedule (stream_schedule.h).
  Level new_level = Level::kYoung;  // valid while in a list
  Level lost_level = Level::kYoung;
  StreamGroup* group = nullptr;  // group of its class and host, while the stream counts there
  std::int64_t deficit = 0;      // bytes left of its turn
  RoundPlace round;              // place among the streams of its host

  // Hooks that bytes in progress need come first, so that they share cache lines.
  ListHook<Stream> new_hook;  // new bytes to send, or ready to produce them
  ListHook<Stream> event_hook;
  ListHook<Stream> unread_hook;   // bytes wait for the reader
  ListHook<Stream> credit_hook;   // CREDIT due
  ListHook<Stream> lane_hook;     // what the stream has to send waits for credit of the lane
  ListHook<Stream> memory_hook;   // the writer waits for arena blocks
  ListHook<Stream> lost_hook;     // lost bytes to send again
  ListHook<Stream> fin_hook;      // the FIN is due, and no byte can carry it
  ListHook<Stream> confirm_hook;  // CONFIRM due
  ListHook<Stream> open_hook;     // OPEN due
  ListHook<Stream> reset_hook;    // RESET due
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
  // For the writer.
  std::uint64_t rest = 0;         // bytes that the writer has beyond those it has written
  std::uint32_t room_needed = 1;  // bytes of room before the writer is asked again

  // Events not yet polled.
  struct Pending {
    bool opened = false, readable = false, writable = false, delivered = false, confirmed = false,
         reset = false;
    bool any() const { return opened || readable || writable || delivered || confirmed || reset; }
    void image(Image& image) { image(opened, readable, writable, delivered, confirmed, reset); }
  } pending;
  ResetReason event_reason = ResetReason::kNone;
  bool is_brief = false;  // created only for a frame to the peer, for an idle stream

  // For bytes that the reader has not taken (parked_bytes.h).
  std::uint64_t reader_needs = 0;  // the reader takes at least so many at once, or none
  std::uint64_t parked = 0;
  Instant unread_since;

  // For its end.
  std::uint64_t reset_final_size = 0;
  IcmpRefusal icmp;  // of the RESET that is due, or of the event: only one side has sent one
  Instant linger_deadline;

  StreamPlaces places;

  // Whether nothing of value is lost if this is freed. A stream that was quiet for long is forgiven
  // what it has overdrawn of its turn.
  bool is_idle() const {
    return !places.any() && !pending.any() && rest == 0 && room_needed == 1 && reader_needs == 0 &&
           parked == 0;
  }
  // Without the places.
  void image(Image& image) {
    image(rest, room_needed, pending, event_reason, is_brief, reader_needs, parked, unread_since,
          reset_final_size, icmp, linger_deadline);
  }
};

}  // namespace satrelay::stp
