// SIGHUP as a flag that a poll loop looks at.
#pragma once

namespace satrelay::dpdk {

class ReloadSignal {
 public:
  static void install();
  static bool take();  // true if the signal has come since the last call
};

}  // namespace satrelay::dpdk
