// Registers the calling thread with DPDK while this object lives. Packet pools keep a cache for
// each registered thread. If DPDK cannot register the thread, the pools still work, a little
// slower.
#pragma once

namespace satrelay::dpdk {

class KnownThread {
 public:
  KnownThread();
  KnownThread(const KnownThread&) = delete;
  KnownThread& operator=(const KnownThread&) = delete;
  ~KnownThread();

 private:
  bool is_known_;
};

}  // namespace satrelay::dpdk
