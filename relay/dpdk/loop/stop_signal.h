// Turns SIGTERM and SIGINT into a flag that a poll loop checks.
#pragma once

namespace satrelay::dpdk {

class StopSignal {
 public:
  // Installs the handlers. A second signal of the same kind ends the process at once, so that the
  // user can still interrupt a stop that hangs.
  static void install();
  static bool requested();
  static void request();  // requests a stop, as SIGTERM does
};

}  // namespace satrelay::dpdk
