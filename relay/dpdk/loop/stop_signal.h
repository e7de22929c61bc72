// SIGTERM and SIGINT as a flag that a poll loop looks at.
#pragma once

namespace satrelay::dpdk {

class StopSignal {
 public:
  // Installs the handlers. A second signal of the same kind ends the process at once, so that a
  // stop that hangs can still be interrupted from the keyboard.
  static void install();
  static bool requested();
  static void request();  // as if the signal had come
};

}  // namespace satrelay::dpdk
