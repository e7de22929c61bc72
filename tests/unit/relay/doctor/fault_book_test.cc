#include "relay/doctor/fault_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace satrelay::ctl::doctor::fault_book_test {
namespace {

using machine::Finding;
using machine::Findings;
using ops::Severity;
using testing::ElementsAre;
using testing::IsEmpty;

Finding finding(std::string_view check, Severity severity, const std::string& subject = "gateway") {
  return {.check = check,
          .severity = severity,
          .subject = subject,
          .seen = "seen",
          .cause = "cause",
          .cure = "cure",
          .page = "page"};
}
const Finding kError = finding("nothing_accelerated", Severity::kError);
const Finding kWarning = finding("rate_unit", Severity::kWarning);

// "+check" for a begin, "-check" for an end.
std::vector<std::string> words(const std::vector<FaultBook::Change>& changes) {
  std::vector<std::string> words;
  for (const FaultBook::Change& each : changes) {
    words.push_back((each.is_over ? '-' : '+') + std::string(each.finding.check));
  }
  return words;
}

TEST(FaultBook, AnErrorBeginsAtOnceAndEndsOnce) {
  FaultBook book;
  EXPECT_THAT(words(book.look({kError})), ElementsAre("+nothing_accelerated"));
  EXPECT_THAT(words(book.look({kError})), IsEmpty());
  const auto over = book.look({});
  ASSERT_THAT(words(over), ElementsAre("-nothing_accelerated"));
  EXPECT_EQ(over[0].finding.subject, "gateway");
  EXPECT_THAT(words(book.look({})), IsEmpty());
}

TEST(FaultBook, AWarningBeginsInTheSecondRunInARow) {
  FaultBook book;
  EXPECT_THAT(words(book.look({kWarning})), IsEmpty());
  EXPECT_THAT(words(book.look({})), IsEmpty());
  EXPECT_THAT(words(book.look({kWarning})), IsEmpty());
  EXPECT_THAT(words(book.look({kWarning})), ElementsAre("+rate_unit"));
  EXPECT_THAT(words(book.look({})), ElementsAre("-rate_unit"));
}

TEST(FaultBook, AnErrorThatComesAndGoesMakesNoFurtherEvents) {
  FaultBook book;
  book.look({kError});
  book.look({});
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(words(book.look({kError})), IsEmpty());
    EXPECT_THAT(words(book.look({})), IsEmpty());
  }
  book.look({kError});
  EXPECT_THAT(words(book.look({kError})), ElementsAre("+nothing_accelerated")) << "it stays now";
}

TEST(FaultBook, AFaultThatGrowsWorseIsToldAgain) {
  FaultBook book;
  book.look({finding("disk_full", Severity::kWarning)});
  EXPECT_THAT(words(book.look({finding("disk_full", Severity::kWarning)})),
              ElementsAre("+disk_full"));
  EXPECT_THAT(words(book.look({finding("disk_full", Severity::kError)})),
              ElementsAre("+disk_full"));
  EXPECT_THAT(words(book.look({finding("disk_full", Severity::kWarning)})), IsEmpty());
  EXPECT_THAT(words(book.look({})), ElementsAre("-disk_full"));
}

TEST(FaultBook, SubjectsCountByThemselvesAndAFindingThatOccursTwiceCountsOnce) {
  FaultBook book;
  const Finding other = finding("nothing_accelerated", Severity::kError, "peer hub");
  EXPECT_THAT(words(book.look({kError, other, kError})),
              ElementsAre("+nothing_accelerated", "+nothing_accelerated"));
  const auto over = book.look({kError});
  ASSERT_THAT(words(over), ElementsAre("-nothing_accelerated"));
  EXPECT_EQ(over[0].finding.subject, "peer hub");
}

TEST(FaultBook, TellsOfSoManyFaultsAtATimeAndCountsTheRest) {
  FaultBook book;
  Findings all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(finding("peer_one_way", Severity::kError, "peer " + std::to_string(i)));
  }
  auto changes = book.look(all);
  ASSERT_EQ(changes.size(), FaultBook::kMost + 1);
  EXPECT_EQ(changes.back().finding.check, FaultBook::kMore);
  EXPECT_EQ(changes.back().finding.seen, "236 more faults were found");
  EXPECT_THAT(words(book.look(all)), IsEmpty());
  // Ten of those that were told end, and others take their place.
  all.erase(all.begin(), all.begin() + 10);
  changes = book.look(all);
  EXPECT_EQ(std::ranges::count(changes, true, &FaultBook::Change::is_over), 10);
  EXPECT_EQ(std::ranges::count(changes, false, &FaultBook::Change::is_over), 10);
  all.resize(3);
  changes = book.look(all);
  EXPECT_EQ(changes.size(), 62U) << "61 and the fault of the rest end";
  EXPECT_EQ(words(changes).back(), "-more_faults");
}

Findings many(int count, Severity severity) {
  Findings all;
  for (int i = 0; i < count; ++i) {
    all.push_back(finding("many", severity, "peer " + std::to_string(i)));
  }
  return all;
}

