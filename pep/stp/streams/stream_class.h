// Classes of streams: which of them may send is the relay's affair, which stream of a class the
// session's.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace satrelay::stp {

using ClassId = std::uint8_t;  // below kClasses
inline constexpr std::size_t kClasses = 32;

using ClassSet = std::uint32_t;  // bit n: class n
inline constexpr ClassSet kEveryClass = ~ClassSet{0};
constexpr ClassSet class_bit(ClassId id) { return ClassSet{1} << id; }
// Not of an empty set.
constexpr ClassId lowest_class(ClassSet set) { return static_cast<ClassId>(std::countr_zero(set)); }

// What the relay lets a session do with one packet.
struct Turn {
  ClassSet open =
      kEveryClass;      // may send, sooner or later: what waits in others is as if not there
  ClassId first = 0;    // whose bytes come first
  bool streams = true;  // bytes of streams at all, or only what concerns the session
};

// Bytes of streams in one packet, of one class.
struct ClassBytes {
  ClassId stream_class = 0;
  std::size_t bytes = 0;
  std::size_t booked = 0;  // the same, each as often as its host waits somewhere (host_share.h)
};

}  // namespace satrelay::stp
