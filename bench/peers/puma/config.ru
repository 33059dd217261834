# "Hello World" as a Rack application.
run ->(_env) { [200, { 'Content-Type' => 'text/plain', 'Content-Length' => '11' }, ['Hello World']] }
