// A thread for what must not hold up the worker, on the CPUs that DPDK leaves to such threads.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <mutex>

#include "pep/base/time.h"

namespace satrelay::dpdk {

class ControlThread {
 public:
  // Calls `work`, which does not throw, about every `interval`, and once more from its
  // beginning when it is told to end. The EAL runs. Throws std::runtime_error.
  ControlThread(const char* name, Duration interval, std::function<void()> work);
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;
  ~ControlThread();

 private:
  static void* enter(void* self);
  void run();

  Duration interval_;
  std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  pthread_t thread_{};
};

}  // namespace satrelay::dpdk
