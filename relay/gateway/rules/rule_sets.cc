#include "relay/gateway/rules/rule_sets.h"

#include <algorithm>
#include <iterator>

namespace satrelay::gateway {
namespace {

// A set stores its empty words too if more than a fourth of its words are not empty. So a set takes
// at most four times the memory of the words that are not empty.
constexpr std::size_t kDense = 4;

}  // namespace

RuleSets::RuleSets(std::size_t rule_count)
    : word_count_((rule_count + 63) / 64), summary_count_((word_count_ + 63) / 64) {
  add(std::vector<std::uint64_t>(word_count_));  // the first set gets the id kEmpty
}

RuleSets::SetId RuleSets::add(std::span<const std::uint64_t> words) {
  std::vector<std::uint64_t> packed(1 + summary_count_);
  std::size_t filled = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (words[w] == 0) continue;
    packed[1 + w / 64] |= std::uint64_t{1} << w % 64;
    ++filled;
  }
  if (filled * kDense > word_count_) {
    packed[0] = 1;
    packed.insert(packed.end(), words.begin(), words.end());
    packed.resize(1 + summary_count_ + summary_count_ * 64);
  } else {
    std::ranges::copy_if(words, std::back_inserter(packed), [](auto word) { return word != 0; });
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
