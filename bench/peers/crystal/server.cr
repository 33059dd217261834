# "Hello World" on Crystal's own HTTP server. CRYSTAL_WORKERS threads share its work.

require "http/server"

server = HTTP::Server.new do |context|
  context.response.content_type = "text/plain"
  context.response.print "Hello World"
end

server.bind_tcp "127.0.0.1", ARGV.fetch(0, "3000").to_i
server.listen
