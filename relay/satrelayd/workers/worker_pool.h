// The threads of all workers of a gateway except the first. The first worker runs on the main
// thread, and is the leader of the pool.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "relay/dpdk/device/port.h"
#include "relay/satrelayd/workers/handover.h"
#include "relay/satrelayd/workers/link_sharing.h"
#include "relay/satrelayd/workers/safepoint.h"
#include "relay/satrelayd/workers/worker.h"
#include "relay/satrelayd/workers/worker_report.h"

namespace satrelay::satrelayd {

class WorkerPool {
 public:
  struct Member {
    Worker* worker = nullptr;
    WorkerReporter* reporter = nullptr;
  };

  // Starts the threads. `members` are the second and all further workers, in order. All must
  // outlive the pool. `handover` is null if there are no members. Throws std::runtime_error.
  WorkerPool(const config::Worker& config, std::array<dpdk::Port*, 2> ports, Handover* handover,
             LinkSharing& sharing, const std::vector<Member>& members);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Requests a stop, and waits until the threads have ended.
  ~WorkerPool();

  // Whether all threads of the pool have begun a round since then. Only the leader may call this.
  bool all_have_run_since(Instant then) const;

  // While a Pause exists, all threads of the pool are stopped between two rounds, and the leader
  // may use their data. Only the leader may create a Pause, and only one at a time.
  class Pause {
   public:
    explicit Pause(WorkerPool& worker_pool);
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause();
    // False if a worker hangs. This has then been logged, and the data of the workers must not be
    // used.
    [[nodiscard]] bool is_complete() const { return is_complete_; }

   private:
    WorkerPool& worker_pool_;
    bool is_complete_ = true;
  };

 private:
  struct Thread {
    WorkerPool* worker_pool = nullptr;
    unsigned index = 0;  // index of the thread's worker
    Member member;
    pthread_t id{};
    std::atomic<std::int64_t> last_round = 0;  // when it began, in nanoseconds of dpdk::now()
    std::atomic<bool> has_ended = false;
  };
  static void* enter(void* thread);
  void run(Thread& thread);
  void join();

  const config::Worker config_;
  std::array<dpdk::Port*, 2> ports_;
  Handover* handover_;
  LinkSharing& sharing_;
  Safepoint safepoint_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace satrelay::satrelayd
