#include "relay/dpdk/scheduling.h"

#include <sched.h>

namespace satrelay::dpdk {

bool request_prompt_scheduling() {
  sched_param parameters{};
  parameters.sched_priority = 1;
  return ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameters) == 0;
}

}  // namespace satrelay::dpdk
