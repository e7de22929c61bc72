// Decides which frames a link loses: independently (Bernoulli), in bursts (Gilbert-Elliott: a good
// and a bad state, each with a loss probability of its own; E. N. Gilbert 1960, E. O. Elliott
// 1963), or by a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "pep/base/random.h"

namespace satrelay::link {

class LossModel {
 public:
  LossModel(const config::LinkDirection& config, std::uint64_t seed)
      : probability_(config.loss),
        bursts_(config.gilbert_elliott),
        trace_(config.loss_trace),
        random_(seed) {}

  // Decides whether the next frame is lost. Draws two random numbers for each frame in all models.
  // So a change of a probability changes the outcome for as few frames as possible.
  bool next_is_lost() {
    const double loss = random_.unit();
    const double change = random_.unit();
    if (trace_) return trace_says_lost();
    if (!bursts_) return loss < probability_;
    const bool is_lost = loss < (is_bad_ ? bursts_->loss_bad : bursts_->loss_good);
    if (change < (is_bad_ ? bursts_->bad_to_good : bursts_->good_to_bad)) is_bad_ = !is_bad_;
    return is_lost;
  }

  // From now on losses are independent, with this probability.
  void set_probability(double probability) {
    probability_ = probability;
    bursts_.reset();
    trace_.reset();
  }

 private:
  bool trace_says_lost() {
    if (trace_->period != 0 && position_ == trace_->period) position_ = next_lost_ = 0;
    const std::uint64_t position = position_++;
    if (next_lost_ == trace_->lost.size() || trace_->lost[next_lost_] != position) return false;
    ++next_lost_;
    return true;
  }

  double probability_;
  std::optional<config::GilbertElliott> bursts_;
  std::optional<config::LossTrace> trace_;
  Random random_;
  bool is_bad_ = false;
  std::uint64_t position_ = 0;  // position of the next frame in the trace
  std::size_t next_lost_ = 0;
};

}  // namespace satrelay::link
