// Which dictionaries peers are offered, what their numbers mean, and which a class uses.
#include "relay/gateway/peers/dictionaries.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "relay/gateway/peers/shared_dictionaries.h"
#include "tests/unit/pep/compress/dictionary_samples.h"

namespace satrelay::gateway {
namespace {

using Levels = std::shared_ptr<const compress::DictionaryLevels>;

Levels dictionary(unsigned variant) {
  static const compress::Bytes kContent = compress::trained_dictionary(1);
  compress::Bytes content = kContent;
  content.back() = static_cast<std::byte>(variant);
  return std::make_shared<const compress::DictionaryLevels>(compress::Dictionary::make(content), 1,
                                                            1);
}

config::TrafficClass class_with(const std::string& name, Levels levels) {
  config::TrafficClass traffic_class{.name = name};
  traffic_class.dictionary = std::move(levels);
  return traffic_class;
}

std::uint64_t fingerprint_of(const Levels& levels) { return levels->dictionary()->fingerprint(); }

TEST(Dictionaries, WhatANumberMeansStays) {
  Dictionaries dictionaries;
  EXPECT_EQ(dictionaries.find(0), nullptr);
  dictionaries.replace({class_with("web", dictionary(1)), class_with("mail", nullptr),
                        class_with("logs", dictionary(2)), class_with("more", dictionary(1))});
  ASSERT_EQ(dictionaries.offered().size(), 2U) << "one for two classes";
  const DictionaryOffer first = dictionaries.offered()[0];
  EXPECT_EQ(first.fingerprint, fingerprint_of(dictionary(1)));
  dictionaries.replace({class_with("web", dictionary(3))});
  ASSERT_EQ(dictionaries.offered().size(), 1U);
  EXPECT_EQ(dictionaries.offered()[0].number, 2);
  EXPECT_EQ(dictionaries.find(first.number)->fingerprint(), first.fingerprint);
  dictionaries.replace({class_with("web", dictionary(1))});
  EXPECT_EQ(dictionaries.offered()[0].number, first.number) << "the same file again";
  dictionaries.replace({});
  EXPECT_TRUE(dictionaries.offered().empty());
  EXPECT_NE(dictionaries.find(2), nullptr);
  EXPECT_EQ(dictionaries.find(3), nullptr);
}

TEST(Dictionaries, ThereIsALimit) {
  Dictionaries dictionaries;
  for (unsigned i = 0; i < Dictionaries::kMost; ++i) {
    dictionaries.replace({class_with("web", dictionary(i))});
    EXPECT_EQ(dictionaries.offered().size(), 1U);
  }
  dictionaries.replace({class_with("web", dictionary(200)), class_with("old", dictionary(5))});
  ASSERT_EQ(dictionaries.offered().size(), 1U);
  EXPECT_EQ(dictionaries.offered()[0].number, 5);
}

TEST(SharedDictionaries, AreThoseThatBothHave) {
  const std::vector<config::TrafficClass> configured{class_with("web", dictionary(1)),
                                                     class_with("mail", nullptr),
                                                     class_with("logs", dictionary(2))};
  const TrafficClasses classes(configured);
  const schedule::ClassId web = *classes.find("web"), mail = *classes.find("mail"),
                          logs = *classes.find("logs");
  SharedDictionaries shared;
  shared.update(classes, {});
  EXPECT_EQ(shared.classes(), 0U);
  shared.update(classes, {{40, 1234}, {17, fingerprint_of(dictionary(2))}});
  EXPECT_EQ(shared.classes(), 1U);
  EXPECT_EQ(shared.of(web).levels, nullptr);
  EXPECT_EQ(shared.of(mail).levels, nullptr);
  EXPECT_EQ(shared.of(logs).levels, configured[2].dictionary.get());
  EXPECT_EQ(shared.of(logs).number, 17);
  // What is known of a file outlives a reload of it, not another file.
  shared.of(logs).trials.of(300).note(300, 200);
  TrafficClasses reloaded(configured);
  reloaded.replace(
      {class_with("web", nullptr), class_with("mail", nullptr), class_with("logs", dictionary(2))});
  shared.update(reloaded, {{18, fingerprint_of(dictionary(2))}});
  EXPECT_NE(shared.of(logs).levels, configured[2].dictionary.get());
  EXPECT_EQ(shared.of(logs).number, 18);
  EXPECT_FALSE(shared.of(logs).trials.of(300).pays());
  reloaded.replace(
      {class_with("web", nullptr), class_with("mail", nullptr), class_with("logs", dictionary(3))});
  shared.update(reloaded, {{19, fingerprint_of(dictionary(3))}});
  EXPECT_TRUE(shared.of(logs).trials.of(300).pays());
  shared.update(reloaded, {});
  EXPECT_EQ(shared.of(logs).levels, nullptr);
}

}  // namespace
}  // namespace satrelay::gateway
