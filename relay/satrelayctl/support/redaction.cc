#include "relay/satrelayctl/support/redaction.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

namespace satrelay::ctl {
namespace {

// If the name of a key contains one of these words, its value is secret. A name is split into words
// at '_', '-' and '.', so "bypass" does not contain "pass".
constexpr std::string_view kSecretWords[] = {
    "psk",    "pass", "password", "passwd",     "passphrase",  "secret",  "secrets",  "token",
    "tokens", "key",  "keys",     "credential", "credentials", "private", "community"};
// If a name ends with one of these words, its value is the location of a secret, not the secret.
constexpr std::string_view kPlaceWords[] = {"file", "path", "folder"};

bool is(char c, int (*kind)(int)) { return kind(static_cast<unsigned char>(c)) != 0; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_of_name(char c) { return is(c, std::isalnum) || c == '_' || c == '-' || c == '.'; }
bool is_of_base64(char c) {
  return is(c, std::isalnum) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
}

bool names_secret(std::string_view name) {
  std::string word;
  bool is_secret = false;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && is(name[i], std::isalnum)) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
      continue;
    }
    is_secret = is_secret || std::ranges::find(kSecretWords, word) != std::end(kSecretWords);
    if (i < name.size()) word.clear();
  }
  return is_secret && std::ranges::find(kPlaceWords, word) == std::end(kPlaceWords);
}

std::size_t indent_of(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(" \t");
  return indent == std::string_view::npos ? line.size() : indent;
}

class Redaction {
 public:
  Redacted of(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      take(text.substr(0, end));
      if (end == std::string_view::npos) break;
      result_.text += '\n';
      text.remove_prefix(end + 1);
    }
    return std::move(result_);
  }

 private:
  // Whether the character at `at` is the first of two single quotes. Within single quotes, YAML
  // writes a single quote in this way.
  static bool is_doubled(std::string_view line, std::size_t at) {
    return line[at] == '\'' && at + 1 < line.size() && line[at + 1] == '\'';
  }

  // Returns the end of the value that begins at `at`.
  static std::size_t end_of_value(std::string_view line, std::size_t at) {
    const char quote = line[at];
    if (quote == '"' || quote == '\'') {
      std::size_t i = at + 1;
      while (i < line.size() && (line[i] != quote || is_doubled(line, i))) {
        i += line[i] == quote || (line[i] == '\\' && quote == '"') ? 2 : 1;
      }
      return std::min(i + 1, line.size());
    }
    std::size_t end = at;
    while (end < line.size() && line[end] != ',' && line[end] != '}' && line[end] != ']' &&
           !(line[end] == '#' && is_blank(line[end - 1]))) {
      ++end;
    }
    while (end > at && (is_blank(line[end - 1]) || line[end - 1] == '\r')) --end;
    return end;
  }

  void take(std::string_view line) {
    if (is_in_pem_ || line.find("-----BEGIN ") != std::string_view::npos) return take_pem(line);
    if (hidden_indent_) {
      const bool is_deeper = indent_of(line) > *hidden_indent_;
      if (is_deeper || line.find_first_not_of(" \t\r") == std::string_view::npos) return;
      hidden_indent_.reset();
    }
    const std::string named = without_named(line);
    result_.text += without_url_passwords(without_runs(named));
  }

  void take_pem(std::string_view line) {
    if (!is_in_pem_) leave_out(result_.text);
    is_in_pem_ = line.find("-----END ") == std::string_view::npos;
  }

  // Replaces the values of keys with secret names, including values in flow style and in comments.
  std::string without_named(std::string_view line) {
    std::string out;
    std::size_t done = 0;
    for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
         colon = line.find(':', std::max(colon + 1, done))) {
      std::size_t name_end = colon;
      while (name_end > done && (is_blank(line[name_end - 1]) || line[name_end - 1] == '"' ||
                                 line[name_end - 1] == '\'')) {
        --name_end;
      }
      std::size_t name = name_end;
      while (name > done && is_of_name(line[name - 1])) --name;
      if (!names_secret(line.substr(name, name_end - name))) continue;
      std::size_t value = colon + 1;
      while (value < line.size() && is_blank(line[value])) ++value;
      const std::string_view rest = line.substr(value);
      out += line.substr(done, value - done);
      if (rest.empty() || rest == "\r" || rest.front() == '|' || rest.front() == '>' ||
          rest.front() == '#') {
        // The value is in the following lines.
        if (value == colon + 1) out += ' ';
        leave_out(out);
        hidden_indent_ = indent_of(line);
        return out;
      }
      // The value is a mapping or a list in flow style. The loop checks the keys in it next.
      if (rest.front() == '{' || rest.front() == '[') {
        done = value;
        continue;
      }
      leave_out(out);
      done = end_of_value(line, value);
    }
    return out += line.substr(done);
  }

  // Replaces runs of characters that are too long for words and look random.
  std::string without_runs(std::string_view line) {
    std::string out;
    for (std::size_t at = 0; at < line.size();) {
      std::size_t end = at;
      while (end < line.size() && is_of_base64(line[end])) ++end;
      const std::string_view run = line.substr(at, end - at);
      const auto has = [&](int (*kind)(int)) {
        return std::ranges::any_of(run, [kind](char c) { return is(c, kind); });
      };
      const bool is_hexadecimal =
          run.size() >= 32 && std::ranges::all_of(run, [](char c) { return is(c, std::isxdigit); });
      const bool is_base64 = run.size() >= 40 && has(std::isdigit) && has(std::isupper) &&
                             has(std::islower) && run.front() != '/';
      if (is_hexadecimal || is_base64) {
        leave_out(out);
      } else {
        out += run;
      }
      if (end < line.size()) out += line[end++];
      at = end;
    }
    return out;
  }

  // Replaces the password in https://user:password@host.
  std::string without_url_passwords(std::string line) {
    for (std::size_t at = line.find("://"); at != std::string::npos; at = line.find("://", at)) {
      at += 3;
      const std::size_t end = std::min(line.find_first_of("/ \t\"'", at), line.size());
      const std::size_t host = line.rfind('@', end);
      const std::size_t colon = line.find(':', at);
      if (host == std::string::npos || host < at || colon == std::string::npos || colon > host) {
        continue;
      }
      line.replace(colon + 1, host - colon - 1, kLeftOut);
      ++result_.secrets;
    }
    return line;
  }

  void leave_out(std::string& out) {
    out += kLeftOut;
    ++result_.secrets;
  }

  Redacted result_;
  bool is_in_pem_ = false;
  // Indentation of a key with a secret value. Lines with deeper indentation belong to the value.
  std::optional<std::size_t> hidden_indent_;
};

}  // namespace

Redacted without_secrets(std::string_view configuration) { return Redaction().of(configuration); }

}  // namespace satrelay::ctl
