#include "policies/jobs/remote/line_socket.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "sim/config/quantity.hpp"

namespace orrery {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcp = "tcp:127.0.0.1:";
constexpr int kRetryMs = 20;

int64_t host_ns() {
  return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

std::string text_of(int error) { return std::generic_category().message(error); }

std::optional<uint16_t> port_of(std::string_view address) {
  const std::string_view digits = address.substr(kTcp.size());
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) return {};
  return port;
}

// Returns 0 or, if the connection fails, errno.
int try_to_connect(int socket, const std::string& address) {
  int result = 0;
  if (address.starts_with(kUnix)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, address.data() + kUnix.size(), address.size() - kUnix.size());
    result = ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  } else {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port_of(address).value_or(0));
    result = ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    const int on = 1;  // sends each line without delay
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return result == 0 ? 0 : errno;
}

}  // namespace

std::string LineSocket::why_bad(const std::string& address) {
  if (address.starts_with(kUnix)) {
    const size_t length = address.size() - kUnix.size();
    if (length == 0) return "names no file of a socket";
    if (length >= sizeof(sockaddr_un::sun_path))
      return "the path of a socket has at most 107 bytes";
    return {};
  }
  if (address.starts_with(kTcp)) {
    return port_of(address) ? std::string{} : "the port must be a number from 1 to 65535";
  }
  return "must be unix:PATH or tcp:127.0.0.1:PORT";
}

LineSocket::LineSocket(std::string address, Duration timeout)
    : address_{std::move(address)}, timeout_{timeout} {}

void LineSocket::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

// A failed socket is not used again, so each try opens a new one.
void LineSocket::connect() {
  const int64_t deadline = host_ns() + timeout_.ns;
  for (;;) {
    const int family = address_.starts_with(kUnix) ? AF_UNIX : AF_INET;
    const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int error = socket < 0 ? errno : try_to_connect(socket, address_);
    if (error == 0) {
      ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
      socket_ = socket;
      return;
    }
    if (socket >= 0) ::close(socket);
    const int64_t left_ms = (deadline - host_ns()) / 1'000'000;
    if (left_ms <= 0) {
      throw SocketFault{"no client listens there after " + format_quantity(timeout_) + ": " +
                        text_of(error)};
    }
    ::poll(nullptr, 0, static_cast<int>(std::min<int64_t>(left_ms, kRetryMs)));
  }
}

void LineSocket::wait_for(short events, int64_t deadline_ns, std::string_view what) const {
  for (;;) {
    const int64_t left_ns = deadline_ns - host_ns();
    if (left_ns <= 0) {
      throw SocketFault{std::string{what} + " within " + format_quantity(timeout_)};
    }
    pollfd polled{.fd = socket_, .events = events, .revents = 0};
    const auto left_ms = static_cast<int>(std::min<int64_t>(left_ns / 1'000'000 + 1, 1'000'000));
    if (::poll(&polled, 1, left_ms) > 0) return;
  }
}

void LineSocket::send(std::string_view line) {
  const int64_t deadline = host_ns() + timeout_.ns;
  std::string text{line};
  text += '\n';
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      wait_for(POLLOUT, deadline, "the client did not read what was sent");
    } else if (errno != EINTR) {
      throw SocketFault{"the client closed the connection: " + text_of(errno)};
    }
  }
}

std::string LineSocket::receive() {
  const int64_t deadline = host_ns() + timeout_.ns;
  std::array<char, size_t{1} << 16U> buffer;
  for (size_t searched = 0;;) {
    const size_t end = received_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (searched > kLineMax) {
      throw SocketFault{"the client sent a line of more than " + std::to_string(kLineMax) +
                        " bytes"};
    }
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      received_.append(buffer.data(), static_cast<size_t>(got));
    } else if (got == 0) {
      throw SocketFault{received_.empty() ? "the client closed the connection"
                                          : "the client closed the connection within a line"};
    } else if (errno == EAGAIN) {
      wait_for(POLLIN, deadline, "the client did not answer");
    } else if (errno != EINTR) {
      throw SocketFault{"the client closed the connection: " + text_of(errno)};
    }
  }
}

}  // namespace orrery
