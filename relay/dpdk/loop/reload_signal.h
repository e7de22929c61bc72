// SIGHUP as a flag that a poll loop looks at.
#pragma once

namespace satrelay::dpdk {

class ReloadSignal {
 public:
  static void install();
  static bool take();  // whether it has come since the last look
};

}  // namespace satrelay::dpdk
