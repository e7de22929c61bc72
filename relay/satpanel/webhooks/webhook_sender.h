// Sends bodies to one URL, by HTTP POST, and returns the result of each.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "relay/satpanel/webhooks/delivery_queue.h"

namespace satrelay::panel {

// Returns the Answer for an HTTP status. 2xx: taken. 5xx, 408, 425 and 429: failed, since the
// trouble may pass. Others, such as redirects: refused, since another try would have the same
// result. `retry_after`: value of the header; 0: none.
Answer answer_of(long status, std::chrono::seconds retry_after);

// Verifies certificates, follows no redirects, and speaks only HTTP and HTTPS. A sender may be used
// in one thread only. It keeps the connection for the next delivery.
class WebhookSender {
 public:
  static constexpr std::chrono::milliseconds kDeadline{10'000};

  // `ca_file`: PEM of the authorities that sign certificates; "": those of the machine. Throws
  // std::runtime_error if libcurl provides no handle.
  explicit WebhookSender(const std::string& url, const std::string& ca_file = "",
                         std::chrono::milliseconds deadline = kDeadline);
  WebhookSender(const WebhookSender&) = delete;
  WebhookSender& operator=(const WebhookSender&) = delete;
  ~WebhookSender();

  // `headers`: lines like "Name: value". Returns within the deadline, and within a second after
  // `is_over` is set.
  Answer post(const std::vector<std::string>& headers, const std::string& body,
              const std::atomic<bool>& is_over);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace satrelay::panel
