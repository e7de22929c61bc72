#include "relay/gateway/rule_sets.h"

namespace satrelay::gateway {

RuleSets::RuleSets(std::size_t rule_count)
    : word_count_((rule_count + 63) / 64), summary_count_((word_count_ + 63) / 64) {
  add(std::vector<std::uint64_t>(word_count_));  // kEmpty
}

RuleSets::SetId RuleSets::add(std::span<const std::uint64_t> words) {
  std::vector<std::uint64_t> packed(summary_count_);
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (words[w] == 0) continue;
    packed[w / 64] |= std::uint64_t{1} << w % 64;
    packed.push_back(words[w]);
  }
  const auto [place, is_new] = ids_.emplace(packed, static_cast<SetId>(words_.size()));
  if (is_new) words_.insert(words_.end(), packed.begin(), packed.end());
  return place->second;
}

void RuleSets::seal() {
  ids_.clear();
  words_.shrink_to_fit();
}

}  // namespace satrelay::gateway
