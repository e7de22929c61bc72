// Which file a class's dictionary is read from, and which files are refused.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/unit/config/one_key.h"
#include "tests/unit/pep/compress/dictionary_samples.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::config::read_classes_test {
namespace {

class DictionaryKey : public ::testing::Test {
 protected:
  void write(const compress::Bytes& content) {
    std::ofstream(file_, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  }
  // The message, without the place and the file's name in front.
  std::string error() const {
    const std::string text = error_with_line(line_);
    const std::string place = "g.yaml:5:29: classes.web.dictionary: " + file_ + ": ";
    return text.starts_with(place) ? text.substr(place.size()) : text;
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.file("web.dict");
  std::string line_ = "classes: {web: {dictionary: " + file_ + "}}";
};

TEST_F(DictionaryKey, NamesTheFileThatIsRead) {
  const compress::Bytes content = compress::trained_dictionary(1);
  write(content);
  const Gateway config = parse_gateway(with_line(line_), "g.yaml");
  EXPECT_EQ(config.classes[0].dictionary, content);
}

// Each class behind the limit could have a dictionary of 128 KiB.
TEST_F(DictionaryKey, IsNotReadBehindTheLastClass) {
  std::string classes = "classes:\n";
  for (int i = 0; i < 15; ++i) classes += "  c" + std::to_string(i) + ": {}\n";
  const std::string error =
      error_with_line(classes + "  d: {dictionary: " + file_ + "}\n  e: {dictionary: x}\n");
  EXPECT_EQ(error, "g.yaml:21:6: classes.d: is one too many; there may be 15 classes");
}

TEST_F(DictionaryKey, MistakesHaveTheirPlace) {
  EXPECT_EQ(error(), "cannot be read: No such file or directory");
  write(compress::bytes_of("no dictionary"));
  EXPECT_EQ(error(),
            "is not a dictionary of zstd; make one of samples of the traffic with `zstd --train "
            "SAMPLES -o FILE`");
  write(compress::Bytes(300'000));
  EXPECT_EQ(error(), "is larger than 128KiB");
  std::filesystem::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(error(), "is not a regular file");
  EXPECT_EQ(error_with_line("classes: {web: {dictionary: web.dict}}"),
            "g.yaml:5:29: classes.web.dictionary: \"web.dict\" is not an absolute path; begin with "
            "a slash");
}

}  // namespace
}  // namespace satrelay::config::read_classes_test
