#include "relay/satrelayctl/commands/new_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::new_file_test {
namespace {

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const NewFile& file, const std::string& text) {
  ASSERT_EQ(::write(file.descriptor(), text.data(), text.size()),
            static_cast<::ssize_t>(text.size()));
}

std::size_t entries(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

TEST(NewFile, IsThereOnceItIsPublishedAndForItsOwnerAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  {
    NewFile file(path, Existing::kKeep);
    write(file, "hello");
    EXPECT_FALSE(fs::exists(path));
    file.publish();
  }
  EXPECT_EQ(content(path), "hello");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(entries(folder), 1U);
}

TEST(NewFile, LeavesNothingUnlessItIsPublished) {
  const TemporaryFolder folder;
  { write(NewFile(folder.file("a"), Existing::kKeep), "hello"); }
  EXPECT_EQ(entries(folder), 0U);
}

TEST(NewFile, KeepsWhatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  std::ofstream(path) << "before";
  EXPECT_THROW(NewFile(path, Existing::kKeep), std::runtime_error);
  {
    NewFile replacing(path, Existing::kReplace);
    write(replacing, "after");
    EXPECT_EQ(content(path), "before");
    replacing.publish();
  }
  EXPECT_EQ(content(path), "after");
  // Another program has created the file meanwhile.
  const std::string late = folder.file("late");
  {
    NewFile file(late, Existing::kKeep);
    std::ofstream(late) << "first";
    EXPECT_THROW(file.publish(), std::runtime_error);
  }
  EXPECT_EQ(content(late), "first");
  EXPECT_EQ(entries(folder), 2U);
}

TEST(NewFile, NeverReplacesWhatIsNoFile) {
  const TemporaryFolder folder;
  const std::string link = folder.file("link");
  fs::create_symlink("nowhere", link);
  EXPECT_THROW(NewFile(link, Existing::kKeep), std::runtime_error);
  EXPECT_THROW(NewFile(link, Existing::kReplace), std::runtime_error);
  EXPECT_THROW(NewFile("/nonexistent/a", Existing::kKeep), std::runtime_error);
  // --force would not help.
  try {
    NewFile(folder.path(), Existing::kKeep);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), folder.path().string() + ": is a folder; move it away");
  }
}

}  // namespace
}  // namespace satrelay::ctl::new_file_test
