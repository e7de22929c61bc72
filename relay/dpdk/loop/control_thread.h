// A thread for work that must not delay the worker, on the CPUs that DPDK leaves to such threads.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <mutex>

#include "pep/base/time.h"
#include "relay/dpdk/device/dpdk_version.h"

namespace satrelay::dpdk {

class ControlThread {
 public:
  // Calls `work`, which must not throw, about every `interval`. The destructor stops the thread,
  // which then calls `work` once more and ends. Needs a running Eal. Throws std::runtime_error.
  ControlThread(const char* name, Duration interval, std::function<void()> work);
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;
  ~ControlThread();

 private:
  static ThreadResult enter(void* self);
  void run();

  Duration interval_;
  std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  pthread_t thread_{};
};

}  // namespace satrelay::dpdk
