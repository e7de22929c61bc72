// Describes the counters of a struct once, beside the struct:
// `static constexpr std::array kFields`. Replies of sockets, reports, differences and the check of
// docs/statistics.md are made from these lists, so that a counter is written down in one place.
//
// A metric in base units can be made from a field: from its name, its kind (the name of a counter
// gets _total at its end) and the factor from its unit to bytes or seconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace satrelay {

enum class CounterUnit : std::uint8_t {
  kNumber,  // a number of things, which the name says: packets, frames, blocks
  kBytes,
  kNanoseconds,
  kMicroseconds,
};

enum class CounterKind : std::uint8_t {
  kCounter,  // only grows, from 0
  kGauge,    // the current value
};

// `Member` says where the number is: a pointer to member, or an argument for operator[] of
// `Struct`.
template <typename Struct, typename Member = std::uint64_t Struct::*>
struct CounterField {
  const char* name;  // snake_case, stable: the key in JSON
  Member member;
  const char* help;  // a phrase; docs/statistics.md says what to do about it
  CounterUnit unit = CounterUnit::kNumber;
  CounterKind kind = CounterKind::kCounter;
};

template <typename Struct, typename Member>
constexpr std::uint64_t value_of(const Struct& counters,
                                 const CounterField<Struct, Member>& field) {
  if constexpr (std::is_member_object_pointer_v<Member>) {
    return counters.*field.member;
  } else {
    return counters[field.member];
  }
}

// The field of `member`: field_of(&stp::Counters::packets_in). It must be listed.
template <typename Struct>
consteval const CounterField<Struct>& field_of(std::uint64_t Struct::*member) {
  std::size_t i = 0;
  while (Struct::kFields[i].member != member) ++i;  // a read past the end does not compile
  return Struct::kFields[i];
}

// Whether each number of `Struct` is listed once, under a name of its own. `others`: size of the
// other members of the struct, in bytes.
template <typename Struct>
consteval bool lists_every_counter(std::size_t others = 0) {
  const auto& fields = Struct::kFields;
  // Compilers limit the steps of a consteval function, so each name is measured only once.
  std::array<std::string_view, Struct::kFields.size()> names{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    names[i] = fields[i].name;
    for (std::size_t j = 0; j < i; ++j) {
      if (fields[i].member == fields[j].member) return false;
      if (names[i] == names[j]) return false;
    }
  }
  return sizeof(Struct) == fields.size() * sizeof(std::uint64_t) + others;
}

template <typename Struct>
constexpr void add_to(Struct& sum, const Struct& more) {
  for (const CounterField<Struct>& field : Struct::kFields) sum.*field.member += more.*field.member;
}

// Counts from `before` to `now`. Gauges have their values of `now`.
template <typename Struct>
[[nodiscard]] constexpr Struct difference(const Struct& now, const Struct& before) {
  Struct since = now;
  for (const CounterField<Struct>& field : Struct::kFields) {
    if (field.kind == CounterKind::kCounter) since.*field.member -= before.*field.member;
  }
  return since;
}

}  // namespace satrelay
