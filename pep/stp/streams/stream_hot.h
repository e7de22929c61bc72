// What a stream needs only while something of it is under way: its places in the lists of Streams,
// and what these go by. Of very many streams most are idle, and have none of it (Stream::cool()).
#pragma once

#include <cstdint>

#include "pep/base/containers/intrusive_list.h"
#include "pep/base/time.h"
#include "pep/stp/streams/round.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

struct Stream;
struct StreamGroup;

struct StreamHot {
  // Of the schedule: the first bytes of a stream go ahead of the rest.
  enum class Level : std::uint8_t { kYoung, kOlder };

  // Of the writer.
  std::uint64_t rest = 0;         // what it has beyond what it wrote
  std::uint32_t room_needed = 1;  // before it is asked for bytes again

  // Events not yet polled.
  struct Pending {
    bool opened = false, readable = false, writable = false, delivered = false, confirmed = false,
         reset = false;
    bool any() const { return opened || readable || writable || delivered || confirmed || reset; }
  } pending;
  ResetReason event_reason = ResetReason::kNone;

  // Of the schedule (stream_schedule.h).
  Level new_level = Level::kYoung;  // valid while in a list
  Level lost_level = Level::kYoung;
  StreamGroup* group = nullptr;  // that of its class and host, while it counts there
  std::int64_t deficit = 0;      // bytes left of its turn
  RoundPlace round;              // among the streams of its host

  // Of what the reader has not taken (parked_bytes.h).
  std::uint64_t reader_needs = 0;  // at once, or it can take none of it
  std::uint64_t parked = 0;
  Instant unread_since;

  bool is_brief = false;  // there only for a word to the peer, of a stream that is idle

  // Of its end.
  std::uint64_t reset_final_size = 0;
  IcmpRefusal icmp;  // with the RESET that is due, or with the event: only one side has sent it
  Instant linger_deadline;

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

  bool in_a_list() const {
    for (const ListHook<Stream>* hook :
         {&new_hook, &event_hook, &unread_hook, &credit_hook, &lane_hook, &memory_hook, &lost_hook,
          &fin_hook, &confirm_hook, &open_hook, &reset_hook, &linger_hook}) {
      if (hook->linked()) return true;
    }
    return false;
  }
  // Nothing of it would be missed. What a stream that has been quiet for long has overdrawn of its
  // turn is forgiven.
  bool is_idle() const {
    return !in_a_list() && group == nullptr && !pending.any() && rest == 0 && room_needed == 1 &&
           reader_needs == 0 && parked == 0;
  }
};

}  // namespace satrelay::stp
