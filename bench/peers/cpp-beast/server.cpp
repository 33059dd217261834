// JSON echo on Boost.Beast and Boost.JSON: one io_context and one listening socket for each worker thread.

#include <sys/socket.h>

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <boost/json.hpp>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace json = boost::json;
using asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

Response answer(const Request& request) {
  Response response{http::status::ok, request.version()};
  if (request.method() != http::verb::post) {
    response.set(http::field::content_type, "text/plain");
    response.body() = "Hello World";
    return response;
  }
  unsigned char space[32 * 1024];
  json::monotonic_resource resource{space};
  json::error_code error;
  const json::value document = json::parse(request.body(), error, &resource);
  if (error) {
    response.result(http::status::bad_request);
    response.set(http::field::content_type, "text/plain");
    response.body() = error.message();
  } else {
    response.set(http::field::content_type, "application/json");
    response.body() = json::serialize(document);
  }
  return response;
}

asio::awaitable<void> serve(tcp::socket socket) {
  boost::beast::flat_buffer buffer;
  bool keep_alive = true;
  while (keep_alive) {
    Request request;
    co_await http::async_read(socket, buffer, request, asio::use_awaitable);
    Response response = answer(request);
    keep_alive = request.keep_alive();
    response.keep_alive(keep_alive);
    response.prepare_payload();
    co_await http::async_write(socket, response, asio::use_awaitable);
  }
}

asio::awaitable<void> accept(tcp::acceptor acceptor) {
  const auto executor = acceptor.get_executor();
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    socket.set_option(tcp::no_delay{true});
    // A connection ends with an exception, most often http::error::end_of_stream: nothing to do about it.
    asio::co_spawn(executor, serve(std::move(socket)), [](std::exception_ptr) {});
  }
}

void work(unsigned short port) {
  asio::io_context context{1};
  tcp::acceptor acceptor{context, tcp::v4()};
  acceptor.set_option(tcp::acceptor::reuse_address{true});
  acceptor.set_option(asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>{true});
  acceptor.bind({asio::ip::address_v4::loopback(), port});
  acceptor.listen();
  asio::co_spawn(context, accept(std::move(acceptor)), asio::detached);
  context.run();
}

int main(int argc, char** argv) {
  const auto port = static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 3000);
  const int workers = argc > 2 ? std::atoi(argv[2]) : 1;
  std::vector<std::jthread> threads;
  for (int i = 1; i < workers; ++i) threads.emplace_back(work, port);
  work(port);
}
