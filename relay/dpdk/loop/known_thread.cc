#include "relay/dpdk/loop/known_thread.h"

#include <rte_lcore.h>

namespace satrelay::dpdk {

KnownThread::KnownThread() : is_known_(rte_thread_register() == 0) {}

KnownThread::~KnownThread() {
  if (is_known_) rte_thread_unregister();
}

}  // namespace satrelay::dpdk
