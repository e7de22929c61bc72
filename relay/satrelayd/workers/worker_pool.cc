#include "relay/satrelayd/workers/worker_pool.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/loop/known_thread.h"
#include "relay/dpdk/loop/poll_loop.h"
#include "relay/dpdk/loop/stop_signal.h"
#include "relay/ops/log/log.h"

namespace satrelay::satrelayd {
namespace {

void pause_a_little() {
  const timespec length{.tv_sec = 0, .tv_nsec = 20'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
}

void pin(pthread_t thread, unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (const int error = ::pthread_setaffinity_np(thread, sizeof set, &set); error != 0) {
    throw std::runtime_error("worker.cpus: core " + std::to_string(cpu) + ": " +
                             std::strerror(error));
  }
}

}  // namespace

WorkerPool::WorkerPool(const config::Worker& config, std::array<dpdk::Port*, 2> ports,
                       Handover* handover, LinkSharing& sharing, const std::vector<Member>& members)
    : config_(config),
      ports_(ports),
      handover_(handover),
      sharing_(sharing),
      safepoint_(static_cast<unsigned>(members.size()),
                 [this](unsigned follower) { handover_->wake(follower + 1); }) {
  try {
    for (const Member& member : members) {
      auto thread = std::make_unique<Thread>();
      thread->worker_pool = this;
      thread->index = static_cast<unsigned>(threads_.size() + 1);
      thread->member = member;
      if (const int error = ::pthread_create(&thread->id, nullptr, enter, thread.get());
          error != 0) {
        throw std::runtime_error(std::string("cannot start the thread of a worker: ") +
                                 std::strerror(error));
      }
      threads_.push_back(std::move(thread));
      const std::string name = "worker-" + std::to_string(threads_.back()->index);
      ::pthread_setname_np(threads_.back()->id, name.c_str());
      if (const auto cpu = config.cpu_of(threads_.back()->index)) pin(threads_.back()->id, *cpu);
    }
  } catch (...) {
    join();
    throw;
  }
}

WorkerPool::~WorkerPool() { join(); }

void WorkerPool::join() {
  if (threads_.empty()) return;
  dpdk::StopSignal::request();
  const Instant give_up = dpdk::now() + Safepoint::kPatience;
  for (const auto& thread : threads_) {
    handover_->wake(thread->index);
    while (!thread->has_ended.load(std::memory_order_acquire) && dpdk::now() < give_up) {
      pause_a_little();
    }
    if (!thread->has_ended.load(std::memory_order_acquire)) {
      // Exit without destructors: the hung worker may still use the objects.
      ops::log_error("worker " + std::to_string(thread->index) +
                     " does not end; the program exits");
      std::_Exit(EXIT_FAILURE);
    }
    ::pthread_join(thread->id, nullptr);
  }
  threads_.clear();
}

void* WorkerPool::enter(void* thread) {
  auto& own = *static_cast<Thread*>(thread);
  own.worker_pool->run(own);
  own.has_ended.store(true, std::memory_order_release);
  return nullptr;
}

void WorkerPool::run(Thread& thread) {
  const dpdk::KnownThread known;
  dpdk::PollLoop loop(config_.polling, ports_, thread.index);
  loop.watch(handover_->descriptor(thread.index));
  loop.run([&](Instant now) {
    thread.last_round.store((now - Instant()).to_nanoseconds(), std::memory_order_relaxed);
    thread.member.worker->note_round(loop.last_round());
    thread.member.worker->answer_bell(loop.last_rest());
    // If this thread was stopped, the leader may have used the engine with a time after `now`. So
    // read the clock again.
    if (safepoint_.heed(thread.index - 1)) now = dpdk::now();
    thread.member.reporter->run(now);
    sharing_.tick(thread.index, now);
    dpdk::PollLoop::Round round = thread.member.worker->round(now, loop.last_rest());
    round.next_timeout = earlier(earlier(round.next_timeout, sharing_.next_timeout(thread.index)),
                                 thread.member.reporter->next_timeout());
    return round;
  });
  // The leader may be waiting for all followers to stop. It must not wait for this one.
  safepoint_.leave(thread.index - 1);
}

bool WorkerPool::all_have_run_since(Instant then) const {
  const std::int64_t least = (then - Instant()).to_nanoseconds();
  return std::ranges::all_of(threads_, [&](const auto& thread) {
    return thread->last_round.load(std::memory_order_relaxed) >= least;
  });
}

WorkerPool::Pause::Pause(WorkerPool& worker_pool) : worker_pool_(worker_pool) {
  if (worker_pool.threads_.empty()) return;
  const bool was_missing = worker_pool.safepoint_.is_one_missing();
  is_complete_ = worker_pool.safepoint_.stop();
  if (is_complete_ && was_missing) ops::log_info("no worker hangs any longer");
  if (!is_complete_ && !was_missing) {
    ops::log_error("a worker hangs: commands and listings that need all of them are refused");
  }
}

WorkerPool::Pause::~Pause() {
  if (!worker_pool_.threads_.empty()) worker_pool_.safepoint_.let_go();
}

}  // namespace satrelay::satrelayd
