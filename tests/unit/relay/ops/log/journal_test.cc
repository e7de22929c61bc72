#include "relay/ops/log/journal.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/relay/ops/fake_journal.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ops::journal_test {
namespace {

using namespace std::string_literals;

TEST(JournalEntry, AValueIsALineAndOneOfSeveralLinesHasItsLength) {
  const std::vector<LogField> fields{{"MESSAGE", "peer a=b: \"gone\""},
                                     {"SATRELAY_DETAIL", "two\nPRIORITY=0\nlines"},
                                     {"SATRELAY_OLD", ""}};
  EXPECT_EQ(format_journal_entry(fields),
            "MESSAGE=peer a=b: \"gone\"\n"
            "SATRELAY_DETAIL\n\x14\0\0\0\0\0\0\0two\nPRIORITY=0\nlines\n"
            "SATRELAY_OLD=\n"s);
}

TEST(JournalEntry, TheLengthIsLittleEndian) {
  const std::vector<LogField> fields{{"A", "\n" + std::string(0x1ff, 'x')}};
  EXPECT_EQ(format_journal_entry(fields).substr(0, 10), "A\n\0\2\0\0\0\0\0\0"s);
}

TEST(JournalSender, SendsADatagramAnEntry) {
  const TemporaryFolder folder;
  const JournalSender sender(folder.file("socket"));
  EXPECT_FALSE(sender.send("A=1\n")) << "nobody is there";
  {
    const FakeJournal journal(folder.file("socket"));
    EXPECT_TRUE(sender.send("A=1\n"));
    EXPECT_TRUE(sender.send("A=2\n"));
    EXPECT_EQ(journal.next(), "A=1\n");
    EXPECT_EQ(journal.next(), "A=2\n");
    EXPECT_EQ(journal.next(), "");
  }
  EXPECT_FALSE(sender.send("A=3\n"));
  const FakeJournal again(folder.file("socket"));
  EXPECT_TRUE(sender.send("A=4\n")) << "it was started anew";
}

TEST(JournalSender, DoesNotWaitForOneThatReadsNothing) {
  const TemporaryFolder folder;
  const FakeJournal journal(folder.file("socket"));
  const JournalSender sender(folder.file("socket"));
  int sent = 0;
  while (sender.send("A=1\n") && sent < 1'000'000) ++sent;
  EXPECT_LT(sent, 1'000'000);
  EXPECT_FALSE(sender.send(std::string(16 << 20, 'x'))) << "longer than a datagram may be";
}

TEST(JournalSender, APathThatIsTooLongIsNobody) {
  EXPECT_FALSE(JournalSender("/" + std::string(200, 'x')).send("A=1\n"));
}

}  // namespace
}  // namespace satrelay::ops::journal_test
