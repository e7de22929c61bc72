// Which dictionaries peers are offered, what their numbers mean, and which dictionary a class uses.
#include "relay/gateway/peers/dictionaries.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "relay/gateway/peers/shared_dictionaries.h"
#include "tests/unit/pep/compress/dictionary_samples.h"

namespace satrelay::gateway::dictionaries_test {
namespace {

compress::Bytes dictionary(unsigned variant) {
  static const compress::Bytes kContent = compress::trained_dictionary(1);
  compress::Bytes content = kContent;
  content.back() = static_cast<std::byte>(variant);
  return content;
}

config::TrafficClass class_with(const std::string& name, compress::Bytes content = {}) {
  config::TrafficClass traffic_class{.name = name};
  traffic_class.dictionary = std::move(content);
  return traffic_class;
}

TrafficClasses classes_of(const std::vector<config::TrafficClass>& configured) {
  return TrafficClasses(configured, ClassDictionaries(configured, 1));
}

std::uint64_t fingerprint_of(const compress::Bytes& content) {
  return compress::Dictionary::make(content)->fingerprint();
}

TEST(Dictionaries, WhatANumberMeansStays) {
  Dictionaries dictionaries;
  EXPECT_EQ(dictionaries.find(0), nullptr);
  dictionaries.replace(
      classes_of({class_with("web", dictionary(1)), class_with("mail"),
                  class_with("logs", dictionary(2)), class_with("more", dictionary(1))}));
  ASSERT_EQ(dictionaries.offered().size(), 2U) << "one for two classes";
  const DictionaryOffer first = dictionaries.offered()[0];
  EXPECT_EQ(first.fingerprint, fingerprint_of(dictionary(1)));
  dictionaries.replace(classes_of({class_with("web", dictionary(3))}));
  ASSERT_EQ(dictionaries.offered().size(), 1U);
  EXPECT_EQ(dictionaries.offered()[0].number, 2);
  EXPECT_EQ(dictionaries.find(first.number)->fingerprint(), first.fingerprint);
  dictionaries.replace(classes_of({class_with("web", dictionary(1))}));
  EXPECT_EQ(dictionaries.offered()[0].number, first.number) << "the same file again";
  dictionaries.replace(classes_of({}));
  EXPECT_TRUE(dictionaries.offered().empty());
  EXPECT_NE(dictionaries.find(2), nullptr);
  EXPECT_EQ(dictionaries.find(3), nullptr);
}

TEST(Dictionaries, ThereIsALimit) {
  Dictionaries dictionaries;
  for (unsigned i = 0; i < Dictionaries::kMost; ++i) {
    dictionaries.replace(classes_of({class_with("web", dictionary(i))}));
    EXPECT_EQ(dictionaries.offered().size(), 1U);
  }
  dictionaries.replace(
      classes_of({class_with("web", dictionary(200)), class_with("old", dictionary(5))}));
  ASSERT_EQ(dictionaries.offered().size(), 1U);
  EXPECT_EQ(dictionaries.offered()[0].number, 5);
}

TEST(SharedDictionaries, AreThoseThatBothHave) {
  const std::vector<config::TrafficClass> configured{
      class_with("web", dictionary(1)), class_with("mail"), class_with("logs", dictionary(2))};
  const TrafficClasses classes = classes_of(configured);
  const schedule::ClassId web = *classes.find("web"), mail = *classes.find("mail"),
                          logs = *classes.find("logs");
  SharedDictionaries shared;
  shared.update(classes, {});
  EXPECT_EQ(shared.classes(), 0U);
  shared.update(classes, {{40, 1234}, {17, fingerprint_of(dictionary(2))}});
  EXPECT_EQ(shared.classes(), 1U);
  EXPECT_EQ(shared.of(web).levels, nullptr);
  EXPECT_EQ(shared.of(mail).levels, nullptr);
  EXPECT_EQ(shared.of(logs).levels, classes[logs].dictionary.get());
  EXPECT_EQ(shared.of(logs).number, 17);
  // The trials of a file outlive a reload of the file, but not its replacement by another file.
  shared.of(logs).trials.of(300).note(300, 200);
  auto reload = [reloaded = classes_of(configured)](unsigned logs_dictionary) mutable {
    const std::vector<config::TrafficClass> next{class_with("web"), class_with("mail"),
                                                 class_with("logs", dictionary(logs_dictionary))};
    reloaded.replace(next, ClassDictionaries(next, 1));
    return reloaded;
  };
  const TrafficClasses again = reload(2);
  shared.update(again, {{18, fingerprint_of(dictionary(2))}});
  EXPECT_EQ(shared.of(logs).levels, again[logs].dictionary.get());
  EXPECT_EQ(shared.of(logs).number, 18);
  EXPECT_FALSE(shared.of(logs).trials.of(300).pays());
  const TrafficClasses other = reload(3);
  shared.update(other, {{19, fingerprint_of(dictionary(3))}});
  EXPECT_TRUE(shared.of(logs).trials.of(300).pays());
  shared.update(other, {});
  EXPECT_EQ(shared.of(logs).levels, nullptr);
}

}  // namespace
}  // namespace satrelay::gateway::dictionaries_test
