// The words that link.yaml uses for enumerators.
#pragma once

#include "config/model/link_model.h"
#include "config/model/words.h"

namespace satrelay::config {

template <>
inline constexpr Word<LinkWays> kWords<LinkWays>[] = {
    {"both", LinkWays::kBoth}, {"a_to_b", LinkWays::kAToB}, {"b_to_a", LinkWays::kBToA}};
template <>
inline constexpr Word<QueueDiscipline> kWords<QueueDiscipline>[] = {
    {"tail_drop", QueueDiscipline::kTailDrop}, {"priority", QueueDiscipline::kPriority}};

}  // namespace satrelay::config
