// Turns SIGHUP into a flag that a poll loop checks.
#pragma once

namespace satrelay::dpdk {

class ReloadSignal {
 public:
  static void install();
  static bool take();  // returns true if SIGHUP has arrived since the last call
};

}  // namespace satrelay::dpdk
