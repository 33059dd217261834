"""'Hello World' as a WSGI application."""


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "11")])
    return [b"Hello World"]
