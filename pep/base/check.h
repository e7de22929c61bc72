// Invariants. SATRELAY_CHECK is active in every build: a gateway with a broken invariant must stop
// before it delivers a wrong byte. SATRELAY_DCHECK is for checks that cost too much on the data
// path.
#pragma once

namespace satrelay {

// Traps, so that the host's crash handler reports the place of the failed check. Engines have no
// log to print to.
[[noreturn]] inline void check_failed() { __builtin_trap(); }

}  // namespace satrelay

#define SATRELAY_CHECK(condition)    \
  do {                               \
    if (!(condition)) [[unlikely]] { \
      ::satrelay::check_failed();    \
    }                                \
  } while (false)

#ifdef NDEBUG
#define SATRELAY_DCHECK(condition) \
  do {                             \
  } while (false)
#else
#define SATRELAY_DCHECK(condition) SATRELAY_CHECK(condition)
#endif
