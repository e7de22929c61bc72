// SIGTERM and SIGINT as a flag that a poll loop looks at.
#pragma once

namespace satrelay::dpdk {

class StopSignal {
 public:
  // Installs the handlers. A second signal of the same kind ends the process at once, so that the
  // user can still interrupt a stop that hangs.
  static void install();
  static bool requested();
  static void request();  // as if the signal had come
};

}  // namespace satrelay::dpdk
