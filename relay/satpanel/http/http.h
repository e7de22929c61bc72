// A request and its answer, as values, so that handlers know nothing of sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace satrelay::panel {

struct Request {
  std::string method;  // "GET"
  std::string path;    // "/api/v1/peers", decoded, without the query
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // names in lower case
  std::map<std::string, std::string> cookies;
  std::string body = {};
  std::string remote;  // the client's address, without its port
  // Whether the client has closed its side. May be called only while the request is answered.
  // Empty: unknown.
  std::function<bool()> has_left = {};

  // "" if there is none.
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
  std::string parameter(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? "" : found->second;
  }
};

// A body that follows the head of an answer in parts, while the client stays.
class Stream {
 public:
  virtual ~Stream() = default;
  // The next bytes, at most `most`. "": none for now. Then the server asks again when it is woken
  // (HttpServer::wake_streams), or for the next heartbeat. nullopt: the stream is over.
  virtual std::optional<std::string> poll(std::size_t most) = 0;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::unique_ptr<Stream> stream = nullptr;  // instead of a body
};

// An error as in RFC 9457. `detail` tells the operator what is wrong, and what to do.
Response problem(int status, const std::string& detail);

using Handler = std::function<Response(const Request&)>;

}  // namespace satrelay::panel
