// A struct of counters lists its counters once, in `static constexpr std::array kFields`. Replies
// of sockets, reports, differences and the check of docs/statistics.md are all derived from this
// list.
//
// A metric in base units can be derived from a field. Its name comes from the field's name and kind
// (the name of a counter gets the suffix _total). Its value is the field's value times the factor
// from the field's unit to bytes or seconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace satrelay {

enum class CounterUnit : std::uint8_t {
  kNumber,  // a count of the things in the field's name, such as packets
  kBytes,
  kNanoseconds,
  kMicroseconds,
};

enum class CounterKind : std::uint8_t {
  kCounter,  // only grows, from 0
  kGauge,    // the current value
};

// `Member` locates the counter: a pointer to member, or an index for operator[] of `Struct`.
template <typename Struct, typename Member = std::uint64_t Struct::*>
struct CounterField {
  const char* name;  // snake_case, stable: the key in JSON
  Member member;
  const char* help;  // short description; docs/statistics.md says what an operator should do
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

// Returns the field of `member`, for example field_of(&stp::Counters::packets_in). The member must
// be in kFields.
template <typename Struct>
consteval const CounterField<Struct>& field_of(std::uint64_t Struct::*member) {
  std::size_t i = 0;
  while (Struct::kFields[i].member != member) ++i;  // a read past the end does not compile
  return Struct::kFields[i];
}

// Whether kFields lists each counter of `Struct` exactly once, under a unique name. `others` is the
// size in bytes of all members that are not counters.
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

// Returns how much each counter grew from `before` to `now`. Gauges keep their values of `now`.
template <typename Struct>
[[nodiscard]] constexpr Struct difference(const Struct& now, const Struct& before) {
  Struct since = now;
  for (const CounterField<Struct>& field : Struct::kFields) {
    if (field.kind == CounterKind::kCounter) since.*field.member -= before.*field.member;
  }
  return since;
}

}  // namespace satrelay
