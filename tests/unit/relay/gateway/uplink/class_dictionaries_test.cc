#include "relay/gateway/uplink/class_dictionaries.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/compress/effort.h"
#include "tests/unit/pep/compress/dictionary_samples.h"

namespace satrelay::gateway::class_dictionaries_test {
namespace {

std::vector<config::TrafficClass> classes() {
  const compress::Bytes content = compress::trained_dictionary(1);
  compress::Bytes other = content;
  other.back() ^= std::byte{1};
  std::vector<config::TrafficClass> made{
      {.name = "web"}, {.name = "mail"}, {.name = "logs"}, {.name = "none"}, {.name = "wrong"}};
  made[0].dictionary = made[1].dictionary = content;
  made[2].dictionary = other;
  made[4].dictionary = compress::bytes_of("no dictionary");
  return made;
}

TEST(ClassDictionaries, AreThoseOfTheClassesThatHaveOne) {
  const ClassDictionaries dictionaries(classes(), 1);
  ASSERT_NE(dictionaries.of("web"), nullptr);
  EXPECT_EQ(dictionaries.of("web")->dictionary()->fingerprint(),
            compress::Dictionary::make(classes()[0].dictionary)->fingerprint());
  EXPECT_EQ(dictionaries.of("mail"), dictionaries.of("web")) << "one for both";
  EXPECT_NE(dictionaries.of("logs"), dictionaries.of("web"));
  EXPECT_EQ(dictionaries.of("none"), nullptr);
  EXPECT_EQ(dictionaries.of("wrong"), nullptr);
  EXPECT_EQ(dictionaries.of("unknown"), nullptr);
}

TEST(ClassDictionaries, AreReadyForTheLevelsThatAreConfigured) {
  const ClassDictionaries any(classes(), config::kAutoLevel);
  for (const int level : {compress::kLowestLevel, -1, 1, compress::kHighestLevel}) {
    EXPECT_NE(any.of("web")->at(level), nullptr) << level;
  }
  EXPECT_NE(ClassDictionaries(classes(), 14).of("web")->at(14), nullptr);
}

}  // namespace
}  // namespace satrelay::gateway::class_dictionaries_test
