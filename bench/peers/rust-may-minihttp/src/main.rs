//! JSON echo on may_minihttp (coroutines on epoll), with sonic-rs; strings stay in the request's body where they
//! need no unescaping.

use std::borrow::Cow;
use std::io::{self, Read};

use may_minihttp::{HttpServer, HttpService, Request, Response};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
struct Body<'a> {
    #[serde(borrow)]
    colors: Vec<Color<'a>>,
}

#[derive(Deserialize, Serialize)]
struct Color<'a> {
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    color: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    category: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    code: Code<'a>,
}

#[derive(Default, Deserialize, Serialize)]
struct Code<'a> {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rgba: Vec<i64>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    hex: Cow<'a, str>,
}

/// One for each connection; `octets` is the body of the request in hand.
#[derive(Clone, Default)]
struct Service {
    octets: Vec<u8>,
}

impl Service {
    fn echo(&mut self, request: Request, response: &mut Response) -> io::Result<()> {
        self.octets.clear();
        request.body().read_to_end(&mut self.octets)?;
        match sonic_rs::from_slice::<Body>(&self.octets) {
            Ok(body) => {
                response.header("Content-Type: application/json").body_vec(sonic_rs::to_vec(&body)?);
            }
            Err(error) => {
                response.status_code(400, "Bad Request").header("Content-Type: text/plain");
                response.body_vec(error.to_string().into_bytes());
            }
        }
        Ok(())
    }
}

impl HttpService for Service {
    fn call(&mut self, request: Request, response: &mut Response) -> io::Result<()> {
        if request.method() == "POST" {
            return self.echo(request, response);
        }
        response.header("Content-Type: text/plain").body("Hello World");
        Ok(())
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().expect("a number"));
    let port = arguments.next().unwrap_or(3000) as u16;
    may::config().set_workers(arguments.next().unwrap_or(1));

    let server = HttpServer(Service::default()).start(("127.0.0.1", port)).expect("a free port");
    server.join().expect("a server that goes on");
}
