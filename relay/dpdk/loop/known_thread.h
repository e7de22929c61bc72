// While it lives DPDK knows the calling thread: pools of packets keep some for each thread that
// they know. A thread that it cannot take up works as well, and a little slower.
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
