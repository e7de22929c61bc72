#include "pep/base/counter_fields.h"

#include <gtest/gtest.h>

namespace satrelay::counter_fields_test {
namespace {

struct Tally {
  std::uint64_t frames = 0, bytes = 0, waiting = 0;

  static constexpr std::array<CounterField<Tally>, 3> kFields{{
      {"frames", &Tally::frames, "seen"},
      {"bytes", &Tally::bytes, "of them", CounterUnit::kBytes},
      {"waiting", &Tally::waiting, "now", CounterUnit::kNumber, CounterKind::kGauge},
  }};
};
static_assert(lists_every_counter<Tally>());

struct OneForgotten {
  std::uint64_t in = 0, out = 0;
  static constexpr std::array<CounterField<OneForgotten>, 1> kFields{
      {{"in", &OneForgotten::in, "one"}}};
};
static_assert(!lists_every_counter<OneForgotten>());

struct OneTwice {
  std::uint64_t in = 0, out = 0;
  static constexpr std::array<CounterField<OneTwice>, 2> kFields{
      {{"in", &OneTwice::in, "one"}, {"out", &OneTwice::in, "the same"}}};
};
static_assert(!lists_every_counter<OneTwice>());

struct OneName {
  std::uint64_t in = 0, out = 0;
  static constexpr std::array<CounterField<OneName>, 2> kFields{
      {{"in", &OneName::in, "one"}, {"in", &OneName::out, "another"}}};
};
static_assert(!lists_every_counter<OneName>());

TEST(CounterFields, AFieldIsFoundByItsMember) {
  static_assert(field_of(&Tally::bytes).unit == CounterUnit::kBytes);
  EXPECT_STREQ(field_of(&Tally::waiting).name, "waiting");
  EXPECT_EQ(value_of(Tally{.frames = 1, .bytes = 60, .waiting = 2}, field_of(&Tally::bytes)), 60U);
}

TEST(CounterFields, ADifferenceIsOfWhatOnlyGrows) {
  const Tally since = difference(Tally{.frames = 7, .bytes = 700, .waiting = 3},
                                 Tally{.frames = 5, .bytes = 400, .waiting = 9});
  EXPECT_EQ(since.frames, 2U);
  EXPECT_EQ(since.bytes, 300U);
  EXPECT_EQ(since.waiting, 3U);
}

TEST(CounterFields, ASumIsOfEveryField) {
  Tally sum{.frames = 1, .bytes = 10, .waiting = 100};
  add_to(sum, Tally{.frames = 2, .bytes = 20, .waiting = 200});
  EXPECT_EQ(sum.frames, 3U);
  EXPECT_EQ(sum.bytes, 30U);
  EXPECT_EQ(sum.waiting, 300U);
}

}  // namespace
}  // namespace satrelay::counter_fields_test