TEST(FaultBook, AnErrorTakesThePlaceOfTheMildestFault) {
  FaultBook book;
  Findings all = many(FaultBook::kMost, Severity::kWarning);
  book.look(all);
  ASSERT_EQ(book.look(all).size(), FaultBook::kMost);
  all.insert(all.begin(), kError);
  const auto changes = book.look(all);
  ASSERT_THAT(words(changes), ElementsAre("-many", "+nothing_accelerated", "+more_faults"));
  EXPECT_TRUE(changes[0].gives_way);
  EXPECT_FALSE(changes[1].gives_way);
  EXPECT_EQ(changes[2].finding.seen, "1 more faults were found");
  EXPECT_THAT(words(book.look(all)), IsEmpty());
  // The other one returns when there is room.
  all.erase(all.begin());
  EXPECT_THAT(words(book.look(all)), ElementsAre("-nothing_accelerated", "+many", "-more_faults"));
}

TEST(FaultBook, AnErrorTakesNoPlaceOfAnError) {
  FaultBook book;
  Findings all = many(FaultBook::kMost, Severity::kError);
  book.look(all);
  all.push_back(kError);
  const auto changes = book.look(all);
  ASSERT_THAT(words(changes), ElementsAre("+more_faults"));
  EXPECT_EQ(changes[0].finding.severity, Severity::kError);
}

TEST(FaultBook, TellsOfMoreAgainIfTheyDoubleOrGrowWorse) {
  FaultBook book;
  const auto look = [&](int errors, int warnings) {
    Findings all = many(FaultBook::kMost + errors, Severity::kError);
    for (int i = 0; i < warnings; ++i) {
      all.push_back(finding("mild", Severity::kWarning, "peer " + std::to_string(i)));
    }
    return book.look(all);
  };
  look(0, 10);
  auto changes = look(0, 10);
  ASSERT_THAT(words(changes), ElementsAre("+more_faults"));
  EXPECT_EQ(changes[0].finding.severity, Severity::kWarning);
  look(0, 19);
  EXPECT_THAT(words(look(0, 19)), IsEmpty()) << "less than twice 10";
  look(0, 20);
  EXPECT_THAT(words(look(0, 20)), ElementsAre("+more_faults"));
  EXPECT_THAT(words(look(0, 1)), IsEmpty());
  look(0, 20);
  EXPECT_THAT(words(look(0, 20)), IsEmpty()) << "was told";
  changes = look(1, 20);
  ASSERT_THAT(words(changes), ElementsAre("+more_faults"));
  EXPECT_EQ(changes[0].finding.severity, Severity::kError);
  EXPECT_THAT(words(look(0, 0)), ElementsAre("-more_faults"));
}

TEST(FaultBook, TellsNeitherInfosNorFaultsThatEventsReport) {
  Finding known = kError;
  known.told_by.begin = "peer_unheard";
  FaultBook book;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(words(book.look({known, finding("security_none", Severity::kInfo)})), IsEmpty());
  }
}

class TellsOfARate : public testing::Test {
 protected:
  TellsOfARate() { cut_.told_by = {.begin = "rate_cut", .end = "rate_restored", .subject = {}}; }
  std::vector<std::string> look(const std::string& events) {
    return words(book_.look({cut_}, Json::parse('[' + events + ']')));
  }

  const std::string begin_ = R"({"name": "rate_cut", "subject": "peer hub"})";
  const std::string end_ = R"({"name": "rate_restored", "subject": "peer hub"})";
  Finding cut_ = finding("rate_cut", Severity::kError, "peer hub");
  FaultBook book_;
};

TEST_F(TellsOfARate, NotWhileItsEventLasts) {
  EXPECT_THAT(look(begin_), IsEmpty());
  EXPECT_THAT(look(begin_ + ',' + end_), ElementsAre("+rate_cut"));
}

TEST_F(TellsOfARate, IfOnlyAnotherSubjectHasTheEvent) {
  EXPECT_THAT(look(R"({"name": "rate_cut", "subject": "peer other"})"), ElementsAre("+rate_cut"));
}

TEST_F(TellsOfARate, NotIfTheEventHasTheSubjectThatTheFindingNames) {
  cut_.told_by.subject = "gateway";
  EXPECT_THAT(look(R"({"name": "rate_cut", "subject": "gateway"})"), IsEmpty());
}

TEST_F(TellsOfARate, AndNotOfAnEndWhenAnotherEventReportsIt) {
  EXPECT_THAT(look(""), ElementsAre("+rate_cut"));
  EXPECT_THAT(look(begin_), IsEmpty()) << "it persists";
  EXPECT_THAT(look(begin_ + ',' + end_), IsEmpty()) << "it was told already";
  EXPECT_THAT(words(book_.look({})), ElementsAre("-rate_cut"));
}

TEST_F(TellsOfARate, NotWhenOtherEventsHavePushedItsEventOut) {
  EXPECT_THAT(look(begin_), IsEmpty());
  for (int i = 0; i < 3; ++i) EXPECT_THAT(look(""), IsEmpty());
  EXPECT_THAT(look(end_), ElementsAre("+rate_cut"));
}

}  // namespace
}  // namespace satrelay::ctl::doctor::fault_book_test
