//! JSON echo on actix-web, with sonic-rs; strings stay in the request's body where they need no unescaping.

use std::borrow::Cow;

use actix_web::http::header::ContentType;
use actix_web::{error, web, App, HttpResponse, HttpServer, Result};
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

async fn echo(octets: web::Bytes) -> Result<HttpResponse> {
    let body: Body = sonic_rs::from_slice(&octets).map_err(error::ErrorBadRequest)?;
    let answer = sonic_rs::to_vec(&body).map_err(error::ErrorInternalServerError)?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(answer))
}

async fn hello() -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::plaintext()).body("Hello World")
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().expect("a number"));
    let port = arguments.next().unwrap_or(3000) as u16;
    let workers = arguments.next().unwrap_or(1);

    HttpServer::new(|| App::new().route("/{path:.*}", web::post().to(echo)).route("/{path:.*}", web::get().to(hello)))
        .workers(workers)
        .tcp_nodelay(true)
        .bind(("127.0.0.1", port))?
        .run()
        .await
}
