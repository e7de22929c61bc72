#include "relay/dpdk/loop/control_thread.h"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace satrelay::dpdk {

ControlThread::ControlThread(const char* name, Duration interval, std::function<void()> work)
    : interval_(interval), work_(std::move(work)) {
  if (start_control_thread(thread_, name, enter, this) != 0) {
    throw std::runtime_error(std::string("cannot start the thread ") + name);
  }
}

ControlThread::~ControlThread() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  pthread_join(thread_, nullptr);
}

ThreadResult ControlThread::enter(void* self) {
  static_cast<ControlThread*>(self)->run();
  return {};
}

void ControlThread::run() {
  std::unique_lock lock(mutex_);
  // Call work_() once more after a stop, so that it sees everything that happened before the stop.
  for (bool is_last = false; !is_last;) {
    const auto pause = std::chrono::nanoseconds(interval_.to_nanoseconds());
    changed_.wait_for(lock, pause, [this] { return stopped_; });
    is_last = stopped_;
    lock.unlock();
    work_();
    lock.lock();
  }
}

}  // namespace satrelay::dpdk
