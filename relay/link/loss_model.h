// Which frames a link loses: independently (Bernoulli), or in bursts (Gilbert-Elliott: a good and a
// bad state, each with a loss probability of its own; E. N. Gilbert 1960, E. O. Elliott 1963).
#pragma once

#include <cstdint>
#include <optional>

#include "config/schema.h"
#include "pep/base/random.h"

namespace satrelay::link {

class LossModel {
 public:
  LossModel(double probability, const std::optional<config::GilbertElliott>& bursts,
            std::uint64_t seed)
      : probability_(probability), bursts_(bursts), random_(seed) {}

  // Decides for one frame. Two draws each time whatever the model, so that a change of the
  // probability changes as few frames as it can.
  bool next_is_lost() {
    const double loss = random_.unit();
    const double change = random_.unit();
    if (!bursts_) return loss < probability_;
    const bool is_lost = loss < (is_bad_ ? bursts_->loss_bad : bursts_->loss_good);
    if (change < (is_bad_ ? bursts_->bad_to_good : bursts_->good_to_bad)) is_bad_ = !is_bad_;
    return is_lost;
  }

  // Bernoulli from now on.
  void set_probability(double probability) {
    probability_ = probability;
    bursts_.reset();
  }

 private:
  double probability_;
  std::optional<config::GilbertElliott> bursts_;
  Random random_;
  bool is_bad_ = false;
};

}  // namespace satrelay::link
