#include "pep/stp/fec/fec_policy.h"

#include <algorithm>
#include <cmath>

namespace satrelay::stp {
namespace {

// The smallest number of losses, up to `most`, that is exceeded with a chance of at most
// `residual`. Runs of losses begin at random, and have geometric lengths. Their sum has a compound
// Poisson distribution, called Polya-Aeppli (N. L. Johnson et al., Univariate Discrete
// Distributions, 2005, section 9.7).
std::size_t quantile(double packets, double loss, double run, double residual, std::size_t most) {
  const double runs = packets * loss / run;
  // The result would be far above `most`, and exp() would underflow.
  if (packets * loss > 2 * static_cast<double>(most)) return most;
  const double more = 1 - 1 / run;  // the chance that a run continues
  double before = 0;
  double term = std::exp(-runs);  // the chance of no loss
  double sum = term;
  for (std::size_t k = 1; k <= most; ++k) {
    if (1 - sum <= residual) return k - 1;
    const auto n = static_cast<double>(k);
    const double next =
        ((runs * (1 - more) + 2 * more * (n - 1)) * term - more * more * (n - 2) * before) / n;
    before = term;
    term = next;
    sum += term;
  }
  return most;
}

}  // namespace

void FecPolicy::on_report(std::uint64_t delivered, std::uint64_t lost) {
  packets_ += static_cast<double>(delivered + lost);
  losses_ += static_cast<double>(lost);
  if (packets_ > kWindow) {
    losses_ *= kWindow / packets_;
    packets_ = kWindow;
  }
}

double FecPolicy::loss_bound() const {
  const double n = (packets_ + kPriorPackets) / (2 * run_ - 1);
  const double mean = loss();
  return std::min(0.5, mean + 1.645 * std::sqrt(mean * (1 - mean) / n));
}

std::size_t FecPolicy::repairs_for(std::size_t sources) const {
  if (sources == 0 || is_clean()) return 0;
  const bool is_unknown = !is_measured() && sources > kShortWindow;
  const double loss = std::max(loss_bound(), is_unknown ? kUnknownLoss : 0);
  const auto packets = static_cast<double>(sources);
  const double run = std::min(run_, packets);
  const double share = packets / 2 + kLeastShare + std::min(packets / 4, kShareOfRun * (run - 1));
  const std::size_t most = std::min(kMostRepairs + 1, static_cast<std::size_t>(share));
  // Repairs may be lost, too.
  std::size_t repairs = 0;
  for (int i = 0; i < 3; ++i) {
    repairs = quantile(packets + static_cast<double>(repairs), loss, run, residual(run), most);
  }
  return std::max<std::size_t>(repairs, 1);
}

std::size_t FecPolicy::sources_for(std::size_t repairs, std::size_t most) const {
  std::size_t least = 1;
  while (least < most) {
    const std::size_t middle = least + (most - least + 1) / 2;
    if (repairs_for(middle) <= repairs) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least;
}

}  // namespace satrelay::stp
